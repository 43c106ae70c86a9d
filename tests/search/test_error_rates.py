"""Thresholds that keep an error rate: of false matches by decoy queries, of missed occurrences by labels."""

import pickle
import warnings

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from sklearn.base import clone

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.metrics import labels_from_events
from sktslib.search import Conformal, FalseDiscoveryRate, merge_parts
from sktslib.search._sources import ArraySource
from sktslib.search._thresholds import Calibration, Decoys, center_of, phase_shifted, rate_of, recorded_hours

Q = np.array([0.0, 1.0, 4.0, 2.0, -1.0, 0.0])
ROOT = 12  # occurrences of a recording


def planted(seed=0, noise=0.3, n=ROOT, offset=0.0):
    """A recording of noise with occurrences of Q, and where they are."""
    rng = np.random.default_rng(seed)
    y, start = noise * rng.standard_normal(16 * n) + offset, 16 * np.arange(n) + rng.integers(0, 8, n)
    for s in start:
        y[s : s + len(Q)] += Q
    return y, np.column_stack([start, start + len(Q)])


Y, EVENTS = planted()
RATE = FalseDiscoveryRate(0.2, n_decoys=2, random_state=0)


def searcher(threshold=RATE, **parameters):
    return QuerySearcher("euclidean", threshold=threshold, **parameters).fit(Q)


def by_hand(y, rule, q=Q):
    """The matches of a query, the distances of those of its decoys, and the threshold, each by a search of its own."""
    decoys = Decoys(rule, 1).of(searcher(None), searcher(None)._queries, center_of(ArraySource(y[np.newaxis], None)))[0]
    each = [QuerySearcher("euclidean", n_matches=None).fit(x).search(y) for x in (q, *(how.x[0] for how in decoys))]
    distances = np.concatenate([one.distance for one in each[1:]])
    t = naive.rate_threshold(each[0].distance.tolist(), distances.tolist(), len(decoys), rule.alpha)
    return each[0], distances, len(decoys), t


# ------------------------------------------------------------------------------------------------------------ the rule
levels = st.lists(st.integers(0, 12).map(lambda k: k / 4), max_size=30)


@given(levels, st.lists(levels, min_size=1, max_size=3), st.sampled_from([0.05, 0.1, 0.3, 0.7]), levels)
def test_threshold_and_rates_are_those_of_the_definition(matches, decoys, alpha, others):
    one = Calibration.of(np.array(matches), [np.array(some) for some in decoys], 2.0)
    every, count = [d for some in decoys for d in some], len(decoys)
    assert one.threshold(alpha) == naive.rate_threshold(matches, every, count, alpha)
    q, p, false = one.rates(np.array(others))
    for k, d in enumerate(others):
        assert q[k] == pytest.approx(naive.q_value(matches, every, count, d), rel=1e-12)
        assert p[k] == pytest.approx(naive.p_value(every, d), rel=1e-12)
        assert false[k] == pytest.approx(sum(value <= d for value in every) / count / 2.0, rel=1e-12)
        assert (q[k] <= alpha) == (d <= one.threshold(alpha))


@pytest.mark.parametrize("m", [2, 5, 6])
@pytest.mark.parametrize("angle", [0.0, 0.7, -1.5])
def test_decoys_are_shifted_mirror_images(m, angle):
    x = np.random.default_rng(m).standard_normal((2, m))
    got = phase_shifted(x, np.array([0.5, -1.0]), angle)
    for row, own, center in zip(got, x, (0.5, -1.0), strict=True):
        np.testing.assert_allclose(row, naive.shifted_decoy(own.tolist(), center, angle), rtol=1e-9)
        np.testing.assert_allclose(np.sort(row), np.sort(2 * center - own))


def test_the_center_is_the_median_of_what_is_there():
    y = np.column_stack([[1.0, np.nan, 3.0, 8.0], [5.0, 5.0, 7.0, 7.0]])
    assert center_of(ArraySource(y.T, None)).tolist() == [3.0, 6.0]


# -------------------------------------------------------------------------------------------------------------- search
@pytest.mark.parametrize("null", ["phase", "negated", lambda q, r: q[r.permutation(len(q))]])
def test_a_search_takes_what_the_rule_takes(null):
    rule = clone(RATE).set_params(null=null)
    everything, decoys, count, t = by_hand(Y, rule)
    found = searcher(rule).search(Y)
    assert count == (1 if null == "negated" else 2)
    assert 10 <= len(found) == (everything.distance <= t).sum()
    assert found.distance.max() == t
    for k, d in enumerate(found.distance):
        assert found.qvalue[k] == naive.q_value(everything.distance, decoys, count, d) <= 0.2
        assert found.pvalue[k] == naive.p_value(decoys, d)
        assert found.false_per_hour[k] == pytest.approx((decoys <= d).sum() / count / (len(Y) / 3600))


def test_the_text_is_the_rule():
    rule = FalseDiscoveryRate(0.3)
    assert len(searcher(" FDR:0.3").search(Y)) >= 10
    one, other = (QuerySearcher(threshold=t).fit(Q) for t in ("fdr:0.3", rule))
    assert repr(rate_of(one)) == repr(rate_of(other)) == "FalseDiscoveryRate(alpha=0.3)"


def test_the_offset_of_a_recording_does_not_matter():
    shifted = QuerySearcher("euclidean", threshold=RATE).fit(Q + 50.0).search(Y + 50.0)
    np.testing.assert_allclose(shifted.qvalue, searcher().search(Y).qvalue)


def test_several_queries_and_sequences_have_thresholds_of_their_own():
    other, _ = planted(1, noise=5.0)
    both = QuerySearcher("euclidean", threshold=FalseDiscoveryRate(0.3, "negated"), n_jobs=2).fit([Q, Q[::-1].copy()])
    with pytest.warns(UserWarning, match=r"in \d of 4 searches"):
        found = both.search([Y, other])
    for k, y in enumerate((Y, other)):
        alone = found[(found.sequence == k) & (found.query == 0)]
        one = QuerySearcher("euclidean", threshold=FalseDiscoveryRate(0.3, "negated")).fit(Q)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = one.search(y)
        assert alone.start.tolist() == want.start.tolist()
        np.testing.assert_array_equal(alone.qvalue, want.qvalue)


def test_jobs_and_chunks_change_nothing(tmp_path):
    path = tmp_path / "y.npy"
    np.save(path, Y)
    want = searcher().search(Y).to_frame()
    for y, jobs in ((np.load(path, mmap_mode="r"), None), (Y, 2)):
        pd.testing.assert_frame_equal(searcher(n_jobs=jobs).search(y).to_frame(), want)


def test_n_matches_cuts_what_keeps_the_rate():
    everything, few = searcher().search(Y), searcher(n_matches=3).search(Y)
    np.testing.assert_array_equal(few.qvalue, everything.qvalue[:3])


def test_too_few_matches_are_none_and_a_warning_says_how_many():
    with pytest.warns(UserWarning, match="Got 5 matches, fewer than 1 / alpha, 20"):
        found = searcher("fdr:0.05").search(Y[:34])
    assert len(found) == 0
    assert found.qvalue.shape == (0,)
    noise = np.random.default_rng(0).standard_normal(400)
    with pytest.warns(UserWarning, match="lowest estimated share of false ones is"):
        assert len(searcher("fdr:0.05").search(noise)) == 0


def test_columns_are_kept_by_what_is_made_of_matches():
    found = searcher().search(Y, times=pd.date_range("2024", periods=len(Y), freq="1s"))
    frame = found.to_frame()
    assert frame.columns[3:6].tolist() == ["qvalue", "pvalue", "false_per_hour"]
    np.testing.assert_array_equal(found[2:4].qvalue, found.qvalue[2:4])
    assert found.sorted("qvalue").qvalue.tolist() == np.sort(found.qvalue).tolist()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).false_per_hour, found.false_per_hour)
    plain = searcher(2.0).search(Y)
    assert plain.qvalue is plain.pvalue is plain.false_per_hour is None
    assert "qvalue" not in plain.to_frame()


@pytest.mark.parametrize(
    ("times", "hours"),
    [
        (None, 192 / 3600),
        (np.arange(192) * 2.0, 384 / 3600),
        (pd.date_range("2024", periods=192, freq="1min"), 192 / 60),
        (np.r_[np.arange(100), np.arange(92) + 1e6], 192 / 3600),  # a hole is not recorded
    ],
)
def test_hours_are_those_that_were_recorded(times, hours):
    assert recorded_hours(192, times) == pytest.approx(hours)


# --------------------------------------------------------------------------------------------- known before a recording
def test_a_fitted_threshold_counts_for_searches_streams_and_parts():
    fitted = searcher()
    assert fitted.threshold_ is None
    for call in (fitted.stream, fitted.partial_search):
        refused(call, "'threshold' parameter of QuerySearcher", "fit_threshold(X)", "Got ")
    own = fitted.search(Y)
    fitted.fit_threshold(Y)
    assert fitted.threshold_ == own.distance.max()
    other, _ = planted(1)
    found, stream = fitted.search(other), fitted.stream()
    assert found.distance.max() <= fitted.threshold_
    by_chunks = [stream.update(other[:77]), stream.update(other[77:]), stream.flush()]
    for name in ("start", "distance", "qvalue", "pvalue", "false_per_hour"):
        told = np.concatenate([getattr(one, name) for one in by_chunks])
        np.testing.assert_array_equal(told, getattr(found.sorted(), name))
    parts = [fitted.partial_search(), fitted.partial_search(90)]
    parts[0].feed(other[:90])
    parts[1].feed(other[parts[1].first :])
    np.testing.assert_array_equal(merge_parts(parts).qvalue, found.qvalue)
    assert searcher().fit(Q).threshold_ is None
    assert fitted.fit(Q).threshold_ is None


def test_several_recordings_fix_one_threshold():
    other, _ = planted(1)
    rule = FalseDiscoveryRate(0.1, "negated")
    fitted = searcher(rule).fit_threshold([Y, other])
    each = [by_hand(y, rule) for y in (Y, other)]
    matches, decoys = (np.concatenate([one[k] if k else one[0].distance for one in each]) for k in range(2))
    assert fitted.threshold_ == naive.rate_threshold(matches.tolist(), decoys.tolist(), 1, 0.1)
    fitted.set_params(threshold__alpha=0.01)
    assert fitted.threshold_ == -np.inf
    assert len(fitted.search(Y)) == 0


# ------------------------------------------------------------------------------------------------------------ segmenter
def segmenter(threshold, **parameters):
    return QuerySegmenter(threshold=threshold, **parameters).fit(Q)


def test_a_segmentation_is_cut_by_the_cost_per_query_point():
    everything = segmenter(None).segment(Y)
    costs = everything.cost / len(Q)
    limit = np.sort(costs)[8]
    found = segmenter(limit).segment(Y)
    assert found.start.tolist() == everything.start[costs <= limit].tolist()
    assert len(found) == 9
    stream = segmenter(limit).stream()
    starts = [stream.update(Y[:70]).start, stream.update(Y[70:]).start, stream.flush().start]
    assert np.concatenate(starts).tolist() == found.start.tolist()
    assert (segmenter(limit).predict(Y) > 0).sum() == (found.end - found.start).sum()


def test_a_segmentation_keeps_the_rate_by_decoys_of_their_own():
    rule = FalseDiscoveryRate(0.2, "negated")
    everything = segmenter(None).segment(Y)
    decoy = 2 * np.median(Y) - Q
    usual = segmenter(None)
    other = QuerySegmenter(usual.metric_, background=usual.background_).fit(decoy).segment(Y)
    costs, decoys = everything.cost / len(Q), other.cost / len(Q)
    t = naive.rate_threshold(costs.tolist(), decoys.tolist(), 1, 0.2)
    found = segmenter(rule).segment(Y)
    assert found.start.tolist() == everything.start[costs <= t].tolist()
    assert len(found) >= 10
    for q, cost in zip(found.qvalue, found.cost / len(Q), strict=True):
        assert q == pytest.approx(naive.q_value(costs.tolist(), decoys.tolist(), 1, cost))
    assert {"qvalue", "pvalue", "false_per_hour"} <= {*found.to_frame().columns}
    fitted = segmenter(rule)
    refused(fitted.stream, "'threshold' parameter of QuerySegmenter", "fit_threshold")
    stream = fitted.fit_threshold(Y).stream()
    assert fitted.threshold_ == t
    told = [stream.update(Y), stream.flush()]
    np.testing.assert_allclose(np.concatenate([one.qvalue for one in told]), found.qvalue)


# ------------------------------------------------------------------------------------------------------------ conformal
@given(st.lists(st.integers(0, 9).map(float), min_size=4, max_size=25), st.sampled_from([0.2, 0.25, 0.5]))
def test_the_conformal_threshold_is_the_quantile(scores, alpha):
    assert Conformal(alpha)._threshold(np.array(scores), "a") == naive.conformal_threshold(scores, alpha)


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_occurrences_held_out_set_the_threshold(cls):
    y = labels_from_events(EVENTS, n_samples=len(Y))
    X, task = Y[:, np.newaxis], "search" if cls is QuerySearcher else "segment"
    fitted = cls("euclidean", threshold=Conformal(0.25)).fit(X, y)
    scores = np.full(len(EVENTS), np.inf)
    for k in range(5):
        held = np.array_split(np.arange(len(EVENTS)), 5)[k]
        other = cls("euclidean").fit(X, labels_from_events(np.delete(EVENTS, held, axis=0), n_samples=len(Y)))
        if task == "segment":
            other._rules = other._rules._replace(background=fitted._rules.background)
        found = getattr(other.set_params(threshold=1e9), task)(X)
        far = found.distance if task == "search" else found.cost / len(Q)
        for event in held:
            near = np.abs(found.start - EVENTS[event, 0]) <= 3  # a third of the union of two ranges of 6
            scores[event] = far[near].min(initial=np.inf)
    assert fitted.threshold_ == pytest.approx(naive.conformal_threshold(scores.tolist(), 0.25))
    found = getattr(fitted, task)(X)
    assert found.qvalue is None
    assert 0.75 <= np.isin(EVENTS[:, 0], found.start).mean()


def test_classes_held_out_are_compared_as_they_are_searched_for():
    rng = np.random.default_rng(0)
    y, events = 0.1 * rng.standard_normal(16 * ROOT), 16 * np.arange(ROOT)[:, np.newaxis] + [3, 9]
    kind = np.arange(ROOT) % 2 + 1
    for (s, e), k in zip(events, kind, strict=True):  # the second class varies more, so all of its weights are less
        y[s:e] += Q if k == 1 else 4 - Q * rng.uniform(0.5, 1.5) + rng.standard_normal(len(Q))

    def marked(some):
        return labels_from_events(events[some], kind[some], n_samples=len(y))

    X, every = y[:, np.newaxis], np.arange(ROOT)
    fitted = QuerySearcher("euclidean", threshold=Conformal(0.25)).fit(X, marked(every))
    scores = np.full(ROOT, np.inf)
    for block in range(5):
        held = np.concatenate([np.array_split(every[kind == k], 5)[block] for k in (1, 2)])
        found = QuerySearcher("euclidean").fit(X, marked(np.setdiff1d(every, held))).set_params(threshold=1e9).search(X)
        for event in held:
            near = (np.abs(found.start - events[event, 0]) <= 3) & (found.label == kind[event])
            scores[event] = found.distance[near].min(initial=np.inf)
    wanted = [naive.conformal_threshold(scores[kind == k].tolist(), 0.25) for k in (1, 2)]
    assert fitted.threshold_ == pytest.approx(wanted)


# -------------------------------------------------------------------------------------------------------- what is wrong
@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (FalseDiscoveryRate(1.5), ["'alpha' parameter of FalseDiscoveryRate", "1.5"]),
        (FalseDiscoveryRate(null="reversed"), ["'null'", "'phase'"]),
        (FalseDiscoveryRate(null="shuffled"), ["'null' parameter of FalseDiscoveryRate"]),
        (FalseDiscoveryRate(n_decoys=0), ["'n_decoys'"]),
        ("fdr:", ["'threshold' parameter of QuerySearcher", "'fdr:0.05'"]),
        ("conformal:0.1", ["'threshold' parameter of QuerySearcher", "labels", "Use 'fdr:0.05'"]),
    ],
)
def test_wrong_thresholds(threshold, words):
    refused(lambda: searcher(threshold), *words)


def test_wrong_decoys_and_calls():
    for null, words in (
        (lambda q, r: q, ["differ from the query"]),
        (lambda q, r: q[:3], ["the query's shape, (6, 1)", "(3, 1)"]),
        (lambda q, r: q * np.nan, ["null(query, random_state)"]),
    ):
        refused(lambda null=null: searcher(FalseDiscoveryRate(null=null)).search(Y), *words)
    refused(lambda: searcher(2.0).fit_threshold(Y), "fit_threshold", "Got 2.0")
    for late in (searcher(None, polarity="any"), QuerySegmenter("euclidean", polarity="any").fit(Q)):
        late.set_params(threshold="fdr:0.1")
        for task in ("predict", "fit_threshold"):
            refused(lambda late=late, task=task: getattr(late, task)(Y), "must be a function", "'any'")
    y = labels_from_events(EVENTS, n_samples=len(Y))
    for cls, task in ((QuerySearcher, "search"), (QuerySegmenter, "segment")):
        late = cls("euclidean").fit(Q).set_params(threshold=Conformal(0.2))
        refused(lambda late=late, task=task: getattr(late, task)(Y), "set before 'fit'", "fit(X, y) again")
    refused(lambda: segmenter(RATE).fit_threshold([Y, Y]), "'X' must be one sequence")
    positive = QuerySearcher("kullback_leibler", threshold=RATE).fit(Q + 2.0)
    refused(lambda: positive.search(abs(Y) + 0.1), "A decoy of the query must", "function as 'null'")
    rare = QuerySearcher("euclidean", threshold=Conformal(0.05))
    refused(lambda: rare.fit(Y[:, np.newaxis], y), "at least 19 occurrences", "Got 12", "0.077")
