"""
A recording that is not in memory
=================================

Whatever has a length and can be sliced is read by chunks: `numpy.memmap`, zarr, h5py, dask. With a threshold, memory
does not grow with the recording.
"""

import tempfile
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, load_ecg_example

ecg = load_ecg_example()

# %%
# A file of 1.2 million samples: two and a half hours, made of a thousand repetitions of ten seconds, with noise and a
# drift.

generator = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "recording.f8"
    recording = np.memmap(path, dtype=float, mode="w+", shape=1000 * len(ecg.sequence))
    for k in range(1000):
        noise = generator.normal(0, 0.03, len(ecg.sequence)) + 0.5 * np.sin(k / 50)
        recording[k * len(ecg.sequence) : (k + 1) * len(ecg.sequence)] = ecg.sequence + noise
    recording.flush()
    print(f"{path.stat().st_size / 1e6:.1f} MB")

    recording = np.memmap(path, dtype=float, mode="r")
    searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, max_overlap=0.1)
    begin = perf_counter()
    matches = searcher.fit(ecg.query).search(recording)
    print(f"{len(matches)} beats in {perf_counter() - begin:.1f} s")
    del recording  # Windows removes no file that is open

# %%
# A thousand times twelve beats would be 12,000; the noise hides a few of those that are just near enough.

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.hist(matches.distance, bins=60, color="C0")
ax.set(xlabel="distance", ylabel="matches", title="distances of all matches")
plt.show()
