"""The table of distances: of each its kind, values of its parameters, and facts that tests ask for.

A new distance is one entry. What stands here is read by all tests and by the fuzzing; no list of names is kept beside.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of a distance beside its definition."""

    kind: str  # "lockstep", "warped" (elastic, with a warping path), "pathless" (elastic, without), "time"
    # Of each parameter the values that cover its cases, some of them twice, so that they are drawn more often.
    values: dict = field(default_factory=dict)
    values_of_pairs: dict = field(default_factory=dict)  # as `values`, of two whole series, instead of them or beside
    degree: int | None  # the distance grows as this power of the unit of the values (None: as no power),
    units: dict = field(default_factory=dict)  # where these parameters grow as these powers
    power: float | str | None = None  # a lockstep distance is this root (or parameter) of a sum over the points
    is_sum: bool = True  # whether an elastic distance adds costs up
    is_dtw: bool = False  # dynamic time warping and its kin, which square differences
    is_cost: bool = True  # whether an elastic distance is its accumulated cost
    is_positive: bool = False  # defined for positive values alone
    is_ratio: bool = False  # computed as 1 minus something
    has_lags: bool = False  # whether costs depend on where a candidate starts, whatever the parameters
    same_length: bool = False  # of series of one length alone
    # Whether sums of quarters are exact, so that equal costs are equal in every implementation; "one channel": there.
    exact_sums: bool | str = True
    # Whether the last bit of a value may decide much: of points that are equal, zero, between others, or within eps.
    is_sharp: bool = False


DTW = {"kind": "warped", "degree": 2, "is_dtw": True}
LOGISTIC = {**DTW, "has_lags": True, "exact_sums": False}
COUNT = {"kind": "warped", "degree": 0, "units": {"eps": 1}, "is_sharp": True, "is_ratio": True, "is_cost": False}
EPS = [1.0, 0.0, 0.25, 0.6, 3.0]

TABLE = {
    "braycurtis": Entry(kind="lockstep", degree=0, is_sharp=True),
    "canberra": Entry(kind="lockstep", degree=0, power=1, is_sharp=True),
    "chebyshev": Entry(kind="lockstep", degree=1),
    "correlation": Entry(kind="lockstep", degree=0, is_ratio=True),
    "cosine": Entry(kind="lockstep", degree=0, is_ratio=True),
    "euclidean": Entry(kind="lockstep", degree=1, power=2),
    "hamming": Entry(kind="lockstep", degree=0, is_sharp=True),
    "kullback_leibler": Entry(kind="lockstep", degree=1, power=1, is_positive=True),
    "mahalanobis": Entry(kind="lockstep", degree=1, power=2),
    "manhattan": Entry(kind="lockstep", degree=1, power=1),
    "minkowski": Entry(kind="lockstep", degree=1, power="p", values={"p": [3, 1, 2, 2.5, 0.5]}),
    "pearson_correlation": Entry(kind="lockstep", degree=0, is_ratio=True, values={"beta": [None, 1.0, 0.5]}),
    "short_time_series": Entry(kind="lockstep", degree=1, power=2, same_length=True),
    "sqeuclidean": Entry(kind="lockstep", degree=2, power=1),
    "adtw": Entry(**DTW, units={"omega": 2}, values={"omega": [0.5, 0.0, 2.0, 0.1]}),
    "cid_dtw": Entry(kind="warped", degree=1, has_lags=True, is_cost=False, exact_sums=False),
    "ddtw": Entry(**DTW),
    "dtw": Entry(
        **DTW,
        values={"alpha": [1.0, 1.0, 1.0, 0.7, 0.3, 0.0], "do_dist_norm": [False, False, True]},
        values_of_pairs={
            "do_sign_norm": [False, False, False, True],
            "dtw_type": ["dtw", "dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"],
        },
    ),
    "edr": Entry(**COUNT, values={"eps": EPS}),
    "erp": Entry(kind="warped", degree=1, units={"g": 1}, values={"g": [0.0, -0.5, 0.3]}, exact_sums="one channel"),
    "frechet": Entry(kind="warped", degree=1, is_sum=False, exact_sums="one channel"),
    "lcss": Entry(**COUNT, values={"eps": EPS}),
    "msm": Entry(kind="warped", degree=1, units={"c": 1}, values={"c": [1.0, 0.0, 0.5, 0.1]}, is_sharp=True),
    "shape_dtw": Entry(**DTW, values={"reach": [5, 0, 1, 3]}),
    "twed": Entry(
        kind="warped",
        degree=1,
        units={"nu": 1, "lmbda": 1},
        values={"nu": [0.25, 0.0, 0.001, 1.0], "lmbda": [1.0, 0.0, 0.5, 0.1]},
        values_of_pairs={"p": [2, 1, 3, 1.5]},  # searches and collections have the norm from the same few lines
        exact_sums="one channel",
    ),
    "wddtw": Entry(**LOGISTIC, values={"g": [0.05, 0.0, 0.5]}),
    "wdtw": Entry(**LOGISTIC, values={"g": [0.05, 0.0, 1.0]}),
    "gak": Entry(
        kind="pathless",
        degree=0,
        units={"sigma": 1},
        values={"sigma": [1.0, 0.7, 5.0], "triangular": [None, None, 3, 20]},
        is_ratio=True,
        exact_sums=False,
    ),
    "sbd": Entry(kind="pathless", degree=0, is_ratio=True, exact_sums=False),
    "soft_dtw": Entry(
        kind="pathless",
        degree=2,
        units={"gamma": 2},
        values={"gamma": [1.0, 0.01, 0.5, 30.0], "divergence": [True, True, False]},
        exact_sums=False,
    ),
    "tam": Entry(kind="time", degree=0),
}


def names(**facts):
    """Names of the distances with these facts, in alphabetical order within their kind."""
    return tuple(name for name, entry in TABLE.items() if all(getattr(entry, k) == v for k, v in facts.items()))


LOCKSTEP, WARPED, PATHLESS = names(kind="lockstep"), names(kind="warped"), names(kind="pathless")
POSITIVE = names(is_positive=True)
SUMS = tuple(name for name in LOCKSTEP if TABLE[name].power)
SQUARES = names(is_dtw=True)


def power(name, p=3, **params):
    """The root of a sum that a lockstep distance of `SUMS` is."""
    return p if TABLE[name].power == "p" else TABLE[name].power


def domain(name, v):
    """Values for which the distance is defined: the given ones, or their exponentials."""
    return np.exp(v) if TABLE[name].is_positive else v


def looks_back(name, params):
    """Whether costs depend on where a candidate starts: by lags, or by times that count from there."""
    return TABLE[name].has_lags or params.get("nu", 0.0) > 0


def bounded(name, params, distance):
    """A distance on a scale that ends: beside a pole, where r = -1 or x = -y, and at a root roundings are magnified."""
    if name == "pearson_correlation" and params.get("beta") is not None:
        return 2 / (1 + np.asarray(distance) ** (1 / params["beta"]))
    return 1 / (1 + np.asarray(distance)) if name == "braycurtis" else distance


def has_exact_sums(name, params, channels=1):
    """Whether sums of quarters are exact, so that equal costs are equal in every implementation."""
    exact = TABLE[name].exact_sums
    if params.get("alpha", 1) != 1 or params.get("do_sign_norm") or not exact:
        return False
    added = [params.get(key, 0.0) for key in ("omega", "c", "g", "lmbda", "nu")]
    return (exact is True or channels == 1) and all(4 * cost % 1 == 0 for cost in added)
