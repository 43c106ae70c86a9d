"""Different distances for different channels, against weighted sums of those of the reference implementation."""

import copy
import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies import parameters, plain, quarters, series, slow, small_sizes, unmeant, weights

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import (
    ADTW,
    DDTW,
    DTW,
    LCSS,
    Chebyshev,
    Euclidean,
    Manhattan,
    Mixed,
    SoftDTW,
    barycenter,
    get_metric,
    nearest_neighbors,
    pairwise_distances,
)
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, PairwiseDistances
from sktslib.search import motifs

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

SPLITS = [[(0,), (1,)], [(0, 1)], [(0,), (1,), (2,)], [(2, 0), (1,)], [(0, 1, 2)], [(1, 2), (0,)]]
NAMES = ["dtw", "lcss", "twed", "sbd", "euclidean", "hamming", "chebyshev", "manhattan", "correlation", "wdtw"]


@st.composite
def mixtures(draw, several=NAMES):
    """A mixed metric, the parts of its reference implementation, and the number of channels."""
    split = draw(st.sampled_from(SPLITS))
    parts, metrics, shares = [], {}, {}
    for k, channels in enumerate(split):
        name = draw(st.sampled_from(NAMES if len(channels) == 1 else several))
        share = draw(st.sampled_from([1.0, 0.5, 3.0, 0.0] if k else [1.0, 0.25]))
        p = {key: v for key, v in draw(parameters(name)).items() if key != "do_dist_norm"}
        key = channels[0] if len(channels) == 1 else channels
        metrics[key], shares[key] = get_metric(name, p), share
        parts.append((channels, share, name, p))
    return Mixed(metrics, shares), parts, sum(map(len, split))


@pytest.mark.parametrize("several", [[name for name in NAMES if name not in ("lcss", "twed")], *slow(NAMES)], ids=len)
@given(data=st.data())
def test_a_distance_is_the_weighted_sum_of_those_of_the_channels(several, data):
    metric, parts, channels = data.draw(mixtures(several))
    x, y = (data.draw(series(channels, values=quarters)) for _ in range(2))
    w = data.draw(weights(len(x), channels))
    try:
        want = naive.mixed_distance(parts, x, y, w)
    except (ValueError, ZeroDivisionError):  # no positive weight is left after interpolation
        return
    assert metric(x, y, weight=w) == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert metric(x, y, weight=w, cutoff=want * (1 + 1e-9) + 1e-9) == metric(x, y, weight=w)
    if want > 1e-6:
        assert metric(x, y, weight=w, cutoff=want * 0.99) == np.inf


@pytest.mark.slow
@given(data=st.data())
def test_windows_and_missing_values(data):
    metric, parts, channels = data.draw(mixtures())
    values = data.draw(st.sampled_from([quarters, plain]))
    x = data.draw(series(channels, 2, 4, values)).reshape(-1, channels)
    y = data.draw(series(channels, 5, 12, values)).reshape(-1, channels)
    w, how = data.draw(weights(len(x), channels)), data.draw(st.sampled_from([None, "mean", "zscore"]))
    for row, c in data.draw(st.lists(st.tuples(st.integers(0, len(y) - 1), st.integers(0, channels - 1)), max_size=2)):
        y[row, c] = np.nan
    want = naive.mixed_windows(parts, x, y, w, normalize=how)
    rest = {"nan_policy": "omit", "n_matches": None, "candidates": "windows", "normalize": how}
    searcher = QuerySearcher(metric, **rest).fit(x, weight=w)
    with small_sizes(data, "distances._metrics.base.BLOCK", "distances._kernels.mass.LEAST"):
        np.testing.assert_allclose(searcher.profile(y).distance, want, rtol=1e-7, atol=1e-6)
        matches = searcher.search(y)
    for start, end, distance in matches:
        assert distance == pytest.approx(want[start], rel=1e-7, abs=1e-6)
        assert end - start == len(x)


RNG = np.random.default_rng(3)
X = [RNG.normal(size=(n, 3)).cumsum(axis=0) for n in (9, 7, 9, 12, 5, 9)]
LABELS = np.array([0, 1] * 3)
MIXED = Mixed({0: LCSS(0.5), (1, 2): "dtw"}, [4.0, 1.0])


def test_collections():
    want = np.array([[MIXED(a, b) for b in X] for a in X])
    np.testing.assert_allclose(pairwise_distances(X, metric=MIXED), want, rtol=1e-12)
    np.testing.assert_array_equal(pairwise_distances(X, metric=MIXED, n_jobs=2), pairwise_distances(X, metric=MIXED))
    np.testing.assert_allclose(pairwise_distances(X[:2], X, metric=MIXED), want[:2], rtol=1e-12)
    distances, indices = nearest_neighbors(X, metric=MIXED, n_neighbors=2)
    np.fill_diagonal(want, np.inf)
    np.testing.assert_array_equal(indices, np.argsort(want, axis=1, kind="stable")[:, :2])
    np.testing.assert_allclose(distances, np.sort(want, axis=1)[:, :2], rtol=1e-12)
    same = [x[:5] for x in X]
    w = np.array([[1.0, 0.0, 0.0], *[[1.0, 0.5, 0.0]] * 4])
    got = pairwise_distances(same, metric=MIXED, weight=w)
    np.testing.assert_allclose(got, [[MIXED(a, b, weight=w) for b in same] for a in same], rtol=1e-12)
    gone = [x.copy() for x in same]
    gone[0][2, 0] = np.nan
    lockstep = Mixed({0: Manhattan(), (1, 2): "dtw"})
    got = pairwise_distances(gone, metric=lockstep, nan_policy="omit")
    rest = Mixed({0: None, (1, 2): "dtw"})
    of_first = [5 / 4 * np.nansum(np.abs(gone[0][:, 0] - y[:, 0])) for y in same[1:]]
    np.testing.assert_allclose(got[0, 1:], of_first + pairwise_distances(same, metric=rest)[0, 1:], rtol=1e-12)


@pytest.mark.slow
def test_jobs_chunks_and_streams_change_nothing(tmp_path):
    y = np.random.default_rng(5).normal(size=(300, 3)).cumsum(axis=0)
    y[[50, 120], [0, 1]] = np.nan
    path = tmp_path / "recording.npy"
    np.save(path, y)
    for metric in (MIXED, Mixed({0: Euclidean(), 1: DTW(), 2: Chebyshev()})):
        rest = {"nan_policy": "omit", "n_matches": None, "candidates": "windows", "normalize": "zscore"}
        searcher = QuerySearcher(metric, threshold=20.0, **rest).fit(X[0])
        want = list(searcher.search(y))
        assert len(want) > 3
        assert list(searcher.set_params(n_jobs=2).search(y)) == want
        assert list(searcher.search(np.load(path, mmap_mode="r"))) == want
        stream = pickle.loads(pickle.dumps(searcher)).stream()
        found = [m for k in range(0, 300, 70) for m in stream.update(y[k : k + 70])]
        assert sorted(found + list(stream.flush())) == sorted(want)


@pytest.mark.slow
def test_signs_motifs_decoys_and_segments():
    y = np.vstack([X[3], -X[0], X[1], X[0] * [1, -1, 1], X[2]])
    rest = {"candidates": "windows", "n_matches": 1}
    found = QuerySearcher(MIXED, polarity="channels", **rest).fit(X[0]).search(y)
    assert (found.distance[0], found.start[0]) == (0.0, 12)
    assert found.polarity[0].tolist() == [-1, -1, -1]
    shown = (
        QuerySearcher(Mixed({0: DTW(), 1: DDTW(), 2: None}, [1, 9, 1]), n_matches=1).fit(X[0]).search(y + 1).explain(0)
    )
    assert shown.cost.any(axis=0).tolist() == [True, True, False]
    refused(lambda: found.path(0), "no warping path of its own")
    lockstep = QuerySearcher(Mixed({0: "euclidean", (1, 2): "manhattan"}), **rest).fit(X[0]).search(y)
    assert lockstep.path(0).shape == (2, 9)
    repeated = np.vstack([X[3], X[0], X[1], X[0]])
    pair = motifs(repeated, length=9, n=1, metric=MIXED)
    assert sorted(pair.start[:2]) == [12, 28]
    QuerySearcher(MIXED, candidates="windows", threshold="fdr:0.5").fit(X[0]).search(np.vstack(6 * X))
    segments = QuerySegmenter(MIXED).fit(X[0]).segment(repeated)
    assert {12, 28} <= set(segments.start.tolist())


def test_facts_follow_from_the_parts():
    both = Mixed({0: "euclidean", 1: "manhattan"})
    assert both.is_metric
    assert both.is_symmetric
    assert not Mixed({0: "euclidean", 1: None}).is_metric
    assert not Mixed({0: "euclidean", 1: "manhattan"}, [1, 0]).is_metric
    assert not Mixed({0: "euclidean", 1: "kullback_leibler"}).is_symmetric
    assert Mixed({0: "dtw", 1: "twed"}).uses_times
    t = np.array([0.0, 1.0, 5.0])
    x, y = np.array([[0.0, 1.0], [1, 2], [2, 0]]), np.array([[0.0, 1.0], [2, 2], [0, 0]])
    want = get_metric("dtw")(x[:, 0], y[:, 0]) + get_metric("twed", {"nu": 0.5})(x[:, 1], y[:, 1], tx=t, ty=2 * t)
    assert Mixed({0: "dtw", 1: get_metric("twed", {"nu": 0.5})})(x, y, tx=t, ty=2 * t) == want
    soft = Mixed({0: SoftDTW(divergence=False), 1: Euclidean()})
    assert soft._may_be_negative
    assert soft._relative_error(np.ones((2, 40)), None, 10**7, None) == 0.0
    parts = Mixed({1: "dtw", 2: None, 0: LCSS(0.5)}, [1, 2, 4])._by_channel(3)
    assert parts == [(LCSS(0.5), 4.0), (get_metric("dtw"), 1.0), (None, 0.0)]


@pytest.mark.slow
def test_parameters_reach_into_the_parts():
    metric = Mixed({"acc": LCSS(0.5), ("a", "b"): "dtw", 3: None}, {"acc": 2.0, ("a", "b"): 1.0, 3: 0.0})
    params = metric.get_params()
    assert params["acc__eps"] == 0.5
    assert params["a_b"] == "dtw"
    assert set(metric.get_params(deep=False)) == {"metrics", "weight"}
    made = clone(metric)
    assert made == metric
    assert hash(made) == hash(metric)
    assert pickle.loads(pickle.dumps(metric)) == metric
    made.set_params(acc__eps=0.1, a_b__window=0.2, weight=[1, 2, 3], **{"3": "euclidean"})
    assert made.metrics == {"acc": LCSS(0.1), ("a", "b"): DTW(window=0.2), 3: "euclidean"}
    assert metric.metrics["acc"].eps == 0.5  # those of the clone are its own
    assert repr(metric).startswith("Mixed(metrics={'acc': LCSS(eps=0.5), ('a', 'b'): 'dtw', 3: None}")
    assert copy.copy(metric) == metric
    for wrong, said in [({"gyr": 1}, "'gyr'"), ({"3__eps": 1}, "None"), ({"acc__epsilon": 1}, "'eps'")]:
        with pytest.raises(ValueError, match=said):
            metric.set_params(**wrong)
    assert get_metric(metric, {"acc__eps": 0.7}).metrics["acc"].eps == 0.7
    assert metric.metrics["acc"].eps == 0.5
    estimator = KNeighborsTimeSeriesClassifier(metric).set_params(metric__acc__eps=0.3)
    assert estimator.get_params()["metric__acc__eps"] == 0.3
    grid = {"metric__1_2__window": [0.1, 0.5], "metric__weight": [[0, 1], [4.0, 1]], "metric__0__eps": [0.1, 2.0]}
    search = GridSearchCV(KNeighborsTimeSeriesClassifier(MIXED), grid, cv=2).fit(np.array([x[:5] for x in X]), LABELS)
    assert len(search.cv_results_["params"]) == 8
    assert MIXED == Mixed({0: LCSS(0.5), (1, 2): "dtw"}, [4.0, 1.0])


def table(x, names="abc"):
    return pd.DataFrame(x, columns=list(names))


def test_names_are_those_of_tables():
    named, numbered = Mixed({"c": "euclidean", ("b", "a"): DTW()}), Mixed({2: "euclidean", (1, 0): DTW()})
    assert named(table(X[0]), table(X[2])) == numbered(X[0], X[2])
    cells = pd.DataFrame([[pd.Series(x[:, c]) for c in range(3)] for x in X], columns=list("abc"))
    want = pairwise_distances(X, metric=numbered)
    np.testing.assert_array_equal(pairwise_distances(cells, metric=named), want)
    np.testing.assert_array_equal(PairwiseDistances(named).fit_transform(cells), want)
    np.testing.assert_array_equal(
        nearest_neighbors(cells, metric=named).indices, nearest_neighbors(X, metric=numbered).indices
    )
    y = np.vstack(X)
    for rest in ({"candidates": "windows"}, {"candidates": "windows", "normalize": "zscore"}):
        want = QuerySearcher(numbered, **rest).fit(X[0]).search(y)
        got = QuerySearcher(named, **rest).fit(table(X[0])).search(table(y))
        assert list(got) == list(want)
    shared = Mixed({"a": "dtw", ("b", "c"): "ddtw"})
    searcher = QuerySearcher(shared).fit(table(X[0]))
    assert list(searcher.search(table(y))) == list(QuerySearcher(Mixed({0: "dtw", (1, 2): "ddtw"})).fit(X[0]).search(y))
    labels = np.repeat([1, 0, 1, 0, 1, 0], [len(x) for x in X])
    QuerySearcher(shared).fit(table(y), labels)
    QuerySegmenter(shared).fit(table(y), labels)
    QuerySearcher(named, candidates="windows").fit(table(y), labels)
    assert list(motifs(table(y), length=5, metric=named)) == list(motifs(y, length=5, metric=numbered))
    # Names of an earlier fit do not stay.
    refused(lambda: searcher.fit(X[0]), "'a', but the data have no names")
    assert not hasattr(named, "channel_names_")


WRONG = [
    ({}, None, "at least one"),
    ({0: None, 1: None}, None, "at least one"),
    ({0: "dtw", 1.5: "dtw"}, None, "numbers from 0.*Got 1.5"),
    ({0: "dtw", (1, 0): "dtw"}, None, r"once. Got \[0\] twice"),
    ({0: "dtw", "weight": "dtw"}, None, "another parameter"),
    ({0: "dtw", "0": "dtw"}, None, "two of them"),
    ({0: "dtw", 1: "dwt"}, None, "Did you mean 'dtw'"),
    ({0: "dtw", 1: Mixed({0: "dtw"})}, None, "not be mixed themselves"),
    ({0: "dtw", 1: "dtw"}, [1.0], "each key of 'metrics', 2"),
    ({0: "dtw", 1: "dtw"}, {0: 1.0}, "Got none for 1"),
    ({"a": "dtw", 1: "dtw"}, {"a": 1.0, 1: 1.0, "acc": 1.0}, "unknown 'acc'"),
    ({"acc": "dtw", 1: "dtw"}, {"ac": 1.0, 1: 1.0}, "Got one for the unknown 'ac'. Did you mean 'acc'"),
    ({0: "dtw", 1: "dtw"}, [1.0, -1.0], "Got -1.0 for 1"),
    ({0: "dtw", 1: None}, [0.0, 1.0], "nothing would be compared"),
    ({0: "dtw"}, None, r"each of the 2 channels.*nothing for \[1\]. Map .* to None"),
    ({0: "dtw", 2: "dtw"}, None, "the channel 2; the last one is 1"),
    ({"a": "dtw", 1: "dtw"}, None, "'a', but the data have no names"),
]


@pytest.mark.parametrize(("metrics", "weight", "said"), WRONG)
def test_what_is_wrong_is_said(metrics, weight, said):
    metric = Mixed(metrics, weight)
    for call in (
        lambda: metric([[0, 1], [1, 2]], [[0, 1], [1, 2]]),
        lambda: pairwise_distances([np.eye(2)], metric=metric, channels_first=False),
        lambda: QuerySearcher(metric, candidates="windows").fit(np.eye(2)),
        lambda: KNeighborsTimeSeriesClassifier(metric, channels_first=False).fit([np.eye(2), np.eye(2)], [0, 1]),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            call()


def test_barycenters_are_those_of_the_parts():
    with pytest.raises(ValueError, match=r"Mixed Distance; its parts .* Average the channels of each part"):
        barycenter(X, Mixed({0: DTW(), (1, 2): ADTW(0.5)}))


def test_what_is_wrong_with_names_is_said():
    x = table(X[0])
    refused(lambda: Mixed({"a": "dtw", "b": "dtw", 1: "dtw"})(x, x), "'b' twice, by its name and its number 1")
    with pytest.raises(ValueError, match=r"Got 'gyr'\. Did you mean 'gyro'"):
        Mixed({"gyr": "dtw", "b": "dtw"})(table(X[0][:, :2], ["gyro", "b"]), X[0][:, :2])
    refused(lambda: Mixed({"a": "dtw", ("b", "c"): "dtw"})(x, x[["b", "a", "c"]]), "must be the same channels")
    cells = [pd.DataFrame([[np.zeros(3), np.zeros(3)]], columns=list(names)) for names in ("ab", "ba")]
    for function in (pairwise_distances, nearest_neighbors):
        with pytest.raises(ValueError, match="must be the same channels"):
            function(*cells, metric=Mixed({"a": "dtw", "b": "lcss"}))


def test_subsequences_have_one_path_for_all_channels():
    metric, x = Mixed({0: "dtw", 1: "lcss"}), X[0][:, :2]
    with pytest.raises(ValueError, match=r"Mixed Distance compares windows.*candidates='windows'"):
        QuerySearcher(metric, candidates="subsequence").fit(x)
    assert QuerySearcher(metric).fit(x)._mode == "windows"
    refused(lambda: QuerySearcher(Mixed({0: "dtw", 1: "tam"})).fit(x), "has no search")


def test_parts_whose_points_have_no_weight_add_nothing():
    x, y, w = X[0], np.vstack(X), np.ones((9, 3))
    w[:, 0] = 0.0
    rest = {"candidates": "windows", "n_matches": 3}
    want = list(QuerySearcher("dtw", **rest).fit(x[:, 1:]).search(y[:, 1:]))
    assert list(QuerySearcher(MIXED, **rest).fit(x, weight=w).search(y)) == want
    nothing = clone(MIXED).set_params(**{"1_2": None})
    refused(lambda: QuerySearcher(nothing, **rest).fit(x, weight=w).search(y), "'weight' must be above 0 at a point")


@pytest.mark.slow
def test_versions_are_compared_where_parts_have_transforms(monkeypatch):
    monkeypatch.setattr("sktslib.distances._kernels.mass.LEAST", 1)
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(300, 2))
    y[100:140] = -x
    searcher = QuerySearcher(Mixed({0: "euclidean", 1: "correlation"}), polarity="any", n_matches=2).fit(x)
    both = [QuerySearcher(searcher.metric).fit(sign * x).profile(y).distance for sign in (1, -1)]
    np.testing.assert_allclose(searcher.profile(y).distance, np.minimum(*both), rtol=1e-9, atol=1e-9)
    assert searcher.search(y).start[0] == 100


def test_windows_are_explained_by_part():
    metric = Mixed({0: DTW(), (1, 2): "manhattan", 3: None}, {0: 1.0, (1, 2): 0.5, 3: 1.0})
    y = RNG.normal(size=(60, 4))
    matches = QuerySearcher(metric, candidates="windows", n_matches=2).fit(y[20:32] + 0.1).search(y)
    explained = matches.explain(1)
    assert explained.cost.sum() == pytest.approx(matches.distance[1], rel=1e-12)
    assert explained.cost[:, 0].any() and not explained.cost[:, 3].any() and not explained.lag.any()
