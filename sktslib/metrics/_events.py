"""Event scores: a label for each time point, or intervals, against the annotation of the same recording."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils.validation import as_indices, check_number
from ._matching import closest_matching, count_matched, pairs_by_iou, pairs_by_tolerance

BACKGROUND = "", "0"  # texts that mean it


def is_background(value):
    """Whether a label means background: 0, False, an empty text or the text "0"."""
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
        raise ValueError(
            f"The 'y' parameter must be a label for each time point, of shape (n,). Got shape {labels.shape}. "
            "Pass one column, for example numpy.ravel(y)."
        )
    return _runs(labels)


def event_f1_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, min_iou: float = 0.5, tolerance: float | None = None
) -> float:
    """F1 score of events: how many true events were found, and how many found ones are true.

    A true and a predicted event agree when their intersection over union is at least `min_iou` or, with `tolerance`,
    when both their borders are at most that far apart. Each event is matched at most once, and as many as possible
    are: ``2 TP / (n_true + n_pred)``. The classes of the events (the values of the labels) are not compared.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2)
        The annotation and the prediction: a label for each time point, a number or a text (0 and the empty text are
        background, runs of equal other values are events), or events as half-open ``[start, end)`` in sample indices.
        One may be labels and the other events.
    min_iou : float, default=0.5
        Least intersection over union of events that agree, in (0, 1]. Not used when `tolerance` is given.
    tolerance : float, optional
        Largest difference of starts, and of ends, of events that agree, in samples.

    Returns
    -------
    score : float
        Between 0 and 1. It is 1 when neither side has an event.

    Raises
    ------
    ValueError
        If an input holds neither numbers nor texts, has another shape, or its events are empty or begin before 0; if
        two label vectors differ in length; if `min_iou` or `tolerance` is out of its range.
    TypeError
        If `min_iou` or `tolerance` is no number.

    See Also
    --------
    boundary_error : How exact the borders of the matched events are.
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
    """True and found events, the pairs that agree, those that are matched, and the recording's length, if known.

    Pairs are two arrays of indices. As many are matched as `event_f1_score` counts, those whose borders are closest.
    `name` is what the caller calls the found ones.
    """
    true, pred, n_samples = _both_events(y_true, y_pred, name)
    rows, columns = agreeing = _agreeing(true, pred, min_iou, tolerance)
    if len(rows):
        errors = np.abs(true[rows] - pred[columns]).sum(axis=1)
        rows, columns = closest_matching(rows, columns, errors, len(true), len(pred))
    return true, pred, agreeing, (rows, columns), n_samples


def _agreeing(true, pred, min_iou, tolerance):
    """The pairs of events that agree."""
    if tolerance is None:
        return pairs_by_iou(true, pred, check_number(min_iou, "min_iou", low=0, high=1, open_low=True))
    return pairs_by_tolerance(true, pred, check_number(tolerance, "tolerance", low=0))


def boundary_error(y_true: ArrayLike, y_pred: ArrayLike, *, min_iou: float = 0.5) -> float:
    """Mean distance of the borders of matched events, in samples.

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
    true, pred, _ = _both_events(y_true, y_pred)
    rows, columns = pairs_by_iou(true, pred, check_number(min_iou, "min_iou", low=0, high=1, open_low=True))
    if len(true) + len(pred) == 0:
        return 0.0
    if len(rows) == 0:
        return math.inf
    errors = np.abs(true[rows] - pred[columns]).sum(axis=1)
    rows, columns = closest_matching(rows, columns, errors, len(true), len(pred))
    return float(np.abs(true[rows] - pred[columns]).mean())


def segmentation_covering(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Covering of the true segmentation by the predicted one.

    Each true segment counts with the largest intersection over union it reaches with a predicted segment, weighted by
    its length [1]_ [2]_. Stretches of background are segments as well, on both sides. The score is not symmetric.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2)
        The annotation and the prediction: a label for each time point (runs of equal values are segments), or
        disjoint events as half-open ``[start, end)`` in sample indices (what lies between them is background). The
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
    # Both sides divide the whole recording, so the pieces between all borders are all the intersections there are.
    cuts = np.union1d(true_edges, pred_edges)
    rows = np.searchsorted(true_edges, cuts[:-1], side="right") - 1
    columns = np.searchsorted(pred_edges, cuts[:-1], side="right") - 1
    true_lengths, pred_lengths, common = np.diff(true_edges), np.diff(pred_edges), np.diff(cuts)
    iou = common / (true_lengths[rows] + pred_lengths[columns] - common)
    best = np.zeros(len(true_lengths))
    np.maximum.at(best, rows, iou)
    return min(1.0, float(best @ true_lengths / n_samples))


# --------------------------------------------------------------------------------------------------- events, borders
def _runs(labels):
    """Return [start, end) of each run of equal labels other than 0."""
    edges = change_points(labels)
    foreground = labels[edges[:-1]] != 0
    return np.column_stack([edges[:-1], edges[1:]])[foreground]


def change_points(labels):
    """Return the borders of the runs of equal labels, 0 and the length included."""
    if len(labels) == 0:
        return np.zeros(1, dtype=np.intp)
    return np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1, [len(labels)]])


def _edges(events, n_samples, name):
    """Return the borders of disjoint events and of the background between them."""
    events = events[np.argsort(events[:, 0], kind="stable")]
    overlap = np.flatnonzero(events[1:, 0] < events[:-1, 1])
    if len(overlap):
        first, second = events[overlap[0]].tolist(), events[overlap[0] + 1].tolist()
        raise ValueError(
            f"The '{name}' parameter must hold disjoint events to be a segmentation. Got {first} and {second}. "
            "Remove or cut one of them, or use event_f1_score."
        )
    if len(events) and events[-1, 1] > n_samples:
        raise ValueError(
            f"The '{name}' parameter must hold events within the recording of {n_samples} time points. "
            f"Got {events[-1].tolist()}. Check that both inputs describe the same recording."
        )
    return np.union1d(events, [0, n_samples])


# ---------------------------------------------------------------------------------------------------------- checks
def _both_events(y_true, y_pred, name="y_pred"):
    """Return the events of both sides and the length of the recording (None if no side tells it)."""
    (true, n_true), (pred, n_pred) = _events(y_true, "y_true"), _events(y_pred, name)
    if n_true is not None and n_pred is not None and n_true != n_pred:
        raise ValueError(
            f"The 'y_true' and {name!r} parameters must label the same time points. "
            f"Got {n_true} and {n_pred} labels. Cut both to the same recording."
        )
    return true, pred, n_true if n_true is not None else n_pred


def _events(y, name):
    values = _as_labels(y, name)
    if values.ndim == 1:
        return _runs(values), len(values) or None  # an empty list may be no events as well
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(
            f"The '{name}' parameter must be labels of shape (n,) or events of shape (n_events, 2). "
            f"Got shape {values.shape}. Pass one column of labels, for example numpy.ravel(y), or start and end."
        )
    events = as_indices(values, name)
    wrong = np.flatnonzero((events[:, 0] < 0) | (events[:, 1] <= events[:, 0]))
    if len(wrong):
        raise ValueError(
            f"The '{name}' parameter must hold events [start, end) with 0 <= start < end. "
            f"Got {events[wrong[0]].tolist()} in row {wrong[0]}. Drop empty events; the end is the sample after the "
            "last one."
        )
    return events, None


def _as_labels(y, name):
    """Labels or events as an array of numbers; of texts the background becomes 0, every other one a number."""
    try:
        values = np.asarray(y)
        if values.dtype == object and len({isinstance(value, str) for value in values.flat}) == 1:
            # Numbers kept as objects become numbers; strings of digits stay strings.
            values = np.asarray(values.tolist())
    except ValueError:
        raise ValueError(
            f"The '{name}' parameter must be an array of numbers. Got rows of different lengths. "
            "Pass labels of shape (n,) or events of shape (n_events, 2)."
        ) from None
    if values.dtype.kind == "U" and values.ndim == 1:
        return np.where(np.isin(values, BACKGROUND), 0, 1 + np.unique(values, return_inverse=True)[1])
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The '{name}' parameter must hold numbers, bools or texts, with 0 or an empty text for background. "
            f"Got dtype {values.dtype}. Number the labels, for example "
            "numpy.where(y == background, 0, 1 + numpy.unique(y, return_inverse=True)[1]). Segments and matches are "
            "events as numpy.column_stack([found.start, found.end])."
        )
    if values.ndim == 1 and np.isnan(values).any():
        raise ValueError(
            f"The '{name}' parameter must have a label for each time point. Got {int(np.isnan(values).sum())} NaN, "
            f"the first at index {int(np.isnan(values).argmax())}. Use 0 for background."
        )
    return values
