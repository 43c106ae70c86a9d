"""
Kinds of heart beats by k-means
===============================

Ten seconds of an electrocardiogram hold normal beats (N), wide, ectopic ones (V) and one in between (F). Cut at the
R peaks, without their kinds, do the beats fall into these groups?
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import load_ecg_example
from sktslib.cluster import TimeSeriesKMeans

ecg = load_ecg_example()
inside = (ecg.beats >= 24) & (ecg.beats + 41 <= len(ecg.sequence))
peaks, kinds = ecg.beats[inside], ecg.beat_kinds[inside]
beats = np.array([ecg.sequence[peak - 24 : peak + 41] for peak in peaks])
beats -= beats.mean(axis=1, keepdims=True)
print(f"{len(beats)} beats: {''.join(kinds)}")

# %%
# Under dynamic time warping each center is the barycenter of its beats, so it is as sharp as they are. Of several
# starts the one is kept whose beats are nearest to their centers.

model = TimeSeriesKMeans(2, metric="dtw", metric_params={"window": 0.1}, n_init=3, random_state=0).fit(beats)
for cluster in range(2):
    print(f"cluster {cluster + 1}: {''.join(kinds[model.labels_ == cluster])}")

# %%
# The beats of each cluster, and its center over them.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
time = (np.arange(65) - 24) * (ecg.ts[1] - ecg.ts[0])
for cluster, ax in enumerate(axes):
    own = model.labels_ == cluster
    ax.plot(time, beats[own].T, color="0.75", linewidth=0.8)
    ax.plot(time, model.cluster_centers_[cluster], color=f"C{cluster}", linewidth=2)
    count = ", ".join(f"{(kinds[own] == kind).sum()} {kind}" for kind in "NVF" if (kinds[own] == kind).any())
    ax.set(title=f"cluster {cluster + 1}: {count}", xlabel="time from the R peak (s)")
axes[0].set_ylabel("mV")
plt.show()
