"""Different distances for different channels, as one metric object.

Keys of `metrics`, weights and parameters refer to the channels that a part compares.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...utils._names import did_you_mean
from ...utils.validation import refused, shown
from .base import Metric
from .lockstep import LockstepMetric
from .registry import get_metric

__all__ = ["Mixed"]

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from ...utils._times import MetricLike

OWN = ("metrics", "weight")  # parameters whose names channels must not have


class Part(NamedTuple):
    """Channels that one metric compares, with the weight of its distance."""

    key: object  # the key in the parameter `metrics`
    channels: np.ndarray
    metric: Metric
    weight: float

    def of(self, a):
        """Return the part's channels of arrays (..., channels, length); None stays None."""
        if a is None:
            return None
        first, last = self.channels[0], self.channels[-1] + 1
        rising = len(self.channels) == 1 or (np.diff(self.channels) == 1).all()  # then a view suffices
        return np.ascontiguousarray(a[..., first:last, :] if rising else a[..., self.channels, :])

    def weights_of(self, w):
        """Return the weights of the part's channels (channels, m); None if all are 1."""
        w = self.of(w)
        return None if w is None or (w == 1.0).all() else w


def channels_of(key):
    """Return the channels in a key, as a tuple."""
    return key if isinstance(key, tuple) else (key,)


def label_of(key):
    """Return the form of a key in parameter names."""
    return "_".join(map(str, channels_of(key)))


@dataclass(eq=False, repr=False)
class Mixed(Metric):
    """Weighted sum of different distances for different channels.

    Parameters
    ----------
    metrics : dict
        The metric of each channel: an object, a registered name or a function. Keys are names of channels, if the data
        have names, or their numbers from 0, or tuples of these, whose channels are compared jointly. Every channel must
        be named once; None leaves one out.
    weight : dict or array-like, optional
        Weight of each distance, at least 0: a dict with the same keys, or one number per key, in their order. None: 1
        each.

    Notes
    -----
    The distance is ``sum(weight[key] * metrics[key](x[key], y[key]))``: each part has its own alignment. Parts get the
    weights of points and channels as given; a part whose points all have weight 0 adds nothing.

    A search by windows computes this sum for each window, normalized by channel. With a `ChannelPlan` each channel is
    compared by its own metric, at its own lag. Searches of subsequences and segmentations have one path for all
    channels, so they need one metric for all: weight its channels.

    Names are the columns of a table: of a time series, or of a collection with a whole series in each cell.
    ``acc__eps`` sets a parameter of the part ``acc``, ``0__eps`` of channel 0, ``acc_gyro__eps`` of the channels
    ``("acc", "gyro")``; in an estimator it is ``metric__acc__eps``.

    Examples
    --------
    >>> from sktslib.distances import DTW, LCSS, Mixed
    >>> metric = Mixed({0: DTW(), 1: LCSS(eps=0.2)}, weight={0: 1.0, 1: 2.0})
    >>> metric([[0, 5], [1, 5], [2, 6], [3, 6]], [[0, 5], [0, 5], [2, 7], [3, 6]])
    1.5
    >>> metric.set_params(**{"1__eps": 0.5})
    Mixed(metrics={0: DTW(), 1: LCSS(eps=0.5)}, weight={0: 1.0, 1: 2.0})
    """

    metrics: dict[Any, MetricLike | None]
    weight: ArrayLike | dict[Any, float] | None = None

    name, full_name = "mixed", "Mixed Distance"
    _leaves_parameters = True
    family = "lockstep"
    description = "The weighted sum of the distances of the channels, each by a metric of its own."

    # ----------------------------------------------------------------------------------------------- parts by channel
    def __copy__(self):
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        if isinstance(self.metrics, dict):
            parts = {key: copy(part) if isinstance(part, Metric) else part for key, part in self.metrics.items()}
            made.metrics = parts
        return made

    @property
    def _keys(self):
        """The keys of `metrics` by their form in parameter names."""
        return {label_of(key): key for key in self.metrics} if isinstance(self.metrics, dict) else {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether the parts are among them, by the names of their channels, and their parameters.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=False)
        for label, key in self._keys.items() if deep else ():
            params[label] = part = self.metrics[key]
            if hasattr(part, "get_params") and not isinstance(part, type):
                params.update((f"{label}__{name}", value) for name, value in part.get_params(deep=True).items())
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the parts.

        Parameters
        ----------
        **params
            ``metrics``, ``weight``, a part by the name of its channels, or, behind that and ``__``, a parameter of it.

        Returns
        -------
        Mixed
            Itself.
        """
        super().set_params(**{name: params.pop(name) for name in OWN if name in params})
        if not params:
            return self
        keys, metrics, nested = self._keys, dict(self.metrics), {}
        for name, value in params.items():
            label = max((k for k in keys if name == k or name.startswith(f"{k}__")), key=len, default=None)
            if label is None:
                valid = [*OWN, *keys]
                hint = did_you_mean(name.partition("__")[0], valid)
                raise ValueError(
                    f"Invalid parameter {name!r} for metric {self}.{hint} Valid parameters are: {valid!r}, and those "
                    "of the parts behind their name and '__'."
                )
            if name == label:
                metrics[keys[label]] = value
            else:
                nested.setdefault(label, {})[name[len(label) + 2 :]] = value
        for label, values in nested.items():  # after the metrics that they belong to
            part = metrics[keys[label]]
            if part is None:
                raise ValueError(f"{label!r} must have a metric whose parameters can be set. Got None, and {values}.")
            metrics[keys[label]] = get_metric(part).set_params(**values)
        self.metrics = metrics
        return self

    def _validate(self):
        if not isinstance(self.metrics, dict) or not any(part is not None for part in self.metrics.values()):
            rule, got = "be a dictionary of metrics by their channels, at least one", shown(self.metrics)
            raise refused("The 'metrics' parameter of Mixed", rule, got, error=TypeError)
        for key in self.metrics:
            numbers = [channel for channel in channels_of(key) if not isinstance(channel, str)]
            wrong = any(not isinstance(k, Integral) or isinstance(k, bool) or k < 0 for k in numbers)
            if wrong or key == ():
                rule, got = "be names of channels, their numbers from 0, or tuples of these", repr(key)
                raise refused("The keys of 'metrics' of Mixed", rule, got)
        self._check_labels()
        for key, part in self.metrics.items():
            if isinstance(None if part is None else get_metric(part), Mixed):
                raise ValueError(f"The metrics of Mixed must not be mixed themselves. Got {part!r} for {key!r}.")
        self._weights()

    def _check_labels(self):
        """Refuse channels that are named twice, and ambiguous parameter names."""
        named = Counter(channel for key in self.metrics for channel in channels_of(key))
        twice = [channel for channel, count in named.items() if count > 1]
        if twice:
            rule, got = "name every channel once", f"{shown(twice)} twice, in the keys {shown(list(self.metrics))}"
            raise refused("The 'metrics' parameter of Mixed", rule, got)
        labels = Counter(map(label_of, self.metrics))
        same = [label for label, count in labels.items() if count > 1 or label in OWN]
        if same:
            rule, out = "have names of their own as parameters", "Give the channels by their numbers."
            got = f"{same[0]!r}, which means {'another parameter' if same[0] in OWN else 'two of them'}, too"
            raise refused("The keys of 'metrics' of Mixed", rule, got, out)

    def _weights(self):
        """Return the weights by key."""
        rule = "The 'weight' parameter of Mixed must hold a finite number of at least 0 for each key of 'metrics'"
        weight, keys = self.weight, list(self.metrics)
        if weight is None:
            return dict.fromkeys(keys, 1.0)
        if not isinstance(weight, dict):
            if np.ndim(weight) != 1 or len(weight) != len(keys):
                raise ValueError(f"{rule}, {len(keys)}. Got {shown(weight)}.")
            weight = dict(zip(keys, weight, strict=True))
        missing, unknown = ([k for k in a if k not in b] for a, b in ((keys, weight), (weight, keys)))
        if missing or unknown:
            hint = did_you_mean(unknown[0], missing) if unknown else ""
            what, which = ("one for the unknown", unknown) if unknown else ("none for", missing)
            raise ValueError(f"{rule}, {shown(keys)}. Got {what} {which[0]!r}.{hint}")
        for key, value in weight.items():
            if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not 0 <= value < np.inf:
                raise ValueError(f"{rule}. Got {shown(value)} for {key!r}.")
        if not any(weight[key] > 0 for key in keys if self.metrics[key] is not None):
            raise ValueError(f"{rule}, one above 0. Got {shown(self.weight)}: nothing would be compared.")
        return {key: float(weight[key]) for key in keys}

    def _named(self, *names):
        known = [tuple(some) for some in names if some is not None]
        if not known:
            return self
        if known[0] != known[-1]:
            rule, got = "be the same channels under Mixed", f"{shown(list(known[0]))} and {shown(list(known[-1]))}"
            raise refused("The columns of both tables", rule, got)
        made = copy(self)
        made.channel_names_ = known[0]
        return made

    def _number(self, channel):
        """Return the index of a channel."""
        if not isinstance(channel, str):
            return int(channel)
        names = getattr(self, "channel_names_", None)
        if names is None:
            raise ValueError(
                f"The 'metrics' parameter of Mixed names the channel {channel!r}, but the data have no names. Pass "
                "tables whose columns have these names, or number the channels from 0."
            )
        if channel not in names:
            raise ValueError(
                f"The 'metrics' parameter of Mixed must name channels of the data, {shown(list(names))}. Got "
                f"{channel!r}.{did_you_mean(channel, names)}"
            )
        return names.index(channel)

    def _parts(self, channels):
        """Return the parts with a weight above 0, after checking that `metrics` names each channel once."""
        numbers = {key: [self._number(channel) for channel in channels_of(key)] for key in self.metrics}
        count = Counter(number for some in numbers.values() for number in some)
        names = getattr(self, "channel_names_", range(channels))
        rule = f"The 'metrics' parameter of Mixed must name each of the {channels} channels of the data once. Got "
        for number in sorted(count):
            if number >= channels:
                raise ValueError(f"{rule}the channel {number}; the last one is {channels - 1}.")
            if count[number] > 1:
                raise ValueError(f"{rule}{names[number]!r} twice, by its name and its number {number}.")
        missing = [names[number] for number in range(channels) if number not in count]
        if missing:
            raise ValueError(f"{rule}nothing for {shown(missing)}. Map channels to leave out to None.")
        weight = self._weights()
        return [
            Part(key, np.array(numbers[key]), get_metric(part), weight[key])
            for key, part in self.metrics.items()
            if part is not None and weight[key] > 0
        ]

    def _counted(self, channels, w):
        """Return the parts in which some point has a positive weight (channels, m), each with its weights."""
        parts = [(part, part.weights_of(w)) for part in self._parts(channels)]
        parts = [(part, weights) for part, weights in parts if weights is None or weights.any()]
        if not parts:
            got = "0 at all of them: give weights above 0, or a metric for the channels that have some"
            raise refused("'weight'", "be above 0 at a point of a channel that Mixed compares", got)
        return parts

    def _by_channel(self, channels):
        out = [(None, 0.0)] * channels
        for part in self._parts(channels):
            if len(part.channels) > 1:
                rule = "name one channel each where channels are compared by themselves, as by ChannelPlan"
                got = f"{part.key!r}, whose metric compares them jointly"
                out = "Give each of them a metric of its own."
                raise refused("The keys of 'metrics' of Mixed", rule, got, out)
            out[part.channels[0]] = part.metric, part.weight
        return out

    def _fitted_by_channel(self, channels, series, weights):
        made = copy(self)
        for key in self.metrics:
            own = [k for k, channel in enumerate(channels) if channel in map(self._number, channels_of(key))]
            if own:
                part = get_metric(self.metrics[key])
                made.metrics[key] = part._fitted_to([series[k] for k in own], [weights[k] for k in own])
        return made

    @property
    def _made(self):
        """The metric objects of the parts with a weight above 0."""
        weight = self._weights()
        return [get_metric(part) for key, part in self.metrics.items() if part is not None and weight[key] > 0]

    # ---------------------------------------------------------------------------------------------------------- facts
    @property
    def is_symmetric(self) -> bool:
        return all(metric.is_symmetric for metric in self._made)

    @property
    def is_metric(self) -> bool:
        # Parts without weight may differ although the distance is 0.
        return len(self._made) == len(self.metrics) and all(metric.is_metric for metric in self._made)

    @property
    def uses_times(self) -> bool:
        """Whether a part compares times."""
        return any(metric.uses_times for metric in self._made)

    _may_be_negative = property(lambda self: any(metric._may_be_negative for metric in self._made))
    _takes_weights = property(lambda self: all(metric._takes_weights for metric in self._made))
    _has_domain = property(lambda self: any(metric._has_domain for metric in self._made))
    _has_path = property(lambda self: all(isinstance(metric, LockstepMetric) for metric in self._made))

    def _path(self, pair):
        raise ValueError(
            "The Mixed Distance has no warping path of its own: each part aligns its channels by itself. Use the path "
            "of a part, metric.metrics[key](x, y).path, of a match matches.path(k, channel); or search for "
            "subsequences, in which all share one."
        )

    _background_share = property(lambda self: max(metric._background_share for metric in self._made))
    _center = property(lambda self: "median" if all(part._center == "median" for part in self._made) else "mean")

    def _segment_cost(self, distance, m):
        sums = all(
            getattr(metric, "power", None) == 1 or getattr(metric, "_reports_cost", False) for metric in self._made
        )
        return distance if sums else m * distance

    def _relative_error(self, x, w, n_windows, normalize):
        if self._may_be_negative:  # a term's error may be any multiple of the sum, so profiles are exact
            return 0.0
        parts = self._counted(len(x), w)
        return max(part.metric._relative_error(part.of(x), weights, n_windows, normalize) for part, weights in parts)

    def _check_values(self, a, what):
        for part in self._parts(len(a)):
            if part.metric._has_domain:
                part.metric._check_values(part.of(a), what)

    def _warn_of_scale(self, X, Y):
        for part in self._parts(len(X[0])):
            part.metric._warn_of_scale(*of_both(part, X, Y))

    def _warn_of_pair(self, distance, x, y):
        self._warn_of_scale([x], [y])

    def _check_search(self, mode):
        for metric in self._made:
            if metric.family == "time":
                raise ValueError(
                    f"{metric.full_name} has no search: it compares the timing of two aligned series. Got it as a "
                    "metric of Mixed; use another one, or None."
                )
            metric._check_search(mode)

    def _fitted_to(self, series, weights=None):
        made = copy(self)
        for part in self._parts(len(series[0])):
            some = None if weights is None else [part.of(w) for w in weights]
            made.metrics[part.key] = part.metric._fitted_to([part.of(x) for x in series], some)
        return made

    # ------------------------------------------------------------------------------------------------------ distances
    def _summed(self, x, w, distances):
        """Return the weighted sum over parts of `distances(part, query, weights)`, for the channels of each part."""
        total = 0.0
        for part, weights in self._counted(len(x), w):
            total = total + part.weight * distances(part, part.of(x), weights)
        return total

    def _sum_of(self, method, x, w, y, tx, ty, *rest):
        """Return the weighted sum over parts of the results of a method of their metrics."""

        def of_part(part, a, v):
            times = (tx, ty) if part.metric.uses_times else (None, None)
            return getattr(part.metric, method)(a, v, part.of(y), *times, *rest)

        return self._summed(x, w, of_part)

    def _distance(self, x, w, y, tx, ty):
        return float(self._sum_of("_distance", x, w, y, tx, ty))

    def _windows(self, x, w, y, tx, ty):
        return self._sum_of("_windows", x, w, y, tx, ty)

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        return self._sum_of("_profile", x, w, y, tx, ty, normalize, exactly or self._may_be_negative)

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        return self._sum_of("_scaled_profile", x, w, y, tx, ty, normalize, length)


def of_both(part, X, Y):
    """Return the part's channels of two collections, which may be the same object."""
    of_x = [part.of(x) for x in X]
    return of_x, of_x if Y is X else [part.of(y) for y in Y]
