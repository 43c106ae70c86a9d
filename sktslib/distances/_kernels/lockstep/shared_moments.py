"""Profiles of windows of which all points count alike, normalized or not: all of a stretch in one call.

The scheme is that of `sliding`. Moments of normalized windows are those of the samples alone, so that each block of
samples is transformed, and its moments found, once for all queries. Windows that are compared as they are need none:

    sum (x - y)^2 = sum (y - c)^2 + sum (x - c)^2 - 2 sum (y - r)(x - c) - 2 (r - c) sum (x - c)

with the query's rounded mean c and the mean r of a row of samples. The first sum is a running one, and so large as
what rounding is compared with; the last one is next to nothing. One call does it all, for between two calls another
thread may take the interpreter, and waits for it when it comes back. A block is two rows of windows: the real and the
imaginary part of one transform, since a query is real.
"""

from math import frexp, ldexp

import numpy as np

from ..compilation import block_size, inner, kernel, pieces
from ..running_moments import (
    ERROR,
    PIECE,
    RUN,
    SMALL,
    TINY,
    add_dots,
    add_windows,
    apart,
    drop_doubtful,
    end_dots,
    judge_products,
    judge_squares,
    normalized_windows,
    rounding,
)
from ..scratch import aligned, aligned_zeros, scratch
from . import lockstep_terms
from .lockstep_drivers import finish_all
from .transforms import backward, forward, room_of, turns

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
        out[j] = lockstep_terms.finish(p, a[j], 1.0, 1.0)


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

    `norms` of each row: what its error is relative to, and the mean that was taken off.
    """
    for k in range(spectra.shape[0]):
        of_both = norms[2 * k : 2 * k + 2]
        fill_rows(y, first + 2 * k * step, step, squared, spectra[k] if direct else rows, of_both)
        if not direct:
            _level(rows, of_both, by[k])
            forward(rows, spectra[k], roots, room)


@kernel(linked=True)
def dot_rows(spectra, own, by, step, direct, out, roots, room):
    """Dot products of a short series with the windows of rows: the first `step` of each row of `out`."""
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
    """Add to `out`, or begin anew, the sums of (y - center)^2 over the windows that start at `first` and after.

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
    """Squared distances of the windows that are loaded, as they are, in `rows`; how many are in doubt."""
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
    """Distances of normalized windows whose products in the last channel are `dot`; how many are in doubt.

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
def _profiles(record, raw, products, several, y, sizes, scaling, queries, roots, rooms, first, last, doubtful, out):
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
    """The channels of a short series as they are transformed (channels, 2, size), or as direct sums take them."""
    if direct:
        return np.ascontiguousarray(x)[:, np.newaxis]
    out = aligned_zeros(len(x), 2, size)
    out[:, 0, : x.shape[1]] = x / size  # a power of two
    return out


def correlated(x, size, direct):
    """The channels of a short series as `dot_rows` takes them: transforms (channels, 2, size), or themselves."""
    waves = as_waves(x, size, direct)
    if direct:
        return waves
    roots, out = turns(size), aligned(*waves.shape)
    room = aligned(*room_of(roots))
    for wave, to in zip(waves, out, strict=True):
        forward(wave, to, roots, room)
    return out


def profiles(record, squares, queries, y, sizes, scaling, directly, out):
    """Fill out[q] with the distances of queries to all windows; what is in doubt is computed by `directly`.

    `queries`: what they are correlated with (n_queries, channels, ..), by `as_waves` and transformed here, their sums
    of squares, the errors of dot products with a row of norm 1, what channels' squares are about, and the sums of
    their points less that. `sizes`: points of a query, windows of a row, and whether products are direct.
    """
    kernels, (_, step, direct), channels, n_windows = queries[0], sizes, len(y), out.shape[1]
    size, many = step + sizes[0] - 1, 2 * step + 40  # no distance of a power of two between rows, see `sliding`
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
            count += _profiles(record, *kind, y, sizes, scaling or None, queries, roots, rooms, begin, end, here, out)
        if count:
            for q, doubts in enumerate(doubtful):
                directly(q, np.flatnonzero(doubts) + first)
