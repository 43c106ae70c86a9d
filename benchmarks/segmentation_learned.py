"""Beats of annotated recordings: learned from the labels of the first five minutes, tested on the rest.

    python benchmarks/segmentation_learned.py --data PATH/ecg_mitbih100_annotated_360hz.npz [MORE.npz ...]

Each file holds `signal` (leads, n) in mV, `fs_hz`, `beat_samples` and `beat_symbols`. Of all leads the baseline is
taken off (Butterworth high-pass, second order, 0.5 Hz, forwards and backwards), and each is divided by its usual
deviation about the beats that are learned from. A beat is marked from 0.15 s before its R peak to 0.15 s after it, its
kind is its symbol; marks that would overlap end halfway between the R peaks. The segmenter is fitted to the first five
minutes (`--learn` seconds) and cuts the whole recording. A repetition is right if the sample that meets the middle of
its query lies within 150 ms of an annotated beat that no other repetition has taken. Kinds do not count for precision
and recall; the last column but two is the share of the right ones whose symbol is right too. The records are not part
of the repository: Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Eng in Med and Biol
20(3):45-50, 2001.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

from sktslib import QuerySegmenter
from sktslib.distances import ADTW
from sktslib.metrics import labels_from_events

HALF, TOLERANCE = 0.15, 0.15  # seconds
STIFFNESS = 0.5  # what a step off the diagonal costs, in squared units of a lead's deviation about its beats


def matched(found, beats, tolerance):
    """Indices of found peaks and of beats that pair off, each once (both ascending)."""
    pairs, at = [], 0
    for k, peak in enumerate(found):
        while at < len(beats) and beats[at] < peak - tolerance:
            at += 1
        if at < len(beats) and beats[at] <= peak + tolerance:
            pairs.append((k, at))
            at += 1
    return np.array(pairs, dtype=int).reshape(-1, 2).T


def middles(segments, segmenter):
    """The samples that meet the middle points of the queries."""
    found = []
    for k, query in enumerate(segments.query):
        i, j = segments.path(k)
        found.append(np.median(j[i == len(segmenter.queries_[query]) // 2]))
    return np.array(found)


def run(path, learn):
    """One recording: names and figures of a row of the table."""
    data = np.load(path)
    fs, beats, symbols = float(data["fs_hz"]), data["beat_samples"], data["beat_symbols"].astype(str)
    cut, half = round(learn * fs), round(HALF * fs)
    signal = np.atleast_2d(data["signal"].astype(float))
    x = sosfiltfilt(butter(2, 0.5, "high", fs=fs, output="sos"), signal).T
    known = beats[(beats > half) & (beats < cut - half)]
    x /= np.maximum(np.median([x[r - half : r + half].std(axis=0) for r in known], axis=0), 1e-9)
    around = np.column_stack([np.maximum(beats - half, 0), beats + half + 1])
    y = labels_from_events(around, symbols, n_samples=len(x))
    begin = time.perf_counter()
    segmenter = QuerySegmenter(ADTW(omega=STIFFNESS)).fit(x[:cut], y[:cut])
    fitted = time.perf_counter()
    segments = segmenter.segment(x)
    done = time.perf_counter()
    found = middles(segments, segmenter)
    late, true = found >= cut, beats >= cut
    a, b = matched(found[late], beats[true], TOLERANCE * fs)
    precision, recall = len(a) / max(late.sum(), 1), len(b) / max(true.sum(), 1)
    f1 = 2 * len(a) / max(late.sum() + true.sum(), 1)
    alike = (segments.label[late][a] == symbols[true][b]).mean() if len(a) else 0.0
    kinds = " ".join(f"{kind}{(segmenter.classes_[segmenter._numbers] == kind).sum()}" for kind in segmenter.classes_)
    return Path(path).stem, kinds, int(true.sum()), precision, recall, f1, alike, fitted - begin, done - fitted


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--learn", type=float, default=300.0, metavar="SECONDS")
    given = parser.parse_args()
    print("| recording | queries | beats | precision | recall | F1 | symbol right | fit s | segment s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    scores = []
    for path in given.data:
        name, kinds, count, *figures, fit, segment = run(path, given.learn)
        scores.append(figures[2])
        print(f"| {name} | {kinds} | {count} | " + " | ".join(f"{v:.4f}" for v in figures), end=" | ")
        print(f"{fit:.1f} | {segment:.1f} |", flush=True)
    if len(scores) > 1:
        print(f"mean F1 {np.mean(scores):.4f}")


if __name__ == "__main__":
    main()
