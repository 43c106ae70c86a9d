"""Beats of MIT-BIH record 100 by threshold search: one beat is the query, the annotations say what was found.

    python benchmarks/ecg_threshold_search.py PATH/ecg_mitbih100_annotated_360hz.npz

The query is the tenth annotated beat, from 0.25 s before its R peak to 0.4 s after it. Before the search the baseline
is taken off (Butterworth high-pass, second order, 0.5 Hz, forwards and backwards). The threshold is learned: the one of
the best F1 in the first five minutes. Precision and recall are those of the other 25 minutes; a match is right if the
sample that meets the query's R peak lies within 150 ms of an annotated beat that no other match has taken.

The record is not part of the repository: Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Eng in
Med and Biol 20(3):45-50, 2001.
"""

import sys
import time

import numpy as np
from scipy.signal import butter, sosfiltfilt

from sktslib import QuerySearcher

BEFORE, AFTER, TOLERANCE, LEARN = 0.25, 0.4, 0.15, 300.0  # seconds
SEARCHES = [("euclidean", "zscore"), ("euclidean", None), ("correlation", None), ("dtw", None), ("twed", None)]


def hits(found, beats, tolerance):
    """How many of the found peaks pair off with beats, each beat once (both ascending)."""
    count = at = 0
    for peak in np.sort(found):
        while at < len(beats) and beats[at] < peak - tolerance:
            at += 1
        if at < len(beats) and beats[at] <= peak + tolerance:
            count, at = count + 1, at + 1
    return count


def score(found, beats, tolerance):
    """Precision, recall and F1."""
    right = hits(found, beats, tolerance)
    precision, recall = right / max(len(found), 1), right / max(len(beats), 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def peaks(matches, at):
    """The samples that meet the query's point `at`."""
    if len({int(e - s) for s, e in zip(matches.start, matches.end, strict=True)}) < 2:
        return matches.start + at
    found = []
    for k in range(len(matches)):
        query, sequence = matches.path(k)
        found.append(np.median(sequence[np.abs(query - at).argmin() == np.arange(len(query))]))
    return np.array(found)


def main(path):
    """Print the table."""
    data = np.load(path)
    fs, beats = int(data["fs_hz"]), data["beat_samples"]
    y = sosfiltfilt(butter(2, 0.5, "high", fs=fs, output="sos"), data["signal"][0].astype(float))
    before, cut, tolerance = round(BEFORE * fs), round(LEARN * fs), TOLERANCE * fs
    query = y[beats[9] - before : beats[9] + round(AFTER * fs)]
    print(f"query {len(query)} samples, sequence {len(y)} samples, {len(beats)} beats")
    print("| metric | normalize | threshold | precision | recall | F1 | search of 30 min |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    known = beats[beats < cut]
    for metric, how in SEARCHES:
        fitted = QuerySearcher(metric, normalize=how, n_matches=None).fit(query)
        matches = fitted.search(y[:cut])
        found = peaks(matches, before)
        order = np.argsort(matches.distance, kind="stable")
        f1 = [score(found[order[: k + 1]], known, tolerance)[2] for k in range(len(order))]
        best = int(np.argmax(f1))
        after = order[best + 1] if best + 1 < len(order) else order[best]
        threshold = (matches.distance[order[best]] + matches.distance[after]) / 2
        fitted.set_params(threshold=threshold)
        begin = time.perf_counter()
        matches = fitted.search(y)
        seconds = time.perf_counter() - begin
        found = peaks(matches, before)
        precision, recall, value = score(found[found >= cut], beats[beats >= cut], tolerance)
        print(
            f"| {metric} | {how} | {threshold:.4g} | {precision:.4f} | {recall:.4f} | {value:.4f} | {seconds:.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1])
