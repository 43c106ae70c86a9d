"""Search and segmentation: estimators, their results, and the functions over them."""

from ._channels import ChannelPlan
from ._chunks import SparseTimes
from ._limits import Normalization
from ._motifs import discords, motifs
from ._partial_search import SearchPart, Stream, merge_parts
from ._plan import Subsequences, Windows
from ._profile import Explanation
from ._results import Matches
from ._searcher import QuerySearcher
from ._segments.fitting import Learning
from ._segments.results import Segment, Segments
from ._segments.segmenter import QuerySegmenter
from ._segments.stream import SegmentStream
from ._selection import Match, Profile
from ._thresholds import Conformal, FalseDiscoveryRate, Percentile
from .query_search import time_series_search
from .search_utils import elastic_search, lockstep_search, start_sequences_index
from .segmentation import time_series_segmentation

__all__ = [
    "ChannelPlan",
    "Conformal",
    "Explanation",
    "FalseDiscoveryRate",
    "Learning",
    "Match",
    "Matches",
    "Normalization",
    "Percentile",
    "Profile",
    "QuerySearcher",
    "QuerySegmenter",
    "SearchPart",
    "Segment",
    "SegmentStream",
    "Segments",
    "SparseTimes",
    "Stream",
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
