"""Longest common subsequences and edit distances of unit costs, 64 cells of a row in one word.

Neighboring cells of such a matrix differ by at most one, so that bits hold the differences and a few operations on
words bring them on by a row: Hyyro (2004) for common subsequences, Myers (1999) for edit distances. Which points match
is found by vector code, 64 at a time, by the recurrences' own rule.
"""

import numpy as np

from .compilation import inner, kernel, pieces
from .dispatch import matched_pair, terms
from .scratch import aligned_zeros
from .simd_memory import bits, channels_of, makers

WORD = 64
COST = 16  # so many times what a cell of other recurrences takes a word takes
ONE, NONE, ALL = np.uint64(1), np.uint64(0), np.uint64(2**64 - 1)
TOP = np.uint64(WORD - 1)

load, _, _ = makers(WORD, fused=False)


@inner
def _matches(p, rows, i, y, j):
    """Bits of the points of the series from j on that match query point i."""
    row = rows[0, 0, i], rows[0, 1, i], rows[0, 2, i], rows[0, 3, i]
    a = terms(p, row, load(y[0], j), 0.0)[0]
    for k in range(1, len(y)):
        row = rows[k, 0, i], rows[k, 1, i], rows[k, 2, i], rows[k, 3, i]
        a = a + terms(p, row, load(y[k], j), 0.0)[0]
    return bits(matched_pair(p, a))


@inner
def _indels(p, rows, m, y, start, n, begin, end, words, before):
    """Points of both series that are no part of their longest common subsequence, once query point m - 1 is done."""
    size = -(-n // WORD)
    if begin == 0:
        for k in range(size):
            words[0, k] = ALL
    for i in range(begin, end):
        carry = NONE
        for k in range(size):
            old = words[0, k]
            both = old & _matches(p, rows, i, y, start + k * WORD)
            total = old + both
            over = ONE if total < old else NONE
            total += carry
            carry = over | (ONE if total < carry else NONE)
            words[0, k] = total | (old & ~both)
    common = 0
    for j in range(n if end == m else 0):
        if (words[0, j // WORD] >> np.uint64(j % WORD)) & ONE == NONE:
            common += 1
    return m + n - 2 * common


@inner
def _edits(p, rows, m, y, start, n, begin, end, words, before):
    """Points to insert, delete or replace, up to query point `end` - 1; `before` those up to point `begin` - 1."""
    size = -(-n // WORD)
    if begin == 0:
        for k in range(size):
            words[0, k], words[1, k] = ALL, NONE  # the cells rise, fall, along the series
    count, last = n if begin == 0 else int(before), np.uint64((n - 1) % WORD)
    for i in range(begin, end):
        rises, falls = ONE, NONE  # from the row before, left of the word
        for k in range(size):
            up, down = words[0, k], words[1, k]
            equal = _matches(p, rows, i, y, start + k * WORD)
            vertical = equal | down
            equal |= falls
            horizontal = (((equal & up) + up) ^ up) | equal
            more, less = down | ~(horizontal | up), up & horizontal
            at = last if k == size - 1 else TOP
            more_out, less_out = (more >> at) & ONE, (less >> at) & ONE
            more, less = (more << ONE) | rises, (less << ONE) | falls
            words[0, k], words[1, k] = less | ~(vertical | more), more & vertical
            rises, falls = more_out, less_out
        if rises != NONE:
            count += 1
        elif falls != NONE:
            count -= 1
    return count


@kernel
def _accumulate(p, rows, m, series, from_on, replaces, begin, end, words, out):
    """Query points [begin, end) of all pairs, one pair after the other: each query with all series."""
    y, begins, lengths = series
    for pair in range(begin // m, -(-end // m)):
        q, b = pair // len(lengths), pair % len(lengths)
        if b < from_on[q]:
            continue
        first, last = max(begin - pair * m, 0), min(end - pair * m, m)
        if replaces:
            out[q, b] = _edits(p, rows[q], m, y, begins[b], lengths[b], first, last, words, out[q, b])
        else:
            out[q, b] = _indels(p, rows[q], m, y, begins[b], lengths[b], first, last, words, out[q, b])


def accumulated_costs(p, rows, m, series, from_on, replaces, out):
    """Costs `out` of queries (n_queries, channels, 4, m or more) with series, see `padded`.

    Query q is compared with those `from_on[q]` on. `replaces`: whether a point can be replaced at the cost of one, as
    in EDR, and not of two, as in LCSS.
    """
    words = np.empty((2, -(-int(series[2].max()) // WORD)), np.uint64)
    with np.errstate(over="ignore"):  # words overflow on purpose, and plain Python says so
        for begin, end in pieces(out.size * m, COST * words.shape[1]):
            _accumulate(p, rows, m, series, from_on, replaces, begin, end, words, out)


def padded(series):
    """Series (channels, n) one after the other in whole words, as `channels_of` gives them, with begins and lengths."""
    lengths = np.array([y.shape[1] for y in series])
    sizes = lengths + -lengths % WORD
    begins, out = np.cumsum(sizes) - sizes, aligned_zeros(len(series[0]), sizes.sum())
    for y, begin in zip(series, begins, strict=True):
        out[:, begin : begin + y.shape[1]] = y
    return channels_of(out), begins, lengths
