"""The same calls in threads, in other processes and on clusters: equal results, and clear words of processes lost."""

import os
import signal
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from calls_in_jobs import IN_JOBS, Q, S, X, ranges
from joblib import delayed, parallel_config, register_parallel_backend
from joblib.parallel import BACKENDS

from sktslib import QuerySearcher
from sktslib.distances import nearest_neighbors, pairwise_distances
from sktslib.utils._jobs import in_jobs

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "dask_cluster.py"
SOME = [
    *("pairwise", "nearest", "barycenter", "queries", "sequences", "by chunks", "profile", "PairwiseDistances"),
    *("kneighbors", "kneighbors, omit", "classifier", "ShapeletTransform"),
]
WANT = {}


def want(name):
    """What a call finds in one thread."""
    if name not in WANT:
        WANT[name] = IN_JOBS[name][0]()
    return WANT[name]


@pytest.fixture(params=["threading", "loky", "dask"])
def engine(request):
    if request.param == "dask":
        request.getfixturevalue("dask_client")
    with parallel_config(request.param, n_jobs=2):
        yield request.param


def elsewhere(here, x, y):
    """Whether a distance is computed in another process."""
    return float(os.getpid() != here)


def test_results_are_equal(engine):
    for name in SOME:
        np.testing.assert_array_equal(IN_JOBS[name][0](), want(name), err_msg=name)


def test_work_travels(engine, monkeypatch):
    for name in ("QUERIES", "MANY_QUERIES"):
        monkeypatch.setattr(f"sktslib.distances._nearest.{name}", 4)
    away, metric = float(engine != "threading"), partial(elsewhere, os.getpid())
    np.testing.assert_array_equal(pairwise_distances(X, X[:5], metric=metric), away)
    np.testing.assert_array_equal(nearest_neighbors(X, X[:5], metric=metric).distances, away)


def test_large_arrays_are_what_they_were(engine):
    """Some engines make files of them, or take the right to write: neither may look like a recording on disk."""
    y = np.tile(S, 500)
    y[1000:1004] = Q
    searcher = QuerySearcher(metric="euclidean", n_matches=3).fit([Q, 2 * Q])
    with parallel_config("threading", n_jobs=1):
        expected = searcher.search(y)
    found = searcher.search(y)
    np.testing.assert_array_equal(ranges(found), ranges(expected))
    np.testing.assert_array_equal(found.cut()[0], Q)


def test_ray():
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        register_ray()
        with parallel_config("ray", n_jobs=2):
            np.testing.assert_array_equal(IN_JOBS["queries"][0](), want("queries"))
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_the_example_runs_on_two_workers():
    pytest.importorskip("distributed")
    ran = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True)
    assert ran.stdout.count("equal: True") == 3


def test_the_extra_is_named_where_it_is_needed():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras["dask"][0].startswith("dask[distributed]>=")
    for page in (ROOT / "docs" / "scale.rst", EXAMPLE):
        assert 'pip install "sktslib[dask]"' in page.read_text(encoding="utf-8"), page


# ------------------------------------------------------------------------------------------------------ lost processes
def killed(here, k, mark=None):
    """The number, unless it is 3 and kills the process that is asked for it; but once if it is to leave a mark."""
    if os.getpid() != here and k == 3 and not (mark and mark.exists()):
        if mark:
            mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
@pytest.mark.parametrize("verbose", [0, 1])
def test_a_worker_killed(verbose):
    with parallel_config("loky", n_jobs=2):
        with pytest.raises(RuntimeError, match=r"\(numbers\) must not lose.*killed.*lack of memory.*fewer jobs"):
            in_jobs([delayed(killed)(os.getpid(), k) for k in range(8)], 2, verbose, "numbers", "number")
        # And the next call has workers again.
        assert in_jobs([delayed(divmod)(k, 3) for k in range(8)], 2, verbose, "numbers", "number")[7] == (2, 1)


def silent(here, k):
    """The number, unless it is 3 and the process that is asked for it stops."""
    if os.getpid() != here and k == 3:
        os.kill(os.getpid(), signal.SIGSTOP)
    return k


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows has no such signal")
def test_a_worker_that_does_not_answer():
    class Within(BACKENDS["loky"]):
        def configure(self, n_jobs=1, parallel=None, **options):
            parallel.timeout = seconds
            return super().configure(n_jobs, parallel, **options)

    register_parallel_backend("within", Within)
    seconds = 60
    try:
        with parallel_config("within", n_jobs=2):
            pids = set(in_jobs([delayed(os.getpid)() for _ in range(8)], None, 0, "numbers", "number"))
            seconds = 1
            with pytest.raises(TimeoutError, match=r"\(numbers\) must be answered within.*threads cannot be ended"):
                in_jobs([delayed(silent)(os.getpid(), k) for k in range(8)], None, 0, "numbers", "number")
            seconds = 60
            later = set(in_jobs([delayed(os.getpid)() for _ in range(8)], None, 0, "numbers", "number"))
            assert not pids & later  # those before were ended
    finally:
        del BACKENDS["within"]


@pytest.mark.slow
def test_a_dask_worker_killed(dask_client, tmp_path):
    with parallel_config("dask"):
        calls = [delayed(killed)(os.getpid(), k, tmp_path / "mark") for k in range(8)]
        assert in_jobs(calls, None, 0, "numbers", "number") == list(range(8))  # dask does it again elsewhere
        dask_client.wait_for_workers(2)
        with pytest.raises(RuntimeError, match=r"KilledWorker.*killed.*lack of memory"):
            in_jobs([delayed(killed)(os.getpid(), k) for k in range(8)], None, 0, "numbers", "number")
