"""Several queries, several sequences, several lengths; what matches explain."""

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, refused
from numba.core.config import DISABLE_JIT
from strategies import compiled, long_without_compiler, pairs, plain, quick, small_sizes, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DTW, TWED, get_metric, metric_names
from sktslib.search import ChannelPlan, Percentile, Windows, merge_parts

pytestmark = unmeant
# Compiled, of what goes the same way for all of them; each by itself is compared with its reference elsewhere.
LOCKSTEP, WARPED = ("euclidean", "cosine", "chebyshev"), ("dtw", "lcss", "twed")
TOGETHER = [
    "distances._kernels.mass.GROUP",
    "distances._kernels.mass.HELD",
    "search._sources.CHUNK",
    "search._run.FIRST",
]


@pytest.mark.parametrize("metric", ["dtw", "euclidean"])
def test_several_queries_in_several_sequences(metric):
    rng = np.random.default_rng(3)
    queries, sequences = [rng.normal(size=6), rng.normal(size=9)], [rng.normal(size=n) for n in (80, 50, 30)]
    weights = [rng.random(6), None]
    searcher = QuerySearcher(metric, n_matches=3).fit(queries, weight=weights)
    matches = searcher.search(sequences, times=[np.arange(len(s)) * 0.5 for s in sequences])
    assert (np.diff(matches.distance) >= 0).all()
    for q in (0, 1):
        one = QuerySearcher(metric, n_matches=3).fit(queries[q], weight=weights[q])
        want = [(m.distance, s, m.start, m.end) for s, y in enumerate(sequences) for m in one.search(y)]
        mine = matches.query == q
        got = zip(matches.distance[mine], matches.sequence[mine], matches.start[mine], matches.end[mine], strict=True)
        assert list(got) == sorted(want)[:3]
        for k in np.flatnonzero(mine):
            at = one.search(sequences[matches.sequence[k]])
            place = next(p for p, m in enumerate(at) if m.start == matches.start[k])
            np.testing.assert_array_equal(matches.path(k), at.path(place))
    np.testing.assert_array_equal(matches.start_time, matches.start * 0.5)
    frame = matches.to_frame()
    assert frame.columns.tolist() == ["query", "sequence", "start", "end", "distance", "start_time", "end_time"]
    both = searcher.transform(sequences[0])
    np.testing.assert_array_equal(both[:, 1], QuerySearcher(metric).fit(queries[1]).transform(sequences[0])[:, 0])
    assert [len(p) for p in searcher.profile(sequences[0])] == ([80, 80] if metric == "dtw" else [75, 72])
    assert searcher.search(sequences[0]).sequence is None
    assert QuerySearcher(metric).fit(queries[0]).search(sequences).query is None
    refused(matches.plot, "cannot be drawn in one picture")


def test_of_matches_that_overlap_the_nearest_stays():
    rng = np.random.default_rng(4)
    queries, sequences = [rng.normal(size=6), rng.normal(size=9)], [rng.normal(size=n) for n in (80, 50)]
    matches = QuerySearcher("euclidean", n_matches=None).fit(queries).search(sequences)
    for distance, overlap in [(None, 0.0), (None, 0.4), (matches.distance / np.array([2.0, 5.0])[matches.query], 0.0)]:
        kept = matches.without_overlaps(distance, max_overlap=overlap)
        far = matches.distance if distance is None else distance
        parts = [np.flatnonzero(matches.sequence == s) for s in (0, 1)]
        chosen = [
            part[naive.select(far[part], matches.start[part], matches.end[part], max_overlap=overlap)] for part in parts
        ]
        expected = matches[np.sort(np.concatenate(chosen))].to_frame()
        pd.testing.assert_frame_equal(kept.to_frame(), expected)
        assert 0 < len(kept) < len(matches)
    for distance in ([1.0, 2.0], matches.distance * np.nan, matches.distance[:, np.newaxis], 3.0):
        refused(lambda given=distance: matches.without_overlaps(given), "one number for each of the", "not NaN")
    refused(lambda: matches.without_overlaps(max_overlap=2), "max_overlap", "[0, 1]")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*(metric_names("lockstep") if DISABLE_JIT else LOCKSTEP), "dtw", "twed"])
@given(data=st.data())
def test_each_start_counts_at_its_best_length(name, data):
    x, y, w = data.draw(pairs(low=2, high=6, y_low=12, y_high=16, values=plain))
    x, y = naive.domain(name, x), naive.domain(name, y)
    how = None if name in naive.POSITIVE else data.draw(st.sampled_from([None, "mean", "zscore", "robust"]))
    if naive.TABLE[name].is_sharp and how:
        return  # a matter of the last bit
    scales = data.draw(st.sampled_from([(0.7, 1.4), [0.5, 2.0], [1.5]]))
    m, n = len(x), len(y)
    ends = [max(1, round(s * m)) for s in scales]
    lengths = range(ends[0], ends[1] + 1) if isinstance(scales, tuple) else sorted(ends)
    searcher = QuerySearcher(name, candidates=Windows(scales), normalize=how, n_matches=2).fit(x, weight=w)
    profile = searcher.profile(y)
    assert len(profile) == n - lengths[0] + 1
    ending = np.full(n, np.inf)  # the best of those that end at each sample
    query = naive.normalize_values(x, w, how)
    for j in range(len(profile)):
        costs = {}
        for size in lengths:
            if j + size <= n:
                piece = naive.interpolate(naive.points(y[j : j + size]), m).reshape(x.shape)
                window = naive.normalize_values(piece, w, how)
                if name in naive.LOCKSTEP:
                    costs[size] = naive.lockstep(name, query, window, w)
                else:
                    costs[size] = naive.elastic(name, query, window, w).distance
        assert profile.distance[j] == pytest.approx(min(costs.values()), rel=1e-7, abs=1e-7)
        assert costs[profile.end[j] - j] == pytest.approx(min(costs.values()), rel=1e-7, abs=1e-7)
        for size, cost in costs.items():
            ending[j + size - 1] = min(ending[j + size - 1], cost)
    known = np.isfinite(ending)
    got = searcher.transform(y)[:, 0]
    np.testing.assert_allclose(got[known], ending[known], rtol=1e-7, atol=1e-7)
    assert (got[~known] == got[known].max()).all()
    matches = searcher.search(y)
    for k, match in enumerate(matches):
        path = matches.path(k)
        assert path[1, 0] == match.start
        assert path[1, -1] == match.end - 1
        assert (np.diff(path) >= 0).all()
    stream = searcher.set_params(threshold=1e9).stream()
    for k in range(0, n, 5):
        stream.update(y[k : k + 5])
    got, by_time = stream.flush(), np.lexsort((matches.end, matches.start))
    np.testing.assert_array_equal(got.start, matches.start[by_time])
    np.testing.assert_array_equal(got.end, matches.end[by_time])


@pytest.mark.parametrize("value", [1 / 3, 3.0, 0.1])
def test_a_constant_stays_one_at_another_length(value):
    constant = [value] * 5
    assert get_metric("correlation")([value] * 4, constant) == 0.0
    assert get_metric("correlation")([0, 1, 2, 3], constant) == 1.0
    assert get_metric("hamming")([value] * 4, constant) == 0.0
    searcher = QuerySearcher("euclidean", candidates=Windows([0.5]), normalize="zscore").fit([0.0, 1, 2, 3])
    assert searcher.profile([value] * 2).distance == pytest.approx([2.0])


@pytest.mark.slow
def test_the_largest_value_of_a_window_becomes_1():
    rng = np.random.default_rng(3)
    y = rng.normal(size=500)
    got = QuerySearcher("hamming", normalize="minmax").fit([0.0, 1.0]).profile(y).distance
    np.testing.assert_array_equal(got, np.where(np.diff(y) > 0, 0.0, 1.0))


def test_what_scales_refuse():
    x = np.arange(5.0)
    for scales in (0, (0.5,), (2.0, 1.0), [], [0.0], "ab"):
        with pytest.raises(ValueError, match="'scales' parameter"):
            QuerySearcher("euclidean", candidates=Windows(scales)).fit(x)
    assert QuerySearcher("dtw", candidates=Windows([1.0])).fit(x).search(x).distance == 0.0


SUMS = [
    name for name in compiled(naive.SUMS) if not naive.TABLE[name].same_length
]  # not those of slopes, between two points


@pytest.mark.parametrize("name", quick([*(naive.WARPED if DISABLE_JIT else WARPED), *SUMS], "dtw"))
@pytest.mark.parametrize("mode", ["auto", "windows"])
def test_costs_of_an_explanation_add_up(name, mode):
    rng = np.random.default_rng(7)
    x, y, w = rng.normal(size=(9, 2)), rng.normal(size=(90, 2)), rng.random(9)
    x, y = naive.domain(name, x), naive.domain(name, y)
    matches = QuerySearcher(name, candidates=mode, n_matches=3).fit(x, weight=w).search(y)
    for k, match in enumerate(matches):
        explained = matches.explain(k)
        assert explained.cost.shape == (9, 2)
        assert (explained.cost >= -1e-12).all()
        np.testing.assert_array_equal(explained.path, matches.path(k))
        if naive.TABLE[name].is_cost:
            power = naive.power(name) if name in naive.SUMS else 1
            assert explained.cost.sum() == pytest.approx(match.distance**power, rel=1e-9)


def test_functions_of_the_users_are_explained():
    matches = QuerySearcher(lambda x, y: float(np.abs(x - y).sum())).fit([0, 2, 0]).search([5, 0, 3, 0, 5])
    assert matches.explain(0).cost[:, 0].tolist() == [0.0, 1.0, 0.0]


def test_costs_lie_where_the_match_does_not_fit():
    x = np.column_stack([np.sin(np.arange(20) / 3), np.cos(np.arange(20) / 3)])
    y = np.vstack([np.full((10, 2), 9.0), x, np.full((10, 2), 9.0)])
    y[17, 1] += 0.5
    explained = QuerySearcher("euclidean").fit(x).search(y).explain(0)
    assert np.unravel_index(explained.cost.argmax(), explained.cost.shape) == (7, 1)
    assert explained.cost[:, 0].sum() < 0.5 * explained.cost.sum()
    late = QuerySearcher("dtw").fit([0, 1, 5, 1, 0]).search([9, 0, 1, 1, 1, 5, 1, 0, 9]).explain(0)
    assert late.delay == pytest.approx(2 / 6)
    assert (late.advance, late.phase) == (0.0, 1.0)
    assert late.lag[2] == pytest.approx(1.0)  # sample 4 of the match, where an even pace is at 3


@pytest.mark.parametrize("normalize", [None, "zscore"])
def test_costs_of_a_resampled_window_count_its_times(normalize):
    rng = np.random.default_rng(3)
    x, y, tq, ts = rng.normal(size=9), rng.normal(size=60), *(np.cumsum(rng.uniform(0.5, 2, n)) for n in (9, 60))
    searcher = QuerySearcher(TWED(nu=0.5), candidates=Windows([0.6, 1.4]), normalize=normalize, n_matches=4)
    matches = searcher.fit(x, times=tq).search(y, times=ts)
    assert (matches.end - matches.start != 9).all()
    for k, match in enumerate(matches):
        assert matches.explain(k).cost.sum() == pytest.approx(match.distance, rel=1e-9)


def test_explanations_of_streams_are_those_of_the_whole():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=8), rng.normal(size=120)
    searcher = QuerySearcher(DTW(alpha=0.5), threshold=3.0, n_matches=2).fit(x)
    stream, want = searcher.stream(), searcher.search(y)
    for k in range(0, 120, 7):
        stream.update(y[k : k + 7])
    got = stream.flush()
    for k, same in enumerate(np.lexsort((want.end, want.start))):
        np.testing.assert_allclose(got.explain(k).cost, want.explain(same).cost, rtol=1e-12)
        np.testing.assert_array_equal(got.explain(k).path, want.explain(same).path)


def test_labels_profiles_and_segments_belong_to_one_sequence():
    y = np.zeros(9)
    searcher = QuerySearcher("euclidean").fit([0, 1])
    segment = QuerySegmenter().fit([0, 1]).segment
    for call in (searcher.predict, searcher.transform, searcher.profile, segment, lambda X: searcher.score(X, [0, 1])):
        with pytest.raises(ValueError, match="must be one sequence here"):
            call([y, y])


def test_lists_of_tables_and_mixed_lists_are_several_series():
    x, y = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    for queries in ([pd.Series(x), pd.Series(x)], [x, list(x)]):
        matches = QuerySearcher("euclidean").fit(queries).search([pd.Series(y), pd.Series(y[:3])])
        assert matches.query.tolist() == [0, 1] and matches.start.tolist() == [1, 1]


def test_scales_mean_windows():
    matches = QuerySearcher("dtw", candidates=Windows((1.0, 2.0))).fit([0, 1, 0]).search([5, 5, 0, 1, 0, 5, 5])
    assert list(matches) == [(2, 5, 0.0)]


def test_dates_and_numbers_are_not_compared():
    dates = np.datetime64("2026-01-01") + np.arange(4).astype("timedelta64[s]")
    searcher = QuerySearcher("twed").fit([0, 1, 0], times=dates[:3])
    refused(lambda: searcher.search([0, 0, 1, 0], times=[0, 1, 2, 3]), "of one kind with the query")
    assert len(searcher.search([0, 0, 1, 0], times=dates)) == 1


def test_queries_learned_from_a_dated_recording_are_datetimes():
    dates = np.datetime64("2026-01-01") + np.arange(40).astype("timedelta64[s]")
    y = np.tile([0.0, 0, 1, 2, 0, 0, 3, 1, 0, 0], 4)
    labels = np.tile(["", "", "a", "a", "", "", "b", "b", "", ""], 4)
    for kinds in (labels, np.where(labels == "b", "", labels)):
        searcher = QuerySearcher("twed", n_matches=None).fit(y[:, np.newaxis], kinds, times=dates)
        matches = searcher.search(y, times=dates)
        assert set(zip(matches.start[:4].tolist(), matches.end[:4].tolist(), strict=True)) >= {(2, 4)}
        with pytest.raises(ValueError, match="of one kind with the query"):
            searcher.search(y, times=np.arange(40))


def by_pieces(searcher, y, how, cut):
    """What is found in a sequence that comes in pieces: by a stream, or by parts on both sides of a cut."""
    size = max(len(y) // 5, 1)
    if how == "stream":
        stream = searcher.stream()
        found = [m for k in range(0, len(y), size) for m in rows(stream.update(y[k : k + size]))]
        return found + rows(stream.flush())
    parts = [searcher.partial_search(), searcher.partial_search(cut)]
    for part, end in zip(parts, (cut, len(y)), strict=True):
        for k in range(part.first, end, size):
            part.feed(y[k : min(k + size, end)])
    return rows(merge_parts(parts, y))


def rows(matches):
    return list(
        zip(matches.query.tolist(), *(getattr(matches, f).tolist() for f in ("start", "end", "distance")), strict=True)
    )


@pytest.mark.slow
@long_without_compiler
@given(st.data())
def test_queries_searched_for_together_are_found_as_each_alone(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    name = data.draw(st.sampled_from(["euclidean", "correlation", "cosine"]))
    normalize = data.draw(st.sampled_from(["zscore", None])) if name == "euclidean" else None
    channels, n = data.draw(st.sampled_from([1, 2])), data.draw(st.sampled_from([300, 700]))
    y = rng.normal(size=(n, channels))
    if data.draw(st.booleans()):
        y[n // 3 : n // 2] = 0.25
    if gaps := data.draw(st.booleans()):
        y[rng.integers(0, n, 2)] = np.nan
    lengths = data.draw(st.sampled_from([[40, 40, 40], [130, 40, 130, 40]]))
    queries = [rng.normal(size=(m, channels)) for m in lengths]
    for x in queries:  # several of each, some of which touch
        for at in rng.integers(0, n - len(x), 3):
            y[at : at + len(x)] += 2.0 * x
    weights = [rng.random(m) for m in lengths] if data.draw(st.booleans()) else [None] * len(queries)
    rules = {"n_matches": 3}, {"threshold": 0.9}, {"threshold": 9.0, "n_matches": None}, {"threshold": Percentile(2)}
    rule = data.draw(st.sampled_from(rules))
    polarity = data.draw(st.sampled_from(["same", "any"]))
    options = {"normalize": normalize, "nan_policy": "omit" if gaps else "raise", "polarity": polarity, **rule}
    if channels == 2:
        lags = (
            {"channels": ChannelPlan(lag=[0, 7])},
            {"channels": ChannelPlan(lag=[4, 0], tolerance=2)},
            {"channels": ChannelPlan(min_votes=1)},
        )
        options |= data.draw(st.sampled_from([{}, {"polarity": "channels"}, *lags]))
        if gaps and len(options) > 5:
            queries[0][:5, 1] = np.nan  # this channel begins later
    ways = ["memory", "chunks", "jobs", "parts", *(["stream"] if isinstance(rule.get("threshold"), float) else [])]
    how, cut = data.draw(st.sampled_from(ways)), data.draw(st.integers(1, n - 1))
    with small_sizes(data, "distances._kernels.mass.LEAST", "search._run.LEAST"):
        want = [
            QuerySearcher(name, **options).fit(x, weight=w).search(y) for x, w in zip(queries, weights, strict=True)
        ]
        with small_sizes(data, *TOGETHER):
            searcher = QuerySearcher(name, **options, n_jobs=2 if how == "jobs" else None).fit(queries, weight=weights)
            if how in ("stream", "parts"):
                got = by_pieces(searcher, y, how, cut)
            else:
                got = rows(searcher.search(Slices(y) if how == "chunks" else y))
            profiles = searcher.profile(y)
    assert sorted(got) == sorted((k, *match) for k, one in enumerate(want) for match in one)
    for k in range(len(want)):
        alone = QuerySearcher(name, **options).fit(queries[k], weight=weights[k]).profile(y)
        np.testing.assert_allclose(profiles[k].distance, alone.distance, rtol=1e-5, atol=1e-7)
