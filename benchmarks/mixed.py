"""Different distances for different channels (`Mixed`) in grid searches, beside the best single metric, held out.

    python benchmarks/mixed.py FOLDER       # holds ucr_BasicMotions.npz, gait_walk_205hz.npz; or $SKTSLIB_DATA
    python benchmarks/mixed.py FOLDER neighbors     # ucr_JapaneseVowels.npz, too: times of nearest neighbors

BasicMotions: 80 series of three accelerations and three rates of turning; nearest neighbors, trained on 20 series drawn
by the seed, scored by the share of right classes among the other 60. Gait: a walk with six channels of each foot. A
searcher learns from a stretch of six labeled strides of the left foot, drawn by the seed, and finds those of the right
foot, whose sideways channels are turned round; scored by the event F1, averaged over the least intersection over union
0.5, 0.55 to 0.95. Channels are
scaled to unit deviation by what is trained on.

Metrics, their parameters, and those of `Mixed` with its weights, are chosen by grid searches on what is trained on,
with the same folds. "chosen single" is one grid over all single metrics; the rows of one metric tell what the best of
them reaches on the held-out data, which nobody can know beforehand.

The times of neighbors are those of the processor, the least of five; beside them those of the whole matrix of distances
and of sorting it, which give the same. "beats" are 100 and 2,000 noisy copies of 20 random walks.
"""

import os
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit

from sktslib import QuerySearcher
from sktslib.distances import ADTW, DDTW, DTW, LCSS, MSM, Euclidean, Mixed, nearest_neighbors, pairwise_distances
from sktslib.metrics import event_f1_score, labels_from_events
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.neighbors import KNeighborsTimeSeriesClassifier

SEEDS = range(5)
ACC, GYR = (0, 1, 2), (3, 4, 5)
WEIGHTS = [[1.0, 1.0], [1.0, 0.3], [0.3, 1.0], [1.0, 0.0], [0.0, 1.0]]  # of equal scores the first is taken
SHARES = np.arange(0.5, 1.0, 0.05)


def scaled(train, *others):
    """Arrays (..., channels, length) at unit deviation of the channels of the first."""
    axes = tuple(k for k in range(train.ndim) if k != train.ndim - 2)
    deviation = train.std(axis=axes)[:, np.newaxis]
    return [a / deviation for a in (train, *others)]


def grids(singles, **rest):
    """Parameters to choose from: of each single metric, of them all, and of mixed ones."""
    singles = {name: {"metric": metrics, **rest} for name, metrics in singles.items()}
    every = [metric for grid in singles.values() for metric in grid["metric"]]
    mixed = {"metric": [Mixed({ACC: DTW(), GYR: DTW()})], "metric__weight": WEIGHTS, **rest}
    mixed |= {"metric__0_1_2": every, "metric__3_4_5": every}
    return {**singles, "chosen single": {"metric": every, **rest}, "Mixed": mixed}


def motions(folder):
    """Accuracies by estimator, one a seed."""
    with np.load(folder / "ucr_BasicMotions.npz") as data:
        X, y = (np.concatenate([data[f"{of}_train"], data[f"{of}_test"]]) for of in "Xy")
    singles = {"DTW": [DTW(), DTW(window=0.1)], "DDTW": [DDTW()], "Euclidean": [Euclidean()], "MSM": [MSM(c=0.1)]}
    for name, grid in grids(singles).items():
        scores = []
        for seed in SEEDS:
            train, test = next(StratifiedShuffleSplit(1, train_size=20, random_state=seed).split(X, y))
            X_train, X_test = scaled(X[train], X[test])
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            search = GridSearchCV(KNeighborsTimeSeriesClassifier(channels_first=True), grid, cv=folds)
            scores.append(search.fit(X_train, y[train]).score(X_test, y[test]))
        yield name, scores


def mean_f1(estimator, X, y):
    """F1 of events that share at least so much of what they cover together, averaged over shares from a half on."""
    matches = estimator.search(X)
    found = np.column_stack([matches.start, matches.end])
    return np.mean([event_f1_score(y, found, min_iou=share) for share in SHARES])


def strides(folder):
    """F1 by estimator, one a seed."""
    with np.load(folder / "gait_walk_205hz.npz") as data:
        left, right = data["left"].astype(float)[:, ::2], data["right"].astype(float)[:, ::2]
        of_left, of_right = data["strides_left"] // 2, data["strides_right"] // 2
    right[[1, 3, 5]] *= -1
    first, last = of_right[0, 0], of_right[-1, 1]
    truth = labels_from_events(of_right - first, n_samples=last - first)
    # The stiffest first: of equal scores the first is taken.
    singles = {"ADTW": [ADTW("auto")], "DTW, alpha": [DTW(0.5)], "DTW": [DTW()], "DDTW": [DDTW()]}
    for name, grid in grids(singles).items():
        scores = []
        for seed in SEEDS:
            begin = int(np.random.default_rng(seed).integers(0, 8))
            some = of_left[begin : begin + 6]
            offset, end = some[0, 0], some[-1, 1]
            train, test = scaled(left[:, offset:end], right[:, first:last])
            marks = labels_from_events(some - offset, n_samples=end - offset)
            search = GridSearchCV(QuerySearcher(n_matches=None), grid, cv=BlockedSeriesSplit(2), scoring=mean_f1)
            search.fit(train.T, marks)
            scores.append(mean_f1(search.best_estimator_, test.T, truth))
        yield name, scores


def collections(folder):
    """Yield names, series of which the nearest are sought, and series among which."""
    with np.load(folder / "ucr_BasicMotions.npz") as data:
        yield "BasicMotions", *scaled(data["X_test"], data["X_train"])
    with np.load(folder / "ucr_JapaneseVowels.npz") as data:
        yield (
            "JapaneseVowels",
            *(np.split(data[f"values_{of}"], data[f"lengths_{of}"].cumsum()[:-1], axis=1) for of in ("test", "train")),
        )
    rng = np.random.default_rng(0)
    beats = rng.normal(size=(20, 2, 150)).cumsum(axis=2)[rng.integers(20, size=2100)]
    beats += 0.5 * rng.normal(size=beats.shape)
    yield "beats", beats[:100], beats[100:]


def least_time(task):
    """The seconds that a task takes, and what it gives."""
    result, times = task(), []
    for _ in range(5):
        begin = process_time()
        task()
        times.append(process_time() - begin)
    return min(times), result


def neighbors(folder):
    """Print how long neighbors take."""
    print("| collection | metric of one half of the channels, of the other | neighbors | whole matrix | computed |")
    print("| --- | --- | --- | --- | --- |")
    for name, X, Y in collections(folder):
        half = len(X[0]) // 2
        keys = tuple(range(half)), tuple(range(half, len(X[0])))
        for pair in ((DTW(), DTW()), (DTW(window=0.1), MSM()), (DTW(window=0.1), LCSS(1.0)), (DTW(), Euclidean())):
            metric = Mixed(dict(zip(keys, pair, strict=True)))
            rest = {"metric": metric, "channels_first": True}
            seconds, found = least_time(lambda X=X, Y=Y, rest=rest: nearest_neighbors(X, Y, **rest))
            whole, D = least_time(lambda X=X, Y=Y, rest=rest: pairwise_distances(X, Y, **rest))
            assert (found.indices[:, 0] == D.argmin(axis=1)).all()
            assert (found.distances[:, 0] == D.min(axis=1)).all()
            computed = 100 * found.report.computed / found.report.pairs
            shown = f"{pair[0]}, {pair[1]}"
            print(f"| {name} | `{shown}` | {seconds:.3f} s | {whole:.3f} s | {computed:.0f} % |", flush=True)


def main(folder, what=None):
    """Print the tables."""
    if what == "neighbors":
        return neighbors(folder)
    for what, run in (("BasicMotions", motions), ("gait", strides)):
        print(f"\n| {what} | mean | of the seeds | seconds |\n| --- | --- | --- | --- |")
        begin = perf_counter()
        for name, scores in run(folder):
            listed = ", ".join(f"{score:.3f}" for score in scores)
            print(f"| {name} | {np.mean(scores):.3f} | {listed} | {perf_counter() - begin:.1f} |", flush=True)
            begin = perf_counter()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKTSLIB_DATA"]), *sys.argv[2:])
