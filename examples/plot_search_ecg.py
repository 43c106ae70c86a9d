"""
Finding heart beats
===================

One normal heart beat is the query; ten seconds of the same person's electrocardiogram are the sequence. They hold
twelve normal beats (N), four wide, ectopic ones (V) and one in between (F). Which are like the query?
"""

import matplotlib.pyplot as plt

from sktslib import QuerySearcher, load_ecg_example
from sktslib.utils.visualisation import plot_search_distance_result, plot_weight_query

ecg = load_ecg_example()

# %%
# The query carries weights: the spike in the middle (the QRS complex) counts four times as much as the flat parts
# around it.

plot_weight_query(ecg.tq, ecg.query, ecg.weight)

# %%
# Dynamic time warping lets each occurrence be a little longer or shorter than the query. We ask for the sixteen best,
# with the weights and without.

searcher = QuerySearcher(metric="dtw", n_matches=16)
plain = searcher.fit(ecg.query).search(ecg.sequence, times=ecg.ts)
weighted = searcher.fit(ecg.query, weight=ecg.weight).search(ecg.sequence, times=ecg.ts)


def beats_within(start, end):
    """Kinds of the beats whose R peak lies in the range; "-" for none."""
    return "".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)]) or "-"


for name, matches in (("weighted", weighted), ("unweighted", plain)):
    table = matches.to_frame().assign(beat=[beats_within(start, end) for start, end, _ in matches])
    print(name)
    print(table.round(3).to_string(), end="\n\n")

# %%
# Both find the twelve normal beats first: the tables' rows 0 to 11. The first ectopic beat, in row 12, is half as far
# again with the weights, and three times as far without. The weights look at the spike above all, and ectopic beats
# have one, too; what tells them apart here are the flat parts. So weights are a choice: they say what counts as alike,
# and do not make every search better.
#
# Row 14 without weights is no beat at all: asked for more than there is, a search lists what is left, far away. The
# parameter `threshold` ends that. No match is shorter than half of the query, unless `candidates` allows it.

figure, axes = plt.subplots(2, 1, figsize=(10, 5.4), sharex=True, layout="constrained")
for ax, matches, name in zip(axes, (weighted, plain), ("weighted", "unweighted"), strict=True):
    plot_search_distance_result(matches, ecg.sequence, ecg.ts, ax=ax)
    ax.set_title(f"{name}: sixteen best", loc="left")
    ax.set(xlabel="time (s)", ylabel="mV")
    ax.label_outer()

# %%
# A path says which point of the query met which point of the sequence. Point 22 of the query is its R peak, so its
# partners tell where the R peak of each match is: for all twelve at most one sample, 8 ms, from the peak found by eye.

normal = ecg.beats[ecg.beat_kinds == "N"]
for k in range(12):
    path = weighted.path(k)
    peaks = path[1][path[0] == 22]
    by_eye = normal[abs(normal - peaks[0]).argmin()]
    print(f"rank {k + 1:2d}: R peak at {', '.join(map(str, peaks))}, by eye at {by_eye}")

plt.show()
