"""Strides of a walk by segmentation: the query is the left foot's mean stride, the recording the right foot.

    python benchmarks/segmentation_gait.py FOLDER       # holds gait_walk_205hz.npz; or $SKTSLIB_DATA

The recording is as it was measured: no scaling, no filter. Found strides and labeled ones pair off where they share at
least half of what they cover together; a stride is false if it lies within the labeled part and has no partner. The
data: example of gaitmap (MIT license), MaD-Lab Erlangen.

The feet are mirror images: of the six channels those across the direction of walking (acc_y, gyr_x, gyr_z) have the
other sign in the right foot. A constant signal explains them better there than the left foot's template does, and
dynamic time warping, which stretches without charge, would rather dwell on points of the query that are like a constant
signal. So it pays to charge for stretching: amerced dynamic time warping, the default, in which a step that stretches
costs a little more than a sample of background. "mirrored" turns the signs, as gait software does; "channels" lets each
stride find them.

Then the same of a segmenter with metric="auto" that learned from the labels of the whole left foot, standing included;
"elsewhere" are repetitions outside of the labeled part of the right foot, where there are standing and the first and
last steps. The turn of the left foot carries no labels: once it counts as background, once its samples are missing.
"""

import os
import sys
from pathlib import Path
from time import process_time

import numpy as np

from sktslib import QuerySegmenter
from sktslib.metrics import labels_from_events

SIDEWAYS = (1, 3, 5)


def rate(segments, strides, fs):
    """Strides found, false ones among the labeled, mean distance of the borders in milliseconds."""
    apart, taken = [], set()
    for a, b in strides:
        common = np.minimum(segments.end, b) - np.maximum(segments.start, a)
        share = common / (np.maximum(segments.end, b) - np.minimum(segments.start, a))
        k = int(np.argmax(share))
        if share[k] >= 0.5 and k not in taken:
            taken.add(k)
            apart += [abs(segments.start[k] - a), abs(segments.end[k] - b)]
    within = (segments.end > strides[0, 0]) & (segments.start < strides[-1, 1])
    return len(taken), int(within.sum()) - len(taken), float(np.mean(apart)) / fs * 1000 if apart else np.nan


def main(folder):
    """Print the table."""
    data = np.load(folder / "gait_walk_205hz.npz")
    walk, template, strides = data["right"].T.astype(float), data["template"].T, data["strides_right"]
    mirrored = walk.copy()
    mirrored[:, SIDEWAYS] *= -1
    fs = 204.8
    print("| channels | metric | max_length | strides found | false | borders | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, y, query, polarity in (
        ("swing axis", walk[:, 4], template[:, 4], "same"),
        ("six", walk, template, "same"),
        ("six, mirrored", mirrored, template, "same"),
        ("six, polarity='channels'", walk, template, "channels"),
    ):
        for metric in ("adtw", "dtw"):
            for longest in (None, 2 * len(query)):
                segmenter = QuerySegmenter(metric, lengths=(None, longest), polarity=polarity).fit(query)
                begin = process_time()
                segments = segmenter.segment(y)
                seconds = process_time() - begin
                found, false, apart = rate(segments, strides, fs)
                count = f"{found} of {len(strides)}"
                print(f"| {name} | {metric} | {longest} | {count} | {false} | {apart:.1f} ms | {seconds:.2f} |")
    learned(data, walk, strides, fs)


def learned(data, walk, strides, fs):
    """Print the table of what was chosen by the labels of the left foot, and what it finds in the right one."""
    left, marks = data["left"].T.astype(float)[:, [4]], data["strides_left"]
    y = labels_from_events(marks, n_samples=len(left))
    gap = int(np.argmax(marks[1:, 0] - marks[:-1, 1]))
    without = left.copy()
    without[marks[gap, 1] : marks[gap + 1, 0]] = np.nan
    for name, X in (("background", left), ("missing", without)):
        found = QuerySegmenter("auto", nan_policy="omit").fit(X, y)
        segments = found.segment(walk[:, [4]])
        right, false, apart = rate(segments, strides, fs)
        elsewhere = len(segments) - right - false
        counts = f"{right} of {len(strides)}, {false} false, {elsewhere} elsewhere"
        print(f"\nThe turn is {name}: {counts}, {apart:.1f} ms\n")
        print("| metric | omega | mean_test_score | mean_margin | rank_test_score |")
        print("| --- | --- | --- | --- | --- |")
        rows = (found.cv_results_[key] for key in ("metric", "omega", "mean_test_score", "mean_margin"))
        for *row, rank in zip(*rows, found.cv_results_["rank_test_score"], strict=True):
            print("| {} | {:.4g} | {:.3f} | {:.2f} |".format(*row), rank, "|")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKTSLIB_DATA"]))
