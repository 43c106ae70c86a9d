"""Query x sequence -> profile: windows of the query's length, or subsequences with open begin and open end."""

import warnings
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric, PreparedPair
from ..distances._series import NORMALIZATIONS, alike, base_of, full_weight, normalise, places, resample
from ..utils._sizes import check_query, check_size
from ..utils.validation import unknown_name
from ._explain import explain
from ._missing import runs
from ._results import Profile
from ._selection import select, select_exactly
from ._windows import scaled_path, window_profile

MODES = ("auto", "windows", "subsequence")
MOST_TERMS = 2**19  # of windows that are computed together
APART = 64  # samples: windows further from each other are not
ALONE = -1  # the same where none are


def resolve_mode(metric, mode, normalize):
    """The kind of candidates, "windows" or "subsequence", that metric, mode and normalisation mean together."""
    if metric.family == "time":
        raise ValueError(
            f"{metric.full_name} has no search: it measures how two aligned series lie in time. Compute it on a match."
        )
    if mode == "warped":
        warnings.warn(
            "mode='warped' is called 'subsequence' now and will be an error in version 0.3. Set mode='subsequence'.",
            FutureWarning,
            stacklevel=4,
        )
        mode = "subsequence"
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    if normalize not in NORMALIZATIONS:
        valid = ", ".join(map(repr, NORMALIZATIONS))
        raise ValueError(f"The 'normalize' parameter must be one of {valid}. Got {normalize!r}.")
    warps = isinstance(metric, ElasticMetric)
    if mode == "subsequence" and not metric._has_path:
        raise ValueError(
            f"mode='subsequence' needs a metric with a warping path; {metric.full_name} has none and compares "
            "windows of the query's length. Take mode='windows' or 'auto'."
        )
    if mode == "subsequence" and not warps:
        raise ValueError(
            f"mode='subsequence' needs an elastic metric; {metric.full_name} compares windows of its length. Take "
            "mode='windows' or 'auto'."
        )
    if mode == "subsequence" and normalize is not None:
        raise ValueError(
            f"mode='subsequence' cannot be combined with normalize={normalize!r}: its candidates have no length "
            "before it is found. Take mode='windows', or normalize the recording beforehand."
        )
    if mode == "auto":
        mode = "subsequence" if warps and normalize is None else "windows"
    metric._check_search(mode)
    return mode


def check_lengths(m, min_length, max_length):
    """Windows have the query's length, m."""
    if (min_length or m) > m or (max_length or m) < m:
        raise ValueError(
            f"'min_length' and 'max_length' must let windows of the query's length through, {m} points. Got "
            f"{min_length} and {max_length}; a search by windows knows no other length."
        )


def check_room(m, n):
    """A window of m samples must fit into the sequence."""
    if m > n:
        raise ValueError(
            f"The query must not be longer than the sequence in a search by windows. Got {m} and {n} points; cut "
            "the query, or search by an elastic metric with mode='subsequence'."
        )


def check_reach(metric, a, what, normalize, check=check_size, total=None):
    """Values must not be too large for the metric, or a query's too small, unless they are brought to one size."""
    if metric._has_domain:
        if normalize is not None:
            raise ValueError(
                f"The 'normalize' parameter must be None with the {metric.full_name}, which is not defined for all "
                f"normalised values. Got {normalize!r}."
            )
        metric._check_values(a, what)
    power = metric._exponent(len(a)) if normalize in (None, "mean") else 1.0
    check(a, what, power, metric.full_name, total)


def _piece_problem(metric, x, w, y, tx, ty, start, end):
    """The query against a gapless stretch [start, end) of the sequence."""
    if start == 0 and end == y.shape[1]:
        return metric._problem(x, w, y, tx, ty, search=True)
    ty = None if ty is None else ty[start:end]
    return metric._problem(x, w, np.ascontiguousarray(y[:, start:end]), tx, ty, search=True)


@dataclass(frozen=True)
class Search:
    """One query and one sequence validated, and how they are compared."""

    metric: Metric
    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    y: np.ndarray  # (channels, n)
    tx: np.ndarray | None
    ty: np.ndarray | None
    mode: str
    normalize: str | None
    runs: tuple[tuple[int, PreparedPair], ...]  # subsequence searches: the stretches without a gap and where they begin
    lengths: np.ndarray | None = None  # of windows that are resampled to the query's length

    @classmethod
    def of(cls, metric, x, w, y, tx, ty, mode="auto", normalize=None, lengths=None, *, checked=False):
        """Check that the parts fit together; their values too, unless the caller has `checked` them."""
        mode = resolve_mode(metric, mode, normalize)
        if not metric.uses_times:
            tx = ty = None
        elif (tx is None) != (ty is None):
            alone, missing = ("query", "'ts' or 'times'") if ty is None else ("sequence", "'tq' or 'times' of fit")
            raise ValueError(
                f"{metric.full_name} compares times: give those of both query and sequence, or of neither. Got those "
                f"of the {alone} alone; {missing} is missing."
            )
        m, n = x.shape[1], y.shape[1]
        if not checked:
            check_reach(metric, x, "The query", normalize, check_query)
            check_reach(metric, y, "The sequence", normalize)
        if mode == "windows":
            check_room(m if lengths is None else int(lengths[0]), n)
        pieces = ()
        if mode == "subsequence":
            pieces = tuple((int(a), _piece_problem(metric, x, w, y, tx, ty, a, b)) for a, b in runs(y))
        return cls(metric, x, w, y, tx, ty, mode, normalize, pieces, lengths)

    def profile(self, min_length=None, max_length=None, rule=None):
        """Distance and range of every candidate; with a `rule` those that it cannot choose may be left out."""
        m, n = self.x.shape[1], self.y.shape[1]
        shortest, longest = min(min_length or 1, n + 1), min(max_length or n, n)
        if self.mode == "subsequence":
            if len(self.runs) == 1 and self.runs[0][1].shape[1] == n:
                return Profile(*self.metric._subsequence_profile(self.runs[0][1], shortest, longest)[:2])
            distance, start = np.full(n, np.inf), np.full(n, -1, np.int64)
            for first, problem in self.runs:
                d, s, _ = self.metric._subsequence_profile(problem, shortest, longest)
                ends = slice(first, first + len(d))
                distance[ends], start[ends] = d, np.where(s >= 0, s + first, -1)
            return Profile(distance, start)
        check_lengths(m, min_length, max_length)
        return window_profile(self.metric, self.x, self.w, self.y, self.tx, self.ty, self.normalize, self.lengths, rule)

    def distances(self, start, end):
        """Exact distances of the candidates [start, end); windows are computed together with their neighbours."""
        if self.mode == "subsequence":
            return np.array(
                [self._exact_distance(*candidate) for candidate in zip(start.tolist(), end.tolist(), strict=True)]
            )
        out = np.empty(len(start))
        for which in neighbours(start, self.x.shape[1], APART if self.lengths is None else ALONE):
            first = start[which[0]]
            out[which] = self._windows(first, end[which[-1]]).distance[start[which] - first]
        return out

    def _exact_distance(self, start, end):
        first, problem = self._run(start)
        return self.metric._piece_distance(problem, start - first, end - first)

    def _windows(self, start, end):
        """The profile of a piece; where there are several lengths, of the piece as one window."""
        times = None if self.ty is None else self.ty[start:end]
        piece, lengths = np.ascontiguousarray(self.y[:, start:end]), None
        if self.lengths is not None:
            lengths = np.array([end - start])
        windows = self.metric, self.x, self.w, piece, self.tx, times, self.normalize, lengths
        return window_profile(*windows, exactly=True)

    def _run(self, start):
        """The gapless stretch that holds a sample."""
        return self.runs[bisect_right(self.runs, start, key=lambda run: run[0]) - 1]

    def _piece(self, start, end, shown):
        """The query, or its points that are shown, and [start, end) of the sequence, in a subsequence search."""
        first, problem = self._run(start)
        piece = problem.piece(start - first, end - first)
        return piece if shown is None or shown[1] - shown[0] == len(self.x[0]) else piece.part(*shown)

    def cost(self, start, end, shown=None):
        """Accumulated cost of the query, or of a part of its points, and [start, end), in a subsequence search."""
        return self.metric._cost(self._piece(start, end, shown), whole=True)

    def path(self, start, end, shown=None):
        """Alignment of the query, or of a part of its points, with [start, end); indices into both as a whole."""
        if not self.metric._has_path:
            return self.metric._path(None)  # an error that says why
        if self.mode == "subsequence":
            path = self.metric._path(self._piece(start, end, shown), whole=True)
            return path + np.array([[0 if shown is None else shown[0]], [start]])
        path = np.tile(np.arange(self.x.shape[1]), (2, 1))
        if isinstance(self.metric, ElasticMetric):
            x, y, *times = self.window(start, end)
            path = self.metric._distance(x, self.w, y, *times).path
        return scaled_path(path, self.x.shape[1], start, end)

    def window(self, start, end):
        """The query and the window [start, end) as they are compared, and the times of both."""
        full, y, ty = full_weight(self.w, self.x), self.y[:, start:end], None if self.ty is None else self.ty[start:end]
        near = base = 0.0
        if self.lengths is not None:
            m = self.x.shape[1]
            near = 0.0 if self.normalize is None else alike(end - start, m)
            if near:
                base = base_of(y, np.zeros(1, int), places(end - start, m)[0], full)
            y, ty = resample(y, m, base), None if ty is None else resample(ty[np.newaxis], m)[0]
        times = (None, None) if ty is None else (self.tx - self.tx[0], ty - ty[0])
        x, y = normalise(self.x, full, self.normalize), normalise(y, full, self.normalize, near, base)
        return x, np.ascontiguousarray(y), *times

    def explain(self, start, end):
        """What the candidate [start, end) costs at each point."""
        return explain(self, start, end)


def neighbours(start, m, apart):
    """Indices of windows of m samples that are better computed together, in groups: none further than `apart`."""
    if not len(start):
        return
    order = np.argsort(start, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(start[order]) > apart) + 1):
        part = (start[run] - start[run[:1]]) // max(MOST_TERMS // m, 1)
        yield from np.split(run, np.flatnonzero(np.diff(part)) + 1)


def percentile_of(distance, percentile, exact=None, slack=0.0):
    """A percentile of the finite distances; infinite where there are none.

    Where distances have a relative error of up to `slack`, those that may be the percentile are computed exactly, by
    their numbers.
    """
    which = np.flatnonzero(np.isfinite(distance))
    if not len(which):
        return np.inf
    values = distance[which]
    if slack:
        # The exact percentile lies within the error of the one found, and so does each value of what it came out as.
        low, high = (np.percentile(values, percentile, method=side) for side in ("lower", "higher"))
        near = (values >= low * (1.0 - 3.0 * slack)) & (values <= high * (1.0 + 3.0 * slack))
        values[near] = exact(which[near])
    return float(np.percentile(values, percentile))


def choose(search, distance, start, end, slack, n_matches, threshold, max_overlap, percentile=None):
    """Starts, ends, distances chosen by and distances reported of the matches, in the order of their choice.

    `search` knows the exact distance of a range, and the metric and mode.
    """
    exact = lambda which: search.distances(start[which], end[which])  # noqa: E731
    if percentile is not None:
        threshold = percentile_of(distance, percentile, exact, slack)
    rule = {"n_matches": n_matches, "threshold": threshold, "max_overlap": max_overlap}
    if slack:
        chosen, by = select_exactly(distance, start, end, exact, slack, **rule)
        reported = by
    else:
        chosen = select(distance, start, end, **rule)
        by = reported = distance[chosen]
        if search.mode == "subsequence" and search.metric._depends_on_start:
            reported = exact(chosen)
    return start[chosen], end[chosen], by, reported
