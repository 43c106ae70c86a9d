"""Equal and learned weights of nearest neighbors: python benchmarks/learned_weights.py FOLDER

FOLDER holds ucr_GunPoint.npz, ucr_ArrowHead.npz, ucr_BasicMotions.npz and ucr_JapaneseVowels.npz, with the arrays
`X_train`, `X_test` (n, channels, length), `y_train`, `y_test`, or, of series of several lengths, `values_train`
(channels, total), `lengths_train` and the same of the test set.

Both parts of a set are put together and divided again, by five seeds, each class in its share, into as many
series to learn from as the archive has, and the rest to test. One nearest neighbor by dynamic time warping, within a
band of a tenth of the length and without a band. The band, and the defaults of `MetricWeights`, come out of trials that
also saw test accuracies of these sets. What `MetricWeights` learns, and how strong its pull to equal weights is, it
takes from the series to learn from alone. Accuracies are those of the rest.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from sktslib.distances import DTW
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, MetricWeights

SEEDS = range(5)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
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


if __name__ == "__main__":
    main()
