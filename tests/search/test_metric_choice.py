"""metric="auto": what labels choose, and what it is without them."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import long_without_compiler

from sktslib import QuerySearcher, QuerySegmenter, pipeline_search
from sktslib.distances import ADTW, DTW
from sktslib.metrics import labels_from_events
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.search._learning import choice
from sktslib.search._learning.choice import Block, Candidate, Evidence, blocks_of, compare, evidence_of, unit_of
from sktslib.search._segments.optimal import Background

SHAPE = np.array([0.0, 2.0, 3.0, -2.0, -1.0, 0.5])


def recording(events=8, noise=0.2, channels=1, sizes=(1.0,), seed=0):
    """A shape in noise, of some sizes in turn, and labels of the time points, a class for each size."""
    rng = np.random.default_rng(seed)
    starts = 5 + 14 * np.arange(events) + rng.integers(0, 5, events)
    X = noise * rng.standard_normal((starts[-1] + 16, channels))
    for k, start in enumerate(starts):
        X[start : start + 6] += sizes[k % len(sizes)] * SHAPE[:, np.newaxis]
    kinds = 1 + np.arange(events) % len(sizes)
    return X, labels_from_events(np.column_stack([starts, starts + 6]), kinds, n_samples=len(X))


@pytest.fixture
def few(monkeypatch):
    """Fewer candidates, since without the compiler each takes its time."""
    monkeypatch.setattr(choice, "STIFFNESS", (1.0, 1 / 16))


# ------------------------------------------------------------------------------------------------ numbers of the choice
ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8)), min_size=1, max_size=8)


@given(ranges, ranges, st.data())
def test_evidence_is_that_of_the_definition(events, found, data):
    events = np.array([(s, s + n) for s, n in events])
    found = np.array([(s, s + n) for s, n in found])
    # Different shares, since of equal ones the order decides.
    share = np.array(data.draw(st.permutations(range(1, len(found) + 1)))) / 3
    got = evidence_of(events, found, share, found[:1])
    hits, false = naive.shares_of(events.tolist(), found.tolist(), share.tolist())
    assert got.hits.tolist() == hits
    assert sorted(got.false.tolist()) == false
    assert got.score == naive.event_f1(events.tolist(), found[:1].tolist(), 1 / 3)
    assert got.margin == naive.margin_of(hits, false)


def test_one_mark_of_fifty_may_be_wrong():
    hits, false = np.full(50, 0.25), np.array([0.75, 0.125])
    hits[7] = np.inf
    assert Evidence(hits, false, 50, 50).margin == 0.5
    assert Evidence(hits[1:], false, 49, 49).margin == 0.125 - 2.0
    assert Evidence(hits[:3], false[:0], 3, 3).margin == 1.75  # nothing false costs as what has nothing in common
    assert Evidence(hits[:3] / 8, false[:1], 3, 3).margin == 0.5  # nearer than usual is no better


@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 6))
def test_choice_is_that_of_the_definition(seed, blocks, count):
    rng = np.random.default_rng(seed)
    evidence = [
        [
            Evidence(rng.choice([0.1, 0.15, 0.5], 7), rng.choice([0.4, 0.9, 1.5], 3), int(rng.integers(5, 8)), 7)
            for _ in range(blocks)
        ]
        for _ in range(count)
    ]
    table, best = compare([Candidate("adtw", float(k)) for k in range(count)], evidence)
    scores = [[block.score for block in row] for row in evidence]
    assert best == naive.best_of(scores, [[block.margin for block in row] for row in evidence], 7 * blocks)
    assert sorted(table["rank_test_score"]) == list(range(1, count + 1))
    assert table["rank_test_score"][best] == 1
    for k in range(blocks):
        assert table[f"split{k}_test_score"].tolist() == [row[k] for row in scores]
    np.testing.assert_allclose(table["mean_test_score"], np.mean(scores, axis=1))
    np.testing.assert_array_equal(table["omega"], 1.6 * np.arange(count))


def test_blocks_have_as_many_occurrences_each_and_cut_none():
    starts = np.array([3, 10, 20, 30, 50, 60, 70, 90, 101])
    events = np.column_stack([starts, starts + 5])
    edges = [(0, 27), (27, 67), (67, 200)]
    assert [tuple(block) for block in blocks_of(events, 200)] == [(0, 27), (27, 67), (67, 200)]
    assert [tuple(block) for block in blocks_of(events[:8], 200)] == [(0, 42), (42, 200)]
    assert blocks_of(events[:5], 200) == []
    held = [events[Block(*edge).holds(events)] for edge in edges]
    assert [len(some) for some in held] == [len(test) for _, test in BlockedSeriesSplit(3).split(events)]


@given(st.integers(0, 10), st.integers(1, 10), st.lists(st.tuples(st.integers(0, 25), st.integers(1, 6)), max_size=8))
def test_the_rest_of_a_recording_has_the_same_samples(first, length, events):
    block = Block(first, first + length)
    samples = np.arange(40)
    rest = np.delete(samples, slice(*block))
    events = np.array([(s, s + n) for s, n in events]).reshape(-1, 2)
    moved, outside = block.rest_of(events)
    assert outside.tolist() == [not 2 * block.first <= s + e < 2 * block.last for s, e in events.tolist()]
    for (s, e), (a, b) in zip(events[outside].tolist(), moved.tolist(), strict=True):
        assert rest[a:b].tolist() == [k for k in samples[s:e].tolist() if not block.first <= k < block.last]


def test_shares_are_of_a_background_of_factor_one():
    queries = QuerySegmenter("dtw").fit([[1.0], [2.0], [3.0]], weight=[1.0, 0.5, 0.0])._queries
    seen = [Background(7.0), Background(12.0, np.array([[3.0]]), np.array([[5.0]]))]
    unit = unit_of(seen, queries)
    assert (unit.limit, unit.slope.item(), unit.offset.item()) == (2.0, 0.5, 5.0)
    assert unit_of(seen[:1], queries).slope is None


# -------------------------------------------------------------------------------------------------------- the segmenter
@long_without_compiler
def test_segmenter_chooses_by_labels(few):
    X, y = recording()
    fitted = QuerySegmenter("auto").fit(X, y)
    table = fitted.cv_results_
    assert table["metric"].tolist() == ["adtw", "adtw", "dtw"]
    assert table["rank_test_score"][fitted.best_index_] == 1
    assert {"split0_margin", "split1_margin", "mean_margin", "std_margin"} <= set(table)
    assert "split2_margin" not in table  # eight occurrences are two blocks of three or more
    named = QuerySegmenter(fitted.metric_).fit(X, y)
    assert type(fitted.metric_) in (ADTW, DTW)
    np.testing.assert_array_equal(fitted.segment(X).boundaries, named.segment(X).boundaries)
    jobs = QuerySegmenter("auto", n_jobs=2).fit(X, y)
    assert jobs.metric_ == fitted.metric_
    for name in table:
        np.testing.assert_array_equal(jobs.cv_results_[name], table[name])


@long_without_compiler
@pytest.mark.parametrize("given", [0.3, "auto"])
def test_classes_channels_gaps_and_times(few, given):
    X, y = recording(channels=2, sizes=(1.0, -1.0))
    X[16:18, 1] = np.nan
    times = np.arange(len(X)) / 4.0
    fitted = QuerySegmenter("auto", nan_policy="omit", background=given, max_gap=1.0).fit(X, y, times=times)
    assert fitted.classes_.tolist() == [1, 2]
    assert fitted.cv_results_["mean_test_score"].shape == (3,)
    found = fitted.segment(X, times)
    assert (fitted.predict(X, times)[y > 0] == y[y > 0]).mean() > 0.8
    assert len(found) >= 7


def test_without_labels_or_with_few_it_is_the_default(capsys):
    X, y = recording()
    first = np.flatnonzero(y)[0]
    for fitted in (QuerySegmenter("auto"), QuerySearcher("auto")):
        fitted.fit(X[first : first + 6])
        assert fitted.metric_.omega == "auto"
        assert not hasattr(fitted, "cv_results_")
        fitted.fit(X, np.where(np.arange(len(y)) < 70, y, 0))
        assert fitted.metric_.omega == "auto"
        assert fitted.cv_results_ is fitted.best_index_ is None
    named = QuerySegmenter().fit(X[first : first + 6]).segment(X)
    again = QuerySegmenter("auto").fit(X[first : first + 6]).segment(X)
    np.testing.assert_array_equal(named.cost, again.cost)


# --------------------------------------------------------------------------------------------------------- the searcher
def test_searcher_chooses_normalization_too():
    X, y = recording(sizes=(1.0,), noise=0.05)
    size = 1.0 + 9.0 * np.arange(len(X)) / len(X)  # the same shape, ten times as large in the end
    fitted = QuerySearcher("auto", candidates="windows").fit(X * size[:, np.newaxis], y)
    assert fitted.cv_results_["normalize"][-3:].tolist() == [None, "mean", "zscore"]
    assert (fitted.metric_.name, fitted.normalize_) == ("euclidean", "zscore")
    assert len(fitted.search(X * size[:, np.newaxis])) == 8
    assert fitted.get_params()["normalize"] is None
    fitted.set_params(normalize="mean").fit(X, y)
    assert set(fitted.cv_results_["normalize"]) == {"mean"}
    assert fitted.normalize_ == "mean"
    fitted.set_params(metric="dtw").fit(X, y)
    assert not hasattr(fitted, "cv_results_")


def test_searcher_by_subsequences_has_elastic_candidates():
    X, y = recording()
    fitted = QuerySearcher("auto", candidates="subsequence", threshold=1e9).fit(X, y)
    assert set(fitted.cv_results_["metric"]) == {"adtw", "dtw"}
    assert fitted.cv_results_["mean_test_score"].max() == 1.0  # by what is learned, not by the threshold that is set
    assert fitted.threshold_ == 1e9


def test_in_grids_and_pipelines(capsys):
    X, y = recording()
    pipe = make_pipeline(StandardScaler(), QuerySearcher("auto", candidates="subsequence", verbose=1)).fit(X, y)
    assert "choose the metric" in capsys.readouterr().err
    assert len(pipeline_search(pipe, X)) == 8
    grid = {"metric": ["auto", "euclidean"], "normalize": [None]}
    search = GridSearchCV(QuerySearcher(candidates="windows"), grid, cv=BlockedSeriesSplit(2)).fit(X, y)
    assert search.cv_results_["mean_test_score"].min() > 0.5
    assert clone(QuerySegmenter("auto")).metric == "auto"
    assert QuerySegmenter("auto").set_params(metric__window=0.5).metric == ADTW(omega="auto", window=0.5)
    with pytest.raises(ValueError, match="'metric_params' must be None where metric='auto'"):
        QuerySegmenter("auto", metric_params={"omega": 1.0}).fit(X, y)
