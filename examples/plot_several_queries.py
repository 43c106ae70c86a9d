"""
Several queries and several recordings
======================================

A dict in ``fit`` holds queries by their names, a list of arrays in ``search`` several recordings. The matches say which
query was found in which recording.
"""

import matplotlib.pyplot as plt

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example

ecg = load_ecg_example()
queries = {"normal": ecg.query, "ectopic": ecg.sequence[92:152]}  # the wide beat at 0.9 s

# %%
# Each query is searched for on its own, so matches of different queries may overlap.

recordings = [ecg.sequence[:600], ecg.sequence[600:]]
searcher = QuerySearcher("twed", n_matches=4).fit(queries)
matches = searcher.search(recordings)
print(matches.to_frame().round(2).to_string())
matches[matches.sequence == 1].plot(title="the second recording")

# %%
# A segmentation decides between the queries: each stretch belongs to one of them, or to the background.

segments = QuerySegmenter("twed").fit(queries).segment(ecg.sequence, times=ecg.ts)
beats = ["".join(ecg.beat_kinds[(ecg.beats >= start) & (ecg.beats < end)]) for start, end, *_ in segments]
print(segments.to_frame()[["start_time", "label", "cost"]].assign(beat=beats).round(2).to_string())

display = segments.plot()
display.ax_.set(xlabel="time (s)", ylabel="mV")
plt.show()
