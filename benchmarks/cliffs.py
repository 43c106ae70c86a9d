"""Where a larger problem takes less time than a smaller one, or problems of as many cells take different times.

    python benchmarks/cliffs.py [--only PATTERN] [--metrics NAME ...] [--limit 1.0] [--table]

Every public call is timed at sizes that double, as long as it takes less than a second: CPU time, warm, the best of
some. Printed is where it takes more than 1.5 times what it takes at twice the size; and of tables of distances with as
many cells each, where a shape takes more than three times what the fastest does. Both are measured again before they
are printed. Times below a millisecond do not count. `--only` takes a regular expression of names, as `--table` prints
them, with all times.
"""

import argparse
import re
import time
from functools import partial

import numpy as np

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import get_metric, metric_names, nearest_neighbors, pairwise_distances
from sktslib.search import discords, motifs

METRICS = ["dtw", "adtw", "twed", "msm", "lcss", "soft_dtw", "euclidean", "manhattan", "correlation"]
LEAST, DROP, RATIO = 1e-3, 1.5, 3.0  # seconds that count; what is too much
SMALLEST, LARGEST, MOST_SERIES, QUERY = 100, 1_000_000, 100_000, 64
SHAPES = {
    "a pair of 6400": (1, 1, 6400),
    "2 x 2 of 3200": (2, 2, 3200),
    "16 x 16 of 400": (16, 16, 400),
    "54 x 54 of 118": (54, 54, 118),
    "1 x 2941 of 118": (1, 2941, 118),
    "2941 x 1 of 118": (2941, 1, 118),
}


def walks(*shape):
    return np.random.default_rng(0).normal(size=shape).cumsum(axis=-1) / 10


def seconds(call, times=3):
    """The least CPU time of some warm calls; one that takes long is called fewer times."""
    call()
    found = []
    while len(found) < times and sum(found) < 1.0:
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def searching(metric, last, rules, n):
    """A call of a searcher for a sequence of n samples."""
    sequence = walks(n)
    searcher = QuerySearcher(metric, n_matches=3, **rules).fit(sequence[n // 3 :][:QUERY])
    return lambda: getattr(searcher, last)(sequence)


def querying(metric, rules, n):
    """A search for a query of n samples."""
    sequence = walks(20_000)
    searcher = QuerySearcher(metric, n_matches=3, **rules).fit(sequence[5_000:][:n])
    return lambda: searcher.search(sequence)


def segmenting(metric, n):
    sequence = walks(n)
    segmenter = QuerySegmenter(metric).fit(sequence[n // 3 :][:QUERY])
    return lambda: segmenter.segment(sequence)


def comparing(metric, rows, columns, length, n):
    """A table of distances of series; `None` stands for n, and no columns for those of the rows."""
    k, count, size = (n if value is None else value for value in (rows, columns, length))
    series = walks(k + count, size)
    X, Y = series[:k], series[k:] if count else None
    if k == count == 1:
        return lambda: get_metric(metric)(X[0], Y[0])
    return lambda: pairwise_distances(X, Y, metric=metric)


def neighbors(metric, count, length, n):
    """The nearest of so many series of a length, of which `None` stands for n."""
    series = walks((count or n) + 10, length or n)
    return lambda: nearest_neighbors(series[:10], series[10:], metric=metric)


def repeating(function, metric, n):
    sequence = walks(n)
    return lambda: function(sequence, 32, metric=metric)


def searches(metric):
    """Whether a metric can be searched for by windows, by subsequences, and cut a recording."""
    able, sequence = [], walks(300)
    for made, last in (
        (QuerySearcher(metric, candidates="windows"), "search"),
        (QuerySearcher(metric, candidates="subsequence"), "search"),
        (QuerySegmenter(metric), "segment"),
    ):
        try:
            getattr(made.fit(sequence[:QUERY]), last)(sequence)
            able.append(True)
        except ValueError:
            able.append(False)
    return able


def sweeps(metric):
    """Names of sweeps, what makes a call of size n, and the largest size."""
    windows, subsequence, segments = searches(metric)
    for mode in ["windows"] * windows + ["subsequence"] * subsequence:
        for normalize in (None, "zscore") if mode == "windows" else (None,):
            name, rules = f"{mode} {metric} {normalize or ''}".strip(), {"candidates": mode, "normalize": normalize}
            yield f"search {name}", partial(searching, metric, "search", rules), LARGEST
            yield f"profile {name}", partial(searching, metric, "profile", rules), LARGEST
            yield f"query {name}", partial(querying, metric, rules), 10_000
    if segments:
        yield f"segment {metric}", partial(segmenting, metric), LARGEST
    yield f"pair {metric}", partial(comparing, metric, 1, 1, None), LARGEST
    yield f"pairwise itself {metric}", partial(comparing, metric, None, 0, 50), MOST_SERIES
    yield f"pairwise 1 x n {metric}", partial(comparing, metric, 1, None, 100), MOST_SERIES
    yield f"pairwise n x 1 {metric}", partial(comparing, metric, None, 1, 100), MOST_SERIES
    yield f"pairwise length {metric}", partial(comparing, metric, 10, 10, None), LARGEST
    yield f"neighbors count {metric}", partial(neighbors, metric, None, 100), MOST_SERIES
    yield f"neighbors length {metric}", partial(neighbors, metric, 200, None), MOST_SERIES
    if windows:
        yield f"motifs {metric}", partial(repeating, motifs, metric), LARGEST
        yield f"discords {metric}", partial(repeating, discords, metric), LARGEST


def swept(name, at, last, options):
    """Time a sweep, and print its cliffs; how many there are."""
    times, n, count = {}, SMALLEST, 0
    while n <= last and max(times.values(), default=0.0) < options.limit / 2:
        times[n] = seconds(at(n))
        n *= 2
    for n, before in times.items():
        if 2 * n in times and before > max(LEAST, DROP * times[2 * n]):
            before, after = seconds(at(n), 7), seconds(at(2 * n), 7)
            if before > max(LEAST, DROP * after):
                count += 1
                print(f"{name}: {1e3 * before:.3g} ms at {n:,}, {1e3 * after:.3g} ms at {2 * n:,}", flush=True)
    if options.table:
        print(f"    {name}: " + ", ".join(f"{n:,} {1e3 * t:.3g}" for n, t in times.items()), "ms", flush=True)
    return count


def shaped(metric, options):
    """Time tables of as many cells each, and print those that are slow; how many there are."""
    calls = {name: comparing(metric, *shape, 0) for name, shape in SHAPES.items()}
    times = {name: seconds(call) for name, call in calls.items()}
    slow = [name for name, t in times.items() if t > max(LEAST, RATIO * min(times.values()))]
    times |= {name: seconds(calls[name], 7) for name in slow}
    slow = [name for name in slow if times[name] > RATIO * min(times.values())]
    fastest = min(times, key=times.get)
    for name in slow:
        print(
            f"shapes {metric}: {1e3 * times[name]:.3g} ms, {name}; {1e3 * times[fastest]:.3g} ms, {fastest}", flush=True
        )
    if options.table:
        print(
            f"    shapes {metric}: " + ", ".join(f"{name} {1e3 * t:.3g}" for name, t in times.items()), "ms", flush=True
        )
    return len(slow)


def main():
    """Sweep all sizes and shapes of the metrics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression of the names of sweeps")
    parser.add_argument("--metrics", nargs="+", default=METRICS, metavar="NAME", help="their names, or all")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds that a call may take at most")
    parser.add_argument("--table", action="store_true", help="all times, too")
    options = parser.parse_args()
    names, cliffs, done = metric_names() if options.metrics == ["all"] else options.metrics, 0, 0
    for metric in names:
        for name, at, last in sweeps(metric):
            if re.search(options.only, name):
                cliffs, done = cliffs + swept(name, at, last, options), done + 1
        if get_metric(metric).family == "elastic" and re.search(options.only, f"shapes {metric}"):
            cliffs, done = cliffs + shaped(metric, options), done + 1
    print(f"{cliffs} cliffs in {done} sweeps")


if __name__ == "__main__":
    main()
