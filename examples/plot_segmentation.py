"""
Cutting a recording into repetitions
====================================

A segmentation covers a whole recording with repetitions of a query and background, and takes the cheapest of all such
segmentations. The recording holds twelve normal heart beats (N), four wide, ectopic ones (V) and one in between (F).
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySegmenter, get_distance_dict, load_ecg_example, time_series_segmentation
from sktslib.metrics import labels_from_events
from sktslib.utils.visualisation import plot_segmentation

ecg = load_ecg_example()

# %%
# The estimator fits one query, here a normal heart beat, and cuts any number of recordings. The time warp edit distance
# compares times, so it is given those of the query and of the recording.

segmenter = QuerySegmenter(metric="twed").fit(ecg.query, weight=ecg.weight, times=ecg.tq)
segments = segmenter.segment(ecg.sequence, times=ecg.ts)

beats = ["".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)]) for start, end, _, _ in segments]
print(segments.to_frame().assign(beat=beats).round(3).to_string())

# %%
# The repetitions are the twelve normal beats and the one in between, which costs the most. The wide, ectopic beats are
# left to the background, white in the picture: as repetitions they would cost more.

display = segments.plot()
display.ax_.set(xlabel="time (s)", ylabel="mV")

# %%
# Labels teach it all three kinds. A range about each R peak is marked; of each kind the average is learned, and how
# much a stretch must differ from rest to be a beat.

around = np.column_stack([ecg.beats - 12, ecg.beats + 18]).clip(0)
labels = labels_from_events(around, ecg.beat_kinds, n_samples=len(ecg.sequence))
learned = QuerySegmenter().fit(ecg.sequence[:, np.newaxis], labels)
segments = learned.segment(ecg.sequence, times=ecg.ts)

display = segments.plot()
display.ax_.set(xlabel="time (s)", ylabel="mV")
print(segments.summary().round(3).T.to_string())

# %%
# Every repetition can be laid over its query, point by point: here the normal beats, the query of which is the second.

display = segments.plot_repetitions(query=1)
display.ax_.set_ylabel("mV")

# %%
# The function does it for several distances at once and gives the boundaries, where repetitions start or end.

distances = get_distance_dict(["Time Warp Edit Distance", "Euclidean Distance", "Dynamic Time Warping"])
boundaries = time_series_segmentation(distances, ecg.query, ecg.sequence, tq=ecg.tq, ts=ecg.ts, weight=ecg.weight)
for name, cuts in boundaries.items():
    print(f"{name:24s}", *cuts)

display = plot_segmentation(boundaries, ecg.sequence, ecg.ts)
for ax in display.axes_:
    ax.set_ylabel("mV")
display.axes_[-1].set_xlabel("time (s)")

# %%
# Under the Euclidean distance every repetition has the query's length of 65 samples. The beats at 3.63 s and 4.16 s lie
# closer together, so the second of them cannot be one. Dynamic time warping stretches without charge and finds a way to
# explain most of the recording by the query, with cuts right through some spikes. That is seldom what one wants where
# other patterns are about.

plt.show()
