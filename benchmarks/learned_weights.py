"""Equal and learned weights of nearest neighbors, and of queries: python benchmarks/learned_weights.py FOLDER

FOLDER holds ucr_GunPoint.npz, ucr_ArrowHead.npz, ucr_BasicMotions.npz and ucr_JapaneseVowels.npz, with the arrays
`X_train`, `X_test` (n, channels, length), `y_train`, `y_test`, or, of series of several lengths, `values_train`
(channels, total), `lengths_train` and the same of the test set; and the recordings of `beats.py` and
`segmentation_gait.py`. With ``--of neighbors`` or ``--of queries`` only one half is run.

Neighbors: both parts of a set are put together and divided anew, by five seeds, each class in its share, into as many
series to learn from as the archive has, and the rest to test. One nearest neighbor by dynamic time warping, within a
band of a tenth of the length and without a band. The band, and the defaults of `MetricWeights`, come out of trials that
also saw test accuracies of these sets. What `MetricWeights` learns, and how strong its pull to equal weights is, it
takes from the series to learn from alone. Accuracies are those of the rest.

Queries: `QuerySearcher` learns a threshold, with and without the weights, from a part of a recording, and is tried on
the rest: average precision of all matches that fit, and event F1 with the threshold. "given" is one occurrence, the
fifth beat, or the left foot's mean stride, whose weights were equal; "learned" the query that labels give without
`MetricWeights`, weighted by the inverse spread. Beats: five minutes to learn from, 25 to test, behind `AutoFilter`.
Strides: the first half of the right foot's walk and the second. Planted: 30 occurrences and 60 in a second recording,
of which the first half is a shape and the second anything, among as many pieces with a shape of half the size; five
seeds.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
from beats import AFTER, BEFORE, LEARNED, RATE, RECORDS, labeled
from beats import read as read_beats
from sklearn.model_selection import train_test_split

from sktslib import QuerySearcher
from sktslib.distances import DTW
from sktslib.metrics import events_from_labels, labels_from_events
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, MetricWeights
from sktslib.preprocessing import AutoFilter
from sktslib.search._learning.labels import right_ones

SEEDS = range(5)
EQUAL = 1e9  # so strong a pull that weights stay what they were
SEARCHES = {
    "dtw": {"metric": "dtw"},
    "euclidean": {"metric": "euclidean"},
    "euclidean, zscore": {"metric": "euclidean", "normalize": "zscore"},
}


def read(path):
    """All series (length, channels) of a set, their classes, and how many the archive gives to learn from."""
    series, classes = [], []
    with np.load(path) as data:
        for part in ("train", "test"):
            if "X_train" in data:
                found = list(data[f"X_{part}"])
            else:
                found = np.split(data[f"values_{part}"], np.cumsum(data[f"lengths_{part}"])[:-1], axis=1)
            series += [x.T for x in found]
            classes.append(data[f"y_{part}"])
    return series, np.concatenate(classes), len(classes[0])


def accuracies(series, classes, size, window, seed):
    """Accuracies with equal and with learned weights, the chosen pull, and the seconds of learning."""
    learn, test = train_test_split(np.arange(len(series)), train_size=size, stratify=classes, random_state=seed)
    X, Z = [series[k] for k in learn], [series[k] for k in test]
    scores = []
    for weight in (None, MetricWeights(random_state=seed)):
        model = KNeighborsTimeSeriesClassifier(DTW(window=window), weight=weight)
        begin = time.perf_counter()
        model.fit(X, classes[learn])
        seconds = time.perf_counter() - begin
        scores.append(model.score(Z, classes[test]))
    return *scores, model.metric_weights_.alpha_, seconds


def beats(folder, record):
    """A beat, five minutes of a filtered record with labels, and the rest."""
    signal, peaks = read_beats(folder / f"ecg_mitbih{record}_annotated_360hz.npz")
    y = labeled(peaks, len(signal))
    X = AutoFilter(RATE).fit(signal[:LEARNED, None], y[:LEARNED]).transform(signal[:, None])
    return X[peaks[4] - BEFORE : peaks[4] + AFTER], X[:LEARNED], y[:LEARNED], X[LEARNED:], y[LEARNED:]


def strides(folder, channels):
    """The mean stride of a left foot, and the halves of a right foot's walk with labels."""
    data = np.load(folder / "gait_walk_205hz.npz")
    X, y = data["right"].T[:, channels].astype(float), labels_from_events(data["strides_right"], n_samples=7928)
    return data["template"].T[:, channels], X[:3964], y[:3964], X[3964:], y[3964:]


def planted(seed):
    """A shape of which the second half does not matter, and two recordings with labels."""
    rng = np.random.default_rng(seed)
    shape = np.concatenate([np.sin(np.linspace(0, 3 * np.pi, 30)), np.zeros(30)])[:, np.newaxis]

    def recorded(events):
        X, starts = 0.2 * rng.standard_normal((200 * events, 1)), 20 + 200 * np.arange(events)
        for s in starts:
            X[s : s + 60] += shape
            X[s + 30 : s + 60, 0] += np.interp(np.arange(30), np.arange(0, 30, 5), 1.5 * rng.standard_normal(6))
            X[s + 100 : s + 160] += shape / 2
        return X, labels_from_events(np.column_stack([starts, starts + 60]), n_samples=len(X))

    return shape, *recorded(30), *recorded(60)


def searched(how, query, X, y, Z, truth):
    """Average precision and F1 in the rest, with what each searcher learned, and the seconds and pulls of learning."""
    out = []
    for given, weight in (
        (query, MetricWeights(alpha=EQUAL)),
        (query, MetricWeights()),
        (None, None),
        (None, MetricWeights()),
    ):
        begin = time.process_time()
        model = QuerySearcher(**how, query=given, weight=weight).fit(X, y)
        seconds = time.process_time() - begin
        right = right_ones(model.search_all(Z), events := events_from_labels(truth))[1]
        precision = (np.cumsum(right) / np.arange(1, len(right) + 1))[right].sum() / len(events)
        pull = np.nan if weight is None else model.metric_weights_.alpha_
        out.append((precision, model.score(Z, truth), pull, seconds))
    return np.array(out)


def of_queries(folder):
    """Print the table of searches."""
    cases = {f"beats, {record}": [partial(beats, folder, record)] for record in RECORDS}
    cases |= {
        "strides, swing axis": [partial(strides, folder, [4])],
        "strides, six": [partial(strides, folder, slice(6))],
    }
    cases["planted"] = [partial(planted, seed) for seed in SEEDS]
    columns = (
        "recording",
        "search",
        "given, equal",
        "given, learned",
        "alpha",
        "spread",
        "spread, learned",
        "alpha",
        "s",
    )
    print("|", " | ".join(columns), "|")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, makes in cases.items():
        made = [make() for make in makes]
        for search, how in SEARCHES.items():
            every = np.array([searched(how, *one) for one in made])
            mean = every.mean(axis=0)
            cells = [f"{precision:.3f} ({f1:.3f})" for precision, f1, *_ in mean]
            pulls = [", ".join(f"{pull:g}" for pull in every[:, k, 2]) for k in (1, 3)]
            row = name, search, *cells[:2], pulls[0], *cells[2:], pulls[1], f"{mean[1, 3]:.1f}"
            print("|", " | ".join(row), "|", flush=True)


def of_neighbors(folder):
    """Print the accuracies of nearest neighbors."""
    for window in (0.1, None):
        for name in ("GunPoint", "ArrowHead", "BasicMotions", "JapaneseVowels"):
            series, classes, size = read(folder / f"ucr_{name}.npz")
            equal, learned, alphas, seconds = zip(
                *(accuracies(series, classes, size, window, seed) for seed in SEEDS), strict=True
            )
            print(
                f"band {window}, {name}: equal {np.mean(equal):.4f}, learned {np.mean(learned):.4f}; of seeds 0 to 4 "
            )
            pairs = ", ".join(f"{a:.3f} {b:.3f}" for a, b in zip(equal, learned, strict=True))
            print(f"    {pairs}; alpha {', '.join(map('{:g}'.format, alphas))}; {np.mean(seconds):.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--of", choices=("neighbors", "queries"))
    chosen = parser.parse_args()
    if chosen.of != "queries":
        of_neighbors(chosen.folder)
    if chosen.of != "neighbors":
        of_queries(chosen.folder)


if __name__ == "__main__":
    main()
