"""AutoFilter: the band of planted events, whatever the noise, and what labels it takes."""

import numpy as np
import pytest
from naive import preprocessing as naive
from numpy.testing import assert_allclose, assert_array_equal

from sktslib.metrics import labels_from_events
from sktslib.preprocessing import AutoFilter, BandPass
from sktslib.preprocessing._auto_filter import (
    Spectra,
    align,
    band_of,
    candidates,
    choose_band,
    detectability,
    find_look_alikes,
    gains,
    ratio_of,
    recurring,
    spectra,
    typical,
)
from sktslib.search._learning.choice import Block
from sktslib.search._query import occurrences

N, RATE, LENGTH = 6000, 100, 60
STARTS = np.arange(40, N - 2 * LENGTH, 170)
TONE = np.hanning(LENGTH) * np.sin(2 * np.pi * 12 * np.arange(LENGTH) / RATE)
Y = labels_from_events(np.column_stack([STARTS, STARTS + LENGTH]), n_samples=N)
NOISE = {
    "white": lambda rng: 0.5 * rng.normal(size=N),
    "random walk": lambda rng: np.cumsum(rng.normal(size=N)),
    "hum": lambda rng: 0.1 * rng.normal(size=N) + 3 * np.sin(2 * np.pi * 30 * np.arange(N) / RATE),
}


def planted(kind, seed=0):
    out = NOISE[kind](np.random.default_rng(seed))
    for start in STARTS:
        out[start : start + LENGTH] += 4 * TONE
    return out[:, None]


@pytest.mark.parametrize("seed", range(4))
def test_the_band_separates_better_than_any_other(seed):
    rng = np.random.default_rng(seed)
    k = [9, 30, 60, 128][seed]
    frequencies = np.arange(k) * 0.5
    events, noise = np.exp(-(((np.arange(k) - k / 3) / (k / 8)) ** 2)) + 0.1 * rng.normal(size=k), rng.random(k) + 0.2
    want = naive.best_band(frequencies.tolist(), events.tolist(), noise.tolist())
    both = Spectra(frequencies, events[None], noise[None])
    found, ratio = band_of(both), ratio_of(both)
    assert found == pytest.approx(want) if None not in want else found == want
    assert_allclose(ratio[1:], np.maximum(events, 0)[1:] / noise[1:])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_few_events_and_little_background_give_the_band_too(k):
    X = planted("random walk")
    until = STARTS[k - 1] + LENGTH + 5
    low, high = AutoFilter(RATE).fit(X[:until], Y[:until]).band_
    assert (low or 0) < 12 < (high or 50)
    assert low > 3  # drift has none of it


@pytest.mark.parametrize("k", [2, 5, 17])
def test_events_without_a_mark_are_no_background(k):
    X = planted("white")
    y = Y.copy()
    y[STARTS[k - 1] + LENGTH :] = 0
    found = find_look_alikes(BandPass(6, 20, RATE).fit_transform(X).T, occurrences(y)[0], occurrences(y)[1])[0]
    assert abs(found[:, 0][:, None] - STARTS[k:]).min(axis=0).max() <= 2  # all are found,
    assert len(found) == len(STARTS) - k  # and none beside
    fitted = AutoFilter(RATE).fit(X, y)
    low, high = fitted.band_
    assert 6 < low < 12 < high < 20
    at = np.abs(fitted.frequencies_ - 12).argmin()
    whole = AutoFilter(RATE).fit(X, Y)
    assert fitted.noise_spectrum_[at, 0] < 3 * whole.noise_spectrum_[at, 0]


def test_what_is_unlabeled_is_no_class():
    X, first = planted("random walk"), np.arange(N) < N // 2
    assert AutoFilter(RATE).fit(X, np.where(first, Y, -1)).band_ == AutoFilter(RATE).fit(X, np.where(first, Y, 0)).band_
    with pytest.warns(UserWarning, match="'y' should leave samples of background"):
        AutoFilter(RATE).fit(X, Y + 1)


def test_marks_that_are_off_are_moved_to_their_events():
    rng = np.random.default_rng(0)
    X, off = planted("white"), rng.integers(-8, 9, len(STARTS))
    off[0] = -8  # and no event is moved out of the recording
    ranges = np.column_stack([STARTS + off, STARTS + off + LENGTH])
    moved = ranges
    for _ in range(2):
        moved = align(X.T, moved, np.zeros(len(moved), int))
    assert_array_equal(np.diff(moved, axis=1), LENGTH)
    assert np.ptp(moved[:, 0] - STARTS) <= 1
    template = typical(X.T, ranges)[0]
    want = [naive.place_of(X.T.tolist(), s, template.tolist(), LENGTH // 3) for s in ranges[:8, 0].tolist()]
    assert_array_equal(align(X.T, ranges, np.zeros(len(moved), int))[:8, 0], want)
    low, high = AutoFilter(RATE).fit(X, labels_from_events(ranges, n_samples=N)).band_
    assert 7 < low < 12 < high < 18
    edge = np.array([[0, LENGTH], [N - LENGTH, N], *ranges[3:6]])
    assert align(X.T, edge, np.zeros(5, int)).min() >= 0 and align(X.T, edge, np.zeros(5, int)).max() <= N


def test_what_is_held_out_is_that_of_a_naive_version():
    data = np.array([planted("random walk")[:1000, 0], planted("white")[:1000, 0]])
    ranges = np.column_stack([STARTS, STARTS + LENGTH])[:5]
    for first, last in ((0, 310), (310, 1000)):
        found = gains(data, ranges, np.zeros(5, int), Block(first, last), np.empty((0, 2), int))
        events, others = naive.gains(data.tolist(), ranges[:, 0].tolist(), LENGTH, first, last)
        assert_allclose(found[0], events, atol=1e-9)
        assert_allclose(found[1], others, atol=1e-9)
        without = gains(data, ranges, np.zeros(5, int), Block(first, last), np.array([[0, N]]))  # a look-alike at 0
        assert len(without[1]) <= len(found[1])


@pytest.mark.parametrize("mirrored", [0, 4])
@pytest.mark.parametrize("k", [1, 3])
def test_events_that_recur_are_those_of_a_naive_version(k, mirrored):
    rng, starts = np.random.default_rng(k), np.arange(20, 2200, 50)
    y = 0.2 * rng.normal(size=2300)
    for n, start in enumerate(starts):
        y[start : start + 30] += np.diff(np.hanning(31)) * (-8 if k <= n < k + mirrored else 8)
    y /= y.std()
    right, wrong = naive.recurring(y.tolist(), starts[:k].tolist(), 30)
    assert len(right) > 20
    found, code = recurring([y[None], 0.2 * rng.normal(size=(1, 2300))], starts[:k, None] + [0, 30], np.full(k, 4))
    sure = len(wrong) + 1 <= 0.05 * len(right)
    assert sure == (mirrored == 0)
    assert_array_equal(found[:, 0], right if sure else [])
    assert_array_equal(code, [4] * len(found))
    assert_array_equal(np.diff(found, axis=1), 30)


def test_events_in_silence_are_found_without_a_warning():
    X = planted("white") * 0
    for start in STARTS:
        X[start : start + LENGTH, 0] += TONE
    y = Y.copy()
    y[STARTS[2] + LENGTH :] = 0
    X[STARTS[2] + LENGTH :] *= [[1e-120]]  # squares that are hardly floats
    X[STARTS[8] :] *= 1e120
    ranges, code = occurrences(y)
    assert_array_equal(find_look_alikes(X.T, ranges, code)[0][:, 0], STARTS[8:])


def test_a_constant_recording_is_no_overflow():
    y = np.zeros(40, int)
    for start in (2, 10, 18, 26):
        y[start : start + 5] = 1
    assert AutoFilter(RATE).fit(np.full((40, 1), 1e127), y).band_ == (None, None)


def test_detectability_is_of_medians_and_tails():
    events, others = np.linspace(0.5, 1.0, 21), np.linspace(-1.0, 0.0, 21)  # worst ones of 20: 0.525 and -0.05
    assert detectability([(events, others)]) == pytest.approx(1.25 / (1.25 + 0.225 + 0.45))
    assert detectability([(events[:10], others), (events[10:], others)]) == pytest.approx(
        detectability([(events, np.tile(others, 2))])
    )
    assert detectability([(np.ones(3), np.zeros(3))]) == 1.0
    assert detectability([(others, events)]) == detectability([(events, events[:0])]) == 0.0


def test_what_spectra_do_not_tell_is_learned_from_held_out_events():
    rng, starts = np.random.default_rng(0), np.arange(40, 12000, 170)
    slow = 2 * np.hanning(LENGTH) * np.sin(2 * np.pi * 4 * np.arange(LENGTH) / RATE)
    data, ranges = 0.3 * rng.normal(size=(1, 12500)), np.column_stack([starts, starts + LENGTH])
    none, other, code, fast = ranges[:0], ranges[::3] + 90, np.zeros(len(starts), int), (9.0, 15.0)
    for start in starts:
        data[0, start : start + LENGTH] += slow + 2 * TONE
    for start, _ in other:  # looks like an event in the fast part, and is too rare for the median of spectra
        data[0, start : start + LENGTH] += 2 * TONE
    found = spectra(data, ranges, code, RATE, [none])
    bands = candidates(found, fast)
    assert bands[0] == fast and len(set(bands)) == len(bands) > 3
    peak = found.frequencies[ratio_of(found).argmax()]
    assert all((low or 0) < peak < (high or RATE) for low, high in bands[1:])

    def filtered(band):
        return BandPass(*band, RATE).fit_transform(data.T).T

    low, high = choose_band(found, fast, filtered, ranges, code, [none])
    assert low < 4 < high
    few = choose_band(found, fast, filtered, ranges[:59], code[:59], [none])
    assert few == fast  # where the worst of 20 cannot be seen there is no evidence
    every, rest = (gains(filtered(fast), ranges, code, Block(0, 4000), one)[1].max() for one in (none, other))
    assert every > 0.8 > rest + 0.3  # what may be an event tells nothing


def test_edges_that_reach_an_end_of_the_spectrum_are_none():
    rng = np.random.default_rng(0)
    X = np.zeros((N, 1))
    for start in STARTS:
        X[start : start + LENGTH, 0] = np.hanning(LENGTH) * (-1.0) ** np.arange(LENGTH)
    low, high = AutoFilter(RATE).fit(X + 1e-3 * rng.normal(size=(N, 1)), Y).band_
    assert low > 40 and high is None
    for start in STARTS:  # the offset of an event is not told from drift
        X[start : start + LENGTH, 0] = np.hanning(LENGTH)
    low, high = AutoFilter(RATE).fit(X + 1e-3 * rng.normal(size=(N, 1)), Y).band_
    assert low < 2 * RATE / LENGTH and high < 10
    X[:, 0] = 0.0
    assert AutoFilter(RATE).fit(X, Y).band_ == (None, None)  # nothing stands out, and everything passes


def test_channels_have_one_band_of_the_one_that_tells_most():
    rng = np.random.default_rng(0)
    both = np.column_stack([rng.normal(size=N), planted("white")[:, 0]])
    fitted = AutoFilter(RATE).fit(both, Y)
    assert fitted.event_spectrum_.shape == fitted.noise_spectrum_.shape == (len(fitted.frequencies_), 2)
    assert 7 < fitted.band_[0] < 11 and 13 < fitted.band_[1] < 18


def test_classes_stretched_events_and_gaps():
    X, y = planted("white"), Y.astype(str)
    y[y == "0"] = ""
    y[STARTS[1] : STARTS[1] + LENGTH] = "odd"
    X[STARTS[2] + 5] = np.nan
    X[STARTS[3] + 100 : STARTS[3] + 105] = np.nan
    low, high = AutoFilter(RATE, nan_policy="omit").fit(X, y).band_
    assert 7 < low < 11 and 13 < high < 18
    X[:] = np.nan
    with pytest.raises(ValueError, match="'X' must have an event without a missing value"):
        AutoFilter(RATE, nan_policy="omit").fit(X, y)


MARKS = np.zeros(N, int)
MARKS[STARTS] = 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (MARKS, "'y' must mark events from their first sample to their last"),
        (0 * MARKS, "'y' must mark events from their first sample to their last"),
        (np.where(Y == 1, 0, -1), "-1 for what is unlabeled"),
        (Y[:-1], "'y' must have one label per time point"),
    ],
)
def test_labels_that_tell_nothing_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AutoFilter(RATE).fit(planted("white"), y)
