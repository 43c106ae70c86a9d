"""Repetitions without a query in several fields, with defaults alone; next to simple counters of each field.

    python benchmarks/fields.py FOLDER

FOLDER holds `watch_exercises_50hz.npz`, `gait_walk_205hz.npz` and `ecg_mitbih<record>_annotated_360hz.npz` of records
100, 105, 108 and 116; README.md says what is in them. Of exercises the shares of recordings that are counted exactly
and within one, and how often `count_interval` holds the truth, with its median width; also between rest (noise of a
tenth of the spread), between random walks, twice with rest between, and cut to 5 to 15 of 20 parts. Of hearts the
median interval of the beats found. Of walks the labeled strides found, and those in the rest before and after. Seconds
are of one warm call.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.signal import find_peaks

from sktslib import QuerySegmenter, load_ecg_example

RATE, SECONDS, TRUTH = 50, 10, 20
RECORDS = (100, 105, 108, 116)
MINUTES = 5  # of each record


def exercises(folder):
    """Recordings (n, 6), one after the other in the file."""
    stored = np.load(folder / "watch_exercises_50hz.npz")
    return np.split(stored["values"].astype(float), np.cumsum(stored["lengths"])[:-1])


def rest(rng, X):
    """Ten seconds at the mean, a tenth as loud."""
    return X.mean(axis=0) + 0.1 * X.std(axis=0) * rng.standard_normal((SECONDS * RATE, X.shape[1]))


def walk(rng, X):
    """Ten seconds of a random walk of the recording's size."""
    steps = rng.standard_normal((SECONDS * RATE, X.shape[1])).cumsum(axis=0)
    return X.mean(axis=0) + (steps - steps.mean(axis=0)) / steps.std(axis=0) * X.std(axis=0)


KINDS = {
    "alone": lambda rng, X: (X, TRUTH),
    "rest": lambda rng, X: (np.concatenate([rest(rng, X), X, rest(rng, X)]), TRUTH),
    "random walk": lambda rng, X: (np.concatenate([walk(rng, X), X, walk(rng, X)]), TRUTH),
    "twice": lambda rng, X: (np.concatenate([X, rest(rng, X), X]), 2 * TRUTH),
    **{f"cut to {k}": lambda rng, X, k=k: (X[: len(X) * k // TRUTH], k) for k in range(5, 16)},
}


def ours(X):
    segments = QuerySegmenter(query="auto").fit(X).segment(X)
    return len(segments), segments.count_interval


def autocorrelation(X):
    """Samples over the lag of the highest peak of the autocorrelation behind its first zero."""
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    n = len(z)
    power = (np.abs(np.fft.rfft(z, 2 * n, axis=0)) ** 2).sum(axis=1)
    r = np.fft.irfft(power)[: n // 2] * n / np.arange(n, n - n // 2, -1)
    first = int(np.argmax(r < 0))
    return round(n / (first + np.argmax(r[first:]))), None


def peaks(X):
    """Peaks of the first principal component that are as prominent as its standard deviation, .4 s apart or more."""
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    first = z @ np.linalg.svd(z, full_matrices=False)[2][0]
    return len(find_peaks(first, prominence=first.std(), distance=RATE * 2 // 5)[0]), None


def count_exercises(folder):
    recordings = exercises(folder)
    print(f"{'exercises':12} {'counter':16} exact within1 interval width")
    for kind, make in KINDS.items():
        for counter in (ours, autocorrelation, peaks):
            rows = []
            for k, recording in enumerate(recordings):
                X, truth = make(np.random.default_rng(k), recording)
                try:
                    count, interval = counter(X)
                except ValueError:  # nothing that repeats itself
                    count, interval = 0, (0, 0)
                rows.append((count - truth, *(np.subtract(interval or (np.nan, np.nan), truth))))
            off, least, most = np.transpose(rows)
            print(
                f"{kind:12} {counter.__name__:16} {(off == 0).mean():5.2f} {(abs(off) <= 1).mean():7.2f} "
                f"{((least <= 0) & (most >= 0)).mean():8.2f} {np.median(most - least):5.1f}",
                flush=True,
            )


def hearts(folder):
    example = load_ecg_example()
    print(f"{'hearts':12} {'beats':>6} {'found':>6} {'median interval, samples: true, found':>40}")
    segments = QuerySegmenter(query="auto").fit(example.sequence).segment(example.sequence)
    print(f"{'example':12} {17:6} {len(segments):6} {'':33} {np.median(np.diff(segments.start)):6}")
    for record in RECORDS:
        stored = np.load(folder / f"ecg_mitbih{record}_annotated_360hz.npz")
        signal = stored["signal"][0] if "signal" in stored else stored["counts"] / float(stored["counts_per_mV"])
        X = signal[: MINUTES * 60 * 360, np.newaxis].astype(float)
        beats = stored["beat_samples"][stored["beat_samples"] < len(X)]
        start = QuerySegmenter(query="auto").fit(X).segment(X).start
        print(
            f"{record:<12} {len(beats):6} {len(start):6} {np.median(np.diff(beats)):33} {np.median(np.diff(start)):6}"
        )


def walks(folder):
    stored = np.load(folder / "gait_walk_205hz.npz")
    print(f"{'walks':12} {'strides':>8} {'found':>6} {'each met':>9} before after")
    for foot in ("left", "right"):
        strides = stored[f"strides_{foot}"].astype(int)
        for name, rows in (("swing axis", slice(4, 5)), ("six axes", slice(0, 6))):
            X = stored[foot][rows].T.astype(float)
            segments = QuerySegmenter(query="auto").fit(X).segment(X)
            middle = (segments.start + segments.end) / 2
            met = sum(((s <= middle) & (middle < e)).any() for s, e in strides)
            before, after = (segments.end <= strides[0, 0]).sum(), (segments.start >= strides[-1, 1]).sum()
            print(f"{foot:5} {name} {len(strides):4} {len(segments):6} {met:9} {before:6} {after:5}")


def seconds(folder):
    X = np.concatenate(exercises(folder))[: 600 * RATE]
    ours(X)
    begin = perf_counter()
    ours(X)
    print(f"10 minutes at 50 Hz, six channels: {perf_counter() - begin:.2f} s")


def main(folder):
    for part in (count_exercises, hearts, walks, seconds):
        part(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
