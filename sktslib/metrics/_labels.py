"""Labels of time points made from annotated events."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils.validation import check_count
from ._events import _events, is_background


def labels_from_events(events: ArrayLike, kinds: ArrayLike | None = None, *, n_samples: int) -> NDArray:
    """Label each time point by the event it lies in, so that the events can be distinguished again.

    It is the inverse of `events_from_labels`, and what `fit` of the estimators takes as `y`. Between two events of one
    class at least one time point of background is left, for else they would be one run. Events that overlap are cut
    halfway through what they have in common; if one lies within another, the outer one keeps its longer side.

    Parameters
    ----------
    events : array-like of shape (n_events, 2)
        Half-open ranges ``[start, end)`` in samples, in any order. What lies outside of the recording is cut off.
    kinds : array-like of shape (n_events,), optional
        The class of each event, numbers other than 0 or texts. Default: 1 for all.
    n_samples : int
        Length of the recording.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        0, or an empty text, for background.

    Raises
    ------
    ValueError
        If shapes do not fit, an event is empty or begins before 0, or a class means background.

    Examples
    --------
    >>> from sktslib.metrics import labels_from_events
    >>> labels_from_events([[0, 3], [3, 6], [6, 8]], [1, 1, 2], n_samples=9)
    array([1, 1, 1, 0, 1, 1, 2, 2, 0])
    """
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
    order = np.argsort(ranges.mean(axis=1), kind="stable")  # of nested ones the outer keeps its longer side
    ranges, kinds = ranges[order].copy(), kinds[order]
    for k in range(1, len(ranges)):
        gap = int(kinds[k] == kinds[k - 1])
        if ranges[k - 1, 1] + gap > ranges[k, 0]:
            cut = (ranges[k - 1 : k + 1, 0].max() + ranges[k - 1 : k + 1, 1].min()) // 2
            ranges[k - 1, 1], ranges[k, 0] = cut, cut + gap
    try:
        labels = np.zeros(n, dtype=kinds.dtype)
    except (ValueError, MemoryError, OverflowError):
        raise ValueError(f"The 'n_samples' parameter must be a length whose labels fit into memory. Got {n}.") from None
    for (start, end), label in zip(ranges.tolist(), kinds, strict=True):
        labels[start:end] = label
    return labels
