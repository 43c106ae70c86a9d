"""
Several queries and several recordings
======================================

Lists of arrays are lists of queries in ``fit`` and of recordings in ``search``. The matches say which query was found
in which recording.
"""

import matplotlib.pyplot as plt

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.distances import ADTW
from sktslib.utils.visualisation import plot_segmentation

ecg = load_ecg_example()
normal, ectopic = ecg.query, ecg.sequence[92:152]  # a normal beat, and the wide one at 0.9 s

# %%
# Each query is searched for on its own, so matches of different queries may overlap.

recordings = [ecg.sequence[:600], ecg.sequence[600:]]
searcher = QuerySearcher(ADTW(omega=0.1), n_matches=4, min_length=32).fit([normal, ectopic])
matches = searcher.search(recordings)
print(matches.to_frame().round(2).to_string())

# %%
# A segmentation decides between the queries: each stretch belongs to one of them, or to the background.

segments = QuerySegmenter(ADTW(omega=0.1)).fit([normal, ectopic]).segment(ecg.sequence, times=ecg.ts)
names = {1: "normal", 2: "ectopic"}
for (start, end, label, cost), time in zip(segments, segments.start_time, strict=True):
    beats = "".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)])
    print(f"{time:5.2f} s  {names[int(label)]:8s} cost {cost:5.2f}  by eye {beats}")

display = plot_segmentation(segments, ecg.sequence, ecg.ts)
display.ax_.set(xlabel="time (s)", ylabel="mV")
plt.show()
