"""
Classes of beats, learned from labels
=====================================

The beats of the first five seconds were labeled by eye. `fit` learns from them what each class looks like, how far it
may vary, and what the background is; then it finds the beats of the other five.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySegmenter, load_ecg_example
from sktslib.metrics import labels_from_events
from sktslib.search import Learning
from sktslib.utils.visualisation import EventsDisplay

ecg = load_ecg_example()
half = 600

# %%
# A short range about each R peak is marked, and nothing else: what is not marked counts as background. ``Learning``
# says how queries are learned: here one for each class.

around = np.column_stack([ecg.beats - 12, ecg.beats + 18]).clip(0)
labels = labels_from_events(around, ecg.beat_kinds, n_samples=len(ecg.sequence))
segmenter = QuerySegmenter(learning=Learning(n_templates=1)).fit(ecg.sequence[:half, np.newaxis], labels[:half])
print(segmenter.classes_)

# %%
# One query was learned for each class. The band is what its points count: where the occurrences differ, they count
# less.

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True, layout="constrained")
for ax, name, query, weight in zip(axes, segmenter.classes_, segmenter.queries_, segmenter.weights_, strict=True):
    ax.plot(query, color="C0")
    w = np.ones(len(query)) if weight is None else np.asarray(weight)[:, 0]
    ax.fill_between(range(len(query)), query[:, 0] - 0.3 * w, query[:, 0] + 0.3 * w, alpha=0.2)
    ax.set(title=f"class {name}", xlabel="sample")
axes[0].set_ylabel("mV")

# %%
# The whole recording, of which the right half is new to it:

segments = segmenter.segment(ecg.sequence, times=ecg.ts)
print("found: ", "".join(segments.label))
print("by eye:", "".join(ecg.beat_kinds))
display = segments.plot()
display.ax_.axvline(half / 120, color="0.2", linestyle="--")
display.ax_.set(xlabel="time (s)", ylabel="mV")

# %%
# How well do the ranges of the right half agree with the labels?

EventsDisplay.from_estimator(segmenter, ecg.sequence[half:], labels[half:], times=ecg.ts[half:], title="the right half")
plt.show()
