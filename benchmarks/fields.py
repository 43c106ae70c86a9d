"""Repetitions without a query in several fields next to each field's own tools: defaults, then one chosen parameter.

    python benchmarks/fields.py FOLDER

FOLDER holds `watch_exercises_50hz.npz`, `gait_walk_205hz.npz`, `ecg_example/beats.csv` and
`ecg_mitbih<record>_annotated_360hz.npz` of records 100, 105, 108 and 116; README.md says what is in them. Tools
that are not installed are said to be: `pip install wfdb neurokit2 heartpy gaitmap gaitmap_mad obspy`.

Of exercises the shares of recordings that are counted exactly and within one, and how often `count_interval` holds the
truth, with its median width; also between rest (noise of a tenth of the spread), between random walks, twice with rest
between, and cut to 5 to 15 of 20 parts. Of hearts, pulses and walks the events found, their median interval and, where
there are labels, F1 (within 75 ms of beats, 146 ms of strides; any tool's events may be shifted by a constant). Then
what a given query of 0.25 s finds, and a seismic event in noise. Seconds are of one warm call.
"""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.signal import find_peaks

from sktslib import QuerySegmenter, load_ecg_example
from sktslib.preprocessing import RunningBaseline

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


def segmented(X, **parameters):
    """Starts of the repetitions of a recording (n,) or (n, channels) without a query."""
    return QuerySegmenter(query="auto", **parameters).fit(X).segment(X).start


def f1_of(found, true, tolerance):
    """F1 of found samples against true ones, shifted alike: a tool's beat has a phase of its own."""
    if not len(found):
        return 0.0
    apart = np.sort((found[:, np.newaxis] - true).ravel())
    met = np.searchsorted(apart, apart + 2 * tolerance, "right") - np.arange(len(apart))
    shift = apart[met.argmax()] + tolerance
    nearest = np.abs(true[:, np.newaxis] + shift - found)
    mutual = nearest.argmin(axis=0)[nearest.argmin(axis=1)] == np.arange(len(true))
    return 2 * (mutual & (nearest.min(axis=1) <= tolerance)).sum() / (len(found) + len(true))


def tool(module):
    """An installed module, or None."""
    try:
        return import_module(module)
    except ImportError:
        return None


def compare(what, tools, X, rate, true=None, tolerance=None):
    """Print how many events each tool finds, their median interval and F1: with defaults, and with one parameter."""
    about = "" if true is None else f"; true: {len(true)}, {np.median(np.diff(true)) / rate:.3f} s"
    print(f"{what}{about}")
    for name, (module, found_by, chosen) in tools.items():
        line = f"   {name:12}"
        for parameters in ({}, chosen) if tool(module) else ():
            try:
                found = np.asarray(found_by(X, rate, **parameters), int)
            except (ValueError, ZeroDivisionError, IndexError, RuntimeError) as error:  # what tools raise for no beats
                line += f" | fails: {str(error)[:40]!r}"
                continue
            middle = np.median(np.diff(found)) / rate if len(found) > 1 else np.nan
            line += f" | {len(found):5} {middle:6.3f} s"
            line += "" if true is None else f"  F1 {f1_of(found, true, tolerance):.4f}"
        print(line + (f" | {chosen}" if tool(module) else " | not installed"), flush=True)


def ours_by(X, rate, lengths=None):
    return segmented(X, lengths=lengths and tuple(round(rate * one) for one in lengths))


def xqrs(X, rate, **parameters):
    processing = tool("wfdb.processing")
    detector = processing.XQRS(X, rate, processing.XQRS.Conf(**parameters))
    detector.detect(verbose=False)
    return detector.qrs_inds


def neurokit_ecg(X, rate, **parameters):
    neurokit = tool("neurokit2")
    return neurokit.ecg_peaks(neurokit.ecg_clean(X, rate, **parameters), rate, **parameters)[1]["ECG_R_Peaks"]


def neurokit_ppg(X, rate, **parameters):
    neurokit = tool("neurokit2")
    rate = round(rate)
    return neurokit.ppg_findpeaks(neurokit.ppg_clean(X, rate), rate, **parameters)["PPG_Peaks"]


def heartpy(X, rate, **parameters):
    return tool("heartpy").process(X, rate, **parameters)[0]["peaklist"]


def barth(foot, X, rate, **parameters):
    """Starts of the strides of six axes, the sensor's frame turned into the foot's."""
    import pandas as pd

    data = {foot: pd.DataFrame(X, columns=["acc_x", "acc_y", "acc_z", "gyr_x", "gyr_y", "gyr_z"])}
    data = tool("gaitmap.utils.coordinate_conversion").convert_to_fbf(data, **{foot: [foot]})
    segmentation = tool("gaitmap.stride_segmentation").BarthDtw(**parameters)
    return segmentation.segment(data, rate).stride_list_[foot]["start"]


ECG = {
    "sktslib": ("sktslib", ours_by, {"lengths": (0.4, 1.4)}),
    "xqrs": ("wfdb", xqrs, {"hr_init": 90}),
    "neurokit": ("neurokit2", neurokit_ecg, {"method": "pantompkins1985"}),
}
PPG = {
    "sktslib": ("sktslib", ours_by, {"lengths": (0.4, 1.4)}),
    "heartpy": ("heartpy", heartpy, {"bpmmax": 120}),
    "neurokit": ("neurokit2", neurokit_ppg, {"method": "charlton"}),
}
GAIT = {"sktslib": ("sktslib", ours_by, {"lengths": (0.6, 3.0)})}


def hearts(folder):
    print("\nevents found, median interval, F1 where there are labels: defaults | one chosen parameter")
    example = load_ecg_example()
    beats = np.loadtxt(folder / "ecg_example" / "beats.csv", delimiter=",", skiprows=1, usecols=1).astype(int)
    compare("packaged ECG, 10 s", ECG, np.ravel(example.sequence).astype(float), 120, beats, 9)
    for record in RECORDS:
        stored = np.load(folder / f"ecg_mitbih{record}_annotated_360hz.npz")
        signal = stored["signal"][0] if "signal" in stored else stored["counts"] / float(stored["counts_per_mV"])
        X = signal[: MINUTES * 60 * 360].astype(float)
        beats = stored["beat_samples"][stored["beat_samples"] < len(X)]
        compare(f"record {record}, {MINUTES} min", ECG, X, 360, beats, 27)  # 75 ms


def pulses(folder):
    if tool("heartpy") is None:
        return print("heartpy is not installed: no PPG")
    files = Path(tool("heartpy").__file__).parent / "data"
    for name, column, rate in (("data", 0, 100.0), ("data2", 1, 117.0), ("data3", 1, 100.42)):
        X = np.genfromtxt(files / f"{name}.csv", delimiter=",", usecols=column, skip_header=column)
        compare(f"heartpy's {name}.csv, {len(X) / rate:.0f} s, no labels", PPG, X, rate)


def walks(folder):
    stored = np.load(folder / "gait_walk_205hz.npz")
    for foot in ("left", "right"):
        X, strides = stored[foot].T.astype(float), stored[f"strides_{foot}"].astype(int)
        tools = GAIT | {"BarthDtw": ("gaitmap_mad", partial(barth, foot), {"max_cost": 5.0})}
        compare(f"walk, {foot} foot, six axes", tools, X, 204.8, strides[:, 0], 30)
        compare(f"walk, {foot} foot, swing axis", GAIT, X[:, 4], 204.8, strides[:, 0], 30)
        for name, rows in (("swing axis", slice(4, 5)), ("six axes", slice(0, 6))):
            segments = QuerySegmenter(query="auto").fit(X[:, rows]).segment(X[:, rows])
            middle = (segments.start + segments.end) / 2
            met = sum(((s <= middle) & (middle < e)).any() for s, e in strides)
            before, after = (segments.end <= strides[0, 0]).sum(), (segments.start >= strides[-1, 1]).sum()
            print(f"   {name}: {met} of {len(strides)} labeled strides met, {before} before, {after} after")


def given_queries(folder):
    """A query of 0.25 s about the sixth R peak of each record, behind a running median, in the whole record."""
    print("\na given query of 0.25 s, defaults: found of true, F1")
    for record in RECORDS:
        stored = np.load(folder / f"ecg_mitbih{record}_annotated_360hz.npz")
        signal = stored["signal"][0] if "signal" in stored else stored["counts"] / float(stored["counts_per_mV"])
        beats = stored["beat_samples"]
        X = RunningBaseline(217).fit_transform(signal[:, np.newaxis].astype(float))
        start = QuerySegmenter().fit(X[beats[5] - 45 : beats[5] + 45]).segment(X).start
        print(f"   {record}: {len(start)} of {len(beats)}  F1 {f1_of(start, beats, 27):.4f}", flush=True)


def quakes(folder):
    """Copies of obspy's example event in noise as loud as it, by its first four seconds as the template."""
    if tool("obspy") is None:
        return print("obspy is not installed: no earthquakes")
    obspy = tool("obspy")
    event = obspy.read().filter("highpass", freq=5).slice(obspy.UTCDateTime("2009-08-24T00:20:07.73"))
    template = np.stack([trace.data[:400] for trace in event], axis=1)
    template = template / template.std()
    rng = np.random.default_rng(0)
    true = np.cumsum(rng.integers(1000, 3000, 20))
    X = rng.standard_normal((true[-1] + 3000, 3))
    for s in true:
        X[s : s + 400] += template

    def detector(X, rate, height=0.5):
        stream = event.copy()
        for k, trace in enumerate(stream):
            trace.data = np.ascontiguousarray(X[:, k])
        queries = event.copy()
        for k, trace in enumerate(queries):
            trace.data = np.ascontiguousarray(template[:, k])
        detect = tool("obspy.signal.cross_correlation").correlation_detector
        found = detect(stream, queries, height, 10)[0]
        return [round((one["time"] - stream[0].stats.starttime) * rate) for one in found]

    def by_query(X, rate, metric="adtw"):
        return QuerySegmenter(metric).fit(template).segment(X).start

    tools = {
        "sktslib": ("sktslib", by_query, {"metric": "dtw"}),
        "obspy": ("obspy", detector, {"height": 0.3}),
    }
    compare("obspy's example event 20 times in noise", tools, X, 100, true, 20)


def seconds(folder):
    X = np.concatenate(exercises(folder))[: 600 * RATE]
    ours(X)
    begin = perf_counter()
    ours(X)
    print(f"10 minutes at 50 Hz, six channels: {perf_counter() - begin:.2f} s")


def main(folder):
    for part in (count_exercises, hearts, pulses, walks, given_queries, quakes, seconds):
        part(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
