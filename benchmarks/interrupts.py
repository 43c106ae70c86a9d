"""How long a Ctrl-C waits in long calls: ``python benchmarks/interrupts.py [NAME ...] [--jobs 2]``.

Each call is run once on little data, so that its kernels are compiled, then on much, and is interrupted a few times at
different moments. Prints the longest wait, in seconds; the aim is 0.2.
"""

import argparse
import os
import signal
import threading
import time

import numpy as np

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import GAK, SoftDTW, barycenter, get_metric, nearest_neighbors, pairwise_distances

rng = np.random.default_rng(0)
NOISE = rng.normal(size=10_000_000)


def series(n, m):
    return NOISE[: n * m].reshape(n, m)


def search(n, m, metric, **parameters):
    return QuerySearcher(metric, **parameters).fit(NOISE[:m]).search(NOISE[1000 : 1000 + n])


# A call of a size; what is small compiles the kernels of what is large.
CALLS = {
    "pair": lambda n: get_metric("dtw")(NOISE[: 30 * n], NOISE[n : 31 * n]),
    "pair, path": lambda n: get_metric("dtw").distance(NOISE[: 10 * n], NOISE[n : 11 * n]).path,
    "pair, cutoff": lambda n: get_metric("dtw")(NOISE[: 10 * n], NOISE[n : 11 * n], cutoff=1e9),
    "pair, times": lambda n: get_metric("twed")(
        NOISE[: 4 * n], NOISE[n : 5 * n], tx=np.arange(4 * n), ty=np.arange(4 * n)
    ),
    "pair, soft_dtw": lambda n: SoftDTW()(NOISE[: 4 * n], NOISE[n : 5 * n]),
    "pair, gak": lambda n: GAK(sigma=30.0)(NOISE[: 4 * n], NOISE[n : 5 * n]),
    "expected alignment": lambda n: SoftDTW().expected_alignment(NOISE[:n], NOISE[n : 2 * n]),
    "subsequence search": lambda n: search(3000 * n, 200, "dtw"),
    "subsequence search, wdtw": lambda n: search(200 * n, 200, "wdtw"),
    "search by windows": lambda n: search(
        1000 * n, 300, "dtw", candidates="windows", normalize="zscore", n_matches=None
    ),
    "search by windows, pruned": lambda n: search(1000 * n, 1000, "dtw", candidates="windows", n_matches=3),
    "search, euclidean": lambda n: search(3000 * n, 1000, "euclidean"),
    "search, canberra": lambda n: search(200 * n, 1000, "canberra"),
    "segmentation": lambda n: QuerySegmenter("dtw").fit(NOISE[:300]).segment(NOISE[: 300 * n]),
    "segmentation, windows": lambda n: QuerySegmenter("manhattan").fit(NOISE[:300]).segment(NOISE[: 300 * n]),
    "matrix": lambda n: pairwise_distances(series(n, 500), n_jobs=JOBS),
    "matrix, long series": lambda n: pairwise_distances(series(8, 10 * n), n_jobs=JOBS),
    "matrix, lcss": lambda n: pairwise_distances(series(n, 2000), metric="lcss", n_jobs=JOBS),
    "matrix, euclidean": lambda n: pairwise_distances(series(2 * n, 1000), metric="euclidean", n_jobs=JOBS),
    "neighbors": lambda n: nearest_neighbors(series(n, 1000), n_jobs=JOBS),
    "neighbors, long series": lambda n: nearest_neighbors(series(20, 10 * n), n_jobs=JOBS),
    "barycenter": lambda n: barycenter(series(n, 500)),
}
LARGE, JOBS = 3000, None


def fire(sent):
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


def waits(call):
    """Seconds that interrupts at some moments waited; None where a call was done before."""
    for delay in (0.1, 0.45, 1.1, 2.3):
        sent = []
        timer = threading.Timer(delay, fire, (sent,))
        try:
            timer.start()
            call(LARGE)
            timer.cancel()
            timer.join()
            yield None
        except KeyboardInterrupt:
            yield time.perf_counter() - sent[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    JOBS = arguments.jobs
    for name, call in CALLS.items():
        if not arguments.names or any(part in name for part in arguments.names):
            call(50)
            call(300)
            found = list(waits(call))
            known = [f"{wait:.3f}" if wait is not None else "done before" for wait in found]
            print(
                f"{name:30s} {max((w for w in found if w is not None), default=np.nan):7.3f}   {', '.join(known)}",
                flush=True,
            )
