"""Profiles of windows: of the query's length, or of several lengths that are resampled to it."""

from numbers import Real

import numpy as np

from ..distances._series import places
from ..utils.validation import shown
from ._missing import observed_profile, runs
from ._near_windows import applies, near_windows
from ._results import Profile

LONGEST = 10**7  # samples of a window


def _is_factor(scale, m):
    return isinstance(scale, Real) and not isinstance(scale, bool) and 0 < scale * m <= LONGEST


def scaled_lengths(scales, m):
    """The lengths of the windows that `scales` mean for a query of m points, ascending; None for its own alone."""
    if scales is None:
        return None
    valid = isinstance(scales, tuple | list) or (isinstance(scales, np.ndarray) and scales.ndim == 1)
    if not valid or not len(scales) or not all(_is_factor(s, m) for s in scales):
        raise ValueError(
            "The 'scales' parameter must be None, a pair (least, largest), or a list of factors above 0, for windows "
            f"of at most {LONGEST:,} samples. Got {shown(scales)}."
        )
    scales = type(scales)(map(float, scales)) if isinstance(scales, tuple | list) else scales.astype(float)
    if isinstance(scales, tuple):
        if len(scales) != 2 or scales[0] > scales[1]:
            raise ValueError(
                f"The 'scales' parameter as a tuple must be (least, largest). Got {shown(scales)}; give a list of "
                "factors to try these alone."
            )
        return np.arange(max(1, round(scales[0] * m)), max(1, round(scales[1] * m)) + 1)
    return np.unique([max(1, round(s * m)) for s in scales])


def window_profile(metric, x, w, y, tx, ty, normalize, lengths=None, rule=None, *, exactly=False):
    """The profile of all windows; with `lengths` each start at the length that fits best (ties: the shortest).

    With a `rule` windows that it cannot choose may be left out. Only distances computed `exactly` have no slack.
    """
    # A sum is not finite if one of its terms is not; what overflows is looked at term by term.
    gaps = not np.isfinite(y.sum()) and np.isnan(y).any()
    m = x.shape[1]
    if lengths is None:
        if rule is not None and applies(metric, rule, ty is not None, m * (y.shape[1] - m + 1)):
            return Profile(*near_windows(metric, x, w, y, normalize, rule, gaps), m)
        profile = observed_profile if gaps else type(metric)._profile
        distance = profile(metric, x, w, y, tx, ty, normalize, exactly)
        return Profile(distance, None, m, 0.0 if exactly else metric._slack(x, w, len(distance), normalize))
    n = y.shape[1]
    best, length = (
        np.full(max(n - int(lengths[0]) + 1, 0), np.inf),
        np.full(max(n - int(lengths[0]) + 1, 0), lengths[0]),
    )
    for first, last in runs(y):
        piece, times = np.ascontiguousarray(y[:, first:last]), None if ty is None else ty[first:last]
        for size in lengths[lengths <= last - first].tolist():
            distance = metric._scaled_profile(x, w, piece, tx, times, normalize, size)
            here = slice(first, first + len(distance))
            better = distance < best[here]
            best[here][better], length[here][better] = distance[better], size
    return Profile(best, None, length)


def scaled_path(path, m, start, end):
    """The path of a window that was resampled to m points, in samples of the sequence: the nearest ones."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])
