"""Numbers under an offset, and numbers so large or small that their squares leave float64, against exact arithmetic."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktslib.distances import _lockstep as kernels
from sktslib.distances._normalise import normalise, standardise

HOW = {"mean": 1, "zscore": 2, "minmax": 3}
EPS = 2.0**-52
OFFSETS = {"none": (0.0, 1.0), "1e6": (1e6, 1e-3), "1e8": (1e8, 1e-4), "1e10": (-1e10, 1e-3), "1e13": (1e13, 1.0)}


def exact(v, how, w=None):
    """One channel normalised, by sums of sixty digits."""
    with localcontext() as context:
        context.prec = 60
        context.Emin, context.Emax = -99999, 99999
        v = [Decimal(a) for a in np.asarray(v).tolist()]
        w = [Decimal(a) for a in ([1.0] * len(v) if w is None else w.tolist())]
        seen = [a for a, b in zip(v, w, strict=True) if b > 0]
        if len(set(seen)) < 2:
            return np.zeros(len(v))
        shift, scale = sum(a * b for a, b in zip(v, w, strict=True)) / sum(w), Decimal(1)
        if how == "minmax":
            shift, scale = min(seen), max(seen) - min(seen)
        if how == "zscore":
            scale = (sum(b * (a - shift) ** 2 for a, b in zip(v, w, strict=True)) / sum(w)).sqrt()
        return np.array([float((a - shift) / scale) for a in v])


def steps(rng, offset, size, n):
    """A signal of whole steps, which an offset leaves as they are."""
    return offset + size * rng.integers(-9, 10, n).cumsum()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("offset", OFFSETS)
@given(st.data())
def test_normalised_values_under_an_offset(offset, how, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    m = data.draw(st.sampled_from([2, 3, 9, 50]))
    a = np.array([[steps(rng, *OFFSETS[offset], m)], [steps(rng, *OFFSETS[offset], m)]])
    w = rng.choice([0.0, 0.25, 0.5, 1.0], size=(1, m)) if data.draw(st.booleans()) else np.ones((1, m))
    w[0, 0] = 1.0
    want = np.array([[exact(row[0], how, w[0])] for row in a])
    many = normalise(a, w, how)
    one = np.empty_like(a[0])
    for row, expected, among in zip(a, want, many, strict=True):
        kernels.normalise_one(row, w, HOW[how], one)
        near = {"rtol": 4 * EPS, "atol": 4 * EPS * np.abs(expected).max() * (1 if how == "minmax" else math.sqrt(m))}
        np.testing.assert_allclose(one, expected, **near)
        np.testing.assert_allclose(among, expected, **near)
    if (w == 1).all() and how == "zscore":
        np.testing.assert_allclose(standardise(a[0]), want[0], **near)
