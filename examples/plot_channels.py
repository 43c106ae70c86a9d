"""
Several channels
================

The sensor on a foot has six channels. All of them are compared at once and share one alignment, so scale decides how
much each of them counts.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _data import load_gait

from sktslib import QuerySearcher
from sktslib.search import Windows
from sktslib.utils.visualisation import EventsDisplay

values, _, labeled, names = load_gait()
walk = pd.DataFrame(values, columns=names)
query = walk[slice(*labeled[9])]  # one stride of the same foot
print(walk.std().round(1).to_dict())

# %%
# A turning rate of 200 degrees/s would count much more than an acceleration of 10 m/s^2. With ``normalize`` each
# channel of each window is brought to one scale. ``Windows(scales=...)`` lets strides be shorter or longer than this
# one.

strides = Windows(scales=(0.85, 1.2))
searcher = QuerySearcher("euclidean", candidates=strides, normalize="zscore", max_overlap=0.2, n_matches=len(labeled))
matches = searcher.fit(query).search(walk, times=np.arange(len(walk)) / 102.4)
EventsDisplay.from_predictions(labeled, matches, walk, title="strides: labeled, and the thirty best matches")

# %%
# Which channel makes a match good or bad? ``explain`` says what each point of the query costs in each channel. The
# worst of the matches:

print(dict(zip(query.columns, matches.explain(len(matches) - 1).cost.sum(axis=0).round().tolist(), strict=True)))

# %%
# Weights per channel leave out what cannot be trusted: here the accelerations.

weight = np.ones(query.shape)
weight[:, :3] = 0.0
matches = searcher.fit(query, weight=weight).search(walk, times=np.arange(len(walk)) / 102.4)
EventsDisplay.from_predictions(labeled, matches, walk[["gyr_y"]], title="by the turning rates alone")
plt.show()
