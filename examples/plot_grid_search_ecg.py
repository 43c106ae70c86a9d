"""
Choosing metric and threshold by labeled beats
==============================================

How far may a match be from the query to count? Where some of a recording is labeled, `GridSearchCV` answers. The
twelve normal beats of the packaged electrocardiogram are the labels; ectopic beats are not to be found.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from sktslib import QuerySearcher, load_ecg_example, pipeline_search
from sktslib.distances import DTW, TWED, Euclidean
from sktslib.metrics import EventScorer, event_f1_score
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.utils.visualisation import EventsDisplay

ecg = load_ecg_example()
X = ecg.sequence[:, np.newaxis]  # time points are rows, channels columns

# %%
# A label per sample: the query has its R peak at sample 22 of 65, so a normal beat spans the same around its own.
# Neighboring beats get different labels, which keeps them apart.

y = np.zeros(len(X), int)
for k, peak in enumerate(ecg.beats[ecg.beat_kinds == "N"]):
    y[max(0, peak - 22) : peak + 43] = 1 + k % 2

# %%
# The recording is cut into three contiguous blocks; a random split would tear the beats apart. As the query is given
# as a parameter, `fit` has nothing to learn, and every block is a test. The score is the event F1 of the beats that are
# found: a match and a beat agree if they overlap by half. How many agree within 8 samples, 67 ms, is reported besides.

searcher = QuerySearcher(query=ecg.query, weight=ecg.weight)
grid = [
    {"metric": [DTW(alpha=1.0), DTW(alpha=0.5)], "threshold": [0.2, 0.5, 1.0, 2.0]},
    {"metric": [TWED(nu=0.01, lmbda=0.1)], "threshold": [5.0, 8.0, 12.0]},
    {"metric": [Euclidean()], "normalize": [None, "zscore"], "threshold": [1.0, 2.0, 3.0]},
]
scoring = {"f1": EventScorer(event_f1_score), "exact": EventScorer(event_f1_score, tolerance=8)}
search = GridSearchCV(searcher, grid, scoring=scoring, refit="f1", cv=BlockedSeriesSplit(3)).fit(X, y)

results = search.cv_results_
for row in np.argsort(results["rank_test_f1"], kind="stable"):
    params = ", ".join(f"{key}={value}" for key, value in results["params"][row].items())
    print(f"F1 {results['mean_test_f1'][row]:.2f}  exact {results['mean_test_exact'][row]:.2f}  {params}")

# %%
# The best searcher on the whole recording. `pipeline_search` gives the matches of the fitted grid search itself.

matches = pipeline_search(search, X, times=ecg.ts)
EventsDisplay.from_predictions(y, matches, X, title=str(search.best_params_))
plt.show()
