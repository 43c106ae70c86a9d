"""Collections of series through the door, and what estimators that hold a metric share."""

import numpy as np

from ..utils.validation import as_floats, as_series, refuse_missing, shown
from ._metrics.base import Metric
from ._metrics.custom import own_metric
from ._metrics.lockstep import LockstepMetric, common_weight, equal_lengths
from ._metrics.registry import get_metric
from ._resample import resample
from ._series import fill, is_enough


# -------------------------------------------------------------------------------------------------------- collections
def as_collection(values, name, channels=None, *, missing=None):
    """A collection as a list of series `(channels, length)`.

    An array is (n_series, length) or (n_series, length, channels); a list holds series of any lengths; a table has one
    row a series: its points in columns, or one cell a channel. `missing` as in `as_series`.
    """
    if hasattr(values, "tocsr") or np.ma.isMaskedArray(values):
        values = as_floats(values, name)  # says why not, or takes a mask off that hides nothing
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif hasattr(values, "__array__"):
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        if values.dtype != object or (values.ndim > 1 and values.size and np.ndim(values.flat[0]) == 0):
            return _rows(as_floats(values, name), name, channels, missing)
        values = _cells(values, name)
    if not isinstance(values, list | tuple) or not len(values):
        raise TypeError(f"{name!r} must be an array or a list of series, at least one. Got {shown(values)}.")
    if np.ndim(values[0]) == 0 and not hasattr(values[0], "__array__"):
        raise ValueError(
            f"{name!r} must be a collection of series. Got one series; pass [{name}]. Reshape your data: an array of "
            "one series has shape (1, length)."
        )
    first = as_series(values[0], f"{name}[0]", channels=channels, like="the other collection", missing=missing)
    rest = (
        as_series(v, f"{name}[{k}]", channels=len(first), like=f"{name}[0]", missing=missing)
        for k, v in enumerate(values)
        if k
    )
    return [first, *rest]


def _rows(a, name, channels, missing):
    """The series of an array."""
    if a.ndim not in (2, 3):
        raise ValueError(
            f"{name!r} must be a collection of series: an array (n_series, length) or (n_series, length, channels), or "
            f"a list of series. Got shape {a.shape}. Reshape your data: an array of one series has shape (1, length)."
        )
    if not a.size:  # in scikit-learn's words, which its own checks look for
        got = f"0 {'feature' if len(a) else 'sample'}(s) (shape={a.shape})"
        raise ValueError(f"{name!r} must hold at least one point. Got {got} while a minimum of 1 is required.")
    found = 1 if a.ndim == 2 else a.shape[2]
    if channels is not None and found != channels:
        as_series(a[0], f"{name}[0]", channels=channels, like="the other collection")  # says so
    refuse_missing(a, name, "Axis 0 counts the series.", missing)
    return list(a[:, np.newaxis] if a.ndim == 2 else np.ascontiguousarray(a.transpose(0, 2, 1)))


def _cells(table, name):
    """The series of an array of objects: one cell a series, or, of several columns, one cell a channel."""
    if table.ndim == 1 or table.shape[1] == 1:
        return list(table.ravel())
    series = []
    for r, row in enumerate(table):
        lengths = [np.size(cell) for cell in row]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"{name!r} must have channels of one length in each row. Got lengths {lengths} in row {r}: each "
                "column is a channel, each row a series."
            )
        series.append(np.column_stack([as_floats(cell, f"{name}[{r}]") for cell in row]))
    return series


def observed_distance(metric, x, w, y):
    """Distance of two series that may hold NaN, by the points observed in both.

    Lockstep sums are rescaled by the observed weight; with less than half of it the distance is infinite.
    """
    gaps = np.isnan(x), np.isnan(y)
    if not (gaps[0].any() or gaps[1].any()):
        return metric._distance(x, w, y, None, None)
    if not isinstance(metric, LockstepMetric):
        raise ValueError(
            f"nan_policy='omit' needs a lockstep metric. Got missing values and {metric.full_name}, which aligns "
            "series in its own way. Fill them, for example with numpy.interp, or cut the series there."
        )
    length = min(x.shape[1], y.shape[1])
    missing = [resample(gap.astype(float), length) > 0 for gap in gaps]
    x, y = fill(x), fill(y)
    full = common_weight(x, w, y)
    seen = np.where(missing[0] | missing[1], 0.0, full)
    if not is_enough(seen, full):
        return np.inf
    if not metric.centred:
        x, _, y = equal_lengths(x, None, y)
    return metric._observed(x, full, seen, y, None, None)


# --------------------------------------------------------------------------------------------------------- estimators
class MetricParameter:
    """Mixin of estimators with the parameters `metric` and `metric_params`."""

    def set_params(self, **params):
        """Set parameters; ``metric__alpha=...`` works where the metric is a name, which then becomes its object.

        Parameters
        ----------
        **params
            Parameters of the estimator and, behind ``metric__``, of its metric.

        Returns
        -------
        object
            The estimator itself.
        """
        if any(key.startswith("metric__") for key in params):
            metric = params.pop("metric", self.metric)
            metric_params = params.pop("metric_params", self.metric_params)
            if metric_params is not None or not isinstance(metric, Metric):
                metric = get_metric(metric, metric_params)
            self.metric, self.metric_params = metric, None
        return super().set_params(**params)

    def __getstate__(self):
        """Take along the user's own metric where it is given by name, which another process may not know."""
        own = own_metric(self.metric)
        return super().__getstate__() if own is None else {**super().__getstate__(), "_own_metric": own}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != "_own_metric"})
