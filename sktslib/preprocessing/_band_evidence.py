"""Bands judged by the events of blocks that are held out: what the typical event explains of them and of all else."""

from typing import NamedTuple

import numpy as np
from scipy import signal

from ..search._learning.chosen_metric import BLOCKS, blocks_of
from ._event_spectra import NEAR, cut, ratio_of

SHARES = 2.0 ** -np.arange(1, 8)  # of the largest ratio, by halves: below a hundredth hardly anything is of an event
WRONG = 0.05  # share of the events, and of what is no event, that is left out: of 20 the worst one


class Gains(NamedTuple):
    """How much less power is left without the typical event of the rest than with it, by its own, in a held-out block.

    1 where the event itself is, 0 where half of it is, and -1 where nothing is.
    """

    events: np.ndarray
    others: np.ndarray  # the largest ones where no event is


def candidates(found, best):
    """The band that the spectra say is best, and those about the largest ratio in which it falls to a share of it."""
    frequencies, ratio = found.frequencies, ratio_of(found)
    peak, half, bands = int(np.argmax(ratio)), frequencies[1] / 2, [best]
    for share in SHARES:
        below = np.flatnonzero(ratio < share * ratio[peak])
        first = below[below < peak].max(initial=0) + 1
        last = below[below > peak].min(initial=len(frequencies))
        low = None if first <= 1 else float(frequencies[first] - half)
        band = low, None if last == len(frequencies) else float(frequencies[last] - half)
        if band not in bands:
            bands.append(band)
    return bands


def choose_band(found, best, filtered, ranges, code, look_alikes):
    """The narrowest of the candidates that are as good as the best one by what is held out.

    As good is what is worse by no more than the standard error of the difference, from leaving out one block after the
    other (jackknife). Where a block has so few events that none of them is left out as wrong, there is no evidence, and
    the band is the first of the candidates.

    Parameters
    ----------
    found : Spectra
    best : tuple (low, high)
        The band that the spectra say is best.
    filtered : callable
        From a band the recording (channels, n) in it.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The events and their classes.
    look_alikes : list of ndarray of shape (j, 2)
        Ranges that may be events without a mark, and tell nothing.
    """
    ranges, code = (part[np.argsort(ranges[:, 0], kind="stable")] for part in (ranges, code))
    if len(ranges) * WRONG < BLOCKS:
        return best
    bands, trials, unknown = candidates(found, best), [], np.concatenate(look_alikes)
    for band in bands:
        data = filtered(band)
        blocks = blocks_of(ranges, data.shape[1])
        trials.append([gains(data, ranges, code, block, unknown) for block in blocks])
    scores = np.array([detectability(trial) for trial in trials])
    without = np.array([[detectability(trial[:b] + trial[b + 1 :]) for b in range(BLOCKS)] for trial in trials])
    top = int(np.argmax(scores))
    error = np.sqrt(BLOCKS - 1) * (without[top] - without).std(axis=1)
    width = [(high or found.frequencies[-1]) - (low or 0.0) for low, high in bands]
    return bands[int(np.argmin(np.where(scores[top] - scores <= error, width, np.inf)))]


def gains(data, ranges, code, block, unknown):
    """The gains of a block's events, at the best place near each, and of all else in it."""
    within = block.holds(ranges)
    part = data[:, block.first : block.last]
    n = part.shape[1]
    events, lengths, largest = [], [], np.full(n, -np.inf)
    for label in np.unique(code[~within]):
        template = np.median(cut(data, ranges[~within & (code == label)]), axis=0)
        m, power = template.shape[1], (template**2).sum()
        if m > n or not power > 0:
            continue
        common = sum(signal.oaconvolve(y, x[::-1], "valid") for y, x in zip(part, template, strict=True))
        gain = np.full(n, -np.inf)
        gain[: len(common)] = 2 * common / power - 1
        reach = int(NEAR * m)
        for start in ranges[within & (code == label), 0] - block.first:
            events.append(gain[max(start - reach, 0) : max(start + reach + 1, 0)].max(initial=-np.inf))
        largest = np.maximum(largest, gain)
        lengths.append(m)
    if not lengths:
        return Gains(np.empty(0), np.empty(0))
    half = min(lengths) // 2
    for start in np.append(ranges[within, 0], unknown[:, 0]) - block.first:
        largest[max(start - half, 0) : max(start + half, 0)] = -np.inf
    places = signal.find_peaks(np.concatenate([[-np.inf], largest, [-np.inf]]), distance=max(half, 1))[0] - 1
    events, others = np.array(events), largest[places]
    return Gains(events[np.isfinite(events)], others[np.isfinite(others)])


def detectability(blocks):
    """How far apart the medians of events and others are, by that and how far the tails reach towards each other.

    1 where all events have one gain and all else another one, 1/2 where the tails meet, 0 where the medians do.
    """
    events, others = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if not len(events) or not len(others):
        return 0.0
    usual, weak = np.quantile(events, [0.5, WRONG])
    other, strong = np.quantile(others, [0.5, 1 - WRONG])
    apart = usual - other
    return float(apart / (apart + (usual - weak) + (strong - other))) if apart > 0 else 0.0
