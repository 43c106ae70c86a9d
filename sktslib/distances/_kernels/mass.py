"""Profiles of sums of squares and of products, by running moments and one sliding dot product per channel.

With the weighted mean subtracted from the query, its dot product with a window does not depend on the window's mean,
and

    sum w (x - y)^2 = M2(x) + M2(y) + W (mean(x) - mean(y))^2 - 2 sum w (x - mean(x)) y

where M2 is the weighted sum of squared deviations, W the total weight, and only the last term can cancel digits. The
dot products of all windows come from an overlap-save FFT, or from direct sums if the query is short. Means and M2 come
from running sums over the samples of a single window, relative to one of them, so a huge value next to a window does
not affect its result.

Results that this method cannot compute to within 1e-12 of the sum of squares, and results that are small compared with
that sum, are *doubtful*: the exact kernels of `lockstep` compute them again. So every distance of such a profile is
within a relative error `SLACK` of the exact one.

One call computes many windows whose points have equal weights, normalized or not. The moments of normalized windows
depend on the samples only. Windows that are compared without normalization need no moments:

    sum (x - y)^2 = sum (y - c)^2 + sum (x - c)^2 - 2 sum (y - r)(x - c) - 2 (r - c) sum (x - c)

with the query's rounded mean c and the mean r of a row of samples. The first sum is a running sum, and about as large
as the numbers that rounding errors are compared with; the last sum is nearly zero. It is one call because between two
calls another thread may take the interpreter lock. A block consists of two rows of samples: the real and the imaginary
part of one transform, since samples are real.
"""

import numpy as np

from . import lockstep
from .bounds import slide_row
from .compile import block_size, inner, kernel, pieces
from .fft import backward, forward, room_of, turns
from .lockstep import PRODUCTS, SQUARES, finish_all
from .moments import EPS, HUGE, RUN, SMALLEST, TINY, apart, find_constants, moments, rounding
from .simd import aligned_zeros, fill, scratch

ERROR = 1e-12  # largest error of a profile, relative to the sum of squares
SMALL = 1e-6  # results below this share of the sum of squares are computed directly
PIECE = block_size(1024, 8)  # windows at a time whose sums stay in the first-level cache
DOTS = block_size(512, 8)  # direct dot products at a time
WINDOWS = block_size(2**19, 40)  # windows per mask of doubtful results
COST = 16  # time of a sample relative to a cell of a recurrence


@inner(fastmath={"reassoc", "contract"})
def fill_rows(y, first, step, squared, rows, norm):
    """Fill row r with the samples from `first + r * step` on, minus their mean; zeros follow the last sample.

    `squared` (True or None) says whether to square the differences. `norm` receives the Euclidean norm of each row and
    the mean that was subtracted.
    """
    n_rows, size = rows.shape
    for r in range(n_rows):
        begin = first + r * step
        v = y[begin : min(begin + size, y.shape[0])]
        total = 0.0
        for t in range(v.shape[0]):
            total += v[t]
        mean = total / max(v.shape[0], 1)
        row, square = rows[r], 0.0
        for t in range(v.shape[0]):
            d = v[t] - mean
            if squared is not None:
                d = d * d
            row[t] = d
            square += d * d
        row[v.shape[0] :] = 0.0
        if not square > TINY:  # squares may have underflowed, so the error is unknown
            for t in range(v.shape[0]):
                square = np.inf if v[t] != mean else square
        norm[r, 0], norm[r, 1] = np.sqrt(square), mean


@inner(fastmath={"reassoc", "contract"})
def dots(v, x, out):
    """Fill in sliding dot products: out[j] = sum of x[i] v[j + i].

    Four points are added at a time, so that sums stay in registers.
    """
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


@kernel(error_model="numpy")
def finish_products(p, a, norm, b, out):
    """Fill in out[j], the distance for dot product a[j] and the squared norms of query (`norm`) and window (b[j]).

    The cosines come first, in a loop without branches that the compiler can vectorize.
    """
    root = np.sqrt(norm)
    for j in range(a.shape[0]):
        both = root * np.sqrt(b[j])
        a[j] = a[j] / both if both > 0.0 else (1.0 if b[j] == norm else 0.0)
    for j in range(a.shape[0]):
        out[j] = lockstep.finish(p, a[j], 1.0, 1.0)


@inner
def _share_norm(rows, norms):
    """Replace the norms of two rows that are transformed together by their joint norm, which bounds the error of both.

    Rows whose norm is not finite are set to 0 and keep an infinite norm.
    """
    square = 0.0
    for r in range(2):
        if norms[r, 0] < np.inf:
            square += norms[r, 0] * norms[r, 0]
        else:
            rows[r, :] = 0.0
    for r in range(2):
        norms[r, 0] = np.sqrt(square) if norms[r, 0] < np.inf else np.inf


@kernel(error_model="numpy")
def load_rows(y, first, step, squared, rows, spectra, norms, roots, room):
    """Load the samples from `first` on, or their squares, into `spectra` as `dot_rows` reads them: two rows at a time.

    `norms` receives for each row the number that its error is relative to, and the mean that was subtracted. Without
    `roots` (None) the rows are not transformed, because products are summed directly; then no transform is compiled.
    """
    for k in range(spectra.shape[0]):
        of_both = norms[2 * k : 2 * k + 2]
        if roots is None:
            fill_rows(y, first + 2 * k * step, step, squared, spectra[k], of_both)
        else:
            fill_rows(y, first + 2 * k * step, step, squared, rows, of_both)
            _share_norm(rows, of_both)
            forward(rows, spectra[k], roots, room)


@inner
def _transform(waves, spectra, roots, room):
    """Fill `spectra` with the Fourier transforms of the channels of a query."""
    for k in range(waves.shape[0]):
        forward(waves[k], spectra[k], roots, room)


@kernel
def dot_rows(spectra, own, step, out, roots, room):
    """Fill the first `step` entries of each row of `out` with the dot products of the query and loaded windows."""
    for k in range(spectra.shape[0]):
        if roots is None:
            for r in range(2):
                dots(spectra[k, r], own[0], out[2 * k + r, :step])
        else:
            backward(spectra[k], own, out[2 * k : 2 * k + 2], roots, room)


@inner(error_model="numpy")
def weighted_moments(s, q, norm_s, norm_q, bound, w_norm, step, total, origin, mean_x, kind, mean, spread, error):
    """Fill in mean, spread and error of windows from `s` and `q`, their weighted sums of samples and of squares.

    The mean of each row was subtracted from both; `norm_s` and `norm_q` hold the norms of the rows and these means.

    `kind` says which error of the mean matters for the distance: 0 none, 1 that of its difference from the query's mean
    `mean_x`, 2 that of its product with `mean_x`.
    """
    for r in range(s.shape[0]):
        base, wrong_s, wrong_q = norm_s[r, 1] - origin, bound * w_norm * norm_s[r, 0], bound * w_norm * norm_q[r, 0]
        for t in range(min(step, mean.shape[0] - r * step)):
            at = r * step + t
            mean[at] = base + s[r, t] / total
            spread[at] = q[r, t] - s[r, t] * s[r, t] / total
            error[at] = wrong_q + 2.0 * abs(s[r, t]) / total * wrong_s + 2.0**-50 * abs(q[r, t])
        if kind > 0:
            for t in range(min(step, mean.shape[0] - r * step)):
                at = r * step + t
                apart = 2.0 * abs(mean[at] - mean_x) if kind == 1 else 2.0 * abs(mean[at]) + abs(mean_x)
                error[at] += apart * (wrong_s + 4.0 * EPS * (abs(mean[at]) * total + abs(s[r, t])))


# ------------------------------------------------------------------------------------------------------- accumulation
# One array is written per loop: the compiler gives up on vector code where too many arrays might overlap.
@kernel(error_model="numpy")
def standardize(scale, spread, error, total, scaling):
    """Replace the moments of windows by those of the normalized windows; fill in `scale`, the factor that normalizes.

    `scaling` is 1 for "mean" and 2 for "zscore".
    """
    if scaling == 1:
        scale[:] = 1.0
        return
    for j in range(scale.shape[0]):
        scale[j] = total / spread[j] if spread[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):  # a constant window has no error; one that is only nearly constant may have any
        error[j] = error[j] * scale[j] if spread[j] > 0.0 else (0.0 if error[j] == 0.0 else np.inf)
    for j in range(scale.shape[0]):
        spread[j] = total if spread[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):
        scale[j] = np.sqrt(scale[j])


@inner(error_model="numpy")
def to_range(low, high, origin, lift, scale, spread, error, mean_x, m, centered):
    """Replace the moments of windows by those of the windows scaled to a range of 1, and fill in `scale`.

    `lift` holds the windows' means minus the `origin`. It becomes the mean of the normalized window, or 0 if windows
    are `centered`.
    """
    relative = rounding(m)  # error of the mean relative to the range, see `moments`
    for j in range(scale.shape[0]):
        scale[j] = 1.0 / (high[j] - low[j]) if high[j] > low[j] else 0.0
    for j in range(scale.shape[0]):
        wrong = relative + 2.0 * EPS * (1.0 + abs(lift[j]) * scale[j])
        lift[j] = 0.0 if centered else (lift[j] - (low[j] - origin)) * scale[j]
        wrong *= 0.0 if centered else 2.0 * abs(mean_x - lift[j]) + abs(mean_x) + 2.0 * lift[j]
        error[j] = error[j] * scale[j] * scale[j] + m * wrong if scale[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):
        spread[j] *= scale[j] * scale[j]


@inner
def add_channel(products, dot, step, wrong, norms, lift, scale, spread, error, own, mean_x, total, a, b, c, more):
    """Add one channel to the sums `a`, the sizes `b` and the errors `c` of windows; the first channel overwrites them.

    The sums are of squared differences, and their size is the sum of all terms, or of `products` (True, else None), and
    their size is the window's own sum of squares. `wrong` is the error of a dot product with a row of norm 1; `norms`
    are those of the rows. `more` says whether a channel came before.
    """
    for r in range(dot.shape[0]):
        w = wrong * norms[r, 0]
        if products is None:
            w *= 2.0
        for first in range(r * step, min((r + 1) * step, a.shape[0]), PIECE):
            last = min(first + PIECE, (r + 1) * step, a.shape[0])
            d, at = dot[r, first - r * step : last - r * step], lift[first:last]
            v, e, by = spread[first:last], error[first:last], scale[first:last]
            to_a, to_b, to_c = a[first:last], b[first:last], c[first:last]
            if not more:
                to_a[:], to_b[:], to_c[:] = 0.0, 0.0, 0.0
            if products is None:
                for j in range(d.shape[0]):
                    to_b[j] += own + v[j] + total * (mean_x - at[j]) * (mean_x - at[j])
                for j in range(d.shape[0]):
                    to_a[j] += own + v[j] + total * (mean_x - at[j]) * (mean_x - at[j]) - 2.0 * d[j] * by[j]
            else:
                for j in range(d.shape[0]):
                    to_a[j] += d[j] * by[j] + total * mean_x * at[j]
                for j in range(d.shape[0]):
                    to_b[j] += v[j] + total * at[j] * at[j]
            for j in range(d.shape[0]):
                to_c[j] += w * by[j] + e[j]


@inner
def add_windows(norms, step, scale, spread, error, squares, rows, errors, more, last):
    """Add one channel to the windows' sums of squares, scaled norms of rows, and errors; the first one overwrites them.

    Norms are added up as squares; the last channel takes the root. `more` says whether a channel came before.
    """
    for r in range(norms.shape[0]):
        for first in range(r * step, min((r + 1) * step, scale.shape[0]), PIECE):
            end = min(first + PIECE, (r + 1) * step, scale.shape[0])
            by, v, e, norm = scale[first:end], spread[first:end], error[first:end], norms[r]
            to_v, to_n, to_e = squares[first:end], rows[first:end], errors[first:end]
            if not more:
                to_v[:], to_n[:], to_e[:] = 0.0, 0.0, 0.0
            for j in range(by.shape[0]):
                to_n[j] += norm * by[j] * (norm * by[j])
            if last:
                for j in range(by.shape[0]):
                    to_n[j] = np.sqrt(to_n[j])
            for j in range(v.shape[0]):
                to_v[j] += v[j]
            for j in range(e.shape[0]):
                to_e[j] += e[j]


@inner
def normalized_windows(y, m, first, scaling, scale, spread, error):
    """Fill in `scale`, `spread` and `error` of the normalized windows of one channel."""
    moments(y, m, 0.0, first, None, spread, error)
    for begin in range(0, spread.shape[0], PIECE):
        here = slice(begin, begin + PIECE)
        by, of_spread, of_error = scale[here], spread[here], error[here]
        find_constants(y, m, first + begin, False, of_spread, of_spread, of_error)
        standardize(by, of_spread, of_error, float(m), scaling)


@inner
def add_dots(dot, step, scale, a, more):
    """Add one channel's scaled dot products to `a`, or overwrite it if no channel came before (`more` is False)."""
    for r in range(dot.shape[0]):
        for first in range(r * step, min((r + 1) * step, a.shape[0]), PIECE):
            end = min(first + PIECE, (r + 1) * step, a.shape[0])
            d, by, to = dot[r, first - r * step : end - r * step], scale[first:end], a[first:end]
            if more:
                for j in range(d.shape[0]):
                    to[j] += d[j] * by[j]
            else:
                for j in range(d.shape[0]):
                    to[j] = d[j] * by[j]


@inner
def end_dots(dot, scale, norm, before, products, own, wrong, squares, rows, errors, a, b, c):
    """Add the last channel's dot products to those `before`, and fill in the sums a, sizes b and errors c.

    The results are those of `add_channel` for all channels in turn. By the Cauchy-Schwarz inequality, the norms of all
    channels together bound the error. A single channel has the `norm` of its row, and `before` and `rows` are not read;
    with several channels `norm` is None. `products` is True or None.
    """
    if products is None:
        wrong = 2.0 * wrong
    if norm is not None:
        for j in range(a.shape[0]):
            a[j] = dot[j] * scale[j]
        for j in range(a.shape[0]):
            c[j] = wrong * (norm * scale[j]) + errors[j]
    else:
        for j in range(a.shape[0]):
            a[j] = before[j] + dot[j] * scale[j]
        for j in range(a.shape[0]):
            c[j] = wrong * rows[j] + errors[j]
    if products is None:
        for j in range(a.shape[0]):
            b[j] = own + squares[j]
        for j in range(a.shape[0]):
            a[j] = own + squares[j] - 2.0 * a[j]
    else:
        for j in range(a.shape[0]):
            b[j] = squares[j]


@inner
def drop_doubtful(a, doubtful):
    """Set the doubtful sums to 0, because they may be negative; return their number."""
    count = 0
    for j in range(a.shape[0]):
        count += doubtful[j]
    if count:
        for j in range(a.shape[0]):
            a[j] = 0.0 if doubtful[j] else a[j]
    return count


@kernel(error_model="numpy")
def judge_squares(a, b, c, norm, share, doubtful):
    """Mark sums of squares whose error may be too large, set them to 0, and return their number.

    `share` bounds the part of the relative error that the errors of the means cause.
    """
    for j in range(a.shape[0]):
        # Negated, with strict inequalities, so that NaN and infinity are doubtful, too.
        doubtful[j] = not (c[j] < (ERROR - share) * b[j] - ERROR * TINY and a[j] > SMALL * b[j])
    return drop_doubtful(a, doubtful)


@kernel(error_model="numpy")
def judge_products(a, b, c, norm, share, doubtful):
    """Mark dot products whose error may be too large, and return their number.

    The error of the window's norm counts as much as that of the product; see `add_channel`.
    """
    count = 0
    for j in range(a.shape[0]):
        both = np.sqrt(norm * b[j]) if b[j] > 0.0 else 0.0
        sure = c[j] * max(1.0, both / b[j]) <= ERROR * both if b[j] > 0.0 else c[j] == 0.0
        sure = sure and (b[j] == 0.0 or (b[j] > TINY and b[j] < HUGE))
        doubtful[j] = not (sure and abs(a[j]) <= (1.0 - SMALL) * both)
        count += doubtful[j]
    return count


# Without normalization: sums of squares about one number need no mean.
@inner
def _squares_about(y, m, center, first, more, out, room):
    """Add the sums of (y - center)^2 over the windows that start at `first` and after it to `out`.

    Without earlier channels (`more` is False) `out` is overwritten. A window that starts within a block of m samples
    consists of the end of this block and the start of the next one, so its sum is one running sum backward plus one
    forward, both over samples of its own, as in `moments`. `room` is a buffer for four blocks.
    """
    turn = 0
    _run_squares(y[first : first + m], center, room[2], False, room[3], room[0])
    for b in range(0, out.shape[0], m):
        here, after = out[b : b + m], first + b + m
        _run_squares(y[after : after + here.shape[0]], center, room[turn], more, here, room[1 - turn])
        turn = 1 - turn


@inner
def _run_squares(y, center, rest, more, out, back):
    """Fill in out[k] = rest[k] + sum of the first k squares, or add it to out[k] (`more`); squares are about `center`.

    back[k] is the sum of the squares from k on.
    """
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
    if n < out.shape[0]:  # the last window ends with the last sample
        out[n] = out[n] + (rest[n] + done) if more else rest[n] + done


@inner
def _end_squares(dot, step, shifts, wrongs, own, relative, squares, doubtful):
    """Turn dot products and the windows' sums of squares into squared distances; return the number of doubtful ones.

    `squares` are taken about the query's rounded mean. `shifts` holds for each row what its dot products lack because
    the mean of the row was subtracted. See `judge_squares`.
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
    """Fill in the squared distances of the loaded windows without normalization; return the number of doubtful ones."""
    m, step = sizes
    spectra, norms = loaded
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
        _squares_about(y[k], m, centers[k], begin, k > 0, squares, blocks)
        dot_rows(spectra[k : k + 1], kernels[k], step, rows, roots, room)
        if several is not None:
            for r in range(2):
                for j in range(step):
                    totals[r, j] = rows[r, j] + (totals[r, j] if k > 0 else 0.0)
    return _end_squares(totals, step, shifts, wrongs, own, rounding(m), squares, doubtful)


@inner
def _normalized(record, products, several, step, dot, scale, norms, of_windows, before, query, room, doubtful, out):
    """Fill in the distances of normalized windows from their dot products `dot`; return the number of doubtful ones.

    Few windows at a time, because the intermediate results take more memory than the windows.
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
def _plain_profile(record, raw, products, several, y, sizes, scaling, query, roots, rooms, first, last, doubtful, out):
    """Fill `out[first:last]` and `doubtful`; return the number of doubtful windows. `first` is at the start of a block.

    All points have equal weights. `raw` means windows without normalization (then `scaling` is None), `products` that
    products count instead of squares, and `several` that there are several channels. These three are True or None,
    because the compiler leaves out branches for None. The call with `first` = 0 transforms the query.
    """
    m, step = sizes
    waves, transforms, own, wrong, centers, rests = query
    rows, spectra, totals, norms, blocks, values, scales, sums, piece, room = rooms
    channels, count = y.shape[0], 0
    if roots is not None and first == 0:
        _transform(waves, transforms, roots, room)
    for begin in range(first, last, 2 * step):
        end = min(begin + 2 * step, last)
        here = end - begin
        spread, error, before = values[0, :here], values[1, :here], sums[3, :here]
        of_windows = (spread, error, error) if several is None else (sums[0, :here], sums[1, :here], sums[2, :here])
        for k in range(channels):
            scale = scales[k, :here]
            load_rows(y[k], begin, step, None, rows, spectra[k : k + 1], norms[k], roots, room)
            if scaling is not None:
                normalized_windows(y[k], m, begin, scaling, scale, spread, error)
                if several is not None:
                    add_windows(norms[k, :, 0], step, scale, spread, error, *of_windows, k > 0, k == channels - 1)
        doubts, found = doubtful[begin - first : end - first], out[begin:end]
        if raw is not None:
            compared, loaded = (transforms, own, wrong, centers, rests), (spectra, norms)
            within = rows, totals, blocks, room
            count += _squared(several, y, sizes, begin, loaded, compared, within, roots, found, doubts)
            for r in range(2):
                to = found[r * step : (r + 1) * step]
                finish_all(record, totals[r, : to.shape[0]], 0.0, totals[r], to)
        if scaling is not None:
            for k in range(channels):
                scale = scales[k, :here]
                dot_rows(spectra[k : k + 1], transforms[k], step, rows, roots, room)
                if several is not None and k < channels - 1:
                    add_dots(rows, step, scale, before, k > 0)
            of_last = rows, scales[channels - 1, :here], norms[channels - 1, :, 0]
            within = before, (own, wrong), piece
            count += _normalized(record, products, several, step, *of_last, of_windows, *within, doubts, found)
    return count


@kernel(error_model="numpy")
def _profile_by_channel(record, products, weighted, y, sizes, scaling, query, roots, rooms, first, last, doubtful, out):
    """Fill `out[first:last]` and `doubtful` where weights or ranges matter; return the number of doubtful windows.

    The channels are processed one by one, each from the transforms of several pairs of rows. For the parameters see
    `_plain_profile`.
    """
    (m, step), (waves, transforms, of_averages, averages, bound, norm, numbers) = sizes, query
    rows, room, spectra, dots, of_rows, values, ranges, squares, averaged, of_squares = rooms
    channels, many, count = y.shape[0], 2 * step * spectra.shape[1], 0
    means_count = 0 if scaling > 0 else 1 if products is None else 2
    share = rounding(m) / 2 + 4 * EPS if means_count == 1 else 0.0
    if roots is not None and first == 0:
        _transform(waves, transforms, roots, room)
        if weighted is not None:
            _transform(of_averages, averages, roots, room)
    for begin in range(first, last, many):
        end = min(begin + many, last)
        here = end - begin
        some, both = slice(0, -(-here // (2 * step))), slice(0, 2 * -(-here // (2 * step)))
        mean, scale, spread, error = values[0, :here], values[1, :here], values[2, :here], values[3, :here]
        a, b, c, dot = values[4, :here], values[5, :here], values[6, :here], dots[both]
        fill(scale, 0, here, 1.0)
        for k in range(channels):
            to = spectra[k, some], of_rows[k, both]
            load_rows(y[k], begin, step, None, rows, *to, roots, room)
            if weighted is not None:
                to = squares[k, some], of_squares[k, both]
                load_rows(y[k], begin, step, True, rows, *to, roots, room)
        more, doubts = False, doubtful[begin - first : end - first]
        for k in range(channels):
            total, origin, mean_x = numbers[0, k], numbers[1, k], numbers[2, k]
            if not total > 0.0:
                continue
            if weighted is not None:
                average = averaged[both]
                dot_rows(spectra[k, some], averages[k], step, dot, roots, room)
                dot_rows(squares[k, some], averages[k], step, average, roots, room)
                errors = of_rows[k], of_squares[k], bound, numbers[5, k]
                about = step, total, origin, mean_x, means_count
                weighted_moments(dot, average, *errors, *about, mean, spread, error)
                if scaling > 0:
                    fill(mean, 0, here, 0.0)
                    standardize(scale, spread, error, total, scaling)
            else:
                origin = y[k, begin] if scaling > 2 else origin
                moments(y[k], m, origin, begin, mean, spread, error)
                find_constants(y[k], m, begin, means_count == 2, mean, spread, error)
                if scaling > 2:
                    low, high = ranges[0, : here + m - 1], ranges[1, : here + m - 1]
                    slide_row(y[k, begin : end + m - 1], m, low, high)
                    to_range(low, high, origin, mean, scale, spread, error, mean_x, m, scaling == 4)
            dot_rows(spectra[k, some], transforms[k], step, dot, roots, room)
            of_channel = bound * numbers[4, k], of_rows[k], mean, scale, spread, error, numbers[3, k]
            add_channel(products, dot, step, *of_channel, mean_x, total, a, b, c, more)
            more = True
        if products is None:
            count += judge_squares(a, b, c, norm, share, doubts)
            finish_all(record, a, 0.0, b, out[begin:end])
        else:
            count += judge_products(a, b, c, norm, share, doubts)
            finish_products(record, a, norm, b, out[begin:end])
    return count


SLACK = 2 * ERROR / SMALL  # largest relative error of a distance
LEAST = 2**20  # terms of a profile; with fewer, the exact kernels take less than a millisecond
GROUP = 2**16  # samples at a time: they, their transforms and their sums stay in the second-level cache
HELD = block_size(2**18, 1)  # samples of all channels held at a time; 10 MB with their transforms and sums
SHORTEST_FFT = 128  # shorter queries are faster by direct sums


def slack(record, x, w, n_windows, scaling):
    """Return the largest relative error of the distances of `profile`; 0 to use the exact kernels instead."""
    if x.shape[1] * n_windows < LEAST or not isinstance(record, SQUARES + PRODUCTS):
        return 0.0
    if scaling > 2 and w is not None:
        return 0.0
    if x.shape[1] < (24 if scaling else 96) * (1 if w is None else 2):
        return 0.0
    # The second form of Pearson's distance contains (1 - r) / (1 + r) and a power of it, which enlarge the error.
    relative = SLACK * (1.0 + 2.0 * max(getattr(record, "beta", 0.0), 0.0))
    return relative if relative < 0.01 and n_windows > 64 else 0.0


# ------------------------------------------------------------------------------------------------------ dot products
def row_size(m, n, weighted):
    """Return the number of samples per row, for windows of m samples in a series of n.

    Rows have the transform size that costs least per window, by counting operations. With weights, moments come from
    the transforms and lose digits to samples far from a window, so rows stay short.
    """
    if m < SHORTEST_FFT:
        return 4072 + m - 1
    least, most = int(m - 1).bit_length() + 1, int(n - 1).bit_length()
    sizes = [2**k for k in range(least, max(least, min(most, least + 1) if weighted else most) + 1)]
    # A transform that leaves the second-level cache takes about half as long again.
    return min(sizes, key=lambda s: np.log2(s) * s / (s - m + 1) * (1.5 if s > 2**15 else 1.0))


# ----------------------------------------------------------------------------------------------------------- queries
def _centered(x, w, squares, scaling):
    """Return the channels of a query minus their means, times the weights, and six numbers per channel.

    The numbers are: total weight, origin that is subtracted from means of windows, query's mean minus this origin,
    weighted sum of squares, norm of the weighted query, and norm of the weights.
    """
    weight, largest = np.ones_like(x) if w is None else w, np.abs(x).max()
    if not (squares or SMALLEST < largest < 1.0 / SMALLEST):  # products do not depend on the scale of the query
        x = np.ldexp(x, -np.frexp(largest)[1])
    totals = weight.sum(axis=1)
    counts = np.flatnonzero(totals > 0.0)
    means, rests = np.zeros((2, len(x)))
    means[counts] = (weight * x).sum(axis=1)[counts] / totals[counts]
    centered = x - means[:, np.newaxis]
    rests[counts] = (weight * centered).sum(axis=1)[counts] / totals[counts]
    if w is not None or scaling or not squares:  # else squares are about the rounded mean
        centered -= rests[:, np.newaxis]
    own = weight * centered
    # Squares depend on differences of means only, so the query's mean is subtracted from all, to keep digits.
    about = (means, rests) if squares and not scaling else (np.zeros_like(means), means + rests)
    norms = np.sqrt([(own**2).sum(axis=1), (weight**2).sum(axis=1)])
    return own, np.array([totals, *about, (own * centered).sum(axis=1), *norms])


def _as_waves(x, size, direct):
    """Return channels (.., m) as `forward` reads them, and a buffer for their transforms.

    Direct sums read the channels as they are; then both results are these.
    """
    if direct:
        return (np.ascontiguousarray(x)[..., np.newaxis, :],) * 2
    out = aligned_zeros(2, *x.shape[:-1], 2, size)
    out[0, ..., 0, : x.shape[-1]] = x / size  # a power of two
    return out[0], out[1]


# ----------------------------------------------------------------------------------------------------------- profile
@np.errstate(over="ignore", invalid="ignore")  # results that are not finite are computed again
def profile(record, x, w, y, scaling, out, size=None):
    """Fill in the distances of a query (channels, m) to all windows, as `lockstep.stretched` does.

    The query is already normalized; `w` is None if all weights are equal. `size` overrides the size of the transforms.
    The exact kernels compute doubtful distances again.
    """
    squares, (channels, m), n_windows = isinstance(record, SQUARES), x.shape, len(out)
    size = row_size(m, y.shape[1], w is not None) if size is None else size
    step, direct = size - m + 1, m < SHORTEST_FFT
    bound = EPS * (np.sqrt(m) if direct else np.log2(size))  # error of a dot product, relative to the product of norms
    own, numbers = _centered(x, w, squares, scaling)
    waves, (totals, origins, means, own, norms, _) = _as_waves(own, size, direct), numbers
    plain = w is None and (scaling in (1, 2) or (scaling == 0 and squares))
    whole = sum(own if plain and not scaling else own + totals * means * means)
    roots, rows, pairs = None if direct else turns(size), scratch("rows", (2, size)), 1
    room = None if direct else scratch("columns", room_of(roots))
    if plain:
        fill_profile, many, several = _plain_profile, 2 * step + 40, channels > 1
        kind = None if scaling else True, None if squares else True, True if several else None
        query = *waves, whole, bound * np.sqrt(sum(norms**2)), origins, totals * means
        of_windows = many if scaling else 1
        rooms = (
            rows,
            scratch("spectra", (channels, 2, size)),
            scratch("totals", (2, step)) if several and not scaling else rows,
            np.empty((channels, 2, 2)),
            scratch("blocks", (4, apart(m))),
            scratch("moments", (2, of_windows)),
            scratch("scales", (channels, of_windows)),
            scratch("sums", (4, of_windows if several else 1)),
            scratch("pieces", (3, PIECE)),
            room,
        )
    else:
        fill_profile, kind = _profile_by_channel, (None if squares else True, None if w is None else True)
        pairs = min(max(1, min(GROUP, HELD // channels) // (2 * size)), -(-n_windows // (2 * step)))
        many = 2 * pairs * step + 40
        query = *waves, *((None, None) if w is None else _as_waves(w, size, direct)), bound, whole, numbers

        def of_samples(name):
            """Return buffers for the samples or their squares: transforms, dot products and norms of rows."""
            spectra, dots = scratch(name, (channels, pairs, 2, size)), scratch(f"dots of {name}", (2 * pairs, size))
            return spectra, dots, np.empty((channels, 2 * pairs, 2))

        ranges = scratch("ranges", (2, many + m if scaling > 2 else 0))
        rooms = rows, room, *of_samples("samples"), scratch("moments", (7, many)), ranges
        rooms += (None,) * 3 if w is None else of_samples("squares")
    block = 2 * step * pairs
    together = max(WINDOWS // block, 1) * block
    for first in range(0, n_windows, together):
        last = min(first + together, n_windows)
        doubtful, found = scratch("doubtful", (last - first,), np.bool_), 0
        for a, b in pieces(-(-(last - first) // block), COST * size * channels * pairs):
            begin, end = first + block * a, min(first + block * b, last)
            given = y, (m, step), scaling if scaling or not plain else None, query, roots, rooms
            found += fill_profile(record, *kind, *given, begin, end, doubtful[begin - first : end - first], out)
        if found:
            which = np.flatnonzero(doubtful) + first
            _directly(record, x, np.ones_like(x) if w is None else w, y, scaling, which, out)


def _directly(record, x, w, y, scaling, which, out):
    """Compute the windows `which` by the exact kernels; windows near each other share one call."""
    m = x.shape[1]
    for run in np.split(which, np.flatnonzero(np.diff(which) > 64) + 1) if len(which) else ():
        first, last = run[0], run[-1] + 1
        piece = np.ascontiguousarray(y[:, first : last + m - 1])
        lockstep.stretched(record, x, piece, w, scaling, 0.0, np.arange(m), None, out[first:last])
