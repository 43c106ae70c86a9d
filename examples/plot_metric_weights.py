"""
Which points tell the classes apart
===================================

In GunPoint an actor draws a gun, or only points with the finger. All points of a series count alike in a distance, but
they do not all tell which of the two it was. Weights can be learned from labeled series, within the classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gunpoint

from sktslib.distances import DTW
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, MetricWeights
from sktslib.utils.visualisation import WeightedQueryDisplay

X, y, X_test, y_test = load_gunpoint()
metric = DTW(window=0.1)

# %%
# ``alpha`` is the strength of the pull to equal weights. By default it is chosen by cross-validation of the series that
# the classifier is fitted on; a fixed one takes a second.

equal = KNeighborsTimeSeriesClassifier(metric).fit(X, y)
learned = KNeighborsTimeSeriesClassifier(metric, weight=MetricWeights(alpha=0.1)).fit(X, y)
weight = learned.metric_weights_.weight_
print(f"equal weights: {equal.score(X_test, y_test):.3f} of the test series are classified correctly")
print(f"learned weights: {learned.score(X_test, y_test):.3f}")

# %%
# A series of each class, colored by the weights. They are highest where the hand comes down to the holster, and low
# while it points at the target.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
for ax, kind in zip(axes, np.unique(y), strict=True):
    WeightedQueryDisplay.from_predictions(X[y == kind][0], weight, ax=ax, title=f"class {kind}")
    ax.set_xlabel("sample")

# %%
# The pull at work: weights are near 1 where it is strong, and vary the more the weaker it is.

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for alpha in (10.0, 1.0, 0.1):
    found = MetricWeights(metric, alpha=alpha, max_iter=3).fit(X, y)
    ax.plot(found.weight_, label=f"alpha = {alpha:g}")
ax.set(xlabel="sample", ylabel="weight", ylim=(0, None))
ax.legend()
plt.show()
