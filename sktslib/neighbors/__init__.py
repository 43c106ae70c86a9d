"""Collections of series in scikit-learn: distances, kernels, neighbors and matches of queries as transformers."""

from ._graphs import KNeighborsTimeSeriesTransformer, RadiusNeighborsTimeSeriesTransformer
from ._kernel import DistanceKernel, PairwiseDistances
from ._metric_weights import MetricWeights
from ._neighbors import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor
from ._shapelets import QueryMatches as QueryMatches
from ._shapelets import Shapelet as Shapelet
from ._shapelets import ShapeletTransform

__all__ = [
    "DistanceKernel",
    "KNeighborsTimeSeriesClassifier",
    "KNeighborsTimeSeriesRegressor",
    "KNeighborsTimeSeriesTransformer",
    "MetricWeights",
    "PairwiseDistances",
    "RadiusNeighborsTimeSeriesTransformer",
    "ShapeletTransform",
]
