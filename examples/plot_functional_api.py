"""
Several distances at once
=========================

The functions take a dictionary of distances, so that one call searches with all of them. The dictionary is made from
names and is yours to edit.
"""

import matplotlib.pyplot as plt

from sktslib import get_distance_dict, load_ecg_example, time_series_search
from sktslib.distances.compute_distance import time_series_distance
from sktslib.utils.visualisation import plot_search_distance_result

ecg = load_ecg_example()
names = ["Dynamic Time Warping", "Longest Common Subsequence", "Time Warp Edit Distance", "Euclidean Distance"]
distances = get_distance_dict(names)

for group, entries in distances.items():
    for name, entry in entries.items():
        print(f"{group:8s}  {name:26s}  {entry['function']:9s}  {entry['parameters']}")

# %%
# Two values match in the longest common subsequence if they differ by at most ``eps``. The electrocardiogram is in mV,
# and of its normal beats only the spikes are more than 1 mV from the rest, so with the default of 1 nearly everything
# would match. The baseline drifts by one or two tenths; 0.3 mV lets that pass.

distances["elastic"]["Longest Common Subsequence"]["parameters"]["eps"] = 0.3

# %%
# Asked for twelve occurrences, every distance gives twelve, the best first.

result = time_series_search(
    distances, ecg.query, ecg.sequence, tq=ecg.tq, ts=ecg.ts, weight=ecg.weight, output=("number", 12)
)

for name, found in result.items():
    kinds = []
    for start, end in zip(found["start"], found["end"], strict=True):
        kinds.append("".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)]) or "-")
    print(
        f"{name:26s}  best from {found['start_time'][0]:.3f} s to {found['end_time'][0]:.3f} s, beats {' '.join(kinds)}"
    )

figure, axes = plt.subplots(4, 1, figsize=(10, 9), sharex=True, layout="constrained")
for ax, (name, found) in zip(axes, result.items(), strict=True):
    plot_search_distance_result(found, ecg.sequence, ecg.ts, ax=ax)
    ax.set_title(name, loc="left")
    ax.set(xlabel="time (s)", ylabel="mV")
    ax.label_outer()

# %%
# All four agree on the best occurrence's beat. Dynamic time warping finds the twelve normal beats (N). The others find
# eleven and put the one in between (F) last: the normal beats at 3.63 s and 4.16 s lie closer together than the query
# is long, so an occurrence of full length at the first leaves no room for one at the second. Dynamic time warping takes
# shorter ones, because it stretches without charge.
#
# Two series are compared by ``time_series_distance``, here the query with the best occurrence by Euclidean distance,
# which is as long as the query. It takes no weights, so the numbers differ from those of the search.

best = result["Euclidean Distance"]
window = slice(best["start"][0], best["end"][0])
print(
    time_series_distance(distances, ecg.query, ecg.sequence[window], tx=ecg.tq, ty=ecg.ts[window] - ecg.ts[window][0])
)
plt.show()
