"""
How near is near enough?
========================

Three ways to a threshold: look at the step in the distances, take a share of the profile, or learn it from labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, load_ecg_example
from sktslib.metrics import labels_from_events
from sktslib.search import Percentile
from sktslib.utils.visualisation import ProfileDisplay

ecg = load_ecg_example()
searcher = QuerySearcher("euclidean", normalize="zscore", n_matches=17, max_overlap=0.1).fit(ecg.query)


def kinds(matches):
    """The classes of the beats that are found, the best first."""
    return "".join(
        "".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)]) or "-" for start, end, _ in matches
    )


# %%
# **Look.** The beats are 17, so we ask for as many. Sorted, their distances show a step.

matches = searcher.search(ecg.sequence)
print(kinds(matches))
step = int(np.diff(matches.distance).argmax())
threshold = matches.distance[step : step + 2].mean()

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(range(1, len(matches) + 1), matches.distance, "o-")
for rank, (distance, kind) in enumerate(zip(matches.distance, kinds(matches), strict=True), 1):
    ax.annotate(kind, (rank, distance), textcoords="offset points", xytext=(0, 6), ha="center")
ax.axhline(threshold, color="C3", linestyle="--", label=f"threshold {threshold:.1f}")
ax.set(xlabel="rank of the match", ylabel="distance", ylim=(0, 10.5))
ax.legend()

# %%
# **A share of the profile.** ``Percentile`` needs no scale: only the nearest one percent of all positions may be
# chosen. It takes whatever is there, also in a recording without any occurrence.

share = QuerySearcher("euclidean", normalize="zscore", threshold=Percentile(1.0)).fit(ecg.query)
print(kinds(share.search(ecg.sequence)))

# %%
# **Labels.** The normal beats of the first five seconds are marked. `fit` learns the query and its threshold, midway
# between the last match that counts and the next.

peaks = ecg.beats[ecg.beat_kinds == "N"]
labels = labels_from_events(np.column_stack([peaks - 20, peaks + 35]).clip(0), n_samples=len(ecg.sequence))
learned = QuerySearcher("euclidean", normalize="zscore", max_overlap=0.1)
learned.fit(ecg.sequence[:600, np.newaxis], labels[:600])
matches = learned.search(ecg.sequence[600:])
print(f"{len(matches)} matches in the other half, which holds {(peaks >= 600).sum()} normal beats")

# %%
# The profile of that half: the distance of each window stands at its start, and the matches are its lowest points below
# the threshold.

ProfileDisplay.from_estimator(learned, ecg.sequence[600:], times=ecg.ts[600:])
plt.show()
