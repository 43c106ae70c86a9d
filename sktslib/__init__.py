"""Find a pattern in long time series: distances, search and segmentation with scikit-learn's interface.

Names are loaded when first asked for, so that ``import sktslib`` costs next to nothing and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # repeats `_HOMES` for type checkers; a test compares both
    from . import cluster, datasets, distances, metrics, model_selection, neighbors, preprocessing, search, utils
    from ._models import load_model
    from ._warmup import warmup
    from .datasets import load_ecg_example
    from .distances import get_distance_dict
    from .distances.elastic_distances import dtw, lcss, twed
    from .preprocessing._pipelines import pipeline_search, pipeline_segment, pipeline_stream
    from .search import QuerySearcher, QuerySegmenter, time_series_search, time_series_segmentation
    from .utils._times import Sampling

__version__ = "0.1.0"

_HOMES = {
    "QuerySearcher": "search",
    "QuerySegmenter": "search",
    "Sampling": "utils._times",
    "dtw": "distances.elastic_distances",
    "get_distance_dict": "distances",
    "lcss": "distances.elastic_distances",
    "load_ecg_example": "datasets",
    "load_model": "_models",
    "pipeline_search": "preprocessing._pipelines",
    "pipeline_segment": "preprocessing._pipelines",
    "pipeline_stream": "preprocessing._pipelines",
    "time_series_search": "search",
    "time_series_segmentation": "search",
    "twed": "distances.elastic_distances",
    "warmup": "_warmup",
}
_MODULES = (
    "cluster",
    "datasets",
    "distances",
    "metrics",
    "model_selection",
    "neighbors",
    "preprocessing",
    "search",
    "utils",
)

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name):
    if name in _HOMES:
        # Stored in the module, so that the next access is direct.
        return globals().setdefault(name, getattr(import_module(f".{_HOMES[name]}", __name__), name))
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_HOMES, *_MODULES})
