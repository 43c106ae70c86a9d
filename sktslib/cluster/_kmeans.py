"""K-means of series: centers are barycenters."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from ..distances._collection import as_collection
from ..distances._metrics.soft import SoftDTW
from ..distances._pairwise import collection_weight
from ..utils._names import did_you_mean
from ..utils._sklearn import Interval
from ..utils.validation import shown
from ._collection_clusters import STARTS, CollectionClusters, drawn
from ._moves import Problem

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from ..utils._types import MetricLike, Sequences


class TimeSeriesKMeans(CollectionClusters):
    """K-means of series: each belongs to the nearest of some centers, which are the barycenters of their series.

    By turns series are assigned to the cheapest center, and each center moves to the barycenter of its series: along
    the warping paths for elastic distances (Petitjean et al. 2011), by the gradient for `soft_dtw` (Cuturi & Blondel
    2017), to the mean point by point for all others. For elastic distances it then goes on from other averages of the
    same series, and with single centers moved to other clusters. What lowers nothing is not taken, so the inertia never
    rises.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of the series.
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(window=0.1)``, or a function of two series.
    init : {"k-means++", "random"} or array-like or list of series, default="k-means++"
        Centers to begin with, which keep their lengths: a center that moves onto a series is that series,
        interpolated. "k-means++": series drawn in proportion to what they cost
        with those before (Arthur & Vassilvitskii 2007); "random": any series; or the centers themselves.
    n_init : int, default=1
        Number of starts, of which the one of least inertia is kept; given centers are one start.
    max_iter : int, default=300
        Iterations of a start at most.
    tol : float, default=1e-6
        A start ends when its inertia falls by no more than this share of it, and steps towards barycenters likewise.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the centers' points; the series must have one length then.
    random_state : int, RandomState or None
        Draws the series to begin with.
    n_jobs : int, optional
        Number of threads; no result depends on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not, but an error or a warning says so where
        series have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a bar on stderr counts the iterations and tells the inertia after each.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, length) or (n_clusters, length, channels), or list of ndarray
        The centers, of the layout of the collection; a list where their lengths differ.
    labels_ : ndarray of int of shape (n_series,)
        The cluster of each series.
    inertia_ : float
        Sum over the series of the distance from the own center, squared for the Euclidean distance, Mahalanobis'
        and that of short time series, and to the power p for Minkowski's. DTW is a sum of squares already.
    n_iter_ : int
        Iterations of the start that was kept, those included that gained nothing.
    metric_ : Metric
        The metric object; of `soft_dtw` with ``divergence=False``, the objective of its barycenters.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only where the collection came as a matrix, one row a series.

    See Also
    --------
    TimeSeriesKMedoids : Centers are series of the collection.
    sktslib.distances.barycenter : One center, by other methods, too.

    Notes
    -----
    A cluster that loses all its series gets the series farthest from its own center as the new center, as in
    scikit-learn. Where the collection holds fewer different series than `n_clusters`, clusters stay empty. So they may
    with `soft_dtw`, however many series there are: a series may cost less with a smoother center than with itself, for
    more of its alignments are cheap there, and then a cluster of its own would raise the inertia.

    Elastic distances are computed only as far as they tell which centers are nearest, where series have some 30 points
    or more; no result depends on it.

    References
    ----------
    Petitjean F, Ketterlin A, Gancarski P. A global averaging method for dynamic time warping, with applications to
    clustering. Pattern Recognition 44(3), 2011.

    Arthur D, Vassilvitskii S. k-means++: the advantages of careful seeding. SODA 2007.

    Franti P. Efficiency of random swap clustering. Journal of Big Data 5(13), 2018.

    Cuturi M, Blondel M. Soft-DTW: a differentiable loss function for time-series. ICML 2017.

    Examples
    --------
    >>> from sktslib.cluster import TimeSeriesKMeans
    >>> X = [[0, 0, 2, 0], [5, 5, 5], [0, 1, 0, 0, 0], [5, 6, 5]]
    >>> model = TimeSeriesKMeans(2, random_state=0).fit(X)
    >>> model.labels_, model.inertia_
    (array([0, 1, 0, 1]), 1.0)
    >>> model.predict([[0, 0, 0, 0, 3, 0]])
    array([0])
    """

    _reads_times = False  # a mean of series has none
    _parameter_constraints = {
        **{name: v for name, v in CollectionClusters._parameter_constraints.items() if name != "nan_policy"},
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        metric: MetricLike = "dtw",
        *,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        metric_params: dict[str, Any] | None = None,
        weight: ArrayLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        channels_first: bool | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric,
            metric_params=metric_params,
            weight=weight,
            n_jobs=n_jobs,
            channels_first=channels_first,
            verbose=verbose,
        )
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Sequences, y: Any = None) -> Self:
        """Divide a collection.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : ignored

        Returns
        -------
        TimeSeriesKMeans
            Itself.
        """
        _, best = self._fit_clusters(X, "clusters", "iteration")
        self._centers = best.centers
        self.cluster_centers_ = self._shown_centers(best.centers)
        return self

    def _starts(self, series, rng):
        """A function that runs one start, and the number of starts."""
        if isinstance(self.metric_, SoftDTW):
            self.metric_ = SoftDTW(**{**self.metric_.get_params(), "divergence": False})
        problem = Problem.of(self.metric_, series, collection_weight(self.weight, series), self._power, self.n_jobs)
        given = None if isinstance(self.init, str) else self._given_centers(series)
        if given is None and self.init not in STARTS:
            hint = did_you_mean(self.init, STARTS)
            raise ValueError(
                f"The 'init' parameter must be 'k-means++', 'random' or the centers. Got {shown(self.init)}.{hint}"
            )

        def run(count):
            centers = given
            if given is None:
                sizes = len(series), self.n_clusters
                chosen = drawn(
                    self.init, lambda of, most: problem.costs_with([series[k] for k in of], most), sizes, rng
                )
                centers = [series[k] for k in chosen]
            return problem.lowered(centers, self.max_iter, self.tol, count)

        return run, self.n_init if given is None else 1

    def _given_centers(self, series):
        given = as_collection(self.init, "init", self.n_channels_, channels_first=bool(self.channels_first))
        if len(given) != self.n_clusters:
            raise ValueError(
                f"The 'init' parameter must hold one center a cluster, {self.n_clusters}. Got {len(given)}; set "
                f"n_clusters={len(given)}, or give others."
            )
        collection_weight(self.weight, given)
        self.metric_._check_sizes(given, series, ("init", "X"))
        return [z.copy() for z in given]

    @property
    def _power(self):
        """Sums are added up without their root."""
        return getattr(self.metric_, "power", None) or 1.0
