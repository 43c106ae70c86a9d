"""Reference implementations: every number of the package by plain loops, from definitions and papers.

Nothing here imports the package. `table.py` is the one list of the distances, with values of their parameters.
"""

# ruff: noqa: F401

from .by_channel import centered, channel_windows
from .choosing import best_of, margin_of, shares_of
from .error_rates import conformal_threshold, estimated_share, p_value, q_value, rate_threshold, shifted_decoy
from .ground_costs import descriptor, gradient, keogh_derivative, norm, scales, spread, squared, standardize, within
from .lockstep_distances import cosine_distance, lockstep, observed, short_time_series
from .mixed import mixed_distance, mixed_windows
from .moves import shifted, steps
from .normalized_ranges import normalized_ranges
from .scale_limits import beside, beside_range, margin
from .scoring import boundary_error, event_f1, events, intersection_over_union, runs, segmentation_covering
from .searching import (
    between_holes,
    brute_search,
    elastic_search,
    joined_subsequences,
    joined_windows,
    observed_windows,
    percentile_of,
    reported,
    scaled_windows,
    select,
    start_sequences_index,
    windows,
)
from .segmenting import (
    background,
    background_of_samples,
    carried_segmentation,
    cheapest_segmentation,
    class_margin,
    cost_of_segmentation,
    costs_of_segments,
    counted_cost,
    expected_share,
    f1_of_marks,
    segment_cost,
    segmentations,
)
from .self_training import sure
from .series import (
    INF,
    Divided,
    filled,
    interpolate,
    is_constant,
    normalize_values,
    points,
    positive,
    relative,
    resample,
    weighted_mean,
    weighted_median,
)
from .signs import mirrored_segmentation, nearest_subsequences, nearest_windows, versions
from .soft_alignments import alignments, expected_alignment, gak_matrix, sbd, soft_dtw_matrix
from .table import (
    LOCKSTEP,
    PATHLESS,
    POSITIVE,
    SQUARES,
    SUMS,
    TABLE,
    WARPED,
    Entry,
    bounded,
    domain,
    has_exact_sums,
    looks_back,
    names,
    power,
)
from .warping import DIAG, LEFT, UP, Elastic, band, cost_along, elastic, fill, tam, trace, with_skips
