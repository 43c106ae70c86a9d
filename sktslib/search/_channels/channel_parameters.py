"""The parameters of what is compared by channel, and queries whose channels are given by themselves."""

from datetime import timedelta
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from ...utils._sampling import seconds_of
from ...utils.validation import as_floats, check_count, check_names, check_number, shown
from .by_channel import ByChannel, placed

LONGEST = 10**7  # samples of a lag, as of a window
LARGEST = 1e100  # weight of a channel: times any distance, a number
SHORTEST = 2  # points of a channel that are learned from labels


def is_duration(value):
    """Whether it is a length of time, not a number."""
    return isinstance(value, timedelta | np.timedelta64)


def counts_of(how):
    """What the distance of each channel counts by the metric; 0 of those that it does not compare."""
    return [share for _, share in how.metric._by_channel(len(how.x))]


class ChannelRule(NamedTuple):
    """How channels are compared by themselves, as the caller says it."""

    owner: str
    lag: object
    tolerance: object
    weight: object
    votes: object

    @classmethod
    def of(cls, estimator):
        """What an estimator's parameters say; None where channels are compared together."""
        rule = cls(
            type(estimator).__name__,
            estimator.channel_lag,
            estimator.lag_tolerance,
            estimator.channel_weight,
            check_count(estimator.min_channels, "min_channels", none=True, owner=type(estimator).__name__),
        )
        plain = type(rule.tolerance) is not bool and isinstance(rule.tolerance, Integral) and rule.tolerance == 0
        if not (rule.lag is None and plain and rule.weight is None and rule.votes is None):
            return rule
        return None

    def with_channels(self, how, first, length, names):
        """A query (channels, m) compared by channel; channel c has the points `first[c]` to first[c] + length[c]."""
        _, lag, tolerance, weight, _ = self.in_samples(how, names)
        by = ByChannel(lag, first, length, weight * counts_of(how), tolerance, self.votes)
        count = len(by.taking_part)
        if not count:
            raise ValueError(
                f"The 'channel_weight' parameter of {self.owner} must be above 0 for a channel that the query has "
                f"points in and that the metric compares. Got {shown(self.weight)}."
            )
        if self.votes is not None and self.votes > count:
            raise ValueError(
                f"The 'min_channels' parameter of {self.owner} must not exceed the number of channels in which a query "
                f"has points and whose weight is above 0, {count}. Got {self.votes}."
            )
        self._check_tolerance(by)
        for c in by.taking_part.tolist():
            if how.w is not None and not how.w[c, first[c] : first[c] + length[c]].any():
                raise ValueError(
                    f"'weight' must be above 0 at a point of each channel that is compared by itself. Got only zeros "
                    f"for channel {c}. Set its 'channel_weight' to 0 to leave it out."
                )
        return placed(how, by)

    def in_samples(self, how, names):
        """The same with an array of lags, of samples, and one of weights, an entry for each channel of a query."""
        lag, weight = (
            self._of_each(values, name, how.x.shape, names, default)
            for name, values, default in (("channel_lag", self.lag, 0), ("channel_weight", self.weight, 1.0))
        )
        lag = np.array([self._samples(value, "channel_lag", how) for value in lag], np.int64)
        tolerance = self._samples(self.tolerance, "lag_tolerance", how)
        weight = np.array([check_number(v, "channel_weight", low=0.0, high=LARGEST, owner=self.owner) for v in weight])
        return self._replace(lag=lag, tolerance=tolerance, weight=weight)

    def aligned(self, marked, shares):
        """A marked recording without the lags, `in_samples`: channels, of such shares, begin and end together.

        What is marked are whole occurrences, from where the first channel begins to where the last one ends.
        """
        lag = self.lag[self.weight * shares > 0].max(initial=0)
        if lag == 0:
            return marked
        short = marked.ranges[marked.ranges[:, 1] - marked.ranges[:, 0] < lag + SHORTEST]
        if len(short):
            start, end = short[0].tolist()
            raise ValueError(
                f"The 'channel_lag' parameter of {self.owner} must be less than the length of what is labeled, for "
                f"labels mark whole occurrences, from the start of the first channel to the end of the last. Got a lag "
                f"of {lag} samples and an occurrence from {start} to {end}. Label up to the end of the last channel."
            )
        data = [np.roll(row, -min(own, lag)) for row, own in zip(marked.data, self.lag, strict=True)]
        return marked._replace(data=np.array(data), ranges=marked.ranges - [0, lag])

    def _check_tolerance(self, by):
        """Refuse a tolerance by which two matches that do not overlap may be the same windows at other lags."""
        length = int((by.lead + by.length)[by.taking_part].max())
        if 2 * by.tolerance >= length:
            raise ValueError(
                f"The 'lag_tolerance' parameter of {self.owner} must be less than half of a match's length, {length} "
                f"samples here: the same windows would be found as two matches. Got {shown(self.tolerance)}. If the "
                "channels are that free of each other, search for each of them by itself."
            )

    def _of_each(self, values, name, shape, names, default):
        """What is given of each channel of a query of a shape (channels, m)."""
        channels = shape[0]
        if values is None:
            return [default] * channels
        if isinstance(values, dict):
            return of_channels(values, name, channels, names, default)
        if np.ndim(values) == 0:
            return [values] * channels
        values = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" else list(values)
        if len(values) != channels:
            raise ValueError(
                f"The {name!r} parameter of {self.owner} must have one entry for each of the {channels} channels, or "
                f"be a dict by their names or numbers. Got {len(values)} entries.{_looks_like(shape, len(values))}"
            )
        return values

    def _samples(self, value, name, how):
        """A number of samples, or a duration in steps of the query's times."""
        if not is_duration(value):
            return self._checked_samples(value, value, name)
        if not how.datetimes or how.interval is None:
            raise ValueError(
                f"The {name!r} parameter of {self.owner} must be a number of samples where the query's times are not "
                f"datetimes. Got {shown(value)}. Pass datetimes as 'times' of fit, or a table whose index holds them."
            )
        seconds = seconds_of(value)
        samples = float(seconds) / how.interval
        return self._checked_samples(round(samples) if np.isfinite(samples) else samples, value, name)

    def _checked_samples(self, samples, value, name):
        """A number of samples, or an error that says how it is got of what was given."""
        try:
            return check_number(samples, name, low=0, high=LONGEST, integer=True, owner=self.owner)
        except (TypeError, ValueError) as error:
            if isinstance(samples, Real) and samples < 0:
                out = "A match begins with the channel that comes first: subtract the least lag from all."
                out = "Lags may be so much less or more." if name == "lag_tolerance" else out
            elif name == "lag_tolerance" and np.ndim(value):
                out = "It is one number for all channels."
            else:
                out = (
                    "Round what is a number of samples, int(round(v)); a duration is a datetime.timedelta or a "
                    "pandas.Timedelta, such as pandas.Timedelta('0.5s')."
                )
            raise type(error)(f"{error} {out}") from None


def of_channels(values, name, channels, names, default):
    """What a dict by names or numbers says of each of so many channels, whose names are None where they have none."""
    known = list(range(channels)) if names is None else [*names, *range(channels)]
    if names is None and any(isinstance(key, str) for key in values):
        raise ValueError(
            f"Unknown channel {next(k for k in values if isinstance(k, str))!r} of {name!r}: the query has no names. "
            f"Pass a table whose columns have these names, or number the channels. Valid: {', '.join(map(str, known))}."
        )
    check_names(values, known, "channel", repr(name))
    named = list(range(channels)) if names is None else names
    return [values.get(key, values.get(c, default)) for c, key in enumerate(named)]


def _looks_like(shape, channels):
    """What a query of a shape (channels, m) may be meant as that should have so many channels."""
    if shape[1] == channels:
        return " The query has so many points: is it transposed? Time runs along the first axis."
    if shape[0] == 1:
        return (
            " A list holds queries that are searched for one by one: of the channels of one query make an array, "
            "numpy.column_stack(arrays), or [{0: ..., 1: ...}], of any lengths."
        )
    return ""


# ------------------------------------------------------------------------------------- channels of lengths of their own
def points_of(x, whole):
    """The first point of each channel of a query (channels, m) and how many there are; beside them all is NaN.

    With `whole` none of them may be NaN.
    """
    seen = ~np.isnan(x)
    some = seen.any(axis=1)
    first = np.where(some, seen.argmax(axis=1), 0)
    length = np.where(some, x.shape[1] - seen[:, ::-1].argmax(axis=1) - first, 0)
    if whole and (seen.sum(axis=1) < length).any():
        c = int(np.argmax(seen.sum(axis=1) < length))
        at = first[c] + int(np.argmin(seen[c, first[c] :]))
        raise ValueError(
            f"A query that is compared by channel may have NaN where a channel begins later or ends earlier than "
            f"others, and nowhere else. Got NaN at point {at} of channel {c}. Fill the gap, for example with "
            "numpy.interp; or set nan_policy='omit' to leave it out."
        )
    return first, length


def by_channels(X, name, like, compared_by_channel):
    """Queries of which those in a list or dict that are dicts of channels are made tables, padded by NaN.

    `like` is what has the channels in their order, or None.
    """
    queries = list(X.values()) if isinstance(X, dict) else X
    if not isinstance(queries, list | tuple):
        return X
    given = [one for one in queries if isinstance(one, dict)]
    if not given:
        if isinstance(X, dict) and compared_by_channel and len(X) > 1 and all(np.ndim(one) == 1 for one in queries):
            raise ValueError(
                f"{name!r} as a dictionary holds queries by their names, and each must have the channels that are "
                f"compared by themselves. Got one-dimensional entries {shown(list(X))}. If these are the channels of "
                "one query, put the dictionary into a list: [{...}]."
            )
        return X
    if not compared_by_channel:
        raise ValueError(
            f"{name!r} must hold arrays unless queries are compared by channel. Got a dictionary of channels in it. "
            "Set channel_lag=0 to compare each channel by itself, at its own length."
        )
    keys = list(dict.fromkeys(key for one in given for key in one))
    columns = getattr(like, "columns", None)
    columns = next((one.columns for one in queries if hasattr(one, "columns")), None) if columns is None else columns
    if columns is not None:
        check_names(keys, list(columns), "channel", repr(name))
        keys = list(columns)
    elif keys and all(isinstance(key, Integral) and not isinstance(key, bool) and key >= 0 for key in keys):
        shapes = [np.shape(one) for one in (like, *queries) if not isinstance(one, dict) and one is not None]
        keys = list(range(max(max(keys) + 1, *(shape[1] for shape in shapes if len(shape) == 2), 1)))
    elif not keys or not all(isinstance(key, str) for key in keys):
        raise ValueError(
            f"A query in {name!r} that is a dictionary must hold its channels by their names, all of them texts, or by "
            f"their numbers from 0 on. Got {shown(keys)}."
        )
    names = list(X) if isinstance(X, dict) else range(len(queries))
    made = [
        _table(one, keys, f"{name}[{key!r}]") if isinstance(one, dict) else one
        for key, one in zip(names, queries, strict=True)
    ]
    return dict(zip(X, made, strict=True)) if isinstance(X, dict) else made


def _table(query, keys, name):
    """The channels of a query as a table, an array where they have no names; all begin together."""
    series = {key: as_floats(values, f"{name}[{key!r}]") for key, values in query.items()}
    for key, values in series.items():
        if values.ndim != 1 or not len(values):
            raise ValueError(f"'{name}[{key!r}]' must be one channel, shape (m,). Got shape {values.shape}.")
    out = np.full((max(map(len, series.values()), default=1), len(keys)), np.nan)
    for k, key in enumerate(keys):
        if key in series:
            out[: len(series[key]), k] = series[key]
    if isinstance(keys[0], Integral):
        return out
    import pandas as pd

    return pd.DataFrame(out, columns=keys)
