"""Shape-based distance: a metric class that knows shifts and no warping."""

from functools import lru_cache

import numpy as np

from . import cross_correlation
from .registry import register
from .soft import PathlessMetric

__all__ = ["SBD"]


@register
class SBD(PathlessMetric):
    """Shape-based distance (Paparrizos & Gravano 2015): 1 - the largest normalized cross-correlation over all shifts.

    In [0, 2]. It knows shifts and no warping. The paper compares z-normalized series: normalize them beforehand, or
    search with ``normalize="zscore"``. Both all zero: 0; one of them: 1.

    References
    ----------
    Paparrizos J, Gravano L. k-Shape: efficient and accurate clustering of time series. SIGMOD 2015.

    Examples
    --------
    >>> from sktslib.distances import SBD
    >>> round(SBD()([0, 1, 2, 0, 0], [0, 0, 0, 2, 4]), 12)
    0.0
    """

    name, full_name = "sbd", "Shape-Based Distance"
    description = "One minus the largest normalized cross-correlation over all shifts."
    _pairs_by_length = True  # in tables of distances
    _why = "it compares the series at their best shift, point by point."

    def _distance(self, x, w, y, tx, ty):
        return self._alignment(float(self._windows(x, w, y[np.newaxis], tx, ty)[0]), x, w, y)

    def _windows(self, x, w, y, tx, ty):
        size = cross_correlation.transform_length(x.shape[1], y.shape[2])
        query, series = cross_correlation.query(x, w, size), cross_correlation.series(y, w, size)
        return cross_correlation.distances(query, series, size)

    def _pairwise(self, X, Y, w, mirrored, out):
        """Fill a table of distances by blocks of series of one length; none depends on what else is compared."""
        lengths = np.array([y.shape[1] for y in Y])
        sizes = {
            cross_correlation.transform_length(m, n) for m in {x.shape[1] for x in X} for n in set(lengths.tolist())
        }
        # Once for each length of transforms; those for series of about one length follow each other.
        query = lru_cache(4 * len(X))(lambda a, size: cross_correlation.query(X[a], w, size))
        order = np.argsort(lengths, kind="stable")
        block, begin = max(1, 2**18 // max(sizes)), 0
        while begin < len(order):
            end = min(begin + block, int(np.searchsorted(lengths[order], lengths[order[begin]], "right")))
            members = order[begin:end]
            y, series = np.array([Y[b] for b in members]), {}
            for a in order[:end] if mirrored else range(len(X)):
                size = cross_correlation.transform_length(X[a].shape[1], y.shape[2])
                if size not in series:
                    series[size] = cross_correlation.series(y, w, size)
                out[a, members] = cross_correlation.distances(query(a, size), series[size], size)
                if mirrored:
                    out[members, a] = out[a, members]
            begin = end
