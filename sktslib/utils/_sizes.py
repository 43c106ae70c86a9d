"""How large and how small values may be for what is computed from them."""

import math
from itertools import repeat
from operator import attrgetter, is_

import numpy as np

# Sums of squares of values that are neither too large nor too small to be squared.
FEW, MANY = 1e-270, 1e280
SEEN = 1e-135  # a point of this size shows that a series is not too small
# From so many numbers on libraries of linear algebra start threads, which wait in a loop and take the time of others.
MANY_NUMBERS = 10_000
MANY_ROWS = 2**10  # 8 million numbers, from which on two threads take less time than one
ROW = 2**13  # of many numbers so many are summed at a time, which takes half as long as einsum


def sum_of_squares(a, n_jobs=1):
    """The sum of squares of an array; it needs no memory, and does not warn. No number of jobs changes a digit."""
    if a.size < MANY_NUMBERS:
        return np.vdot(a, a)
    if not a.flags.forc:
        axes = list(range(a.ndim))
        return np.einsum(a, axes, a, axes, [])
    flat = a.ravel("K")
    rows, rest = np.split(flat, [a.size // ROW * ROW])
    rows = rows.reshape(-1, ROW)
    sums = _of_rows(rows) if n_jobs == 1 or len(rows) < MANY_ROWS else _of_rows_in_jobs(rows, n_jobs)
    with np.errstate(all="ignore"):
        return sums.sum() + np.vdot(rest, rest)


def _of_rows_in_jobs(rows, n_jobs):
    from ._jobs import count_jobs, jobs_are_threads, shared  # which imports what imports this module

    jobs = count_jobs(n_jobs) if jobs_are_threads() else 1
    with shared(jobs) as for_each:
        return np.concatenate(for_each(_of_rows, np.array_split(rows, jobs)))


def _of_rows(rows):
    with np.errstate(all="ignore"):  # each thread has its own
        return np.vecdot(rows, rows)


def check_size(a, what, power, owner, total=None):
    """Refuse a series (channels, length), which `what` names, with values too large for a power of differences.

    Their sizes must not exceed 1e140 for squares. What is not raised to a power above 1 is never too large, and NaN do
    not count. `total` is the sum of their squares, if it is known.
    """
    if not _fits(a, power, total) and _size(a) > largest(power):
        raise _out_of_reach(what, f"hold values of at most {largest(power):g} in size", power, owner, _size(a))


def check_query(a, what, power, owner, total=None):
    """The same, and refuse one that is not zero but too small: for squares, if no value reaches 1e-140."""
    check_size(a, what, power, owner, total)
    if not _fits(a, power, total) and 0.0 < _size(a) < 1.0 / largest(power):
        raise _too_small(what, power, owner, _size(a))


def check_sizes(X, Y, names, power, owner):
    """The same for every series of a collection with every one of another; of each two one may be small."""
    if power <= 1 or (power <= 2 and _all_fit(X) and (Y is X or _all_fit(Y))):
        return
    small = [], []
    for name, series, found in zip(names, (X, Y), small, strict=True):
        if series is X and found is small[1]:
            found += small[0]
            continue
        for k, a in enumerate(series):
            if not _fits(a, power):
                what = f"'{name}'" if len(series) == 1 else f"'{name}[{k}]'"
                check_size(a, what, power, owner)
                if _size(a) < 1.0 / largest(power):
                    found.append((_size(a), what))
    if small[0] and small[1]:
        pair = max(small[0]), max(small[1])
        if max(pair)[0] > 0.0:
            what = list(dict.fromkeys(what for _, what in pair))
            what = what[0] if len(what) == 1 else f"One of {' and '.join(what)}"
            raise _too_small(what, power, owner, max(pair)[0])


def largest(power):
    """The largest value that may be raised to a power."""
    return 10.0 ** (280.0 / power)


def _fits(a, power, total=None):
    """Whether values are neither too large nor too small for certain."""
    return power <= 1 or (power <= 2 and FEW < (sum_of_squares(a) if total is None else total) < MANY)


def _all_fit(series):
    """The same for squares of all series, in little time where they are the rows of one array, or their sums known."""
    if hasattr(series, "sums"):
        return FEW < min(series.sums) and max(series.sums) < MANY and math.isfinite(sum(series.sums))
    whole = series[0].base
    if isinstance(whole, np.ndarray) and whole.ndim == 2 and len(whole) == len(series):  # not a file
        rows = all(map(is_, map(attrgetter("base"), series), repeat(whole)))
        rows = rows and {*map(attrgetter("size"), series)} == {whole.shape[1]}
        if rows and sum_of_squares(whole) < MANY and np.abs(whole[:, 0]).min() > SEEN:
            return True
    sums = [sum_of_squares(a) for a in series]
    return FEW < min(sums) and max(sums) < MANY and math.isfinite(sum(sums))


def _size(a):
    """The largest absolute value; NaN if all are."""
    return float(np.fmax.reduce(np.abs(a), axis=None))


def _too_small(what, power, owner, size):
    return _out_of_reach(what, f"hold a value of at least {1.0 / largest(power):g} in size", power, owner, size)


def _out_of_reach(what, rule, power, owner, size):
    return ValueError(
        f"{what} must {rule}: {owner} raises differences to the power {power:g}, which float64 must hold. Got {size:g} "
        f"as the largest size. Multiply all series by 1e{-math.floor(math.log10(size))}, and parameters in their unit."
    )
