"""Learned queries before a linear classifier on UCR sets: python benchmarks/shapelets.py FOLDER

FOLDER holds ucr_GunPoint.npz and ucr_ItalyPowerDemand.npz, each with the arrays `X_train`, `X_test` (n, channels,
length), `y_train` and `y_test`: the sets of the UCR archive in its own split.

Ten pieces of the training series are learned as queries of z-normalized, centered or raw Euclidean distance; which of
the three is chosen by cross-validation on the training set alone. Accuracies on the test set are those of five seeds;
seconds are those of learning, transforming and classifying the training set once, in this process, of all cores' time.
The first one is that of a process in which nothing ran before.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib.neighbors import ShapeletTransform

NORMALIZE = ["zscore", "mean", None]


def model(seed, normalize="zscore"):
    queries = ShapeletTransform("euclidean", n_queries=10, normalize=normalize, random_state=seed)
    return make_pipeline(queries, StandardScaler(), LogisticRegression())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name in ("GunPoint", "ItalyPowerDemand"):
        with np.load(folder / f"ucr_{name}.npz") as data:
            X, y, Z, z = data["X_train"][:, 0], data["y_train"], data["X_test"][:, 0], data["y_test"]
        seconds = []
        for seed in range(2):
            begin = time.perf_counter(), time.process_time()
            model(seed).fit(X, y)
            seconds.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
        grid = GridSearchCV(model(0), {"querydistances__normalize": NORMALIZE}, cv=splits, refit=False).fit(X, y)
        chosen = grid.best_params_["querydistances__normalize"]
        found = [model(seed, chosen).fit(X, y).score(Z, z) for seed in range(5)]
        times = ", ".join(f"{wall:.2f} s ({cpu:.2f} of the processor)" for wall, cpu in seconds)
        scores = ", ".join(
            f"{how} {s:.3f}" for how, s in zip(NORMALIZE, grid.cv_results_["mean_test_score"], strict=True)
        )
        print(f"{name}: {times}; cross-validation {scores}; chosen {chosen}: accuracy mean {np.mean(found):.4f}, of ")
        print(f"    seeds 0 to 4: {', '.join(f'{s:.4f}' for s in found)}", flush=True)


if __name__ == "__main__":
    main()
