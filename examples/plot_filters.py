"""
Filters before a segmentation
=============================

An electrocardiogram with drift and mains hum. `AutoFilter` learns from labeled beats which frequencies tell them from
everything else, and the segmenter behind it finds the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from sktslib import QuerySegmenter, load_ecg_example, pipeline_segment
from sktslib.metrics import labels_from_events
from sktslib.preprocessing import AutoFilter

ecg = load_ecg_example()
RATE = 120
t = np.arange(len(ecg.sequence)) / RATE
spoiled = ecg.sequence + 0.8 * np.sin(2 * np.pi * 0.3 * t) + 0.15 * np.sin(2 * np.pi * 50 * t)

# %%
# The first five seconds are labeled: a beat from 0.1 seconds before its R peak to 0.2 after.
peaks = np.array([k for k in range(20, 600) if ecg.sequence[k] == ecg.sequence[k - 20 : k + 21].max()])
peaks = peaks[ecg.sequence[peaks] > 0.5]
y = labels_from_events(np.column_stack([peaks - 12, peaks + 24]), n_samples=600)
pipe = make_pipeline(AutoFilter(RATE), QuerySegmenter()).fit(spoiled[:600, None], y)
segments = pipeline_segment(pipe, spoiled, times=t)
print(f"band {pipe[0].band_}, {len(segments)} repetitions")

# %%
# The spectra that the band was chosen by.
band = pipe[0]
fig, ax = plt.subplots()
ax.semilogy(band.frequencies_[1:], band.event_spectrum_[1:], label="typical beat")
ax.semilogy(band.frequencies_[1:], band.noise_spectrum_[1:], label="what is left")
low, high = band.band_
ax.axvspan(low or 0, high or RATE / 2, alpha=0.2, label="band")
ax.set(xlabel="frequency in Hz", ylabel="power spectral density")
ax.legend()

# %%
# The recording as it came, with what was found behind the filter.
segments.plot(sequence=spoiled, ts=t)
plt.show()
