"""
Dates, time zones and holes
===========================

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

searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, max_overlap=0.1).fit(ecg.query)
matches = searcher.search(recording)
print(matches.sorted().to_frame().to_string())
matches.plot()

# %%
# A logger that was off leaves a hole: here two seconds are missing. Samples that follow each other would be compared as
# if nothing were between them. With ``max_gap`` no match and no repetition spans a longer step of time.

holed = recording.drop(recording["2026-03-29 01:59:58.1":"2026-03-29 03:00:00.1"].index)
searcher.set_params(max_gap=pd.Timedelta("50ms")).fit(ecg.query)
print(f"{len(searcher.search(holed))} matches beside the hole")

segments = QuerySegmenter(max_gap=pd.Timedelta("50ms")).fit(ecg.query).segment(holed)
print(segments.to_frame()[["start_time", "end_time", "duration"]].head().to_string())
segments.plot()

# %%
# A table is only half of the way: select by date, and search what you selected.

second_half = recording.loc["2026-03-29 03:00:00":]
print(searcher.search(second_half).to_frame().head(3).to_string())
plt.show()
