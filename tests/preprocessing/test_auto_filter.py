"""AutoFilter: the band of planted events, whatever the noise, and what labels it takes."""

import numpy as np
import pytest
from naive import preprocessing as naive
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sktslib import QuerySegmenter, segment_in
from sktslib.metrics import event_f1_score, labels_from_events
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.preprocessing import AutoFilter, BandPass
from sktslib.preprocessing._event_spectra import Spectra, band_of, find_look_alikes
from sktslib.search._learning.time_labels import occurrences

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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", NOISE)
def test_the_band_is_that_of_the_events(kind, seed):
    X = planted(kind, seed)
    fitted = AutoFilter(RATE).fit(X, Y)
    low, high = fitted.band_
    assert 7 < low < 12 < high < 18
    assert fitted.ratio_.argmax() == pytest.approx(12 / fitted.frequencies_[1], abs=4)
    assert_array_equal(fitted.transform(X), BandPass(low, high, RATE).fit_transform(X))


@pytest.mark.parametrize("seed", range(4))
def test_the_band_separates_better_than_any_other(seed):
    rng = np.random.default_rng(seed)
    k = [9, 30, 60, 128][seed]
    frequencies = np.arange(k) * 0.5
    events, noise = np.exp(-(((np.arange(k) - k / 3) / (k / 8)) ** 2)) + 0.1 * rng.normal(size=k), rng.random(k) + 0.2
    want = naive.best_band(frequencies.tolist(), events.tolist(), noise.tolist())
    found, ratio = band_of(Spectra(frequencies, events[None], noise[None]))
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


def test_labels_that_tell_nothing_are_refused():
    X = planted("white")
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        AutoFilter(RATE).fit(X)
    marks = np.zeros(N, int)
    marks[STARTS] = 1
    for y in (marks, 0 * marks):
        with pytest.raises(ValueError, match="'y' must mark events from their first sample to their last"):
            AutoFilter(RATE).fit(X, y)
    with pytest.warns(UserWarning, match="'y' should leave samples of background"):
        AutoFilter(RATE).fit(X, Y + 1)
    with pytest.raises(ValueError, match="'y' must have one label per time point"):
        AutoFilter(RATE).fit(X, Y[:-1])


def test_it_stands_in_a_pipeline_and_a_grid():
    X = planted("random walk")[:1500]
    last = QuerySegmenter("euclidean", query=4 * TONE, background=1.0)
    model = make_pipeline(AutoFilter(RATE), last)
    fitted = model.fit(X, Y[:1500])
    found = segment_in(fitted, X)
    assert event_f1_score(Y[:1500], np.column_stack([found.start, found.end])) > 0.9
    grid = {"autofilter__order": [1, 2]}
    assert GridSearchCV(model, grid, cv=BlockedSeriesSplit(2)).fit(X, Y[:1500]).best_score_ > 0.8
