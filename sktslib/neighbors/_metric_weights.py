"""Weights of points and channels learned from labels.

Under these weights, series are near to those of their own class and far from others. With fixed alignments a distance
is linear in the weights, and the objective is convex. So it is minimized and the alignments are updated in turn. See
`docs/definitions_learning.rst`, "Learned weights".
"""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..distances._metrics.base import Metric
from ..distances._metrics.registry import get_metric
from ..distances._pairwise import pairwise_distances
from ..distances._series import spread
from ..utils._jobs import delayed, in_jobs, parts_for_jobs, progress
from ..utils._parameters import SEED, Interval, StrOptions
from ..utils._times import MetricLike, Sequences
from ..utils.validation import refused
from ._collection_estimator import COUNT, CollectionEstimator, read_examples

FOLDS = 5  # folds of the cross-validation that chooses alpha, as in scikit-learn
# Candidates for "auto": equal weights; a pull towards these about as strong as the loss of equal weights; a tenth and a
# hundredth of it.
ALPHAS = (np.inf, 1.0, 0.1, 0.01)
# The minimum for fixed alignments may be too far once these are updated: then half of the step is tried, and so on.
STEPS = (1.0, 0.5, 0.25, 0.125)
TOLERANCE = 1e-3  # a smaller relative decrease of the objective ends the iterations


def basis_of(kind, n_channels, length, n_knots):
    """Return the weights for which each parameter stands (n_parameters, channels, length or 1).

    If all parameters are 1, so are all weights.
    """
    channels = np.eye(n_channels)[:, :, np.newaxis]
    if kind == "channels":
        return channels
    at = np.linspace(0, length - 1, min(n_knots, length))
    hats = np.array([np.interp(np.arange(length), at, row) for row in np.eye(len(at))])
    if kind == "points":
        return np.repeat(hats[:, np.newaxis], n_channels, axis=1)
    return (channels[:, np.newaxis] * hats[:, np.newaxis]).reshape(-1, n_channels, length)


def weights_of(v, basis):
    """Return the weights (channels, length or 1) for given parameters."""
    return np.tensordot(v, basis, 1)


def objective(v, basis, compared, alpha):
    """Return the objective and its gradient by the parameters, with fixed alignments and neighbors.

    `compared` holds two arrays: differences of distances that should be short and long, as linear functions of the
    parameters in units of the margin (comparisons, n_parameters), and the weight of each comparison in the objective.
    """
    rows, share = compared
    short = np.maximum(1.0 + rows @ v, 0.0)
    apart = weights_of(v, basis) - 1.0
    value = share @ short**2 + alpha * np.mean(apart**2)
    pull = 2.0 * alpha / apart.size * np.tensordot(basis, apart, 2)
    return value, 2.0 * (share * short) @ rows + pull


def learned(first, basis, alpha, max_iter, count):
    """Return weights with mean 1 for a strength `alpha` of the pull to equal ones, and the objective before and after.

    With infinite `alpha` the weights are equal. `first` holds the comparisons for parameters of 1, and a function that
    returns those with the best alignments for given parameters; it is None if there is nothing to learn from. `count`
    counts iterations.
    """
    if first is None or alpha == np.inf:
        return np.ones(basis.shape[1:]), []
    v, (compared, compare) = np.ones(len(basis)), first
    values = [float(objective(v, basis, compared, alpha)[0])]
    for _ in range(max_iter):
        arguments, bounds = (basis, compared, alpha), [(0.0, None)] * len(v)
        goal = minimize(objective, v, args=arguments, jac=True, bounds=bounds, method="L-BFGS-B").x
        for step in STEPS:
            new = v + step * (goal - v)
            if not weights_of(new, basis).any():  # no weights separate the classes
                continue
            aligned = compare(new)
            value = float(objective(new, basis, aligned, alpha)[0])
            if value < values[-1]:
                break
        else:
            break
        v, compared = new, aligned
        values.append(value)
        count(1, f"objective {value:.6g}")
        if values[-2] - value <= TOLERANCE * values[-2]:
            break
    w = weights_of(v, basis)
    return w / w.mean(), values


class Task(NamedTuple):
    """Labeled series, metric and basis from which weights are learned."""

    metric: Metric
    series: list  # (channels, length) each
    labels: np.ndarray
    basis: np.ndarray  # (n_parameters, channels, length or 1): weights are parameters times its rows, summed
    n_neighbors: int
    max_iter: int
    n_jobs: int | None

    @property
    def same_class(self):
        """Whether two series have the same class (n_series, n_series)."""
        return self.labels[:, np.newaxis] == self.labels

    def of(self, which):
        """Return the task with some of the series."""
        return self._replace(series=[self.series[k] for k in which], labels=self.labels[which])


def sums(task, X, Y, w):
    """Return the distances of two collections to the power that is linear in the weights."""
    distances = pairwise_distances(X, Y, task.metric, weight=w.T, n_jobs=task.n_jobs, channels_first=True)
    return distances**task.metric._weighted_power * w.max()  # because metrics divide weights by the largest one


# ---------------------------------------------------------------------------------------------------------- objective
def nearest(distances, allowed, count):
    """Return for each row the indices of the nearest allowed entries, at most `count`."""
    order = np.argsort(np.where(allowed, distances, np.inf), axis=1, kind="stable")
    return [row[: min(count, n)] for row, n in zip(order, allowed.sum(axis=1), strict=True)]


def margins(task, w, some, targets, others):
    """Return how much smaller the sums of each series with its targets are than those with `others`, by parameters."""
    basis, rows = task.basis.reshape(len(task.basis), -1), []
    for i in some:
        x, terms = task.series[i], []
        for j in (*targets[i], *others[i]):
            found = task.metric._weighted_terms(x, np.ascontiguousarray(spread(w, x.shape[1])), task.series[j])
            terms.append(basis @ (found if task.basis.shape[2] > 1 else found.sum(axis=1, keepdims=True)).ravel())
        near, far = np.split(np.array(terms), [len(targets[i])])
        rows.append((near[:, np.newaxis] - far).reshape(-1, len(basis)))
    return rows


def triples_of(task, v, targets, unit):
    """Return triples of a series, one of its targets, and a near series of another class, for given parameters."""
    w = weights_of(v, task.basis)
    others = nearest(sums(task, task.series, task.series, w), ~task.same_class, task.n_neighbors)
    parts = parts_for_jobs(np.flatnonzero([len(of) > 0 for of in targets]), task.n_jobs)
    calls = [delayed(margins)(task, w, part, targets, others) for part in parts]
    rows = [one for part in in_jobs(calls, task.n_jobs, 0, "weights", "part") for one in part]
    share = [np.full(len(some), 1.0 / len(some)) for some in rows]
    return np.concatenate(rows) / unit, np.concatenate(share) / len(share)


# ----------------------------------------------------------------------------------------------------------- learning
def first_comparisons(task):
    """Return the comparisons with equal weights, and a function that returns those for given parameters.

    None if there is nothing to learn from.
    """
    v, others = np.ones(len(task.basis)), ~task.same_class
    distances = sums(task, task.series, task.series, weights_of(v, task.basis))
    targets = nearest(distances, ~others & ~np.eye(len(others), dtype=bool), task.n_neighbors)
    near = [distances[i, of].mean() for i, of in enumerate(targets) if len(of)]
    unit = float(np.mean(near)) if near else 0.0
    unit = unit or (float(distances[others].mean()) if others.any() else 0.0)
    if not near or not others.any() or not unit > 0:
        return None
    compare = partial(triples_of, task, targets=targets, unit=unit)
    return compare(v), compare


def choose_alpha(task, rng, count):
    """Return the alpha with the best nearest-neighbor accuracy in cross-validation, and the accuracies.

    Ties: the largest alpha, which keeps weights closest to equal.
    """
    folds, n = np.empty(len(task.labels), int), min(FOLDS, np.bincount(task.labels).max())
    for label in np.unique(task.labels):
        members = rng.permutation(np.flatnonzero(task.labels == label))
        folds[members] = np.arange(len(members)) % n
    correct = np.zeros(len(ALPHAS))
    for fold in range(n):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part, held = task.of(train), task.of(test)
        first = first_comparisons(part)
        for k, alpha in enumerate(ALPHAS):
            w, _ = learned(first, part.basis, alpha, part.max_iter, count)
            found = sums(task, held.series, part.series, w).argmin(axis=1)
            correct[k] += (part.labels[found] == held.labels).sum()
    shares = correct / len(task.labels)
    best = max(range(len(ALPHAS)), key=lambda k: (shares[k], ALPHAS[k]))
    return ALPHAS[best], dict(zip(ALPHAS, shares.tolist(), strict=True))


@dataclass(eq=False, repr=False)
class MetricWeights(CollectionEstimator):
    """Weights of points or channels under which series are near to their own class and far from the others.

    With fixed alignments a distance is linear in its weights. Two steps alternate: series are aligned under the
    weights, and weights are found with which each series is nearer, by a margin, to its neighbors of its own class than
    to those of other classes. The second step is a convex problem. A penalty pulls the weights to equal ones.

    ``KNeighborsTimeSeriesClassifier(metric, weight=MetricWeights())`` learns them within its own `fit`, so that
    cross-validation stays honest. Fitted by itself it has `weight_` for everything that takes a ``weight``.

    Parameters
    ----------
    metric : str or metric object, optional
        The distance, which must be a sum of weighted terms: ``dtw``, ``ddtw``, ``wdtw``, ``wddtw``, ``euclidean`` and
        the other lockstep sums. None: ``dtw``; within another estimator it must be None, and that estimator's metric is
        used.
    kind : {"auto", "points", "channels", "both"}, default="auto"
        The dimensions that have weights: points, equal in all channels; channels, equal at all points; or each point in
        each channel. "auto": points for one channel, otherwise channels. Weights of points need series of one length.
    alpha : float or "auto", default="auto"
        Strength of the pull to equal weights, above 0; infinity keeps them equal. "auto": infinity, 1, 0.1 or 0.01, the
        largest with the best five-fold cross-validation of the nearest-neighbor classifier.
    n_neighbors : int, default=3
        Number of neighbors in its own class, and in the others, with which each series is compared.
    n_knots : int, default=25
        Weights of points are linear between this many evenly spaced points, so that neighbors have similar weights.
    max_iter : int, default=5
        Largest number of iterations; each aligns the series again.
    metric_params : dict, optional
        Parameters of the metric. None within another estimator, like `metric`.
    n_jobs : int, optional
        Number of threads; results do not depend on it. None: 1, or the number of the estimator around it.
    random_state : int, RandomState instance or None, default=None
        Draws the folds that choose `alpha`.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`sktslib.distances.pairwise_distances`. Ignored within another
        estimator.
    verbose : int, default=0
        Above 0: a progress bar on stderr with the iterations and the objective.

    Attributes
    ----------
    weight_ : ndarray of shape (length,), (length, channels) or (1, channels)
        The weights, at least 0 and of mean 1, in the shape of `weight` parameters: of points, of both, or of channels.
    alpha_ : float
        The chosen strength; infinity if equal weights are as good as any.
    scores_ : dict
        The share of series that each `alpha` classified correctly; only with ``alpha="auto"``.
    objective_ : ndarray of shape (1 + n_iter,)
        The objective with equal weights and after each iteration; never rising. Empty if nothing was learned.
    n_iter_ : int
        Number of iterations.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    Notes
    -----
    The loss is that of large margin nearest neighbor classification (Weinberger & Saul 2009), squared and for a
    diagonal metric. Neighbors in the series' own class are those under equal weights, neighbors in other classes the
    nearest under the current weights. Mei et al. (2016) learn a metric of channels for DTW by such comparisons, too.
    The objectives are in :doc:`/definitions_learning`.

    References
    ----------
    Weinberger & Saul (2009), Distance metric learning for large margin nearest neighbor classification; Mei, Liu, Wang
    & Gao (2016), Learning a Mahalanobis distance-based dynamic time warping measure for multivariate time series
    classification.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.neighbors import KNeighborsTimeSeriesClassifier, MetricWeights
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(20, 10, 2)), np.repeat(["low", "high"], 10)  # the second channel is noise
    >>> X[10:, :, 0] += 1.0
    >>> MetricWeights(alpha=0.1).fit(X, y).weight_.round(1)
    array([[1.3, 0.7]])
    >>> model = KNeighborsTimeSeriesClassifier("dtw", weight=MetricWeights(alpha=0.1)).fit(X, y)
    >>> model.metric_weights_.weight_.shape
    (1, 2)
    """

    metric: MetricLike | None = None
    _: KW_ONLY
    kind: str = "auto"
    alpha: float | str = "auto"
    n_neighbors: int = 3
    n_knots: int = 25
    max_iter: int = 5
    random_state: Any = None
    nan_policy: ClassVar[str] = "raise"  # not a parameter here
    weight: ClassVar[None] = None  # this is what is learned
    _needs_y = True

    _parameter_constraints = {
        **dict.fromkeys(("weight", "nan_policy")),
        "kind": [StrOptions({"auto", "points", "channels", "both"})],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="right")],
        "n_neighbors": COUNT,
        "n_knots": [Interval(Integral, 2, None, closed="left")],
        "max_iter": COUNT,
        "random_state": SEED,
    }

    def fit(self, X: Sequences, y: ArrayLike) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : array-like of shape (n_series,)
            The class of each series.

        Returns
        -------
        MetricWeights
            Itself.
        """
        self._fit_collection(X)
        return self._learn(vars(self).pop("_series"), y, self.n_jobs)

    def _made_metric(self):
        return copy(get_metric("dtw" if self.metric is None else self.metric, self.metric_params))

    def _learned_within(self, estimator, series, y):
        """Return a clone fitted within another estimator, which has validated the series and supplies its metric."""
        made = clone(self)
        made._validate()
        owner = type(estimator).__name__
        for name in ("metric", "metric_params"):
            if getattr(made, name) is not None:
                rule = f"be None within {owner}, whose own metric is weighed"
                got = f"{getattr(made, name)!r}; give it to {owner} alone"
                raise refused(f"The {name!r} parameter of MetricWeights", rule, got)
        made.metric_, made.n_channels_ = estimator.metric_, estimator.n_channels_
        return made._learn(series, y, estimator.n_jobs if made.n_jobs is None else made.n_jobs)

    def _learn(self, series, y, n_jobs):
        """Learn from a validated collection."""
        labels = read_examples(y, series, "MetricWeights")[1]
        if np.bincount(labels).max() < 2:
            raise refused("'y'", "hold a class of two series or more, to be brought near", "one series per class")
        kind, lengths = self.kind, {x.shape[1] for x in series}
        if kind == "auto":
            kind = "points" if self.n_channels_ == 1 and len(lengths) == 1 else "channels"
        if kind != "channels" and len(lengths) > 1:
            rule = "be 'channels' for series of several lengths, whose points have no common weights"
            raise refused("kind", rule, f"{kind!r} and lengths {min(lengths)} to {max(lengths)}")
        if self.metric_._weighted_power is None:
            rule = "be a sum of terms that weights multiply, such as 'dtw', 'ddtw', 'wdtw' or 'euclidean'"
            got = f"{self.metric_!r}; learn the weights with one of these, and give 'weight_' to the other"
            raise refused("metric", rule, got)
        if self.metric_.family == "lockstep" and len(lengths) > 1:
            got = f"{self.metric_!r}; use 'dtw', or resample the series"
            raise refused("metric", "be an elastic one for series of several lengths", got)
        basis = basis_of(kind, self.n_channels_, 1 if kind == "channels" else max(lengths), self.n_knots)
        task = Task(self.metric_, series, labels, basis, self.n_neighbors, self.max_iter, n_jobs)
        rng = check_random_state(self.random_state)
        vars(self).pop("scores_", None)
        self.alpha_ = self.alpha
        with progress(None, self.verbose, "weights", "iteration") as count:
            if self.alpha == "auto":
                self.alpha_, self.scores_ = choose_alpha(task, rng, count)
            first = None if self.alpha_ == np.inf else first_comparisons(task)
            w, values = learned(first, basis, self.alpha_, self.max_iter, count)
        self.weight_ = w[0] if kind == "points" else w.T
        self.objective_, self.n_iter_ = np.array(values), max(len(values) - 1, 0)
        return self
