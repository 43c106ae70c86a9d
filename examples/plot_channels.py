"""
Several channels
================

The sensor on a foot has six channels. All of them are compared at once and share one alignment, so scale decides how
much each of them counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gait

from sktslib import QuerySearcher

walk, _, labelled, names = load_gait()
start, end = labelled[9]
query = walk[start:end]  # one stride of the same foot
print(dict(zip(names, walk.std(axis=0).round(1).tolist(), strict=True)))

# %%
# A turning rate of 200 degrees/s would count much more than an acceleration of 10 m/s^2. With ``normalize`` each
# channel of each window is brought to one scale. ``scales`` lets strides be shorter or longer than this one.

searcher = QuerySearcher("euclidean", normalize="zscore", scales=(0.85, 1.2), max_overlap=0.2, n_matches=len(labelled))
matches = searcher.fit(query).search(walk)
middle = labelled.mean(axis=1)
hits = sum(((matches.start <= m) & (m < matches.end)).any() for m in middle)
print(f"{hits} of the {len(labelled)} labelled strides are among the {len(matches)} best matches")

figure, axes = plt.subplots(6, 1, figsize=(10, 9), sharex=True, layout="constrained")
for ax, name, values in zip(axes, names, walk.T, strict=True):
    ax.plot(np.arange(len(walk)) / 102.4, values, linewidth=0.6, color="0.3")
    for k, (first, last) in enumerate(sorted(zip(matches.start, matches.end, strict=True))):
        ax.axvspan(first / 102.4, last / 102.4, color="C0", alpha=0.2 + 0.2 * (k % 2), linewidth=0)
    ax.set_ylabel(name)
axes[-1].set_xlabel("time (s)")

# %%
# Which channel makes a match good or bad? ``explain`` says what each point of the query costs in each channel. The
# worst of the matches:

explained = matches.explain(len(matches) - 1)
figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
image = ax.imshow(explained.cost.T, aspect="auto", cmap="Reds", interpolation="nearest")
ax.set(xlabel="point of the query", yticks=range(6), yticklabels=names, title="what the worst match costs")
figure.colorbar(image, ax=ax)

# %%
# Weights per channel leave out what cannot be trusted: here the accelerations.

weight = np.ones_like(query)
weight[:, :3] = 0.0
matches = searcher.fit(query, weight=weight).search(walk)
hits = sum(((matches.start <= m) & (m < matches.end)).any() for m in middle)
print(f"{hits} with the turning rates alone")
plt.show()
