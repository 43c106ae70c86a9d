"""
Finding heart beats
===================

One normal heart beat is the query; ten seconds of the same person's electrocardiogram are the sequence. The sequence
holds normal beats and a few wide, ectopic ones. Which are like the query?
"""

import matplotlib.pyplot as plt

from sktslib import QuerySearcher, load_ecg_example
from sktslib.utils.visualisation import plot_alignment, plot_search_distance_result, plot_weight_query

ecg = load_ecg_example()

# %%
# The query carries weights: the spike in the middle (the QRS complex) counts more than the flat parts around it.

plot_weight_query(ecg.tq, ecg.query, ecg.weight)

# %%
# Dynamic time warping lets each occurrence be a little longer or shorter than the query. We ask for twelve.

searcher = QuerySearcher(metric="dtw", n_matches=12).fit(ecg.query, weight=ecg.weight)
matches = searcher.search(ecg.sequence, times=ecg.ts)
plot_search_distance_result(matches, ecg.sequence, ecg.ts)

# %%
# They are listed with the best first, as half-open ranges of samples, and with times because we gave some.

print(matches.to_frame().round(4).to_string(index=False))

# %%
# A path says which point of the query met which point of the sequence. Point 22 of the query is its R peak, so its
# partners tell where the R peak of each match is.

r_peaks = sorted(int(path[1][path[0] == 22][0]) for path in map(matches.path, range(len(matches))))
normal = ecg.beats[ecg.beat_kinds == "N"].tolist()
print("found ", r_peaks)
print("by eye", normal)

plot_alignment(ecg.query, ecg.sequence, matches.path(0), tx=ecg.tq, ty=ecg.ts)
plt.show()
