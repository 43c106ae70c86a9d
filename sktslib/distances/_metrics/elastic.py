"""Base of the elastic metrics: from two series to the kernels, and from accumulated costs to distances.

The module also selects the kernel that advances the column of a subsequence search along a series.
"""

from typing import NamedTuple

import numpy as np

from ...utils.validation import refused
from .._kernels import batch, recurrence, scalar
from .._kernels import strips as strip_kernels
from .._kernels.dispatch import closed_boundary, equal_moves, rows_of, weighting
from .._series import full_weight
from .base import Alignment, BandedMetric, band, radius_of


class SubsequenceKernel:
    """A query prepared for the kernels of subsequence searches, for any number of pieces of a series.

    Pieces of up to `few` samples use the scalar driver, which has less overhead than vectors along diagonals.
    """

    def __init__(self, problem, radius, few=0):
        self.rows, self._radius, self._few = problem.rows, radius, few
        self._runs_diagonally = problem.runs_diagonally
        self._w = problem.w if problem.runs_diagonally and weighting(problem.record, problem.w) else None
        self._ground = None

    def advance(self, problem, at, lengths, state, found, costs=scalar.NO_COSTS):
        """Advance the `state`, costs and starts of a column, along the series of a prepared pair.

        Parameters
        ----------
        problem : PreparedPair
            The query with the samples and their times.
        at : tuple
            The first column of the samples, and its number in the whole sequence.
        lengths : tuple
            The least and the largest length of a candidate.
        state : pair of ndarray of shape (m + 1,)
            Updated in place, for the next samples.
        found : pair of ndarray of shape (n,)
            Filled with the distance of the best candidate that ends at each sample, and its start.
        costs : ndarray of shape (n, m) or (0, m)
            Filled with the accumulated costs, unless it is empty.
        """
        record, x, _, y, tx, ty, points = problem
        limits = self._radius, *lengths
        if self._runs_diagonally and len(found[0]) > self._few and not costs.size:
            query = record, x, self._w, points
            strip_kernels.subsequence_profile(query, y, *at, limits, state, *found)
            return
        if self._ground is None:
            self._ground = np.zeros((3, points.shape[1]))
        pair = record, self.rows, points, y, tx, ty
        scalar.subsequence_profile(pair, *at, limits, (*state, self._ground), *found, costs)


INF = np.inf
NOTHING_FREE = 0, 0, 0, 0
NO_BAND = np.empty(0, np.int64), np.empty(0, np.int64)


class Query(NamedTuple):
    """A series prepared as the query of kernels, whatever it is compared with."""

    record: NamedTuple
    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    # (3, m): costs of each point if it is skipped, if it matches, and if paired without a match; zeros if unused
    points: np.ndarray


class PreparedPair(NamedTuple):
    """Two series in the form that kernels read."""

    record: NamedTuple
    x: np.ndarray | None  # (channels, m); None: y holds local costs (n, m)
    w: np.ndarray | None  # (channels, m); None: all are 1
    y: np.ndarray
    tx: np.ndarray | None
    ty: np.ndarray | None
    points: np.ndarray  # (3, m), see Query

    @property
    def shape(self):
        return self.points.shape[1], len(self.y) if self.x is None else self.y.shape[1]

    @property
    def rows(self):
        """Numbers per query point that the recurrence needs, (channels, 4, m); None for given local costs."""
        if self.x is None:
            return None
        x = self.x[np.newaxis]
        return rows_of(self.record, x, full_weight(self.w, self.x)[np.newaxis], x.shape[2])[0]

    @property
    def runs_diagonally(self):
        """Whether the vector driver can be used: it supports neither times nor the caller's own costs."""
        return self.x is not None and self.tx is None and self.ty is None

    def piece(self, start, end):
        """Return the query with a piece of the series, whose times count from its first point."""
        y = self.y[start:end] if self.x is None else np.ascontiguousarray(self.y[:, start:end])
        ty = None if self.ty is None else self.ty[start:end] - self.ty[start]
        return self._replace(y=y, ty=ty)

    def part(self, first, last):
        """Return the pair with a part of the query, whose points are compared as in the whole query."""
        x, w, tx = (None if a is None else np.ascontiguousarray(a[..., first:last]) for a in (self.x, self.w, self.tx))
        y = np.ascontiguousarray(self.y[:, first:last]) if self.x is None else self.y
        tx = None if tx is None else tx - tx[0]
        return self._replace(x=x, w=w, y=y, tx=tx, points=np.ascontiguousarray(self.points[:, first:last]))


def norm_of(x, p):
    """Return the record of a norm over channels; with one channel all norms are equal."""
    if len(x) == 1 or p == 1:
        return recurrence.L1()
    return recurrence.L2() if p == 2 else recurrence.Lp(float(p))


def times_factor(cost, factor):
    """Return costs times factors; where the factor is infinite, so is the result."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isinf(factor), INF, cost * factor)[()]


class ElasticMetric(BandedMetric):
    """An elastic distance: it makes a record for the kernels, and distances from accumulated costs."""

    family = "elastic"
    description = "Elastic distance: series may be stretched in time."

    # Facts for the drivers of collections.
    _has_lanes = True
    _reports_cost = True  # whether the accumulated cost is the distance
    _is_monotone = True  # whether costs never fall along a path, so that a cutoff may stop early
    _needs_equal_lengths = False  # whether costs, and not only the band, depend on the lengths of the series
    _can_be_cut = True  # whether a path may start within the query, whose first points then take the diagonal move

    _no_segmentation = None  # the reason, if costs of segments do not add up
    _has_factor = False  # whether costs are multiplied by a factor of at least 1 that depends on both series

    # Facts for searches that continue from chunk to chunk.
    _context = 0  # samples on either side that the features of a sample depend on
    _looks_back = False  # whether costs depend on the sample at which a path started

    def _features(self, a):
        """Return the channels to compare, computed from a series alone, or from windows (k, channels, length)."""
        return a

    def _query(self, x, w, n, tx=None, *, search=False):
        """Return the first series as a `Query`, for comparison with series of n points."""
        raise NotImplementedError

    def _problem(self, x, w, y, tx, ty, *, search=False):
        tx, ty = (tx, ty) if self.uses_times else (None, None)
        record, features, w, points = self._query(x, w, y.shape[1], tx, search=search)
        if search and tx is not None:
            tx = tx - tx[0]
        if w is None and not equal_moves(record):  # kernels compiled without weights would not pay off
            w = np.ones_like(features)
        return PreparedPair(record, features, w, self._features(y), tx, ty, points)

    def _trait(self, a):
        """Return the numbers that the factor needs of series (..., channels, n), given their features."""
        raise NotImplementedError

    def _traits(self, series):
        """Return the numbers that the factor needs of several series of any lengths."""
        return np.array([self._trait(a) for a in series])

    def _trait_of_ranges(self, a, start, end):
        """Return the numbers that the factor needs of ranges [start, end) of a series."""
        return self._traits(a[:, i:j] for i, j in zip(start, end, strict=True))

    def _factor(self, of_x, of_y):
        """Return the factors, from the traits of the first series and of the others; they may be infinite."""
        raise NotImplementedError

    def _scaled(self, cost, x, y):
        """Return the accumulated costs of a series and others (..., channels, n), times the factor, if any."""
        return times_factor(cost, self._factor(self._trait(x), self._trait(y))) if self._has_factor else cost

    def _scaled_candidates(self, cost, x, y, start, end):
        """Multiply the costs of candidates [start, end) of a sequence by the factor.

        Where the cost is infinite, `start` is arbitrary.
        """
        if self._has_factor:
            found = np.flatnonzero(cost < INF)
            of_y = self._trait_of_ranges(y, start[found], end[found])
            cost[found] = times_factor(cost[found], self._factor(self._trait(x), of_y))
        return cost

    def _distance_of_cost(self, cost, points, n):
        """Return the distances for accumulated costs (..., k) of a query, given by its points, and whole series.

        `n` is the length of the series, or an array (k,) of lengths.
        """
        return cost

    def _cost_of_distance(self, distance, problem):
        """Return an upper bound, including rounding, of the cost of whole series with at most this distance."""
        return distance

    def _match_distance_of_cost(self, cost, problem):
        """Return the distance for the accumulated cost of a candidate; also for arrays."""
        return self._distance_of_cost(cost, problem.points, problem.points.shape[1])

    # Methods for averages of series.

    def _partners(self, problem):
        """Return the pairs of points (2, K) that should be alike, and their weights (K,) or None."""
        return self._path(problem), None

    def _reported_costs(self, cost, problem, features):
        """Return the distances for accumulated costs (k,) of a query and series of any lengths."""
        if self._reports_cost and not self._has_factor:
            return cost
        cost = np.array([self._scaled(c, problem.x, y) for c, y in zip(cost, features, strict=True)])
        return self._distance_of_cost(cost, problem.points, np.array([y.shape[1] for y in features]))

    def _free(self, m, n):
        """Return how many points may be left out at no cost: at the query's start and end, and at the series'."""
        return NOTHING_FREE

    @property
    def _depends_on_start(self):
        """Whether subsequence profiles hold upper bounds, so that chosen matches need their exact distance."""
        return self.window is not None or self._has_factor

    # ------------------------------------------------------------------------------------------- two whole series
    def _distance(self, x, w, y, tx, ty):
        # Copies, because the path may be computed later, after the caller has changed the series.
        problem = self._problem(x.copy(), w, y.copy(), tx, ty)
        cost = self._cost(problem)
        if self._has_factor:
            cost = self._scaled(cost, problem.x, problem.y)
        return Alignment(self._distance_of_cost(cost, problem.points, y.shape[1]), self, problem)

    def _windows(self, x, w, y, tx, ty):
        if not self._has_lanes or ty is not None:
            return super()._windows(x, w, y, tx, ty)
        # A single window may be a read-only view, a type for which everything would be compiled again.
        n, features = y.shape[2], np.require(self._features(y), requirements="CW")
        record, x, w, points = self._query(x, w, n)
        rows, weighted = batch.padded(record, x[np.newaxis], full_weight(w, x)[np.newaxis])
        cells = (None, None) if self.window is None else band(self.window, self.factor, n, x.shape[1])
        costs = batch.window_costs(record, rows[0], weighted, points, features, *cells)
        return self._distance_of_cost(self._scaled(costs, x, features), points, n)

    def _cost(self, problem, *, whole=False):
        """Return the accumulated cost of two whole series."""
        strips = self._in_strips(problem, whole)
        if strips is not None:
            return strip_kernels.cost(*strips)
        bottom, side, _ = self._accumulate(problem, whole=whole)
        return self._ending(bottom, side, problem, whole=whole)[0]

    def _accumulate(self, problem, *, keep=None, whole=False):
        """Return last row and column of the costs, and with keep = "costs" or "moves" the matrix (n, m) of these."""
        m, n = problem.shape
        p, _, _, y, tx, ty, points = problem
        begin, _, start, _ = NOTHING_FREE if whole else self._free(m, n)
        top, side = scalar.boundary(p, points, y, ty, n, begin, start)
        matrix = np.full((n, m), INF) if keep == "costs" else scalar.NO_COSTS
        taken = np.zeros((n, m), np.uint8) if keep == "moves" else scalar.NO_MOVES
        lo, hi = band(self.window, self.factor, m, n)
        bottom, last = scalar.accumulated_costs(p, problem.rows, points, y, tx, ty, lo, hi, top, side, matrix, taken)
        return bottom, last, matrix if keep == "costs" else taken

    def _in_strips(self, problem, whole=False):
        """Return the arguments of the vector driver: the pair, the band by query points, and free series points.

        None if the driver does not support the pair: with free query points, times or given costs.
        """
        p, x, w, y, *_, points = problem
        if not problem.runs_diagonally:
            return None
        m, n = x.shape[1], y.shape[1]
        query_begin, query_end, begin, end = NOTHING_FREE if whole else self._free(m, n)
        if query_begin or query_end:
            return None
        by_row = NO_BAND if self.window is None else band(self.window, self.factor, n, m)
        return p, x, w, points, y, *by_row, begin, end

    def _ending(self, bottom, side, problem, *, whole=False):
        """Return the cost and the last cell of the best path, among the cells where paths may end."""
        m, n = problem.shape
        _, query_end, _, series_end = NOTHING_FREE if whole else self._free(m, n)
        j = n - 1 - series_end + int(np.argmin(bottom[n - 1 - series_end :]))
        best, i = bottom[j], m - 1
        if query_end and side[m - query_end : m].min() < best:
            i = m - query_end - 1 + int(np.argmin(side[m - query_end : m]))
            best, j = side[i + 1], n - 1
        return float(best), i, j

    def _cost_matrix(self, problem):
        return np.ascontiguousarray(self._accumulate(problem, keep="costs")[2].T)

    def _path(self, problem, *, whole=False):
        return self._listed(*self._cells_and_moves(problem, whole=whole), problem)

    def _cells_and_moves(self, problem, *, whole=False):
        """Return the cells of the best path (2, K) and the move into each (K,); 0 is the diagonal one."""
        strips = self._in_strips(problem, whole)
        if strips is not None:
            return strip_kernels.path(*strips)
        bottom, side, taken = self._accumulate(problem, keep="moves", whole=whole)
        _, i, j = self._ending(bottom, side, problem, whole=whole)
        return scalar.backtrack(taken, i, j)

    def _listed(self, path, steps, problem):
        """Return the cells of a path that `path` reports; `steps` holds the move into each."""
        return path

    # ---------------------------------------------------------------------------------------------------- searching
    def _check_search(self, mode):
        if self.window == "itakura" and mode == "subsequence":
            rule = "be None, a float or 'sakoe-chiba' in a subsequence search: Itakura's parallelogram needs both ends"
            raise refused("window", rule, "'itakura'", "Search by windows, or use another band.")
        if self.window is not None and mode == "segmentation":
            rule, got = "be None in a segmentation, whose segments have no band", repr(self.window)
            raise refused("window", rule, got, "Bound the length of the repetitions by 'lengths' instead.")
        if self._no_segmentation is not None and mode == "segmentation":
            raise ValueError(
                f"{self.full_name} has no segmentation: {self._no_segmentation}. Use another elastic metric, such as "
                "'dtw'."
            )

    def _subsequence_profile(self, problem, shortest, longest, *, matrix=False):
        """Return the subsequence profile of a whole series: distances, starts, and with `matrix` the costs (n, m)."""
        m, n = problem.shape
        distance, begin = np.empty(n), np.empty(n, np.int64)
        costs = np.empty((n, m)) if matrix else scalar.NO_COSTS
        state, lengths = self._start_column(problem), (shortest, longest)
        self._subsequence_kernel(problem).advance(problem, (0, 0), lengths, state, (distance, begin), costs)
        distance = self._scaled_candidates(distance, problem.x, problem.y, begin, np.arange(1, n + 1))
        return self._match_distance_of_cost(distance, problem), begin, costs

    def _subsequence_kernel(self, problem, few=0):
        """Return the kernel of a subsequence search; pieces of up to `few` samples use the scalar driver."""
        m = problem.shape[0]
        return SubsequenceKernel(problem, radius_of(self.window, self.factor, m, m), few)

    def _start_column(self, problem):
        """Return the costs and starts of a column before the first sample."""
        m = problem.shape[0]
        col = np.full(m + 1, INF)
        col[0] = 0.0
        start = np.zeros(m + 1, np.int64)
        if not closed_boundary(problem.record):
            col[1:] = np.cumsum(problem.points[0])
            start[:] = -1  # the path starts at sample 0 and has no matched pair yet
        return col, start

    def _piece_distance(self, problem, start, end):
        """Return the exact distance between the query and a piece of the series, as searches report it."""
        piece = problem.piece(start, end)
        return self._match_distance_of_cost(self._scaled(self._cost(piece, whole=True), piece.x, piece.y), piece)
