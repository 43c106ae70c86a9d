"""Estimators for collections of series: distances, neighbors, classification, and matches of queries as features."""

from ._metric_weights import MetricWeights
from ._neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
)
from ._shapelets import QueryMatches as QueryMatches
from ._shapelets import Shapelet as Shapelet
from ._shapelets import ShapeletTransform

__all__ = [
    "KNeighborsTimeSeriesClassifier",
    "KNeighborsTimeSeriesRegressor",
    "KNeighborsTimeSeriesTransformer",
    "MetricWeights",
    "PairwiseDistances",
    "ShapeletTransform",
]
