"""Clusters of series: k-means with barycenters, and k-medoids, for every distance."""

from ._clusters import TimeSeriesKMeans, TimeSeriesKMedoids

__all__ = ["TimeSeriesKMeans", "TimeSeriesKMedoids"]
