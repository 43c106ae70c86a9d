"""
Kinds of strides by k-means
===========================

A walk of two times 20 meters has a turn in its middle. The strides are cut by a segmenter that knows one mean stride of
the other foot. Do they fall into groups, without anyone saying what a turn is?
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gait

from sktslib import QuerySegmenter
from sktslib.cluster import TimeSeriesKMeans

walk, stride, labeled, names = load_gait()
segmenter = QuerySegmenter(background=0.7 * stride[:, 4].var()).fit(stride[:, 4])
segments = segmenter.segment(walk[:, 4])  # the rate at which the foot swings
strides = [walk[start:end] for start, end in zip(segments.start, segments.end, strict=True)]
print(f"{len(strides)} strides of {min(map(len, strides))} to {max(map(len, strides))} samples")

# %%
# Strides have different lengths, and k-means takes them as they are. The three rates of turning say where a foot goes.
# Each is divided by its standard deviation, so that the swing does not outweigh the others.

rates = walk[:, 3:]
turning = [x[:, 3:] / rates.std(axis=0) for x in strides]
model = TimeSeriesKMeans(3, metric="dtw", metric_params={"window": 0.1}, n_init=3, random_state=0).fit(turning)
order = np.argsort(np.bincount(model.labels_))[::-1]  # the largest cluster first
labels = np.argsort(order)[model.labels_]
print("cluster of each stride:", " ".join(map(str, labels + 1)))

# %%
# The strides of each cluster at one length, and its center, the barycenter of the strides, over them.

share = np.linspace(0, 100, 100)


def at_one_length(x):
    return np.interp(share, np.linspace(0, 100, len(x)), x)


figure, axes = plt.subplots(3, 3, figsize=(10, 7), sharex=True, sharey="col", layout="constrained")
for cluster, row in enumerate(axes):
    for channel, ax in enumerate(row):
        scale = rates.std(axis=0)[channel]
        for k in np.flatnonzero(labels == cluster):
            ax.plot(share, scale * at_one_length(turning[k][:, channel]), color="0.75", linewidth=0.7)
        center = model.cluster_centers_[order[cluster]][:, channel]
        ax.plot(share, scale * at_one_length(center), color=f"C{cluster}", linewidth=2)
        ax.set_title(f"cluster {cluster + 1}, strides: {(labels == cluster).sum()}, {names[3 + channel]}", fontsize=9)
for ax in axes[-1]:
    ax.set_xlabel("share of the stride (%)")
for ax in axes[:, 0]:
    ax.set_ylabel("degrees/s")

# %%
# Where they lie in the walk: most are steady walking; the turn is a cluster by itself, and the first stride, the last
# one and those beside the turn are the third.

figure, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
ax.plot(np.arange(len(walk)) / 102.4, walk[:, 4], color="0.7", linewidth=0.6)
for start, end, cluster in zip(segments.start, segments.end, labels, strict=True):
    ax.axvspan(start / 102.4, end / 102.4, color=f"C{cluster}", alpha=0.3, linewidth=0)
ax.set(xlabel="time (s)", ylabel="swing (degrees/s)")
plt.show()
