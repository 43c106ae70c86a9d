"""Different distances for different channels, as one metric object."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from .._collection import each_of
from .lockstep import LockstepMetric
from .named_channels import MetricOfChannels
from .shared_path import SharedPath, why_no_shared_path

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ...utils._types import MetricLike

__all__ = ["Mixed"]


class Mixed(MetricOfChannels):
    """Different distances for different channels: the weighted sum of the distances of the channels.

    Parameters
    ----------
    metrics : dict
        For each channel its metric: an object, a registered name or a function. The keys are names of channels, where
        the data have some, or their numbers from 0, or tuples of these, whose channels are compared jointly. Every
        channel must be named once; None leaves one out.
    weight : dict or array-like, optional
        How much each distance counts, at least 0: a dict with the same keys, or one number a key, in their order. None:
        1 each.

    Notes
    -----
    The distance is ``sum(weight[key] * metrics[key](x[key], y[key]))``: each part aligns its channels by itself.
    Weights of points and channels are handed to the parts as they are; a part whose points all have weight 0 adds
    nothing.

    A search by windows computes this sum for each window, normalized by channel. A query compared by channel (see
    `QuerySearcher`) has each channel compared by its own metric, at its own lag. A subsequence search knows one path,
    which all channels share: the least over all paths of the weighted sum of what each part pays along it. It takes
    parts of `DTW`, `DDTW`, `ShapeDTW` and `ADTW`, or of `WDTW` and `WDDTW` of one `g`, with one band. Others are
    searched by windows.

    Names are those of the columns of a table: of a time series, or of a collection with a whole series in each cell.
    Parameters of the parts can be set by ``acc__eps``, by ``0__eps`` of the channel 0, and by ``acc_gyro__eps`` of the
    channels ``("acc", "gyro")``; in an estimator by ``metric__acc__eps``.

    Examples
    --------
    >>> from sktslib.distances import DTW, LCSS, Mixed
    >>> metric = Mixed({0: DTW(), 1: LCSS(eps=0.2)}, weight={0: 1.0, 1: 2.0})
    >>> metric([[0, 5], [1, 5], [2, 6], [3, 6]], [[0, 5], [0, 5], [2, 7], [3, 6]])
    1.5
    >>> metric.set_params(**{"1__eps": 0.5})
    Mixed(metrics={0: DTW(), 1: LCSS(eps=0.5)}, weight={0: 1.0, 1: 2.0})
    """

    name, full_name = "mixed", "Mixed Distance"
    family = "lockstep"
    description = "The weighted sum of the distances of the channels, each by a metric of its own."

    def __init__(
        self, metrics: dict[Any, MetricLike | None], weight: ArrayLike | dict[Any, float] | None = None
    ) -> None:
        self.metrics = metrics
        self.weight = weight

    # ---------------------------------------------------------------------------------------------------------- facts
    @property
    def is_symmetric(self) -> bool:
        return all(metric.is_symmetric for metric in self._made)

    @property
    def is_metric(self) -> bool:
        # What counts nothing may differ at a distance of 0.
        return len(self._made) == len(self.metrics) and all(metric.is_metric for metric in self._made)

    @property
    def uses_times(self) -> bool:
        """Whether a part compares times."""
        return any(metric.uses_times for metric in self._made)

    @property
    def _may_be_negative(self):
        return any(metric._may_be_negative for metric in self._made)

    @property
    def _takes_weights(self):
        return all(metric._takes_weights for metric in self._made)

    @property
    def _has_domain(self):
        return any(metric._has_domain for metric in self._made)

    @property
    def _has_path(self):
        return all(isinstance(metric, LockstepMetric) for metric in self._made)

    def _path(self, pair):
        raise ValueError(
            "The Mixed Distance has no warping path of its own: each part aligns its channels by itself. Take the path "
            "of a part, metric.metrics[key](x, y).path, of a match matches.path(k, channel); or search by "
            "mode='subsequence', in which all share one."
        )

    def _exponent(self, channels):
        return max(part.metric._exponent(len(part.channels)) for part in self._parts(channels))

    def _channel_weights(self, w):
        out = np.zeros_like(w)
        for part in self._parts(len(w)):
            out[part.channels] = part.weight * part.of(w)
        return out

    @property
    def _background_share(self):
        return max(metric._background_share for metric in self._made)

    @property
    def _center(self):
        return "median" if all(metric._center == "median" for metric in self._made) else "mean"

    def _segment_cost(self, distance, m):
        sums = all(
            getattr(metric, "power", None) == 1 or getattr(metric, "_reports_cost", False) for metric in self._made
        )
        return distance if sums else m * distance

    def _slack(self, x, w, n_windows, normalize):
        if self._may_be_negative:  # an error of a summand may be any share of the sum; such profiles are exact
            return 0.0
        parts = self._counted(len(x), w)
        return max(part.metric._slack(part.of(x), weights, n_windows, normalize) for part, weights in parts)

    def _check_values(self, a, what):
        for part in self._parts(len(a)):
            if part.metric._has_domain:
                part.metric._check_values(part.of(a), what)

    def _check_sizes(self, X, Y, names=("X", "Y")):
        for part in self._parts(len(X[0])):
            part.metric._check_sizes(*of_both(part, X, Y), names)

    def _warn_of_scale(self, X, Y):
        for part in self._parts(len(X[0])):
            part.metric._warn_of_scale(*of_both(part, X, Y))

    def _warn_of_pair(self, distance, x, y):
        self._warn_of_scale([x], [y])

    def _check_search(self, mode):
        for metric in self._made:
            if metric.family == "time":
                raise ValueError(
                    f"{metric.full_name} has no search: it measures how two aligned series lie in time. Got it as a "
                    "metric of Mixed; take another one, or None."
                )
            metric._check_search(mode)

    def _in_mode(self, mode):
        why = why_no_shared_path(self._made)
        if mode == "windows" or (mode == "auto" and why):
            return self
        if why:
            raise ValueError(
                f"mode='subsequence' needs metrics of Mixed that can share one path: {why}. Take mode='windows', in "
                "which each has its own."
            )
        return SharedPath(self)

    def _fitted_to(self, series, weights=None):
        made, parts = copy(self), iter(self._parts(len(series[0])))
        counts = self._weights()
        for key, part in self.metrics.items():
            if part is not None and counts[key] > 0:
                part = next(parts)
                some = None if weights is None else [part.of(w) for w in weights]
                made.metrics[key] = part.metric._fitted_to(each_of(series, part.of), some)
        return made

    # ------------------------------------------------------------------------------------------------------ distances
    def _summed(self, x, w, distances):
        """The weighted sum of what a function gives of each part, its query and its weights."""
        total = 0.0
        for part, weights in self._counted(len(x), w):
            total = total + part.weight * distances(part, part.of(x), weights)
        return total

    def _distance(self, x, w, y, tx, ty):
        return float(self._summed(x, w, lambda part, a, v: float(part.metric._distance(a, v, part.of(y), tx, ty))))

    def _windows(self, x, w, y, tx, ty):
        return self._summed(x, w, lambda part, a, v: part.metric._windows(a, v, part.of(y), *part_times(part, tx, ty)))

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        exactly = exactly or self._may_be_negative
        return self._summed(
            x,
            w,
            lambda part, a, v: part.metric._profile(a, v, part.of(y), *part_times(part, tx, ty), normalize, exactly),
        )

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        return self._summed(
            x,
            w,
            lambda part, a, v: part.metric._scaled_profile(
                a, v, part.of(y), *part_times(part, tx, ty), normalize, length
            ),
        )


def of_both(part, X, Y):
    """A part's channels of two collections, which may be the same."""
    of_x = each_of(X, part.of)
    return of_x, of_x if Y is X else each_of(Y, part.of)


def part_times(part, tx, ty):
    """The times that a part compares."""
    return (tx, ty) if part.metric.uses_times else (None, None)
