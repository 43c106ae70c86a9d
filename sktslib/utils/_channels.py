"""Channels that are compared together though one of them decides alone."""

import numpy as np

from ._warnings import warn

DECIDES = 0.99  # share of the variance of all channels
WAY_OUT = (
    "If the others are to count, too, scale query and sequences, for example with sklearn.preprocessing.StandardScaler"
)


def notice_channels(x, w=None, names=None):
    """Warn of a query (channels, m) of which one channel has nearly all variance, and so decides what is near.

    `w` are weights of the same shape, `names` those of the channels. Channels that do not vary are no matter of scale.
    """
    if len(x) < 2:
        return
    w = np.where(np.isnan(x), 0.0, 1.0 if w is None else w)
    total = w.sum(axis=1)
    x, total = np.nan_to_num(x), np.where(total > 0.0, total, 1.0)
    mean = (w * x).sum(axis=1) / total
    # The largest is 1, so that no square of it overflows.
    size = np.abs(x - mean[:, np.newaxis]).max() or 1.0
    variance = (w * ((x - mean[:, np.newaxis]) / size) ** 2).sum(axis=1)
    k = int(variance.argmax())
    share = variance[k] / (variance.sum() or 1.0)
    if np.count_nonzero(variance) < 2 or share <= DECIDES:
        return
    shown = f"{np.floor(1000.0 * share) / 10.0:g}"
    name = f"channel {k} of {len(x)}, counted from 0," if names is None else f"channel {names[k]!r}"
    warn(
        f"The channels of the query should vary about alike. The {name} has {shown} % of the variance of all, so that "
        f"the distance is hardly about the others. {WAY_OUT}."
    )
