"""What is compiled or loaded ahead of time."""

import os
import subprocess
import sys

import numba
import pytest
from inputs import refused

import sktslib
from sktslib.distances import TAM

SERVICE = """
import gc
import numpy as np
import sktslib
from numba.core.dispatcher import Dispatcher
from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import get_metric, nearest_neighbors, pairwise_distances

def compiled():
    kernels = [f for f in gc.get_objects() if isinstance(f, Dispatcher) and f.__module__.startswith("sktslib")]
    return {(f.__module__, f.__name__, str(s)) for f in kernels for s in f.signatures}

NAMES = ["dtw"]
sktslib.warmup(NAMES)
before = compiled()
rng = np.random.default_rng(1)
y = rng.normal(size=9000).cumsum()
for metric in map(get_metric, NAMES):
    for m in (12, 150, 700):
        x, X = rng.normal(size=m), rng.normal(size=(30, m))
        metric(x, y[:m], cutoff=1.0), getattr(metric.distance(x, y[:m]), "path", None)
        pairwise_distances(X, metric=metric), pairwise_distances([x, X[0][1:], X[1]], [x], metric)
        nearest_neighbors(X, X[:9], metric, 2), nearest_neighbors([x, X[0][1:], X[1]], metric=metric)
        for keywords in ({"n_matches": 4}, {"candidates": "windows", "normalize": "zscore"}, {"threshold": 9.0}):
            QuerySearcher(metric, **keywords).fit(x).search(y)
        QuerySegmenter(metric).fit(x).segment(y)
print(sorted(compiled() - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_service_compiles_and_loads_nothing_after_it():
    run = subprocess.run([sys.executable, "-c", SERVICE], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_verbose_tells_each_task_and_what_a_metric_refuses_is_passed_over(capsys):
    sktslib.warmup(["chebyshev", TAM()], tasks=["distance", "segmentation"], verbose=1)
    told = [" ".join(line.split()[:3]) for line in capsys.readouterr().out.splitlines()]
    assert told == [f"warmup: {m}, {t}," for m in ("Chebyshev()", "TAM()") for t in ("distance", "segmentation")]


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_processes_compile_what_this_one_then_loads(tmp_path):
    """Two tasks in two processes, from an empty folder: this process compiles nothing."""
    code = """
import sktslib
sktslib.warmup("manhattan", tasks=["distance", "pairwise"], n_jobs=2)
import gc
from numba.core.dispatcher import Dispatcher
kernels = [f for f in gc.get_objects() if isinstance(f, Dispatcher) and f.__module__.startswith("sktslib")]
print(sum(sum(f.stats.cache_misses.values()) for f in kernels), sum(len(f.signatures) for f in kernels) > 0)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert run.stdout.split() == ["0", "True"]


def test_errors_name_the_way_out():
    refused(lambda: sktslib.warmup(tasks="serach"), "Unknown task 'serach'. Did you mean 'search'?")
    refused(lambda: sktslib.warmup(["dwt"]), "Unknown metric 'dwt'")
    refused(lambda: sktslib.warmup(weighted=1), "'weighted' parameter must be True or False. Got 1", error=TypeError)
    refused(lambda: sktslib.warmup(n_jobs=0), "'n_jobs' parameter must be None or an integer")
    refused(lambda: sktslib.warmup(n_channels=0), "'n_channels' parameter must be an integer")
