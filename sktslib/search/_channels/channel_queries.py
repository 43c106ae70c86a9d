"""An estimator's queries where their channels are compared by themselves."""

import numpy as np

from ...utils._sampling import interval
from ...utils.validation import shown
from .by_channel import in_range
from .channel_parameters import ChannelRule, by_channels, counts_of, points_of

COMPARED_BY_CHANNEL = "'channel_lag', 'lag_tolerance', 'channel_weight' and 'min_channels' to compare channels together"


class ChannelQueries:
    """What `QueryEstimator` does otherwise where one of the parameters of channels is set."""

    def _check_parameters(self):
        super()._check_parameters()
        self._rule = ChannelRule.of(self)

    @property
    def _is_by_channel(self):
        """Whether channels are compared by themselves."""
        return self._rule is not None

    @property
    def _may_miss(self):
        return self._rule is not None or super()._may_miss

    def _given_queries(self, X, name, like):
        return by_channels(X, name, None if self.query is None else like, self._rule is not None)

    def _validated_query(self, x, weight, times, name="times"):
        if self._rule is None:
            return super()._validated_query(x, weight, times, name)
        first, length = points_of(x, whole=self.nan_policy == "raise")
        return self._by_channel(super()._validated_query(x, weight, times, name), first, length)

    def _by_channel(self, how, first, length):
        return self._limited(self._rule.with_channels(how, first, length, self._channel_names))

    def _choose(self, marked, weight, times):
        if self._rule is not None:  # what compares metrics knows times as numbers alone
            self._rule = self._rule.in_samples(self._of_recording(marked, times), self._channel_names)
        super()._choose(marked, weight, times)

    def _learn(self, marked, weight, times):
        if self._rule is not None:
            marked = self._rule.aligned(marked, counts_of(self._of_recording(marked, times)))
        return super()._learn(marked, weight, times)

    def _of_recording(self, marked, times):
        """A recording as if it were the query."""
        ty = self._as_times(times, marked.data.shape[1])
        return self._compared(marked.data, None, ty, times, interval(ty))

    def _learned_by_channel(self, how):
        """A query that was learned from labels as it is compared."""
        if self._rule is None:
            return how
        length = np.full(len(how.x), how.m)
        return self._by_channel(how, np.zeros_like(length), length)

    @property
    def _queries_in_range(self):
        """The queries as they lie in matches; pictures ask for them."""
        return self._of_each([in_range(how) for how in self._queries])

    def _check_one_length(self):
        """What is learned from matches is averaged in all channels at once, each from where it lies in a match."""
        for how in self._queries:
            by = how.by_channel
            if by is None or by.is_joint:
                continue
            length = by.length[by.taking_part]
            if length.min() < length.max():
                raise ValueError(
                    "'relearn' must be called of a searcher each of whose queries has as many points in every channel. "
                    f"Got {shown(by.length.tolist())} points. Cut the good matches out, matches.cut(), and fit a query "
                    "of them."
                )
            if how.tx is not None:
                raise ValueError(
                    f"'relearn' must be called of a searcher by a metric that compares no times where channels have "
                    f"lags, for their samples have times of their own. Got {self.metric_.full_name}. Take another "
                    "metric, or leave 'channel_lag' out."
                )

    def _check_channels(self):
        """Channels by themselves are compared in windows, of one length each."""
        if self._rule is None:
            return
        if self.mode == "subsequence":
            raise ValueError(
                "The 'mode' parameter must be 'windows' or 'auto' where queries are compared by channel, for ranges of "
                f"any length have no common lags. Got {self.mode!r}. Leave out {COMPARED_BY_CHANNEL}."
            )
        if self.scales is not None:
            raise ValueError(
                "The 'scales' parameter must be None where queries are compared by channel, for lags do not scale. Got "
                f"{shown(self.scales)}. Leave out {COMPARED_BY_CHANNEL}."
            )
