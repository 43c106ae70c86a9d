"""Bars that show how far long calls have come, and jobs."""

import re

import numpy as np
import pytest
from calls_in_jobs import CALLS, IN_JOBS, Q, S, ranges
from joblib import delayed, parallel_config

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.neighbors import MetricWeights
from sktslib.utils._jobs import in_jobs, progress

UP = "\x1b[A"  # what a bar within another one ends with


def bars(text):
    """Names of bars, and what each says in the end."""
    found = re.findall(r"([a-z][a-z ]*): +([^\r\n]*)", text)
    return {name: said.strip() for name, said in found if said.strip()}


@pytest.mark.parametrize("name", CALLS)
def test_a_bar_shows_how_far_the_work_has_come(name, capsys):
    call, names = CALLS[name]
    want = call()
    assert capsys.readouterr() == ("", "")
    for options in [{}, {"n_jobs": 2}] if name in IN_JOBS else [{}]:
        np.testing.assert_array_equal(call(verbose=1, **options), want)
        out, err = capsys.readouterr()
        assert out == ""
        assert set(bars(err)) == names
        for bar, said in bars(err).items():
            assert said.startswith("100%") or UP in said or bar in ("barycenter", "clusters"), (bar, said)


def test_a_segmentation_counts_each_sample_but_those_missing(capsys):
    y = np.tile(S, 40)
    y[[100, 101, 7000]] = np.nan
    segmenter = QuerySegmenter(nan_policy="omit", verbose=1).fit([0.0, 5.0])
    want = segmenter.set_params(verbose=0).segment(y)
    got = segmenter.set_params(verbose=1).segment(y)
    np.testing.assert_array_equal(ranges(got), ranges(want))
    assert "12.0k/12.0k" in capsys.readouterr().err


def test_bars_within_others_go_again(capsys):
    with progress(2, 1, "outer", "step") as count:
        for _ in range(2):
            with progress(3, 1, "inner", "step") as within:
                within(3)
            count()
    err = capsys.readouterr().err
    assert err.endswith("\n")
    assert "outer: 100%" in err.rpartition("\r")[2]
    assert "inner" in err


@pytest.mark.parametrize("steps", [0, 1])
def test_a_bar_of_nothing_goes_again(steps, capsys):
    with progress(None, 1, "weights", "iteration") as count:
        for _ in range(steps):
            count()
    assert bool(capsys.readouterr().err.rpartition("\r")[2].strip()) == bool(steps)
    MetricWeights(alpha=np.inf, kind="channels", verbose=1).fit([[0.0], [1], [2], [3]], [0, 0, 1, 1])
    assert not capsys.readouterr().err.rpartition("\r")[2].strip()


def test_a_bar_ends_with_an_error(capsys):
    def fails(x, y):
        raise ValueError("no distance")

    for _ in range(2):
        with pytest.raises(ValueError, match="no distance"):
            QuerySearcher(fails, verbose=1).fit(Q).search([S, S])
        assert capsys.readouterr().err.endswith("\n")  # and is not left open, for the next one to be a line below


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_results_are_in_order_whatever_runs_the_jobs(backend, verbose):
    with parallel_config(backend, n_jobs=1):
        found = in_jobs([delayed(divmod)(k, 3) for k in range(5)], None, verbose, "jobs", "job")
    assert found == [divmod(k, 3) for k in range(5)]


@pytest.mark.parametrize("name", CALLS)
def test_verbose_is_a_count(name):
    with pytest.raises(ValueError, match=r"The 'verbose' parameter.*Got -1"):
        CALLS[name][0](verbose=-1)
