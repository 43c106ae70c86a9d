"""Scores and reports of events, given as a label for each time point or as intervals, against an annotation.

Events are integer arrays of [start, end). The module finds which events agree, and how many of them can be matched one
to one. It also makes labels of time points from annotated events, reports with each hit, miss and false event, its
errors and its cause, and scorers for estimators that find ranges.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, fields
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from ..utils._parameters import StrOptions, validate_parameter_constraints
from ..utils._times import Sampling, Sequences, Times, distinct, given_times
from ..utils.validation import as_indices, as_times, check_count, check_flag, check_number, refused, shown

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def pairs_by_iou(true, pred, min_iou):
    """List the pairs (i, j) of events whose intersection over union is at least `min_iou`."""
    lengths = pred[:, 1] - pred[:, 0]
    # An event that starts outside this range cannot overlap enough, whatever its length. One sample is added for
    # rounding; the test below decides.
    earliest = pred[:, 0] - lengths * min(1 / min_iou - 1, 2.0**52) - 1
    latest = pred[:, 0] + lengths * (1 - min_iou) + 1
    rows, columns = _pairs_by_start(true, earliest, latest)
    keep = intersection_over_union(true[rows], pred[columns]) >= min_iou
    return rows[keep], columns[keep]


def pairs_by_overlap(true, pred):
    """List the pairs (i, j) of events that overlap, and their intersections over union."""
    longest = int(np.diff(true).max(initial=0))
    rows, columns = _pairs_by_start(true, pred[:, 0] - longest, pred[:, 1])
    iou = intersection_over_union(true[rows], pred[columns])
    return rows[iou > 0], columns[iou > 0], iou[iou > 0]


def intersection_over_union(true, pred):
    """Return the intersection over union of each pair of events; below 0 if they do not touch."""
    common = np.minimum(true[:, 1], pred[:, 1]) - np.maximum(true[:, 0], pred[:, 0])
    return common / (true[:, 1] - true[:, 0] + pred[:, 1] - pred[:, 0] - common)


def _pairs_by_start(true, earliest, latest):
    """List the pairs (i, j) where event i starts within [earliest_j, latest_j], without a table of all pairs."""
    order = np.argsort(true[:, 0], kind="stable")
    starts = true[order, 0]
    first = np.searchsorted(starts, earliest, side="left")
    counts = np.searchsorted(starts, latest, side="right") - first
    columns = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(columns)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(first, counts) + within], columns


def count_matched(rows, columns, n_true, n_pred):
    """Return the largest number of pairs in a one-to-one matching."""
    if len(rows) == 0:
        return 0
    pairs = rows.astype(np.int32), columns.astype(np.int32)  # the only type that scipy 1.13 supports here
    agree = csr_array((np.ones(len(rows)), pairs), shape=(n_true, n_pred))
    return int(np.count_nonzero(maximum_bipartite_matching(agree, perm_type="column") >= 0))


def closest_matching(rows, columns, errors, n_true, n_pred):
    """Return the pairs of the matching with the most pairs and, among these, the smallest total error.

    scipy's weighted matching must match every vertex. So each event gets a stand-in, at a price above the sum of all
    errors, and the stand-ins of the two events of a pair may be matched with each other.
    """
    errors = errors.astype(np.float64)
    price = errors.sum() + 2 * len(errors) + 1
    true, pred = np.arange(n_true), np.arange(n_pred)
    # A zero in a sparse matrix is not an edge, so 1 is added to all costs.
    costs = np.concatenate([errors + 1, np.full(n_true + n_pred, price), np.ones(len(errors))])
    left = np.concatenate([rows, true, n_true + pred, n_true + columns]).astype(np.int32)
    right = np.concatenate([columns, n_pred + true, pred, n_pred + rows]).astype(np.int32)
    graph = csr_array((costs, (left, right)), shape=(n_true + n_pred, n_true + n_pred))
    left, right = min_weight_full_bipartite_matching(graph)
    real = (left < n_true) & (right < n_pred)
    return left[real], right[real]


BACKGROUND = "", "0"  # texts that mean background


def is_background(value):
    """Return whether a label means background: 0, False, an empty text or the text "0"."""
    return value in BACKGROUND if isinstance(value, str) else value == 0


def events_from_labels(y: ArrayLike) -> NDArray[np.intp]:
    """Find the events of a label vector: the runs of equal labels other than 0.

    Parameters
    ----------
    y : array-like of shape (n,)
        A label for each time point: numbers, bools or texts; 0, an empty text and "0" are background.

    Returns
    -------
    events : ndarray of shape (n_events, 2)
        Start and end of each event as sample indices, half-open ``[start, end)``, in temporal order.

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, holds neither numbers nor texts, or holds NaN.

    See Also
    --------
    event_f1_score : Compare two sets of events.

    Examples
    --------
    >>> from sktslib.metrics import events_from_labels
    >>> events_from_labels([0, 1, 1, 2, 2, 2, 0, 1])
    array([[1, 3],
           [3, 6],
           [7, 8]])
    """
    labels = _as_labels(y, "y")
    if labels.ndim != 1:
        rule, got = "be a label for each time point, of shape (n,)", f"shape {labels.shape}"
        raise refused("y", rule, got, "Pass one column, for example numpy.ravel(y).")
    return runs_of(labels)


def event_f1_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, min_iou: float = 0.5, tolerance: float | None = None
) -> float:
    """Compute the F1 score of events, ``2 TP / (n_true + n_pred)``.

    A true and a predicted event may match if their intersection over union is at least `min_iou` or, with `tolerance`,
    if both borders differ by at most that many samples. As many events as possible, TP, are matched one to one. Classes
    (the values of the labels) are not compared.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2)
        The annotation and the prediction: a label for each time point, a number or a text (0 and the empty text are
        background, runs of equal other values are events), or events as half-open ``[start, end)`` in sample indices.
        One may be labels and the other events.
    min_iou : float, default=0.5
        Smallest intersection over union of matched events, in (0, 1]. Ignored if `tolerance` is given.
    tolerance : float, optional
        Largest difference of the starts, and of the ends, of matched events, in samples.

    Returns
    -------
    score : float
        Between 0 and 1; 1 if there are no events.

    Raises
    ------
    ValueError
        If an input holds neither numbers nor texts, has another shape, or its events are empty or start before 0; if
        two label vectors differ in length; if `min_iou` or `tolerance` is out of its range.
    TypeError
        If `min_iou` or `tolerance` is not a number.

    See Also
    --------
    boundary_error : Errors of the borders of matched events.
    segmentation_covering : A score of segmentations without a threshold.

    Examples
    --------
    >>> from sktslib.metrics import event_f1_score
    >>> y_true = [0, 1, 1, 1, 0, 0, 1, 1, 0]
    >>> y_pred = [0, 0, 1, 1, 0, 0, 0, 0, 1]
    >>> event_f1_score(y_true, y_pred)
    0.5
    >>> event_f1_score([[10, 20], [40, 50]], [[12, 21]], tolerance=2)
    0.6666666666666666
    """
    true, pred, _ = _both_events(y_true, y_pred)
    rows, columns = _agreeing(true, pred, min_iou, tolerance)
    total = len(true) + len(pred)
    if total == 0:
        return 1.0
    return 2 * count_matched(rows, columns, len(true), len(pred)) / total


def agreement(y_true, y_pred, min_iou, tolerance, name="y_pred"):
    """Return true and found events, all agreeing pairs, the matched pairs, and the recording's length or None.

    Pairs are two arrays of indices. The number of matched pairs is that of `event_f1_score`; among such matchings the
    one with the closest borders counts. `name` is the argument with the found events, for messages.
    """
    true, pred, n_samples = _both_events(y_true, y_pred, name)
    rows, columns = agreeing = _agreeing(true, pred, min_iou, tolerance)
    if len(rows):
        errors = np.abs(true[rows] - pred[columns]).sum(axis=1)
        rows, columns = closest_matching(rows, columns, errors, len(true), len(pred))
    return true, pred, agreeing, (rows, columns), n_samples


def _agreeing(true, pred, min_iou, tolerance):
    """Return the pairs of events that agree."""
    if tolerance is None:
        return pairs_by_iou(true, pred, check_number(min_iou, "min_iou", low=0, high=1, open_low=True))
    tolerance = check_number(tolerance, "tolerance", low=0)
    rows, columns = _pairs_by_start(true, pred[:, 0] - tolerance, pred[:, 0] + tolerance)
    keep = np.abs(true[rows, 1] - pred[columns, 1]) <= tolerance
    return rows[keep], columns[keep]


def boundary_error(y_true: ArrayLike, y_pred: ArrayLike, *, min_iou: float = 0.5) -> float:
    """Return the mean distance of the borders of matched events, in samples.

    Events are matched as in `event_f1_score`; of all matchings with the most pairs, the one with the smallest error
    counts. The result is the mean of ``|start - start'|`` and ``|end - end'|`` over the matched pairs. Events without
    a partner do not count, so read it next to `event_f1_score`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2)
        The annotation and the prediction, as in `event_f1_score`.
    min_iou : float, default=0.5
        Least intersection over union of events that agree, in (0, 1].

    Returns
    -------
    error : float
        Mean absolute difference in samples, never NaN: 0 when neither side has an event, infinity when there are
        events and none agree.

    Raises
    ------
    ValueError, TypeError
        As `event_f1_score`.

    See Also
    --------
    event_f1_score : How many events agree.

    Examples
    --------
    >>> from sktslib.metrics import boundary_error
    >>> boundary_error([[10, 20], [40, 50]], [[11, 20], [40, 53], [70, 80]])
    1.0
    >>> boundary_error([[10, 20]], [[30, 40]])
    inf
    """
    true, pred, _, (rows, columns), _ = agreement(y_true, y_pred, min_iou, None)
    if len(rows) == 0:
        return math.inf if len(true) + len(pred) else 0.0
    return float(np.abs(true[rows] - pred[columns]).mean())


def segmentation_covering(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the covering of the true segmentation by the predicted one.

    Each true segment counts with the largest intersection over union it reaches with a predicted segment, weighted by
    its length [1]_ [2]_. Stretches of background are segments as well, on both sides. The score is not symmetric.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2)
        The annotation and the prediction: a label for each time point (runs of equal values are segments), or
        disjoint events as half-open ``[start, end)`` in sample indices (between them is background). The
        recording's length is that of the label vector; of two arrays of events, it is the last end in either.

    Returns
    -------
    score : float
        Above 0 and at most 1; 1 when the borders are the same. It is 1 for recordings without a sample.

    Raises
    ------
    ValueError
        If an input holds neither numbers nor texts, has another shape, or its events are empty, overlap or leave the
        recording; if two label vectors differ in length.

    See Also
    --------
    event_f1_score : How many events agree.

    References
    ----------
    .. [1] Arbelaez, P., Maire, M., Fowlkes, C. & Malik, J. (2011). Contour detection and hierarchical image
       segmentation. IEEE Transactions on Pattern Analysis and Machine Intelligence, 33(5), 898-916.
    .. [2] van den Burg, G. J. J. & Williams, C. K. I. (2020). An evaluation of change point detection algorithms.
       arXiv:2003.06222.

    Examples
    --------
    >>> from sktslib.metrics import segmentation_covering
    >>> segmentation_covering([0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    0.722...
    """
    true, pred, n_samples = _both_events(y_true, y_pred)
    if n_samples is None:
        n_samples = max((int(events[:, 1].max()) for events in (true, pred) if len(events)), default=0)
    if n_samples == 0:
        return 1.0
    true_edges, pred_edges = (_edges(events, n_samples, name) for events, name in ((true, "y_true"), (pred, "y_pred")))
    # Both sides divide the whole recording, so the pieces between all borders are all nonempty intersections.
    cuts = np.union1d(true_edges, pred_edges)
    rows = np.searchsorted(true_edges, cuts[:-1], side="right") - 1
    columns = np.searchsorted(pred_edges, cuts[:-1], side="right") - 1
    true_lengths, pred_lengths, common = np.diff(true_edges), np.diff(pred_edges), np.diff(cuts)
    iou = common / (true_lengths[rows] + pred_lengths[columns] - common)
    best = np.zeros(len(true_lengths))
    np.maximum.at(best, rows, iou)
    return min(1.0, float(best @ true_lengths / n_samples))


# --------------------------------------------------------------------------------------------------- events, borders
def runs_of(labels):
    """Return [start, end) of each run of equal labels other than 0."""
    edges = np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1, [len(labels)]]) if len(labels) else [0]
    return np.column_stack([edges[:-1], edges[1:]]).astype(np.intp)[labels[edges[:-1]] != 0]


def _edges(events, n_samples, name):
    """Return the borders of disjoint events and of the background between them."""
    events = events[np.argsort(events[:, 0], kind="stable")]
    overlap = np.flatnonzero(events[1:, 0] < events[:-1, 1])
    if len(overlap):
        first, second = events[overlap[0]].tolist(), events[overlap[0] + 1].tolist()
        rule, got = "hold disjoint events to be a segmentation", f"{first} and {second}"
        raise refused(name, rule, got, "Remove or cut one of them, or use event_f1_score.")
    if len(events) and events[-1, 1] > n_samples:
        rule, got = f"hold events within the recording of {n_samples} time points", events[-1].tolist()
        raise refused(name, rule, got, "Check that both inputs describe the same recording.")
    return np.union1d(events, [0, n_samples])


# ---------------------------------------------------------------------------------------------------------- checks
def _both_events(y_true, y_pred, name="y_pred"):
    """Return the events of both sides and the length of the recording (None if neither side gives it)."""
    (true, n_true), (pred, n_pred) = _events(y_true, "y_true"), _events(y_pred, name)
    if n_true is not None and n_pred is not None and n_true != n_pred:
        rule, got = "label the same time points", f"{n_true} and {n_pred} labels"
        raise refused(f"The 'y_true' and {name!r} parameters", rule, got, "Cut both to the same recording.")
    return true, pred, n_true if n_true is not None else n_pred


def _events(y, name):
    values = _as_labels(y, name)
    if values.ndim == 1:
        return runs_of(values), len(values) or None  # an empty list may also mean no events
    if values.ndim != 2 or values.shape[1] != 2:
        rule, got = "be labels of shape (n,) or events of shape (n_events, 2)", f"shape {values.shape}"
        raise refused(name, rule, got, "Pass one column of labels, for example numpy.ravel(y), or start and end.")
    events = as_indices(values, name)
    wrong = np.flatnonzero((events[:, 0] < 0) | (events[:, 1] <= events[:, 0]))
    if len(wrong):
        rule, got = "hold events [start, end) with 0 <= start < end", f"{events[wrong[0]].tolist()} in row {wrong[0]}"
        raise refused(name, rule, got, "Drop empty events; the end is the sample after the last one.")
    return events, None


def _as_labels(y, name):
    """Return labels or events as numbers; for texts, background becomes 0 and other texts become positive numbers."""
    try:
        values = np.asarray(y)
        if values.dtype == object and len({isinstance(value, str) for value in values.flat}) == 1:
            # Numbers in an object array become numbers; strings of digits stay strings.
            values = np.asarray(values.tolist())
    except ValueError:
        rule, got = "be an array of numbers", "rows of different lengths"
        raise refused(name, rule, got, "Pass labels of shape (n,) or events of shape (n_events, 2).") from None
    if values.dtype.kind == "U" and values.ndim == 1:
        return np.where(np.isin(values, BACKGROUND), 0, 1 + np.unique(values, return_inverse=True)[1])
    if values.dtype.kind not in "biuf":
        rule, got = "hold numbers, bools or texts, with 0 or an empty text for background", f"dtype {values.dtype}"
        numbers = "numpy.where(y == background, 0, 1 + numpy.unique(y, return_inverse=True)[1])"
        events = "Segments and matches are events as numpy.column_stack([found.start, found.end])."
        raise refused(name, rule, got, f"Number the labels, for example {numbers}. {events}")
    if values.ndim == 1 and np.isnan(values).any():
        got = f"{int(np.isnan(values).sum())} NaN, the first at index {int(np.isnan(values).argmax())}"
        raise refused(name, "have a label for each time point", got, "Use 0 for background.")
    return values


def labels_from_events(
    events: ArrayLike,
    kinds: ArrayLike | None = None,
    *,
    n_samples: int,
    before: int = 0,
    after: int = 0,
    on_overlap: str = "error",
) -> NDArray:
    """Label each time point by its event, such that the events can be distinguished again.

    The inverse of `events_from_labels`; estimators take the result as `y`. Between two touching events of one class one
    time point becomes background, because they would otherwise be one run; only two touching events of a single time
    point stay one run. An event that is listed twice with the same class counts once.

    Parameters
    ----------
    events : array-like of shape (n_events, 2) or (n_events,)
        Half-open ranges ``[start, end)`` in samples, in any order; with `before` or `after` also single samples, such
        as R peaks or picks. Parts outside of the recording are cut off.
    kinds : array-like of shape (n_events,), optional
        The class of each event, numbers other than 0 or texts. Default: 1 for all.
    n_samples : int
        Length of the recording.
    before, after : int, default=0
        Samples by which each event is widened: the range of a single sample is ``[sample - before, sample + after)``.
    on_overlap : {"error", "first", "merge", "cut"}, default="error"
        What to do with events that share time points. "first": keep the one listed first, and drop those that overlap
        it. "merge": join events of one class; overlaps of two classes remain an error. "cut": divide them halfway
        through the overlap; if one is within another, the outer one keeps its longer side.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The labels; 0, or an empty text, for background.

    Raises
    ------
    ValueError
        If shapes do not fit, an event is empty or starts before 0, a class means background, or events overlap and
        `on_overlap` does not say what to do.

    Examples
    --------
    >>> from sktslib.metrics import labels_from_events
    >>> labels_from_events([[0, 3], [3, 6], [6, 8]], [1, 1, 2], n_samples=9)
    array([1, 1, 1, 0, 1, 1, 2, 2, 0])
    >>> labels_from_events([[0, 4], [2, 7]], n_samples=8, on_overlap="merge")
    array([1, 1, 1, 1, 1, 1, 1, 0])
    >>> labels_from_events([1, 6], n_samples=8, before=2, after=1)
    array([1, 1, 0, 0, 1, 1, 1, 0])
    """
    rules = {"on_overlap": [StrOptions({"error", "first", "merge", "cut"})]}
    validate_parameter_constraints(rules, {"on_overlap": on_overlap}, "labels_from_events")
    counts = {"n_samples": n_samples, "before": before, "after": after}
    n, before, after = (check_count(value, name, low=0) for name, value in counts.items())
    none = hasattr(events, "__len__") and not len(events)
    if (before or after) and not none:
        events = as_indices(events, "events")
        if events.min() < 0:
            raise ValueError(f"The 'events' parameter must hold samples from 0 on. Got {events.min()}.")
        if events.ndim == 1 or events.shape[1:] in ((1,), (2,)):
            first, last = events.reshape(len(events), -1).T[[0, -1]]
            if (last < first).any():
                k = int(np.argmax(last < first))
                rule, got = "hold no range that ends before it starts", f"{events[k].tolist()} in row {k}"
                raise refused("events", rule, got, "The first column is the start, and the second the end.")
            events = np.column_stack([np.maximum(first - before, 0), last + after])
    ranges = _events(np.empty((0, 2), np.int64) if none else events, "events")[0]
    kinds = np.ones(len(ranges), np.int64) if kinds is None else np.asarray(kinds)
    if kinds.shape != (len(ranges),):
        raise refused("kinds", f"have one class for each of the {len(ranges)} events", f"shape {kinds.shape}")
    for k, kind in enumerate(kinds.tolist()):
        if is_background(kind):
            rule = "hold classes other than 0, '0' and the empty text, which mean background"
            raise refused("kinds", rule, f"{kind!r} at index {k}", "Add 1 to classes that are counted from 0.")
    listed = zip(*ranges.T.tolist(), kinds.tolist(), strict=True)
    inside = list(dict.fromkeys((start, min(end, n), kind) for start, end, kind in listed if start < n))
    kept = {"first": _first, "merge": _merged, "cut": _cut}.get(on_overlap, list)(inside)
    if shared := _overlapping(kept):
        (*first, a), (*second, b) = shared[:2]
        ways = ("'cut' to divide them halfway", _cut), ("'merge' to join them", _merged)
        ways = [way for way, make in ways if not _overlapping(make(inside))]
        even = "" if on_overlap == "error" else f", even with on_overlap={on_overlap!r}"
        got = f"{len(shared)} of {len(kept)} that do, the first {first} of class {a!r} and {second} of class {b!r}"
        others = f"{', '.join(ways)}, or " * bool(ways)
        out = f"Set on_overlap={others}'first' to leave out what overlaps an event listed before it."
        raise refused("events", f"not hold ranges that overlap{even}", got, out)
    try:
        labels = np.zeros(n, dtype=kinds.dtype)
    except (ValueError, MemoryError, OverflowError):
        raise ValueError(f"The 'n_samples' parameter must be a length whose labels fit into memory. Got {n}.") from None
    for start, end, kind in _cut(kept):
        labels[start:end] = kind
    return labels


def _merged(listed):
    """Return events sorted by start, with overlapping ones of one class joined."""
    out, last = [], {}
    for start, end, kind in sorted(listed, key=itemgetter(0)):
        k = last.get(kind)
        if k is not None and start < out[k][1]:
            out[k] = (out[k][0], max(out[k][1], end), kind)
        else:
            last[kind] = len(out)
            out.append((start, end, kind))
    return out


def _first(listed):
    """Return events sorted by start, without those that overlap a kept one that is listed earlier."""
    out = []
    for event in listed:
        k = bisect_left(out, event[1], key=itemgetter(0))
        if k == 0 or out[k - 1][1] <= event[0]:
            out.insert(k, event)
    return out


def _overlapping(listed):
    """Return the events that overlap another event, sorted by start."""
    found, reach = {}, (0, 0)
    for event in sorted(listed, key=itemgetter(0)):
        if event[0] < reach[1]:
            found |= {reach: None, event: None}
        reach = max(reach, event, key=itemgetter(1))
    return list(found)


def _cut(listed):
    """Return events cut where they overlap; between two of one class, one time point becomes background."""
    # Sorted by their middles, so that of nested events the outer one keeps its longer side.
    out = [list(event) for event in sorted(listed, key=lambda event: event[0] + event[1])]
    for one, other in pairwise(out):
        gap = int(one[2] == other[2])
        if one[1] + gap > other[0]:
            cut = (max(one[0], other[0]) + min(one[1], other[1])) // 2
            one[1] = max(min(cut, other[1] - 1 - gap), one[0] + 1)
            other[0] = min(one[1] + gap, other[1] - 1)
    return [tuple(event) for event in out]


# ------------------------------------------------------------------------------------------------------------ reports
ROWS = 12  # most rows of a table in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class EventReport:
    """True and found events in order of time, one row for each event or matched pair; see `event_report`.

    Attributes
    ----------
    kind : ndarray of str of shape (n,)
        "hit", "missed" or "false".
    cause : ndarray of str of shape (n,)
        Cause of a miss or a false event: "borders": it overlaps an event of the other side, but the borders differ too
        much; "double": it agrees with an event that has another partner; "distance": even the best candidate in its
        range is above the threshold; "nothing": otherwise. For a hit "label" if it was found as another class,
        otherwise "".
    true, found : ndarray of int of shape (n,)
        Numbers of the true events in temporal order, and of the found ones as given; -1 without one.
    true_start, true_end, found_start, found_end : ndarray of int of shape (n,)
        Half-open ranges in samples; -1 without one.
    start_error, end_error : ndarray of shape (n,)
        The found border minus the true one, in samples; NaN without a pair.
    start_error_time, end_error_time : ndarray of shape (n,) or None
        Differences of the times of the first samples, and of the last ones, in the unit of the times (seconds for
        datetimes); None without times.
    iou : ndarray of shape (n,)
        Intersection over union with the partner, or the largest one with an event of the other side.
    overlaps : ndarray of int of shape (n,)
        Partner of a hit; otherwise the number of the event of the other side with the largest intersection over union;
        -1 without one.
    true_label, label : ndarray of shape (n,) or None
        Classes, if known; None for a missing event.
    distance : ndarray of shape (n,) or None
        Distance of a match, or cost of a segment. For a missed event that of the best candidate in its range, for a
        query of its class; NaN without such a query, or if the samples are no longer held. None if ranges were given.
    next_query : ndarray of int of shape (n,) or None
        For a found event, the query of another class nearest to its samples; -1 without one.
    next_distance : ndarray of shape (n,) or None
        Distance or cost of `next_query` there: near that of the match itself if the classes are easily confused.

    Examples
    --------
    >>> from sktslib.metrics import event_report
    >>> report = event_report([(0, 10), (20, 30)], [(1, 11), (40, 50)])
    >>> report.kind.tolist(), report.start_error.tolist()
    (['hit', 'missed', 'false'], [1.0, nan, nan])
    """

    kind: np.ndarray
    cause: np.ndarray
    true: np.ndarray
    found: np.ndarray
    true_start: np.ndarray
    true_end: np.ndarray
    found_start: np.ndarray
    found_end: np.ndarray
    start_error: np.ndarray
    end_error: np.ndarray
    iou: np.ndarray
    overlaps: np.ndarray
    start_error_time: np.ndarray | None = None
    end_error_time: np.ndarray | None = None
    true_label: np.ndarray | None = None
    label: np.ndarray | None = None
    distance: np.ndarray | None = None
    next_query: np.ndarray | None = None
    next_distance: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def n_hit(self) -> int:
        """Number of events that were found."""
        return int((self.kind == "hit").sum())

    @property
    def n_missed(self) -> int:
        """Number of true events that were not found."""
        return int((self.kind == "missed").sum())

    @property
    def n_false(self) -> int:
        """Number of found events that match no true event."""
        return int((self.kind == "false").sum())

    @property
    def precision(self) -> float:
        """Share of the found events that are true; 0 where none were found, 1 where there were none to find either."""
        found = self.n_hit + self.n_false
        return self.n_hit / found if found else float(not len(self))

    @property
    def recall(self) -> float:
        """Share of the true events that were found; 0 without any, 1 if none was found either."""
        true = self.n_hit + self.n_missed
        return self.n_hit / true if true else float(not len(self))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, as `event_f1_score` returns it."""
        total = 2 * self.n_hit + self.n_missed + self.n_false
        return 2 * self.n_hit / total if total else 1.0

    def summary(self) -> Series:
        """Return counts, scores and mean errors.

        Returns
        -------
        pandas.Series
            `hit`, `missed`, `false`; `other_label`, the hits that were found as another class; `precision`, `recall`,
            `f1`; mean (`_mean`) and standard deviation (`_sd`) of `start_error` and `end_error` of the hits, in the
            unit of the times if there are some, else in samples.
        """
        import pandas as pd

        counts = {"hit": self.n_hit, "missed": self.n_missed, "false": self.n_false}
        counts["other_label"] = int((self.cause == "label").sum())
        values = counts | {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        for name in ("start_error", "end_error"):
            timed = getattr(self, f"{name}_time")
            errors = (getattr(self, name) if timed is None else timed)[self.kind == "hit"]
            values[f"{name}_mean"] = errors.mean() if errors.size else np.nan
            values[f"{name}_sd"] = errors.std(ddof=1) if errors.size > 1 else np.nan
        return pd.Series(values)

    def to_frame(self) -> DataFrame:
        """Return a table, one row an event.

        Returns
        -------
        DataFrame
            A column for each attribute that is not None; missing values where an event is lacking.
        """
        import pandas as pd

        columns = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}
        table = pd.DataFrame(columns)
        for name, values in columns.items():
            if values.dtype.kind == "i":
                table[name] = table[name].astype("Int64").mask(values < 0)
        return table

    def confusion(self) -> DataFrame:
        """Count the events of each true class by the class that they were found as.

        Returns
        -------
        pandas.DataFrame
            A row and a column for each class, of the true events and of the found ones. The last row, "background",
            counts what is false, and the last column what was missed.

        Raises
        ------
        ValueError
            If the classes of one side are not known.

        Examples
        --------
        >>> from sktslib.metrics import event_report
        >>> report = event_report(["N", "N", "", "V", "V", "", "N", "N"], ["N", "N", "", "N", "N", "", "", ""])
        >>> table = report.confusion()
        >>> table.columns.tolist(), table.loc["N"].tolist(), table.loc["V"].tolist()
        (['N', 'V', 'background'], [1, 0, 1], [1, 0, 0])
        """
        import pandas as pd

        sides = {"true": self.true_label, "found": self.label}
        for side, labels in sides.items():
            if labels is None:
                rule, got = "know the classes of both sides to count them", f"none of the {side} events"
                given = "kinds" if side == "true" else "the result of a search or a segmentation"
                raise refused("A report", rule, got, f"Give event_report labels of the time points, or {given}.")
        names = distinct(name for labels in sides.values() for name in labels.tolist() if name is not None)
        number = dict(zip([*names, None], range(len(names) + 1), strict=True))
        counts = np.zeros((len(number), len(number)), np.int64)
        np.add.at(counts, tuple([number[name] for name in labels.tolist()] for labels in sides.values()), 1)
        index, columns = (pd.Index([*names, "background"], dtype=object, name=side) for side in sides)
        return pd.DataFrame(counts, index, columns)

    def by_class(self) -> DataFrame:
        """Return precision, recall and F1 of each class; a hit is an event that was found as its class.

        Returns
        -------
        pandas.DataFrame
            Indexed by class: `true`, `found` and `hit`, numbers of events; `precision` and `recall`, 0 where there is
            no event; `f1`.

        Raises
        ------
        ValueError
            As `confusion`.
        """
        import pandas as pd

        table = self.confusion()
        true, found, hit = (values[:-1] for values in (table.sum(axis=1), table.sum(axis=0), np.diag(table)))
        columns = {"true": true, "found": found, "hit": hit, "precision": hit / np.maximum(found, 1)}
        columns |= {"recall": hit / np.maximum(true, 1), "f1": 2 * hit / (true + found)}
        return pd.DataFrame(columns, index=table.index[:-1].rename("label"))

    def __repr__(self):
        counts = f"{self.n_hit} hit, {self.n_missed} missed, {self.n_false} false"
        return f"<EventReport: {counts}, precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}>"

    def _repr_html_(self):
        from html import escape

        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html(max_rows=ROWS)}"


def event_report(
    y_true: ArrayLike,
    found: Any,
    *,
    kinds: ArrayLike | None = None,
    times: Times | None = None,
    min_iou: float = 0.5,
    tolerance: float | None = None,
) -> EventReport:
    """List hits, misses and false events with their errors and causes.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_events, 2)
        The annotation: a label for each time point, or events as half-open ``[start, end)`` in samples.
    found : Matches, Segments, or array-like of shape (n,) or (n_events, 2)
        The found events of this sequence: the result of a search or a segmentation, labels or ranges.
    kinds : array-like of shape (n_events,), optional
        The classes of the true events, if these are ranges.
    times : array-like of shape (n,), optional
        The sample times, for errors in their unit. Default: those of `found`, if it has those of all samples.
    min_iou : float, default=0.5
        Smallest intersection over union of matched events.
    tolerance : float, optional
        Largest difference of the starts, and of the ends, of matched events, in samples; replaces `min_iou`.

    Returns
    -------
    EventReport
        The report. Events are matched as in `event_f1_score`; of equally many pairs, those with the smallest border
        errors.

    Raises
    ------
    ValueError, TypeError
        See `event_f1_score`; also if `kinds` or `times` do not fit, or if matches are in several sequences.

    See Also
    --------
    event_f1_score : The score alone.
    sktslib.utils.visualisation.EventsDisplay : Draws the events.

    Examples
    --------
    >>> from sktslib.metrics import event_report
    >>> report = event_report([[10, 20], [40, 50], [70, 80]], [[11, 20], [44, 60], [90, 99]])
    >>> report
    <EventReport: 1 hit, 2 missed, 2 false, precision 0.333, recall 0.333, F1 0.333>
    >>> report.kind.tolist(), report.cause.tolist()
    (['hit', 'missed', 'false', 'missed', 'false'], ['', 'borders', 'borders', 'nothing', 'nothing'])
    >>> float(report.summary()["start_error_mean"])
    1.0
    """
    if getattr(found, "sequence", None) is not None:
        rule, got = "hold events of one sequence", "matches of a list of sequences"
        raise refused("found", rule, got, "Search each sequence by itself, and report on it with its own annotation.")
    is_result = hasattr(found, "start") and hasattr(found, "end")
    ranges = np.column_stack([found.start, found.end]) if is_result else found
    true, pred, agreeing, (rows, columns), n_samples = agreement(y_true, ranges, min_iou, tolerance, "found")
    _check_room(true, pred, n_samples)
    numbers = np.argsort(true[:, 0], kind="stable")  # indices of the true events, in temporal order
    rank = np.argsort(numbers)
    true, rows, agreeing = true[numbers], rank[rows], (rank[agreeing[0]], agreeing[1])
    # A hit has two indices. Other rows have one, and -1 for the other side, which selects the entry appended last.
    missed, false = (np.setdiff1d(np.arange(len(side)), known) for side, known in ((true, rows), (pred, columns)))
    i = np.concatenate([rows, missed, np.full(len(false), -1)]).astype(np.int64)
    j = np.concatenate([columns, np.full(len(missed), -1), false]).astype(np.int64)
    true, pred = (np.concatenate([side, [[-1, -1]]]) for side in (true, pred))
    order = np.lexsort((i < 0, np.where(i >= 0, true[i, 0], pred[j, 0])))
    i, j = i[order], j[order]
    hit = (i >= 0) & (j >= 0)
    iou, overlaps, agree = _overlaps(true, pred, (i, j), agreeing)
    sides = _true_labels(y_true, kinds, numbers), found.label if is_result else _labels(found)
    with_none = [None if of is None else np.append(of.astype(object), None) for of in sides]
    labels = [None if of is None else of[k] for of, k in zip(with_none, (i, j), strict=True)]
    known = _distances(np.where(j[:, None] >= 0, pred[j], true[i]), j, labels[0], found)
    cause = np.where(known.pop("above"), "distance", np.where(iou > 0, "borders", "nothing"))
    cause[agree] = "double"
    cause[hit] = ""
    if all(of is not None for of in sides) and {*sides[0].tolist()} & {*sides[1].tolist()}:
        cause[hit & (labels[0] != labels[1])] = "label"
    edges = *true[i].T, *pred[j].T
    errors = [np.where(hit, edges[end + 2] - edges[end], np.nan) for end in (0, 1)]
    t = _seconds(times, found, edges)
    timed = [None, None] if t is None else [np.where(hit, t[end + 2] - t[end], np.nan) for end in (0, 1)]
    kind = np.where(i < 0, "false", np.where(j < 0, "missed", "hit"))
    return EventReport(kind, cause, i, j, *edges, *errors, iou, overlaps, *timed, *labels, **known)


def _check_room(true, pred, n_samples):
    """Refuse events after the last label: the labels are then probably positions, or belong to another recording."""
    last = max((int(side[:, 1].max()) for side in (true, pred) if len(side)), default=0)
    if n_samples and last > n_samples:
        raise ValueError(
            f"Labels must be one for each time point of the recording. Got {n_samples}, and an event ends at {last}. "
            "Give events as [start, end) in two columns; of peaks or starts, numpy.column_stack([peaks - before, "
            "peaks + after])."
        )


def _overlaps(true, pred, pairs, agreeing):
    """Return for each row the largest intersection over union, the index of that event, and whether it agrees."""
    rows, columns, iou = pairs_by_overlap(true[:-1], pred[:-1])
    order = np.argsort(iou, kind="stable")  # so that the largest is written last
    found = []
    for side, own, other, fits, at in zip((true, pred), (rows, columns), (columns, rows), agreeing, pairs, strict=True):
        best, partner = np.zeros(len(side)), np.full(len(side), -1)
        best[own[order]], partner[own[order]] = iou[order], other[order]
        found.append((best[at], partner[at], np.isin(at, fits)))
    i, j = pairs
    alone = [np.where(i >= 0, of_true, of_pred) for of_true, of_pred in zip(*found, strict=True)]
    hit = (i >= 0) & (j >= 0)
    both = np.maximum(intersection_over_union(true[i], pred[j]), 0.0)
    return np.where(hit, both, alone[0]), np.where(hit, j, alone[1]), alone[2] & ~hit


def _distances(ranges, j, true_label, found):
    """Return the distances of the rows, those to other queries, and whether a missed event is above the threshold."""
    if not hasattr(found, "_compared"):
        return {"above": np.zeros(len(j), bool)}
    every, matched = found._compared(ranges), j >= 0
    count = every.shape[1]
    query = np.append(np.zeros(len(found.start), int) if found.query is None else found.query, -1)[j]
    label_of = np.full(count, None) if found._query_labels is None else found._query_labels.astype(object)
    own = label_of[query][:, None]
    left_out = matched[:, None] & (((label_of == own) & (own != None)) | (np.arange(count) == query[:, None]))  # noqa: E711
    # If some classes are labels of queries, the other classes belong to no query.
    if true_label is not None and {*label_of.tolist()} & {*true_label.tolist()} - {None}:
        left_out |= ~matched[:, None] & (label_of != true_label[:, None])
    values = np.where(left_out, np.nan, every)
    some = ~np.isnan(values).all(axis=1)
    best, least = np.full(len(j), -1), np.full(len(j), np.nan)
    best[some] = np.nanargmin(values[some], axis=1)
    least[some] = values[some, best[some]]
    limit = np.full(count, np.nan) if found._limits is None else found._limits
    above = some & ~matched & ~(values <= np.where(np.isnan(limit), np.inf, limit)).any(axis=1)
    known = {"distance": np.where(matched, np.append(getattr(found, found._measure), np.nan)[j], least), "above": above}
    if count > 1:
        known |= {"next_query": np.where(matched, best, -1), "next_distance": np.where(matched, least, np.nan)}
    return known


def _seconds(times, found, edges):
    """Return the times of the first and last samples of the events as numbers; None without times."""
    if times is None:
        times = getattr(found, "times", None)
        if times is None or hasattr(times, "samples"):
            return None
    last = max((int(edge.max()) for edge in edges if len(edge)), default=0)
    n = last if isinstance(times, Sampling) else len(times)
    t = as_times(times if isinstance(times, Sampling) else given_times(times, "times"), n, "times")
    if last > len(t):
        rule, got = "have a time for each sample of the recording", f"{len(t)}, and an event ends at {last}"
        out = "Clip the events to the recording, for example with numpy.clip, or pass the times of all of it."
        raise refused("'times'", rule, got, out)
    last_ones = (0, 1, 0, 1)  # the last samples, because a gap may follow them
    return [t[np.maximum(edge - back, 0)] for edge, back in zip(edges, last_ones, strict=True)]


def _true_labels(y_true, kinds, numbers):
    """Return the classes of the true events in temporal order; None without classes."""
    if kinds is None:
        return _labels(y_true)
    kinds = np.asarray(kinds)
    if np.ndim(y_true) == 1 and len(y_true):
        raise ValueError("The 'kinds' parameter must be None where 'y_true' are labels, which are the classes.")
    if kinds.shape != (len(numbers),):
        raise refused("kinds", f"have one class for each of the {len(numbers)} events", f"shape {kinds.shape}")
    return kinds[numbers]


def _labels(y):
    """Return the labels of the events in a label vector; None for ranges."""
    y = np.asarray(y)
    return y[runs_of(_as_labels(y, "y"))[:, 0]] if y.ndim == 1 else None


# ------------------------------------------------------------------------------------------------------------ scorers
class EventScorer:
    """Scorer of found events for scikit-learn's searches and cross-validation.

    Unlike ``make_scorer``, which compares labels per time point, it compares the ranges found by `QuerySearcher.search`
    or `QuerySegmenter.segment`, so that touching repetitions stay apart. In a pipeline the last step finds them. Times
    come with the index of pandas objects, or by metadata routing, see `set_score_request`.

    Parameters
    ----------
    score : callable
        Called as ``score(y_true, events, **parameters)``, such as `event_f1_score`, `boundary_error` and
        `segmentation_covering`.
    greater_is_better : bool, default=True
        False negates the score, as for errors.
    **parameters
        Passed to `score`.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.metrics import EventScorer, boundary_error
    >>> scorer = EventScorer(boundary_error, greater_is_better=False)
    >>> scorer(QuerySearcher("euclidean").fit([0, 1, 0]), [3, 0, 1, 0, 3], [0, 1, 1, 1, 1])
    -0.5
    """

    def __init__(self, score: Any, *, greater_is_better: bool = True, **parameters: Any) -> None:
        if not callable(score):
            raise TypeError(f"The 'score' parameter of EventScorer must be callable. Got {shown(score)}.")
        self.score = score
        self.greater_is_better = check_flag(greater_is_better, "greater_is_better", owner="EventScorer")
        self.parameters = parameters
        self._times = None

    def __repr__(self):
        further = "".join(f", {key}={value!r}" for key, value in self.parameters.items())
        return f"EventScorer({getattr(self.score, '__name__', self.score)}{further})"

    def set_score_request(self, *, times: Times) -> Self:
        """Ask for metadata, where metadata routing is switched on.

        Parameters
        ----------
        times : bool, str or None
            Whether ``fit(..., times=...)`` of a search, or `cross_validate`, hands the sample times of `X` on to the
            estimator asked; a string is another name for them there.

        Returns
        -------
        EventScorer
            Itself.
        """
        self._times = times
        return self

    def get_metadata_routing(self) -> Any:
        """Say what metadata is asked for.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        request = MetadataRequest(owner=self)
        request.score.add_request(param="times", alias=self._times)
        return request

    def __call__(self, estimator: Any, X: Sequences, y: ArrayLike, times: Times | None = None) -> float:
        if isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
        find = getattr(estimator, "segment", None) or getattr(estimator, "search", None)
        if find is None:
            raise TypeError(
                "EventScorer needs an estimator with 'search' or 'segment', or a pipeline that ends in one. Got "
                f"{type(estimator).__name__}; for labels per time point use sklearn.metrics.make_scorer."
            )
        found = find(X, times)
        value = self.score(y, np.column_stack([found.start, found.end]), **self.parameters)
        return value if self.greater_is_better else -value
