"""K-means of series under DTW beside other packages, from the same starts: python benchmarks/clusters.py FOLDER

FOLDER holds ucr_GunPoint.npz, ucr_ArrowHead.npz (`X_train` (n, channels, length), `y_train`) and
ucr_JapaneseVowels.npz (`values_train` (channels, total), `lengths_train`, `y_train`): training sets of the UCR archive.

    python benchmarks/clusters.py FOLDER --package sktslib --out mine.json
    python benchmarks/clusters.py FOLDER --package tslearn --out theirs.json
    python benchmarks/clusters.py --table mine.json theirs.json

Each package runs in an environment of its own, where this file needs nothing but numpy and the package. As many
clusters as classes; a seed draws the series to begin with. Every package goes on until it has converged, DBA with its
own defaults. The inertia is that of the centers found, the sum of DTW (of squared differences) from the nearest
center, computed the same way for all: by plain numpy. Seconds are those of the processor, a first run left out.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):  # one core; read when packages are imported
    os.environ[name] = "1"

import numpy as np  # noqa: E402

SETS = ["GunPoint", "ArrowHead", "JapaneseVowels"]


def collection(folder, name):
    """The series (length, channels) and the number of classes."""
    with np.load(folder / f"ucr_{name}.npz") as data:
        k = len(set(data["y_train"].tolist()))
        if "X_train" in data:
            return [np.ascontiguousarray(x.T) for x in data["X_train"]], k
        ends = np.cumsum(data["lengths_train"])[:-1]
        return [np.ascontiguousarray(x.T) for x in np.split(data["values_train"], ends, axis=1)], k


def by_sktslib(X, start, max_iter):
    from sktslib.cluster import TimeSeriesKMeans

    model = TimeSeriesKMeans(len(start), init=[X[i] for i in start], max_iter=max_iter, channels_first=False)
    return lambda: list(model.fit(X).cluster_centers_)


def by_tslearn(X, start, max_iter):
    from tslearn.clustering import TimeSeriesKMeans
    from tslearn.utils import to_time_series_dataset

    A = to_time_series_dataset(X)
    model = TimeSeriesKMeans(len(start), metric="dtw", init=A[start].copy(), max_iter=max_iter, n_jobs=1)
    return lambda: [z[~np.isnan(z[:, 0])] for z in model.fit(A).cluster_centers_]


def by_aeon(X, start, max_iter):
    from aeon.clustering import TimeSeriesKMeans

    A = np.array([x.T for x in X])
    how = {"distance": "dtw", "averaging_method": "ba", "n_init": 1, "n_jobs": 1}
    model = TimeSeriesKMeans(len(start), init=A[start].copy(), max_iter=max_iter, **how)
    return lambda: [z.T for z in model.fit(A).cluster_centers_]


def dtw(z, X):
    """DTW of a series with several of one length (n, length, channels)."""
    costs = ((X[:, :, np.newaxis] - z) ** 2).sum(axis=-1)
    for i in range(costs.shape[1]):
        for j in range(costs.shape[2]):
            before = [costs[:, a, b] for a, b in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            costs[:, i, j] += np.minimum.reduce(before) if before else 0.0
    return costs[:, -1, -1]


def inertia(X, centers):
    """The sum of DTW from the nearest center."""
    table = np.empty((len(X), len(centers)))
    lengths = np.array([len(x) for x in X])
    for n in set(lengths.tolist()):
        members = np.flatnonzero(lengths == n)
        table[members] = np.column_stack([dtw(z, np.array([X[i] for i in members])) for z in centers])
    return float(table.min(axis=1).sum())


def measured(folder, package, seeds, names):
    make, found = {"sktslib": by_sktslib, "tslearn": by_tslearn, "aeon": by_aeon}[package], []
    for name in names:
        X, k = collection(folder, name)
        if package == "aeon" and len({len(x) for x in X}) > 1:
            continue  # which takes series of one length alone
        for seed in range(seeds):
            start = np.random.default_rng(seed).choice(len(X), k, replace=False)
            if not seed:
                make(X, start, 2)()
            call, begin = make(X, start, 300), time.process_time()
            centers = call()
            seconds = time.process_time() - begin
            row = {"set": name, "package": package, "seed": seed, "seconds": seconds, "inertia": inertia(X, centers)}
            found.append(row)
            print(row, flush=True)
    return found


def table(files):
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    of = {(row["set"], row["package"], row["seed"]): row for row in rows}
    packages = sorted({row["package"] for row in rows})
    seeds = sorted({row["seed"] for row in rows})
    for name in SETS:
        for seed in seeds:
            cells = [of.get((name, package, seed)) for package in packages]
            texts = [f"{c['inertia']:.2f} in {c['seconds']:.2f} s" if c else "-" for c in cells]
            print(f"| {name}, {seed} | {' | '.join(texts)} |")

    for name in SETS:
        for package in packages:
            rows = [of[name, package, seed] for seed in seeds if (name, package, seed) in of]
            ours = [of[name, "sktslib", row["seed"]] for row in rows if (name, "sktslib", row["seed"]) in of]
            if not ours or package == "sktslib":
                continue
            share = sum(row["seconds"] for row in rows) / sum(row["seconds"] for row in ours)
            more = [mine["inertia"] / row["inertia"] - 1.0 for mine, row in zip(ours, rows, strict=True)]
            print(f"{name}: {package} takes {share:.1f} times as long; inertia {min(more):+.2%} to {max(more):+.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--package", default="sktslib", choices=["sktslib", "tslearn", "aeon"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, nargs="+")
    options = parser.parse_args()
    if options.table:
        table(options.table)
        return
    warnings.filterwarnings("ignore", module="tslearn|aeon")
    found = measured(options.folder, options.package, options.seeds, options.sets)
    if options.out:
        options.out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
