"""Subsequences that are normalized each by itself: planted heart beats, stretched, scaled and shifted, and the time.

    python benchmarks/normalized_ranges.py FOLDER/ecg_mitbih100_annotated_360hz.npz

A beat of `ecg_mitbih208_5min_360hz.npz`, in the same folder, is planted 100 times in a million points of noise, and of
another person's two leads, one after the other: resampled to 0.8 to 1.25 times its length, times 0.5 to 2, plus an
offset and noise. Printed: how many of the planted beats are among the 100 best matches of `mode="subsequence"` with
`normalize="zscore"` (intersection over union above 0.7), how far the last match is, and the seconds on one
core; and those of the whole profile of a few samples.
"""

import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from sktslib import QuerySearcher
from sktslib.search import Subsequences

COUNT, N, FEW = 100, 10**6, 6000


def beat_of(folder):
    """The first clear beat of a record, 250 samples at 360 Hz."""
    record = np.load(folder / "ecg_mitbih208_5min_360hz.npz")
    signal = (record["counts"] - record["adc_zero"]) / record["counts_per_mV"]
    peak = 500 + int(np.argmax(np.abs(signal[500:1500] - np.median(signal[:3000]))))
    return signal[peak - 110 : peak + 140]


def planted(x, background, rng):
    """The background with beats, and where these lie."""
    y, ranges = background.copy(), []
    for k in range(COUNT):
        length = int(len(x) * rng.uniform(0.8, 1.25))
        start = int((k + 0.5) * len(y) / COUNT) + int(rng.integers(-200, 200))
        beat = np.interp(np.linspace(0, len(x) - 1, length), np.arange(len(x)), x)
        y[start : start + length] = beat * rng.uniform(0.5, 2) + rng.normal() + 0.02 * rng.normal(size=length)
        ranges.append((start, start + length))
    return y, np.array(ranges)


def found(matches, ranges):
    """How many of the ranges a match meets."""
    count = 0
    for start, end in ranges:
        common = np.minimum(matches.end, end) - np.maximum(matches.start, start)
        union = np.maximum(matches.end, end) - np.minimum(matches.start, start)
        count += bool((common / union).max() > 0.7)
    return count


def main(record):
    record = Path(record)
    x, rng = beat_of(record.parent), np.random.default_rng(0)
    backgrounds = {"noise": 0.3 * rng.normal(size=N)}
    backgrounds["heart beats"] = np.concatenate(np.load(record)["signal"].astype(float))[:N]
    lengths = {"candidates": Subsequences(min_length=round(0.75 * len(x)), max_length=round(1.3 * len(x)))}
    searcher = QuerySearcher(candidates="subsequence", normalize="zscore", n_matches=COUNT, **lengths).fit(x)
    searcher.set_params(n_matches=1).search(backgrounds["noise"][:20000])  # compiles
    searcher.set_params(n_matches=COUNT)
    for name, background in backgrounds.items():
        y, ranges = planted(x, background, rng)
        began, of_processor = perf_counter(), process_time()
        matches = searcher.search(y)
        took = f"{perf_counter() - began:.1f} s, of the processor {process_time() - of_processor:.1f} s"
        print(f"{name}: {found(matches, ranges)} of {COUNT}, distance up to {matches.distance.max():.2f}, {took}")
        of_processor = process_time()
        searcher.profile(y[100_000 : 100_000 + FEW])
        print(f"{name}: the whole profile of {FEW} samples, of the processor {process_time() - of_processor:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1])
