"""Bars that show how far long calls have come, and jobs: in threads, in other processes, on clusters."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
from functools import partial
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from calls_in_jobs import CALLS, IN_JOBS, Q, S, X, ranges
from inputs import refused
from joblib import delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from strategies import slow

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import nearest_neighbors, pairwise_distances
from sktslib.neighbors import MetricWeights
from sktslib.utils import _jobs
from sktslib.utils._jobs import count_jobs, each_in_jobs, in_jobs, progress, shared

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
    segmenter = QuerySegmenter("dtw", nan_policy="omit", verbose=1).fit([0.0, 5.0])
    want = segmenter.set_params(verbose=0).segment(y)
    got = segmenter.set_params(verbose=1).segment(y)
    np.testing.assert_array_equal(ranges(got), ranges(want))
    assert "12.0k/12.0k" in capsys.readouterr().err


def test_without_a_console_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with progress(2, 1, "outer", "step") as count:
        count()


def test_processes_of_a_pool_have_threads_as_others_do(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert count_jobs(3) == 3
    assert (count_jobs(None), count_jobs(1)) == (1, 1)
    with parallel_config("threading", n_jobs=5):
        assert (count_jobs(None), count_jobs(2)) == (5, 2)


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
        refused(lambda: QuerySearcher(fails, verbose=1).fit(Q).search([S, S]), "no distance")
        assert capsys.readouterr().err.endswith("\n")  # and is not left open, for the next one to be a line below


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_results_are_in_order_whatever_runs_the_jobs(backend, verbose):
    with parallel_config(backend, n_jobs=1):
        found = in_jobs([delayed(divmod)(k, 3) for k in range(5)], None, verbose, "jobs", "job")
    assert found == [divmod(k, 3) for k in range(5)]


def jobs(calls, n_jobs=2):
    """Results of calls in jobs, without a bar."""
    return in_jobs(calls, n_jobs, 0, "numbers", "number")


def late(k, least=0):
    """The number, the later the less it is; those below `least` are refused."""
    sleep(0.002 * (5 - k % 5))
    if k < least:
        raise ValueError(f"refused: {k}")
    return k


@pytest.fixture
def none_waiting(monkeypatch):
    monkeypatch.setattr(_jobs, "_kept", {})


@pytest.mark.parametrize("n_jobs", [2, 3, 20])
@pytest.mark.parametrize("at_once", [1, 2])
def test_threads_begin_calls_in_order_and_not_too_far_ahead(n_jobs, at_once, monkeypatch, none_waiting):
    monkeypatch.setattr(_jobs, "AT_ONCE", at_once)
    begun, before = [], threading.active_count()
    calls = (begun.append(k) or delayed(late)(k) for k in range(12))
    for k, found in enumerate(each_in_jobs(calls, 12, n_jobs, 0, "numbers", "number")):
        assert found == k
        assert begun == [*range(len(begun))]
        assert len(begun) <= k + at_once * min(n_jobs, 12)
        assert threading.active_count() <= before + n_jobs


def who_calls(n_jobs):
    """The threads that make calls, none of which ends before all of them have begun."""
    begun = threading.Barrier(n_jobs, timeout=60)
    calls = [delayed(lambda: (begun.wait(), threading.current_thread())[1])() for _ in range(n_jobs)]
    return set(jobs(calls, n_jobs))


def test_threads_do_the_next_call_too(none_waiting):
    first = who_calls(2)
    assert len(first) == 2 and who_calls(2) == first
    assert not who_calls(3) & first
    refused(lambda: jobs([delayed(late)(0, 1) for _ in range(4)]), "refused")
    assert not who_calls(2) & first  # those may still be at work
    with parallel_config("threading", n_jobs=2):
        assert jobs([delayed(_jobs.count_jobs)(None) for _ in range(4)]) == [1] * 4


def test_few_threads_are_kept(none_waiting):
    sizes = range(2, 4 + _jobs.KEPT)
    seen = {size: who_calls(size) for size in sizes}
    assert [*_jobs._kept] == [*sizes[-_jobs.KEPT :]]
    for size in sizes[: -_jobs.KEPT]:
        for thread in seen[size]:
            thread.join(60)
            assert not thread.is_alive()
    assert who_calls(sizes[-1]) == seen[sizes[-1]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # is multi-threaded: that is what is tried
def test_a_forked_process_has_threads_of_its_own(none_waiting):
    assert len(who_calls(2)) == 2
    with shared(2) as for_each:
        child, right = os.fork(), False
        if not child:
            signal.alarm(60)
            try:
                right = not _jobs._kept and len(who_calls(2)) == 2
            finally:
                os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert for_each(abs, range(-3, 0)) == [3, 2, 1]


def test_an_error_in_a_thread_stands_where_its_result_would():
    found = each_in_jobs([delayed(late)(k, 4 * (k > 2)) for k in range(9)], 9, 3, 0, "numbers", "number")
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    refused(lambda: next(found), "refused: 3")
    assert list(found) == []


def test_threads_end_where_nobody_wants_the_rest(none_waiting):
    before, begun = {*threading.enumerate()}, []
    calls = (begun.append(k) or delayed(late)(k) for k in range(1000))
    for found in each_in_jobs(calls, 1000, 2, 0, "numbers", "number"):
        if found == 3:
            break
    del found
    for thread in {*threading.enumerate()} - before:
        thread.join(60)
        assert not thread.is_alive()
    assert len(begun) < 20


@pytest.mark.parametrize("within", [1, 2])
def test_calls_end_that_run_while_another_one_fails(within):
    asked = []

    def asks(x, y):
        asked.append(threading.current_thread())
        sleep(0.001)
        return 1.0

    def work(k):
        if not k:
            while not asked:
                sleep(0.001)
            raise ValueError("no distance")
        return pairwise_distances(np.zeros((300, 2)), metric=asks, n_jobs=within)  # for a minute

    refused(lambda: jobs([delayed(work)(k) for k in range(2)]), "no distance")
    for thread in set(asked):
        thread.join(2)
        assert not thread.is_alive()
    assert pairwise_distances([[0.0, 1.0], [2.0, 3.0]], metric=asks)[0, 1] == 1.0  # who calls is wanted


def test_jobs_within_jobs_are_made_by_their_thread():
    def inner(k):
        here = threading.current_thread()
        with shared(count_jobs(2)) as for_each:
            assert {*for_each(lambda _: threading.current_thread(), range(k))} <= {here}
        assert {*jobs([delayed(threading.current_thread)() for _ in range(k)])} <= {here}
        return sum(jobs([delayed(late)(j) for j in range(k)]))

    assert jobs([delayed(inner)(k) for k in range(5)]) == [0, 0, 1, 3, 6]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_items_that_threads_share(n_jobs):
    out = np.zeros(10)

    def fill(k):
        out[k] += late(k)
        return -k

    with shared(n_jobs) as for_each:
        for _ in range(2):
            assert for_each(fill, range(10)) == [-k for k in range(10)]
        assert for_each(fill, range(1)) == [0]
        assert for_each(fill, range(0)) == []
    np.testing.assert_array_equal(out, 2 * np.arange(10))


def test_verbose_is_a_count():
    for call, _ in CALLS.values():
        with pytest.raises(ValueError, match=r"The 'verbose' parameter.*Got -1"):
            call(verbose=-1)


def test_threads_of_another_process_are_not_kept(none_waiting, monkeypatch):
    with shared(2):
        monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a process that is forked here
    assert not _jobs._kept


# -------------------------------------------------------------------------------------------------------------- engines

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


@pytest.fixture(params=["threading", *slow("loky", "dask")])
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
        with pytest.raises(TerminatedWorkerError, match="excessive memory usage"):
            in_jobs([delayed(killed)(os.getpid(), k) for k in range(8)], 2, verbose, "numbers", "number")
        # And the next call has workers again.
        assert in_jobs([delayed(divmod)(k, 3) for k in range(8)], 2, verbose, "numbers", "number")[7] == (2, 1)


@pytest.mark.slow
def test_a_dask_worker_killed(dask_client, tmp_path):
    from distributed import KilledWorker

    with parallel_config("dask"):
        calls = [delayed(killed)(os.getpid(), k, tmp_path / "mark") for k in range(8)]
        assert in_jobs(calls, None, 0, "numbers", "number") == list(range(8))  # dask does it again elsewhere
        dask_client.wait_for_workers(2)
        with pytest.raises(KilledWorker, match="died"):
            in_jobs([delayed(killed)(os.getpid(), k) for k in range(8)], None, 0, "numbers", "number")
