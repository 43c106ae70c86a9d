"""Distances between time series: functions, metric objects and their registry.

Public names are those that a user types; each is listed in `__all__` of the module that defines it. Classes of results
can be imported, too.
"""

from . import _metrics, compute_distance, elastic_distances, lockstep_distances, time_distances
from ._barycenters import barycenter
from ._kernels.dispatch import recurrence
from ._metrics.base import *
from ._metrics.base import Alignment as Alignment
from ._metrics.dtw import *
from ._metrics.edit import *
from ._metrics.lockstep import *
from ._metrics.mixed import *
from ._metrics.registry import *
from ._metrics.registry import CallableMetric as CallableMetric
from ._metrics.soft import *
from ._names import get_distance_dict
from ._nearest import Neighbors as Neighbors
from ._nearest import Pruning as Pruning
from ._nearest import nearest_neighbors
from ._pairwise import pairwise_distances
from .compute_distance import *
from .elastic_distances import *
from .lockstep_distances import *
from .time_distances import *

_MODULES = _metrics.base, _metrics.dtw, _metrics.edit, _metrics.lockstep, _metrics.mixed, _metrics.registry
_MODULES += _metrics.soft, compute_distance, elastic_distances, lockstep_distances, time_distances
# Nobody needs to type the classes of these distances without parameters: their names, as texts, stand for them.
_BY_NAME = {
    cls.__name__
    for cls in map(_metrics.registry.metric_class, _metrics.registry.metric_names())
    if cls.family != "elastic" and not cls._get_param_names()
}
__all__ = [
    "barycenter",
    "get_distance_dict",
    "nearest_neighbors",
    "pairwise_distances",
    "recurrence",
    *(name for module in _MODULES for name in module.__all__ if name not in _BY_NAME),
]
