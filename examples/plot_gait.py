"""
The strides of a walk
=====================

A sensor on the right foot recorded a walk of two times 20 metres. The query is the mean of four strides of the *left*
foot. Where does each stride begin and end?
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gait

from sktslib import QuerySegmenter
from sktslib.distances import ADTW
from sktslib.utils.visualisation import plot_segmentation

walk, stride, labelled, names = load_gait()
swing, query = walk[:, 4], stride[:, 4]  # the rate at which the foot swings
times = np.arange(len(swing)) / 102.4

# %%
# Dynamic time warping would let a stride swallow the standing before it, at no cost. Its amerced variant charges
# ``omega`` for each step that stretches, and the variance of the query is a good value of it.

segmenter = QuerySegmenter(ADTW(omega=query.var())).fit(query)
segments = segmenter.segment(swing, times=times)

display = plot_segmentation(segments, swing, times)
display.ax_.set(xlabel="time (s)", ylabel="swing (degrees/s)", title=f"{len(segments)} strides")

# %%
# By hand 30 strides were labelled; the first and the last step were not. How far are the borders apart?

nearest = [np.abs(segments.start - start).argmin() for start, _ in labelled]
apart = np.abs(segments.start[nearest] - labelled[:, 0]) / 102.4
print(f"{len(labelled)} labelled strides, the farthest start is {1000 * apart.max():.0f} ms away")

# %%
# Each stride can be laid over the query, so that the same phase of all of them is at the same place.

display = segments.plot_repetitions()
display.ax_.set_ylabel("swing (degrees/s)")

# %%
# The durations: a steady walk. The last strides are long, because they end in standing.

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(segments.start_time, segments.duration, "o-", markersize=4)
ax.set(xlabel="time (s)", ylabel="duration of the stride (s)", ylim=(0, None))
plt.show()
