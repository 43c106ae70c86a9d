"""Compilation ahead of time, for services."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numba import config

from .distances import get_metric, nearest_neighbors, pairwise_distances
from .search import QuerySearcher, QuerySegmenter
from .utils._jobs import check_jobs
from .utils.validation import check_count, check_flag, check_names, check_verbose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .utils._times import MetricLike

SIZES, LENGTH = (20, 300), 20_000  # of queries, and of the sequence: short and long ones use different code
CHANNELS = 8  # compiled code distinguishes only one channel and several


def _distance(metric, x, y, w):
    y = y[: len(x)]
    d = metric.distance(x, y, weight=w)
    getattr(d, "path", None)
    metric.distance(x, y, weight=w, cutoff=float(d))


def _pairwise(metric, x, y, w):
    ragged = [x, y[: len(x)], y[: len(x) // 2]]
    pairwise_distances(ragged, [x, x], metric, weight=w)
    if w is None:
        pairwise_distances(ragged, metric=metric)


def _neighbors(metric, x, y, w):
    windows = [y[k : k + len(x)] for k in range(0, 1000, 10)]
    nearest_neighbors([x, x], windows, metric, n_neighbors=3, weight=w)


def _search(metric, x, y, w, candidates, normalize):
    for n_matches in (1, 5, None):  # different code chooses few and many
        searcher = QuerySearcher(metric, candidates=candidates, normalize=normalize, n_matches=n_matches)
        found = searcher.fit(x, weight=w).search(y)
    if metric._has_path:
        found.path(0)


def _segmentation(metric, x, y, w):
    QuerySegmenter(metric).fit(x, weight=w).segment(y).path(0)


TASKS = {
    "distance": [_distance],
    "pairwise": [_pairwise],
    "neighbors": [_neighbors],
    "search": [
        partial(_search, candidates="auto", normalize=None),
        *(partial(_search, candidates="windows", normalize=name) for name in (None, "zscore", "mean", "minmax")),
    ],
    "segmentation": [_segmentation],
}


def warmup(
    metrics: MetricLike | Iterable[MetricLike] = "dtw",
    *,
    tasks: Iterable[str] = tuple(TASKS),
    n_channels: int = 1,
    weighted: bool = False,
    verbose: int = 0,
    n_jobs: int | None = None,
) -> None:
    """Load compiled code, or compile it, so that later calls need not.

    Code is compiled when it is first needed, which takes seconds, and stored on disk, from where each process loads it
    within tenths of a second. A service calls this function before it accepts requests.

    Parameters
    ----------
    metrics : str, metric object, or list of them, default="dtw"
        The metrics to prepare. Parameters matter if they need other code, such as the window of :class:`DTW`.
    tasks : str or list of {"distance", "pairwise", "neighbors", "search", "segmentation"}, default=all
        The tasks to prepare. A task that a metric refuses, such as a search by :class:`TAM`, is skipped.
    n_channels : int, default=1
        Number of channels of the series.
    weighted : bool, default=False
        Whether queries have weights.
    verbose : int, default=0
        Above 0: prints a line for each task with its seconds.
    n_jobs : int, optional
        Number of processes that compile in parallel, each a task of a metric; -1: one per core. This process then loads
        the code.

    Raises
    ------
    ValueError
        For an unknown metric or task; the message lists the valid ones.

    Examples
    --------
    >>> import sktslib
    >>> from sktslib.distances import LCSS
    >>> sktslib.warmup(["euclidean", LCSS(eps=0.2)], tasks="distance")
    """
    metrics = [get_metric(m) for m in (metrics if isinstance(metrics, list | tuple) else [metrics])]
    tasks = [tasks] if isinstance(tasks, str) else list(tasks)
    check_names(tasks, TASKS, "task")
    n_channels, weighted = check_count(n_channels, "n_channels"), check_flag(weighted, "weighted")
    verbose, n_jobs = check_verbose(verbose), check_jobs(n_jobs)
    if config.DISABLE_JIT:
        return
    calls = [(metric, task, min(n_channels, CHANNELS), weighted) for metric, task in product(metrics, tasks)]
    if n_jobs not in (None, 1):  # in processes, because the compiler holds the GIL
        from joblib import Parallel, delayed

        Parallel(n_jobs, backend="loky")(delayed(_run)(*call) for call in calls)
    for call in calls:
        begin = perf_counter()
        _run(*call)
        if verbose:
            print(f"warmup: {call[0]}, {call[1]}, {perf_counter() - begin:.2f} s")


def _run(metric, task, n_channels, weighted):
    y = np.random.default_rng(0).normal(size=(LENGTH, n_channels)).cumsum(axis=0)
    sizes = SIZES
    if metric.family == "elastic" and not metric._has_path:  # they use the same, slow code for all sizes
        sizes, y = SIZES[:1], y[: LENGTH // 10]
    for call, m in product(TASKS[task], sizes):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about these artificial series do not matter
                call(metric, y[1000 : 1000 + m], y, np.linspace(0.5, 1.0, m) if weighted else None)
        except ValueError:  # these series are valid, so the metric does not support the task
            continue
