"""Queries learned from labels of a whole recording or a part, or from the recording itself, and what separates them."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import long_without_compiler, pairs, plain

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.distances import barycenter
from sktslib.metrics import event_f1_score, labels_from_events
from sktslib.search import Conformal, Learning
from sktslib.search._learning.labels import (
    f1_of_marks,
    groups,
    learn_threshold,
    learnable,
    middle_of_the_best,
    sure_ones,
    weigh,
)
from sktslib.search._plan import QueryPlan
from sktslib.search._query import Annotation, Labels, occurrences, read_labels
from sktslib.search._segments.optimal import Background, Rules, SegmentTable, segment
from sktslib.search._sources import ArraySource

ECG = load_ecg_example()
COLUMN = ECG.sequence[:, np.newaxis]
KINDS = labels_from_events(
    np.column_stack([np.maximum(ECG.beats - 12, 0), ECG.beats + 18]), ECG.beat_kinds, n_samples=len(COLUMN)
)
BUMP = np.array([0.0, 1.0, 3.0, 1.0, 0.0])
STEP = np.array([0.0, -2.0, -2.0, -2.0, -2.0, 0.0])


def recording(pieces, gap=4, noise=0.05, seed=0):
    """Pieces one after the other with rest between, and where they are."""
    rng = np.random.default_rng(seed)
    y, ranges = [np.zeros(gap)], []
    for piece in pieces:
        start = sum(len(part) for part in y)
        ranges.append((start, start + len(piece)))
        y += [np.asarray(piece), np.zeros(gap)]
    y = np.concatenate(y)
    return (y + noise * rng.standard_normal(len(y)))[:, np.newaxis], np.array(ranges)


# --------------------------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    ("y", "kinds", "idle"),
    [
        ([0, 2, 2, -1, 0], [-1, 2], 0),
        (["", "N", "N", "A", "0"], ["A", "N"], ""),
        (np.array([0, "N", 3, 3, ""], dtype=object), [3, "N"], 0),
        ([False, True, True, False, False], [True], False),
        (np.array([0, b"a", b"a", 7, 0], dtype=object), [7, b"a"], 0),  # which do not compare
    ],
)
def test_labels_of_any_type(y, kinds, idle):
    labels = read_labels(np.asarray(y))
    assert labels.classes.tolist() == kinds
    assert labels.background == idle
    for code, value in zip(labels.code, np.asarray(y).tolist(), strict=True):
        assert (kinds[code - 1] == value) if code else value in (0, "", "0")


@given(st.lists(st.integers(0, 2), max_size=12))
def test_occurrences_are_runs_of_two_samples_or_more(code):
    ranges, labels = occurrences(np.array(code, dtype=int))
    want = [(s, e, label) for s, e, label in naive.runs(code) if label and e - s > 1]
    assert [(*r, label) for r, label in zip(ranges.tolist(), labels.tolist(), strict=True)] == want


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(2, 12)), min_size=2, max_size=2), st.booleans())
def test_two_events_are_cut_halfway_through_what_they_share(drawn, same):
    (s, _), (t, _) = first, second = [(start, start + length) for start, length in drawn]
    kinds, labels = [1, 1 if same else 2], np.zeros(24, int)
    shared = sorted(set(range(*first)) & set(range(*second)))
    at = {k: sum(event) for k, event in enumerate((first, second))}
    order = sorted(at, key=at.get)
    got = labels_from_events([first, second], kinds, n_samples=24, on_overlap="cut")
    for k in order:
        own = list(range(*(first, second)[k]))
        if shared and not (same and first == second):
            (start, _), (_, end) = ((first, second)[k] for k in order)
            cut = min(range(start + 1, end - same), key=lambda c: abs(c - shared[0] - len(shared) // 2))
            own = [i for i in own if i < cut] if k == order[0] else [i for i in own if i >= cut + same]
        elif same and k == order[1] and max(s, t) == min(first[1], second[1]):
            own = own[1:]
        labels[own] = kinds[k]
    np.testing.assert_array_equal(got, labels)


def test_labels_from_events_refuses():
    with pytest.raises(ValueError, match="'kinds' parameter must have one class for each of the 2 events"):
        labels_from_events([[0, 1], [2, 3]], [1], n_samples=5)
    for kinds in ([1, 0], [1.0, 0.0], [True, False], ["a", ""], ["a", "0"], np.array(["a", 0], object)):
        with pytest.raises(ValueError, match=r"which mean background\. Got .* at index 1\. Add 1"):
            labels_from_events([[0, 1], [2, 3]], kinds, n_samples=5)
    assert labels_from_events([], n_samples=2).tolist() == [0, 0]


# ------------------------------------------------------------------------------------------------------------ templates
def test_a_template_is_the_average_and_weighs_the_inverse_of_the_variance():
    X, ranges = recording([BUMP * h for h in (0.8, 1.0, 1.2, 1.1)], noise=0.1)
    y = labels_from_events(ranges, n_samples=len(X))
    pieces = np.array([X[s:e, 0] for s, e in ranges])
    fitted = QuerySegmenter("euclidean").fit(X, y)
    mean = pieces.mean(axis=0)
    np.testing.assert_allclose(fitted.query_[:, 0], mean, rtol=1e-12)
    variance = np.array([sum((piece[i] - mean[i]) ** 2 for piece in pieces) / 4 for i in range(5)])
    drawn = np.maximum((4 * variance / variance.mean() + 3) / 7, 0.1)
    np.testing.assert_allclose(fitted.weight_[:, 0], drawn.min() / drawn, rtol=1e-12)
    warped = QuerySegmenter("dtw").fit(X, y)
    np.testing.assert_allclose(warped.query_, barycenter(pieces[:, :, np.newaxis], "dtw", max_iter=20), rtol=1e-12)


def test_few_occurrences_are_queries_as_they_are():
    X, ranges = recording([BUMP, BUMP * 1.1, STEP])
    fitted = QuerySegmenter("dtw").fit(X, labels_from_events(ranges, [5, 5, 7], n_samples=len(X)))
    assert fitted.classes_.tolist() == [5, 7]
    np.testing.assert_array_equal(fitted.queries_[0], X[slice(*ranges[0])])
    np.testing.assert_array_equal(fitted.queries_[1], X[slice(*ranges[2])])
    assert fitted.weights_ == [None, None]
    assert fitted.segment(X).label.tolist() == [5, 5, 7]


def test_weights_of_kinds_with_and_without_a_spread():
    known, unknown, still = weigh(
        [(np.array([[1.0, 4.0, 0.0]]), 6), (None, 1), (np.zeros((1, 2)), 9)], [(1, 3), (1, 2), (1, 2)], 2.0
    )
    # Relative to its own mean a variance is drawn towards 1; each template's weights have the same geometric mean.
    drawn = [max((6 * v / (5 / 3) + 3) / 9, 0.1) for v in (1.0, 4.0, 0.0)]
    relative = np.array(drawn) / np.prod(drawn) ** (1 / 3)
    np.testing.assert_allclose(known[0], relative.min() / relative)
    np.testing.assert_allclose(unknown[0], relative.min())
    np.testing.assert_allclose(still[0], relative.min())
    assert weigh([(np.zeros((1, 2)), 3)], [(1, 2)], 2.0) == [None]


def test_two_shapes_of_one_kind_are_two_queries():
    X, ranges = recording([BUMP, STEP] * 6)
    y = labels_from_events(ranges, n_samples=len(X))
    fitted = QuerySegmenter("dtw").fit(X, y)
    assert len(fitted.queries_) == 2
    assert fitted.classes_.tolist() == [1]
    segments = fitted.segment(X)
    np.testing.assert_array_equal(np.unique(segments.query[::2]).size + np.unique(segments.query[1::2]).size, 2)
    assert len(QuerySegmenter("dtw", learning=Learning(n_templates=1)).fit(X, y).queries_) == 1
    far = np.abs(np.subtract.outer(*[np.r_[np.zeros(5), np.full(4, 9.0), 50.0]] * 2))
    assert [group.tolist() for group in groups(far, 3)] == [[5, 6, 7, 8], [0, 1, 2, 3, 4]]


# ----------------------------------------------------------------------------------------------------------- background
@given(st.data())
def test_segmentation_beside_a_background_that_depends_on_the_signal_is_the_cheapest(data):
    x, y, w = data.draw(pairs(low=1, high=3, y_low=2, y_high=6, values=plain))
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    w = None if w is None else np.asarray(w, float).reshape(len(x), -1) / np.max(w) * np.ones(x.shape)
    level, slope = data.draw(plain), data.draw(st.sampled_from([0.1, 1.0]))
    channels = np.ones((x.shape[1], 1))
    background = Background(2.0, slope * channels, level * channels)
    costs = [min(2.0, slope * sum((v - level) ** 2 for v in row)) for row in y]
    metric = QuerySegmenter("dtw").fit(x).metric_
    query = np.ascontiguousarray(x.T), None if w is None else np.ascontiguousarray(w.T)
    how = QueryPlan(metric, *query, mode="subsequence")
    found = segment([how], Rules(background, np.zeros((2, 2)), ((None, None),)), ArraySource(np.ascontiguousarray(y.T)))
    inside = np.zeros(len(y), bool)
    for s, e in zip(found.start, found.end, strict=True):
        inside[s:e] = True
    least = naive.segmentations(len(y), [lambda s, e: naive.segment_cost("dtw", x, y, w, s, e)], costs)
    assert found.cost.sum() + np.array(costs)[~inside].sum() == pytest.approx(least, rel=1e-9, abs=1e-11)


def test_background_is_learned_in_the_middle_of_what_does_as_well():
    factor, best = middle_of_the_best(lambda f: (1.0 if 0.2 < f < 5 else 0.5, 1.0), 100)
    assert best == (1.0, 1.0)
    assert factor == pytest.approx(1.0)
    for share, want in ((1.0, 1.0), (0.5, np.sqrt(2.0)), (0.0, 2.0)):  # of 1/4 to 4, as far below 1 as is marked
        got = middle_of_the_best(lambda f, s=share: (1.0 if 0.2 < f < 5 else 0.5, s or 1e-9), 10**12, nearest=1.0)[0]
        assert got == pytest.approx(want)
    assert (
        middle_of_the_best(lambda f: (1.0 if f < 0.3 else 0.5, 1.0), 100, nearest=1.0)[0] < 0.3
    )  # 1 is none of the best
    # Of 1000 events two errors more than none are as good, three are not; beside ten errors four are, and five are not.
    for errors, more, same in ((0, 2, True), (0, 3, False), (10, 4, True), (10, 5, False)):
        values = {True: 1 - errors / 2000, False: 1 - (errors + more) / 2000}
        factor = middle_of_the_best(lambda f, values=values: (values[f < 3], 1.0), 1000)[0]
        assert (factor > 0.5) == same  # from far below 3 to far above it, or not
    half = 600  # windows of 30 samples in 5 s: with the factor 1 the best of the rest are as near
    learned = QuerySegmenter("euclidean").fit(COLUMN[:half], KINDS[:half])
    assert learned.segment(COLUMN).label.tolist() == ECG.beat_kinds.tolist()
    y = np.array([[np.nan, 1.0, 3.0]])
    one = np.ones((1, 1))
    np.testing.assert_allclose(Background(5.0, 2 * one, one).costs(y), [0.0, 0.0, 5.0])
    np.testing.assert_allclose(Background(5.0).costs(y), [5.0, 5.0, 5.0])


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 2)), min_size=1, max_size=12), st.integers(0, 3))
def test_what_looks_like_the_marked_ones_may_lack_its_mark(drawn, missed):
    """Segments, each marked or not and with its share of the cost of background, and marks that none of them has."""
    n, length = len(drawn) + missed, 10
    start = 20 * np.arange(n)
    marks = np.array([[s, s + length] for s, (marked, _) in zip(start, drawn, strict=False) if marked], int)
    marks = np.concatenate([marks.reshape(-1, 2), start[len(drawn) :, None] + [0, length]])
    shares = np.array([share for _, share in drawn])
    found = SegmentTable(start[: len(drawn)], start[: len(drawn)] + length, None, shares * 2 * length, None)
    got = f1_of_marks(marks, found, np.full(20 * n, 2.0))[0] if len(marks) else 0.0
    want = naive.f1_of_marks(marks.tolist(), np.column_stack(found[:2]).tolist(), shares.tolist())
    assert got == pytest.approx(want)
    if all(marked or share > 1 for marked, share in drawn):  # nothing looks like an unmarked one: plain F1
        hits = sum(marked for marked, _ in drawn)
        assert want == pytest.approx(2 * hits / (len(drawn) + len(marks)))


@pytest.mark.parametrize("k", [1, 2, 6])
def test_a_few_marks_among_many_occurrences_find_them_all(k):
    X, ranges = recording([BUMP * h for h in np.linspace(0.8, 1.3, 24)], gap=9, noise=0.1)
    order = np.random.default_rng(k).permutation(len(ranges))
    y = labels_from_events(ranges[order[:k]], n_samples=len(X))
    assert QuerySegmenter("euclidean").fit(X, y).score(X, labels_from_events(ranges, n_samples=len(X))) == 1.0
    drifted = 0.6 * X  # an amplitude that falls behind the labels
    assert len(QuerySegmenter("euclidean").fit(X, y).segment(drifted)) >= 22
    y[:] = 0
    y[slice(*ranges[0])] = 1
    assert len(QuerySegmenter("euclidean").fit(X[:12], y[:12]).segment(X)) == 24  # one occurrence, hardly background


@long_without_compiler
def test_learned_beats_of_all_kinds():
    fitted = QuerySegmenter("dtw").fit(COLUMN, KINDS)
    assert fitted.classes_.tolist() == ["F", "N", "V"]
    segments = fitted.segment(COLUMN, times=ECG.ts)
    inside = (segments.start[:, None] <= ECG.beats) & (ECG.beats < segments.end[:, None])
    np.testing.assert_array_equal(inside, np.eye(17, dtype=bool))
    assert segments.label.tolist() == ECG.beat_kinds.tolist()
    predicted = fitted.predict(COLUMN)
    np.testing.assert_array_equal(predicted[ECG.beats], ECG.beat_kinds)
    assert predicted[0] == ""
    assert fitted.score(COLUMN, KINDS) > 0.9
    stream = fitted.stream()
    parts = [stream.update(chunk) for chunk in np.split(COLUMN, [100, 450, 451])] + [stream.flush()]
    np.testing.assert_array_equal(np.concatenate([part.end for part in parts]), segments.end)
    assert np.concatenate([part.label for part in parts]).tolist() == segments.label.tolist()
    middle = np.median(COLUMN)
    for scale in (0.8, 1.25):  # the distance from the level of the background grows with the beats
        assert len(fitted.segment(middle + scale * (COLUMN - middle))) == 17


# ------------------------------------------------------------------------------------------------------------- searches
def test_threshold_learned_of_each_kind():
    X, ranges = recording([BUMP, BUMP, STEP, BUMP * 0.5, BUMP, STEP])
    y = labels_from_events(ranges, ["up", "up", "down", "no", "up", "down"], n_samples=len(X))
    y[y == "no"] = ""
    searcher = QuerySearcher("dtw").fit(X, y)
    assert searcher.classes_.tolist() == ["down", "up"]
    matches = searcher.search(X)
    for k, name in enumerate(searcher.classes_):
        found = np.sort(matches.start[matches.query == k] + matches.end[matches.query == k]) // 2
        marked = np.array([y[at] for at in found])
        assert (marked == name).all()
        assert len(found) == {"up": 3, "down": 2}[name]
    assert (matches.label == searcher.classes_[matches.query]).all()
    assert matches.to_frame()["label"].tolist() == matches.label.tolist()
    stream = searcher.stream()
    assert set(stream.update(X).label) | set(stream.flush().label) == {"up", "down"}
    assert set(searcher.search([X, X]).label) == {"up", "down"}
    assert searcher.set_params(threshold=None).threshold_[0] is not None
    y[np.flatnonzero(y == "down")[:-1]] = ""  # what is marked at a single sample is no occurrence
    rest = QuerySearcher("dtw", n_matches=1).fit(X, y)
    assert rest.classes_.tolist() == ["up"] == rest.search(X).label.tolist()
    assert rest.fit(BUMP).search(X).label is None
    alone = QuerySearcher("dtw").fit(X, y == "up")
    assert isinstance(alone.threshold_, float)
    assert alone.set_params(threshold=0.25).threshold_ == 0.25
    assert QuerySearcher("dtw").fit(BUMP).threshold_ is None


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_a_list_of_one_recording_is_that_recording(cls):
    X, ranges = recording([BUMP, BUMP, STEP, BUMP])
    y = labels_from_events(ranges, [1, 1, 2, 1], n_samples=len(X))
    want = cls("dtw").fit(X, y).predict(X)
    for one in ([X], (X,)):
        np.testing.assert_array_equal(cls("dtw").fit(one, y).predict(X), want)
    with pytest.raises(ValueError, match="'X' must be one recording where 'y' is given"):
        cls("dtw").fit([X, X], y)


def test_learned_threshold_is_midway():
    class Found:
        start, end = np.array([0, 10, 20, 30]), np.array([5, 15, 25, 35])
        distance = np.array([1.0, 3.0, 2.0, 9.0])

    assert learn_threshold(Found, np.array([[0, 5], [10, 15]])) == 6.0  # the second best one is false
    assert learn_threshold(Found, np.array([[0, 5], [20, 25]])) == 2.5
    assert learn_threshold(Found, np.array([[50, 55]])) is None


def test_a_threshold_takes_all_that_are_as_far():
    class Found:
        distance = np.array([0.0, 0.5, 0.5, 0.9, 0.9])
        start = np.array([0, 10, 20, 30, 40])
        end = start + 5

    # Up to 0 one is right of one, up to 0.5 two of three, up to 0.9 two of five; F1 of two occurrences: 2/3, 4/5, 4/7.
    assert learn_threshold(Found, np.array([[0, 5], [10, 15]])) == 0.7
    Found.distance = np.array([0.0, 0.5, 0.5, 0.5, 0.5])
    assert learn_threshold(Found, np.array([[0, 5], [10, 15]])) == 0.25


# ---------------------------------------------------------------------------------------------------- without a query
def test_query_taken_from_the_recording():
    rng, count = np.random.default_rng(3), 8 if numba.config.DISABLE_JIT else 20
    t = np.concatenate([np.linspace(0, 1, m, endpoint=False) for m in rng.integers(36, 45, count)])
    X = np.exp(-80 * (t - 0.3) ** 2) - 0.6 * np.exp(-60 * (t - 0.6) ** 2) + 0.03 * rng.standard_normal(len(t))
    fitted = QuerySegmenter("dtw", query="auto").fit(X[:, np.newaxis])
    assert 36 <= len(fitted.query_) <= 45
    segments = fitted.segment(X[:, np.newaxis])
    assert count - 2 <= len(segments) <= count + 1
    phase = t[np.minimum(segments.start, len(t) - 1)]
    turn = np.exp(2j * np.pi * phase).mean()
    assert abs(turn) > 0.9  # all begin at the same phase
    with pytest.raises(ValueError, match="query='auto' needs a recording that repeats itself"):
        QuerySegmenter(query="auto").fit(np.arange(30.0)[:, np.newaxis])
    with pytest.raises(ValueError, match="'weight' must be None where query='auto'"):
        QuerySegmenter(query="auto", weight=[1.0, 2.0]).fit(X[:, np.newaxis])


# -------------------------------------------------------------------------------------------------------- self-training

UP, DOWN = np.sin(np.linspace(0, np.pi, 12)) ** 2, -np.sin(np.linspace(0, 2 * np.pi, 12))


def drifting(kinds=1, known=4, n=24, seed=0):
    """A recording of occurrences that fade and turn, their ranges and kinds, and the labels of the first ones."""
    rng = np.random.default_rng(seed)
    at = 8 + np.cumsum(rng.integers(16, 24, n))
    X, kind = 0.08 * rng.standard_normal(at[-1] + 24), 1 + np.arange(n) % kinds
    for k, s in enumerate(at):
        shape, share = (UP, DOWN)[kind[k] - 1], k / n
        X[s : s + 12] += (1 - 0.5 * share) * ((1 - share) * shape + share * np.roll(shape, 2))
    ranges = np.column_stack([at, at + 12])
    cut = at[known] - 3
    y = np.full(len(X), -1)
    y[:cut] = labels_from_events(ranges[:known], kind[:known], n_samples=len(X))[:cut]
    return X[:, np.newaxis], y, ranges, kind


def ranges_of(found):
    return np.column_stack([found.start, found.end])


@given(st.data())
def test_what_is_sure_is_that_of_the_definition(data):
    n = data.draw(st.integers(2, 8))
    lengths = data.draw(st.lists(st.integers(3, 8), min_size=n, max_size=n))
    start = 10 * np.arange(n)
    found = [
        (int(s), int(s) + length, data.draw(st.integers(1, 2)), data.draw(st.floats(0, 8)))
        for s, length in zip(start, lengths, strict=True)
    ]
    known = data.draw(st.integers(1, n))
    marks = [(s, e, label) for s, e, label, _ in found[:known] if data.draw(st.booleans())]
    labels = np.where(np.arange(10 * n) < 10 * known - data.draw(st.integers(0, 5)), 0, -1)
    marks = [(s, e, label) for s, e, label in marks if (labels[s:e] == 0).all()]
    for s, e, label in marks:
        labels[s:e] = label
    y = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=10 * n, max_size=10 * n)), float)
    ranges = np.array([mark[:2] for mark in marks], np.int64).reshape(-1, 2)
    code = np.array([mark[2] for mark in marks], np.int64)
    marked = Annotation(y[np.newaxis], Labels(np.maximum(labels, 0), np.arange(1, 3), 0), ranges, code, labels == -1)
    s, e, label, cost = map(np.array, zip(*found, strict=True))
    how = QueryPlan(QuerySegmenter("euclidean").fit(UP).metric_, UP[np.newaxis])
    got = sure_ones(marked, [how, how], np.array([1, 2]), SegmentTable(s, e, label - 1, cost, None))
    want = naive.sure(y.tolist(), labels.tolist(), marks, found)
    assert got.ranges.tolist() == [list(found[j][:2]) for j in want]
    assert got.code.tolist() == [found[j][2] for j in want]
    more = learnable(marked, got)
    assert (np.isnan(more.data[0]) == (more.labels.code == -1)).all()
    assert len(more.ranges) == len(marks) + len(want)
    assert not np.isnan(marked.data).any()


@pytest.mark.parametrize("metric", ["euclidean", "dtw", "adtw", "lcss"])
def test_samples_that_learning_leaves_out_part_the_recording(metric):
    """They are missing to its segmentations, also where a recording may have no missing values."""
    y = drifting()[0][:, 0]
    y[[30, 31, 97]] = np.nan
    y[150:170] = np.nan
    strict, lenient = (QuerySegmenter(metric, nan_policy=policy).fit(UP) for policy in ("raise", "omit"))
    found, want = segment(strict._queries, strict._rules, ArraySource(y[np.newaxis])), lenient.segment(y)
    assert len(want) > 5
    for column in ("start", "end"):
        assert getattr(found, column).tolist() == getattr(want, column).tolist()
    assert not any(np.isnan(y[s:e]).any() for s, e in zip(found.start, found.end, strict=True))


def test_one_round_from_the_definition():
    X, y, ranges, _ = drifting()
    labeled = y != -1
    before = QuerySegmenter("euclidean").fit(X[labeled], y[labeled])
    found = [(int(s), int(e), 1, 0.0) for s, e in ranges_of(before.segment(X))]
    w = before.weight_[:, 0]
    q, level = before.query_[:, 0], np.median(np.delete(X[:, 0], np.r_[tuple(slice(s, e) for s, e, *_ in found)]))
    # A weight for all samples of the background: costs by it, as if there were none.
    found = [(s, e, 1, float(w @ (X[s:e, 0] - q) ** 2 / w.mean())) for s, e, *_ in found]
    taken = naive.sure(X[:, 0].tolist(), y.tolist(), [(s, e, 1) for s, e in ranges[:4].tolist()], found)
    after = QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(X, y)
    assert after.self_training_.tolist() == [[len(taken)]]
    assert 0 < len(taken) < 20
    pieces = [X[s:e, 0] for s, e in [*ranges[:4], *(found[j][:2] for j in taken)]]
    np.testing.assert_allclose(after.query_[:, 0], np.mean(pieces, axis=0), rtol=1e-12)
    assert after._rules.background.offset[0, 0] == pytest.approx(level)


@long_without_compiler
@pytest.mark.parametrize("kinds", [1, 2])
def test_drift_is_followed(kinds):
    X, y, ranges, kind = drifting(kinds, known=4 * kinds, n=20 * kinds)
    labeled = y != -1
    X = np.column_stack([X, 0.5 * X + 0.03 * np.random.default_rng(1).standard_normal(X.shape)])
    plain = QuerySegmenter("euclidean").fit(X[labeled], y[labeled])
    trained = QuerySegmenter("euclidean", learning=Learning(self_train=2**62)).fit(X, y)
    apart = [np.abs(one.query_ - plain.query_).max() for one in (plain, trained)]
    assert apart[1] > 0.02
    scores = [event_f1_score(ranges, ranges_of(one.segment(X))) for one in (plain, trained)]
    assert scores[1] >= scores[0]
    assert trained.self_training_.shape[1] == kinds
    assert (trained.self_training_[-1] >= trained.self_training_[0]).all()
    assert trained.classes_.tolist() == [*range(1, kinds + 1)]
    segments = trained.segment(X)
    for s, e, label, _ in segments:
        assert kind[np.argmin(np.abs(ranges.mean(axis=1) - (s + e) / 2))] == label
    # Of the unlabeled part nothing is known, so nothing there is wrong.
    assert trained.score(X, y) == event_f1_score(np.where(labeled, y, 0), ranges_of(segments[labeled[segments.end]]))


def test_gaps_holes_and_a_chosen_metric(capsys):
    X, y, ranges, _ = drifting(known=8)
    gone, times = ranges[15, 0] + 5, np.arange(float(len(X)))
    times[ranges[12, 0] + 6 :] += 50.0
    X[gone] = np.nan
    segmenter = QuerySegmenter("euclidean", learning=Learning(self_train=2), nan_policy="omit", max_gap=2.0, verbose=1)
    fitted = segmenter.fit(X, y, times=times)
    assert "self-train" in capsys.readouterr().err
    found = ranges_of(fitted.segment(X, times=times))
    for k in (12, 15):
        assert not ((found[:, 0] < ranges[k, 1] - 4) & (found[:, 1] > ranges[k, 0] + 4)).any()
    with pytest.raises(ValueError, match="NaN"):
        clone(segmenter).set_params(nan_policy="raise").fit(X, y, times=times)
    X, y = (a[::2] for a in drifting(known=6, n=10)[:2])
    before = y.copy()
    chosen = QuerySegmenter("auto", threshold=Conformal(0.3), learning=Learning(self_train=1)).fit(X, y)
    assert chosen.best_index_ is not None
    assert chosen.self_training_.sum()
    assert np.min(chosen.threshold_) > 0
    np.testing.assert_array_equal(y, before)


def test_labels_that_leave_nothing_to_train_by():
    X, y, _, _ = drifting(n=8)
    trained = QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(X, y)
    assert trained.set_params(learning=Learning(self_train=0)).fit(X, y).classes_.tolist() == [
        -1,
        1,
    ]  # a class as any other
    assert not hasattr(trained, "self_training_")
    all_known = np.maximum(y, 0)
    names = np.where(all_known > 0, "-1", "")
    for labels in (all_known, names):
        with pytest.warns(UserWarning, match="'y' should have labels -1 where self_train is above 0"):
            fitted = QuerySegmenter("euclidean", learning=Learning(self_train=3)).fit(X, labels)
        assert fitted.self_training_.shape == (0, 1)
        np.testing.assert_array_equal(fitted.query_, QuerySegmenter("euclidean").fit(X, labels).query_)
    for rest, message in (
        ((UP, None), "'self_train' of Learning must be 0 where no occ"),
        ((X, np.full_like(y, -1)), "two distinct labels.* Got -1 for all"),
        ((X, np.minimum(y, 0)), "two distinct"),
    ):
        with pytest.raises(ValueError, match=message):
            QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(*rest)
