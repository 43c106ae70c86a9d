"""Every registered distance with every driver, by pytest-benchmark; data: random walks of one channel.

    pip install -e ".[bench]"
    python -m pytest benchmarks/bench_registry.py --benchmark-columns=median,iqr,rounds

`-k "pairwise and dtw"` chooses, `--benchmark-save=NAME` keeps the figures and `--benchmark-compare` looks back at them.
The `cells_per_second` of a benchmark stand in its extra information (`--benchmark-json=FILE`).
"""

from typing import NamedTuple

import numpy as np
import pytest

from sktslib import QuerySearcher
from sktslib.distances import get_metric, metric_names, pairwise_distances, recurrence, register_metric

WARPING = [name for name in metric_names("elastic") if get_metric(name)._has_path]


def walks(*shape):
    return np.random.default_rng(0).standard_normal(shape).cumsum(axis=-1)


def timed(benchmark, call, cells):
    call()  # compiles
    benchmark(call)
    benchmark.extra_info["cells_per_second"] = cells / benchmark.stats["median"]


@pytest.mark.parametrize("name", metric_names())
def test_pair_of_128(benchmark, name):
    metric, (x, y) = get_metric(name), walks(2, 128)
    timed(benchmark, lambda: metric(x, y), 128**2)


@pytest.mark.parametrize("name", metric_names())
def test_pairwise_64_of_128(benchmark, name):
    metric, (X, Y) = get_metric(name), walks(2, 64, 128)
    timed(benchmark, lambda: pairwise_distances(X, Y, metric), 64**2 * 128**2)


@pytest.mark.parametrize("name", WARPING)
def test_path_of_1000(benchmark, name):
    metric, (x, y) = get_metric(name), walks(2, 1000)
    timed(benchmark, lambda: metric.distance(x, y).path, 1000**2)


@pytest.mark.parametrize("name", WARPING)
def test_warped_search_of_100_in_100_000(benchmark, name):
    searcher, sequence = QuerySearcher(name).fit(walks(100)), walks(100_000)
    timed(benchmark, lambda: searcher.search(sequence), 100 * 100_000)


@pytest.mark.parametrize("name", metric_names("lockstep"))
def test_windows_of_100_in_10_000(benchmark, name):
    searcher, sequence = QuerySearcher(name, candidates="windows").fit(walks(100)), walks(10_000)
    timed(benchmark, lambda: searcher.search(sequence), 100 * 9_901)


def terms(p, row, y, y_before):
    x, _, w, _ = row
    return w * abs(x - y), 0.0, 0.0


def moves(p, at, late, a, b, c, gap):
    return a, a + p.gap_cost, a + p.gap_cost


@recurrence(terms=terms, moves=moves, monotone=True)
class Priced(NamedTuple):
    """Amerced time warping of absolute differences, a recurrence of the user's own."""

    gap_cost: float = 0.1


def test_own_recurrence_pairwise_200_of_128(benchmark):
    metric, (X, Y) = register_metric("charged", Priced)(), walks(2, 200, 128)
    timed(benchmark, lambda: pairwise_distances(X, Y, metric), 200**2 * 128**2)
