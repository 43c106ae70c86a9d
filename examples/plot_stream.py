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
searcher = QuerySearcher(ADTW(omega=0.1), threshold=4.0).fit(ecg.query)

# %%
# With ``max_delay`` a match is decided at the latest so many samples after its end, here one second.

stream = searcher.stream(max_delay=120)
found = []
for first in range(0, len(ecg.sequence), 12):  # a tenth of a second
    for start, end, distance in stream.update(ecg.sequence[first : first + 12]):
        found.append((start, end, distance, first + 12))
found += [(start, end, distance, len(ecg.sequence)) for start, end, distance in stream.flush()]

for start, end, distance, known in found:
    print(f"{start / 120:5.2f} to {end / 120:5.2f} s  distance {distance:.2f}  known {(known - end) / 120:.2f} s later")

# %%
# Below the recording, each bar is a match, and the dot is the moment at which it was known.

figure, (top, below) = plt.subplots(2, 1, figsize=(10, 5), sharex=True, layout="constrained")
top.plot(ecg.ts, ecg.sequence, color="0.3", linewidth=0.8)
top.set_ylabel("mV")
for row, (start, end, _, known) in enumerate(found):
    below.hlines(row, start / 120, end / 120, color="C0", linewidth=6)
    below.plot([end / 120, known / 120], [row, row], "--", color="C1", linewidth=1)
    below.plot(known / 120, row, "o", color="C1", markersize=5)
below.invert_yaxis()
below.set(xlabel="time (s)", ylabel="match", title="matches, and when they were known")

# %%
# Without ``max_delay`` the matches are those of a search in the whole recording, to the bit, whatever the chunks. They
# come in order of time.

stream = searcher.stream()
chunks = np.array_split(ecg.sequence, 7)
starts = [start for chunk in chunks for start, *_ in stream.update(chunk)] + [start for start, *_ in stream.flush()]
print(starts == searcher.search(ecg.sequence).sorted().start.tolist())
plt.show()
