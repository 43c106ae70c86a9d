"""Classes of repetitions: their margin, how rare ones count, and those that cannot be told apart."""

import warnings

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain, series, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import get_metric
from sktslib.metrics import labels_from_events
from sktslib.search import Learning, Margin

pytestmark = unmeant

UP, LATE = np.array([0.0, 2, 4, 3, 1, 0, 0, 0]), np.array([0.0, 0, 1, 3, 4, 2, 0, 0])


def recording(kinds, noise, seed=0):
    """A recording of two shapes that are much alike, in the order of `kinds`, and its labels."""
    rng = np.random.default_rng(seed)
    start = 6 + 16 * np.arange(len(kinds)) + rng.integers(0, 6, len(kinds))
    X = 0.1 * rng.standard_normal((16 * len(kinds) + 16, 1))
    for s, kind in zip(start, kinds, strict=True):
        X[s : s + 8, 0] += (UP if kind == "u" else LATE) + rng.normal(size=8) * noise
    return X, labels_from_events(np.column_stack([start, start + 8]), list(kinds), n_samples=len(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("dtw", {}), ("ddtw", {}), ("erp", {}), ("lcss", {"eps": 0.5}), ("twed", {"nu": 0.1}), ("euclidean", {})],
)
@given(data=st.data())
def test_a_margin_is_to_the_next_class_of_the_same_range(name, parameters, data):
    channels = data.draw(st.sampled_from([1, 2]))
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    queries = [data.draw(series(channels, m, m, plain)).reshape(-1, channels) for m in lengths]
    y = data.draw(series(channels, 4, 9, plain)).reshape(-1, channels)
    segmenter = QuerySegmenter(get_metric(name, parameters), background=3.0).fit(queries)
    found = segmenter.segment(y)
    for k, (s, e) in enumerate(zip(found.start, found.end, strict=True)):
        costs = [naive.segment_cost(name, x, y, None, s, e, **parameters) for x in queries]
        want = naive.class_margin(costs, found.query[k])
        assert found.margin[k] == pytest.approx(want, rel=1e-6, abs=1e-6, nan_ok=True)
    stream = segmenter.stream()
    cut = data.draw(st.integers(0, len(y)))
    parts = [stream.update(y[:cut]), stream.update(y[cut:]), stream.flush()]
    np.testing.assert_array_equal(np.concatenate([part.margin for part in parts]), found.margin)
    assert QuerySegmenter("dtw").fit(queries[0]).segment(y).margin is None


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_a_rare_class_must_be_clear(weights, tmp_path):
    kinds = "uuluuuuuuuluuuuuuuuuuluuuuuuuuuu"
    X, y = recording(kinds, 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = QuerySegmenter("dtw", learning=Learning(class_weight=weights, n_templates=1)).fit(X, y)
    assert fitted.classes_.tolist() == ["l", "u"]
    other, _ = recording(kinds[::-1], 1.6, seed=1)
    found = fitted.segment(other)
    idle = np.median(X[y == ""])
    v = np.mean(np.concatenate([w.ravel() for w in fitted.weights_]))

    def cost(k, Z, s, e):
        w = fitted.weights_[k]
        return naive.segment_cost("dtw", fitted.queries_[k], Z, w, s, e) * w.max()

    def background(Z, s, e):
        return v * ((Z[s:e] - idle) ** 2).sum()

    shares, counts = [], [kinds.count("l"), kinds.count("u")]
    for k, kind in enumerate("lu"):
        edges = np.flatnonzero(np.diff(np.r_[0, y == kind, 0].astype(int))).reshape(-1, 2)
        assert len(edges) == counts[k]
        shares.append(naive.expected_share([cost(k, X, s, e) / background(X, s, e) for s, e in edges]))
    turned = 0
    for k, (s, e) in enumerate(zip(found.start, found.end, strict=True)):
        costs = [cost(q, other, s, e) for q in range(2)]
        counted = costs
        if weights is None:
            rest = [(counts[q], max(counts), shares[q]) for q in range(2)]
            counted = [naive.counted_cost(c, background(other, s, e), *r) for c, r in zip(costs, rest, strict=True)]
            assert found.query[k] == np.argmin(counted)
        turned += np.argmin(costs) != np.argmin(counted)
        assert found.cost[k] == pytest.approx(costs[found.query[k]])
        assert found.margin[k] == pytest.approx(naive.class_margin(counted, found.query[k]), abs=1e-9)
    assert (turned > 0) == (weights is None)
    assert ((np.diff(found._shown, axis=1)[:, 0]) == [len(fitted.queries_[q]) for q in found.query]).all()
    stream = fitted.stream()
    parts = [stream.update(part) for part in np.array_split(other, 7)] + [stream.flush()]
    stored = np.lib.format.open_memmap(tmp_path / "stored.npy", "w+", float, other.shape)
    stored[:] = other
    for name in ("start", "label", "cost", "margin"):
        np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(found, name))
        np.testing.assert_array_equal(getattr(fitted.segment(stored), name), getattr(found, name))
    table = found.to_frame()
    np.testing.assert_array_equal(table["margin"], found.margin)
    np.testing.assert_array_equal(found[::2].margin, found.margin[::2])


def test_a_threshold_for_the_margin():
    X, y = recording("ul" * 8, 0.3)
    fitted = QuerySegmenter("dtw").fit(X, y)
    found = fitted.segment(X)
    least = float(np.median(found.margin))
    sure = fitted.set_params(threshold=Margin(least)).segment(X)
    np.testing.assert_array_equal(sure.start, found.start[found.margin >= least])
    stream = fitted.stream()
    parts = [stream.update(X), stream.flush()]
    np.testing.assert_array_equal(np.concatenate([part.start for part in parts]), sure.start)
    assert fitted.set_params(threshold__least=0.0).threshold.least == 0.0
    assert len(fitted.segment(X)) == len(found)
    single = QuerySegmenter("dtw", threshold=Margin(1.0)).fit(UP)
    assert len(single.segment(X)) == len(single.set_params(threshold=None).segment(X))
    assert len(QuerySegmenter("dtw", threshold=f"margin:{least}").fit(X, y).segment(X)) == len(sure)
    with pytest.raises(ValueError, match="'threshold' parameter of QuerySearcher must not be a Margin"):
        QuerySearcher("dtw", threshold="margin:0.5").fit(UP)
    with pytest.raises(ValueError, match="'least' parameter of Margin must be a float in the range"):
        QuerySegmenter("dtw", threshold=Margin(2.0)).fit(UP)


def test_classes_that_cannot_be_told_apart_are_named():
    X, y = recording("u" * 30, 0.3)
    events = np.flatnonzero(np.diff(np.r_[0, y == "u", 0].astype(int))).reshape(-1, 2)
    kinds = np.where(np.arange(30) % 6 == 0, "rare", "usual")
    y = labels_from_events(events, kinds, n_samples=len(X))
    fitted, balanced = QuerySegmenter("dtw"), QuerySegmenter("dtw", learning=Learning(class_weight="balanced"))
    with pytest.warns(UserWarning, match="class 'rare' cannot be told from 'usual' for sure: of 5 labeled") as said:
        fitted.fit(X, y)
    assert len(said) == 1 and "class_weight='balanced'" in str(said[0].message)
    with pytest.warns(UserWarning, match="different.$"):
        balanced.fit(X, y)
    other, _ = recording("u" * 30, 0.3, seed=1)
    rare, more = ((segmenter.segment(other).label == "rare").sum() for segmenter in (fitted, balanced))
    assert rare < more
    told, labels = recording("ul" * 8, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QuerySegmenter("dtw").fit(told, labels)
