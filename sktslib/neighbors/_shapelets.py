"""Distances of series to their best match with each of several queries: the shapelet transform.

Shapelets are pieces of labeled series whose distances to the series distinguish the classes.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from ..distances._collection import as_collection
from ..distances._series import NORMALIZATIONS
from ..search._limits import observed_query
from ..search._plan import MODES, QueryPlan, check_lengths, resolve_mode, warn_of_query, warn_of_sequences, with_metric
from ..search._profile import Search
from ..search._pruning import Choice
from ..search._query import named
from ..search._results import matched
from ..utils._jobs import count_jobs, delayed, each_in_jobs, in_jobs, progress
from ..utils._names import warn
from ..utils._parameters import SEED, StrOptions
from ..utils._sklearn import names_out
from ..utils._times import MetricLike, Sequences
from ..utils.validation import as_weight, plain_count, refused, shown
from ._collection_estimator import COUNT, CollectionEstimator, read_examples

BLOCK = 64  # candidates between two updates of the best ones; does not depend on the number of jobs
ALIKE = 0.95  # correlation of distances from which two candidates count as similar: 90 % of the variance is shared
SHORTEST = 3  # minimum points of a candidate, as in the published shapelet transform


class Shapelet(NamedTuple):
    """A piece of a fitted series that was learned as a query.

    Attributes
    ----------
    series : int
        The number of the series in the collection.
    start, length : int
        Start and length of the piece in its series, in samples.
    score : float
        Its information on the classes: bits, or the F-statistic.
    label : object
        The class that it was chosen for, that of its series.

    Examples
    --------
    >>> from sktslib.neighbors import ShapeletTransform
    >>> series = [[0, 0, 5, 0, 0], [0, 5, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> learned = ShapeletTransform("euclidean", n_queries=1, query_lengths=(3, 3)).fit(series, [1, 1, 0, 0])
    >>> learned.shapelets_[0].length
    3
    """

    series: int
    start: int
    length: int
    score: float
    label: Any


class Candidate(NamedTuple):
    """A piece of a series with its score."""

    series: int
    start: int
    length: int
    score: float
    margin: float  # difference of the mean distances of both sides, to break ties between scores
    distances: np.ndarray  # to all series


class Task(NamedTuple):
    """Series and labels by which candidates for queries are scored."""

    plan: QueryPlan  # without a query
    series: list  # (channels, n) each
    labels: np.ndarray  # numbers of the classes


# ------------------------------------------------------------------------------------------------------------ scores
def information_gain(distances, own):
    """Return the largest information gain, in bits, of a threshold for distances about the class."""
    order = np.argsort(distances, kind="stable")
    values, own = distances[order], own[order]
    n, count = len(own), own.sum()
    ends = np.flatnonzero(values[:-1] < values[1:])  # a threshold must be between different values
    if not len(ends):
        return 0.0
    near, of_near = ends + 1.0, np.cumsum(own)[ends]
    left = near * entropy(of_near / near) + (n - near) * entropy((count - of_near) / (n - near))
    return float(max(entropy(count / n) - left.min() / n, 0.0))


def entropy(share):
    """Return the entropy, in bits, of a share and its complement."""
    share = np.asarray(share, dtype=float)
    return (entr(share) + entr(1.0 - share)) / np.log(2.0)


# -------------------------------------------------------------------------------------------------------- candidates
def best_match(plan, y):
    """Return start, end and distance of the best match of a query in a series; (-1, -1, inf) without a candidate."""
    times = getattr(y, "times", None)
    if plan.mode == "windows":
        check_lengths(plan.m, *plan.limits)
    plan = plan if times is not None else plan._replace(tx=None)  # times are compared only if both have them
    found = matched(Search.of(plan, np.asarray(y), times if plan.tx is not None else None), Choice(n_matches=1))
    return [column[0] for column in found[:3]] if len(found.start) else (-1, -1, np.inf)


def distances_of(plan, series):
    """Return the distances of the best matches of a query in series that are long enough."""
    if plan.mode != "windows":
        return np.array([best_match(plan, y)[2] for y in series], dtype=float)
    lengths = np.array([y.shape[1] for y in series])
    ends = np.cumsum(lengths)
    found = plan.distances(np.concatenate(series, axis=1), None, exactly=True)
    inside = np.arange(ends[-1])[: len(found)] + plan.m <= np.repeat(ends, lengths)[: len(found)]
    return np.minimum.reduceat(np.where(inside, found, np.inf), ends - lengths)


def scored(task, pieces):
    """Return pieces (series, start, length) as scored candidates."""
    out = []
    for k, start, length in pieces:
        x = np.ascontiguousarray(task.series[k][:, start : start + length])
        distances, own = distances_of(task.plan._replace(x=x), task.series), task.labels == task.labels[k]
        gain = information_gain(distances, own)
        out.append(Candidate(k, start, length, gain, margin(distances, own), distances))
    return out


def margin(distances, own):
    """Return the mean distance of the other series minus that of the own class, relative to the standard deviation."""
    spread = np.std(distances)
    finite = own.any() and not own.all() and 0 < spread < np.inf
    return float((distances[~own].mean() - distances[own].mean()) / spread) if finite else 0.0


def without_similar(candidates, n):
    """Return the best n candidates without those that overlap or resemble a better one."""
    kept = []
    for new in sorted(candidates, key=lambda c: (-c.score, -c.margin, c.length, c.series, c.start)):
        if len(kept) == n:
            break
        if not any(similar(new, old) for old in kept):
            kept.append(new)
    return kept


def similar(a, b):
    """Return whether two candidates overlap, or their distances to the series are highly correlated."""
    if a.series == b.series and a.start < b.start + b.length and b.start < a.start + a.length:
        return True
    x, y = a.distances - a.distances.mean(), b.distances - b.distances.mean()
    norm = np.sqrt((x * x).sum() * (y * y).sum())
    return bool(norm == 0 or not (x * y).sum() < ALIKE * norm)


def select(task, sizes, lengths, rng, work):
    """Return the best shapelets as `Candidate` objects, taking the classes in turn.

    `sizes` are the number of shapelets and of pieces that are drawn; `work` holds the number of jobs and the verbosity.
    """
    (n, n_candidates), (n_jobs, verbose), n_classes = sizes, work, int(task.labels.max()) + 1
    pieces = drawn(task.series, n_candidates, lengths, rng)
    each = min(-(-n // n_classes), len(pieces))
    best = [[] for _ in range(n_classes)]
    blocks = [pieces[first : first + BLOCK] for first in range(0, len(pieces), BLOCK)]

    jobs = count_jobs(n_jobs)
    with progress(len(blocks), verbose, "shapelets", "block") as count:
        for block in blocks:
            calls = [delayed(scored)(task, block[job::jobs]) for job in range(min(jobs, len(block)))]
            for found in in_jobs(calls, n_jobs, 0, "shapelets", "part"):
                for candidate in found:
                    best[task.labels[candidate.series]].append(candidate)
            best = [without_similar(candidates, each) for candidates in best]
            count()
    by_turns = [best[label][k] for k in range(each) for label in range(n_classes) if k < len(best[label])]
    return by_turns[:n]


def drawn(series, n_candidates, lengths, rng):
    """Return distinct random pieces (series, start, length), taking the series in turn; at most all pieces."""
    shortest, longest = lengths
    total = sum(y.shape[1] - m + 1 for y in series for m in range(shortest, longest + 1))
    if total <= n_candidates:
        return [
            (k, s, m) for k, y in enumerate(series) for m in range(shortest, longest + 1)
            for s in range(y.shape[1] - m + 1)
        ]  # fmt: skip
    found = {}
    while len(found) < n_candidates:
        for k in rng.permutation(len(series)).tolist():
            m = int(rng.randint(shortest, longest + 1))
            found[k, int(rng.randint(series[k].shape[1] - m + 1)), m] = None
    return list(found)[:n_candidates]


class QueryMatches(NamedTuple):
    """Best match of each query in each series: three arrays (n_series, n_queries).

    Attributes
    ----------
    start, end : ndarray of int of shape (n_series, n_queries)
        Half-open ranges ``[start, end)`` in samples; -1 without a candidate.
    distance : ndarray of shape (n_series, n_queries)
        The distances; infinite without a candidate.

    Examples
    --------
    >>> from sktslib.neighbors import ShapeletTransform
    >>> query_distances = ShapeletTransform("euclidean", queries=[[1, 2]]).fit([[0, 1, 2, 0], [1, 2, 0, 0]])
    >>> query_distances.locate([[0, 0, 1, 2]]).start
    array([[2]])
    """

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray


@dataclass(eq=False, repr=False)
class ShapeletTransform(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CollectionEstimator):
    """Distance of each series to its best match with each of several queries (Lines et al. 2012).

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    queries : array-like of shape (n_queries, m) or (n_queries, m, channels), or list or dict of series, optional
        The queries; a list, or a dict by their names, may hold queries of different lengths. None: the series given to
        `fit`, or queries learned from them.
    n_queries : int, optional
        Number of queries to learn from labeled series: pieces of them (shapelets) whose distances separate the classes,
        the same number for each class. None: nothing is learned.
    n_candidates : int, default=1000
        Number of pieces that are drawn and compared with all series; all pieces if there are no more.
    query_lengths : pair of int, optional
        The shortest and the longest piece that is drawn, in samples. None: 3, and half of the shortest series.
    random_state : int, RandomState or None
        Draws the pieces.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the points of every query; the queries must then have one length.
    candidates : {"auto", "windows", "subsequence"}, default="auto"
        All windows of the query's length, or subsequences of any length, with open start and end (elastic metrics
        only). "auto": windows for lockstep metrics and if `normalize` is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How the query and each window are normalized, per channel and with weighted moments.
    min_length, max_length : int, optional
        Bounds of the length of matches of a subsequence search, in samples.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points have weight 0; lockstep windows are compared
        by their observed points, at least half of the weight; matches of a subsequence search do not cross a missing
        point.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr.

    Attributes
    ----------
    queries_ : list of ndarray of shape (m, channels)
        The queries.
    shapelets_ : list of Shapelet
        Origins of the learned queries: ``series``, ``start``, ``length``, ``score``, and ``label``, the class of the
        series; only with `n_queries`.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    References
    ----------
    Lines J, Davis LM, Hills J, Bagnall A. A shapelet transform for time series classification. KDD 2012.

    Ye L, Keogh E. Time series shapelets: a new primitive for data mining. KDD 2009.

    Bostrom A, Bagnall A. Binary shapelet transform for multiclass time series classification. Transactions on
    Large-Scale Data- and Knowledge-Centered Systems XXXII, 2017.

    Examples
    --------
    >>> from sktslib.neighbors import ShapeletTransform
    >>> distances = ShapeletTransform("euclidean", queries=[[0, 1, 0], [2, 2]]).fit([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]])
    >>> distances.transform([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]]).round(2)
    array([[0., 2.],
           [3., 0.]])
    >>> distances.locate([[0, 0, 1, 0, 2]]).start
    array([[1, 3]])

    Learned queries:

    >>> X = [[0, 0, 5, 0, 0, 0], [0, 0, 0, 5, 0, 0], [0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]
    >>> learned = ShapeletTransform("euclidean", n_queries=2, random_state=0).fit(X, ["peak", "peak", "step", "step"])
    >>> [(shapelet.label, shapelet.length, shapelet.score) for shapelet in learned.shapelets_]
    [('peak', 3, 1.0), ('step', 3, 1.0)]
    """

    metric: MetricLike = "dtw"
    _: KW_ONLY
    queries: Any = None
    n_queries: int | None = None
    n_candidates: int = 1000
    query_lengths: tuple[int, int] | None = None
    random_state: Any = None
    candidates: str = "auto"
    normalize: str | None = None
    min_length: int | str | None = None
    max_length: int | None = None

    _compares_pairs = False
    _parameter_constraints = {
        "queries": ["array-like", dict, None],
        "n_queries": [*COUNT, None],
        "n_candidates": COUNT,
        "query_lengths": ["array-like", None],
        "random_state": SEED,
        "candidates": [StrOptions({*MODES})],
        "normalize": [StrOptions(set(NORMALIZATIONS) - {None}), None],
        "min_length": [*COUNT, None],
        "max_length": [*COUNT, None],
    }

    def fit(self, X: Sequences, y: ArrayLike | None = None) -> Self:
        """Set the queries, or learn them.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            A collection; its series are the queries unless one of the parameters `queries` and `n_queries` is set.
        y : array-like of shape (n_series,), optional
            The class of each series; only used with `n_queries`.

        Returns
        -------
        ShapeletTransform
            Itself.

        Raises
        ------
        TypeError
            If the first parameter, `metric`, was given queries.
        ValueError
            If parameters exclude each other, such as `queries` and `n_queries`, or if queries are to be learned and
            `y` is missing or holds one class, or a series has missing values.
        """
        self._fit_collection(X)
        mode = resolve_mode(self.metric_, self.candidates, self.normalize)
        given, self._query_names = vars(self).pop("_series"), None
        for name in ("queries", "weight"):
            if self.n_queries is not None and getattr(self, name) is not None:
                raise ValueError(
                    f"'n_queries' learns queries of several lengths and takes no {name!r}. Got both; set one of them."
                )
        if self.queries is not None:
            missing = self.nan_policy == "omit"
            self._query_names, queries = named(self.queries, "queries")
            rest = {"missing": missing, "channels_first": bool(self.channels_first)}
            given = [x.copy() for x in as_collection(queries, "queries", self.n_channels_, **rest)]
            given = self._timed(queries, given)
        vars(self).pop("shapelets_", None)
        lengths = self._lengths_of_queries(min(x.shape[1] for x in given))
        rng = check_random_state(self.random_state)
        if self.n_queries is not None:
            given = self._learned(given, y, mode, lengths, rng)
        times = [getattr(x, "times", None) for x in given]
        read = [observed_query(np.array(x), as_weight(self.weight, x.shape[1], len(x))) for x in given]
        queries = [
            QueryPlan(self.metric_, x, w, tx, mode, self.normalize) for (x, w), tx in zip(read, times, strict=True)
        ]
        for plan in queries:
            warn_of_query(plan)
        self._queries = with_metric(self._made_metric(), queries)
        self.metric_ = self._queries[0].metric
        self.queries_ = [plan.x.T for plan in self._queries]
        self._n_features_out = len(self._queries)
        return self

    def _made_metric(self):
        if isinstance(self.metric, list | tuple | dict) or hasattr(self.metric, "__array__"):
            rule = "be a name, a metric object or a callable"
            got, out = shown(self.metric), "To compare series with queries, name them: ShapeletTransform(queries=...)."
            raise refused("The 'metric' parameter, the first one,", rule, got, out, error=TypeError)
        return super()._made_metric()

    def _learned(self, series, y, mode, lengths, rng):
        """Return the pieces of labeled series that distinguish the classes best."""
        classes, labels = read_examples(y, series, "'n_queries'")
        if hasattr(series[0], "times"):
            warn(
                "Learned queries count samples, and the times in the index of the series are not used. Give 'queries' "
                "with times, or pass arrays to end this warning."
            )
            series = [np.array(x) for x in series]
        plan = QueryPlan(self.metric_, series[0], None, None, mode, self.normalize)
        sizes, work = (self.n_queries, self.n_candidates), (self.n_jobs, self.verbose)
        found = select(Task(plan, series, labels), sizes, lengths, rng, work)
        if len(found) < self.n_queries:
            warn(
                f"'n_queries' asks for {self.n_queries} pieces that are not alike. {len(found)} were found: raise "
                "'n_candidates', or ask for fewer."
            )
        self.shapelets_ = [Shapelet(*c[:4], classes.tolist()[labels[c.series]]) for c in found]
        return [np.ascontiguousarray(series[c.series][:, c.start : c.start + c.length]) for c in found]

    def _lengths_of_queries(self, longest):
        """Return the minimum and maximum length of pieces, for series with at most `longest` samples."""
        if self.query_lengths is None:
            return min(SHORTEST, longest), max(min(SHORTEST, longest), longest // 2)
        given = np.asarray(self.query_lengths)
        if given.shape != (2,) or given.dtype.kind not in "iu" or not 1 <= given[0] <= given[1]:
            rule, got = "be None or two integers, the shortest and the longest, at least 1", shown(self.query_lengths)
            raise refused("query_lengths", rule, got)
        if self.n_queries is not None and given[1] > longest:
            rule, got = f"not exceed the length of the shortest series, {longest}", shown(self.query_lengths)
            raise refused("query_lengths", rule, got)
        return int(given[0]), int(given[1])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``shapelettransform_`` and the query's name where `queries` is a dict, else ``shapelettransform`` and its
            number.
        """
        names = super().get_feature_names_out(input_features)
        return names if self._query_names is None else names_out(self, self._query_names)

    def transform(self, X: Sequences) -> NDArray[np.float64]:
        """Return the distance of the best match of each query in each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series, n_queries)
            A series without a candidate has the query's largest finite value of the call, or 0 without one.
        """
        distance = self.locate(X).distance
        finite = np.isfinite(distance)
        largest = np.max(distance, axis=0, where=finite, initial=0.0)
        return self._labeled(np.where(finite, distance, largest), X)

    def locate(self, X: Sequences) -> QueryMatches:
        """Find the best match of each query in each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        QueryMatches
            Named arrays ``start``, ``end`` and ``distance`` of shape (n_series, n_queries).
        """
        series = self._checked(X)
        longest = max((plan.m for plan in self._queries if plan.mode == "windows" and plan.lengths is None), default=0)
        short = [k for k, x in enumerate(series) if x.shape[1] < longest]
        if short:
            n = series[short[0]].shape[1]
            learned = (
                f"fit with query_lengths=({min(2, n)}, {n})" if self.n_queries is not None else "give shorter queries"
            )
            rule = f"hold series of at least as many points as the longest query, {longest}"
            raise refused("'X'", rule, f"{n} in 'X[{short[0]}]'", f"Leave such series out, or {learned}.")
        limits = plain_count(self.min_length), plain_count(self.max_length)
        warn_of_sequences(self._queries, series, elsewhere=True)  # no error for an offset: the level may be a feature

        queries = [plan._replace(limits=limits) for plan in self._queries]
        calls = (delayed(best_match)(plan, y) for y in series for plan in queries)
        count = len(series) * len(queries)
        found = list(each_in_jobs(calls, count, self.n_jobs, self.verbose, "query distances", "search"))
        start, end, distance = np.array(found, dtype=float).reshape(len(series), -1, 3).transpose(2, 0, 1)
        return QueryMatches(start.astype(np.int64), end.astype(np.int64), np.ascontiguousarray(distance))
