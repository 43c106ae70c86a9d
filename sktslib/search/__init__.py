"""Search and segmentation: estimators, their results, and the functions over them."""

from ._channels import ChannelPlan
from ._chunks import SparseTimes as SparseTimes
from ._limits import Normalization
from ._motifs import discords, motifs
from ._plan import Subsequences, Windows
from ._profile import Explanation as Explanation
from ._results import Matches as Matches
from ._run import PartialSearch as PartialSearch
from ._run import Stream as Stream
from ._run import merge_parts
from ._searcher import QuerySearcher
from ._segments.segmenter import Learning, QuerySegmenter
from ._segments.segmenter import Segment as Segment
from ._segments.segmenter import Segments as Segments
from ._segments.segmenter import SegmentStream as SegmentStream
from ._selection import Match as Match
from ._selection import Profile as Profile
from ._thresholds import Conformal, FalseDiscoveryRate, Percentile
from ._thresholds import Margin as Margin
from .query_search import time_series_search
from .search_utils import elastic_search, lockstep_search, start_sequences_index
from .segmentation import time_series_segmentation

__all__ = [
    "ChannelPlan",
    "Conformal",
    "FalseDiscoveryRate",
    "Learning",
    "Normalization",
    "Percentile",
    "QuerySearcher",
    "QuerySegmenter",
    "Subsequences",
    "Windows",
    "discords",
    "elastic_search",
    "lockstep_search",
    "merge_parts",
    "motifs",
    "start_sequences_index",
    "time_series_search",
    "time_series_segmentation",
]
