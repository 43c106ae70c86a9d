"""CPU time of first calls, after imports: by kernels that are compiled, kept on disk or came with the package.

    python benchmarks/first_calls.py [NAME ...] [--keep FOLDER] [--warm]

Each call runs in a process of its own with an empty folder for kernels, or with one for all, which is kept. A line
tells the seconds that it took, how many kernels were compiled and how many loaded, and a hash of its results; with
``--warm`` the least of five more calls. `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES` choose another processor.

    python benchmarks/first_calls.py --run [NAME ...]

runs them in this process, so that what they need is compiled: `.ci/wheels` packs it. Without names it goes on to all
distances, in each of their uses.
"""

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
from numba.extending import is_jitted

import sktslib
from sktslib import QuerySearcher, QuerySegmenter
from sktslib.cluster import TimeSeriesKMeans, TimeSeriesKMedoids
from sktslib.distances import DTW, get_distance_dict, metric_names
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, ShapeletTransform
from sktslib.search import discords, motifs, time_series_search

WALK = np.random.default_rng(0).normal(size=1_000_000).cumsum()
QUERY, SERIES, LABELS = WALK[1000:1128].copy(), WALK[:6400].reshape(50, 128), np.arange(50) % 3
MARKED, MARKS = WALK[:4000], np.zeros(4000, int)
for _first in range(200, 3800, 400):
    MARKS[_first : _first + 100] = 1 + _first % 3


def search(metric, n=20_000, **rules):
    """Starts, ends and distances of what a searcher finds."""
    found = QuerySearcher(metric, n_matches=5, **rules).fit(QUERY).search(WALK[:n])
    return found.start, found.end, found.distance


def segments(metric, *labeled):
    """Ends and costs of the segments of a walk; of labeled recordings the query is learned."""
    walk = WALK[:20_000, None] if labeled else WALK[:20_000]
    found = QuerySegmenter(metric).fit(*labeled or (QUERY,)).segment(walk)
    return found.end, found.cost


def streamed(metric, **rules):
    """What a searcher finds in chunks."""
    stream = QuerySearcher(metric, **rules).fit(QUERY).stream()
    found = [stream.update(WALK[k : k + 5000]) for k in range(0, 20_000, 5000)]
    return [(m.start, m.end, m.distance) for m in [*found, stream.flush()]]


def learned():
    """Segments by a query learned from labels."""
    return segments("adtw", MARKED[:, None], MARKS)


SEARCHED = {family: distances for family, distances in get_distance_dict().items() if family != "time"}
SLOW = ["gak", "soft_dtw"]  # minutes for the windows of a warmup, which are searched above
CALLS = {
    "dtw": lambda: sktslib.dtw(WALK[:500], WALK[500:1000]),
    "search by dtw": lambda: search("dtw"),
    "search by lcss": lambda: search("lcss"),
    "search by twed": lambda: search("twed"),
    "windows, raw, 1e5": lambda: search("euclidean", 100_000),
    "windows, raw, 1e6": lambda: search("euclidean", 1_000_000),
    "windows, z, 1e5": lambda: search("euclidean", 100_000, normalize="zscore"),
    "windows, z, 1e6": lambda: search("euclidean", 1_000_000, normalize="zscore"),
    "windows by dtw, z, band, 1e5": lambda: search(DTW(window=0.1), 100_000, normalize="zscore", candidates="windows"),
    "segmentation by twed": lambda: segments("twed"),
    "fit on labels": learned,
    "k-NN": lambda: KNeighborsTimeSeriesClassifier(n_neighbors=3).fit(SERIES, LABELS).predict(SERIES[::3]),
    "k-means": lambda: TimeSeriesKMeans(3, random_state=0).fit(SERIES).labels_,
    "motifs": lambda: [m.start for m in motifs(WALK[:10_000], 100)],
    "time_series_search, all distances": lambda: [
        list(map(result.get, ("start", "end", "distance")))
        for result in time_series_search(SEARCHED, QUERY, WALK[:5000]).values()
    ],
}
MORE = {  # what else people are likely to begin with
    "discords": lambda: [m.start for m in discords(WALK[:10_000], 100)],
    "k-medoids": lambda: TimeSeriesKMedoids(3, random_state=0).fit(SERIES).labels_,
    "features": lambda: ShapeletTransform("dtw", n_queries=2, random_state=0).fit(SERIES, LABELS).transform(SERIES),
    "stream by dtw": lambda: streamed("dtw", threshold=200.0),
    "stream of windows": lambda: streamed("euclidean", normalize="zscore", threshold=8.0),
}


def kernels():
    """Return how many kernels this process has compiled, and loaded."""
    caches = [c for c in gc.get_objects() if type(c).__name__ == "KernelCache"]
    stats = [d.stats for d in gc.get_objects() if is_jitted(d) and d._cache in caches]
    return tuple(sum(sum(getattr(s, name).values()) for s in stats) for name in ("cache_misses", "cache_hits"))


def digest(results):
    """Return a hash of numbers, to the bit."""
    if isinstance(results, (list, tuple)):
        content = "".join(map(digest, results)).encode()
    else:
        content = np.asarray(results).tobytes()
    return hashlib.sha256(content).hexdigest()[:12]


def measured(name, warm):
    """Print a line for a call of this process."""
    call = (CALLS | MORE)[name]
    begin = time.process_time()
    results = call()
    took = time.process_time() - begin
    compiled, loaded = kernels()
    line = f"{name:36} {took:7.2f} s  {compiled:4} compiled {loaded:4} loaded  {digest(results)}"
    if warm:
        times = []
        for _ in range(5):
            begin = time.process_time()
            call()
            times.append(time.process_time() - begin)
        line += f"  warm {1e3 * min(times):9.2f} ms"
    print(line, flush=True)


def run(names):
    """Run calls, so that their kernels are compiled; without names all there are."""
    for name in names or (CALLS | MORE):
        begin = time.process_time()
        (CALLS | MORE)[name]()
        print(f"{name}: {time.process_time() - begin:.1f} s", flush=True)
    if not names:
        warm = partial(sktslib.warmup, verbose=1)
        quick = [name for name in metric_names() if name not in SLOW]
        warm(quick)
        warm(SLOW, tasks=["distance", "pairwise", "neighbors"])
        for more in ({"n_channels": 3}, {"weighted": True}):
            warm(["dtw", "adtw", "twed", "lcss", "euclidean"], **more)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        measured(options.here, options.warm)
    elif options.run:
        run(options.names)
    else:
        for name in options.names or CALLS:
            with tempfile.TemporaryDirectory() as empty:
                here = {**os.environ, "NUMBA_CACHE_DIR": options.keep or empty}
                arguments = [sys.executable, __file__, "--here", name, *["--warm"] * options.warm]
                subprocess.run(arguments, env=here, check=True)
