"""
Nine speakers: clusters and maps of series of different lengths
===============================================================

JapaneseVowels holds two vowels spoken by nine men, as twelve coefficients over 7 to 29 points in time. scikit-learn's
estimators cannot take such ragged series, but many of them take distances or a graph of neighbors.
"""

import matplotlib.pyplot as plt
from _data import load_japanese_vowels
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from sktslib.neighbors import KNeighborsTimeSeriesTransformer, PairwiseDistances

X, speaker = load_japanese_vowels()
print(f"{len(X)} utterances of {min(map(len, X))} to {max(map(len, X))} points")

# %%
# All distances
# -------------
# Dynamic time warping compares utterances of different lengths. `PairwiseDistances` computes the whole table once, and
# HDBSCAN and t-SNE take it as `precomputed`.

distances = PairwiseDistances("dtw").fit_transform(X)
clusters = HDBSCAN(metric="precomputed", min_cluster_size=3, min_samples=2, copy=True).fit_predict(distances)
tsne = TSNE(metric="precomputed", init="random", perplexity=15, random_state=0).fit_transform(distances)
print(f"HDBSCAN: {clusters.max() + 1} clusters, adjusted Rand index {adjusted_rand_score(speaker, clusters):.2f}")

# %%
# The graph of neighbors
# -----------------------
# Isomap needs near neighbors only. The transformer gives them as a sparse matrix. DBSCAN takes distances, too.

isomap = make_pipeline(
    KNeighborsTimeSeriesTransformer("dtw", n_neighbors=10), Isomap(n_neighbors=10, metric="precomputed")
).fit_transform(X)
dbscan = DBSCAN(eps=3.7, min_samples=3, metric="precomputed").fit_predict(distances)
print(f"DBSCAN: {dbscan.max() + 1} clusters, adjusted Rand index {adjusted_rand_score(speaker, dbscan):.2f}")

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
panels = [
    ("t-SNE, by speaker", tsne, speaker),
    ("t-SNE, by HDBSCAN", tsne, clusters),
    ("Isomap, by speaker", isomap, speaker),
    ("Isomap, by DBSCAN", isomap, dbscan),
]
for ax, (title, at, kind) in zip(axes.flat, panels, strict=True):
    ax.scatter(*at[kind < 0].T, color="0.8", s=15)  # noise
    ax.scatter(*at[kind >= 0].T, c=kind[kind >= 0], cmap="tab10", s=15)
    ax.set(title=title, xticks=[], yticks=[])

plt.show()
