"""A channel that decides alone is noticed."""

import warnings

import numpy as np
import pytest

from sktslib._cli.estimator_options import in_options
from sktslib.utils._channels import DECIDES, notice_channels

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 400))
A, B = (A - A.mean()) / A.std(), (B - B.mean()) / B.std()


def message(*arguments):
    with pytest.warns(UserWarning, match="channels of the query") as found:
        notice_channels(*arguments)
    return str(found[0].message)


def silent(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notice_channels(*arguments)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_channel_with_nearly_all_variance_is_named(offset):
    limit = np.sqrt(DECIDES / (1 - DECIDES))
    silent(np.array([A, 0.999 * limit * B]) + offset)
    assert "The channel 1 of 2, counted from 0, has 99 %" in message(np.array([A, 1.001 * limit * B]) + offset)
    text = message(np.array([1e4 * A, B]), None, ["acc", "gyr"])
    assert "The channel 'acc' has 99.9 % of the variance" in text
    assert text.endswith("for example with sklearn.preprocessing.StandardScaler.")
    assert in_options(text, []).endswith("scale the columns: --scale zscore.")


def test_what_does_not_vary_is_no_matter_of_scale():
    silent(np.array([1e4 * A]))
    silent(np.array([1e4 * A, np.full(400, 3.0)]))
    silent(np.zeros((2, 5)))
    assert message(np.array([1e4 * A, np.zeros(400), B]))


def test_weights_and_missing_values_count():
    x = np.array([1e4 * A, B])
    x[0, 7] = np.nan
    assert message(x)
    silent(x, np.array([np.full(400, 1e-8), np.ones(400)]))
    far = np.array([A, B])
    far[0, 5] = 1e9
    assert message(far)
    silent(far, np.array([np.arange(400) != 5, np.ones(400)]))


def test_huge_values_do_not_overflow():
    assert message(np.array([1e200 * A, 1e100 * B]))
    silent(np.array([1e200 * A, 1e200 * B]))
