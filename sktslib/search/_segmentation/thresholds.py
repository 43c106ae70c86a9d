"""Repetitions within a threshold of the cost per query point; segmentations by decoys find it."""

from __future__ import annotations

import numpy as np

from .._error_rates.calibration import Calibration
from .._error_rates.conformal import Conformal, conformal_thresholds, found_at
from .._error_rates.decoys import center_of
from .._error_rates.far_groups import warn_of_look_alikes
from .._error_rates.hours import recorded_hours
from .._error_rates.threshold_parameter import ThresholdFitting, rule_of
from .._learning.held_out_report import HeldOut
from .._several import refuse_several
from .background import warn_of_covered_background


def per_point(cost, shown):
    """The cost of each repetition per query point that it covers."""
    return cost / np.diff(shown, axis=1)[:, 0]


class ThresholdSegmenter(ThresholdFitting):
    """What a segmenter does with its threshold, which is applied to the cheapest segmentation as it is."""

    def _fit_conformal(self, marked, weight, times):
        """Find the threshold of each class by what other blocks of the labels tell."""
        rule = rule_of(self.threshold)
        if isinstance(rule, Conformal):
            ty = self._as_times(times, marked.data.shape[1])

            def distances(others, ranges, code):
                # Bounds of lengths and the cost of background stay: what they leave out is out in the end, too.
                queries, learned = self._learn(others, weight, times, self._n_templates)
                queries = self._with_signs([how._replace(metric=self.metric_) for how in queries])
                queries = queries if self._queries[0].tx is not None else [how.untimed for how in queries]
                found = self._segment_learned(queries, [one.number for one in learned], marked.data, ty)
                numbers = np.array([one.number for one in learned])[found.query] + 1
                out, costs = np.empty(len(code)), per_point(found.cost, found.shown)
                for number in np.unique(code):
                    own, same = code == number, numbers == number
                    out[own] = found_at(ranges[own], found.start[same], found.end[same], costs[same])
                return out, HeldOut(np.column_stack([found.start, found.end]), numbers, costs)

            thresholds, held = conformal_thresholds(rule, marked, distances)
            self.report_ = held.report(marked)
            self._conformal = rule.alpha, [thresholds[int(number) + 1] for number in self._numbers]
        return self

    @property
    def threshold_(self) -> float | list[float | None] | None:
        """The largest cost per query point of a repetition, of several queries a list; None where there is none.

        None too with a false discovery rate before `fit_threshold`, for it then is another in each recording.
        """
        thresholds = self._thresholds
        return thresholds if len(thresholds) > 1 else thresholds[0]

    @property
    def _thresholds(self):
        """The threshold of each query that is known before there is a recording, or None."""
        return [None if limit is None else float(limit) for limit in self._set_thresholds(len(self._queries))]

    def _rated(self, found, calibrations, thresholds):
        """What of a table of segments is within the thresholds; its three rates, each None without; the thresholds."""
        if calibrations is None and thresholds[0] is None:
            return found, [None] * 4
        limits = np.array(thresholds, float)  # NaN for None
        near = ~(per_point(found.cost, found.shown) > limits[found.query])
        found = type(found)(*(column[near] for column in found))
        if calibrations is None:
            return found, [*[None] * 3, limits]
        rates, costs = np.empty((3, len(found.cost))), per_point(found.cost, found.shown)
        for q, one in enumerate(calibrations):
            rates[:, found.query == q] = one.rates(costs[found.query == q])
        return found, [*rates, limits]

    def _warn_of(self, found):
        """Warn of repetitions that may cover flat noise, and of groups that a false discovery rate lets through."""
        if self._background_of_queries:
            warn_of_covered_background(found.cost, found.end - found.start, self.background_)
        for query in [] if self._rate is None else np.unique(found.query).tolist():
            own = found.query == query
            of = f" of query {query}" if len(self._queries) > 1 else ""
            cost = per_point(found.cost, found.shown)[own]
            warn_of_look_alikes(self._rate.alpha, cost, None, f"repetitions{of}", "cost per query point")

    def _calibrations_in(self, source, times, found, queries, ranges_of):
        """The calibration of each query in a recording, which `ranges_of` segments by other queries."""
        rate = self._rate
        self._check_rate(rate)
        decoys = rate._decoys(len(queries))
        made = decoys.of(self, queries, center_of(source))
        others = [ranges_of(list(some)) for some in zip(*made, strict=True)]
        hours = recorded_hours(source.extent(0)[1], times)

        def costs(table, q):
            return per_point(table.cost, table.shown)[table.query == q]

        each = range(len(queries))
        return [Calibration.of(costs(found, q), [costs(other, q) for other in others], hours) for q in each]

    def _calibrated(self, X, times):
        """The calibrations of the queries in a recording, as the only one of a list."""
        refuse_several(X)
        source, found, given, queries, ranges_of = self._segmentation(X, times)
        return [self._calibrations_in(source, given, found, queries, ranges_of)]
