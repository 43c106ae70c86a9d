"""Steps of the times of a recording: gaps, which no match spans, and uneven sampling."""

from datetime import timedelta
from math import ceil, floor, log10

import numpy as np

from ._names import warn
from .validation import check_number, refused, shown

ROUNDING = 4 * np.finfo(float).eps  # rounding error of a time step, relative to the times
APART = 1.1  # ratio from which two sampling intervals count as different
LONG = 10  # a longer step, in usual steps, is reported as a hole
UNEVEN = 0.05  # times are uneven if more than this share of steps differs from the usual one by more than half of it
PLACES = 9  # decimal places after that of `max_gap` to which times may be rounded
GIVEN = 1e-3  # tolerance, in tenths of a place, for whether `max_gap` is given to that place
FEW = 16  # with fewer steps, evenness is not judged


def seconds_of(duration):
    """Return the seconds in a duration; NaN for numpy's months and years, whose lengths vary."""
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    months = np.datetime_data(duration)[0] in ("Y", "M")
    return np.nan if months else float(duration / np.timedelta64(1, "s"))


def gap_of(max_gap, owner):
    """Return `max_gap` as kernels count times, in seconds for datetimes; None stays None."""
    if max_gap is None:
        return None
    if isinstance(max_gap, timedelta | np.timedelta64):
        if seconds_of(max_gap) > 0:
            return seconds_of(max_gap)
    elif not hasattr(max_gap, "freqstr") and not isinstance(max_gap, str):
        return check_number(max_gap, "max_gap", low=0.0, open_low=True, owner=owner)
    raise ValueError(
        f"The 'max_gap' parameter of {owner} must be a number above 0, in the unit of the times (of datetimes, "
        f"seconds), or a duration such as pandas.Timedelta('1s'). Got {shown(max_gap)}."
    )


def check_gap(max_gap, times, dated, name, owner):
    """Refuse a `max_gap` that cannot be compared with the steps of the given times."""
    if max_gap is None:
        return
    if times is None:
        rule = f"be given where the 'max_gap' parameter of {owner} is set, which bounds the steps of the times"
        got = f"None, and max_gap={shown(max_gap)}"
        out = "Pass those of the recording, or a table whose index holds them, or set max_gap=None."
        raise refused("'times'", rule, got, out)
    if isinstance(max_gap, timedelta | np.timedelta64) and not dated:
        rule, got = f"be a number, in the unit of the times, where {name!r} are numbers", shown(max_gap)
        raise refused(f"The 'max_gap' parameter of {owner}", rule, got)


def holes(ty, max_gap):
    """Return the samples before which times (n,) step by more than `max_gap`, with a tolerance for rounding.

    Times and `max_gap` may also be datetimes and a duration, which need no tolerance.
    """
    if ty is None or max_gap is None:
        return np.empty(0, np.int64)
    if ty.dtype.kind == "M":
        return np.flatnonzero(np.diff(ty) > max_gap) + 1
    return np.flatnonzero(are_longer(np.diff(ty), np.abs(ty[1:]), max_gap)) + 1


def are_longer(step, size, max_gap):
    """Return whether time steps are longer than `max_gap`; `size` is the size of the times, for the rounding of floats.

    Times may also be rounded to a decimal place. A step equal to `max_gap` rounded up to that place is not a gap, if
    `max_gap` is at least two units of the place and is not itself given to a tenth of it. This depends on no other
    step.
    """
    longer = step > max_gap + ROUNDING * size
    if np.any(longer):
        first = floor(log10(max_gap / 2))
        for place in (10.0**k for k in range(first, first - PLACES, -1)):
            tenths, rounded = 10 * max_gap / place, ceil(max_gap / place) * place
            if abs(tenths - round(tenths)) > GIVEN:
                longer &= np.abs(step - rounded) > ROUNDING * (size + rounded)
    return longer


# ----------------------------------------------------------------------------------------------- the ends of ranges
def edges(start, end, max_gap=None):
    """Return the samples whose times are those of the starts and ends of ranges (r,), as an array (2, r).

    With `max_gap` the last two samples of each range follow, (4, r); for a range with one sample, they are the same.
    """
    if max_gap is None:
        return np.array([start, end])
    return np.array([start, end, end - 1, np.maximum(end - 2, start)])


def end_times(end, last, before, max_gap):
    """Return the times of ends, given those of the samples there and of the last two samples.

    Before a gap, the end is one time step after the last sample.
    """
    size = np.abs(end) if end.dtype.kind in "iuf" else 0.0
    across = are_longer(numbers_of(end - last), size, max_gap)
    if hasattr(end, "where"):  # pandas
        return end.where(~across, last + (last - before))
    return np.where(across, last + (last - before), end)


def numbers_of(steps):
    """Return time steps as floats, in seconds for datetimes."""
    if steps.dtype == object:
        return np.array([getattr(step, "total_seconds", lambda step=step: step)() for step in steps], float)
    return np.asarray(steps / np.timedelta64(1, "s") if steps.dtype.kind == "m" else steps, float)


# ---------------------------------------------------------------------------------------------------- uneven sampling
def interval(t):
    """Return the usual step of times (n,): the mean of the steps that are not gaps; None for fewer than two times.

    It is not the median, because the median of rounded times is one of two neighboring values.
    """
    if t is None or len(t) < 2:
        return None
    return _usual(np.diff(t))


def _usual(step):
    return float(step[step <= 2.0 * np.median(step)].mean())


def unevenness(step):
    """Return what is wrong with time steps: "holes" if some are much longer than usual, "uneven", or None."""
    usual = _usual(step)
    if step.max() > LONG * usual:
        return "holes"
    return "uneven" if np.mean(np.abs(step - usual) > 0.5 * usual) > UNEVEN else None


def notice_sampling(ty, intervals, max_gap):
    """Warn once if times have other steps than the queries' (`intervals`), or very uneven ones.

    With `max_gap`, the user knows of long steps.
    """
    if len(ty) < 2:
        return
    step = np.diff(ty)
    usual = _usual(step)
    for own in intervals:
        if not 1.0 / APART <= usual / own <= APART:
            warn(
                f"The sampling intervals of query and sequence differ: {own:.6g} and {usual:.6g} (of datetimes, in "
                "seconds). Samples are compared, whatever their times: resample one of them to the interval of the "
                "other."
            )
            return
    if max_gap is not None and len(ty) > FEW and np.mean(are_longer(step, np.abs(ty[1:]), max_gap)) > 0.5:
        warn(
            f"The 'max_gap' parameter is below the usual step of the times, {usual:.6g} (of datetimes, in seconds), so "
            f"that most steps are gaps. Got {max_gap:.6g}. Set a max_gap above the step, for "
            f"example {2 * usual:.6g}."
        )
    if max_gap is not None or len(ty) <= FEW:
        return
    found, longest = unevenness(step), step.max()
    if found == "holes":
        warn(
            f"The sequence has holes: its times usually step by {usual:.6g}, but by up to {longest:.6g} (of datetimes, "
            "in seconds). Samples are compared, whatever their times, so that a match may span a hole: set 'max_gap', "
            f"for example to {2 * usual:.6g}, or cut the sequence there."
        )
    elif found == "uneven":
        warn(
            f"The sequence is sampled unevenly: its times step by {step.min():.6g} to {longest:.6g} (of datetimes, in "
            "seconds). Samples are compared, whatever their times: resample it to even steps, for example with "
            "numpy.interp, or use metric='twed' and give it the times of the query, too. If a shuffled split removed "
            "samples, do not shuffle it (shuffle=False)."
        )
