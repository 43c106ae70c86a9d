"""
The strides of a walk
=====================

A sensor on the right foot recorded a walk of two times 20 meters. The query is the mean of four strides of the *left*
foot. Where does each stride begin and end?
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gait

from sktslib import QuerySegmenter
from sktslib.utils.visualisation import EventsDisplay

walk, stride, labeled, names = load_gait()
swing, query = walk[:, 4], stride[:, 4]  # the rate at which the foot swings
times = np.arange(len(swing)) / 102.4

# %%
# Dynamic time warping would let a stride swallow the standing before it, at no cost. The default, its amerced variant,
# charges a price for each step that stretches, which follows from the variance of the query. Half of each stride is
# rest, so by default standing still would count as strides, too: with a lower cost of ``background`` it does not.

segmenter = QuerySegmenter(background=0.7 * query.var()).fit(query)
segments = segmenter.segment(swing, times=times)
print(f"{len(segments)} strides, omega = {segmenter.metric_.omega_:.0f}")

display = segments.plot()
display.ax_.set(xlabel="time (s)", ylabel="swing (degrees/s)")

# %%
# By hand 30 strides were labeled; the first step was not, nor the last one.

EventsDisplay.from_predictions(labeled, segments, swing, title="strides: labeled, and found")
nearest = [np.abs(segments.start - start).argmin() for start, _ in labeled]
apart = np.abs(segments.start[nearest] - labeled[:, 0]) / 102.4
print(f"of the {len(labeled)} labeled strides the farthest start is {1000 * apart.max():.0f} ms away")

# %%
# Each stride can be laid over the query, so that the same phase of all of them is at the same place.

display = segments.plot_repetitions()
display.ax_.set_ylabel("swing (degrees/s)")

# %%
# The same strides in the other channels: ``cut`` takes their samples out of any sequence that was recorded with the one
# that was segmented, and resamples them to one length.

pieces = segments.cut(walk, length=100)
print(pieces.shape)
figure, axes = plt.subplots(2, 3, figsize=(10, 5), sharex=True, layout="constrained")
for ax, name, values in zip(axes.flat, names, pieces.T, strict=True):
    ax.plot(values, color="0.8", linewidth=0.6)
    ax.plot(values.mean(axis=1), color="C0")
    ax.set(title=name)
for ax in axes[1]:
    ax.set_xlabel("share of the stride (%)")

# %%
# The durations: a steady walk.

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(segments.start_time, segments.duration, "o-", markersize=4)
ax.set(xlabel="time (s)", ylabel="duration of the stride (s)", ylim=(0, None))
plt.show()
