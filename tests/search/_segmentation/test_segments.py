"""What a segmentation returns: alignments, tables, what an end cuts off; its classes, their margin, and rare ones."""

import warnings

import matplotlib.pyplot as plt
import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from strategies import compiled, plain, series, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import ERP, TWED, get_metric
from sktslib.metrics import labels_from_events
from sktslib.search import Learning, Margin
from sktslib.utils.visualisation import plot_repetitions

pytestmark = unmeant

QUERY = np.array([0.0, 1.0, 4.0, 1.0, -1.0, 0.0])
RECORDING = np.concatenate([[5, 5], QUERY, [5], [0, 1, 1, 4, 4, 1, -1, 0], [5, 5], QUERY, [5]]).astype(float)


def part_cost(name, x, y, s, e, parameters, ends):
    """Cost of the segment y[s:e]; at the ends of y a part of the query will do, at least half of it."""
    m, n = len(x), len(y)
    firsts = range(m // 2 + 1) if s == 0 else [0]
    lasts = range(m - m // 2, m + 1) if e == n and ends else [m]
    return min(
        naive.segment_cost(name, x[a:b], y, None, s, e, **parameters)
        for a in firsts
        for b in lasts
        if b > a and (a == 0 or b == m or a + m - b <= m // 2)
    )


PARTIAL = compiled([("dtw", {}), ("erp", {}), ("edr", {"eps": 0.4}), ("lcss", {"eps": 0.4})])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), PARTIAL)
@given(data=st.data())
def test_partial_repetitions_are_of_the_cheapest_segmentation(name, parameters, data):
    channels = data.draw(st.sampled_from([1, 2]))
    x = data.draw(series(channels, 1, 4, plain)).reshape(-1, channels)
    y = data.draw(series(channels, 2, 6, plain)).reshape(-1, channels)
    background = data.draw(st.sampled_from([0.3, 3.0]))
    found = QuerySegmenter(get_metric(name, parameters), background=background, partial=True).fit(x).segment(y)
    # Each cell keeps the cheapest begin alone, which may leave too little of the query for the end to cut.
    least, most = (
        naive.segmentations(len(y), [lambda s, e, ends=ends: part_cost(name, x, y, s, e, parameters, ends)], background)
        for ends in (True, False)
    )
    total = found.cost.sum() + background * (len(y) - (found.end - found.start).sum())
    assert least - 1e-9 <= total <= most + 1e-9
    if not found.partial.all() or len(found) > 1:  # no repetition has both ends to deal with
        assert total == pytest.approx(least, rel=1e-9, abs=1e-9)
    for k, (s, e, _, cost) in enumerate(found):
        i, j = found.path(k)
        if name == "dtw":
            assert ((x[i] - y[j]) ** 2).sum() == pytest.approx(cost, rel=1e-9, abs=1e-11)
            assert (j[0], j[-1]) == (s, e - 1)
            assert bool(found.partial[k]) == (i[0] > 0 or i[-1] < len(x) - 1)
            assert found.stretch[k] == pytest.approx((e - s) / (i[-1] + 1 - i[0]))


@pytest.mark.slow
def test_partial_repetitions_with_skipped_points():
    found = QuerySegmenter(ERP(), background=1.5, partial=True).fit([3.0, 0.5, 1]).segment([1.0, 9, 9, 9])
    assert found.cost.tolist() == [0.5]
    refused(lambda: QuerySegmenter("msm", partial=True).fit(QUERY), "partial=True needs", "Got Move-Split-Merge")


def test_a_flat_line_has_the_querys_times():
    shifted, plain = (QuerySegmenter(TWED(nu=1)).fit([1.0, 2, 1], times=t) for t in ([7, 7.1, 7.2], [0, 0.1, 0.2]))
    assert shifted.background_ == pytest.approx(plain.background_)


def test_partial_repetitions_at_both_ends():
    y = np.concatenate([QUERY[2:], [5, 5], QUERY, [5], QUERY[:4]])
    whole = QuerySegmenter("dtw", background=0.5).fit(QUERY).segment(y)
    assert whole.start.tolist() == [6]
    segments = QuerySegmenter("dtw", background=0.5, partial=True, lengths=(6, 6)).fit(QUERY).segment(y)
    assert segments.start.tolist() == [0, 6, 13]
    assert segments.end.tolist() == [4, 12, 17]
    assert segments.partial.tolist() == [True, False, True]
    warped = segments.warped()[:, :, 0]
    np.testing.assert_array_equal(warped[0], np.r_[np.nan, np.nan, QUERY[2:]])
    np.testing.assert_array_equal(warped[1], QUERY)
    np.testing.assert_array_equal(warped[2], np.r_[QUERY[:4], np.nan, np.nan])
    assert segments.summary().loc[1, ["count", "partial"]].tolist() == [1, 2]
    assert "partial" in segments.to_frame()
    refused(lambda: QuerySegmenter("euclidean", partial=True).fit(QUERY), "partial=True needs an elastic metric")


@pytest.mark.parametrize(("metric", "p"), [("dtw", {}), ("lcss", {"eps": 0.3})])
def test_repetitions_on_the_time_base_of_the_query(metric, p):
    segments = QuerySegmenter(metric, metric_params=p, background=0.5).fit(QUERY).segment(RECORDING)
    warped = segments.warped()
    assert warped.shape == (len(segments), 6, 1)
    for k, row in enumerate(warped[:, :, 0]):
        i, j = segments.path(k)
        for point in range(6):
            if (i == point).any():
                assert row[point] == pytest.approx(RECORDING[j[i == point]].mean())
    np.testing.assert_allclose(warped[:, :, 0], np.tile(QUERY, (3, 1)), atol=1e-12)
    np.testing.assert_allclose(segments.stretch, (segments.end - segments.start) / 6)


@pytest.mark.parametrize("kind", ["none", "numbers", "dates", "zone"])
def test_durations_have_the_unit_of_the_times(kind):
    n = len(RECORDING)
    times = {
        "none": None,
        "numbers": np.arange(n) * 0.5,
        "dates": np.datetime64("2026-01-01") + np.arange(n) * np.timedelta64(500, "ms"),
        "zone": pd.date_range("2026-01-01", periods=n, freq="500ms", tz="UTC"),
    }[kind]
    unit = 1.0 if kind == "none" else 0.5
    segments = QuerySegmenter("dtw", background=1.0).fit(QUERY).segment(RECORDING, times=times)
    np.testing.assert_allclose(segments.duration, unit * np.array([6, 8, 6]))
    table = segments.summary().loc[1]
    assert table["count"] == 3
    assert table["duration_mean"] == pytest.approx(unit * 20 / 3)
    assert table["duration_sd"] == pytest.approx(unit * np.std([6, 8, 6], ddof=1))
    assert table["duration_cv"] == pytest.approx(np.std([6, 8, 6], ddof=1) / (20 / 3))
    assert table["interval_mean"] == pytest.approx(unit * np.diff(segments.start).mean())
    assert segments.to_frame()["duration"].tolist() == segments.duration.tolist()


def test_no_repetition():
    segments = QuerySegmenter("dtw", background=0.0).fit(QUERY).segment(np.full(9, 7.0))
    assert len(segments) == len(segments.to_frame()) == len(segments.summary()) == 0
    assert segments.warped().shape == (0, 6, 1)
    assert segments.stretch.size == segments.duration.size == 0
    assert "count" in segments.summary()
    refused(lambda: segments.warped("R"), "not a label")


def test_picture_of_repetitions():
    segments = QuerySegmenter("dtw", background=1.0).fit(QUERY).segment(RECORDING)
    display = segments.plot_repetitions()
    assert len(display.repetition_lines_[0].get_segments()) == 3
    np.testing.assert_allclose(display.mean_lines_[0].get_ydata(), QUERY, atol=1e-12)
    np.testing.assert_array_equal(display.query_lines_[0].get_ydata(), QUERY)
    assert display.ax_.get_xlabel() == "point of the query"
    two = plot_repetitions(np.zeros((4, 5, 2)))
    assert len(two.axes_) == 2
    assert two.query_lines_ == []
    refused(lambda: plot_repetitions(np.zeros((3, 0, 2))), "'repetitions' parameter must have shape")
    with pytest.raises(ValueError, match=r"'query' parameter must have the repetitions' shape \(5, 2\)"):
        plot_repetitions(np.zeros((4, 5, 2)), np.zeros((3, 2)))
    none = QuerySegmenter("dtw", background=0.0).fit(QUERY).segment(np.full(9, 7.0)).plot_repetitions()
    assert none.ax_.get_title(loc="left") == "no repetitions"
    assert none.repetition_lines_ == none.mean_lines_ == none.spread_areas_ == []
    np.testing.assert_array_equal(none.query_lines_[0].get_ydata(), QUERY)
    assert plot_repetitions(np.zeros((0, 5, 2))).axes_[1].get_ylabel() == "channel 1"
    plt.close("all")


def test_pictures_of_tables_name_the_channels():
    names = ["knee", "hip"]
    table = pd.DataFrame(np.column_stack([RECORDING, -RECORDING]), columns=names)
    segments = QuerySegmenter("dtw", background=1.0).fit(np.column_stack([QUERY, -QUERY])).segment(table)
    matches = QuerySearcher().fit(np.column_stack([QUERY, -QUERY])).search(table)
    assert segments.channels == matches.channels == names
    for display in (segments.plot(), segments.plot_repetitions(), matches.plot()):
        assert [ax.get_ylabel() for ax in display.axes_] == names
    assert QuerySearcher().fit(QUERY).search(table["hip"]).plot().ax_.get_ylabel() == "hip"
    assert QuerySearcher().fit(QUERY).search(table[["hip"]]).plot().ax_.get_ylabel() == "hip"
    table.columns = [0, 1]  # as pandas names them itself
    assert QuerySearcher().fit(np.column_stack([QUERY, QUERY])).search(table).channels is None
    plt.close("all")


def test_words_that_are_no_query():
    with pytest.raises(ValueError, match=r"a list of arrays or None. Got \'autom\'; QuerySegmenter\(query=\'auto\'\)"):
        QuerySegmenter(query="autom").fit(np.zeros(9))


# -------------------------------------------------------------------------------------------------------------- classes


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
    with pytest.warns(UserWarning, match="class 'rare' cannot be told from 'usual' reliably: of 5 labeled") as said:
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
