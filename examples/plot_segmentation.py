"""
Cutting a recording into repetitions
====================================

A segmentation covers a whole recording with repetitions of a query and background, and takes the cheapest of all such
tilings.
"""

import matplotlib.pyplot as plt

from sktslib import QuerySegmenter, get_distance_dict, load_ecg_example, time_series_segmentation
from sktslib.utils.visualisation import plot_segmentation

ecg = load_ecg_example()

# %%
# The estimator fits one query, here a normal heart beat, and cuts any number of recordings. With the time warp edit
# distance the repetitions are the normal beats and the one in between; the wide, ectopic beats are left to the
# background. This distance compares times, so it is given those of the query and of the recording.

segmenter = QuerySegmenter(metric="twed").fit(ecg.query, weight=ecg.weight, times=ecg.tq)
segments = segmenter.segment(ecg.sequence, times=ecg.ts)
print(segments.to_frame().round(3).to_string(index=False))
for start, end, _, _ in segments:
    inside = (ecg.beats >= start) & (ecg.beats < end)
    print(start, end, "holds", ", ".join(ecg.beat_kinds[inside]))

plot_segmentation(segments, ecg.sequence, ecg.ts)

# %%
# The function does it for several distances at once and gives the boundaries. Under a lockstep distance every
# repetition has the query's length. Dynamic time warping stretches without charge and finds a way to explain most of
# the recording by the query, which is seldom what one wants where other patterns are about.

distances = get_distance_dict(["Time Warp Edit Distance", "Euclidean Distance", "Dynamic Time Warping"])
boundaries = time_series_segmentation(distances, ecg.query, ecg.sequence, tq=ecg.tq, ts=ecg.ts, weight=ecg.weight)
plot_segmentation(boundaries, ecg.sequence, ecg.ts)
plt.show()
