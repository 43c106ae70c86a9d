"""
What repeats, and what does not
===============================

No query, no labels: which two stretches of a recording are most alike, and which one is like no other? The first are
called a motif, the last a discord. Here they are sought in ten seconds of an electrocardiogram with twelve normal beats
(N), four wide, ectopic ones (V) and one in between (F).
"""

import matplotlib.pyplot as plt

from sktslib import load_ecg_example
from sktslib.search import discords, motifs

ecg = load_ecg_example()
length = 65  # samples, half a second: about one beat

# %%
# All pairs of windows are compared, each normalized by its own mean and deviation. Two entries with the same `query`
# are the two windows of a motif.

pairs = motifs(ecg.sequence, length, n=2, times=ecg.ts)
alone = discords(ecg.sequence, length, times=ecg.ts)


def beats_within(found):
    """Kinds of the beats whose R peak lies in each range; "-" for none."""
    within = [(ecg.beats >= one.start) & (ecg.beats < one.end) for one in found]
    return ["".join(ecg.beat_kinds[some]) or "-" for some in within]


print(pairs.to_frame().assign(beat=beats_within(pairs)).round(3).to_string())
print(alone.to_frame().assign(beat=beats_within(alone)).round(3).to_string())

# %%
# Every distance can be compared: here dynamic time warping, within a band of a tenth of the window. By both the two
# motifs are a pair of ectopic beats and one of normal beats, and the discord is the pause behind an ectopic beat, which
# no other stretch is like. The distances themselves are not to be compared: that of warping is a sum of squares.

band = {"metric": "dtw", "metric_params": {"window": 0.1}, "times": ecg.ts}
warped_pairs, warped_alone = motifs(ecg.sequence, length, n=2, **band), discords(ecg.sequence, length, **band)
print(warped_pairs.to_frame().assign(beat=beats_within(warped_pairs)).round(3).to_string())
print(warped_alone.to_frame().assign(beat=beats_within(warped_alone)).round(3).to_string())

# %%
# The windows in the recording, with the kinds of its beats.

figure, axes = plt.subplots(2, 1, figsize=(10, 5.4), sharex=True, layout="constrained")
both = ("Euclidean distance", pairs, alone), ("dynamic time warping", warped_pairs, warped_alone)
for ax, (name, motif, discord) in zip(axes, both, strict=True):
    ax.plot(ecg.ts, ecg.sequence, color="0.3", linewidth=0.8)
    for one, number in zip(motif, motif.query, strict=True):
        label = f"motif {number + 1}" if one.start == motif.start[2 * number] else None
        ax.axvspan(ecg.ts[one.start], ecg.ts[one.end - 1], color=f"C{number}", alpha=0.3, linewidth=0, label=label)
    for one in discord:
        ax.axvspan(ecg.ts[one.start], ecg.ts[one.end - 1], color="C3", alpha=0.3, linewidth=0, label="discord")
    for at, kind in zip(ecg.beats, ecg.beat_kinds, strict=True):
        ax.annotate(kind, (ecg.ts[at], 1), xycoords=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)
    ax.set_title(name, loc="left", pad=14)
    ax.set(ylabel="mV")
axes[0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
axes[1].set_xlabel("time (s)")
plt.show()
