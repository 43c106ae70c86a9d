"""Bars that show how far long calls have come."""

import numpy as np
import pytest

from sktslib.distances import nearest_neighbors, pairwise_distances

X = np.random.default_rng(0).normal(size=(20, 12))
CALLS = {
    "pairwise distances": lambda **options: pairwise_distances(X, **options),
    "nearest neighbors": lambda **options: nearest_neighbors(X, **options).distances,
}


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", CALLS)
def test_a_bar_shows_how_far_the_work_has_come(name, n_jobs, capsys):
    want = CALLS[name]()
    assert capsys.readouterr().err == ""
    got = CALLS[name](verbose=1, n_jobs=n_jobs)
    np.testing.assert_array_equal(got, want)
    shown = capsys.readouterr()
    assert name in shown.err
    assert "100%" in shown.err
    assert shown.out == ""


def test_verbose_is_a_count():
    with pytest.raises(ValueError, match="'verbose' parameter must be"):
        pairwise_distances(X, verbose=-1)
