"""What a search does where nothing is said: how many matches, how short, what labels are predicted, in which order."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import identical, refused
from sklearn.base import clone

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.metrics import labels_from_events
from sktslib.search import Percentile, Subsequences, Windows

ECG = load_ecg_example()
BUMP, STEP = np.array([0.0, 1.0, 3.0, 1.0, 0.0]), np.array([0.0, -2.0, -2.0, -2.0, -2.0, 0.0])


def recording(pieces=(BUMP, STEP, BUMP, BUMP, STEP)):
    """Pieces with background between, as a column, and their ranges."""
    y, ranges = [np.zeros(4)], []
    for piece in pieces:
        start = sum(map(len, y))
        ranges.append((start, start + len(piece)))
        y += [piece, np.zeros(4)]
    y = np.concatenate(y)
    return (y + 0.05 * np.random.default_rng(0).standard_normal(len(y)))[:, np.newaxis], np.array(ranges)


X, RANGES = recording()
Y = labels_from_events(RANGES, ["up", "down", "up", "up", "down"], n_samples=len(X))


@pytest.mark.parametrize(
    ("rule", "most"),
    [({}, 1), ({"threshold": 2.0}, None), ({"threshold": Percentile(20)}, None), ({"threshold": 0}, None)],
)
def test_how_many_matches_depends_on_what_else_limits_them(rule, most):
    auto, said = QuerySearcher(**rule).fit(BUMP), QuerySearcher(**rule, n_matches=most).fit(BUMP)
    identical(auto.search(X), said.search(X))
    assert len(QuerySearcher(threshold=2.0).fit(BUMP).search(X)) == 3
    assert len(QuerySearcher(threshold=2.0, n_matches=2).fit(BUMP).search(X)) == 2


def test_how_many_matches_follows_parameters_that_are_set_later():
    searcher = QuerySearcher().fit(BUMP)
    assert [len(searcher.set_params(**p).search(X)) for p in ({}, {"threshold": 2.0}, {"threshold": None})] == [1, 3, 1]
    learned = QuerySearcher().fit(X, Y)
    identical(learned.search(X), QuerySearcher(n_matches=None).fit(X, Y).search(X))
    assert len(learned.search(X)) == 5
    assert len(learned.fit(BUMP).search(X)) == 1  # no labels any more
    for made in (clone(searcher), pickle.loads(pickle.dumps(searcher))):
        assert (made.n_matches, made.candidates) == ("auto", "auto")


@pytest.mark.parametrize(
    ("m", "longest", "shortest"), [(1, None, 1), (2, None, 1), (5, None, 2), (8, None, 4), (8, 3, 3)]
)
def test_the_shortest_match_is_half_of_the_query(m, longest, shortest):
    rng = np.random.default_rng(m)
    query, y = rng.normal(size=m), rng.normal(size=80)
    auto = QuerySearcher(n_matches=None, candidates=Subsequences(max_length=longest)).fit(query)
    said = QuerySearcher(n_matches=None, candidates=Subsequences(shortest, longest)).fit(query)
    identical(auto.search(y), said.search(y))
    np.testing.assert_array_equal(auto.profile(y).start, said.profile(y).start)
    found = auto.search(y)
    assert (found.end - found.start).min() >= shortest
    free = auto.set_params(candidates=Subsequences(min_length=None)).search(y)
    assert (free.end - free.start).min() == 1


def test_each_of_several_queries_has_its_own_bound_and_windows_have_none():
    rng = np.random.default_rng(2)
    queries, y = [rng.normal(size=4), rng.normal(size=11)], rng.normal(size=90)
    found = QuerySearcher(n_matches=None).fit(queries).search(y)
    lengths = found.end - found.start
    assert [lengths[found.query == q].min() for q in (0, 1)] == [2, 5]
    for rule in ({"candidates": Windows()}, {"normalize": "zscore"}, {"metric": "euclidean"}):
        found = QuerySearcher(**rule, n_matches=4).fit(queries[1]).search(y)
        assert set(found.end - found.start) == {11}
    short = QuerySearcher(n_matches=None, candidates=Subsequences(min_length=None)).fit(ECG.query).search(ECG.sequence)
    assert (short.end - short.start).min() == 1
    usual = QuerySearcher(n_matches=None).fit(ECG.query).search(ECG.sequence)
    assert (usual.end - usual.start).min() >= len(ECG.query) // 2


def test_bounds_that_cross():
    searcher = QuerySearcher(candidates=Subsequences(min_length=4, max_length=3))
    refused(lambda: searcher.fit(BUMP), "'min_length' of Subsequences must not exceed 'max_length'. Got 4 and 3")


# ------------------------------------------------------------------------------------------------------------- labels
def test_classes_are_predicted_where_they_were_learned():
    searcher = QuerySearcher().fit(X, Y)
    predicted, matches = searcher.predict(X), searcher.search(X)
    assert predicted.dtype == searcher.classes_.dtype
    assert set(predicted) == {"", "up", "down"}
    for s, e, label in zip(matches.start, matches.end, matches.label, strict=True):
        assert (predicted[s:e] == label).all()
    assert (predicted == "").sum() == len(X) - (matches.end - matches.start).sum()
    assert searcher.score(X, Y) == 1.0
    numbers = np.where(Y == "up", 7, np.where(Y == "down", -2, 0))
    assert set(QuerySearcher().fit(X, numbers).predict(X)) == {-2, 0, 7}
    flags = QuerySearcher().fit(X, Y == "up").predict(X)
    assert flags.dtype == bool and flags.any() and not flags.all()
    segmented = QuerySegmenter().fit(X, Y).predict(X)
    middle = RANGES.mean(axis=1).astype(int)
    np.testing.assert_array_equal(predicted[middle], segmented[middle])
    assert predicted.dtype == segmented.dtype
    assert searcher.fit(BUMP).predict(X).dtype == np.int64  # ranks again


def test_thresholds_are_learned_from_matches_of_any_length():
    x, y = X[2:-2], Y[2:-2]  # less room than half of a query between two occurrences
    auto, free = (QuerySearcher(candidates=Subsequences(min_length=bound)).fit(x, y) for bound in ("auto", None))
    assert auto.threshold_ == free.threshold_
    assert None not in auto.threshold_
    only = QuerySearcher().fit(x, y == "up").threshold_
    assert only == QuerySearcher(candidates=Subsequences(min_length=None)).fit(x, y == "up").threshold_


def test_where_classes_overlap_the_better_match_is_predicted():
    y = np.where(np.arange(len(X)) < RANGES[1, 0], Y, "")
    y[RANGES[2, 0] : RANGES[2, 1]] = "same"  # the same shape by another name
    searcher = QuerySearcher(threshold=9.0).fit(X, y)
    matches, predicted = searcher.search(X), searcher.predict(X)
    first = next(iter(matches))
    assert (predicted[first.start : first.end] == matches.label[0]).all()
    want = np.full(len(X), "", dtype=predicted.dtype)
    for k in range(len(matches) - 1, -1, -1):
        want[matches.start[k] : matches.end[k]] = matches.label[k]
    np.testing.assert_array_equal(predicted, want)
    assert {"up", "same"} <= set(matches.label)


def test_columns_are_named_after_the_classes():
    searcher = QuerySearcher().fit(X, Y)
    assert searcher.get_feature_names_out().tolist() == ["querysearcher_down", "querysearcher_up"]
    table = searcher.set_output(transform="pandas").transform(X)
    assert table.columns.tolist() == searcher.get_feature_names_out().tolist()
    assert QuerySearcher().fit([BUMP, STEP]).get_feature_names_out().tolist() == ["querysearcher0", "querysearcher1"]


# ------------------------------------------------------------------------------------------------------------ streams
@given(
    seed=st.integers(0, 2**16),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    queries=st.integers(1, 3),
    overlap=st.sampled_from([0.0, 0.0, 0.5]),
    delay=st.sampled_from([None, 0, 7]),
    metric=st.sampled_from(["dtw", "euclidean"]),
)
def test_streams_give_matches_in_order_of_time(seed, cuts, queries, overlap, delay, metric):
    rng = np.random.default_rng(seed)
    y, given_queries = rng.normal(size=60).round(1), [rng.normal(size=4 + 3 * q) for q in range(queries)]
    searcher = QuerySearcher(metric, threshold=4.0, max_overlap=overlap).fit(given_queries)
    stream = searcher.stream(max_delay=None if delay is None else 10 + delay)
    parts = [stream.update(chunk) for chunk in np.split(y, sorted(cuts))] + [stream.flush()]
    rows = [[], [], []]
    for part in parts:
        query = np.zeros(len(part), int) if part.query is None else part.query
        order = list(zip(part.start, part.end, query, strict=True))
        assert order == sorted(order)
        for row in order:
            rows[row[2]].append(row)
        for k, match in enumerate(part):  # each is still itself
            path = part.path(k)
            assert (path[1, 0], path[1, -1]) == (match.start, match.end - 1)
    assert all(of == sorted(of) for of in rows)  # of one query also from chunk to chunk
    if delay is None:
        want = searcher.search(y)
        query = np.zeros(len(want), int) if want.query is None else want.query
        assert sorted(row for of in rows for row in of) == sorted(zip(want.start, want.end, query, strict=True))
