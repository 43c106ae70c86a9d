"""Series that every distance takes, other input, and what an error must be."""

import numpy as np
import pandas as pd
import pytest

from sktslib import get_distance_dict
from sktslib.distances import lockstep_distances

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


class Slices:
    """A sequence that can only be sliced."""

    def __init__(self, y):
        self.y, self.shape = y, y.shape

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return self.y[part]


def refused(call, error, *parts):
    """The message of an error of a kind that holds some words, and reads as a sentence or two on one line."""
    with pytest.raises(error) as raised:
        call()
    message = str(raised.value)
    for part in parts:
        assert part in message
    assert "\n" not in message
    assert len(message) < 1500
    return message


def entry(**keys):
    return {"elastic": {"mine": keys}}


def one(a, b):
    """The same distance for any two points or series."""
    return 1.0
