"""Clusters and shapelets by plain loops over tables of distances."""

from itertools import combinations
from math import inf, log2


def inertia(table):
    """Sum of the least entry of each row, and the column it stands in: of a table of series by centers."""
    labels = [min(range(len(row)), key=lambda c: row[c]) for row in table]
    return sum(row[c] for row, c in zip(table, labels, strict=True)), labels


def of_medoids(distances, medoids):
    """Sum over the series of the distance from the nearest medoid; `distances[i][j]` is from i to j."""
    return sum(min(distances[i][j] for i in medoids) for j in range(len(distances)))


def best_medoids(distances, k):
    """The least sum of all choices of k medoids."""
    return min(of_medoids(distances, medoids) for medoids in combinations(range(len(distances)), k))


def least_of_swaps(distances, medoids):
    """The least sum after one medoid is swapped for another series."""
    others = [i for i in range(len(distances)) if i not in medoids]
    swapped = [[new if i == old else i for i in medoids] for old in medoids for new in others]
    return min((of_medoids(distances, medoids) for medoids in swapped), default=inf)


def entropy(labels):
    counts = [labels.count(c) for c in set(labels)]
    return -sum(n / len(labels) * log2(n / len(labels)) for n in counts)


def information_gain(distances, labels):
    """The most that one threshold on distances tells of the labels, in bits (Ye & Keogh 2009)."""
    best, n = 0.0, len(labels)
    for threshold in sorted(set(distances))[:-1]:
        near = [c for d, c in zip(distances, labels, strict=True) if d <= threshold]
        far = [c for d, c in zip(distances, labels, strict=True) if d > threshold]
        left = len(near) / n * entropy(near) + len(far) / n * entropy(far)
        best = max(best, entropy(labels) - left)
    return best
