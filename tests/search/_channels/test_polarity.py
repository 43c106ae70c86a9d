"""Queries whose signs may be others: every version tried by itself, in searches, segmentations and learning."""

import copy
import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import compiled, pairs, plain, quarters, quick, slow, small_sizes, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import get_metric
from sktslib.search import Learning, Subsequences, Windows, merge_parts
from sktslib.search._channels import with_polarity
from sktslib.utils.visualisation import AlignmentDisplay

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

POLARITIES = ["any", "channels"]
WINDOWS = [*quick(["euclidean", "correlation", "chebyshev", "dtw"]), *slow("soft_dtw")]
SUBSEQUENCES = compiled(["dtw", "lcss", "erp", "ddtw", "twed"])


def of(matches, k):
    """The signs of one match."""
    return np.ravel(matches.polarity[k]).tolist()


@pytest.mark.parametrize("name", WINDOWS)
@given(data=st.data())
def test_windows_count_with_the_nearest_signs(name, data):
    x, y, w = data.draw(pairs(low=2, high=4, y_low=5, y_high=12, values=data.draw(st.sampled_from([quarters, plain]))))
    how, polarity = data.draw(st.sampled_from([None, "mean", "zscore"])), data.draw(st.sampled_from(POLARITIES))
    want, signs = naive.nearest_windows(name, x, y, polarity, w, normalize=how)
    searcher = QuerySearcher(name, candidates="windows", normalize=how, polarity=polarity, n_matches=None).fit(
        x, weight=w
    )
    names = "search._pruning.LEAST", "distances._metrics.base.BLOCK", "search._sources.MOST_TERMS"
    with small_sizes(data, *names):
        got = searcher.profile(y)
        np.testing.assert_allclose(got.distance, want, rtol=1e-8, atol=1e-7)
        matches = searcher.search(y)
        best = searcher.set_params(n_matches=2).search(y)  # by bounds, where they pay
    every = {tuple(s): v for s, v in naive.versions(x, polarity)}
    for k, (start, end, distance) in enumerate(matches):
        mine = naive.windows(name, every[tuple(of(matches, k))], y[start:end], w, normalize=how)[0]
        assert distance == pytest.approx(want[start], rel=1e-8, abs=1e-7)
        assert mine == pytest.approx(want[start], rel=1e-8, abs=1e-7)
        if how is None and name == "chebyshev":  # without roundings: of equal ones the first
            assert of(matches, k) == signs[start]
    assert list(best) == list(matches[:2])
    np.testing.assert_array_equal(best.polarity, matches.polarity[:2])


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBSEQUENCES)
@given(data=st.data())
def test_subsequences_count_with_the_nearest_signs(name, data):
    x, y, w = data.draw(pairs(low=2, high=4, y_low=3, y_high=10, values=quarters))
    polarity = data.draw(st.sampled_from(POLARITIES))
    p = {"lcss": {"eps": 0.6}, "twed": {"nu": 0.0}}.get(name, {})
    metric = get_metric(name, p)
    want, start = naive.nearest_subsequences(name, x, y, polarity, w, **p)
    searcher = QuerySearcher(metric, polarity=polarity, candidates=Subsequences(min_length=None), n_matches=None).fit(
        x, weight=w
    )
    got = searcher.profile(y)
    np.testing.assert_allclose(got.distance, want, rtol=1e-9, atol=1e-11)
    if naive.has_exact_sums(name, p, 1 if x.ndim == 1 else x.shape[1]) and w is None:
        np.testing.assert_array_equal(got.start, start)
    matches = searcher.search(y)
    for k, match in enumerate(matches):
        assert match.distance == pytest.approx(want[match.end - 1], rel=1e-9, abs=1e-11)
        # The mirrored query by itself finds the same there, with this path and these costs.
        one = QuerySearcher(metric, candidates=Subsequences(min_length=None)).fit(
            x * np.reshape(of(matches, k), -1), weight=w
        )
        assert one.profile(y).distance[match.end - 1] == pytest.approx(match.distance, rel=1e-9, abs=1e-11)
        if name == "dtw":
            assert matches.explain(k).cost.sum() == pytest.approx(match.distance, rel=1e-9, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adtw", "manhattan"])
@given(data=st.data())
def test_segmentations_cost_least_of_all_signs(name, data):
    p = {"omega": 0.5} if name == "adtw" else {}
    x, y, _ = data.draw(pairs(low=2, high=3, y_low=3, y_high=7, values=quarters))
    polarity = data.draw(st.sampled_from(POLARITIES))
    T = [[0, 1, 0], [0.5, 0, np.inf], [0, 0.25, 1]]
    queries = [x, x[::-1] + 0.5]
    rest = {"polarity": polarity, "background": 0.75, "transitions": T}
    segmenter = QuerySegmenter(get_metric(name, p), **rest).fit(queries)
    segments = segmenter.segment(y)
    want = naive.mirrored_segmentation(name, queries, y, polarity, 0.75, T, **p)
    total = naive.cost_of_segmentation([(s, e, label, c) for s, e, label, c in segments], len(y), 0.75, np.array(T))
    assert total == pytest.approx(want, rel=1e-9, abs=1e-11)
    assert [q.shape for q in segmenter.queries_] == [(len(x), segmenter.n_features_in_)] * 2
    for k, (start, end, label, cost) in enumerate(segments):
        version = queries[label - 1] * np.reshape(of(segments, k), -1)
        own = naive.segment_cost(name, version, y, None, start, end, **p)
        assert cost == pytest.approx(own, rel=1e-9, abs=1e-11)
        assert segments.query[k] == label - 1
        if name == "adtw":
            assert segments.path(k)[1, [0, -1]].tolist() == [start, end - 1]


BEAT = np.array([[0.0, 0, 1], [1, 2, 1], [4, -1, 2], [1, -3, 2], [0, 0, 1]])
TURNED = np.array([[1, 1, 1], [1, -1, -1], [-1, -1, -1], [-1, 1, 1]])


def walk(rng, signs, apart=6):
    """A recording in which a beat of three channels comes with these signs, and where."""
    y, at = rng.normal(size=(apart + len(signs) * (len(BEAT) + apart), 3)) * 0.05, []
    for k, sign in enumerate(signs):
        at.append(apart + k * (len(BEAT) + apart))
        y[at[-1] : at[-1] + len(BEAT)] += BEAT * sign
    return y, np.array(at)


def test_what_is_found_says_its_signs():
    y, at = walk(np.random.default_rng(0), TURNED)
    table = pd.DataFrame(y, columns=["ax", "ay", "gz"])
    query = pd.DataFrame(BEAT, columns=table.columns)
    searcher = QuerySearcher("euclidean", polarity="channels", n_matches=4).fit(query)
    matches = searcher.search(table).sorted()
    np.testing.assert_array_equal(matches.start, at)
    np.testing.assert_array_equal(matches.polarity, TURNED)
    frame = matches.to_frame()
    assert frame.columns.tolist()[-3:] == ["polarity_ax", "polarity_ay", "polarity_gz"]
    np.testing.assert_array_equal(frame["polarity_ay"], TURNED[:, 1])
    np.testing.assert_array_equal(matches[1:3].polarity, TURNED[1:3])
    for same in (pickle.loads(pickle.dumps(matches)), copy.deepcopy(matches)):
        np.testing.assert_array_equal(same.polarity, TURNED)
        np.testing.assert_allclose(same.explain(1).cost.sum(), matches.distance[1] ** 2)
    again = clone(searcher).set_params(n_matches=8).fit(BEAT).search([y, -y], times=[np.arange(len(y))] * 2)
    np.testing.assert_array_equal(again[again.sequence == 1].sorted().polarity, -TURNED)
    whole = searcher.set_params(polarity="any").fit(BEAT).search(y)
    assert whole.polarity.shape == (4,)
    assert {(int(s), int(p)) for s, p in zip(whole.start, whole.polarity, strict=True)} >= {(at[0], 1), (at[2], -1)}
    assert whole.to_frame()["polarity"].tolist() == whole.polarity.tolist()
    assert whole.sorted("polarity").polarity.tolist() == sorted(whole.polarity)
    assert searcher.set_params(polarity="same").fit(BEAT).search(y).polarity is None
    with pytest.raises(ValueError, match="column"):
        matches.sorted("polarity")
    drawn = AlignmentDisplay.from_estimator(searcher.set_params(polarity="any").fit(BEAT), y, match=3)
    np.testing.assert_array_equal(drawn.query, BEAT * whole.polarity[3])


def test_segments_say_their_signs():
    y, at = walk(np.random.default_rng(1), TURNED)
    rules = {"background": 1.0, "transitions": [[0, 0, 0], [0, 0, np.inf], [0, np.inf, 0]]}
    segmenter = QuerySegmenter(polarity="channels", **rules).fit({"whole": BEAT, "other": BEAT[1:4] + 9})
    segments = segmenter.segment(y)
    np.testing.assert_array_equal(segments.polarity, TURNED)
    np.testing.assert_array_equal(segments.start, at)
    assert segments.label.tolist() == ["whole"] * 4
    assert segments.query.tolist() == [0] * 4
    assert segments.to_frame()["polarity_0"].tolist() == TURNED[:, 0].tolist()
    np.testing.assert_allclose(segments.warped(0), np.tile(BEAT, (4, 1, 1)), atol=0.2)  # turned as the query is
    np.testing.assert_array_equal(segments[2:].polarity, TURNED[2:])
    stream = segmenter.stream()
    parts = [stream.update(y[k : k + 7]) for k in range(0, len(y), 7)] + [stream.flush()]
    np.testing.assert_array_equal(np.concatenate([part.polarity for part in parts]), TURNED)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(segments)).path(2), segments.path(2))
    # The average of repetitions of all signs is that of the query, not of opposite ones.
    segmenter = QuerySegmenter(polarity="channels", learning=Learning(refine=2)).fit(BEAT)
    refined = segmenter.segment(y)
    np.testing.assert_array_equal(refined.polarity, TURNED)
    assert refined.cost.sum() < QuerySegmenter(polarity="channels").fit(BEAT).segment(y).cost.sum()


@pytest.mark.parametrize("mode", ["windows", "subsequence"])
def test_one_place_is_found_once(mode):
    query, y = np.array([1.0, -1, 1, -1]), np.tile([1.0, -1], 8)  # as near either way, a sample later
    matches = QuerySearcher("dtw", candidates=mode, threshold=0.0, polarity="any").fit(query).search(y)
    assert (matches.sorted().start[1:] >= matches.sorted().end[:-1]).all()
    assert set(matches.polarity.tolist()) == {1}  # as it was given where both are as near
    searcher = QuerySearcher("dtw", candidates=mode, polarity="any", n_matches=2).fit(query)
    parts = [searcher.partial_search(at) for at in (0, 9)]
    for part, end in zip(parts, (9, 16), strict=True):
        part.feed(y[part.first : end])
    np.testing.assert_array_equal(merge_parts(parts).start, searcher.search(y).start)


@pytest.mark.slow
@pytest.mark.parametrize("polarity", POLARITIES)
def test_learning_turns_the_occurrences(polarity):
    signs = np.array([1, 1, -1, 1, -1, 1])
    y, at = walk(np.random.default_rng(2), np.column_stack([signs, signs, signs]))
    y, labels = y[:, :2], np.zeros(len(y), int)
    for s in at:
        labels[s : s + len(BEAT)] = 1
    segmenter = QuerySegmenter(polarity=polarity).fit(y, labels)
    np.testing.assert_allclose(segmenter.query_, BEAT[:, :2], atol=0.2)  # turned as most of them are
    segments = segmenter.segment(y)
    np.testing.assert_array_equal(segments.start, at)
    np.testing.assert_array_equal(np.reshape(segments.polarity, (6, -1))[:, 0], signs)
    searcher = QuerySearcher("euclidean", polarity=polarity).fit(y, labels)
    np.testing.assert_array_equal(searcher.search(y).sorted().start, at)


def test_missing_values_and_scales():
    y, at = walk(np.random.default_rng(3), TURNED)
    y[at[1], 0] = np.nan
    rest = {"polarity": "channels", "nan_policy": "omit", "n_matches": 4}
    found = QuerySearcher("euclidean", **rest).fit(BEAT).search(y).sorted()
    np.testing.assert_array_equal(found.polarity, TURNED)
    found = QuerySearcher("euclidean", candidates=Windows((0.8, 1.2)), **rest).fit(BEAT).search(y).sorted()
    np.testing.assert_array_equal(found[found.distance < 1].polarity, TURNED[[0, 2, 3]])


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"at most 8 channels\. Got 9 channels\. Select channels; or multiply"):
        QuerySegmenter(polarity="channels").fit(np.eye(9))
    with pytest.raises(ValueError, match="'polarity' parameter must be 'same' with the Kullback"):
        QuerySearcher("kullback_leibler", polarity="any").fit([1.0, 2.0])
    with pytest.raises(ValueError, match=r"'polarity' parameter .* must be .*'any'.* Got 'both'"):
        QuerySearcher(polarity="both").fit([1.0, 2.0])


def test_alternatives_of_a_query_are_mirrored_too():
    y, at = walk(np.random.default_rng(4), TURNED)
    other = np.array([[2.0, 0, 0], [-2, 3, 0], [2, 3, 3], [-2, 0, 3], [2, 0, 0]])
    y[at[3] : at[3] + len(other)] = -other
    searcher = QuerySearcher("dtw", polarity="any", threshold=1.0).fit(BEAT)
    query = searcher._queries[0].unsigned._replace(alternatives=((np.ascontiguousarray(other.T), None),))
    searcher._queries = [with_polarity(query, "any")]
    profiles = [QuerySearcher("dtw").fit(sign * x).profile(y).distance for x in (BEAT, other) for sign in (1, -1)]
    np.testing.assert_array_equal(searcher.profile(y).distance, np.min(profiles, axis=0))
    matches = searcher.search(y)
    found = dict(zip(matches.start.tolist(), matches.polarity.tolist(), strict=True))
    assert found == {at[0]: 1, at[2]: -1, at[3]: -1}
    np.testing.assert_allclose(matches.explain(0).cost, 0.0, atol=1e-12)
    segmenter = QuerySegmenter(polarity="any", learning=Learning(refine=1)).fit(BEAT)
    own = segmenter._queries[0].unsigned._replace(alternatives=query.alternatives)
    segmenter._queries = [with_polarity(own, "any")]
    segments = segmenter.segment(y)
    known = dict(zip(segments.start.tolist(), segments.polarity.tolist(), strict=True))
    assert [known[s] for s in at[[0, 2, 3]]] == [1, -1, -1]
    assert segments.cost[segments.start == at[3]] == 0.0
