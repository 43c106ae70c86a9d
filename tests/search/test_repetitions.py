"""Repetitions of a recording that has no query: their period, their number, and the rest between them."""

from datetime import timedelta

import naive
import numpy as np
import pytest
from strategies import long_without_compiler

from sktslib import QuerySegmenter
from sktslib.search import _sources
from sktslib.search._segments.repetitions import gains

RATE = 50


def exercise(rng, count=12, period=70, noise=0.1, channels=3):
    """A recording of `count` repetitions whose tempo and size vary, and how many samples it has."""
    steps = [np.linspace(0, 1, m, endpoint=False) for m in rng.integers(int(0.9 * period), int(1.1 * period), count)]
    sizes = np.repeat(rng.uniform(0.9, 1.1, count), [len(step) for step in steps])
    phase = 2 * np.pi * np.concatenate(steps)
    clean = np.column_stack([np.cos(phase + k) + 0.5 * np.sin(2 * phase + 2 * k) for k in range(channels)])
    return clean * sizes[:, np.newaxis] + noise * rng.standard_normal(clean.shape)


def rest(rng, X, n):
    """Samples of rest at the last place, a tenth as loud."""
    return X[-1] + 0.1 * X.std(axis=0) * rng.standard_normal((n, X.shape[1]))


def walk(rng, X, n):
    """A random walk of the size of a recording."""
    steps = rng.standard_normal((n, X.shape[1])).cumsum(axis=0)
    return X.mean(axis=0) + (steps - steps.mean(axis=0)) / steps.std(axis=0) * X.std(axis=0)


def counted(X, **parameters):
    return QuerySegmenter(query="auto", **parameters).fit(X).segment(X)


AROUND = {
    "alone": lambda rng, X: X,
    "drift": lambda rng, X: X + np.linspace(0, 1, len(X))[:, np.newaxis],
    "rest": lambda rng, X: np.concatenate([rest(rng, X, 400), X, rest(rng, X, 400)]),
    "walk": lambda rng, X: np.concatenate([walk(rng, X, 400), X, walk(rng, X, 400)]),
}


@long_without_compiler
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("count", [7, 12])
def test_repetitions_are_counted_whatever_is_around_them(around, count):
    rng = np.random.default_rng(count)
    for _ in range(3):
        X = exercise(rng, count)
        segments = counted(AROUND[around](rng, X))
        assert abs(len(segments) - count) <= (around != "alone")
        least, most = segments.count_interval
        assert least <= count <= most
        assert least <= len(segments) <= most


@long_without_compiler
def test_what_is_unlike_the_others_counts_between_two_of_them_unless_it_is_rest_or_long(tmp_path):
    rng = np.random.default_rng(9)
    before, after = exercise(rng, 6, noise=0.02), exercise(rng, 6, noise=0.02)
    odd = 2 * rng.standard_normal((350, 3))
    for between, more in ((odd[:70], 1), (odd[:140], 2), (odd, 0), (0.05 * odd[:70], 0)):
        X = np.concatenate([before, between, after])
        fitted = QuerySegmenter(query="auto").fit(X)
        segments = fitted.segment(X)
        assert abs(len(segments) - 12 - more) <= (not more)
        added = (segments.start > len(before) - 35) & (segments.end < len(before) + len(between) + 35)
        assert added.sum() == more
        weight, penalty = segments._source.readers[0].plan.w.T, fitted.metric_.omega_
        for k in np.flatnonzero(added):
            query = segments._source.readers[0].plan.x.T
            cost = naive.segment_cost("adtw", query, X, weight, segments.start[k], segments.end[k], omega=penalty)
            assert segments.cost[k] == pytest.approx(cost * weight.max())
            assert not segments.partial[k]
        np.save(tmp_path / "X.npy", X)
        for n_jobs, recording in ((2, X), (None, np.load(tmp_path / "X.npy", mmap_mode="r"))):
            again = fitted.set_params(n_jobs=n_jobs).segment(recording)
            np.testing.assert_array_equal([again.start, again.end], [segments.start, segments.end])
            np.testing.assert_array_equal(again.cost, segments.cost)
    X = np.concatenate([before, odd[:70], after])
    X[len(before) + 30] = np.nan  # no repetition crosses a missing value
    assert len(QuerySegmenter(query="auto", nan_policy="omit").fit(X).segment(X)) == 12


@long_without_compiler
def test_ends_that_are_cut_off_count_where_they_are_whole_enough():
    rng = np.random.default_rng(2)
    X = exercise(rng, 12, noise=0.02)
    for samples, count in ((len(X) * 8 // 12, 8), (len(X) * 5 // 12, 5)):
        assert abs(len(counted(X[samples // 24 : samples + samples // 24])) - count) <= 1
    assert not counted(X[30:-40], partial=False).partial.any()
    assert counted(X[30:-40], partial=False).count_interval is None
    assert QuerySegmenter(query="auto").fit(X).stream().update(X) is not None  # a stream has no partial ones


@long_without_compiler
@pytest.mark.parametrize("between", ["rest", "missing"])
def test_a_rest_cuts_repetitions_off_as_the_end_of_a_recording_does(between, tmp_path, monkeypatch):
    monkeypatch.setattr(_sources, "CHUNK", 97)  # of the mapped recording
    rng = np.random.default_rng(2)
    X = exercise(rng, 12, noise=0.02)
    fitted = QuerySegmenter(query="auto", nan_policy="omit").fit(X)
    pause = np.full((300, 3), np.nan) if between == "missing" else X.mean(axis=0) + 0.05 * rng.standard_normal((300, 3))
    for cut in range(0, 70, 10):
        once = X[cut : len(X) - 2 * cut]
        twice = np.concatenate([once, pause, once])
        segments, alone = fitted.segment(twice), fitted.segment(once)
        assert len(segments) == 2 * len(alone) == 2 * (segments.start < len(once)).sum()
        np.save(tmp_path / "X.npy", twice)
        again = fitted.segment(np.load(tmp_path / "X.npy", mmap_mode="r"))
        np.testing.assert_array_equal(
            [again.start, again.end, again.cost], [segments.start, segments.end, segments.cost]
        )


def test_neither_drift_nor_rest_nor_a_walk_resembles_itself():
    rng = np.random.default_rng(3)
    n = 4000
    still = np.concatenate([np.zeros(n // 2), np.ones(n // 2)]) + 1e-3 * rng.standard_normal(n)
    for y, most in ((np.arange(n) / n, 0.01), (rng.standard_normal(n).cumsum(), 0.25), (still, 0.1)):
        assert gains(y[np.newaxis], 4, n // 4)[1].max() < most
    t = np.arange(n)
    assert gains(np.sin(2 * np.pi * t / 100)[np.newaxis], 90, 110)[1].max() > 0.9


def test_the_gain_is_the_share_of_two_stretches_that_is_no_difference():
    y = np.random.default_rng(4).standard_normal((2, 60)).cumsum(axis=1)
    lags, found = gains(y, 5, 5)
    assert lags.tolist() == [5]
    for channel, gain in zip(y, found[0], strict=True):
        pairs = [(channel[s : s + 5], channel[s + 5 : s + 10]) for s in range(51)]
        apart = np.array([((a - b) ** 2).sum() for a, b in pairs])
        own = np.array([10 * np.var(np.concatenate(pair)) for pair in pairs])
        expected = (np.sqrt(own) * np.maximum(1 - apart / own, 0)).sum() / np.sqrt(own).sum()
        assert gain == pytest.approx(expected * (1 - 10 / 60))


@long_without_compiler
def test_channels_count_by_how_periodic_they_are():
    rng = np.random.default_rng(6)
    X = exercise(rng, 10)
    X = np.column_stack([X, 50 * rng.standard_normal((len(X), 1))])
    fitted = QuerySegmenter(query="auto").fit(X)
    weight = fitted.weight_[0] * X.var(axis=0)
    assert weight[3] < 0.02 * weight[:3].min()
    assert abs(len(fitted.segment(X)) - 10) <= 1


@long_without_compiler
def test_lengths_bound_the_period():
    rng = np.random.default_rng(7)
    X = exercise(rng, 12)
    assert abs(len(counted(X, lengths=(110, 170))) - 6) <= 1
    assert abs(len(counted(X, lengths=(50, 90))) - 12) <= 1
    message = r"needs a recording that repeats itself with a period in 'lengths', \(None, 3\)\. Got"
    with pytest.raises(ValueError, match=message):
        QuerySegmenter(query="auto", lengths=(None, 3)).fit(X)


@long_without_compiler
@pytest.mark.parametrize("times", ["numbers", "dates"])
def test_lengths_are_durations_where_the_recording_has_times(times):
    X = exercise(np.random.default_rng(7), 12)
    t = np.arange(len(X)) / RATE
    t = t if times == "numbers" else np.datetime64("2024-01-01") + (1e9 * t).astype("timedelta64[ns]")
    lengths = timedelta(seconds=1), np.timedelta64(1800, "ms")
    segmenter = QuerySegmenter(query="auto", lengths=lengths).fit(X, times=t)
    by_samples = QuerySegmenter(query="auto", lengths=(50, 90)).fit(X)
    np.testing.assert_array_equal(segmenter.query_, by_samples.query_)
    with pytest.raises(ValueError, match=r"'lengths' parameter .* durations if fit gets a recording with 'times'"):
        segmenter.fit(X)
    for value in (timedelta(seconds=-1), timedelta(0), np.timedelta64("NaT")):
        with pytest.raises(ValueError, match=r"'lengths' parameter .* must hold durations above 0"):
            QuerySegmenter(query="auto", lengths=(value, None)).fit(X, times=t)


@long_without_compiler
def test_what_was_counted_by_phases_is_listed_by_the_query_of_the_phase():
    rng = np.random.default_rng(8)
    X = exercise(rng, 8)
    segments = counted(X)
    assert segments[2:4].count_interval == segments.count_interval
    assert len(segments.warped()) == len(segments)
    assert (np.diff(segments.start) > 0).all()
    assert QuerySegmenter().fit(X[:70]).segment(X).count_interval is None
