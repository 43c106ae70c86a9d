"""Beats of MIT-BIH record 100 by segmentation, one beat being the query; and the packaged ECG example.

    python benchmarks/segmentation_ecg.py FOLDER        # holds ecg_mitbih100_annotated_360hz.npz; or $SKTSLIB_DATA

The query is the tenth annotated beat, from 0.25 s before its R peak to 0.4 s after it; everything else is as it comes.
Before that the baseline is taken off: a running median over 0.6 s, or a Butterworth high-pass (second order, 0.5 Hz,
forwards and backwards), which rings where the record breaks off and costs a beat there. A repetition is right if the
sample that meets the query's R peak lies within 150 ms of an annotated beat that no other repetition has taken.  The
record is not part of the repository: Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Eng in Med
and Biol 20(3):45-50, 2001.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from ecg_threshold_search import AFTER, BEFORE, TOLERANCE, score
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

from sktslib import QuerySegmenter, load_ecg_example

SHARES = (0.5, 1.0, 2.0, 4.0)  # of the default cost of background


def peaks(segments, at):
    """The samples that meet the query's point `at`."""
    found = np.empty(len(segments))
    for k in range(len(segments)):
        query, sequence = segments.path(k)
        found[k] = np.median(sequence[query == at])
    return found


def fastest(call, repeats=5):
    """The result of a call and its shortest time."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begin)
    return result, min(seconds)


def record_100(folder):
    """Print what is found in 30 minutes."""
    data = np.load(folder / "ecg_mitbih100_annotated_360hz.npz")
    fs, beats, raw = int(data["fs_hz"]), data["beat_samples"], data["signal"][0].astype(float)
    before = round(BEFORE * fs)
    print("| baseline | background | repetitions | precision | recall | F1 | 650,000 points |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, y in (
        ("median", raw - median_filter(raw, round(0.6 * fs) | 1, mode="nearest")),
        ("high-pass", sosfiltfilt(butter(2, 0.5, "high", fs=fs, output="sos"), raw)),
    ):
        query = y[beats[9] - before : beats[9] + round(AFTER * fs)]
        default = QuerySegmenter().fit(query)
        for share in (None, *SHARES):
            segmenter = default if share is None else QuerySegmenter(background=share * default.background_).fit(query)
            segments, seconds = fastest(lambda segmenter=segmenter, y=y: segmenter.segment(y))
            precision, recall, f1 = score(peaks(segments, before), beats, TOLERANCE * fs)
            how = "default" if share is None else f"{share:g} x default"
            print(
                f"| {name} | {how} | {len(segments)} | {precision:.4f} | {recall:.4f} | {f1:.4f} | {seconds:.3f} s |",
                flush=True,
            )


def example():
    """Print how many of the example's normal beats have a repetition to themselves."""
    ecg = load_ecg_example()
    normal = ecg["beats"][ecg["beat_kinds"] == "N"]
    print("\n| metric | weights | repetitions | normal beats on their own |")
    print("| --- | --- | --- | --- |")
    for metric in ("adtw", "dtw", "twed"):
        for weight in (None, ecg["weight"]):
            segments = QuerySegmenter(metric).fit(ecg["query"], weight=weight).segment(ecg["sequence"])
            holds = (segments.start[:, None] <= ecg["beats"]) & (ecg["beats"] < segments.end[:, None])
            alone = holds[holds.sum(axis=1) == 1].any(axis=0)
            count = int(alone[np.isin(ecg["beats"], normal)].sum())
            print(f"| {metric} | {'none' if weight is None else 'R'} | {len(segments)} | {count} of {len(normal)} |")


if __name__ == "__main__":
    record_100(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKTSLIB_DATA"]))
    example()
