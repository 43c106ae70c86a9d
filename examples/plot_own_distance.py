"""
A distance of your own
======================

Every function of two series is a metric. A recurrence of your own gets the compiled drivers of the package.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, load_ecg_example
from sktslib.distances import pairwise_distances, recurrence, register_metric

ecg = load_ecg_example()

# %%
# A function
# ----------
# The share of samples that are farther apart than ``eps``. Registered, it has a name and parameters, like any other.


def within(x, y, eps=0.2):
    """The share of samples that differ by more than eps."""
    return np.mean(np.abs(x - y) > eps)


register_metric("within", within, symmetric=True)
searcher = QuerySearcher("within", metric_params={"eps": 0.15}, normalize="mean", n_matches=12, max_overlap=0.1)
matches = searcher.fit(ecg.query).search(ecg.sequence, times=ecg.ts)
print(matches.to_frame().round(3).to_string())
matches.plot()

# %%
# A recurrence
# ------------
# Dynamic time warping of absolute differences, in which each step that stretches costs ``omega``. ``terms`` is what a
# pair of points adds, ``moves`` what each of the three moves costs. With ``monotone`` and ``bounds`` searches skip what
# cannot matter.


def terms(p, row, y, y_before):
    """The weighted absolute difference of two points."""
    x, _, w, _ = row  # a point of the query, the one before, and their weights
    return w * abs(x - y), 0.0, 0.0


def moves(p, point_costs, lag_cost, a, b, c, gap):
    """The costs of the diagonal, the query alone, the series alone."""
    return a, a + p.omega, a + p.omega


@recurrence(terms=terms, moves=moves, monotone=True, bounds=True)
class Stiff(NamedTuple):
    """Its parameters."""

    omega: float = 0.1


Stiff = register_metric("stiff", Stiff, symmetric=True)

# %%
# From here on it is like the distances of the package: in a search, in collections, in estimators.

matches = QuerySearcher(Stiff(omega=0.3), n_matches=12).fit(ecg.query).search(ecg.sequence)
print(matches.to_frame().head(3).round(3).to_string())

inside = (ecg.beats >= 22) & (ecg.beats < len(ecg.sequence) - 43)
beats = [ecg.sequence[peak - 22 : peak + 43] for peak in ecg.beats[inside]]
distances = pairwise_distances(beats, metric=Stiff(omega=0.3))
order = np.argsort(ecg.beat_kinds[inside], kind="stable")
plt.imshow(distances[np.ix_(order, order)])
plt.title("the beats, by class")
plt.colorbar(label="distance")
plt.show()
