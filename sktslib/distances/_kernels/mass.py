"""Profiles of sums of squares and of products, by running moments and one sliding dot product per channel.

With the weighted mean subtracted from the query, its dot product with a window does not depend on the window's mean,
and

    sum w (x - y)^2 = M2(x) + M2(y) + W (mean(x) - mean(y))^2 - 2 sum w (x - mean(x)) y

where nothing but the last term can cancel. The dot products of all windows come from overlap-save FFT, or from direct
sums if the query is short. Means and M2 come from running sums that hold the samples of their own window alone,
relative to a sample of the window, so that a huge value next to a window leaves no trace in it.

Results that this scheme cannot compute to 1e-12 of the sum of squares, and results that are small compared with it, are
computed again by the exact kernels of `lockstep`. So every distance of such a profile is within a relative `SLACK` of
the exact one.

One call computes a whole stretch of windows all of whose points count alike, normalized or not. Moments of normalized
windows are those of the samples alone, so each block of samples is transformed, and its moments are found, once for all
queries. Windows that are compared as they are need no moments:

    sum (x - y)^2 = sum (y - c)^2 + sum (x - c)^2 - 2 sum (y - r)(x - c) - 2 (r - c) sum (x - c)

with the query's rounded mean c and the mean r of a row of samples. The first sum is a running one, and as large as the
numbers that rounding is compared with; the last one is next to nothing. There is one call, because between two calls
another thread may get the interpreter, and must be waited for. A block is two rows of windows: the real and the
imaginary part of one transform, since a query is real.
"""

from functools import partial
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

from . import lockstep
from .bounds import slide
from .compile import block_size, inner, kernel, pieces
from .fft import backward, forward, room_of, turns
from .lockstep import finish_all
from .moments import (
    EPS,
    ERROR,
    PIECE,
    RUN,
    SMALL,
    SMALLEST,
    TINY,
    add_dots,
    add_products,
    add_squares,
    add_windows,
    apart,
    drop_doubtful,
    end_dots,
    find_constants,
    judge_products,
    judge_squares,
    moments_about,
    normalized_windows,
    rounding,
    standardize,
    to_range,
    weighted_moments,
)
from .simd import aligned, aligned_zeros, scratch

DOTS = block_size(512, 8)  # direct dot products at a time
WINDOWS = block_size(2**19, 40)  # windows at a time of which it is noted which are in doubt
COST = 16  # so many times what a cell of a recurrence takes a sample takes
BITS = 4  # by so many bits norms of two rows may differ before one is scaled to the other


@inner(fastmath={"reassoc", "contract"})
def fill_rows(y, first, step, squared, rows, norm):
    """rows[r] = the samples from `first + r * step` on less their mean (or the squares of that), 0 behind the end."""
    n_rows, size = rows.shape
    for r in range(n_rows):
        begin = first + r * step
        v = y[begin : min(begin + size, y.shape[0])]
        total = 0.0
        for t in range(v.shape[0]):
            total += v[t]
        mean = total / max(v.shape[0], 1)
        row, square = rows[r], 0.0
        if squared:
            for t in range(v.shape[0]):
                d = (v[t] - mean) * (v[t] - mean)
                row[t] = d
                square += d * d
        else:
            for t in range(v.shape[0]):
                d = v[t] - mean
                row[t] = d
                square += d * d
        row[v.shape[0] :] = 0.0
        if not square > TINY:  # the error of what underflowed is not known
            for t in range(v.shape[0]):
                square = np.inf if v[t] != mean else square
        norm[r, 0], norm[r, 1] = np.sqrt(square), mean


@inner(fastmath={"reassoc", "contract"})
def dots(v, x, out):
    """out[j] = sum of x[i] v[j + i]; four points at a time, so that sums stay in registers."""
    m = x.shape[0]
    for first in range(0, out.shape[0], DOTS):
        o = out[first : first + DOTS]
        o[:] = 0.0
        for i in range(0, m - 3, 4):
            a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
            t = v[first + i : first + i + o.shape[0] + 3]
            for k in range(o.shape[0]):
                o[k] += a * t[k] + b * t[k + 1] + c * t[k + 2] + d * t[k + 3]
        for i in range(m - m % 4, m):
            t = v[first + i : first + i + o.shape[0]]
            for k in range(o.shape[0]):
                o[k] += x[i] * t[k]


@kernel(linked=True, error_model="numpy")
def finish_products(p, a, norm, b, out):
    """out[j] = the distance behind products a[j] and the squares of the query and of a window, `norm` and b[j].

    First all cosines, so that what has no branch is done side by side.
    """
    root = np.sqrt(norm)
    for j in range(a.shape[0]):
        both = root * np.sqrt(b[j])
        a[j] = a[j] / both if both > 0.0 else (1.0 if b[j] == norm else 0.0)
    for j in range(a.shape[0]):
        out[j] = lockstep.finish(p, a[j], 1.0, 1.0)


@inner
def scale_row(row, factor):
    """Multiply a row. In numba's own way to do it there is a message, which takes two seconds to compile."""
    for t in range(row.shape[0]):
        row[t] *= factor


@inner
def _level(rows, norms, by):
    """Scale the second row to the first where their norms are far from each other; `by` undoes it.

    The norms become what the error of a row is relative to: rows transformed together share theirs. What is not finite
    is left out, and stays infinite.
    """
    a, b = norms[0, 0], norms[1, 0]
    by[:] = 1.0
    for r in range(2):
        if not norms[r, 0] < np.inf:
            rows[r, :] = 0.0
    a, b = a if a < np.inf else 0.0, b if b < np.inf else 0.0
    if a > 0.0 and b > 0.0:
        power = frexp(a)[1] - frexp(b)[1]
        if abs(power) > BITS:
            factor = ldexp(1.0, power)
            by[1] = 1.0 / factor
            b *= factor
            scale_row(rows[1], factor)
    both = np.sqrt(a * a + b * b)
    for r in range(2):
        norms[r, 0] = both * by[r] if norms[r, 0] < np.inf else np.inf


@kernel(linked=True, error_model="numpy")
def load_rows(y, first, step, squared, direct, rows, spectra, norms, by, roots, room):
    """Take the samples from `first` on, or their squares, as `dot_rows` takes them: two rows of windows at a time.

    `norms` of each row: what its error is relative to, and the mean that was subtracted.
    """
    for k in range(spectra.shape[0]):
        of_both = norms[2 * k : 2 * k + 2]
        fill_rows(y, first + 2 * k * step, step, squared, spectra[k] if direct else rows, of_both)
        if not direct:
            _level(rows, of_both, by[k])
            forward(rows, spectra[k], roots, room)


@kernel(linked=True)
def dot_rows(spectra, own, by, step, direct, out, roots, room):
    """Fill in the dot products of a short series with the windows of rows: the first `step` of each row of `out`."""
    for k in range(spectra.shape[0]):
        if direct:
            for r in range(2):
                dots(spectra[k, r], own[0], out[2 * k + r, :step])
        else:
            both = out[2 * k : 2 * k + 2]
            backward(spectra[k], own, both, roots, room)
            if by[k, 1] != 1.0:
                scale_row(both[1], by[k, 1])


# Where windows are not normalized: sums of squares about one number need no mean.
@inner
def _squares_about(y, m, center, first, more, out, room):
    """Add to `out`, or start again, the sums of (y - center)^2 over the windows that start at `first` and after.

    A window that starts in a block of m samples is what the block holds from there on, and what the next block holds
    before the window's end: running sums of samples of its own, as in `moments_about`. `room` is for four blocks.
    """
    turn = 0
    _run_squares(y[first : first + m], center, room[2], False, room[3], room[0])
    for b in range(0, out.shape[0], m):
        here, after = out[b : b + m], first + b + m
        _run_squares(y[after : after + here.shape[0]], center, room[turn], more, here, room[1 - turn])
        turn = 1 - turn


@inner
def _run_squares(y, center, rest, more, out, back):
    """out[k] = rest[k] + the sum of squares of the first k samples, or so much more; back[k] = that from k on."""
    n, done, done_back = y.shape[0], 0.0, 0.0
    for k0 in range(0, n, RUN):
        k1, s, t = min(k0 + RUN, n), 0.0, 0.0
        v, of_rest, to = y[k0:k1], rest[k0:k1], out[k0:k1]
        last, to_back = y[n - k1 : n - k0][::-1], back[n - k1 : n - k0][::-1]
        for k in range(v.shape[0]):
            total = of_rest[k] + (done + s)
            to[k] = to[k] + total if more else total
            s += (v[k] - center) * (v[k] - center)
            t += (last[k] - center) * (last[k] - center)
            to_back[k] = done_back + t
        done, done_back = done + s, done_back + t
    if n < out.shape[0]:  # the last window ends with the samples
        out[n] = out[n] + (rest[n] + done) if more else rest[n] + done


@inner
def _end_squares(dot, step, shifts, wrongs, own, relative, squares, doubtful):
    """Make of dot products and of the windows' squares about a number the squared distances; how many are in doubt.

    The products still lack what their row and the query differ by from that number, `shifts`. See `judge_squares`.
    """
    count = 0
    for r in range(dot.shape[0]):
        shift, wrong = shifts[r], 2.0 * wrongs[r]
        for first in range(r * step, min((r + 1) * step, squares.shape[0]), PIECE):
            last = min(first + PIECE, (r + 1) * step, squares.shape[0])
            d, to, doubts = dot[r, first - r * step : last - r * step], squares[first:last], doubtful[first:last]
            for j in range(d.shape[0]):
                d[j] = own + to[j] - 2.0 * (d[j] + shift)
            for j in range(d.shape[0]):
                whole = own + to[j]
                doubts[j] = not (wrong + relative * to[j] < ERROR * whole - ERROR * TINY and d[j] > SMALL * whole)
            count += drop_doubtful(d, doubts)
    return count


@inner
def _squared(several, y, sizes, begin, loaded, query, rooms, roots, squares, doubtful):
    """Fill in the squared distances of the loaded windows, as they are; return the number of doubtful ones."""
    m, step, direct = sizes
    spectra, norms, by = loaded
    kernels, own, wrong, centers, rests = query
    rows, totals, blocks, room = rooms
    shifts, wrongs, channels = np.empty(2), np.empty(2), y.shape[0]
    for r in range(2):
        shift, square = 0.0, 0.0
        for k in range(channels):
            shift += (norms[k, r, 1] - centers[k]) * rests[k]
            square += norms[k, r, 0] * norms[k, r, 0]
        shifts[r], wrongs[r] = shift, wrong * np.sqrt(square)
    for k in range(channels):
        one = slice(k, k + 1)
        _squares_about(y[k], m, centers[k], begin, k > 0, squares, blocks)
        dot_rows(spectra[one], kernels[k], by[one], step, direct, rows, roots, room)
        if several is not None:
            for r in range(2):
                for j in range(step):
                    totals[r, j] = rows[r, j] + (totals[r, j] if k > 0 else 0.0)
    return _end_squares(totals, step, shifts, wrongs, own, rounding(m), squares, doubtful)


@inner
def _normalized(record, products, several, step, dot, scale, norms, of_windows, before, query, room, doubtful, out):
    """Fill in the distances of normalized windows from their products `dot`; return the number of doubtful ones.

    By few windows at a time, for what is noted of them in between takes more memory than they do.
    """
    own, wrong = query
    squares, rows, errors = of_windows
    count = 0
    for r in range(2):
        for first in range(r * step, min((r + 1) * step, out.shape[0]), PIECE):
            last = min(first + PIECE, (r + 1) * step, out.shape[0])
            here = slice(first, last)
            d, by, v, e = dot[r, first - r * step : last - r * step], scale[here], squares[here], errors[here]
            a, b, c = room[0, : last - first], room[1, : last - first], room[2, : last - first]
            if several is None:
                end_dots(d, by, norms[r], d, products, own, wrong, v, e, e, a, b, c)
            else:
                end_dots(d, by, None, before[here], products, own, wrong, v, rows[here], e, a, b, c)
            if products is not None:
                count += judge_products(a, b, c, own, 0.0, doubtful[here])
                finish_products(record, a, own, b, out[here])
            else:
                count += judge_squares(a, b, c, own, 0.0, doubtful[here])
                finish_all(record, a, 0.0, b, out[here])
    return count


@kernel(error_model="numpy")
def _shared_profiles(
    record, raw, products, several, y, sizes, scaling, queries, roots, rooms, first, last, doubtful, out
):
    """Fill out[q, first:last] and doubtful[q]; how many are in doubt. `first` and what follows it are whole blocks.

    Whether windows are compared as they are (`raw`; then `scaling` is None), whether `products` count and not squares,
    and `several` channels are True or None: what is None is left out by the compiler. The first call of all transforms
    the queries.
    """
    m, step, direct = sizes
    kernels, of_queries, wrongs, centers, rests = queries
    rows, spectra, totals, norms, by, blocks, moments, scales, sums, piece, room = rooms
    channels, count = y.shape[0], 0
    if first == 0 and not direct:
        for q in range(kernels.shape[0]):
            for k in range(channels):
                for r in range(2):
                    for t in range(rows.shape[1]):
                        rows[r, t] = kernels[q, k, r, t]
                forward(rows, kernels[q, k], roots, room)
    for begin in range(first, last, 2 * step):
        end = min(begin + 2 * step, last)
        here = end - begin
        spread, error, before = moments[0, :here], moments[1, :here], sums[3, :here]
        of_windows = (spread, error, error) if several is None else (sums[0, :here], sums[1, :here], sums[2, :here])
        for k in range(channels):
            one, scale = slice(k, k + 1), scales[k, :here]
            load_rows(y[k], begin, step, False, direct, rows, spectra[one], norms[k], by[one], roots, room)
            if scaling is not None:
                normalized_windows(y[k], m, begin, scaling, scale, spread, error)
                if several is not None:
                    add_windows(norms[k, :, 0], step, scale, spread, error, *of_windows, k > 0, k == channels - 1)
        for q in range(kernels.shape[0]):
            doubts, found = doubtful[q, begin - first : end - first], out[q, begin:end]
            if raw is not None:
                query, loaded = (kernels[q], of_queries[q], wrongs[q], centers[q], rests[q]), (spectra, norms, by)
                within = rows, totals, blocks, room
                count += _squared(several, y, sizes, begin, loaded, query, within, roots, found, doubts)
                for r in range(2):
                    to = found[r * step : (r + 1) * step]
                    finish_all(record, totals[r, : to.shape[0]], 0.0, totals[r], to)
            if scaling is not None:
                for k in range(channels):
                    one, scale = slice(k, k + 1), scales[k, :here]
                    dot_rows(spectra[one], kernels[q, k], by[one], step, direct, rows, roots, room)
                    if several is not None and k < channels - 1:
                        add_dots(rows, step, scale, before, k > 0)
                query = of_queries[q], wrongs[q]
                of_last = rows, scales[channels - 1, :here], norms[channels - 1, :, 0]
                within = before, query, piece
                count += _normalized(record, products, several, step, *of_last, of_windows, *within, doubts, found)
    return count


def as_waves(x, size, direct):
    """Return the channels of a short series, transformed (channels, 2, size), or as direct sums need them."""
    if direct:
        return np.ascontiguousarray(x)[:, np.newaxis]
    out = aligned_zeros(len(x), 2, size)
    out[:, 0, : x.shape[1]] = x / size  # a power of two
    return out


def correlated(x, size, direct):
    """Return the channels of a short series as `dot_rows` takes them: transforms (channels, 2, size), or themselves."""
    waves = as_waves(x, size, direct)
    if direct:
        return waves
    roots, out = turns(size), aligned(*waves.shape)
    room = aligned(*room_of(roots))
    for wave, to in zip(waves, out, strict=True):
        forward(wave, to, roots, room)
    return out


def shared_profiles(record, squares, queries, y, sizes, scaling, directly, out):
    """Fill out[q] with the distances of queries to all windows; what is in doubt is computed by `directly`.

    `queries`: what they are correlated with (n_queries, channels, ..), by `as_waves` and transformed here, their sums
    of squares, the errors of dot products with a row of norm 1, what channels' squares are about, and the sums of
    their points less that. `sizes`: points of a query, windows of a row, and whether products are direct.
    """
    kernels, (_, step, direct), channels, n_windows = queries[0], sizes, len(y), out.shape[1]
    size, many = step + sizes[0] - 1, 2 * step + 40  # no distance of a power of two between rows, see `mass`
    roots = turns(16 if direct else size)
    of_windows, rows = 1 if scaling == 0 else many, scratch("rows", (2, size))
    rooms = (
        rows,
        scratch("spectra", (channels, 2, size)),
        scratch("totals", (2, step)) if channels > 1 and scaling == 0 else rows,
        np.empty((channels, 2, 2)),
        np.ones((channels, 2)),
        scratch("blocks", (4, apart(sizes[0]))),
        scratch("moments", (2, of_windows)),
        scratch("scales", (channels, of_windows)),
        scratch("sums", (4, of_windows if channels > 1 else 1)),
        scratch("pieces", (3, PIECE)),
        scratch("columns", room_of(roots)),
    )
    kind = None if scaling else True, None if squares else True, True if channels > 1 else None
    together = max(WINDOWS // (2 * step * len(kernels)), 1)  # blocks
    for first in range(0, n_windows, 2 * step * together):
        last = min(first + 2 * step * together, n_windows)
        doubtful, count = scratch("doubtful", (len(kernels), last - first), np.bool_), 0
        for a, b in pieces(-(-(last - first) // (2 * step)), COST * size * channels * len(kernels)):
            begin, end = first + 2 * step * a, min(first + 2 * step * b, last)
            here = doubtful[:, begin - first : end - first]
            count += _shared_profiles(
                record, *kind, y, sizes, scaling or None, queries, roots, rooms, begin, end, here, out
            )
        if count:
            for q, doubts in enumerate(doubtful):
                directly(q, np.flatnonzero(doubts) + first)


SLACK = 2 * ERROR / SMALL  # so large is the relative error of a distance at most
LEAST = 2**20  # terms of a profile; with fewer the exact kernels take no millisecond
GROUP = 2**16  # samples at a time: they, their transforms and their sums stay in the second-level cache
HELD = block_size(2**18, 1)  # samples of all channels held for all queries: with what is known of them 10 MB
SPECTRA = block_size(2**23, 1)  # samples of the queries that are transformed at a time: 64 MB
SHORTEST_FFT = 128  # shorter queries are faster by direct sums
SQUARES = (lockstep.SquaredRecord, lockstep.EuclideanRecord)
PRODUCTS = (lockstep.CosineRecord, lockstep.PearsonRecord)


def slack(record, x, w, n_windows, scaling):
    """Return the relative error of the distances of a profile found here; 0 where the exact kernels are faster."""
    if x.shape[1] * n_windows < LEAST or not isinstance(record, SQUARES + PRODUCTS):
        return 0.0
    if scaling > 2 and w is not None:
        return 0.0
    if x.shape[1] < (24 if scaling else 96) * (1 if w is None else 2):
        return 0.0
    # Pearson's second form has (1 - r) / (1 + r), and a power of it.
    relative = SLACK * (1.0 + 2.0 * max(getattr(record, "beta", 0.0), 0.0))
    return relative if relative < 0.01 and n_windows > 64 else 0.0


# ------------------------------------------------------------------------------------------------------ dot products
def fft_size(m, n, weighted=False):
    """Return the size of the transforms that costs least per window of m samples in n, by counting operations.

    Moments with weights are found from the transforms, and lose digits to samples far from a window: rows stay short.
    """
    least, most = int(m - 1).bit_length() + 1, int(n - 1).bit_length()
    sizes = [2**k for k in range(least, max(least, min(most, least + 1) if weighted else most) + 1)]
    # A transform that leaves the second-level cache takes about half as long again.
    return min(sizes, key=lambda s: np.log2(s) * s / (s - m + 1) * (1.5 if s > 2**15 else 1.0))


def row_size(m, n, weighted=False):
    """Return the samples of a row of windows of m samples."""
    return fft_size(m, n, weighted) if m >= SHORTEST_FFT else 4072 + m - 1


class Correlator:
    """Sliding dot products of short series of m points with blocks of a long one's channels: some pairs of rows."""

    def __init__(self, m, size, n, channels=1):
        self.m, self.size, self.step = m, size, size - m + 1
        self.direct = m < SHORTEST_FFT
        both, n_windows = 2 * size, n - m + 1
        self.n_pairs = min(max(1, min(GROUP, HELD // channels) // both), -(-n_windows // (2 * self.step)))
        self._rows, self._roots = scratch("rows", (2, size)), turns(16 if self.direct else size)
        self._columns = scratch("columns", room_of(self._roots))

    @property
    def positions(self):
        """Number of windows that are computed at a time."""
        return 2 * self.n_pairs * self.step

    def room(self, name):
        """Return the memory for what is loaded of one channel."""
        return scratch(name, (self.n_pairs, 2, self.size))

    def kernels(self, x):
        """Return short series (k, m) as they are correlated with."""
        return correlated(x, self.size, self.direct)

    def load(self, y, first, out, squared=False):
        """Take the samples from `first` on, or their squares, into room for them.

        Returns them as they are correlated, and of each row of windows what errors are relative to, and the mean.
        """
        n_pairs = min(self.n_pairs, -(-(len(y) - self.m + 1 - first) // (2 * self.step)))
        norms, by = np.empty((2 * n_pairs, 2)), np.ones((n_pairs, 2))
        of_all = self._rows, out[:n_pairs], norms, by, self._roots, self._columns
        load_rows(y, first, self.step, squared, self.direct, *of_all)
        return (out[:n_pairs], by), norms

    def dot(self, loaded, kernel, name="dots"):
        """Return dot products with the windows of what was loaded, less its mean: the first `step` of each row.

        They are in memory of that name, which the next ones take.
        """
        spectra, by = loaded
        out = self.room(name)[: len(spectra)].reshape(-1, self.size)
        dot_rows(spectra, kernel, by, self.step, self.direct, out, self._roots, self._columns)
        return out


def dot_error(m, size):
    """Return the bound of a dot product's error, relative to the norms of the row and of the short series."""
    return EPS * (np.sqrt(m) if m < SHORTEST_FFT else np.log2(size))


# ----------------------------------------------------------------------------------------------------------- queries
class _Part(NamedTuple):
    """A channel of a query, less its mean."""

    channel: int
    kernel: np.ndarray  # it times its weights, and these, as they are correlated with
    averages: np.ndarray | None
    total: float  # of the weights
    origin: float  # what means of windows are taken less
    mean: float  # its own less the origin
    own: float  # its weighted sum of squares
    norms: tuple  # of it times its weights, and of these


def _parts(x, w, squares, scaling, prepared):
    """Return the channels of a query that count; `prepared` makes of series what they are correlated with."""
    parts, weight = [], np.ones_like(x) if w is None else w
    largest = np.abs(x).max()
    if not (squares or SMALLEST < largest < 1.0 / SMALLEST):  # of products the query's size does not count
        x = np.ldexp(x, -np.frexp(largest)[1])
    totals = weight.sum(axis=1)
    counts = np.flatnonzero(totals > 0.0)
    means, rests = np.zeros((2, len(x)))
    means[counts] = (weight * x).sum(axis=1)[counts] / totals[counts]
    centered = x - means[:, np.newaxis]
    rests[counts] = (weight * centered).sum(axis=1)[counts] / totals[counts]
    if w is not None or scaling or not squares:  # else squares are about the first, whatever is left of the mean
        centered -= rests[:, np.newaxis]
    own = weight * centered
    kernels, averages = prepared(own), [None] * len(x) if w is None else prepared(w)
    squared, norms = (own * centered).sum(axis=1), np.sqrt([(own**2).sum(axis=1), (weight**2).sum(axis=1)]).T
    for k in counts.tolist():
        # Of squares only differences of means count: they are taken less the query's, to keep their digits.
        origin, mean = (means[k], rests[k]) if squares and not scaling else (0.0, means[k] + rests[k])
        of_query = kernels[k], averages[k], totals[k], origin, mean, squared[k]
        parts.append(_Part(k, *of_query, tuple(norms[k])))
    return parts


class _Samples:
    """The samples of a block of windows as queries are correlated with them, and the moments of its windows."""

    def __init__(self, y, scaling, error_kind, weighted, correlator):
        self._y, self._scaling, self._error_kind, self._weighted = y, scaling, error_kind, weighted
        self._correlator = correlator
        self._rooms = [correlator.room(("samples", k)) for k in range(len(y))]
        self._squares = [correlator.room(("squares", k)) for k in range(len(y))] if weighted else None
        # Rows a little longer than needed: a distance of a power of two between arrays would put them all in the same
        # places of the first-level cache.
        self._moments = scratch("moments", (4, correlator.positions + 40))
        self._moments[1] = 1.0  # the scale of windows that are not normalized

    def load(self, first, last):
        """Take the windows [first, last)."""
        self._first, self._last, load = first, last, self._correlator.load
        self._loaded = [load(y, first, room) for y, room in zip(self._y, self._rooms, strict=True)]
        if self._weighted:
            self._of_squares = [load(y, first, room, True) for y, room in zip(self._y, self._squares, strict=True)]

    def loaded(self, k):
        """Return the transforms of a channel, and the norm and mean of each row."""
        return self._loaded[k]

    def moments(self, part):
        """Return the mean, scale, spread and error of the windows of a query's channel."""
        mean, scale, spread, error = moments = self._moments[:, : self._last - self._first]
        if not self._weighted:
            self._find(part.channel, part.origin, part.mean, *moments)
            return moments
        correlator, k = self._correlator, part.channel
        (loaded, rows), (squares, rows_q) = self._loaded[k], self._of_squares[k]
        s = correlator.dot(loaded, part.averages, "averages")
        q = correlator.dot(squares, part.averages)
        bounds = rows, rows_q, dot_error(correlator.m, correlator.size), part.norms[1]
        about = part.total, part.origin, part.mean, self._error_kind
        weighted_moments(s, q, *bounds, correlator.step, *about, mean, spread, error)
        if self._scaling:
            mean[:] = 0.0
            standardize(scale, spread, error, part.total, self._scaling)
        return moments

    def _find(self, k, origin, mean_x, mean, scale, spread, error):
        y, m, first = self._y[k], self._correlator.m, self._first
        origin = y[first] if self._scaling > 2 else origin
        moments_about(y, m, origin, first, mean, spread, error)
        find_constants(y, m, first, self._error_kind == 2, mean, spread, error)
        if self._scaling > 2:
            low, high = np.empty((2, 1, self._last - first))
            slide(y[np.newaxis, first : self._last + m - 1], m, low, high)
            to_range(low[0], high[0], origin, mean, scale, spread, error, mean_x, m, self._scaling == 4)


# ---------------------------------------------------------------------------------------------------------- profiles
def profiles(record, X, W, y, scaling, out, size=None):
    """Fill out[q] with the distances of X[q] to all windows, as `lockstep.profile` does.

    The queries (n_queries, channels, m) are normalized already; `W` may be None. A block of samples is transformed once
    for all of them, and moments that do not depend on the query are found once. `size` replaces that of the transforms.
    """
    size = row_size(X.shape[2], y.shape[1], W is not None) if size is None else size
    together = max(1, SPECTRA // (len(y) * size))
    shared = W is None and (scaling in (1, 2) or (scaling == 0 and isinstance(record, SQUARES)))
    find = _by_samples if shared else _profiles
    for at in range(0, len(X), together):
        some = slice(at, at + together)
        find(record, X[some], W if W is None else W[some], y, scaling, size, out[some])


def _by_samples(record, X, _, y, scaling, size, out):
    """Compute the profiles where moments are those of the samples alone."""
    squares, m = isinstance(record, SQUARES), X.shape[2]
    queries = [_parts(x, None, squares, scaling, partial(as_waves, size=size, direct=m < SHORTEST_FFT)) for x in X]
    wrong = [dot_error(m, size) * np.sqrt(sum(part.norms[0] ** 2 for part in parts)) for parts in queries]
    if scaling:
        own = [sum(part.own + part.total * part.mean * part.mean for part in parts) for parts in queries]
    else:
        own = [sum(part.own for part in parts) for parts in queries]
    kernels = np.array([[part.kernel for part in parts] for parts in queries])
    centers = np.array([[part.origin for part in parts] for parts in queries])
    rests = np.array([[part.total * part.mean for part in parts] for parts in queries])
    sizes, ones = (m, size - m + 1, m < SHORTEST_FFT), np.ones_like(X[0])

    def directly(q, which):
        if len(which):
            _directly(record, X[q], ones, y, scaling, which, out[q])

    of_queries = kernels, np.array(own), np.array(wrong), centers, rests
    shared_profiles(record, squares, of_queries, y, sizes, scaling, directly, out)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is computed again
def _profiles(record, X, W, y, scaling, size, out):
    """Compute the profiles where moments are of each query."""
    squares, m = isinstance(record, SQUARES), X.shape[2]
    correlator = Correlator(m, size, y.shape[1], len(y))
    step, wrong = correlator.step, dot_error(m, size)
    add, judge = (add_squares, judge_squares) if squares else (add_products, judge_products)
    weights = [None] * len(X) if W is None else W
    queries = [_parts(x, w, squares, scaling, correlator.kernels) for x, w in zip(X, weights, strict=True)]
    norms = [sum(part.own + part.total * part.mean * part.mean for part in parts) for parts in queries]
    error_kind = 0 if scaling else (1 if squares else 2)  # means count
    share = rounding(m) / 2 + 4 * EPS if error_kind == 1 else 0.0
    samples = _Samples(y, scaling, error_kind, W is not None, correlator)
    many = correlator.positions
    sums, doubtful = scratch("sums", (3, many + 40)), scratch("doubtful", (many,), np.bool_)
    for first in range(0, out.shape[1], many):
        last = min(first + many, out.shape[1])
        samples.load(first, last)
        a, b, c = sums[:, : last - first]
        for q, (parts, norm) in enumerate(zip(queries, norms, strict=True)):
            here = a, b, c, norm, share, doubtful[: last - first]
            for part in parts:
                more = part is not parts[0]
                loaded, rows = samples.loaded(part.channel)
                moments, of_query = samples.moments(part), (part.own, part.mean, part.total)
                dot = correlator.dot(loaded, part.kernel)
                add(dot, step, wrong * part.norms[0] * rows[:, 0], *moments, *of_query, a, b, c, more)
            count = judge(*here)
            if squares:
                lockstep.finish_all(record, a, 0.0, b, out[q, first:last])
            else:
                finish_products(record, a, norm, b, out[q, first:last])
            if count:
                which = np.flatnonzero(doubtful[: last - first]) + first
                _directly(record, X[q], np.ones_like(X[q]) if W is None else W[q], y, scaling, which, out[q])


def _directly(record, x, w, y, scaling, which, out):
    """Compute the windows `which` by the exact kernels, neighbors together."""
    m = x.shape[1]
    for run in np.split(which, np.flatnonzero(np.diff(which) > 64) + 1):
        first, last = run[0], run[-1] + 1
        piece = np.ascontiguousarray(y[:, first : last + m - 1])
        lockstep.profile(record, x, piece, w, scaling, out[first:last])
