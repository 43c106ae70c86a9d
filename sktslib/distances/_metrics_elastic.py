"""Elastic metric classes: series may be stretched in time to meet each other."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from ..utils._sklearn import Interval, RealNotInt, StrOptions
from ..utils.validation import shown
from . import _elastic as kernels
from ._alignment import Alignment
from ._bands import band, radius_of
from ._metrics import Metric, register

INF = np.inf
_WINDOW = [None, StrOptions({"sakoe-chiba", "itakura"}), Interval(RealNotInt, 0, 1, closed="right")]
BAND_CONSTRAINTS = {"window": _WINDOW, "factor": [None, Interval(Integral, 0, None, closed="left")]}


class Problem(NamedTuple):
    """Two series as the kernels take them."""

    record: NamedTuple
    x: np.ndarray | None  # (channels, m); None: y holds local costs (n, m)
    w: np.ndarray | None
    y: np.ndarray
    tx: np.ndarray | None
    ty: np.ndarray | None
    up: np.ndarray  # the price of leaving each query point unmatched (m,)

    @property
    def shape(self):
        return len(self.up), len(self.y) if self.x is None else self.y.shape[1]

    def piece(self, start, end):
        """The same query against a piece of the series, times from the piece's first point."""
        y = self.y[start:end] if self.x is None else np.ascontiguousarray(self.y[:, start:end])
        ty = None if self.ty is None else self.ty[start:end] - self.ty[start]
        return self._replace(y=y, ty=ty)


class ElasticMetric(Metric):
    """An elastic distance: a record for the kernels, and what becomes of the accumulated cost."""

    group = "elastic"
    description = "Elastic distance: series may be stretched in time."

    def _validate(self):
        super()._validate()
        if self.factor is not None and self.window != "sakoe-chiba":
            raise ValueError(
                f"The 'factor' parameter of {type(self).__name__} must be None unless window='sakoe-chiba', whose "
                "radius it "
                f"is. Got {self.factor!r} with window={self.window!r}."
            )

    def _problem(self, x, w, y, tx, ty, *, search=False):
        raise NotImplementedError

    def _report(self, cost, problem):
        """The distance behind an accumulated cost of two whole series."""
        return cost

    def _report_search(self, cost, problem):
        """The distance behind an accumulated cost of a candidate; also for arrays."""
        return cost

    def _free(self, m, n):
        """How many points may be left out: at the query's begin and end, at the series' begin and end."""
        return 0, 0, 0, 0

    @property
    def _depends_on_start(self):
        """Whether a warped profile holds upper bounds, so that chosen matches need their exact distance."""
        return self.window is not None

    # ------------------------------------------------------------------------------------------- two whole series
    def _distance(self, x, w, y, tx, ty):
        problem = self._problem(x, w, y, tx, ty)
        bottom, side, _ = self._accumulate(problem)
        return Alignment(self._report(self._ending(bottom, side, problem)[0], problem), self, problem)

    def _accumulate(self, problem, *, keep=None, whole=False):
        """Last row, last column and, for keep = "costs" or "moves", the matrix (n, m) of them."""
        m, n = problem.shape
        lo, hi = band(self.window, self.factor, m, n)
        begin, _, start, _ = (0, 0, 0, 0) if whole else self._free(m, n)
        top, side = np.full(n + 1, INF), np.full(m + 1, INF)
        top[: start + 1] = side[: begin + 1] = 0.0
        if not kernels.closed_border(problem.record):
            side[1:] = np.cumsum(problem.up)
            top[1:] = np.arange(1.0, n + 1)
        matrix = np.full((n, m), INF) if keep == "costs" else None
        taken = np.zeros((n, m), np.uint8) if keep == "moves" else None
        p, x, w, y, tx, ty, _ = problem
        bottom, last = kernels.accumulate(p, x, w, y, tx, ty, lo, hi, top, side, matrix, taken)
        return bottom, last, matrix if keep == "costs" else taken

    def _ending(self, bottom, side, problem, *, whole=False):
        """Cost and last cell of the best path that ends where paths may end."""
        m, n = problem.shape
        _, query_end, _, series_end = (0, 0, 0, 0) if whole else self._free(m, n)
        j = n - 1 - series_end + int(np.argmin(bottom[n - 1 - series_end :]))
        best, i = bottom[j], m - 1
        column = side[m - query_end : m]
        if column.size and column.min() < best:
            k = int(np.argmin(column))
            best, i, j = column[k], m - query_end + k - 1, n - 1
        return float(best), i, j

    def _cost_matrix(self, problem):
        return np.ascontiguousarray(self._accumulate(problem, keep="costs")[2].T)

    def _path(self, problem, *, whole=False):
        bottom, side, taken = self._accumulate(problem, keep="moves", whole=whole)
        _, i, j = self._ending(bottom, side, problem, whole=whole)
        return self._listed(kernels.backtrack(taken, i, j), taken, problem)

    def _listed(self, path, taken, problem):
        """The cells of a path that its distance lists."""
        return path

    # ---------------------------------------------------------------------------------------------------- searching
    def _check_search(self, mode):
        if self.window == "itakura" and mode == "warped":
            raise ValueError(
                "The 'window' parameter must be None, a float or 'sakoe-chiba' in a warped search: Itakura's "
                "parallelogram needs both ends. Got 'itakura'. Take mode='windows' or another band."
            )
        if self.window is not None and mode == "tiling":
            raise ValueError(
                "The 'window' parameter must be None in a segmentation, whose tiles have no band. Got "
                f"{self.window!r}. "
                "Bound the length of the repetitions by 'min_length' and 'max_length' instead."
            )

    def _warped(self, problem, shortest, longest, *, matrix=False):
        """Warped profile of the whole series: distances, starts and, if asked for, accumulated costs (n, m)."""
        m, n = problem.shape
        col, start, cost, before = self._start_column(problem)[:4]
        distance, begin = np.empty(n), np.empty(n, np.int64)
        costs = np.empty((n, m)) if matrix else None
        p, x, w, y, tx, ty, _ = problem
        radius = radius_of(self.window, self.factor, m, m)
        kernels.warped(
            p, x, w, y, tx, ty, 0, 0, radius, shortest, longest, col, start, cost, before, distance, begin, costs
        )
        return self._report_search(distance, problem), begin, costs

    def _start_column(self, problem):
        m = problem.shape[0]
        side = np.full(m + 1, INF)
        side[0] = 0.0
        start = np.zeros(m + 1, np.int64)
        if not kernels.closed_border(problem.record):
            side[1:] = np.cumsum(problem.up)
            start[:] = -1  # sample 0, and no matched pair yet
        return side.copy(), start, np.zeros(m), np.zeros(m), side

    def _piece_distance(self, problem, start, end):
        """Exact distance of the query to a piece of the series, as searches report it."""
        piece = problem.piece(start, end)
        bottom, side, _ = self._accumulate(piece, whole=True)
        return self._report_search(self._ending(bottom, side, piece, whole=True)[0], piece)

    def _piece_path(self, problem, start, end):
        path = self._path(problem.piece(start, end), whole=True)
        path[1] += start
        return path

    def _tile(self, problem, background, shortest, longest):
        p, x, w, y, tx, ty, up = problem
        return kernels.tiling(p, x, w, y, tx, ty, up, background, shortest, longest, self._start_column(problem)[4])


def standardise(a):
    """Each channel to mean 0 and population standard deviation 1; a constant channel becomes zeros."""
    centred = a - a.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    constant = a.max(axis=1, keepdims=True) == a.min(axis=1, keepdims=True)
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))


def gradient(a):
    return np.gradient(a, axis=1) if a.shape[1] > 1 else np.zeros_like(a)


def local_costs(dist, x, y):
    """Costs (n, m) of all pairs of points by the caller's function, compiled or plain."""
    x, y = (x[0], y[0]) if x.shape[0] == 1 else (np.ascontiguousarray(x.T), np.ascontiguousarray(y.T))
    first = dist(x[0], y[0])
    if isinstance(first, str | complex | np.complexfloating | None) or np.ndim(first):
        raise TypeError(f"The 'dist' parameter must return one real number for two points. Got {shown(first)}.")
    out = np.empty((len(y), len(x)))
    fill = kernels.fill_costs
    if not isinstance(dist, Dispatcher):
        fill = getattr(fill, "py_func", fill)
    fill(dist, x, y, out)
    if not np.isfinite(out).all() or (out < 0).any():
        bad = out[~np.isfinite(out) | (out < 0)]
        raise ValueError(
            f"The 'dist' parameter must return finite costs of at least 0. Got {float(bad[0])} for a pair of points."
        )
    return out


@register
class DTW(ElasticMetric):
    """Dynamic time warping (Sakoe & Chiba 1978): the least sum of squared differences over all alignments.

    Parameters
    ----------
    alpha : float in [0, 1], default=1.0
        Local cost ``alpha * d(values) + (1 - alpha) * d(derivatives)``; the derivatives are brought to the scale of
        the first series' values.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.
    dtw_type : {"dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"}, default="dtw"
        Which ends are free: none, the series' end, both of the series' ends (two names), or `tolerance` points at
        either end of both. In a search the sequence's ends are free in any case.
    tolerance : int, default=0
        Free points of "psi-dtw", fewer than the shorter length.
    dist : callable, optional
        Local cost of two points instead of the squared difference, compiled or plain Python; it takes two floats, or
        two arrays of channels.
    do_sign_norm : bool, default=False
        z-normalise each series first.
    do_dist_norm : bool, default=False
        Divide by the length of the first series.

    Examples
    --------
    >>> from sktslib.distances import DTW
    >>> DTW()([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.0
    >>> DTW(window=0.25)([0, 1, 2, 3], [3, 2, 1, 0])
    20.0
    """

    name, full_name = "dtw", "Dynamic Time Warping"
    entry_parameters = {"dtw_type": "dtw", "alpha": 1}
    function_defaults = {"do_dist_norm": True}
    _parameter_constraints = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        **BAND_CONSTRAINTS,
        "dtw_type": [StrOptions({"dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"})],
        "tolerance": [Interval(Integral, 0, None, closed="left")],
        "dist": [callable, None],
        "do_sign_norm": ["boolean"],
        "do_dist_norm": ["boolean"],
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        window=None,
        factor=None,
        dtw_type="dtw",
        tolerance=0,
        dist=None,
        do_sign_norm=False,
        do_dist_norm=False,
    ):
        self.alpha = alpha
        self.window = window
        self.factor = factor
        self.dtw_type = dtw_type
        self.tolerance = tolerance
        self.dist = dist
        self.do_sign_norm = do_sign_norm
        self.do_dist_norm = do_dist_norm

    @property
    def symmetric(self):
        return self.alpha == 1 and self.dtw_type in ("dtw", "psi-dtw") and self.dist is None and not self.do_dist_norm

    def _validate(self):
        super()._validate()
        if self.tolerance and self.dtw_type != "psi-dtw":
            raise ValueError(
                "The 'tolerance' parameter of DTW must be 0 unless dtw_type='psi-dtw', which it belongs to. Got "
                f"{self.tolerance!r} with dtw_type={self.dtw_type!r}."
            )

    def _check_search(self, mode):
        super()._check_search(mode)
        if self.do_sign_norm:
            raise ValueError(
                "The 'do_sign_norm' parameter of DTW must be False in a search: it normalises whole series. Got "
                "True. Take "
                "normalize='zscore' of QuerySearcher, which normalises each window."
            )

    def _free(self, m, n):
        if self.dtw_type == "psi-dtw":
            if self.tolerance >= min(m, n):
                raise ValueError(
                    f"The 'tolerance' parameter of DTW must be smaller than the shorter length, {min(m, n)}. Got "
                    f"{self.tolerance}."
                )
            return (self.tolerance,) * 4
        free = n - 1
        return 0, 0, free if self.dtw_type in ("obe-dtw", "sub-dtw") else 0, free if self.dtw_type != "dtw" else 0

    def _problem(self, x, w, y, tx, ty, *, search=False):
        if self.do_sign_norm:
            x, y = standardise(x), standardise(y)
        m, zeros = x.shape[1], np.zeros(x.shape[1])
        if self.alpha == 1 and self.dist is None:
            return Problem(kernels.DTWRecord(), x, w, y, None, None, zeros)
        dx, dy = gradient(x), gradient(y)
        spread, steep = x.std(axis=1, keepdims=True), dx.std(axis=1, keepdims=True)
        # A ramp's slopes differ by rounding alone; so do the deviations of a constant from its mean.
        rounding = 1e-13 * np.abs(x).max(axis=1, keepdims=True)
        varies = (spread > rounding) & (steep > rounding)
        scale = np.divide(spread, steep, out=np.ones_like(spread), where=varies)
        if self.dist is None:
            w = np.ones_like(x) if w is None else w
            w = np.concatenate([self.alpha * w, (1 - self.alpha) * w])
            x, y = np.concatenate([x, scale * dx]), np.concatenate([y, scale * dy])
            return Problem(kernels.DTWRecord(), x, w, y, None, None, zeros)
        costs = np.zeros((y.shape[1], m))
        if self.alpha > 0:
            costs += self.alpha * local_costs(self.dist, x, y)
        if self.alpha < 1:
            costs += (1 - self.alpha) * local_costs(self.dist, scale * dx, scale * dy)
        if w is not None:  # the caller's function sees whole points, so a point has one weight
            costs *= w.max(axis=0)
        return Problem(kernels.DTWRecord(), None, None, costs, None, None, zeros)

    def _report(self, cost, problem):
        return cost / problem.shape[0] if self.do_dist_norm else cost

    _report_search = _report


@register
class LCSS(ElasticMetric):
    """Longest common subsequence (Vlachos et al. 2002): the share of points that find no partner within `eps`.

    Parameters
    ----------
    eps : float, default=1.0
        Two points match if they are at most this far apart (Euclidean norm over the channels).
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import LCSS
    >>> LCSS(eps=0.1)([0, 1, 2, 3], [0, 1, 9, 3])
    0.25
    """

    name, full_name = "lcss", "Longest Common Subsequence"
    entry_parameters = {"eps": 1, "report": "distance"}
    _parameter_constraints = {
        "eps": [Interval(Real, 0, None, closed="left")],
        **BAND_CONSTRAINTS,
    }

    def __init__(self, eps=1.0, *, window=None, factor=None):
        self.eps = eps
        self.window = window
        self.factor = factor

    def _problem(self, x, w, y, tx, ty, *, search=False):
        m = x.shape[1]
        point = np.ones(m) if w is None else w.max(axis=0)
        if w is not None:
            # A point's weight prices it; only the ratios between its channels say what matches.
            w = np.divide(w, point, out=np.ones_like(w), where=point > 0)
            w = None if (w == 1).all() else w
        if search:
            matched, unmatched, up = np.zeros(m), point + 1.0, point
        else:
            matched, unmatched, up = 2.0 - 2.0 * point, np.full(m, 2.0), np.ones(m)
        return Problem(kernels.LCSSRecord(2.0, float(self.eps), matched, unmatched, up), x, w, y, None, None, up)

    def _similarity(self, cost, problem):
        """Matched weight as a share of the largest possible one."""
        m, n = problem.shape
        weights = np.sort(1.0 - problem.record.matched / 2.0)[::-1]
        return (m + n - cost) / 2.0 / weights[: min(m, n)].sum()

    def _report(self, cost, problem):
        return max(0.0, 1.0 - self._similarity(cost, problem))

    def _report_search(self, cost, problem):
        return cost / (problem.up.sum() + problem.shape[0])

    def _listed(self, path, taken, problem):
        """The diagonal moves between points that match."""
        path = path[:, taken[path[1], path[0]] == 0]
        x, y = problem.x[:, path[0]], problem.y[:, path[1]]
        w = 1.0 if problem.w is None else problem.w[:, path[0]]
        return path[:, np.sqrt((np.abs(w * (x - y)) ** 2).sum(axis=0)) <= self.eps]


@register
class TWED(ElasticMetric):
    """Time warp edit distance with stiffness (Marteau 2009), a metric for nu > 0.

    Parameters
    ----------
    nu : float, default=0.001
        Stiffness: the cost of one unit of time.
    lmbda : float, default=1.0
        The constant cost of a point left unmatched.
    p : float, default=2
        Exponent of the norm over the channels, at least 1.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import TWED
    >>> TWED(nu=1.0, lmbda=0.0)([0, 1, 2], [0, 1, 2])
    0.0
    """

    name, full_name = "twed", "Time Warp Edit Distance"
    uses_times = True
    entry_parameters = {"nu": 0.001, "lmbda": 1.0, "p": 2, "time": "true"}
    _parameter_constraints = {
        "nu": [Interval(Real, 0, None, closed="left")],
        "lmbda": [Interval(Real, 0, None, closed="left")],
        "p": [Interval(Real, 1, None, closed="left")],
        **BAND_CONSTRAINTS,
    }

    def __init__(self, nu=0.001, lmbda=1.0, p=2, *, window=None, factor=None):
        self.nu = nu
        self.lmbda = lmbda
        self.p = p
        self.window = window
        self.factor = factor

    @property
    def metric(self):
        return self.nu > 0 and self.window is None

    @property
    def _depends_on_start(self):
        return self.nu > 0 or self.window is not None

    def _problem(self, x, w, y, tx, ty, *, search=False):
        m = x.shape[1]
        if (tx is None) != (ty is None):
            raise ValueError(
                "'tx' and 'ty' must both be given, or neither: TWED compares the times of the two series. Got "
                f"{'ty' if tx is None else 'tx'!r} alone; numpy.arange of the length stands for sample indices."
            )
        if search and tx is not None:
            tx = tx - tx[0]
        step = np.abs(np.diff(x, axis=1))
        if w is not None:
            step = np.minimum(w[:, 1:], w[:, :-1]) * step
        up = np.zeros(m)
        up[1:] = (
            (step**self.p).sum(axis=0) ** (1.0 / self.p) + self.nu * (1.0 if tx is None else np.diff(tx)) + self.lmbda
        )
        record = kernels.TWEDRecord(float(self.p), float(self.nu), float(self.lmbda), up)
        return Problem(record, x, w, y, tx, ty, up)
