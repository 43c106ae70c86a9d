"""Beats of electrocardiograms: learned from five minutes, found in 25; F1 of R peaks within 150 ms, and seconds.

    python benchmarks/beats.py FOLDER

FOLDER holds `ecg_mitbih<record>_annotated_360hz.npz` of records 100, 105, 108 and 116 of the MIT-BIH Arrhythmia
Database with their annotations; README.md says what is in them. From raw signal to F1: the first five minutes are
labeled, a beat from 70 samples before its R peak to 140 after, cut where two touch; in the rest the R peak of a
repetition is where the filtered signal is largest in absolute value. wfdb's xqrs and NeuroKit's detector are run where
these packages are installed.
"""

import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.pipeline import make_pipeline

from sktslib import QuerySegmenter, pipeline_segment
from sktslib.metrics import event_f1_score, labels_from_events
from sktslib.preprocessing import AutoFilter, BandPass, RunningBaseline

RECORDS = (100, 105, 108, 116)
RATE = 360
LEARNED = 5 * 60 * RATE
BEFORE, AFTER = 70, 140  # samples of a beat about its R peak
MEDIAN = 217  # samples, 0.6 s: the usual width of a running median that takes a baseline off
TOLERANCE = 54  # samples, 150 ms
OURS = {
    "RunningBaseline": lambda: make_pipeline(RunningBaseline(MEDIAN), QuerySegmenter()),
    "BandPass(5, 20)": lambda: make_pipeline(BandPass(5, 20, sampling_rate=RATE), QuerySegmenter()),
    "AutoFilter": lambda: make_pipeline(AutoFilter(RATE), QuerySegmenter()),
    "AutoFilter, auto": lambda: make_pipeline(AutoFilter(RATE), QuerySegmenter(metric="auto")),
}


def read(path):
    """Signal (n,) and R peaks of a record."""
    stored = np.load(path)
    signal = stored["signal"][0] if "signal" in stored else stored["counts"] / float(stored["counts_per_mV"])
    return signal.astype(float), stored["beat_samples"].astype(int)


def labeled(peaks, n):
    """Labels of n samples, 1 where a beat is."""
    start, end = np.maximum(peaks - BEFORE, 0), np.minimum(peaks + AFTER, n)
    return labels_from_events(np.column_stack([start, end]), n_samples=n, on_overlap="cut")


def found_by(pipe, signal, peaks, stop=LEARNED):
    """R peaks found behind the five minutes, of which those before `stop` are learned; seconds of learning, finding."""
    known, rest = signal[:stop, None], signal[LEARNED:, None]
    begin = perf_counter()
    fitted = pipe.fit(known, labeled(peaks[peaks <= stop - AFTER], stop))
    learned = perf_counter()
    segments = pipeline_segment(fitted, rest)
    filtered = np.abs(fitted[:-1].transform(rest)[:, 0])
    at = [start + np.argmax(filtered[start:end]) for start, end in zip(segments.start, segments.end, strict=True)]
    return np.array(at, int) + LEARNED, learned - begin, perf_counter() - learned


def f1_of(true, found):
    """F1 of R peaks, as events of one sample, within the tolerance."""
    events = [np.column_stack([peaks, peaks + 1]) for peaks in (true, found)]
    return event_f1_score(*events, tolerance=TOLERANCE)


def others():
    """Detectors of other packages that are installed, functions of a signal."""
    detectors = {}
    for name, package in (("xqrs", "wfdb.processing"), ("NeuroKit", "neurokit2")):
        try:
            module = import_module(package)
        except ImportError:
            print(f"{name}: {package.partition('.')[0]} is not installed")
            continue
        if name == "xqrs":
            detectors[name] = lambda x, module=module: module.xqrs_detect(x, RATE, verbose=False)
        else:
            detectors[name] = lambda x, module=module: module.ecg_findpeaks(module.ecg_clean(x, RATE), RATE)[
                "ECG_R_Peaks"
            ]
    return detectors


def main(folder):
    detectors = others()
    records = {record: read(Path(folder) / f"ecg_mitbih{record}_annotated_360hz.npz") for record in RECORDS}
    print(f"{'':16}", *(f"{record:>6}" for record in RECORDS), "  mean   learn s  find s")
    for name in [*OURS, *detectors]:
        scores, seconds = [], []
        for signal, peaks in records.values():
            if name in OURS:
                found, *took = found_by(OURS[name](), signal, peaks)
            else:
                begin = perf_counter()
                found = np.asarray(detectors[name](signal[LEARNED:]), int) + LEARNED
                took = [0.0, perf_counter() - begin]
            scores.append(f1_of(peaks[peaks >= LEARNED], found))
            seconds.append(took)
        learn, find = np.mean(seconds, axis=0)
        print(f"{name:16}", *(f"{score:6.4f}" for score in scores), f"{np.mean(scores):6.4f} {learn:8.2f} {find:7.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
