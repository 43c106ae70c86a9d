"""What a segmenter is fitted to: queries that are given, learned from labels, or taken from the recording itself."""

import hashlib

import numpy as np

from ...utils._sizes import check_size
from ...utils.validation import as_floats, as_times
from .._learning import as_comparable, average, examples
from .._profile import Search, resolve_mode
from .._query import QueryEstimator, same_channels
from .._several import entry
from .._threshold import learn_background
from .background import Background
from .optimal import Rules, background_cost, segment
from .period import ROUNDS, SHRINK, typical_period

FEW = 2  # repetitions of which an average is taken


def check_transitions(transitions, k):
    """Costs of the transitions between labels, as an array (k + 1, k + 1)."""
    if transitions is None:
        return np.zeros((k + 1, k + 1))
    T = np.array(as_floats(transitions, "transitions"))
    if T.shape != (k + 1, k + 1):
        raise ValueError(
            f"'transitions' must have shape ({k + 1}, {k + 1}): a row and a column for background and each of the {k} "
            f"queries. Got shape {T.shape}."
        )
    T[0, 0] = 0.0  # consecutive background samples are one stretch
    if not (T >= 0).all():
        raise ValueError(f"'transitions' must not be negative or NaN. Got {np.min(T):g}.")
    return T


def check_partial(metric, mode):
    """Refuse repetitions cut off at an end where there is no path through a part of a query."""
    if mode != "subsequence" or metric.uses_times or not metric._can_be_cut:
        raise ValueError(
            "partial=True needs an elastic metric with a warping path that compares no times and has no move cheaper "
            f"than the diagonal one, such as 'dtw' or 'adtw'. Got {metric.full_name}."
        )


def limits_of(given, learned):
    """Bounds of the length of each query's repetitions: those given, else those learned."""
    return tuple(
        tuple(b if a is None else a for a, b in zip(*pair, strict=True)) for pair in zip(given, learned, strict=True)
    )


def fit_background(marked, templates, rules, metric, mode, ty):
    """The background that separates the marked occurrences of a recording from what is not marked."""
    searches = [Search.of(metric, *t[:2], marked.data, t.tx, ty, mode) for t in templates]

    def ranges(background):
        found = segment(searches, rules._replace(background=background))
        return found.start, found.end

    constant = background_cost(metric, mode, templates)
    return learn_background(marked.ranges, marked.labels.code, marked.data, templates, metric, constant, ranges)


def refined(templates, searches, segments):
    """The queries as averages of their repetitions in a segmentation; one with too few stays as it is."""
    out = []
    for k, (template, search) in enumerate(zip(templates, searches, strict=True)):
        whole = (segments.query == k) & (np.diff(segments.shown, axis=1)[:, 0] == template.x.shape[1])
        ranges = np.column_stack([segments.start, segments.end])[whole]
        out.append(template if len(ranges) < FEW else template._replace(x=average_of(template, search, ranges)))
    return out


def _digest(templates):
    """A digest of queries that distinguishes them to the last digit."""
    return hashlib.sha256(b"".join(template.x.tobytes() for template in templates)).digest()


def average_of(template, search, ranges):
    """The barycenter (channels, m) of ranges of a sequence, of the length of the template."""
    pieces = [np.ascontiguousarray(search.y[:, s:e]) for s, e in examples(ranges)]
    pieces = as_comparable(pieces, search.metric)
    return average(pieces, template.x, search.metric, template.w)


def _per_query(value, k, name):
    """A bound of each of k queries: one for all, or a list."""
    if np.ndim(value) == 0:
        return [value] * k
    if len(value) != k:
        raise ValueError(f"{name!r} must be one number, or one for each of the {k} queries. Got {len(value)}.")
    return list(value)


class FittedSegmenter(QueryEstimator):
    """Base of the segmenter: how it gets its queries and rules, and how it segments by them."""

    @property
    def _query_times(self):
        return self._templates[0].tx

    def _check_size(self, a, what, check=check_size, total=None):
        self.metric_._check_values(a, what)
        check(a, what, self.metric_._cost_exponent(len(a)), f"A segmentation by the {self.metric_.full_name}", total)

    def _check_segmentation(self):
        self._mode = resolve_mode(self.metric_, "auto", None)
        self.metric_._check_search("segmentation")
        if self.partial:
            check_partial(self.metric_, self._mode)

    def _read_several(self, X, queries, y, weight, times):
        """Several queries with a weight and times each."""
        weights, every = self._each(queries, y, weight, times)
        found, name = [], "X" if self.query is None else "query"
        for k, (query, w, t) in enumerate(zip(queries, weights, every, strict=True)):
            with entry(name, k):
                given = (query, None) if self.query is None else (X, query)
                found.append(self._read(*given, w, t))
        same_channels([len(template.x) for template in found], name)
        return found

    def _fit_labels(self, marked, weight, times):
        """Learn the queries of the classes that are marked, and the background."""
        n_templates = self.n_templates if self.n_templates == "auto" else int(self.n_templates)
        learned = self._learn(marked, weight, times, n_templates)
        kinds, limits = [one.kind for one in learned], [one.limits for one in learned]
        return self._fit_templates([one.template for one in learned], kinds, limits, marked, times)

    def _fit_recording(self, data, times):
        """Take one period of the recording as the query."""
        if self.weight is not None:
            raise ValueError(
                "'weight' must be None where query='auto': how many points there will be is not known yet."
            )
        self._check_size(data, "'X'")
        start, end = typical_period(data)
        self._fit_templates([self._template(data[:, start:end], None, None if times is None else times[start:end])])
        ty = as_times(times, data.shape[1], "times")
        limits = ((end - start) // SHRINK or 1, (end - start) * SHRINK)
        for _ in range(ROUNDS):
            self._fit_templates(self._segmented(data, ty, self._rules._replace(limits=(limits,)), 1)[0])
        return self._fit_templates(self._templates, limits=[limits])

    def _fit_templates(self, templates, kinds=None, limits=None, marked=None, times=None):
        """Take validated queries, with the background and the bounds that go with them."""
        k = len(templates)
        self._templates = templates
        self.queries_ = [t.x.T for t in templates]
        self.weights_ = [None if t.w is None else t.w.T for t in templates]
        self.query_, self.weight_ = self.queries_[0], self.weights_[0]
        self.classes_ = np.arange(1, k + 1) if marked is None else marked.labels.kinds
        self._background_label = 0 if marked is None else marked.labels.background
        self._kinds = np.arange(k) if kinds is None else np.array(kinds)
        given = zip(
            _per_query(self.min_length, k, "min_length"), _per_query(self.max_length, k, "max_length"), strict=True
        )
        given = tuple(self._check_limits(*pair) for pair in given)
        if limits is not None and self._mode == "subsequence":
            given = limits_of(given, limits)
        rules = Rules(None, check_transitions(self.transitions, k), given, self.partial)
        if self.background != "auto":
            background = Background(float(self.background))
        elif marked is None:
            background = Background(background_cost(self.metric_, self._mode, templates))
        else:
            ty = as_times(times, marked.data.shape[1], "times")
            background = fit_background(marked, templates, rules, self.metric_, self._mode, ty)
        self.background_ = background.limit
        self._rules = rules._replace(background=background)
        return self

    def _compare(self, template, y, ty):
        return Search.of(self.metric_, template.x, template.w, y, template.tx, ty, self._mode)

    def _segmented(self, y, ty, rules, refine):
        """Queries, searches and segments of a series, after averaging the repetitions `refine` times."""
        templates, left, met = self._templates, int(refine), {}
        while True:
            searches = [self._compare(template, y, ty) for template in templates]
            segments = segment(searches, rules)
            if not left:
                return templates, searches, segments
            met[_digest(templates)] = left
            templates, left = refined(templates, searches, segments), left - 1
            before = met.get(_digest(templates))
            if before is not None:  # from here on the same queries recur in a cycle, mostly of length one
                left %= before - left
