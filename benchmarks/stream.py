"""Streams: points a second in chunks of 1,000, and microseconds an update where samples come one by one.

python benchmarks/stream.py
"""

import time

import numpy as np

from sktslib import QuerySearcher, QuerySegmenter

POINTS, QUERY, TIMES = 200_000, 200, 3


def run(estimator, sequence, chunk):
    """Seconds of a whole stream."""
    stream, begin = estimator.stream(), time.process_time()
    for at in range(0, len(sequence), chunk):
        stream.update(sequence[at : at + chunk])
    stream.flush()
    return time.process_time() - begin


def main():
    """Print a line for each search and segmentation."""
    sequence = np.random.default_rng(0).normal(size=POINTS).cumsum() / 10
    query = sequence[5_000 : 5_000 + QUERY].copy()
    estimators = [
        QuerySearcher(metric, normalize=normalize, threshold=1.0, n_matches=None)
        for metric, normalize in (("dtw", None), ("euclidean", None), ("euclidean", "zscore"), ("dtw", "zscore"))
    ]
    estimators += [QuerySegmenter(metric) for metric in ("dtw", "euclidean")]
    for estimator in estimators:
        estimator.fit(query)
        chunks, one_by_one = (min(run(estimator, sequence, n) for _ in range(TIMES)) for n in (1_000, 1))  # compiles
        kind = f"{type(estimator).__name__} {estimator.metric} {getattr(estimator, 'normalize', None) or ''}"
        print(f"{kind}: {POINTS / chunks:.2g} points a second, {1e6 * one_by_one / POINTS:.1f} us an update")


if __name__ == "__main__":
    main()
