"""Motifs and discords are those of the distances of all pairs of windows, across the borders of tiles and diagonals."""

import warnings

import joblib
import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import motifs as reference
from strategies import recording, small_sizes

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DTW, SoftDTW, pairwise_distances
from sktslib.distances._kernels import matrix_profile
from sktslib.search import _motifs, discords, motifs
from sktslib.search._motifs import _rows

METRICS = [
    *(("euclidean", "zscore"), ("sqeuclidean", "zscore"), ("euclidean", None), ("dtw", "zscore"), ("adtw", "mean")),
    (DTW(alpha=0.3), None),  # not symmetric
    (SoftDTW(gamma=10.0, divergence=False), None),  # negative
]


def distances(y, other, m, metric, normalize, weight=None):
    """Of all pairs of windows, normalized by themselves."""
    change = {None: np.copy, "zscore": naive.standardize, "mean": lambda v: v - v.mean(axis=0)}[normalize]
    windows = [[change(a[s : s + m]) for s in range(len(a) - m + 1)] for a in (y, other)]
    return pairwise_distances(*windows, metric, weight=weight, channels_first=False)


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "normalize"), METRICS)
@given(data=st.data())
def test_those_of_all_pairs(metric, normalize, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    n, m, channels = data.draw(st.integers(14, 40)), data.draw(st.integers(2, 7)), data.draw(st.sampled_from([1, 2]))
    share = data.draw(st.sampled_from([0.0, 0.5, 0.99]))
    y = recording(data.draw(st.sampled_from(["noise", "walk", "flat", "steps", "spike"])), rng, n, channels)
    other = rng.normal(size=(n - 3, channels)) if data.draw(st.booleans()) else None
    weight = rng.choice([0.25, 1.0, 2.0], size=m) if normalize is None and data.draw(st.booleans()) else None
    table = distances(y, y if other is None else other, m, metric, normalize, weight)
    counts = n - m + 1, None if other is None else n - 3 - m + 1
    apart, most = reference.least_apart(m, share), 3
    blocks = ("search._pruning.BLOCK", "search._pruning.BLOCK_OF_MOMENTS", "search._limits.TERMS")
    with small_sizes(data, "search._motifs.WINDOWS_EACH", *blocks):
        found = motifs(y, m, most, metric, normalize, other=other, max_overlap=share, weight=weight)
        far = discords(y, m, most, metric, normalize, other=other, max_overlap=share, weight=weight)
    wanted = reference.motifs(lambda i, j: table[i, j], *counts, apart, most)
    near = {"rtol": 1e-7, "atol": 1e-7}
    # Of pairs that are as near but for rounding either may come first, and then others may follow.
    np.testing.assert_allclose(found.distance[:2], [wanted[0][0]] * 2, **near)
    for k in range(len(found) // 2):
        i, j = found.start[2 * k : 2 * k + 2]
        wanted_one = table[i, j] if other is not None else min(table[i, j], table[j, i])
        np.testing.assert_allclose(found.distance[2 * k], wanted_one, **near)
    wanted = reference.discords(lambda i, j: table[i, j], *counts, apart, most)
    np.testing.assert_allclose(far.distance[:1], [d for d, _ in wanted[:1]], **near)
    if other is None:
        table[np.abs(np.subtract.outer(*[np.arange(n - m + 1)] * 2)) < apart] = np.inf
    np.testing.assert_allclose(far.distance, table.min(axis=1)[far.start], **near)
    assert (np.diff(far.distance) <= 0).all()


@pytest.mark.parametrize(("m", "n"), [(5, 60), (2, 31), (16, 64)])
@pytest.mark.parametrize("channels", [1, 3])
def test_bounds_hold_and_are_close_across_tiles_and_diagonals(m, n, channels, monkeypatch):
    monkeypatch.setattr(_motifs, "EACH", 3)
    y = recording("walk", np.random.default_rng(n), n, channels)
    y[: n // 3, 0] = 2.0
    table = distances(y, y, m, "euclidean", "zscore")
    table[np.abs(np.subtract.outer(*[np.arange(n - m + 1)] * 2)) < m] = np.inf
    rows = _rows(y, m, "euclidean", "zscore", None, None, None, 0.0, ("motifs", "raise", None), None)[0]
    below, above = _motifs.bounds(rows, None, 0), _motifs.bounds(rows, 2, 0, above=True)
    nearest = table.min(axis=1)
    assert (below <= nearest + 1e-9).all()
    assert (above >= nearest - 1e-9).all()
    known = np.isfinite(nearest)
    np.testing.assert_allclose(below[known] ** 2, nearest[known] ** 2, atol=1e-6)
    np.testing.assert_allclose(above[known] ** 2, nearest[known] ** 2, atol=1e-6)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="by plain loops it takes long")
def test_bounds_hold_behind_the_first_tile_and_the_first_diagonals():
    m, n = 16, matrix_profile.TILE + 4 * matrix_profile.DIAGONALS
    y = np.random.default_rng(3).normal(size=n).cumsum()
    windows = np.lib.stride_tricks.sliding_window_view(y, m)
    windows = (windows - windows.mean(axis=1, keepdims=True)) / windows.std(axis=1, keepdims=True)
    squares = 2 * m - 2 * windows @ windows.T
    squares[np.abs(np.subtract.outer(*[np.arange(n - m + 1)] * 2)) < m] = np.inf
    nearest = squares.min(axis=1)
    rows = _rows(y, m, "euclidean", "zscore", None, None, None, 0.0, ("motifs", "raise", None), None)[0]
    for found, sign in ((_motifs.bounds(rows, None, 0), 1), (_motifs.bounds(rows, None, 0, above=True), -1)):
        assert (sign * (nearest - found**2) >= -1e-9).all()
        np.testing.assert_allclose(found**2, nearest, atol=1e-5)


@pytest.mark.parametrize("terms", [1, 30, 2**19])  # exact moments of one window at a time, of two, of all
def test_several_motifs_do_not_overlap(terms, monkeypatch):
    monkeypatch.setattr(_motifs, "CERTAIN", 0.0)  # no running sum is taken
    monkeypatch.setattr("sktslib.search._limits.TERMS", terms)
    rng = np.random.default_rng(0)
    y = rng.normal(size=160)
    shapes = rng.normal(size=(2, 12)).cumsum(axis=1)
    for k, (start, noise) in enumerate([(5, 0.0), (130, 0.01), (40, 0.0), (80, 0.1)]):
        y[start : start + 12] = 3 * shapes[k // 2] + noise * rng.normal(size=12) + 5 * k
    found = motifs(y, 12, 2)
    assert found.start.tolist() == [5, 130, 40, 80]
    assert found.query.tolist() == [0, 0, 1, 1]
    assert found.path(1).tolist() == [list(range(12)), list(range(130, 142))]
    np.testing.assert_allclose(found.explain(1).cost.sum(), found.distance[1] ** 2)


def test_a_share_of_the_length_is_what_a_search_takes_for_it():
    y = np.tile([0.0, 1.0, 5.0], 8)
    for find in (motifs, discords):  # 10 * (1 - 0.7) is more than 3 in floating point
        assert find(y, 10, 2, max_overlap=0.7).distance.tolist() == [0.0] * (4 if find is motifs else 2)
    assert motifs(y, 10, max_overlap=0.7).start.tolist() == [0, 3]


def test_a_join_has_a_window_in_each_recording():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(90, 1)), rng.normal(size=(70, 1))
    two[40:52] = 4 * one[20:32] - 3
    found = motifs(one, 12, other=two, times=[np.arange(90) / 10.0, None])
    assert (found.start.tolist(), found.sequence.tolist()) == ([20, 40], [0, 1])
    assert discords(two, 12, other=one).start[0] not in range(36, 45)


@pytest.mark.slow
def test_jobs_change_nothing_in_threads_and_processes():
    y = np.random.default_rng(5).normal(size=60 if numba.config.DISABLE_JIT else 300).cumsum()
    options = {"metric": "dtw", "metric_params": {"window": 0.2}}
    for call in (motifs, discords):
        alone = call(y, 12, 2, **options)
        with joblib.parallel_config("loky", max_nbytes=100):  # arrays are files to them, each by itself
            spread = call(y, 12, 2, **options, n_jobs=2)
        for found in (call(y, 12, 2, **options, n_jobs=2), spread):
            assert (found.start.tolist(), found.distance.tolist()) == (alone.start.tolist(), alone.distance.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 1}, "'length' parameter must be an integer in the range"),
        ({"length": 500}, "'length' parameter must be at most the number of samples of 'sequence', 100. Got 500"),
        ({"length": 50, "other": np.zeros(30)}, "samples of 'other', 30. Got 50"),
        ({"length": 5, "max_overlap": 1.5}, "'max_overlap'"),
        ({"length": 5, "other": np.zeros((30, 2))}, "channel"),
        ({"length": 5, "normalize": "z-score"}, "'normalize'"),
    ],
)
def test_wrong_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        motifs(np.arange(100.0) % 7, **arguments)


def test_windows_that_cannot_lie_apart_are_told():
    recording = np.arange(20.0) % 7
    with pytest.warns(UserWarning, match="two windows of 'length' 11 with 'max_overlap' 0 need 22"):
        assert len(motifs(recording, 11)) == 0
    assert len(motifs(recording, 10)) == 2
    assert len(motifs(recording, 11, max_overlap=0.2)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "normalize"), [*METRICS[:5], ("manhattan", "mean")])
@given(data=st.data())
def test_no_window_spans_a_gap_or_a_missing_value(metric, normalize, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    n, m = data.draw(st.integers(24, 40)), data.draw(st.integers(2, 6))
    y, other = rng.normal(size=n).cumsum(), rng.normal(size=n) if data.draw(st.booleans()) else None
    times = [np.cumsum(rng.choice([1.0, 1.0, 1.0, 1.0, 9.0], size=n)) for _ in range(2)]
    missing = data.draw(st.booleans())
    if missing:
        y[rng.choice(n, 3, replace=False)] = np.nan
    series = (y, y if other is None else other)
    clocks = times if other is not None else [times[0]] * 2
    whole = []
    for a, t in zip(series, clocks, strict=True):
        unbroken = [np.diff(t)[s : s + m - 1].max() < 9 for s in range(n - m + 1)]
        whole.append(np.array(unbroken) & ~np.isnan(np.lib.stride_tricks.sliding_window_view(a, m)).any(axis=1))
    known = [np.nan_to_num(a)[:, np.newaxis] for a in series]
    table = np.where(np.logical_and.outer(*whole), distances(*known, m, metric, normalize), np.inf)
    if other is None:
        table[np.abs(np.subtract.outer(*[np.arange(n - m + 1)] * 2)) < m] = np.inf
    given = {"nan_policy": "omit", "max_gap": 2.0, "other": other, "times": times if other is not None else times[0]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Nothing is found")
        found = motifs(y, m, 1, metric, normalize, **given)
        far = discords(y, m, 2, metric, normalize, **given)
    near = {"rtol": 1e-7, "atol": 1e-7}
    assert (len(found) == 2) == np.isfinite(table).any()
    if len(found):
        np.testing.assert_allclose(found.distance, [table.min()] * 2, **near)
    nearest = table.min(axis=1)
    assert (len(far) > 0) == np.isfinite(nearest).any()
    if len(far):
        np.testing.assert_allclose(far.distance[0], nearest[np.isfinite(nearest)].max(), **near)
        np.testing.assert_allclose(far.distance, nearest[far.start], **near)
    for one, clock in ((far, clocks[0]), *(((found, clocks[0]),) if other is None else ())):
        for start, end in zip(one.start, one.end, strict=True):
            assert np.diff(clock[start:end]).max(initial=0) < 9


def test_gaps_are_told():
    y = np.sin(np.arange(60.0))
    times = np.arange(60.0) + 100 * (np.arange(60) >= 30)
    for find in (motifs, discords):
        with pytest.warns(UserWarning, match="set 'max_gap'"):
            find(y, 6, times=times)
        find(y, 6, times=times, max_gap=2.0)  # the way out
        with pytest.raises(ValueError, match="'times' must be given where the 'max_gap' parameter of"):
            find(y, 6, max_gap=2.0)
        with pytest.warns(UserWarning) as told:
            assert len(find(y, 6, times=times, max_gap=0.5)) == 0
        messages = [str(one.message) for one in told]
        assert any("below the usual step of the times, 1 " in text for text in messages)
        assert any("no window of 'length' 6 fits between the gaps" in text for text in messages)
        with pytest.raises(ValueError, match="Unknown nan_policy"):
            find(y, 6, nan_policy="drop")


@pytest.mark.parametrize("rate", [1.0, 360.0])
def test_a_max_gap_below_the_step_is_told(rate):
    y = np.sin(np.arange(90.0))
    times = np.round(np.arange(90) / rate, 3)
    for estimator in (QuerySearcher("dtw", max_gap=1 / rate / 1000), QuerySegmenter("dtw", max_gap=0.9 / rate)):
        estimator.fit(y[:7])
        find = estimator.search if isinstance(estimator, QuerySearcher) else estimator.segment
        with pytest.warns(UserWarning, match="below the usual step of the times") as told:
            find(y, times=times)
        assert float(str(told[0].message).partition("times, ")[2].split()[0]) == pytest.approx(1 / rate, rel=2e-3)
        gap = float(str(told[0].message).rpartition("example ")[2].rstrip("."))
        assert len(find(y, times=times)) == 0 if gap < 1 / rate else True
        estimator.set_params(max_gap=gap).fit(y[:7])
        assert len((estimator.search if isinstance(estimator, QuerySearcher) else estimator.segment)(y, times=times))
