"""Distances between time series: functions, metric objects and their registry."""

from ._barycenters import barycenter
from ._distance_dict import get_distance_dict
from ._kernels.dispatch import recurrence
from ._metrics.alignment import Alignment
from ._metrics.base import Metric
from ._metrics.callable import CallableMetric
from ._metrics.custom import register_metric
from ._metrics.derivative import DDTW, WDDTW, ShapeDTW
from ._metrics.edit import EDR, ERP, LCSS, MSM, TWED
from ._metrics.lockstep import (
    Braycurtis,
    Canberra,
    Chebyshev,
    Euclidean,
    Hamming,
    KullbackLeibler,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from ._metrics.lockstep_nonadditive import Correlation, Cosine, Mahalanobis, PearsonCorrelation, ShortTimeSeries
from ._metrics.registry import get_metric, metric_names
from ._metrics.sbd import SBD
from ._metrics.soft import GAK, SoftDTW
from ._metrics.time import TAM
from ._metrics.warping import ADTW, CIDDTW, DTW, WDTW, Frechet
from ._nearest import Neighbors, Pruning, nearest_neighbors
from ._pairwise import pairwise_distances
from .compute_distance import time_series_distance
from .elastic_distances import dlp, dtw, lcss, twed
from .lockstep_distances import (
    braycurtis_distance,
    canberra_distance,
    chebyshev_distance,
    correlation_distance,
    cosine_distance,
    euclidean_distance,
    hamming_distance,
    kullback_leibler_distance,
    mahalanobis_distance,
    manhattan_distance,
    minkowski_distance,
    pearson_correlation,
    short_time_series_distance,
    sqeuclidean_distance,
)
from .time_distances import tam

__all__ = [
    "ADTW",
    "CIDDTW",
    "DDTW",
    "DTW",
    "EDR",
    "ERP",
    "GAK",
    "LCSS",
    "MSM",
    "SBD",
    "TAM",
    "TWED",
    "WDDTW",
    "WDTW",
    "Alignment",
    "Braycurtis",
    "CallableMetric",
    "Canberra",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Euclidean",
    "Frechet",
    "Hamming",
    "KullbackLeibler",
    "Mahalanobis",
    "Manhattan",
    "Metric",
    "Minkowski",
    "Neighbors",
    "PearsonCorrelation",
    "Pruning",
    "ShapeDTW",
    "ShortTimeSeries",
    "SoftDTW",
    "SquaredEuclidean",
    "barycenter",
    "braycurtis_distance",
    "canberra_distance",
    "chebyshev_distance",
    "correlation_distance",
    "cosine_distance",
    "dlp",
    "dtw",
    "euclidean_distance",
    "get_distance_dict",
    "get_metric",
    "hamming_distance",
    "kullback_leibler_distance",
    "lcss",
    "mahalanobis_distance",
    "manhattan_distance",
    "metric_names",
    "minkowski_distance",
    "nearest_neighbors",
    "pairwise_distances",
    "pearson_correlation",
    "recurrence",
    "register_metric",
    "short_time_series_distance",
    "sqeuclidean_distance",
    "tam",
    "time_series_distance",
    "twed",
]
