"""Ranges without a mark that look like the marked events of a recording."""

import numpy as np
from scipy import signal

from ..search._learning.learned_background import of_another
from ._event_spectra import typical

LARGER = 0.5  # share of a stretch's power; an event explains the larger part of what looks like it
CHANCE = 0.05  # the usual share of false discoveries


def find_look_alikes(data, ranges, code):
    """Of each class the ranges without a mark of whose power its typical event explains the larger part."""
    data, taken, found = *_as_compared(data, ranges), []
    for label in np.unique(code):
        m, left, _ = _left_over(data, ranges[code == label])
        found.append(_not_taken(left, m, LARGER, taken))
    return found


def recurring(filtered, ranges, code):
    """Ranges without a mark that are events all the same, and the numbers of their classes; none where that is unsure.

    The typical event leaves over no more of them than of the marked ones. Noise looks as often like the mirrored event:
    each class needs so many that look like it that those which look more like its mirrored event, and one, are a
    twentieth of them at most. Of several bands that is taken in which most are found.

    Parameters
    ----------
    filtered : iterable of ndarray of shape (channels, n)
        The recording in some bands.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The marked events and the numbers of their classes.
    """
    best, same = np.empty((0, 2), ranges.dtype), np.empty(0, code.dtype)
    for data in filtered:
        data, taken, found = *_as_compared(data, ranges), []
        for label in np.unique(code):
            own = ranges[code == label]
            m, left, mirrored = _left_over(data, own)
            known = left[own[own[:, 0] < len(left), 0]]
            limit = min(of_another(known.max(initial=0.0), len(known)), LARGER)
            more = _not_taken(np.minimum(left, mirrored), m, limit, taken)
            right = left[more[:, 0]] < mirrored[more[:, 0]]
            found.append(more[right] if (~right).sum() + 1 <= CHANCE * right.sum() else more[:0])
        if sum(map(len, found)) > len(best):
            best, same = np.concatenate(found), np.repeat(np.unique(code), [len(one) for one in found])
    return best, same


def _as_compared(data, ranges):
    """The recording with channels that vary alike, and which samples are marked."""
    deviation = data.std(axis=1, keepdims=True)
    taken = np.zeros(data.shape[1], bool)
    for start, end in ranges:
        taken[start:end] = True
    return data / np.where(deviation > 0, deviation, 1.0), taken


def _left_over(data, ranges):
    """The length of a typical event, and the shares of power it leaves over from each sample on, as is and mirrored."""
    template = typical(data, ranges)[0]
    power = np.convolve((data**2).sum(axis=0), np.ones(template.shape[1]), "valid")
    common = sum(signal.correlate(y, x, "valid") for y, x in zip(data, template, strict=True))
    own = (template**2).sum()
    # Hardly any power, as beside events in silence, would make shares too large for floats; 1 is too much already.
    both, least = power + own, np.maximum(power, max(np.finfo(float).eps * own, np.finfo(float).tiny))
    return template.shape[1], (both - 2 * common) / least, (both + 2 * common) / least


def _not_taken(left, m, limit, taken):
    """Ranges of m samples of which at most so much is left over, and that are not taken; then they are."""
    starts = signal.find_peaks(-left, height=-limit, distance=m)[0]
    free = np.array([not taken[start : start + m].mean() > LARGER for start in starts], bool)
    found = np.column_stack([starts, starts + m])[free]
    for start, end in found:
        taken[start:end] = True
    return found
