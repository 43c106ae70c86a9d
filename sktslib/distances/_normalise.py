"""Normalising series by their weighted moments, as searches do window by window."""

import numpy as np


def full_weight(w, x):
    """The weights as an array, ones where there are none."""
    return np.ones_like(x) if w is None else w


def constant_channels(a, w):
    """Which channels (..., channels, m) have one value at all points of positive weight; their least and largest."""
    low = np.where(w > 0, a, np.inf).min(axis=-1, keepdims=True)
    high = np.where(w > 0, a, -np.inf).max(axis=-1, keepdims=True)
    return ~(low < high), low, high


def normalise(a, w, how):
    """Normalise each channel of each series `(..., channels, m)` by its weighted moments; constant ones become zeros.

    `how`: None, "mean", "zscore" or "minmax"; `w` (channels, m).
    """
    if how is None:
        return a
    constant, low, high = constant_channels(a, w)
    weight = np.broadcast_to(w, a.shape)
    total = np.maximum(weight.sum(axis=-1, keepdims=True), 1e-300)  # a channel of weight zero counts as constant
    centred = a - (low if how == "minmax" else (weight * a).sum(axis=-1, keepdims=True) / total)
    if how == "zscore":
        spread = np.sqrt((weight * centred**2).sum(axis=-1, keepdims=True) / total)
    else:
        spread = np.ones_like(low) if how == "mean" else high - low
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))


def standardise(a):
    """Each channel to mean 0 and population standard deviation 1; a constant channel becomes zeros."""
    centred = a - a.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    constant = a.max(axis=1, keepdims=True) == a.min(axis=1, keepdims=True)
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))


def fill(a):
    """Replace NaN by linear interpolation over time, per channel; a channel without a value becomes 0."""
    gaps = np.isnan(a)
    if not gaps.any():
        return a
    out, at = a.copy(), np.arange(a.shape[1])
    for row, gap in zip(out, gaps, strict=True):
        row[gap] = np.interp(at[gap], at[~gap], row[~gap]) if not gap.all() else 0.0
    return out
