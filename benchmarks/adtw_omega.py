"""The share of the variance that ``ADTW(omega="auto")`` takes: F1 of beats and strides over several shares.

    python benchmarks/adtw_omega.py FOLDER      # with ecg_mitbih*_annotated_360hz.npz and gait_walk_205hz.npz

Everything but the share is as it comes. Each row is a recording and a way to get the query:

- "one beat": of the first lead, less a running median over 0.6 s, of which `QUERIES` beats, evenly spread over the
  record's normal ones, are the query in turn, from 0.25 s before the R peak to 0.4 s after it. A repetition is right if
  both of its ends lie within 150 ms of those of an annotated beat, cut in the same way. Least and mean F1.
- "labels": the annotations of the first five minutes, 0.15 s to either side of the R peak, F1 of the rest.
- "one stride": labeled strides of the walk as it was measured, in turn, the swing axis or all six channels, on the
  foot itself. The recording from the first labeled sample to the last one.
- "other foot": the mean stride of the left foot, the right foot being the recording.
- "labels" of the walk: the strides of the first half of the right foot, every other one, F1 of the rest.

The data are not part of the repository: MIT-BIH Arrhythmia Database (Moody & Mark 2001); gaitmap (MIT license).
"""

import os
import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import median_filter

from sktslib import QuerySegmenter, load_ecg_example
from sktslib.distances._metrics import dtw
from sktslib.metrics import event_f1_score, labels_from_events

SHARES = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 1.25, 1.5, 1.6, 1.75, 2.0, 3.0, 5.0)
RECORDS = ("100", "105", "108", "116")
BEFORE, AFTER, HALF, TOLERANCE, LEARN = 0.25, 0.4, 0.15, 0.15, 300.0  # seconds
QUERIES = 10


def less_baseline(y, fs):
    """A signal less its running median."""
    return y - median_filter(y, round(0.6 * fs) | 1, mode="nearest")


def f1(found, true, fs):
    """F1 of events whose ends lie within the tolerance."""
    return event_f1_score(true, np.column_stack([found.start, found.end]), tolerance=TOLERANCE * fs)


def within(ranges, first, last):
    """Ranges that lie within some samples."""
    return ranges[(ranges[:, 0] >= first) & (ranges[:, 1] <= last)]


def by_one(y, ranges, usual, fs):
    """F1 of the ranges, each of some usual ones being the query in turn."""
    chosen = usual[np.linspace(0, len(usual) - 1, QUERIES).round().astype(int)]
    return [f1(QuerySegmenter().fit(y[s:e]).segment(y), ranges, fs) for s, e in chosen]


def learned(y, ranges, names, cut, fs):
    """F1 of the ranges behind a sample, those before it being marked."""
    labels = labels_from_events(ranges, names, n_samples=len(y), on_overlap="cut")
    found = QuerySegmenter().fit(y[:cut], labels[:cut]).segment(y)
    got = within(np.column_stack([found.start, found.end]), cut, len(y))
    return [event_f1_score(within(ranges, cut, len(y)), got, tolerance=TOLERANCE * fs)]


def record(path):
    """The rows of one record: a name, and a function that gives values of F1."""
    data = np.load(path)
    fs, beats = float(data["fs_hz"]), data["beat_samples"].astype(int)
    if "signal" in data:
        raw, names = data["signal"][0].astype(float), data["beat_symbols"].astype(str)
    else:
        raw = data["counts"].astype(float) / float(data["counts_per_mV"])
        names = np.where(data["beat_is_pvc"], "V", "N")
    y, name = less_baseline(raw, fs), path.stem.split("_")[1].removeprefix("mitbih")
    around = [
        np.column_stack([beats - round(a * fs), beats + round(b * fs)]) for a, b in ((BEFORE, AFTER), (HALF, HALF))
    ]
    inside = (around[0][:, 0] >= 0) & (around[0][:, 1] <= len(y))
    whole, short = (ranges[inside] for ranges in around)
    yield f"{name}, one beat", lambda: by_one(y, whole, whole[names[inside] == "N"], fs)
    yield f"{name}, labels", lambda: learned(y[:, np.newaxis], short, names[inside], round(LEARN * fs), fs)


def example():
    """The row of the packaged ten seconds of record 208, whose query is from elsewhere in it."""
    ecg = load_ecg_example()
    fs = 1.0 / np.diff(ecg.ts).mean()
    peak = int(np.argmax(ecg.query))
    ranges = np.column_stack([ecg.beats - peak, ecg.beats - peak + len(ecg.query)])[ecg.beat_kinds == "N"]
    for name, weight in (("", None), (", weights", ecg.weight)):
        fit = lambda weight=weight: QuerySegmenter().fit(ecg.query, weight=weight)  # noqa: E731
        yield f"208 (10 s){name}", lambda fit=fit: [f1(fit().segment(ecg.sequence), ranges.clip(0), fs)]


def walk(path):
    """The rows of the walk."""
    data, fs = np.load(path), 204.8
    left, right = (data[foot].T.astype(float) for foot in ("left", "right"))
    of_left, of_right = data["strides_left"].astype(int), data["strides_right"].astype(int)
    for name, axes in (("swing axis", [4]), ("six", list(range(6)))):
        for foot, y, strides in (("left", left, of_left), ("right", right, of_right)):
            part = y[strides[0, 0] : strides[-1, 1], axes]
            ranges = strides - strides[0, 0]
            yield f"{foot} foot, {name}, one stride", lambda y=part, r=ranges: by_one(y, r, r, fs)
        query, y = data["template"].T[:, axes], right[:, axes]
        fit = lambda query=query, y=y: [f1(QuerySegmenter().fit(query).segment(y), of_right, fs)]  # noqa: E731
        yield f"right foot, {name}, other foot", fit
        marked = np.arange(len(of_right)) % 2 + 1  # two numbers, for strides that touch
        cut = int(of_right[len(of_right) // 2, 0])
        how = lambda y=y, marked=marked, cut=cut: learned(y, of_right, marked, cut, fs)  # noqa: E731
        yield f"right foot, {name}, labels", how


def main(folder):
    """Print the table."""
    rows = [row for name in RECORDS for row in record(folder / f"ecg_mitbih{name}_annotated_360hz.npz")]
    rows += [*example(), *walk(folder / "gait_walk_205hz.npz")]
    print("| recording, query | " + " | ".join(f"{share:g}" for share in SHARES) + " |")
    print("| --- |" + " --- |" * len(SHARES))
    means = []
    for name, values in rows:
        cells, mean = [], []
        for share in SHARES:
            dtw.OMEGA = share
            found = values()
            mean.append(np.mean(found))
            cells.append(f"{mean[-1]:.3f}" + (f" ({min(found):.3f})" if len(found) > 1 else ""))
        means.append(mean)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("| mean | " + " | ".join(f"{value:.3f}" for value in np.mean(means, axis=0)) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKTSLIB_DATA"]))
