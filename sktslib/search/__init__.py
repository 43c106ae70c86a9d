"""Search and segmentation: estimators, their results, and the functions over them."""

from ._buffer import SparseTimes
from ._error_rates.conformal import Conformal
from ._error_rates.false_discovery_rate import FalseDiscoveryRate
from ._explain import Explanation
from ._motifs.finding import discords, motifs
from ._results import Matches
from ._searcher import QuerySearcher
from ._segmentation.segment_stream import SegmentStream
from ._segmentation.segmenter import QuerySegmenter
from ._segmentation.segments import Segment, Segments
from ._selection import Match, Profile
from ._streaming.search_part import SearchPart, merge_parts
from ._streaming.stream import Stream
from .query_search import time_series_search
from .search_utils import elastic_search, lockstep_search, start_sequences_index
from .segmentation import time_series_segmentation

__all__ = [
    "Conformal",
    "Explanation",
    "FalseDiscoveryRate",
    "Match",
    "Matches",
    "Profile",
    "QuerySearcher",
    "QuerySegmenter",
    "SearchPart",
    "Segment",
    "SegmentStream",
    "Segments",
    "SparseTimes",
    "Stream",
    "discords",
    "elastic_search",
    "lockstep_search",
    "merge_parts",
    "motifs",
    "start_sequences_index",
    "time_series_search",
    "time_series_segmentation",
]
