"""What a segmenter is fitted to: queries that are given, learned from labels, or taken from the recording itself."""

import hashlib
from copy import copy

import numpy as np

from ...utils._jobs import progress
from ...utils._sampling import holes
from ...utils._sizes import check_query, check_size
from ...utils._warnings import warn
from ...utils.validation import as_floats
from .._channels.polarity import with_signs
from .._comparison import check_reach, check_room, resolve_mode, with_metric
from .._learning.chosen_metric import elastic_candidates
from .._learning.held_out import evidence_of_segments
from .._learning.learned_background import learn_background
from .._learning.learned_queries import as_comparable, average, examples
from .._learning.self_training import NOTHING, learnable, sure_ones
from .._query import QueryEstimator
from .._sources import Whole
from .background import Background
from .optimal import Rules, background_cost, segment
from .period import ROUNDS, SHRINK, typical_period
from .thresholds import ThresholdSegmenter

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


def check_fit(queries, n):
    """Some query must fit into a recording of n samples where segments have the queries' lengths."""
    way_out = "take an elastic metric such as 'dtw', which cuts segments of any length"
    check_room(min(how.shortest for how in queries), n, way_out)


def check_searched(queries, y):
    """Values must be within reach of the metric, and windows fit into the sequence."""
    for how in queries:
        check_reach(how.metric, how.x, "The query", how.normalize, check_query)
    if queries[0].mode == "windows":  # those that fit are found
        check_fit(queries, y.shape[1])
    check_reach(queries[0].metric, y, "The sequence", queries[0].normalize)


def fit_background(marked, queries, rules, ty, n_jobs, verbose):
    """The background that separates the marked occurrences of a recording from what is not marked."""
    check_searched(queries, marked.data)
    queries = [how.untimed if ty is None else how for how in queries]

    def found(background):
        return segment(queries, rules._replace(background=background), marked.data, ty, n_jobs)

    return learn_background(marked, queries, background_cost(queries), found, verbose)


def refined(queries, source, segments):
    """The queries as averages of their repetitions in a segmentation; one with too few stays as it is.

    So do alternatives of a query.
    """
    out = []
    for k, how in enumerate(queries):
        own = (segments.query == k) & (segments.version % how.n_unsigned == 0)
        whole = own & (np.diff(segments.shown, axis=1)[:, 0] == how.m)
        ranges = np.column_stack([segments.start, segments.end])[whole]
        if len(ranges) >= FEW:
            x = average_of(how, source, ranges, how.signs_of(segments.version[whole]))
            how = with_signs(how.unsigned._replace(x=x), how.signs)
        out.append(how)
    return out


def _digest(queries):
    """A digest of queries that distinguishes them to the last digit."""
    return hashlib.sha256(b"".join(how.x.tobytes() for how in queries)).digest()


def average_of(how, source, ranges, signs=None):
    """The barycenter (channels, m) of ranges of a sequence, times their signs, of the length of the query."""
    some = examples(np.arange(len(ranges)))
    pieces = [source.cut(int(s), int(e))[0] for s, e in ranges[some]]
    if signs is not None:
        pieces = [piece * np.reshape(sign, (-1, 1)) for piece, sign in zip(pieces, signs[some], strict=True)]
    return average(as_comparable(pieces, how.metric), how.x, how.metric, how.w)


def _per_query(value, k, name):
    """A bound of each of k queries: one for all, or a list."""
    if np.ndim(value) == 0:
        return [value] * k
    if len(value) != k:
        raise ValueError(f"{name!r} must be one number, or one for each of the {k} queries. Got {len(value)}.")
    return list(value)


class FittedSegmenter(ThresholdSegmenter, QueryEstimator):
    """Base of the segmenter: how it gets its queries and rules, and how it segments by them."""

    # Without a penalty repetitions would stretch over the background, and one of 1.0 is none or all, by the unit.
    _named_defaults = {"adtw": {"omega": "auto"}}

    def _check_size(self, a, what, check=check_size, total=None):
        self.metric_._check_values(a, what)
        check(a, what, self.metric_._cost_exponent(len(a)), f"A segmentation by the {self.metric_.full_name}", total)

    def _resolve(self):
        """See that the metric can segment, and by what candidates."""
        self._mode = resolve_mode(self.metric_, "auto", None)
        self.metric_._check_search("segmentation")
        if self.partial:
            check_partial(self.metric_, self._mode)

    def _candidates(self):
        return elastic_candidates()

    def _evidence(self, *rest):
        return evidence_of_segments(copy(self), *rest)

    def _fit_marked(self, marked, weight, times):
        """Learn from a marked recording: the metric, queries and background, more by self-training, the threshold."""
        known = learnable(marked)
        self._choose(known, weight, times)
        self._fit_labels(known, weight, times)
        if self.self_train:
            self._train_itself(marked, known, weight, times)
        return self._fit_conformal(known, weight, times)

    def _refuse_self_training(self):
        """There must be labels to begin with."""
        if self.self_train:
            raise ValueError(
                f"'self_train' must be 0 where no occurrence is labeled in 'y'. Got {self.self_train}. Label an "
                "occurrence, or take the parameter 'refine', which averages what the query finds."
            )

    def _train_itself(self, marked, known, weight, times):
        """Learn again, with what is sure in the unlabeled part as further occurrences, until they recur."""
        rounds, met, k = int(self.self_train), [NOTHING], len(self.classes_)
        counts, ty = [], self._as_times(times, marked.data.shape[1])
        if marked.unlabeled is None:
            warn(
                "'y' should have labels -1 where self_train is above 0, for the samples of which nobody knows. Got "
                "none, so nothing was learned from what is unlabeled. Set self_train=0 if all is labeled."
            )
            rounds = 0
        with progress(rounds, self.verbose if rounds else 0, "self-train", "round") as count:
            for _ in range(rounds):
                queries = [how.untimed if ty is None else how for how in self._queries]
                found = segment(queries, self._rules, marked.data, ty, self.n_jobs)
                taken = sure_ones(marked, queries, self._numbers + 1, found)
                counts.append(np.bincount(taken.code - 1, minlength=k))
                count(word=f"{len(taken.code)} taken")
                if any(map(taken.are_those_of, met)):  # learned again they would give what was there before
                    break
                met.append(taken)
                self.metric_ = self._made_metric()
                self._fit_labels(known._replace(offset=taken.offset), weight, times, learnable(marked, taken))
        self.self_training_ = np.array(counts, np.int64).reshape(-1, k)

    def _fit_labels(self, marked, weight, times, examples=None):
        """Learn the queries of the classes that are marked, of `examples` if there are some, and the background."""
        queries, learned = self._learn(marked if examples is None else examples, weight, times, self._n_templates)
        self._keep_weights(learned)
        numbers, limits = [one.number for one in learned], [one.limits for one in learned]
        return self._fit_queries(queries, numbers, limits, marked, times)

    @property
    def _n_templates(self):
        return self.n_templates if self.n_templates == "auto" else int(self.n_templates)

    def _segment_learned(self, queries, numbers, data, ty):
        """Segments of a recording by queries of some classes, with the background and the bounds of the fitted ones."""
        bounds = {int(number): limits for number, limits in zip(self._numbers, self._rules.limits, strict=True)}
        k = len(queries)
        rules = self._rules._replace(limits=tuple(bounds[number] for number in numbers))
        if len(rules.transitions) != k + 1:  # another number of templates
            rules = rules._replace(transitions=np.zeros((k + 1, k + 1)))
        return segment(queries, rules, data, ty, self.n_jobs, 0, Whole(data, ty))

    def _fit_recording(self, data, times):
        """Take one period of the recording as the query."""
        if self._given_weight(None) is not None:
            raise ValueError(
                "'weight' must be None where query='auto': how many points there will be is not known yet."
            )
        self._check_size(data, "'X'")
        ty = self._as_times(times, data.shape[1])
        start, end = typical_period(data, holes(ty, self._max_gap), self.verbose)
        own = None if times is None else times[start:end]
        self._fit_queries([self._validated_query(data[:, start:end], None, own)])
        limits = ((end - start) // SHRINK or 1, (end - start) * SHRINK)
        with progress(ROUNDS, self.verbose, "average periods", "round") as count:
            for _ in range(ROUNDS):
                rules = self._rules._replace(limits=(limits,))
                segments = segment(self._queries, rules, data, ty, self.n_jobs, self.verbose)
                self._fit_queries(refined(self._queries, Whole(data, ty), segments))
                count()
        return self._fit_queries(self._queries, limits=[limits])

    def _fit_queries(self, queries, numbers=None, limits=None, marked=None, times=None, names=None):
        """Take validated queries, with the background and the bounds that go with them."""
        self._forget_threshold()
        k = len(queries)
        if any(how.tx is None for how in queries):  # one clock for all: samples, unless all have times
            queries = [how.untimed for how in queries]
        self._queries = queries = self._with_signs(with_metric(self._made_metric(), queries))
        self.metric_ = queries[0].metric
        self.queries_ = [how.x.T for how in queries]
        self.weights_ = [None if how.w is None else how.w.T for how in queries]
        self.query_, self.weight_ = self.queries_[0], self.weights_[0]
        if marked is not None:
            self.classes_, self._background_label = marked.labels.classes, marked.labels.background
        else:
            self.classes_ = np.arange(1, k + 1) if names is None else names
            self._background_label = self.classes_.dtype.type()
        self._numbers = np.arange(k) if numbers is None else np.array(numbers)  # of each query's class, from 0
        bounds = (_per_query(getattr(self, name), k, name) for name in ("min_length", "max_length"))
        given = tuple(self._check_limits(*pair) for pair in zip(*bounds, strict=True))
        if limits is not None and self._mode == "subsequence":
            given = limits_of(given, limits)
        rules = Rules(None, check_transitions(self.transitions, k), given, self.partial)
        self._background_of_queries = self.background == "auto" and marked is None
        if self.background != "auto":
            background = Background(float(self.background))
        elif marked is None:
            background = Background(background_cost(queries))
        else:
            background = fit_background(
                marked, queries, rules, self._as_times(times, marked.data.shape[1]), self.n_jobs, self.verbose
            )
        self.background_ = background.limit
        self._rules = rules._replace(background=background)
        return self

    def _counting(self, ty):
        """Queries and rules for a series with these times: without any, samples are counted in their place.

        A cost of background that was learned or set stays.
        """
        if ty is not None or self._queries[0].tx is None:
            return self._queries, self._rules
        queries, rules = [how.untimed for how in self._queries], self._rules
        if self._background_of_queries:
            rules = rules._replace(background=Background(background_cost(queries)))
        return queries, rules

    def _segmented(self, queries, source, ranges_of):
        """Queries and segments of a sequence, `ranges_of` the queries, after averaging the repetitions."""
        left, met = int(self.refine), {}
        with progress(left, self.verbose if left else 0, "refine", "round") as count:
            while True:
                segments = ranges_of(queries)
                if not left:
                    return queries, segments
                met[_digest(queries)], due = left, left
                queries, left = refined(queries, source, segments), left - 1
                before = met.get(_digest(queries))
                if before is not None:  # from here on the same queries recur in a cycle, mostly of length one
                    left %= before - left
                count(due - left)
