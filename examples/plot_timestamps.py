"""
Dates and time zones
====================

A recording that is a table with a `DatetimeIndex` needs no further times: matches and segments have dates, in the
table's own time zone.
"""

import matplotlib.pyplot as plt
import pandas as pd

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example

ecg = load_ecg_example()
index = pd.date_range("2026-03-29 00:59:55", periods=len(ecg.sequence), freq=pd.Timedelta(seconds=1 / 120), tz="UTC")
recording = pd.DataFrame({"ecg": ecg.sequence}, index=index.tz_convert("Europe/Berlin"))
print(recording.index[[0, -1]])

# %%
# In the middle of this recording summer time begins: the clock jumps from two to three. The samples do not mind.

searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, n_matches=None, max_overlap=0.1)
matches = searcher.fit(ecg.query).search(recording)
print(matches.to_frame().sort_values("start").to_string())

display = matches.plot()

# %%
# Times can be given as well, as numbers or dates. Distances that compare times, such as ``twed``, take seconds from the
# first one.

query = pd.Series(ecg.query, index=pd.to_timedelta(ecg.tq, unit="s") + pd.Timestamp("2026-03-28", tz="Europe/Berlin"))
segments = QuerySegmenter("twed").fit(query).segment(recording)
print(segments.to_frame()[["start_time", "end_time", "duration"]].head().to_string())

# %%
# A table is only half of the way: select by date, and search what you selected.

second_half = recording.loc["2026-03-29 03:00:00":]
print(searcher.search(second_half).to_frame().head(3).to_string())
plt.show()
