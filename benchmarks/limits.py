"""Constrained normalization beside the whole profile filtered afterwards, and beside a search without limits.

    python benchmarks/limits.py FILE GAIT [POINTS]

FILE is a record of the MIT-BIH Arrhythmia Database as `.npz` with `counts`; it is repeated, with noise of its own, up
to POINTS samples, ten million by default. The other sequence is a random walk. Queries have 300 points, windows are
z-normalized and compared by dynamic time warping with a band of 5 %, and limits are 30 %. Seconds of one thread; all is
compiled before.

GAIT is the walk of gaitmap's example data as `.npz`: all windows that fit, by the mean stride, on the swing axis of the
left foot, and how many of them are strides (half of the union in common).
"""

import sys
from time import perf_counter

import numpy as np

from sktslib import QuerySearcher
from sktslib.search import Normalization
from sktslib.search._limits import Moments, within_limits
from sktslib.search._selection import select

M, MATCHES = 300, 10
HOW = {"metric": "dtw", "metric_params": {"window": 0.05}, "normalize": "zscore", "n_matches": MATCHES}


def sequences(file, n):
    """Name, sequence and query of each case."""
    rng = np.random.default_rng(0)
    record = np.load(file)
    ecg = record["counts"].astype(float) / float(record["counts_per_mV"])
    beat = int(record["beat_samples"][3]) if "beat_samples" in record else 70_000
    copies = np.tile(ecg, -(-n // len(ecg)))[:n]
    yield "ECG", copies + 0.01 * rng.normal(size=n), ecg[beat - M // 2 : beat + M // 2]
    yield "random walk", rng.normal(size=n).cumsum(), rng.normal(size=M).cumsum()


def seconds(call, *given):
    begin = perf_counter()
    found = call(*given)
    return perf_counter() - begin, found


def filtered(profile, y, query, how):
    """The best matches of a profile, of which the windows that are beyond the limits are struck out."""
    w, distance, within = np.ones((1, M)), profile.distance.copy(), np.empty(len(profile), bool)
    windows = np.lib.stride_tricks.sliding_window_view(y, M)
    for first in range(0, len(within), 2**14):
        some = slice(first, first + 2**14)
        of_windows = Moments.of(np.ascontiguousarray(windows[some])[:, np.newaxis], w)
        within[some] = within_limits(how.scale_limits, Moments.of(query[np.newaxis], w), of_windows)
    distance[~within] = np.inf
    return within.mean(), select(distance, profile.start, profile.end, n_matches=MATCHES)


def strides(file):
    """Strides among all windows that fit, with and without limits."""
    walk = np.load(file)
    y, query, labels = walk["left"][4].astype(float), walk["template"][4], walk["strides_left"]
    for limits in (None, (0.5, 2.0), (0.7, 1.4)):
        how = HOW | {
            "metric_params": {"window": 0.1},
            "n_matches": None,
            "max_overlap": 0.1,
            "normalize": Normalization(None, scale_limits=limits),
        }
        matches = QuerySearcher(**how).fit(query).search(y)
        start, end = np.minimum.outer(labels[:, 1], matches.end), np.maximum.outer(labels[:, 0], matches.start)
        union = np.maximum.outer(labels[:, 1], matches.end) - np.minimum.outer(labels[:, 0], matches.start)
        true = ((start - end) / union > 0.5).any(axis=0)
        false = ", ".join(f"{scale:.3f}" for scale in np.sort(matches.scale[~true]))
        print(f"gait, limits {limits}: {true.sum()} of {len(labels)} strides; other matches have the scales {false}")


def main(file, gait, n=10_000_000):
    strides(gait)
    for name, y, query in sequences(file, int(n)):
        plain = QuerySearcher(**HOW).fit(query)
        limited = QuerySearcher(
            **HOW, normalize=Normalization(None, scale_limits=(0.7, 1.3), offset_limit=0.3 * query.std())
        ).fit(query)
        how = limited._searches[0][0]
        for searcher in (plain, limited):
            searcher.search(y[:20_000]), searcher.profile(y[:2000])
        constrained, matches = seconds(limited.search, y)
        pruned, _ = seconds(plain.search, y)
        whole, profile = seconds(plain.profile, y)
        after, (share, start) = seconds(filtered, profile, y, query, how)
        own, of_limited = seconds(limited.profile, y)
        assert matches.start.tolist() == start.tolist()
        assert np.isfinite(of_limited.distance).mean() == share
        print(f"{name}, {len(y):,} points, {100 * share:.2f} % of the windows within the limits")
        print(f"  search with limits             {constrained:8.2f} s")
        print(f"  search without                 {pruned:8.2f} s")
        print(f"  whole profile, then the filter {whole:8.2f} s and {after:.2f} s: {whole / constrained:.1f} times")
        print(f"  profile with limits            {own:8.2f} s: {whole / own:.1f} times", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
