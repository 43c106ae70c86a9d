"""The median of many distances that come block by block, exact, without holding them all."""

import numpy as np

# Bits of the number of a bin, values that may be kept where nothing says how many, and pairs drawn for a first look.
BITS = 16
ROOM = 2**22
DRAWN = 2**14
RARE = 64  # one of so many pairs at most is drawn, for it takes several times as long alone
# The share of the drawn values below the bracket, or above it: 5 standard deviations from the median.
OUTSIDE = 0.48
# Bytes of a value, in all arrays that are made of those that are kept.
VALUE = 40


def exact_median(begin, count, drawn, room):
    """The median of an even number of values, at least two; NaN if one is.

    Of the values within a bracket the bins are counted, and they are kept where there is room for them. If there is
    none, or the bracket does not hold the median, the values are gone through again with another bracket.

    Parameters
    ----------
    begin : callable
        Gives an iterator of arrays that hold the values, from the beginning.
    count : int
        How many there are.
    drawn : ndarray
        Some of the values, drawn at random, from which the first bracket is made; it may be empty.
    room : int
        How many values may be kept.
    """
    first, last = 0, 2**64 - 1  # the bracket
    rank = count // 2 - 1
    if len(drawn):
        first, last = (int(v) for v in _codes(np.quantile(drawn, [OUTSIDE, 1.0 - OUTSIDE], method="nearest")))
    while True:
        shift = max((last - first).bit_length() - BITS, 0)
        below, bins, kept, size = 0, np.zeros(2**BITS, np.int64), [], 0
        for values in begin():
            if np.isnan(values).any():
                return np.nan
            codes = _codes(values)
            below += int((codes < first).sum())
            codes = codes[(codes >= first) & (codes <= last)] - np.uint64(first)
            bins += np.bincount((codes >> np.uint64(shift)).astype(np.int64), minlength=len(bins))
            size += len(codes)
            kept = [*kept, codes] if size <= room else []
        ends = below + np.cumsum(bins)
        if rank < below:
            first, last = 0, first - 1
        elif rank >= ends[-1]:
            first, last = last + 1, 2**64 - 1
        elif size <= room:
            kept, rank = np.sort(np.concatenate(kept)), rank - below
            return _middle(begin, first + int(kept[rank]), [first + int(v) for v in kept[rank + 1 : rank + 2]])
        else:
            k = int(np.searchsorted(ends, rank, "right"))
            first, last = first + (k << shift), min(first + ((k + 1) << shift) - 1, last)
            if not shift:  # a bin is a value
                return _middle(begin, first, [first] if ends[k] > rank + 1 else [])


def _middle(begin, code, following):
    """The mean of a value and of the following one, which is looked for if it is not known."""
    if not following:
        above = (_codes(values) for values in begin())
        following = [min(int(codes.min()) for codes in (a[a > np.uint64(code)] for a in above) if len(codes))]
    return float(np.mean(_values(np.array([code, following[0]], np.uint64))))


def _codes(values):
    """Integers in the order of the values."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.where(bits < 0, ~bits, bits ^ np.int64(-(2**63))).view(np.uint64)


def _values(codes):
    bits = codes.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(-(2**63)), ~bits).view(np.float64)
