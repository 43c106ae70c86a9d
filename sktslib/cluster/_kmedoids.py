"""K-medoids of series: centers are series of the collection.

The medoids are found on a matrix of distances by FasterPAM, which swaps a medoid for another series as soon as that
pays.
"""

from __future__ import annotations

import numpy as np

from ..utils.validation import shown
from ._costs import CollectionClusters, assigned, drawn, own
from ._kmeans import Run


def swapped(D, medoids, max_iter):
    """Return medoids that no single swap makes better, and how often all series were tried.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Finite distances from each series, as a medoid, to all.
    medoids : list of int
        To begin with.
    max_iter : int
        Rounds at most.

    Notes
    -----
    What a swap changes is the sum of what the new medoid takes over from all others, the same whichever goes, and of
    what becomes of the series whose medoid goes (Schubert & Rousseeuw 2021, Algorithm 3).
    """
    medoids, n, waited = list(medoids), len(D), 0
    if len(medoids) == 1:
        return [int(D.sum(axis=1).argmin())], 1
    nearest, first, second = _nearest_two(D, medoids)
    for step in range(max_iter * n):
        candidate = step % n
        waited += 1
        if candidate not in medoids:
            d = D[candidate]
            closer, between = d < first, (d >= first) & (d < second)
            change = np.bincount(nearest, second - first, len(medoids))
            change += np.bincount(nearest[closer], (first - second)[closer], len(medoids))
            change += np.bincount(nearest[between], (d - second)[between], len(medoids))
            change += (d - first)[closer].sum()
            worst = int(change.argmin())
            total = first.sum()
            if change[worst] < 0:
                trial = [*medoids[:worst], candidate, *medoids[worst + 1 :]]
                found = _nearest_two(D, trial)
                if found[1].sum() < total:  # not by rounding alone
                    medoids, (nearest, first, second), waited = trial, found, 0
        if waited >= n:
            break
    return medoids, step // n + 1


def _nearest_two(D, medoids):
    """Return the index and distance of each series' nearest medoid, and the distance of its second nearest one."""
    to = D[medoids]
    nearest = to.argmin(axis=0)
    first, second = np.partition(to, 1, axis=0)[:2]
    return nearest, first, second


class TimeSeriesKMedoids(CollectionClusters):
    """K-medoids of series: each belongs to the nearest medoid, and medoids are series of the collection.

    All distances are computed. FasterPAM (Schubert & Rousseeuw 2021) swaps a medoid for another series as soon as that
    lowers the sum of distances, until no swap does.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of the series.
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(window=0.1)``, or a function of two series.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        Initial medoids. "k-means++": series drawn with a probability proportional to their distance from those before;
        "random": any series; or their indices.
    n_init : int, default=1
        Number of starts; the one with the lowest inertia is kept. Given medoids are one start.
    max_iter : int, default=300
        Largest number of passes over all series as new medoids.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the medoids' points; the series must then have one length.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    random_state : int, RandomState or None
        Draws the initial medoids.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr for the distances, and one with the starts and the inertia.

    Attributes
    ----------
    medoid_indices_ : ndarray of int of shape (n_clusters,)
        Indices of the medoids in the fitted collection.
    cluster_centers_ : ndarray of shape (n_clusters, length) or (n_clusters, length, channels), or list of ndarray
        The medoids, in the layout of the collection; a list if their lengths differ.
    labels_ : ndarray of int of shape (n_series,)
        The cluster of each series.
    inertia_ : float
        Sum over the series of the distance from their medoid.
    n_iter_ : int
        Number of passes over all series in the start that was kept.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    See Also
    --------
    TimeSeriesKMeans : Centers are barycenters.

    References
    ----------
    Schubert E, Rousseeuw PJ. Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA, and
    CLARANS algorithms. Information Systems 101, 2021.

    Examples
    --------
    >>> from sktslib.cluster import TimeSeriesKMedoids
    >>> X = [[0, 0, 2, 0], [5, 5, 5], [0, 1, 0, 0, 0], [5, 6, 5]]
    >>> model = TimeSeriesKMedoids(2, random_state=0).fit(X)
    >>> model.inertia_, sorted(model.medoid_indices_.tolist())
    (2.0, [0, 3])
    """

    _progress = "medoids", "start"

    def _starts(self, series, rng):
        """Return a function that runs one start, and the number of starts."""
        n, k = len(series), self.n_clusters
        given = None if isinstance(self.init, str) else self._given_medoids(n)
        D = self._distances(series, series)
        far = D == np.inf
        # Any finite distance is better than an infinite one.
        finite = np.where(far, 1.0 + 2.0 * n * np.abs(D, where=~far, out=np.zeros_like(D)).max(), D)

        def run(count):
            begin = drawn(self.init, lambda rows: D[rows], (n, k), rng) if given is None else given
            medoids, n_iter = swapped(finite, begin, self.max_iter)
            costs = D[medoids].T
            labels = assigned(costs)
            # Of equally near medoids a medoid belongs to itself.
            tied = costs[medoids, range(k)] <= costs[medoids].min(axis=1)
            labels[np.array(medoids)[tied]] = np.flatnonzero(tied)
            inertia = float(own(costs, labels).sum())
            count(1, f"inertia {inertia:.8g}")
            return Run([series[k] for k in medoids], labels, inertia, n_iter, indices=medoids)

        return run, self.n_init if given is None else 1

    def _given_medoids(self, n):
        rule = f"The 'init' parameter must hold {self.n_clusters} different indices of the {n} series, one a cluster. "
        given = np.asarray(self.init)
        if given.shape != (self.n_clusters,) or given.dtype.kind not in "iu":
            raise ValueError(f"{rule}Got {shown(self.init)}; to begin with series of your own take TimeSeriesKMeans.")
        if given.min() < 0 or given.max() >= n or len(set(given.tolist())) < len(given):
            raise ValueError(f"{rule}Got {shown(given.tolist())}.")
        return given.tolist()
