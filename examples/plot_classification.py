"""
Gun or finger: classifiers over elastic distances
=================================================

GunPoint holds the height of a hand that draws a gun or points a finger. Neighbors and support vector machines of
scikit-learn tell them apart by distances of whole series, whose parameters `GridSearchCV` chooses on fifty series.
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import load_gunpoint
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from sktslib.distances import DTW, LCSS, TWED
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, PairwiseDistances

X_train, y_train, X_test, y_test = load_gunpoint()
folds = StratifiedKFold(5, shuffle=True, random_state=0)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for kind, color, name in ((1, "C3", "gun"), (2, "C0", "finger")):
    lines = ax.plot(X_train[y_train == kind].T, color=color, linewidth=0.6)
    lines[0].set_label(name)
ax.set(xlabel="sample", ylabel="height of the hand", title="GunPoint, training series")
ax.legend()

# %%
# `PairwiseDistances` gives the distances to the training series, and `KNeighborsClassifier` takes them as
# `precomputed`. Which metric, and which parameter of it, is a matter of the grid: a metric is a parameter, and what
# stands behind `metric__` is a parameter of the metric.

neighbors = Pipeline([("distances", PairwiseDistances()), ("vote", KNeighborsClassifier(1, metric="precomputed"))])
grid = [
    {"distances__metric": [DTW(window=0.1)], "distances__metric__alpha": [0.25, 0.5, 1.0]},
    {"distances__metric": [LCSS(window=0.1)], "distances__metric__eps": [0.05, 0.2, 0.8]},
    {"distances__metric": [TWED()], "distances__metric__nu": [0.001, 0.01, 0.1]},
]
search = GridSearchCV(neighbors, grid, cv=folds).fit(X_train, y_train)
for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    key, value = next((key, value) for key, value in params.items() if "__metric__" in key)
    print(f"{type(params['distances__metric']).__name__:5} {key.split('__')[-1]:5} = {value:<6} {score:.2f}")
print(f"best: {search.best_estimator_['distances'].metric}")
print(f"1-NN, accuracy on the test series: {search.score(X_test, y_test):.3f}")

# %%
# `KNeighborsTimeSeriesClassifier` is the same in one step, and spares the distances among the training series.

direct = KNeighborsTimeSeriesClassifier(search.best_estimator_["distances"].metric).fit(X_train, y_train)
print(f"the same in one step: {direct.score(X_test, y_test):.3f}")

# %%
# A support vector machine takes similarities, which fall to a third at a distance of 3 here. Its own parameters are
# searched along with those of the metric.

similarities = FunctionTransformer(lambda distances: np.exp(-distances / 3.0))
machine = Pipeline(
    [("distances", PairwiseDistances(symmetrize="mean")), ("kernel", similarities), ("svc", SVC(kernel="precomputed"))]
)
grid = [{**one, "svc__C": [1.0, 10.0, 100.0]} for one in grid]
search = GridSearchCV(machine, grid, cv=folds).fit(X_train, y_train)
print(f"best: {search.best_estimator_['distances'].metric}, C = {search.best_params_['svc__C']:g}")
print(f"SVC, accuracy on the test series: {search.score(X_test, y_test):.3f}")

plt.show()
