"""
Samples as they arrive
======================

A recorder hands over a few samples at a time. `stream()` of a fitted searcher takes them, and reports a match as soon
as nothing that may still come can change it.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, load_ecg_example
from sktslib.distances import ADTW

ecg = load_ecg_example()
searcher = QuerySearcher(ADTW(omega=0.1), threshold=4.0, n_matches=None, min_length=32)
searcher.fit(ecg.query)

# %%
# With ``max_delay`` a match is decided at the latest so many samples after its end, here one second.

stream = searcher.stream(max_delay=120)
found = []
for first in range(0, len(ecg.sequence), 12):  # a tenth of a second
    for start, end, distance in stream.update(ecg.sequence[first : first + 12]):
        found.append((start, end, distance, first + 12))
found += [(start, end, distance, len(ecg.sequence)) for start, end, distance in stream.flush()]
found.sort()

for start, end, distance, known in found:
    print(f"{start / 120:5.2f} to {end / 120:5.2f} s  distance {distance:.2f}  known {(known - end) / 120:.2f} s later")

# %%
# Each bar is a match, and each dot is the moment at which it was known.

figure, ax = plt.subplots(figsize=(10, 3.5), layout="constrained")
ax.plot(ecg.ts, ecg.sequence, color="0.3", linewidth=0.8)
for start, end, _, known in found:
    ax.hlines(1.9, start / 120, end / 120, color="C0", linewidth=5)
    ax.plot([end / 120, known / 120], [1.9, 1.9], "--", color="C1", linewidth=1)
    ax.plot(known / 120, 1.9, "o", color="C1", markersize=4)
ax.set(xlabel="time (s)", ylabel="mV", title="matches, and when they were known")

# %%
# Without ``max_delay`` the matches are those of a search in the whole recording, to the bit, whatever the chunks.

stream = searcher.stream()
chunks = np.array_split(ecg.sequence, 7)
starts = [start for chunk in chunks for start, *_ in stream.update(chunk)] + [start for start, *_ in stream.flush()]
print(sorted(starts) == sorted(searcher.search(ecg.sequence).start))
plt.show()
