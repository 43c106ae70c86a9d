"""Shape-based distance: a metric class that knows shifts and no warping."""

import numpy as np
from joblib import delayed

from . import _sbd
from ._metrics_soft import PathlessMetric
from ._registry import register


@register
class SBD(PathlessMetric):
    """Shape-based distance (Paparrizos & Gravano 2015): 1 - the largest normalised cross-correlation over all shifts.

    In [0, 2]. It knows shifts and no warping. The paper compares z-normalised series: normalise them beforehand, or
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
    description = "One minus the largest normalised cross-correlation over all shifts."
    _why = "it compares the series at their best shift, point by point."

    def _distance(self, x, w, y, tx, ty):
        return self._alignment(float(self._windows(x, w, y[np.newaxis], tx, ty)[0]), x, w, y)

    def _windows(self, x, w, y, tx, ty):
        m, n = x.shape[1], y.shape[2]
        size = _sbd.transform_length(m, n)
        y = _sbd.scaled(y)
        return _sbd.distances(*_sbd.query(x, w, size), m, _sbd.transform(y, size), _sbd.norms(y, w, size), n, size)

    def _pairwise(self, X, Y, w, mirrored, out):
        """Tasks, one a block of series of one length; each series is transformed once."""
        lengths = np.array([y.shape[1] for y in Y])
        size = _sbd.transform_length(max(x.shape[1] for x in X), int(lengths.max()))
        queries = [_sbd.query(x, w, size) for x in X]
        order = np.argsort(lengths, kind="stable")
        block, begin, tasks = max(1, 2**18 // size), 0, []

        def compare(members, others):
            n = int(lengths[members[0]])
            y = _sbd.scaled(np.array([Y[b] for b in members]))
            spectra = np.array([queries[b][0] for b in members]) if mirrored else _sbd.transform(y, size)
            norms = _sbd.norms(y, w, size)
            for a in others:
                out[a, members] = _sbd.distances(*queries[a], X[a].shape[1], spectra, norms, n, size)
                if mirrored:
                    out[members, a] = out[a, members]

        while begin < len(order):
            end = min(begin + block, int(np.searchsorted(lengths[order], lengths[order[begin]], "right")))
            tasks.append(delayed(compare)(order[begin:end], order[:end] if mirrored else range(len(X))))
            begin = end
        return tasks
