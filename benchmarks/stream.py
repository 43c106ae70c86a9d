"""Points a second of searches whose sequence comes in chunks: a query of 200 points, chunks of 1,000.

python benchmarks/stream.py
"""

import time

import numpy as np

from sktslib import QuerySearcher

POINTS, CHUNK, QUERY = 200_000, 1_000, 200


def run(searcher, sequence):
    """Seconds of a whole stream."""
    stream, begin = searcher.stream(), time.perf_counter()
    for at in range(0, len(sequence), CHUNK):
        stream.update(sequence[at : at + CHUNK])
    stream.flush()
    return time.perf_counter() - begin


def main():
    """Print a line for each search."""
    sequence = np.random.default_rng(0).normal(size=POINTS).cumsum() / 10
    query = sequence[5_000 : 5_000 + QUERY].copy()
    for metric, normalize in (("dtw", None), ("euclidean", None), ("euclidean", "zscore")):
        searcher = QuerySearcher(metric, normalize=normalize, threshold=1.0, n_matches=None).fit(query)
        seconds = min(run(searcher, sequence) for _ in range(3))  # the first compiles
        print(f"{metric} {normalize or ''}: {POINTS / seconds:.2g} points a second")


if __name__ == "__main__":
    main()
