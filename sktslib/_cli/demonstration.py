"""The command demo: several distances compared on the packaged electrocardiogram."""

from textwrap import fill

import numpy as np

from . import output
from .recordings import FileRecording

# Of the points of the example's normal beats, aligned with the query by R peaks, 97 % are within 0.3 mV of it, but
# only 67 % within 0.1 mV, because the baseline drifts. The R peak has 1.7 mV, so 0.3 mV cannot match another wave.
METRICS = {"dtw": None, "lcss": {"eps": 0.3}, "twed": None, "euclidean": None}
SEGMENTS = "twed"  # the distance that segments the recording
COUNT = 12  # number of normal beats
BEATS = "R peak (s), kind"  # name of a column
COLORS = "Colored: the occurrences, numbered from the best, which has the smallest distance. Shaded: the repetitions."


def run(options):
    """Search, write the picture and the tables, and print what was found; returns the exit code."""
    from ..datasets import load_ecg_example
    from ..distances import get_metric
    from ..search import QuerySearcher, QuerySegmenter

    if not options.no_picture:
        output.check_picture(options.output, "--output")
    output.note("searching the packaged electrocardiogram, in mV and s")
    output.note("the first run compiles kernels (once), which takes some seconds ...")
    ecg = load_ecg_example()
    metrics = {name: get_metric(name, parameters) for name, parameters in METRICS.items()}
    query, times = {"weight": ecg.weight, "times": ecg.tq}, {"times": ecg.ts}
    tables, panels = {}, {}
    for name, metric in metrics.items():
        found = QuerySearcher(metric, n_matches=COUNT).fit(ecg.query, **query).search(ecg.sequence, **times)
        panels[f"{name}: {metric.full_name}"] = found
        tables[f"{metric.full_name}, {metric!r}: {output.counted(found, 'occurrence')}, best first"] = found
    segments = QuerySegmenter(metrics[SEGMENTS]).fit(ecg.query, **query).segment(ecg.sequence, **times)
    panels[f"segmentation by {SEGMENTS}"] = segments
    tables[f"Segmentation by {SEGMENTS}: {output.counted(segments, 'repetition')} in order of time"] = segments
    peaks = output.write_times(ecg.ts[ecg.beats], output.decimals_between(ecg.ts))
    beats = np.array([f"{time} {kind}" for time, kind in zip(peaks, ecg.beat_kinds, strict=True)])
    frames = [_frame(one, ecg.beats, beats) for one in tables.values()]
    text = [COLORS, _summary([*metrics, f"segmentation by {SEGMENTS}"], frames)]

    # The picture comes first, so that it exists even if only the head of the tables is read.
    if not options.no_picture:
        from . import pictures

        about = {"names": ["mV"], "time_name": "time (s)"}
        title = "query and the weights of its points"
        drawn = [FileRecording(ecg.query, ecg.tq, path=title, weight=ecg.weight, **about)]
        sequence, marks = FileRecording(ecg.sequence, ecg.ts, **about), (ecg.beats, ecg.beat_kinds.tolist())
        pictures.draw(drawn, sequence, panels, marks=marks).savefig(options.output)
    for title, frame in zip(tables, frames, strict=True):
        print(title, *output.lines_of(frame, ecg.ts), "", sep="\n")
    print("\n".join(fill(line, 120) for line in text))
    if not options.no_picture:
        print(f"picture: {options.output}")
    return 0


def _frame(found, peaks, beats):
    """Return a table of `Matches` or `Segments` with the known beats whose R peaks are in each range."""
    held = [", ".join(beats[(peaks >= s) & (peaks < e)]) or "-" for s, e in zip(found.start, found.end, strict=True)]
    frame = output.ranges_frame(found).drop(columns=["label", "stretch", "duration"], errors="ignore")
    return frame.assign(**{BEATS: held})


def _summary(names, frames):
    """Return a line that says which kinds of beats each distance found."""
    held = []
    for name, frame in zip(names, frames, strict=True):
        kinds = [beat[-1] for beat in frame[BEATS]]
        counts = [f"{kinds.count(key)} {key.replace('-', 'without a beat')}" for key in "NFV-" if key in kinds]
        held.append(f"{name} {', '.join(counts)}")
    return f"Beats: N normal, like the query; V wide and ectopic; F in between. Found: {'; '.join(held)}."
