"""Series that every distance takes, other input, and what an error must be."""

import numpy as np
import pandas as pd
import pytest

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict
from sktslib.distances import lockstep_distances
from sktslib.distances._kernels import lockstep
from sktslib.search import ChannelPlan, Learning, Normalization, Percentile, Subsequences, Windows

RNG = np.random.default_rng(0)
Q, S = RNG.uniform(0.1, 2.0, size=8), RNG.uniform(0.1, 2.0, size=30)  # positive, which every distance takes
Q2, S2 = RNG.uniform(0.1, 2.0, size=(8, 2)), RNG.uniform(0.1, 2.0, size=(30, 2))
T, TS = np.arange(8.0), np.arange(30.0)
HUGE = 10**400
DAYS = pd.date_range("2024-01-01", periods=4, freq="s")
READ_ONLY = np.arange(4.0)
READ_ONLY.flags.writeable = False

DTW_DICT = get_distance_dict(["dtw"])
EUCLIDEAN_DICT = get_distance_dict(["euclidean"])
LOCKSTEP = lockstep_distances.__all__


def exact_profile(p, x, y, w, scaling, out):
    """Fill in the distances of a query from each window of its length by the kernel that takes no running sums."""
    lockstep.stretched(p, x, y, w, scaling, 0.0, np.arange(x.shape[1]), None, out)


class Slices:
    """A sequence that can only be sliced; it knows how many samples were read, and the most at once."""

    def __init__(self, y, chunk=None):
        self.y, self.shape, self.dtype, self.read, self.most = y, y.shape, y.dtype, 0, 0
        if chunk is not None:
            self.chunks = (chunk,) * y.ndim

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        piece = self.y[part]
        self.read, self.most = self.read + len(piece), max(self.most, len(piece))
        return piece


def identical(got, want, names=("start", "end", "distance")):
    """Two results are equal in these columns, to the bit."""
    for name in names:
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), err_msg=name)


def refused(call, *parts, error=ValueError):
    """The message of an error of a kind that holds some words, and reads as a sentence or two on one line."""
    with pytest.raises(error) as raised:
        call()
    message = str(raised.value)
    for part in parts:
        assert part in message
    assert "\n" not in message
    assert len(message) < 1500
    return message


def invariant(metric, x, y, w):
    """The distance of a pair, which keeps what each metric promises: of weights, of axes, and of the two series."""
    d = float(metric.distance(x, y, weight=w))
    if w is not None:  # weights are relative
        assert metric.distance(x, y, weight=4 * w) == d
    assert float(metric.distance(x, y, weight=np.full(len(x), 3.0))) == float(metric.distance(x, y))
    assert float(metric.distance(x.reshape(len(x), -1), y.reshape(len(y), -1), weight=w)) == d
    if metric.is_symmetric:
        np.testing.assert_allclose(metric(x, y), metric(y, x), rtol=1e-9, atol=1e-11)
    if metric.is_metric:
        z = np.roll(y, 1, axis=0) + 1.0
        assert metric(x, z) <= metric(x, y) + metric(y, z) + 1e-9
    return d


def entry(**keys):
    return {"elastic": {"mine": keys}}


def one(a, b):
    """The same distance for any two points or series."""
    return 1.0


def grouped(of, flat):
    """Parameters that the reference implementations take one by one, as the objects that an estimator takes."""
    flat = dict(flat)

    def taken(*names):
        return {name: flat.pop(name) for name in names if name in flat}

    mode, scales, bounds = flat.pop("mode", None), flat.pop("scales", None), taken("min_length", "max_length")
    limits, percentile = taken("scale_limits", "offset_limit"), flat.pop("percentile", None)
    names = {
        "channel_lag": "lag",
        "lag_tolerance": "tolerance",
        "channel_weight": "weight",
        "min_channels": "min_votes",
    }
    names["min_channels"] = "min_votes"
    channels = {names[name]: value for name, value in taken(*names).items()}
    if not channels.get("tolerance") and all(value is None for name, value in channels.items() if name != "tolerance"):
        channels = {}  # all by default: channels together
    learning = taken("n_templates", "refine", "self_train")
    if bounds and of is QuerySegmenter:
        low, high = (bounds.get(name) for name in ("min_length", "max_length"))
        of_each = any(isinstance(bound, list) for bound in (low, high))
        count = len(low or high) if of_each else 1
        low, high = ([bound] * count if not isinstance(bound, list) else bound for bound in (low, high))
        flat["lengths"] = list(zip(low, high, strict=True)) if of_each else (low[0], high[0])
    elif bounds:
        flat["candidates"] = Subsequences(**bounds)
    elif scales is not None:
        flat["candidates"] = Windows(scales)
    elif mode is not None:
        flat["candidates"] = mode
    if limits:
        flat["normalize"] = Normalization(flat.pop("normalize", None), **limits)
    if percentile is not None:
        flat["threshold"] = Percentile(percentile)
    if channels:
        flat["channels"] = ChannelPlan(**channels)
    if learning:
        flat["learning"] = Learning(**learning)
    return flat


def searcher_of(*metric, **flat):
    """A searcher of parameters that the reference implementations take one by one."""
    return QuerySearcher(*metric, **grouped(QuerySearcher, flat))


def segmenter_of(*metric, **flat):
    """A segmenter of parameters that the reference implementations take one by one."""
    return QuerySegmenter(*metric, **grouped(QuerySegmenter, flat))
