"""Labels of time points made from annotated events."""

from bisect import bisect_left
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils._names import did_you_mean
from ..utils.validation import check_count, shown
from ._events import _events, is_background

ON_OVERLAP = "error", "first", "merge", "cut"


def labels_from_events(
    events: ArrayLike, kinds: ArrayLike | None = None, *, n_samples: int, on_overlap: str = "error"
) -> NDArray:
    """Label each time point by the event it lies in, so that the events can be distinguished again.

    It is the inverse of `events_from_labels`, and what `fit` of the estimators takes as `y`. Between two events of one
    class that touch one time point becomes background, for else they would be one run; only two single time points
    that touch stay one run. An event that is listed twice with the same class counts once.

    Parameters
    ----------
    events : array-like of shape (n_events, 2)
        Half-open ranges ``[start, end)`` in samples, in any order. What lies outside of the recording is cut off.
    kinds : array-like of shape (n_events,), optional
        The class of each event, numbers other than 0 or texts. Default: 1 for all.
    n_samples : int
        Length of the recording.
    on_overlap : {"error", "first", "merge", "cut"}, default="error"
        What to do with events that share time points. "first": keep the one that is listed first, and leave out those
        that overlap it. "merge": join events of one class; those of two classes remain an error. "cut": divide them
        halfway through what they share; if one lies within another, the outer one keeps its longer side.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        0, or an empty text, for background.

    Raises
    ------
    ValueError
        If shapes do not fit, an event is empty or begins before 0, a class means background, or events overlap and
        `on_overlap` does not say what to do.

    Examples
    --------
    >>> from sktslib.metrics import labels_from_events
    >>> labels_from_events([[0, 3], [3, 6], [6, 8]], [1, 1, 2], n_samples=9)
    array([1, 1, 1, 0, 1, 1, 2, 2, 0])
    >>> labels_from_events([[0, 4], [2, 7]], n_samples=8, on_overlap="merge")
    array([1, 1, 1, 1, 1, 1, 1, 0])
    """
    if on_overlap not in ON_OVERLAP:
        raise ValueError(
            f"The 'on_overlap' parameter must be one of {', '.join(map(repr, ON_OVERLAP))}. Got {shown(on_overlap)}."
            f"{did_you_mean(on_overlap, ON_OVERLAP)}"
        )
    n = check_count(n_samples, "n_samples", low=0)
    none = hasattr(events, "__len__") and not len(events)
    ranges = _events(np.empty((0, 2), np.int64) if none else events, "events")[0]
    kinds = np.ones(len(ranges), np.int64) if kinds is None else np.asarray(kinds)
    if kinds.shape != (len(ranges),):
        raise ValueError(
            f"The 'kinds' parameter must have one class for each of the {len(ranges)} events. Got shape {kinds.shape}."
        )
    for k, kind in enumerate(kinds.tolist()):
        if is_background(kind):
            raise ValueError(
                "The 'kinds' parameter must hold classes other than 0, '0' and the empty text, which mean background. "
                f"Got {kind!r} at index {k}. Add 1 to classes that are counted from 0."
            )
    listed = zip(*ranges.T.tolist(), kinds.tolist(), strict=True)
    inside = list(dict.fromkeys((start, min(end, n), kind) for start, end, kind in listed if start < n))
    kept = {"first": _first, "merge": _merged, "cut": _cut}.get(on_overlap, list)(inside)
    if shared := _overlapping(kept):
        (*first, a), (*second, b) = shared[:2]
        ways = ("'cut' to divide them halfway", _cut), ("'merge' to join them", _merged)
        ways = [way for way, make in ways if not _overlapping(make(inside))]
        even = "" if on_overlap == "error" else f", even with on_overlap={on_overlap!r}"
        raise ValueError(
            f"The 'events' parameter must not hold ranges that overlap{even}. Got {len(shared)} of {len(kept)} that "
            f"do, the first {first} of class {a!r} and {second} of class {b!r}. Set on_overlap="
            f"{', '.join(ways) + ', or ' if ways else ''}'first' to leave out what overlaps an event listed before it."
        )
    try:
        labels = np.zeros(n, dtype=kinds.dtype)
    except (ValueError, MemoryError, OverflowError):
        raise ValueError(f"The 'n_samples' parameter must be a length whose labels fit into memory. Got {n}.") from None
    for start, end, kind in _cut(kept):
        labels[start:end] = kind
    return labels


def _merged(listed):
    """Events, in order of their starts, of which those of one class that overlap are joined."""
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
    """Events, in order of their starts, without those that overlap one that is listed before them and kept."""
    out = []
    for event in listed:
        k = bisect_left(out, event[1], key=itemgetter(0))
        if k == 0 or out[k - 1][1] <= event[0]:
            out.insert(k, event)
    return out


def _overlapping(listed):
    """Those that overlap another event, in order of their starts."""
    listed, found, reach = sorted(listed, key=itemgetter(0)), {}, None
    for event in listed:
        if reach is not None and event[0] < reach[1]:
            found |= {reach: None, event: None}
        if reach is None or event[1] > reach[1]:
            reach = event
    return list(found)


def _cut(listed):
    """Events that are cut where they overlap, with a time point of background between those of one class."""
    # In order of their middles, so that of nested ones the outer keeps its longer side.
    out = [list(event) for event in sorted(listed, key=lambda event: event[0] + event[1])]
    for one, other in pairwise(out):
        gap = int(one[2] == other[2])
        if one[1] + gap > other[0]:
            cut = (max(one[0], other[0]) + min(one[1], other[1])) // 2
            one[1] = max(min(cut, other[1] - 1 - gap), one[0] + 1)
            other[0] = min(one[1] + gap, other[1] - 1)
    return [tuple(event) for event in out]
