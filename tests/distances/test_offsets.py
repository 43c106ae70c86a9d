"""Numbers under an offset, and windows beside others of another size, against exact arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import compiled, slow, unmeant

from sktslib import QuerySearcher
from sktslib.distances import get_metric
from sktslib.distances._kernels import mass, moments
from sktslib.distances._metrics.dtw import slope_scale
from sktslib.distances._series import SCALINGS, normalize_values, standardize
from sktslib.search import Windows, _pruning

HOW = {how: number for how, number in SCALINGS.items() if how is not None}
pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

EPS = 2.0**-52
# A signal of whole steps of the second number is exact beside the first.
OFFSETS = {"none": (0.0, 1.0), "1e6": (2.0**20, 2.0**-10), "1e10": (-(2.0**33), 2.0**-10), "1e13": (2.0**43, 1.0)}


def exactly(v, how, w=None):
    """One channel normalized, by sums of sixty digits."""
    with localcontext() as context:
        context.prec = 60
        v = [Decimal(a.numerator) / Decimal(a.denominator) for a in map(Fraction, v)]
        w = [Decimal(a) for a in ([1.0] * len(v) if w is None else np.asarray(w).tolist())]
        seen = [a for a, b in zip(v, w, strict=True) if b > 0]
        if len(set(seen)) < 2:
            return np.zeros(len(v))
        shift, scale = sum(a * b for a, b in zip(v, w, strict=True)) / sum(w), Decimal(1)
        if how == "minmax":
            shift, scale = min(seen), max(seen) - min(seen)
        if how == "zscore":
            scale = (sum(b * (a - shift) ** 2 for a, b in zip(v, w, strict=True)) / sum(w)).sqrt()
        return np.array([float((a - shift) / scale) for a in v])


def steps(rng, n, offset=0.0, size=1.0):
    """A walk of whole steps."""
    return offset + size * rng.integers(-9, 10, n).cumsum()


def same_from_afar(rng, m, n):
    """A query and a sequence that holds it nearly, of whole numbers."""
    y = steps(rng, n)
    x = y[n // 3 : n // 3 + m] + rng.integers(-2, 3, m)
    y[-m - 5 : -5] = x + rng.integers(-2, 3, m)
    return x, y


# ------------------------------------------------------------------------------------------------------------- offsets
@pytest.mark.parametrize("m", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_medians_under_an_offset_keep_the_digits_of_the_values(m, weighted):
    rng = np.random.default_rng(0)
    w = np.resize([1.0, 0.5, 0.5, 1.0], m) if weighted else np.ones(m)
    for _ in range(20):
        v = rng.integers(-9, 10, m).astype(float)
        want = naive.normalize_values(v, w, "robust")  # of whole numbers and halves, which are exact
        # A step is the last bit of a value above 1: the middle between two values is no float.
        got = normalize_values((1.0 + 2.0**-52 * (v + 10.0))[np.newaxis], w[np.newaxis], "robust")[0]
        np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("offset", OFFSETS)
@given(st.data())
def test_normalized_values_under_an_offset(offset, how, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    m = data.draw(st.sampled_from([2, 3, 9, 50]))
    a = np.array([[steps(rng, m, *OFFSETS[offset])], [steps(rng, m, *OFFSETS[offset])]])
    w = rng.choice([0.0, 0.25, 0.5, 1.0], size=(1, m)) if data.draw(st.booleans()) else np.ones((1, m))
    w[0, rng.integers(0, m)] = 1.0
    for row, among in zip(a, normalize_values(a, w, how), strict=True):
        want = exactly(row[0].tolist(), how, w[0])[np.newaxis]
        one = moments.normalize_one(row, w, HOW[how])
        near = {"rtol": 4 * EPS, "atol": 4 * EPS * np.abs(want).max() * (1 if how == "minmax" else math.sqrt(m))}
        np.testing.assert_allclose(one, want, **near)
        np.testing.assert_allclose(among, want, **near)
        if (w == 1).all() and how == "zscore":
            np.testing.assert_allclose(standardize(row), want, **near)


@pytest.mark.parametrize("sizes", [(1e-3, 1e9), (1.0, 1e8)])
def test_a_signal_beside_a_huge_value(sizes):
    rng = np.random.default_rng(2)
    a = sizes[0] * rng.normal(size=(2, 1, 60))
    a[0, 0, 17] = sizes[1]
    a[1, 0, 30:] += sizes[1]
    for how in HOW:
        for row, among in zip(a, normalize_values(a, np.ones((1, 60)), how), strict=True):
            want = exactly(row[0].tolist(), how)[np.newaxis]
            for got in (moments.normalize_one(row, np.ones((1, 60)), HOW[how]), among):
                np.testing.assert_allclose(got, want, rtol=0, atol=8 * EPS * np.abs(want).max())


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", [None, *HOW])
@pytest.mark.parametrize("name", compiled(["euclidean", "correlation", "manhattan", "dtw"]))
def test_searches_do_not_see_an_offset(name, how, weighted, monkeypatch):
    monkeypatch.setattr(mass, "LEAST", 1)
    monkeypatch.setattr(_pruning, "LEAST", 1)
    rng = np.random.default_rng(3)
    x, y = same_from_afar(rng, 40 if weighted or name == "dtw" else 100, 500)
    w = rng.choice([0.25, 0.5, 1.0], len(x)) if weighted else None
    params = {"window": 0.1} if name == "dtw" else None
    want = None
    for offset in (0.0, 2.0**20, 2.0**34, -(2.0**40)):
        searcher = QuerySearcher(get_metric(name, params), candidates="windows", normalize=how, n_matches=3)
        searcher.fit(x + offset, weight=w)
        found, profile = searcher.search(y + offset), searcher.profile(y + offset)
        pair = get_metric(name, params).distance(x + offset, y[: len(x)] + offset, weight=w)
        got = found.start, found.distance, profile.distance, float(pair)
        want = got if want is None else want
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_allclose(got[1], want[1], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(got[2], want[2], rtol=max(2 * profile._slack, 1e-12), atol=1e-13)
        assert got[3] == pytest.approx(want[3], rel=1e-12)


def test_dtw_of_normalized_windows_under_an_offset():
    rng = np.random.default_rng(4)
    x, y = same_from_afar(rng, 12, 40)
    for offset, size in OFFSETS.values():
        query = exactly((offset + size * x).tolist(), "zscore")
        want = [
            float(get_metric("dtw")(query, exactly((offset + size * y[k : k + 12]).tolist(), "zscore")))
            for k in range(29)
        ]
        searcher = QuerySearcher("dtw", normalize="zscore").fit(offset + size * x)
        np.testing.assert_allclose(searcher.profile(offset + size * y).distance, want, rtol=1e-12)


def test_running_means_keep_their_digits_beside_an_offset():
    rng = np.random.default_rng(6)
    y, m = 2.0**40 + 2.0**-10 * rng.integers(-9, 10, 400).cumsum(), 60
    mean, spread, error = np.empty((3, 341))
    moments.moments(y, m, y[0], 0, mean, spread, error)
    want = np.lib.stride_tricks.sliding_window_view(y - y[0], m).mean(axis=1)  # whole steps: no sum is rounded
    np.testing.assert_allclose(mean, want, rtol=1e-13, atol=1e-15)


def test_slopes_have_a_scale_under_an_offset():
    x = steps(np.random.default_rng(7), 50)[np.newaxis]
    want = slope_scale(x, np.gradient(x, axis=1))
    for offset, size in OFFSETS.values():
        moved = offset + size * x
        np.testing.assert_allclose(slope_scale(moved, np.gradient(moved, axis=1)), want, rtol=1e-12)
    for ramp in (0.1 * np.arange(40.0), 1e6 + 0.1 * np.arange(40.0), np.full(40, 1e9 + 0.3)):
        assert slope_scale(ramp[np.newaxis], np.gradient(ramp)[np.newaxis]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 2**40])
@pytest.mark.parametrize("name", ["euclidean", "correlation", "cosine", "manhattan", "dtw"])
def test_stretches_of_other_sizes(name, least, monkeypatch):
    """Each window is normalized by itself, whatever there is beside it."""
    monkeypatch.setattr(mass, "LEAST", least)
    monkeypatch.setattr(_pruning, "LEAST", least)
    rng = np.random.default_rng(10)
    x, y = same_from_afar(rng, 100 if name != "dtw" else 25, 420)
    size = np.repeat(2.0 ** np.array([0, 0, -400, 440, 0, -450, 0]), 60)  # squares are floats
    for how in ("zscore",) if name != "correlation" else (None, "zscore", "mean"):
        searcher = QuerySearcher(name, normalize=how, n_matches=2).fit(x)
        got = searcher.profile(y * size).distance
        for k in range(0, len(got), 13):
            alone = QuerySearcher(name, normalize=how).fit(x).profile((y * size)[k : k + len(x)]).distance
            assert got[k] == pytest.approx(alone[0], rel=1e-5 if least == 1 else 1e-12)
        whole = size[: len(got)] == size[len(x) - 1 :]
        whole &= np.array([len(set(size[k : k + len(x)])) == 1 for k in range(len(got))])
        np.testing.assert_allclose(got[whole], searcher.profile(y).distance[whole], rtol=1e-5)
        found = searcher.search(y * size)
        assert found.distance[0] == pytest.approx(got.min(), rel=1e-5)


# ---------------------------------------------------------------------------------------------------- resampled windows
def interpolated(window, length):
    """Its points at another number of places, as fractions."""
    window, out = [Fraction(v) for v in window], []
    for k in range(length):
        left, rest = divmod(Fraction(k * (len(window) - 1), max(length - 1, 1)), 1)
        after = window[min(left + 1, len(window) - 1)]
        out.append(window[left] + rest * (after - window[left]))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["euclidean", "dtw"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_resampled_windows_under_an_offset(offset, name):
    rng = np.random.default_rng(14)
    y = steps(rng, 40, *OFFSETS[offset])
    x, w = steps(rng, 7, *OFFSETS[offset]), np.array([0.0, 0.5, 1.0, 1.0, 0.25, 0.0, 1.0])
    for how in HOW:
        query = exactly(x.tolist(), how, w)
        searcher = QuerySearcher(name, candidates=Windows([10 / 7]), normalize=how).fit(x, weight=w)
        want = [
            float(get_metric(name).distance(query, exactly(interpolated(y[k : k + 10], 7), how, w), weight=w))
            for k in range(31)
        ]
        np.testing.assert_allclose(searcher.profile(y).distance, want, rtol=1e-11)
        found = searcher.search(y)
        assert found.distance[0] == pytest.approx(min(want), rel=1e-11)


@pytest.mark.parametrize("name", ["dtw", *slow("correlation", "euclidean", *compiled(["manhattan"]))])
def test_one_unit_of_the_last_place_makes_no_resampled_window_vary(name):
    x, y = np.sin(np.arange(8.0)), np.sin(np.arange(60.0))
    y[15:45] = 0.1
    flat = y.copy()
    y[16:45:3] = np.nextafter(0.1, 1.0)
    y[17:45:5] = np.nextafter(0.1, 0.0)
    how = None if name == "correlation" else "zscore"
    searcher = QuerySearcher(name, candidates=Windows([11 / 8]), normalize=how).fit(x)
    got, want = searcher.profile(y).distance, searcher.profile(flat).distance
    np.testing.assert_array_equal(got[15:35], want[15:35])
    search = searcher.search(y)
    assert np.isin(search.distance, got).all()
    pair = get_metric("correlation")
    assert pair(x, y[16:30]) == pair(x, flat[16:30]) == pair(y[16:30], x) == 1.0
    # Weights that leave two points which are equal by their formula: 1/3 of the way up, and 2/3 of the way down.
    ends = QuerySearcher("euclidean", candidates=Windows([0.75]), normalize="zscore").fit(
        [0.0, 1.0, 3.0, 0.0], weight=[0, 1, 1, 0]
    )
    np.testing.assert_array_equal(ends.profile([1.0, 3.1, 1.0]).distance, [math.sqrt(2)])


def test_a_window_with_as_many_samples_is_not_interpolated():
    x, y = np.sin(np.arange(8.0)), np.full(30, 0.1)
    y[7] = np.nextafter(0.1, 1.0)
    plain = QuerySearcher("euclidean", normalize="zscore").fit(x).profile(y).distance
    for scales in ([1.0], [2.0 - 1 / 8]):  # every second of 15 samples is a point
        scaled = QuerySearcher("euclidean", candidates=Windows(scales), normalize="zscore").fit(x).profile(y).distance
        assert plain[7] != plain[8]
        assert scaled[7] != scaled[8]
