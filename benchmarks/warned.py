"""How often a search warns of look-alikes, where there is one shape, or more.

    python benchmarks/warned.py [--recordings 1000] [--gait gait_walk_205hz.npz]

Each drawn recording has 8 to 100 occurrences of one shape, whose size, length and distance from each other vary, in
noise. It is searched with a false discovery rate by one of six ways to compare. Printed is in how many of them a
warning came, by the share of false ones in what was found; then the same of recordings in which look-alikes occur as
often, which are smaller, smoother or longer, and of the packaged electrocardiogram and a walk.
"""

import argparse
import warnings
from collections import Counter

import numpy as np

from sktslib import QuerySearcher, load_ecg_example

WAYS = (
    {"metric": "euclidean", "normalize": "zscore"},
    {"metric": "dtw", "normalize": "zscore"},
    {"metric": "dtw"},
    {"metric": "adtw", "metric_params": {"omega": "auto"}},
    {"metric": "euclidean"},
    {"metric": "manhattan", "normalize": "mean"},
)
ALPHAS = 0.05, 0.1, 0.2
LEVELS, SIZES, STRETCHES, GAPS = (0.02, 0.05, 0.1, 0.2, 0.3), (0, 0.05, 0.1, 0.2, 0.3), (0, 0.05, 0.1, 0.2), (0, 0.5, 3)
BORDERS = 0, 0.05, 0.25, 0.6, 1.01


def shape(rng):
    """A beat, a part of it, a wave, an oscillation, a step or a smooth random walk; of standard deviation 1."""
    beat, u = load_ecg_example().query, np.linspace(-3, 3, 60)
    walk = np.interp(np.arange(60), np.arange(0, 60, 5), np.cumsum(rng.standard_normal(60))[::5])
    swing = np.exp(-u * u / 2) * np.sin(2 * np.pi * u * rng.uniform(0.3, 1.2) + rng.uniform(0, 6))
    some = beat - np.median(beat), (beat - np.median(beat))[10:40], np.exp(-u * u), swing, 1.0 * (abs(u) < 1.5)
    x = (*some, walk - np.linspace(walk[0], walk[-1], 60))[rng.integers(6)]
    return x / x.std()


def colored(rng, n):
    """White noise, 1/f noise or a random walk, of standard deviation 1."""
    white = rng.standard_normal(n)
    spectrum = np.fft.rfft(white) / np.maximum(np.arange(n // 2 + 1), 1) ** rng.choice([0, 0.5, 1])
    noise = np.fft.irfft(spectrum, n)
    return (noise - noise.mean()) / noise.std()


def drawn(rng, other=None):
    """A recording, its shape, and the half-open ranges of its occurrences; `other` makes a look-alike of the shape."""
    x, count, size, stretch = shape(rng), int(rng.integers(8, 100)), rng.choice(SIZES), rng.choice(STRETCHES)
    gap, pieces, ranges, at = rng.choice(GAPS), [], [], 0
    for k in range(count * (1 if other is None else 2)):
        one = x if other is None or k < count else other(x)
        length = max(8, int(len(one) * np.exp(stretch * rng.standard_normal())))
        rest = int(gap * len(x) * rng.exponential())
        event = np.interp(np.linspace(0, len(one) - 1, length), np.arange(len(one)), one)
        pieces += [np.exp(size * rng.standard_normal()) * event, np.zeros(rest)]
        ranges += [(at, at + length)] if k < count else []
        at += length + rest
    y = np.concatenate([np.zeros(20), *pieces, np.zeros(20)])
    return y + rng.choice(LEVELS) * colored(rng, len(y)), x, np.array(ranges) + 20


def smaller(x):
    """A shape of a quarter of the size."""
    return x / 4


def smoother(x):
    """A shape without its details, a little smaller."""
    return np.convolve(x, np.ones(9) / 9, "same")


def longer(x):
    """A shape that lasts twice as long at half the size."""
    return np.interp(np.linspace(0, len(x) - 1, 2 * len(x)), np.arange(len(x)), x) / 2


def warned(find, y, ranges):
    """Whether a call warns of what this is about, and the share of false ones in what it finds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = find(y)
    if not len(found):
        return False, 0.0
    common = np.minimum(found.end[:, None], ranges[:, 1]) - np.maximum(found.start[:, None], ranges[:, 0])
    shorter = np.minimum((found.end - found.start)[:, None], ranges[:, 1] - ranges[:, 0])
    told = any("look-alikes" in str(one.message) for one in caught)
    return told, float(1 - (common >= 0.5 * shorter).any(axis=1).mean())


def search_of(rng, x):
    """A search for a shape by one of the ways to compare."""
    searcher = QuerySearcher(**WAYS[rng.integers(len(WAYS))], threshold=f"fdr:{rng.choice(ALPHAS)}")
    return searcher.fit(x).search


def counts(seeds, other=None):
    """How many recordings there are, and with a warning, by the share of false ones."""
    total, told = Counter(), Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        y, x, ranges = drawn(rng, other)
        warns, false = warned(search_of(rng, x), y, ranges)
        key = int(np.searchsorted(BORDERS, false, "right")) - 1
        total[key] += 1
        told[key] += warns
    return total, told


def real(gait):
    """Packaged and given recordings, their queries and the occurrences."""
    ecg = load_ecg_example()
    yield "packaged ECG", ecg.sequence, ecg.query, np.column_stack([ecg.beats - 22, ecg.beats + 43])
    if gait:
        with np.load(gait) as data:
            for foot in ("left", "right"):
                for k, axis in enumerate(data["axes"].tolist()):
                    yield (
                        f"{foot} foot, {axis}",
                        data[foot][k].astype(float),
                        data["template"][k],
                        data[f"strides_{foot}"],
                    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=int, default=1000)
    parser.add_argument("--gait", help="the file of a walk, of which there are left, right, template and strides")
    given = parser.parse_args()
    for other in (None, smaller, smoother, longer):
        total, told = counts(range(given.recordings), other)
        print("one shape" if other is None else f"and as many that are {other.__name__}")
        for k in sorted(total):
            low, high = BORDERS[k : k + 2]
            print(f"  false {low:4.2f} to {min(high, 1):4.2f}: warned in {told[k]} of {total[k]}")
    for title, y, x, ranges in real(given.gait):
        finds = {}
        for k, way in enumerate(WAYS):
            finds |= {f"{k} {alpha}": QuerySearcher(**way, threshold=f"fdr:{alpha}").fit(x).search for alpha in ALPHAS}
        told = [name for name, find in finds.items() if warned(find, y, ranges)[0]]
        print(f"{title}: warned in {len(told)} of {len(finds)}", *told)


if __name__ == "__main__":
    main()
