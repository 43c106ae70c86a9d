"""Time metric classes: how far a series runs ahead, behind or in phase."""

from .base import Metric
from .registry import register
from .warping import DTW

__all__ = ["TAM"]


def instants(path):
    """How many steps of a path move the query alone, the series alone, and both."""
    dx, dy = path[:, 1:] - path[:, :-1]
    return int((dy == 0).sum()), int((dx == 0).sum()), int(((dx > 0) & (dy > 0)).sum())


def ratios(path, m, n):
    """Advance, delay and phase as shares of the steps possible for a query of m and a series of n points."""
    advance, delay, phase = instants(path)
    m, n = m - 1, n - 1
    return (advance / m if m else 0.0), (delay / n if n else 0.0), (phase / min(m, n) if min(m, n) else 1.0)


@register
class TAM(Metric):
    """Time alignment measurement (Folgado et al. 2018), in [0, 3].

    It looks at time alone: on the path of dynamic time warping, the share of steps in which only one series moves,
    plus the share that is not in phase.

    Examples
    --------
    >>> from sktslib.distances import TAM
    >>> TAM()([0, 1, 2], [0, 1, 2])
    0.0
    """

    name, full_name, family = "tam", "Time Alignment Measurement", "time"
    description = "Advance, delay and phase of the optimal alignment."
    _is_symmetric = False  # ties of the path are broken in favor of the query

    def _exponent(self, channels):
        return 2.0

    def _distance(self, x, w, y, tx, ty):
        advance, delay, phase = self._ratios(x, w, y)
        return advance + delay + (1.0 - phase)

    def _path(self, x, w, y):
        return DTW()._distance(x, w, y, None, None).path

    def _instants(self, x, w, y):
        return instants(self._path(x, w, y))

    def _ratios(self, x, w, y):
        return ratios(self._path(x, w, y), x.shape[1], y.shape[1])
