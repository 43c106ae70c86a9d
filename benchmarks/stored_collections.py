"""Memory that collections in a file take: the most beside what was there before, in megabytes.

python benchmarks/stored_collections.py [N_SERIES]
"""

import ctypes
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peak_memory import watched

from sktslib.cluster import TimeSeriesKMeans
from sktslib.distances import DTW, LCSS, Mixed, barycenter, nearest_neighbors, pairwise_distances
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, ShapeletTransform

LENGTH, FITTED = 500, 40


def main(size):
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.bin"
        with path.open("wb") as file:
            for _ in range(size // 1000):
                rng.normal(size=(1000, LENGTH)).astype("f4").tofile(file)
        X = np.memmap(path, "f4", "r", shape=(size, LENGTH))
        some, labels = np.array(X[:FITTED]), np.arange(FITTED) % 3
        pairs, mixed = np.memmap(path, "f4", "r", shape=(size, LENGTH // 2, 2)), Mixed({0: "euclidean", 1: "manhattan"})
        series, near = list(X), DTW(window=0.02)
        neighbors = KNeighborsTimeSeriesClassifier("euclidean").fit(some, labels)
        means = TimeSeriesKMeans(3, "euclidean", random_state=0).fit(some)
        queries = ShapeletTransform("euclidean", queries=some[:2, :50]).fit(some)
        tasks = {
            "pairwise_distances(X, some)": lambda: pairwise_distances(X, some, "euclidean"),
            "nearest_neighbors(some, X)": lambda: nearest_neighbors(some, X, "euclidean"),
            "classifier: fit(X)": lambda: KNeighborsTimeSeriesClassifier("euclidean").fit(X, np.arange(size) % 3),
            "classifier: predict(X)": lambda: neighbors.predict(X),
            "k-means: predict(X)": lambda: means.predict(X),
            "ShapeletTransform: transform(X)": lambda: queries.transform(X),
            "pairwise_distances(X, some), Mixed": lambda: pairwise_distances(pairs, pairs[:FITTED], mixed),
            "pairwise_distances(X[:4000], some), LCSS": lambda: pairwise_distances(X[:4000], some, LCSS(0.01)),
            "pairwise_distances(list(X), some)": lambda: pairwise_distances(series, some, "euclidean"),
            "nearest_neighbors(some, list(X))": lambda: nearest_neighbors(some, series, "euclidean"),
            "barycenter(X), init='mean'": lambda: barycenter(
                X, init="mean", max_iter=1, metric_params={"window": 0.02}
            ),
            "barycenter(X[:4000])": lambda: barycenter(X[:4000], near, max_iter=1),
        }
        print(f"{size} series of {LENGTH} points: {X.nbytes / 1e6:.0f} MB in the file, twice that as floats")
        for name, task in tasks.items():
            ctypes.CDLL(None).malloc_trim(0)  # else what the last one has freed would be used again
            begin = time.process_time()
            _, most = watched(task)
            print(f"{name:42} {most:6.0f} MB {time.process_time() - begin:6.2f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000)
