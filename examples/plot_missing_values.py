"""
Missing values
==============

A sensor lost contact three times. With ``nan_policy="omit"`` what is missing does not count, and what is left is
searched.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example

ecg = load_ecg_example()
recording = ecg.sequence.copy()
for start, end in ((185, 205), (450, 560), (700, 703)):
    recording[start:end] = np.nan

# %%
# By default missing values are an error, which says where they are.

try:
    QuerySearcher("euclidean", n_matches=12).fit(ecg.query).search(recording)
except ValueError as error:
    print(error)

# %%
# A search by windows under a lockstep distance compares what is observed of a window, if that is at least half. So a
# beat with 20 missing samples is found, one with 29 as well, but none within the long gap.

searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, nan_policy="omit")
matches = searcher.fit(ecg.query).search(recording, times=ecg.ts)
for start, end, distance in matches.sorted():
    print(f"{start:4d} to {end:4d}: distance {distance:.2f}, {np.isnan(recording[start:end]).sum()} samples missing")

matches.plot()

# %%
# In a segmentation a missing sample is background, and no repetition crosses it. ``partial=True`` allows repetitions
# that a gap cuts off; they are hatched.

segmenter = QuerySegmenter(nan_policy="omit", partial=True).fit(ecg.query)
segments = segmenter.segment(recording, times=ecg.ts)
print(segments.to_frame()[["start", "end", "cost", "partial"]].round(2).to_string())
segments.plot()
plt.show()
