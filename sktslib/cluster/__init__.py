"""Collections of series in groups: k-means with barycenters, and k-medoids, for every distance."""

from ._kmeans import TimeSeriesKMeans
from ._kmedoids import TimeSeriesKMedoids

__all__ = ["TimeSeriesKMeans", "TimeSeriesKMedoids"]
