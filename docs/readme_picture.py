"""Draw `docs/readme.png`, the picture of README.md and of the first page.

    python docs/readme_picture.py

One normal heart beat is searched for in ten seconds of an electrocardiogram, and all beats are found by classes that
were learned from the first five seconds.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.metrics import labels_from_events

COLORS = {"N": "C0", "V": "C3", "F": "C2"}


def main(file):
    """Draw it."""
    ecg, half = load_ecg_example(), 600
    searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, max_overlap=0.1)
    matches = searcher.fit(ecg.query).search(ecg.sequence, times=ecg.ts)
    around = np.column_stack([ecg.beats - 12, ecg.beats + 18]).clip(0)
    labels = labels_from_events(around, ecg.beat_kinds, n_samples=len(ecg.sequence))
    segmenter = QuerySegmenter().fit(ecg.sequence[:half, np.newaxis], labels[:half])
    segments = segmenter.segment(ecg.sequence, times=ecg.ts)

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    (query, found), (_, cut) = axes = figure.subplots(2, 2, width_ratios=(1, 5), sharey=True)
    axes[1, 0].set_axis_off()
    query.plot(ecg.tq, ecg.query, color="C1")
    query.set(title="query", xlabel="time (s)", ylabel="mV")
    for ax in (found, cut):
        ax.plot(ecg.ts, ecg.sequence, color="0.25", linewidth=0.8)
        ax.margins(x=0)
        ax.set(ylabel="mV", ylim=(-1.3, 2.9))
        ax.tick_params(labelleft=True)
    for start, end in zip(matches.start_time, matches.end_time, strict=True):
        found.axvspan(start, end, facecolor="C1", edgecolor="white", alpha=0.3, linewidth=1)
    found.set(title=f"search: the {len(matches)} beats within a distance of 3")
    for start, end, label in zip(segments.start_time, segments.end_time, segments.label, strict=True):
        cut.axvspan(start, end, color=COLORS[str(label)], alpha=0.25, linewidth=0)
        cut.text((start + end) / 2, 2.45, str(label), ha="center", color=COLORS[str(label)])
    cut.axvline(half / 120, color="0.25", linestyle="--", linewidth=1)
    cut.set(title="segmentation: classes of beats, learned from the part before the dashed line", xlabel="time (s)")
    figure.savefig(file, dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(__file__).with_name("readme.png"))
