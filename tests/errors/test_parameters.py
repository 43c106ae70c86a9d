"""Numbers of every size and kind as parameters: each is computed with, or refused by an error that names the parameter.

Warnings are errors, so nothing overflows unseen.
"""

import inspect
from decimal import Decimal
from fractions import Fraction
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
from strategies import slow, unmeant

from sktslib import (
    QuerySearcher,
    QuerySegmenter,
    cluster,
    distances,
    get_distance_dict,
    neighbors,
    preprocessing,
    time_series_search,
    warmup,
)
from sktslib import distances as d
from sktslib import metrics as scores
from sktslib.distances import barycenter, metric_names, nearest_neighbors, pairwise_distances, recurrence
from sktslib.distances._metrics import registry
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.preprocessing import RunningBaseline
from sktslib.search import Learning, start_sequences_index
from sktslib.utils import _jobs
from sktslib.utils.visualisation import plot_alignment

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

HUGE = [10**30, -(10**30), 2**63, 2**64, 10**400, -(10**400), 2**63 - 1, -(2**63), 1e308, -1e308, 5e-324]
OTHER = [-1, 0, 0.5, np.nan, np.inf, -np.inf, "1", b"1", 1j, [], [1]]
OTHER += [np.array(3), np.array(0.5), Decimal("0.5"), Decimal(3)]
# Other kinds of the same number: they are computed with like the number itself, or refused.
ALIKE = [
    *((kind(3), 3) for kind in (np.int8, np.uint8, np.int64, np.uint64)),
    *((kind(0.5), 0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)),
    (np.int8(-3), -3),
    (np.uint64(2**63 + 5), 2**63 + 5),
    (Fraction(1, 2), 0.5),
    (Fraction(10**400, 3), 10**400),
    (np.float32(np.inf), np.inf),
    (np.float64(np.nan), np.nan),
]
FLAGS = [True, False, np.True_]
NO_NUMBERS = {"metric", "metric_params", "query", "queries", "weight", "dist", "VI", "function", "parameters"}

Q, OTHER_Q = np.array([0.0, 1.0, 2.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0, 0.0, 2.0])
S = np.random.default_rng(0).normal(size=30).round(1)
S[7:12] = S[20:25] = Q
X = np.random.default_rng(1).normal(size=(5, 6)).round(1)
E1, E2 = [[1, 4], [6, 9]], [[1, 5], [7, 9]]
CASES = {}


def case(name, parameter, call, flag=False):
    CASES[f"{name}: {parameter}"] = parameter, call, flag


def parameters(made):
    for name, p in inspect.signature(made).parameters.items():
        if name not in NO_NUMBERS:
            yield name, isinstance(p.default, bool) or name in ("verbose", "channels_first", "partial")


def lists(found):
    return [np.asarray(found.start).tolist(), np.asarray(found.end).tolist()]


def distance_of(cls, name, value):
    needed = {"factor": {"window": "sakoe-chiba"}, "tolerance": {"dtw_type": "psi-dtw"}}.get(name, {})
    return float(cls(**needed, **{name: value})(Q, OTHER_Q))


for cls in registry._REGISTRY.values():
    for name, flag in parameters(cls):
        case(cls.__name__, name, partial(distance_of, cls, name), flag)
for name in ("dtw", "lcss", "gak", "euclidean", "sbd"):
    case(name, "cutoff", lambda v, name=name: d.get_metric(name)(Q, OTHER_Q, cutoff=v))
for name, flag in parameters(QuerySearcher):
    case("search", name, lambda v, n=name: lists(QuerySearcher(**{n: v}).fit(Q).search(S)), flag)
    p = {"threshold": 3.0, "n_matches": None}
    how = lambda v, n=name, p=p: QuerySearcher(**{**p, n: v}).fit(Q).stream()  # noqa: E731
    case("stream", name, lambda v, how=how: [len(found.update(S)) + len(found.flush()) for found in [how(v)]], flag)
for name, flag in parameters(QuerySegmenter):
    case("segment", name, lambda v, n=name: lists(QuerySegmenter(**{n: v}).fit(Q).segment(S)), flag)
for name in ("KNeighborsTimeSeriesTransformer", "ShapeletTransform"):
    for parameter, flag in parameters(getattr(neighbors, name)):
        fixed = {"metric": "euclidean"} | ({"n_neighbors": 2} if name.startswith("KN") else {})
        fitted = lambda v, n=name, p=fixed, q=parameter: getattr(neighbors, n)(**{**p, q: v}).fit(X)  # noqa: E731
        case(name, parameter, lambda v, fitted=fitted: repr(fitted(v).transform(X)), flag)
for name in ("TimeSeriesKMeans", "TimeSeriesKMedoids"):
    for parameter, flag in parameters(getattr(cluster, name)):
        if parameter == "n_init":  # so many starts take as long
            continue
        fixed = {"n_clusters": 2, "metric": "euclidean", "random_state": 0, "max_iter": 2}
        fitted = lambda v, n=name, p=fixed, q=parameter: getattr(cluster, n)(**{**p, q: v}).fit(X)  # noqa: E731
        case(name, parameter, lambda v, fitted=fitted: repr(fitted(v).transform(X)), flag)
for parameter in ("n_candidates", "query_lengths", "random_state"):
    fixed = {"metric": "euclidean", "n_queries": 1, "n_candidates": 3, "query_lengths": (3, 4), "random_state": 0}
    learned = lambda v, p=fixed, q=parameter: neighbors.ShapeletTransform(**{**p, q: v}).fit(X, [0, 1, 0, 1, 1])  # noqa: E731
    case("learned queries", parameter, lambda v, learned=learned: repr(learned(v).transform(X)))
kneighbors = neighbors.KNeighborsTimeSeriesClassifier("euclidean").fit(X, [0, 1, 0, 1, 1]).kneighbors
case("kneighbors", "n_neighbors", lambda v: repr(kneighbors(n_neighbors=1 if v is None else v)))
case("kneighbors", "return_distance", lambda v: repr(kneighbors(return_distance=v)), True)
for name in ("max_iter", "tol", "random_state", "n_jobs", "verbose", "return_cost", "channels_first"):
    flag = name in ("verbose", "return_cost", "channels_first")
    for method, metric in (("dba", "dtw"), ("soft", "soft_dtw")):
        fixed = {"method": method, "max_iter": 2, "tol": 0.01, "random_state": 0}
        of = lambda v, n=name, p=fixed, m=metric: repr(barycenter(X, m, **{**p, n: v}))  # noqa: E731
        case(f"barycenter {method}", name, of, flag)
case("nearest_neighbors", "n_neighbors", lambda v: repr(nearest_neighbors(X, n_neighbors=v)))
for function in (nearest_neighbors, pairwise_distances):
    case(function.__name__, "channels_first", lambda v, f=function: repr(f(X, channels_first=v)), True)
case("pairwise_distances", "n_jobs", lambda v: pairwise_distances(X, n_jobs=v).tolist())
for kind in ("number", "threshold", "percentile"):
    case(f"output {kind}", "output", lambda v, kind=kind: np.asarray(start_sequences_index(S, (kind, v))).tolist())
    entry = get_distance_dict(["euclidean"])
    case(f"search {kind}", "output", lambda v, k=kind, e=entry: repr(time_series_search(e, Q, S, output=(k, v))))
case("start_sequences_index", "overlap", lambda v: start_sequences_index(S, ("number", 3), v).tolist())
case("dlp", "p", lambda v: distances.dlp(Q, OTHER_Q, v))
case("pearson_correlation", "beta", lambda v: distances.pearson_correlation(Q, OTHER_Q, v))
case("BlockedSeriesSplit", "n_splits", lambda v: repr(list(BlockedSeriesSplit(v).split(S))))
case("BlockedSeriesSplit", "gap", lambda v: repr(list(BlockedSeriesSplit(2, gap=v).split(S))))
case("event_f1_score", "min_iou", lambda v: scores.event_f1_score(E1, E2, min_iou=v))
case("event_f1_score", "tolerance", lambda v: scores.event_f1_score(E1, E2, tolerance=v))
case("boundary_error", "min_iou", lambda v: scores.boundary_error(E1, E2, min_iou=v))
case("labels_from_events", "n_samples", lambda v: scores.labels_from_events(E1, n_samples=v)[:9].tolist())
for score in (scores.event_f1_score, scores.boundary_error, scores.segmentation_covering):
    case(score.__name__, "y_true", lambda v, score=score: score([[0, v]], [[0, 9]]), True)
case("warmup", "n_channels", lambda v: warmup("euclidean", tasks="distance", n_channels=v))
case("recurrence", "size", lambda v: recurrence(terms=max, moves=max, size=v) and None)
for name in ("offset", "every"):
    case("plot_alignment", name, lambda v, n=name: plot_alignment(Q, OTHER_Q, [[0, 4], [0, 4]], **{n: v}) and None)

for cls, fixed in ((preprocessing.BandPass, {"low": 1, "high": 3, "sampling_rate": 9}), (RunningBaseline, {})):
    for name, flag in parameters(cls):
        of = lambda v, c=cls, n=name, p=fixed: c(**{**p, n: v}).fit_transform(S).tolist()  # noqa: E731
        case(cls.__name__, name, of, flag)
for name in ("rate", "sampling_rate"):
    fixed = {"rate": 3, "sampling_rate": 9}
    case("resample", name, lambda v, n=name, p=fixed: preprocessing.resample(S, **{**p, n: v}).tolist())


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    """Those that are asked for are made, hundreds of them if nothing forbids it."""
    monkeypatch.setattr(_jobs, "MOST_THREADS", 4)


def outcome(parameter, call, value):
    """What is computed, or None where the value is refused in words that name the parameter."""
    try:
        return repr(call(value))
    except (TypeError, ValueError) as error:
        assert parameter in str(error), f"{value!r}: {error}"
        return None
    finally:
        plt.close("all")


# A picture for each value takes long, and so does compiling what no other test needs but examples in docstrings.
LONG = "plot", "ERP", "Frechet", "MSM", "WDDTW", "WDTW"


@pytest.mark.parametrize("name", [case for n in CASES for case in (slow(n) if n.startswith(LONG) else [n])])
def test_numbers_are_computed_with_or_refused_by_name(name):
    parameter, call, flag = CASES[name]
    for value in HUGE + OTHER:
        outcome(parameter, call, value)
    for value in [] if flag else FLAGS:
        assert outcome(parameter, call, value) is None, value  # True is no number
    for value, plain in ALIKE:
        got = outcome(parameter, call, value)
        assert got is None or got == outcome(parameter, call, plain), value
        if isinstance(value, np.integer):
            assert got == outcome(parameter, call, plain), value


def test_every_metric_with_parameters_is_tried():
    tried = {name.split(":")[0] for name in CASES}
    for name in metric_names():
        cls = registry._REGISTRY[name]
        assert cls.__name__ in tried or not set(dict(parameters(cls)))


def test_more_blocks_than_samples_and_gaps_beyond_them_are_said():
    for split in (BlockedSeriesSplit(10**30), BlockedSeriesSplit(13), BlockedSeriesSplit(3, gap=10**30)):
        with pytest.raises(ValueError, match="A recording of 12 samples must leave training and test samples in each"):
            list(split.split(range(12)))
    assert len(list(BlockedSeriesSplit(12).split(range(12)))) == 12


def test_refining_without_end_is_refining_until_nothing_changes():
    recording = np.concatenate([Q + 0.1 * k for k in range(4)])
    few, many = (
        QuerySegmenter("dtw", learning=Learning(refine=n), background=9.0).fit(Q).segment(recording)
        for n in (50, 2**62)
    )
    assert lists(few) == lists(many)
    np.testing.assert_array_equal(few.cost, many.cost)


def test_a_high_power_does_not_overflow():
    assert distances.dlp([0.0, 1.0, 5.0], [2.0, 1.0, 2.0], 10**6) == pytest.approx(3.0, rel=1e-5)
    assert distances.dlp([0.0, 1.0], [2.0, 1.0], 1e300, weight=[0.0, 1.0]) == 0.0
