"""One warping path for channels with metrics of their own, as subsequence searches need it."""

import numpy as np

from .._kernels import recurrences
from .._series import full_weight
from .derivative import DDTW, WDDTW, ShapeDTW
from .elastic import Query, free_points
from .warping import DTW, WarpingMetric
from .warping_variants import ADTW, WDTW

PLAIN = DTW, DDTW, ShapeDTW, ADTW  # sums of squared differences, and a penalty for each move that stretches
LAGGED = WDTW, WDDTW  # times a factor of the lag


def why_no_shared_path(metrics):
    """What keeps metrics from sharing a path, in words; empty where nothing does."""
    for metric in metrics:
        if type(metric) not in PLAIN + LAGGED:
            return (
                "DTW, DDTW, ShapeDTW and ADTW, or WDTW and WDDTW, whose costs along a path add up. Got "
                f"{metric.full_name}"
            )
        if isinstance(metric, DTW):
            defaults = DTW(metric.alpha, window=metric.window, factor=metric.factor)
            if metric != defaults:
                return f"DTW with no parameters but 'alpha' and the band. Got {metric!r}"
    first = metrics[0]
    for metric in metrics:
        if isinstance(metric, LAGGED) != isinstance(first, LAGGED) or (
            isinstance(metric, LAGGED) and metric.g != first.g
        ):
            return f"either none with a factor of the lag, or all with one 'g'. Got {first!r} and {metric!r}"
        if (metric.window, metric.factor) != (first.window, first.factor):
            return f"all with one band. Got {first!r} and {metric!r}"
    return ""


class SharedPath(WarpingMetric):
    """What the parts of a `Mixed` pay along one path that all of them share: the least over all paths.

    Parameters
    ----------
    metric : Mixed
        The metrics of the channels. A penalty for each move that stretches is paid in each part.
    """

    _costs_by_values = True
    name = full_name = "Mixed Distance along one path"
    _parameter_constraints = {"metric": "no_validation"}

    def __init__(self, metric):
        self.metric = metric

    def _validate(self):
        self.metric._validate()

    @property
    def window(self):
        return self.metric._made[0].window

    @property
    def factor(self):
        return self.metric._made[0].factor

    @property
    def _needs_equal_lengths(self):
        return any(metric._needs_equal_lengths for metric in self.metric._made)

    @property
    def _depends_on_start(self):
        return any(metric._depends_on_start for metric in self.metric._made)

    @property
    def _looks_back(self):
        return any(metric._looks_back for metric in self.metric._made)

    @property
    def _can_be_cut(self):
        return all(metric._can_be_cut for metric in self.metric._made)

    @property
    def _reach(self):
        return max(metric._reach for metric in self.metric._made)

    @property
    def is_symmetric(self) -> bool:
        return self.metric.is_symmetric

    def _fitted_to(self, series, weights=None):
        return SharedPath(self.metric._fitted_to(series, weights))

    def _features(self, a):
        return np.concatenate([part.metric._features(part.of(a)) for part in self.metric._parts(len(a))])

    def _query(self, x, w, n, tx=None, *, search=False):
        m, found, weights, omega = x.shape[1], [], [], 0.0
        counted = [part.channels[0] for part, _ in self.metric._counted(len(x), w)]
        for part in self.metric._parts(len(x)):
            query = part.metric._query(part.of(x), part.of(w), n, search=search)
            found.append(query.x)
            weights.append(part.weight * full_weight(query.w, query.x))
            if part.channels[0] in counted:
                omega += part.weight * getattr(query.record, "omega", 0.0)
        record = query.record if isinstance(part.metric, LAGGED) else recurrences.DTWRecord()
        if omega > 0:
            record = recurrences.ADTWRecord(omega)
        return Query(record, np.concatenate(found), np.concatenate(weights), free_points(m))

    def _channel_weights(self, w):
        return self.metric._channel_weights(w)

    def _partners(self, alignment):
        return self.metric._made[0]._partners(alignment)
