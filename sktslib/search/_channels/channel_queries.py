"""An estimator's queries where their channels are compared by themselves."""

import numpy as np

from ...utils.validation import shown
from .by_channel import in_range
from .channel_parameters import ChannelRule, by_channels, points_of

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

    def _check_joint(self):
        """What lies in a match is an occurrence of the query in all channels at once."""
        if any(how.by_channel is not None and not how.by_channel.is_joint for how in self._queries):
            raise ValueError(
                "'relearn' must be called of a searcher whose channels begin and end together: lags of 0, a "
                f"'lag_tolerance' of 0, and points in all channels. Got channel_lag={shown(self.channel_lag)} and "
                f"lag_tolerance={shown(self.lag_tolerance)}. Cut the good matches out, matches.cut(), and fit a query "
                "of them."
            )

    def _check_channels(self, learned):
        """Channels by themselves are compared in windows, of one length each."""
        if self._rule is None:
            return
        if self.mode in ("subsequence", "warped"):
            raise ValueError(
                "The 'mode' parameter must be 'windows' or 'auto' where queries are compared by channel, for ranges of "
                f"any length have no common lags. Got {self.mode!r}. Leave out {COMPARED_BY_CHANNEL}."
            )
        if self.scales is not None:
            raise ValueError(
                "The 'scales' parameter must be None where queries are compared by channel, for lags do not scale. Got "
                f"{shown(self.scales)}. Leave out {COMPARED_BY_CHANNEL}."
            )
        if learned:
            self._rule.refuse_lags()
            if isinstance(self.metric, str) and self.metric == "auto":
                raise ValueError(
                    "The 'metric' parameter must not be 'auto' where queries are learned from labels and compared by "
                    "channel. Name one, such as 'correlation'."
                )
