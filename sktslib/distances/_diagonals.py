"""One pair at a time along anti-diagonals, whose cells do not wait for each other: vector code for long series.

The recurrences are those of `_elastic`; borders are infinite as there, and no sum is reordered, so that the numbers are
the same to the bit.

A strip is LANES query points. Its rows walk along the series one point behind each other: at step t, row r stands at
point t - r, so that every predecessor of a cell was computed one or two steps before. What the last row leaves is the
`edge` that the next strip meets, in one array: ``edge[LANES - 1 + j]`` belongs to point j of the series.

Layout: rows are dealt to the registers in turn (`shifted` says why), and so is here what belongs to the query's points,
padded to whole strips. Lanes of one register then stand REGISTERS points apart; so that they are neighbours in memory
the series is dealt to as many parts, each of them reversed: see `_place`. Kernels are made by a function that is given
the hash of the files they take functions from, because numba's disk cache looks at this file alone.
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import overload

from . import _elastic, _vector
from ._elastic import (
    borders,
    charged,
    closed_border,
    even,
    even_in_search,
    fill_rows,
    gap,
    gap_terms,
    join,
    late,
    least,
    matched_pair,
    moves,
    terms,
    weighting,
)
from ._vector import (
    REGISTER,
    REGISTERS,
    copy,
    entering,
    fill,
    larger,
    last,
    makers,
    shifted,
    smaller,
    store,
    store_codes,
    where,
)
from ._versions import version_of

INF = np.inf
LANES = REGISTERS * REGISTER
SHIFT = REGISTERS.bit_length() - 1  # numba divides with checks, which kernels are slower for
ROWS = np.arange(float(LANES)).reshape(REGISTER, REGISTERS).T.ravel()  # the row in each lane
# Paths keep the edges between strips; beyond so many numbers, those of some strips only.
KEPT = 2**23
# Searches go along the series in blocks, so that what the strips hand to each other stays in the cache.
BLOCK = 4096

load, splat, load_dealt = makers(LANES, fused=False)


@njit(nogil=True)
def _lane(row):
    """The lane of a row of a strip."""
    return (row & (REGISTERS - 1)) * REGISTER + (row >> SHIFT)


@njit(nogil=True)
def _deal_out(values, out):
    """What belongs to query points, in the order of the lanes; what is missing at the end is like the last one."""
    for i in range(out.shape[0]):
        row = i & (LANES - 1)
        out[i - row + _lane(row)] = values[min(i, values.shape[0] - 1)]


@njit(nogil=True)
def _dealt(values, size):
    out = np.empty(size)
    _deal_out(values, out)
    return out


@njit(nogil=True)
def _query(rows, points):
    """Query and costs of its points to the end of the last strip, in the order of the lanes."""
    size = points.shape[1] + -points.shape[1] % LANES
    out, costs = np.empty((rows.shape[0], 4, size)), np.empty((3, size))
    for k in range(rows.shape[0]):
        for r in range(4):
            _deal_out(rows[k, r], out[k, r])
    for r in range(3):
        _deal_out(points[r], costs[r])
    return out, costs


@njit(nogil=True)
def _place(j, size):
    """Where point j of the series is, in parts of `size` numbers; a few points before and behind are zeros."""
    return (j & (REGISTERS - 1)) * size + size - REGISTER - 2 - (j >> SHIFT)


@njit(nogil=True)
def _room(p, channels, count):
    """Room for `count` points of a series, and for the prices of leaving them unmatched, if they have any."""
    length = (((count + LANES) >> SHIFT) + REGISTER + 3) * REGISTERS
    return np.zeros((channels, length)), np.zeros(length if charged(p) else 0)


@njit(nogil=True)
def _deal(p, y, first, count, yr, prices):
    """Fill that room with the points from `first` on, zeros where there are none."""
    size = yr.shape[1] >> SHIFT
    for k in range(y.shape[0]):
        for j in range(count):
            yr[k, _place(j, size)] = y[k, first + j] if 0 <= first + j < y.shape[1] else 0.0
    for j in range(count if charged(p) else 0):
        total = 0.0
        for k in range(y.shape[0]):
            total += gap_terms(p, yr[k, _place(j, size)], yr[k, _place(j - 1, size)])
        prices[_place(j, size)] = gap(p, total, 1.0)


@njit(nogil=True)
def _price(p, prices, at):
    return load_dealt(prices, at[:4]) if charged(p) else splat(0.0)


@njit(nogil=True)
def _row(rows, weighted, k, i):
    r = rows[k]
    return load(r[0], i), load(r[1], i), splat(1.0) if weighted is None else load(r[2], i), load(r[3], i)


@njit(nogil=True)
def _places(t, size):
    """Where the points are that the registers meet at step t, and the point before those of the last one."""
    return _place(t, size), _place(t - 1, size), _place(t - 2, size), _place(t - 3, size), _place(t - 4, size)


@njit(nogil=True)
def _terms(p, row, rows, weighted, yr, i, at):
    """The terms of the cells of a step, summed over the channels; `row` is that of the first one."""
    here, before = at[:4], at[1:]
    a, b, c = terms(p, row, load_dealt(yr[0], here), load_dealt(yr[0], before))
    for k in range(1, rows.shape[0]):
        e, f, g = terms(p, _row(rows, weighted, k, i), load_dealt(yr[k], here), load_dealt(yr[k], before))
        a, b, c = a + e, b + f, c + g
    return a, b, c


@njit(nogil=True)
def _leave(edge, at, lane, old, held):
    """Keep the cost of a strip's last row, which need not be in its last lane."""
    if lane == LANES - 1:
        edge[at] = last(old)
    else:
        store(held, 0, old)
        edge[at] = held[lane]


@njit(nogil=True)
def _strip(p, rows, weighted, points, yr, prices, first, final, side, i, begin, end, edge, bottom, codes):
    """Accumulated costs of the rows from i on; steps [begin, end). `codes`, if any, records the moves.

    The row above hands down two costs, of the diagonal way and of the query's; where all moves cost the same the
    better one of them (`over`), found before it moves on.
    """
    row_at, size, lane, behind = load(ROWS, 0), yr.shape[1] >> SHIFT, _lane(bottom), LANES - 1 - bottom
    here, held = (load(points[0], i), load(points[1], i), load(points[2], i)), np.empty(LANES)
    border, row = load(side, i), _row(rows, weighted, 0, i)
    shut = INF if i == 0 and closed_border(p) else -INF  # above the first row there is the diagonal way only
    old = where(begin == 0, border, splat(INF))
    at_corner = edge[begin + LANES - 2]
    over, diag = old, shifted(old, at_corner)
    at = _places(begin, size)
    for t in range(begin, end):
        at_edge = edge[t + LANES - 1]
        a, b, c = _terms(p, row, rows, weighted, yr, i, at)
        lag = abs((i - t) + 2.0 * row_at)
        d, u, v = moves(p, here, late(p, lag, lag), a, b, c, _price(p, prices, at))
        if codes is None and even(p):  # a sum's rounding keeps the order, so that this is the same to the bit
            best = join(p, least(p, old, shifted(over, smaller(at_corner, larger(at_edge, shut)))), d)
        else:
            up = shifted(old, larger(at_edge, shut))
            if codes is None:
                best = least(p, least(p, join(p, diag, d), join(p, up, u)), join(p, old, v))
            else:
                best, other, third = diag, up, old
                if not even(p):
                    best, other, third = join(p, diag, d), join(p, up, u), join(p, old, v)
                by_query = other < best
                best = least(p, other, best)
                store_codes(codes, (t - begin) * LANES, by_query, third < best)
                best = least(p, third, best)
                if even(p):
                    best = join(p, best, d)
            diag = entering(up, at_edge)
        if first is not None:
            column = t - row_at
            best = where((column >= load(first, i)) & (column < load(final, i)), best, INF)
        if not closed_border(p):
            best = where(t - row_at >= 0.0, best, border)
        over, old, at_corner = smaller(old, best), best, at_edge
        at = _place(t + 1, size), at[0], at[1], at[2], at[3]
        _leave(edge, t + behind, lane, old, held)


@njit(nogil=True)
def _even_step(p, rows, weighted, series, i, t, query, edges, lane, behind, carried):
    """Step t of `_search_evenly`; what the next one needs."""
    here, row, shut, held = query
    (yr, prices, begun), (edge, origin) = series, edges
    old, over, s_old, s_over, at_corner, from_corner, at = carried
    at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
    by_edge = larger(at_edge, shut)
    over = shifted(over, smaller(by_edge, at_corner))
    s_over = shifted(s_over, from_edge if by_edge < at_corner else from_corner)
    a, b, c = _terms(p, row, rows, weighted, yr, i, at)
    d = moves(p, here, late(p, 0.0, 0.0), a, b, c, _price(p, prices, at))[0]
    best, start = join(p, smaller(old, over), d), where(old < over, s_old, s_over)
    # Costs grow along a path: what costs less than the cell before did not come from there.
    over, s_over = smaller(best, old), where(best < old, s_over, s_old)
    _leave(edge, t + behind, lane, best, held)
    _leave(origin, t + behind, lane, start, held)
    at = _place(t + 1 - begun, yr.shape[1] >> SHIFT), at[0], at[1], at[2], at[3]
    return best, over, start, s_over, at_edge, from_edge, at


@njit(nogil=True)
def _search_evenly(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state):
    """The same for a search: each cell carries the start of its path. All moves cost the same, whatever the start.

    `series` holds the points from some point on. It goes on from `state`, and leaves there what the next steps need.
    There may be one step more than asked for.
    """
    here, held = (load(points[0], i), load(points[1], i), load(points[2], i)), np.empty(LANES)
    query = here, _row(rows, weighted, 0, i), INF if i == 0 else -INF, held
    edges, lane, behind = (edge, origin), _lane(bottom), LANES - 1 - bottom
    corner = edge[begin + LANES - 2], origin[begin + LANES - 2]
    values = load(state[0], 0), load(state[1], 0), load(state[2], 0), load(state[3], 0)
    at = _places(begin - series[2], series[0].shape[1] >> SHIFT)
    carried = values[0], values[1], values[2], values[3], corner[0], corner[1], at
    for t in range(begin, end, 2):  # two at a time, because then fewer values change their registers
        carried = _even_step(p, rows, weighted, series, i, t, query, edges, lane, behind, carried)
        carried = _even_step(p, rows, weighted, series, i, t + 1, query, edges, lane, behind, carried)
    store(state[0], 0, carried[0])
    store(state[1], 0, carried[1])
    store(state[2], 0, carried[2])
    store(state[3], 0, carried[3])


@njit(nogil=True)
def _search_strip(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state):
    """The same for every recurrence and band: lags count from the start of each path.

    A start of -1 - sample says that the path has no matched pair yet.
    """
    yr, prices, begun = series
    row_at, size, lane, behind = load(ROWS, 0), yr.shape[1] >> SHIFT, _lane(bottom), LANES - 1 - bottom
    here, held = (load(points[0], i), load(points[1], i), load(points[2], i)), np.empty(LANES)
    border, row = load(side, i), _row(rows, weighted, 0, i)
    shut = INF if i == 0 and closed_border(p) else -INF
    old, diag, s_old, s_diag = load(state[0], 0), load(state[1], 0), load(state[2], 0), load(state[3], 0)
    if begin == 0:
        diag, s_diag = shifted(old, edge[LANES - 2]), shifted(s_old, origin[LANES - 2])
    at = _places(begin - begun, size)
    for t in range(begin, end):
        at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
        a, b, c = _terms(p, row, rows, weighted, yr, i, at)
        price, by_edge = _price(p, prices, at), larger(at_edge, shut)
        up, s_up = shifted(old, by_edge), shifted(s_old, from_edge)
        if closed_border(p):
            e, f, g = s_diag, s_up, s_old
        else:
            e = where(s_diag >= 0.0, s_diag, -1.0 - s_diag)
            f = where(s_up >= 0.0, s_up, -1.0 - s_up)
            g = where(s_old >= 0.0, s_old, -1.0 - s_old)
        distance = (i - t) + 2.0 * row_at
        lag_e, lag_f, lag_g = abs(distance + e), abs(distance + f), abs(distance + g)
        d = moves(p, here, late(p, lag_e, lag_e), a, b, c, price)[0]
        best, other, third = diag, up, old
        if not even_in_search(p):
            best = join(p, diag, d)
            other = join(p, up, moves(p, here, late(p, lag_f, lag_f), a, b, c, price)[1])
            third = join(p, old, moves(p, here, late(p, lag_g, lag_g), a, b, c, price)[2])
        if radius is not None:
            best = where(lag_e > radius, INF, best)
            other = where(lag_f > radius, INF, other)
            third = where(lag_g > radius, INF, third)
        start = s_diag if closed_border(p) else where(matched_pair(p, a), e, s_diag)
        start, best = where(other < best, s_up, start), least(p, other, best)
        start, best = where(third < best, s_old, start), least(p, third, best)
        if even_in_search(p):
            best = join(p, best, d)
        if not closed_border(p):
            inside = t - row_at >= 0.0
            start, best = where(inside, start, -1.0), where(inside, best, border)
        diag, s_diag = entering(up, at_edge), s_up
        old, s_old = best, start
        at = _place(t + 1 - begun, size), at[0], at[1], at[2], at[3]
        _leave(edge, t + behind, lane, old, held)
        _leave(origin, t + behind, lane, s_old, held)
    store(state[0], 0, old)
    store(state[1], 0, diag)
    store(state[2], 0, s_old)
    store(state[3], 0, s_diag)


def _is_even(record, radius):
    facts = (_elastic._part(name, record) for name in ("even_in_search", "closed", "monotone"))
    return all(facts) and radius is None


def search(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state):
    strip = _search_evenly if _is_even(type(p), radius) else _search_strip
    strip(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state)


@overload(search)
def _overload_search(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state):
    strip = _search_evenly if _is_even(p.instance_class, None if radius == types.none else radius) else _search_strip

    def run(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state):
        strip(p, rows, weighted, points, series, radius, side, i, begin, end, edge, origin, bottom, state)

    return run


@njit(nogil=True)
def _begun(p, x, w, points, y, lo, hi, start):
    """What the strips need of two whole series: query, points, ranges of the band, border, edge, series and prices."""
    n, m, channels = y.shape[1], x.shape[1], y.shape[0]
    rows = np.empty((channels, 4, m))
    fill_rows(p, x, w, rows)
    top, side = borders(p, points, y, None, n, 0, start)
    rows, points = _query(rows, points)
    size = points.shape[1]
    first, final = np.zeros(size), np.full(size, float(n))
    if lo.shape[0] > 0:
        first, final = _dealt(lo, size), _dealt(hi, size)
    edge = np.empty(n + 2 * LANES)
    fill(edge, 0, edge.shape[0], INF)
    copy(top, 0, n + 1, edge, LANES - 2)
    yr, prices = _room(p, channels, n)
    _deal(p, y, 0, n, yr, prices)
    return rows, points, first, final, _dealt(side[1:], size), edge, yr, prices


@njit(nogil=True)
def _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, i, edge, codes):
    """One strip from edge to edge within its band; the first step is given back."""
    height = min(LANES, m - i)
    bottom = i + _lane(height - 1)
    below, beyond = int(lo[bottom]), int(hi[bottom])
    if codes is None and below == 0 and int(hi[i]) >= n:
        _strip(p, rows, weighted, points, yr, prices, None, None, side, i, 0, n + height - 1, edge, height - 1, None)
        return 0
    begin, end = int(lo[i]), min(beyond, n) + height - 1
    _strip(p, rows, weighted, points, yr, prices, lo, hi, side, i, begin, end, edge, height - 1, codes)
    # Beside the band the edge still holds what earlier strips left.
    fill(edge, LANES - 1 + beyond, edge.shape[0], INF)
    if below > 0:
        fill(edge, 0, LANES - 1 + below, INF)
    return begin


@njit(nogil=True)
def _follow(p, rows, weighted, points, yr, prices, lo, hi, side, edge, kept, apart, i, j):
    """The path that ends in query point i and series point j, strip by strip from the edges `kept` between them.

    Every `apart`-th edge was kept; the others are computed again where the path comes by.
    """
    path, steps = np.empty((2, i + j + 1), np.intp), np.empty(i + j + 1, np.uint8)
    m, strips = i + 1, -(-(i + 1) // LANES)
    between = np.empty((apart, edge.shape[0]))
    codes = np.empty((j + 1 + LANES) * LANES, np.uint8)
    k = path.shape[1]
    for group in range(kept.shape[0] - 1, -1, -1):
        first, until = group * apart, min(strips, (group + 1) * apart)
        copy(kept[group], 0, edge.shape[0], between[0], 0)
        # Down to the group's last strip, keeping the edges, then up along the path.
        for turn in range(2 * (until - first) - 1):
            down = turn < until - first - 1
            s = turn if down else 2 * (until - first - 1) - turn
            if j < 0:
                break
            above = (first + s) * LANES
            copy(between[s], 0, edge.shape[0], edge, 0)
            if down:
                _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, j + 1, above, edge, None)
                copy(edge, 0, edge.shape[0], between[s + 1], 0)
                continue
            begin = _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, j + 1, above, edge, codes)
            while i >= above and j >= 0:
                k -= 1
                path[0, k], path[1, k] = i, j
                move = codes[(i - above + j - begin) * LANES + _lane(i - above)]
                steps[k] = move
                if move != 2:
                    i -= 1
                if move != 1:
                    j -= 1
    return path, steps, k


def _make(version):
    """Compile lazily, once per version of the files that functions are taken from."""

    @njit(cache=True, nogil=True)
    def cost(p, x, w, points, y, lo, hi, start, free):
        """Cost of the best path of two whole series; without weights (None) they are all 1.

        Query point i meets the points lo[i] <= j < hi[i] of the series, or all of them if those are empty. The path
        begins at one of the first `start` + 1 points of the series, and ends at one of the last `free` + 1.
        """
        m, n, weighted = x.shape[1], y.shape[1], weighting(p, w)
        rows, points, lo, hi, side, edge, yr, prices = _begun(p, x, w, points, y, lo, hi, start)
        for i in range(0, m, LANES):
            _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, i, edge, None)
        best = INF if version else 0.0  # what the closure holds is a part of the cache's key
        for j in range(n - 1 - free, n):
            best = min(best, edge[LANES - 1 + j])
        return best

    @njit(cache=True, nogil=True)
    def path(p, x, w, points, y, lo, hi, start, free):
        """The best path (2, K) and its moves (K,), as `_elastic.backtrack` gives them; the path begins at the third.

        Memory: the edges between strips, or some of them.
        """
        m, n, weighted = x.shape[1], y.shape[1] - (0 if version else 1), weighting(p, w)
        rows, points, lo, hi, side, edge, yr, prices = _begun(p, x, w, points, y, lo, hi, start)
        strips = -(-m // LANES)
        apart = 1 if strips * n <= KEPT else math.ceil(math.sqrt(strips))
        kept = np.empty((-(-strips // apart), edge.shape[0]))
        for s in range(strips):
            if s % apart == 0:
                copy(edge, 0, edge.shape[0], kept[s // apart], 0)
            _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, s * LANES, edge, None)
        j = n - 1 - free
        for t in range(j + 1, n):
            if edge[LANES - 1 + t] < edge[LANES - 1 + j]:
                j = t
        return _follow(p, rows, weighted, points, yr, prices, lo, hi, side, edge, kept, apart, m - 1, j)

    @njit(cache=True, nogil=True)
    def warped(p, rows, weighted, points, y, radius, shortest, longest, side):
        """Warped profile of a whole series, as `_elastic.warped` fills it: costs and starts.

        What is returned stands in the memory that the strips have worked in: new memory would take as long as a tenth
        of the search.
        """
        n, m, strips = y.shape[1], points.shape[1], -(-points.shape[1] // LANES)
        rows, points = _query(rows, points)
        side = _dealt(side[1:], points.shape[1])
        edge, origin = np.empty(n + 2 * LANES), np.zeros(n + 2 * LANES)
        fill(edge, 0, edge.shape[0], INF)
        for j in range(-1, n):
            edge[LANES - 1 + j] = 0.0
            origin[LANES - 1 + j] = j + 1.0 if closed_border(p) else -2.0 - j
        state = np.zeros((strips, 4, LANES if version else 1))
        for s in range(strips):
            copy(side, s * LANES, (s + 1) * LANES, state[s, 0], 0)
            copy(side, s * LANES, (s + 1) * LANES, state[s, 1], 0)
            if not closed_border(p):
                fill(state[s, 2], 0, LANES, -1.0)
                fill(state[s, 3], 0, LANES, -1.0)
        behind = strips * LANES + REGISTERS  # a strip stands behind the one above it by what its lanes stand apart
        yr, prices = _room(p, y.shape[0], BLOCK + behind + 2)
        for at in range(0, n + m + LANES * strips, BLOCK):
            _deal(p, y, at - behind, BLOCK + behind + 2, yr, prices)
            series = yr, prices, at - behind
            for s in range(strips):
                height = min(LANES, m - s * LANES)
                a, b = max(0, at - s * LANES), min(n + height - 1, at + BLOCK - s * LANES)
                if a < b:
                    i, bottom = s * LANES, height - 1
                    search(p, rows, weighted, points, series, radius, side, i, a, b, edge, origin, bottom, state[s])
        distance, starts = edge[LANES - 1 : LANES - 1 + n], origin[LANES - 1 : LANES - 1 + n]
        begin = starts.view(np.int64)
        for j in range(n):
            start = int(starts[j])
            length = j + 1 - start
            found = distance[j] < INF and start >= 0 and length >= shortest and length <= longest
            distance[j], begin[j] = distance[j] if found else INF, start if found else -1
        return distance, begin

    return cost, path, warped


cost, path, warped = _make(version_of(_elastic, _vector))
