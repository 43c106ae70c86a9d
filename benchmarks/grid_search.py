"""Grid search of 1-NN over 5 metrics x 5 parameters on GunPoint in 5 folds, by this package or by aeon.

    python benchmarks/grid_search.py sktslib
    python benchmarks/grid_search.py aeon         # in an environment that has aeon

One thread, compiled beforehand, GunPoint's training series (50 x 150 points; with --all the test series as well, 200).
aeon 1.6.0's `set_params` leaves its distance's old parameters in use, so its grid holds whole classifiers.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from _data import load_gunpoint

# Name and parameter here, name and parameter in aeon, values.
GRID = [
    (("adtw", "omega"), ("adtw", "warp_penalty"), [0.01, 0.1, 1.0, 10.0, 100.0]),
    (("lcss", "eps"), ("lcss", "epsilon"), [0.05, 0.1, 0.2, 0.5, 1.0]),
    (("edr", "eps"), ("edr", "epsilon"), [0.05, 0.1, 0.2, 0.5, 1.0]),
    (("msm", "c"), ("msm", "c"), [0.01, 0.1, 0.5, 1.0, 10.0]),
    (("twed", "nu"), ("twe", "nu"), [0.0001, 0.001, 0.01, 0.1, 1.0]),
]


def ours():
    from sktslib.distances import get_metric
    from sktslib.neighbors import KNeighborsTimeSeriesClassifier

    grid = [{"metric": [get_metric(name)], f"metric__{key}": values} for (name, key), _, values in GRID]
    return KNeighborsTimeSeriesClassifier(n_neighbors=1), grid


def aeons():
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier as Classifier

    made = [
        Classifier(n_neighbors=1, distance=name, distance_params={key: value})
        for _, (name, key), values in GRID
        for value in values
    ]
    return Pipeline([("knn", Classifier())]), {"knn": made}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=["sktslib", "aeon"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    X, y, X_test, y_test = load_gunpoint()
    if arguments.all:
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
    estimator, grid = ours() if arguments.tool == "sktslib" else aeons()
    X = X if arguments.tool == "sktslib" else X[:, np.newaxis]
    search = GridSearchCV(estimator, grid, cv=StratifiedKFold(5), refit=False, error_score="raise")
    small = np.concatenate([np.flatnonzero(y == kind)[:5] for kind in np.unique(y)])
    search.fit(X[small], y[small])  # compiles
    seconds = []
    for _ in range(arguments.repeat):
        begin = time.perf_counter()
        search.fit(X, y)
        seconds.append(time.perf_counter() - begin)
    scores = search.cv_results_["mean_test_score"].reshape(5, 5)
    print(f"{arguments.tool}: {len(X)} series, median {np.median(seconds):.2f} s of {len(seconds)}")
    for ((name, key), _, values), row in zip(GRID, scores, strict=True):
        print(f"  {name:5} " + "  ".join(f"{key}={v:g}: {s:.2f}" for v, s in zip(values, row, strict=True)))


if __name__ == "__main__":
    main()
