"""
The average of many repetitions
===============================

Averaged sample by sample, beats that are shifted blur. A barycenter is the series with the smallest mean distance to
all of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import load_ecg_example
from sktslib.distances import DTW, SoftDTW, barycenter

ecg = load_ecg_example()
generator = np.random.default_rng(0)
peaks = ecg.beats[ecg.beat_kinds == "N"]
shift = generator.integers(-6, 7, len(peaks))  # as if the beats had been cut carelessly
starts = np.clip(peaks - 24 + shift, 0, len(ecg.sequence) - 65)
beats = np.array([ecg.sequence[start : start + 65] for start in starts])
beats -= beats.mean(axis=1, keepdims=True)

averages = {
    "mean of the samples": beats.mean(axis=0),
    "dba under dtw": barycenter(beats, DTW()).ravel(),
    "dba under msm": barycenter(beats, "msm").ravel(),
    "soft dtw": barycenter(beats, SoftDTW(gamma=0.1), method="soft").ravel(),
}

figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="constrained")
for ax, (name, average) in zip(axes, averages.items(), strict=True):
    ax.plot(beats.T, color="0.8", linewidth=0.6)
    ax.plot(average, color="C3")
    distance = np.mean([DTW()(average, beat) for beat in beats])
    ax.set(title=name, xlabel=f"sample\nmean dtw distance {distance:.2f}")
axes[0].set_ylabel("mV")
plt.show()
