"""Labels of time points: their classes, background, and the occurrences that they mark."""

from typing import NamedTuple

import numpy as np

from ...metrics._events import change_points, is_background


class Labels(NamedTuple):
    """Labels of time points as numbers: 0 background, from 1 on the classes."""

    code: np.ndarray  # (n,)
    classes: np.ndarray  # (k,), sorted
    background: object  # the label that stands for it


def read_labels(y):
    """Labels of any type, an array (n,), as numbers."""
    values = y.tolist()
    missing = sum(v is None or v != v for v in values)
    if missing:
        raise ValueError(
            f"'y' must have a label for each time point. Got {missing} NaN or None; background is 0 or an empty text."
        )
    distinct = list(dict.fromkeys(values))
    classes = [v for v in distinct if not is_background(v)]
    try:
        classes.sort()
    except TypeError:  # numbers and texts together
        classes.sort(key=str)
    number = dict.fromkeys(distinct, 0) | {label: k + 1 for k, label in enumerate(classes)}
    background = next((v for v in distinct if is_background(v)), y.dtype.type() if y.dtype.kind != "O" else 0)
    code = np.array([number[v] for v in values], dtype=np.int64)
    return Labels(code, np.array(classes, dtype=y.dtype), background)


def with_background(background, labels):
    """Labels of one type, that of background before the others."""
    return np.concatenate([np.array([background], dtype=labels.dtype), labels])


def occurrences(code):
    """Half-open ranges (k, 2) of the runs of one label other than 0, of 2 samples at least, and their labels (k,)."""
    edges = change_points(code)
    if len(code) == 0:
        return np.empty((0, 2), np.int64), np.empty(0, np.int64)
    kept = (code[edges[:-1]] != 0) & (np.diff(edges) > 1)
    return np.column_stack([edges[:-1], edges[1:]])[kept], code[edges[:-1]][kept]
