"""Run the test suites of other packages with this package's functions in the place of theirs.

    python benchmarks/peers_tests.py [--peers NAME ...] [--checkout NAME=PATH ...] [-v]

The peers are tslearn, aeon, dtaidistance, stumpy, pyts, dtw-python and tssearch. Each must be installed, or its source
code given by ``--checkout``; the wheels of most hold no tests, which then come from the checkout while the package is
the installed one. A peer that is neither installed nor given, or without tests, is skipped. For each function of a peer
there is an adapter below: it translates the arguments, calls sktslib, and brings the result into the peer's form.
Functions that the peer builds on it, such as its estimators, then compute with sktslib, too. Only tests that call an
adapter count:

agree        the test passes.
differs      sktslib defines something in another way, see ``docs/definitions.rst`` and ``docs/coming_from.rst``. An
             adapter says so of a call by `differs`. A failing test is run again, with the peer's own function in such
             calls alone: only if it passes then they are the whole reason. The rest stands in `EXPLAINED`.
option       the same of calls with an option that sktslib does not have.
peer's       the test fails without any adapter, too.
unexplained  any other failure; with one of these the exit code is 1.

``-v`` prints all tests that do not agree, with the reason of each.
"""

import argparse
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache, partial, wraps
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit

from sktslib import QuerySearcher, distances
from sktslib.distances import barycenter, pairwise_distances, recurrence, register_metric

KINDS = "agree", "differs", "option", "peer's", "unexplained"
MODES = "all", "known", "none"  # what runs here: all adapters, those without a known difference, none
SPEED = {"be", "n_jobs", "parallel", "use_mp", "show_progress", "verbose", "use_c", "use_pruning", "use_lowmem"}
SPEED |= {"T_subseq_isfinite", "M_T", "Σ_T", "query_idx", "use_ndim", "nb_initial_samples", "keep_averages"}
NOTED = {}  # of the test that runs: whether an adapter was called, and what it said
MODE = os.environ.get("PEERS_TESTS_MODE", "all")


# ------------------------------------------------------------------------------------------------------------ adapters
class OptionMissing(Exception):
    """sktslib has no such option."""


class Known(Exception):
    """The peer's own function is to be used for this call."""


def missing(what):
    NOTED.setdefault("option", what)
    raise Known if MODE == "known" else OptionMissing(what)


def differs(condition, reason):
    """Say that the definitions differ for this call, if a condition holds."""
    if condition:
        NOTED.setdefault("differs", reason)
        if MODE == "known":
            raise Known


def adapted(original, adapter):
    """Return the adapter in the form of the peer's function; options that it has no parameter for are missing."""
    signature, takes = inspect.signature(original), inspect.signature(adapter).parameters
    takes_all = any(p.kind == p.VAR_KEYWORD for p in takes.values())
    rest = next((name for name, p in signature.parameters.items() if p.kind == p.VAR_KEYWORD), None)

    @wraps(original)
    def function(*args, **kwargs):
        NOTED["called"] = True
        if MODE == "none" or NOTED.get("within"):  # within the peer's own function
            return original(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = {**bound.arguments, **bound.arguments.get(rest, {})}
        given = {name: value for name, value in given.items() if name not in (*SPEED, rest)}
        try:
            for name in () if takes_all else given.keys() - takes.keys():
                default = signature.parameters[name].default if name in signature.parameters else None
                value = given.pop(name)
                if value is not default and (np.ndim(value) or value != default):
                    missing(f"{original.__name__}({name}=)")
            return adapter(**given)
        except Known:
            NOTED["within"] = True
            try:
                return original(*args, **kwargs)
            finally:
                NOTED["within"] = False

    return function


def replace(adapters, modules=None):
    """Replace functions of a peer, ``{"module.function": adapter}``, in its modules; return the new functions.

    `modules` is a pattern: aeon's other modules hold compiled functions, which can only call compiled ones.
    """
    made = {}
    for path, adapter in adapters.items():
        module, name = path.rsplit(".", 1)
        original = getattr(import_module(module), name)
        made[path] = original, adapted(original, adapter)
    pattern = re.compile(modules or rf"{path.split('.')[0]}(\..*)?")
    for module in [module for name, module in sys.modules.items() if pattern.fullmatch(name)]:
        for key, value in list(vars(module).items()):
            for original, new in made.values():
                if value is original:
                    setattr(module, key, new)
    return {path: new for path, (_, new) in made.items()}


def looked_up(costs):
    """Two series, the numbers of rows and columns, and the local cost that finds theirs in a given matrix."""
    costs = np.asarray(costs, dtype=float)
    rows, columns = (np.arange(n, dtype=float) for n in costs.shape)
    return rows, columns, lambda a, b: costs[int(a), int(b)]


def pairs(path):
    return [(int(i), int(j)) for i, j in path.T]


def sakoe_chiba(radius):
    return {"window": "sakoe-chiba", "factor": int(radius)}


ABSOLUTE = njit(lambda a, b: np.abs(a - b))  # a local cost
BANDS = "the band of series of unequal lengths follows the diagonal from corner to corner"
SLOPES = "another slope of Itakura's band than 2"
CHANNELS = "series of different numbers of channels"
SELF = "theirs is 0 for a series and itself"


# ---------------------------------------------------------------------------------------------------------------- aeon
AEON = {"squared": "sqeuclidean", "twe": "twed"}  # other names here
AEON |= {name: name for name in "dtw ddtw wdtw wddtw adtw lcss edr erp msm sbd soft_dtw shape_dtw".split()}
AEON |= {name: name for name in ("euclidean", "manhattan", "minkowski")}


def aeon_metric(name, channels, unequal, *, window=None, itakura_max_slope=None, n_jobs=None, **options):
    """The metric that one of aeon's is under its options."""
    if itakura_max_slope is not None:
        missing(SLOPES)
    differs(name in ("ddtw", "wddtw"), "theirs has no slopes of the first and last point")
    differs(name == "shape_dtw", "theirs adds up single points along the path")
    differs(name in ("edr", "erp"), "what leaving points out at the start costs")
    differs(name in ("euclidean", "manhattan", "squared", "minkowski") and unequal, "lockstep distances interpolate")
    differs(name in ("msm", "sbd") and channels > 1, f"{name} of several channels")
    if name == "edr" and options.get("epsilon") is None:
        missing("edr without epsilon, which theirs takes from the standard deviations")
    if name == "erp" and (options.pop("g_arr", None) is not None or options["g"] is None):
        missing("erp: a gap value for each channel")
    if not options.pop("independent", True):
        missing("msm(independent=False)")
    if options.pop("w", None) is not None:
        missing("weights that are not relative")
    if options.pop("transformation_precomputed", False):
        missing("shape_dtw of given neighborhoods")
    band = {}
    if window is not None and window != 1:
        differs(unequal, BANDS)
        band = sakoe_chiba(0) if window == 0 else {"window": float(window)}
    for other in ("standardize", "transformed_x", "transformed_y", "descriptor"):
        options.pop(other, None)
    options = {{"epsilon": "eps", "warp_penalty": "omega"}.get(key, key): value for key, value in options.items()}
    fixed = {"divergence": False} if name == "soft_dtw" else {}
    return distances.get_metric(AEON[name], {**options, **band, **fixed})


def aeon_series(x, name, standardize=True, **_):
    x = np.asarray(x, dtype=float)
    if x.ndim > 2:
        raise ValueError("x and y must be 1D or 2D")
    x = np.atleast_2d(x)
    if name == "sbd" and standardize:
        if x.shape[1] == 1:
            missing("the z-score of one point")
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    return x.T


def aeon_pair(name, kind, x, y, **options):
    x, y = aeon_series(x, name, **options), aeon_series(y, name, **options)
    if x.shape[1] != y.shape[1]:
        missing(CHANNELS)
    if name == "soft_dtw" and kind != "distance":
        missing("a path or cost matrix of soft_dtw")
    differs(name == "soft_dtw" and np.array_equal(x, y), SELF)
    d = aeon_metric(name, x.shape[1], len(x) != len(y), **options).distance(x, y)
    if kind == "distance":
        return abs(float(d)) if name == "soft_dtw" else float(d)
    if kind == "alignment_path":
        return pairs(d.path), float(d)
    if name != "lcss":
        return d.cost_matrix
    i, j = np.indices(d.cost_matrix.shape) + 1
    return np.pad((i + j - d.cost_matrix) / 2, ((1, 0), (1, 0)))  # lengths of common subsequences


def aeon_pairwise(name, X=None, y=None, x=None, **options):
    from aeon.utils.conversion._convert_collection import _convert_collection_to_numba_list as convert
    from aeon.utils.validation.collection import _is_numpy_list_multivariate as several

    X = x if X is None else X
    form = several(X, y)
    X, Y = (None if a is None else [aeon_series(b, name, **options) for b in convert(a, "", form)[0]] for a in (X, y))
    lengths, channels = (set(sizes) for sizes in zip(*(a.shape for a in [*X, *(Y or [])]), strict=True))
    if len(channels) > 1:
        missing(CHANNELS)
    differs(name == "soft_dtw" and any(np.array_equal(a, b) for a in X for b in Y or X), SELF)
    metric = aeon_metric(name, max(channels), len(lengths) > 1, **options)
    X, Y = (None if a is None else [b.T for b in a] for a in (X, Y))
    d = pairwise_distances(X, Y, metric=metric, channels_first=True)
    return abs(d) if name == "soft_dtw" else d


def aeon():
    for other in ("classification.distance_based", "regression.distance_based", "clustering"):
        import_module(f"aeon.{other}")
    from aeon.distances._distance import DISTANCES

    for entry in DISTANCES:
        name = entry["name"]
        for kind in ("distance", "pairwise_distance", "alignment_path", "cost_matrix"):
            if name in AEON and kind in entry:
                adapter = partial(aeon_pairwise, name) if "pair" in kind else partial(aeon_pair, name, kind)
                path = f"aeon.distances.{entry[kind].__name__}"
                entry[kind] = replace({path: adapter}, r"aeon\.distances(\._distance|\.elastic|\.pointwise)?")[path]


# ------------------------------------------------------------------------------------------------------------- tslearn
def tslearn_series(x):
    from tslearn.utils import to_time_series

    return np.asarray(to_time_series(x, remove_nans=True), dtype=float)


BAND = "global_constraint", "sakoe_chiba_radius", "itakura_max_slope"


def tslearn_band(lengths, global_constraint=None, sakoe_chiba_radius=None, itakura_max_slope=None):
    if sakoe_chiba_radius is not None and itakura_max_slope is not None and global_constraint is None:
        missing("two bands at once")
    names = {1: "itakura", 2: "sakoe_chiba", 0: None}
    kind = names.get(global_constraint, global_constraint)
    if kind == "itakura" or (kind is None and itakura_max_slope is not None):
        if itakura_max_slope not in (None, 2):
            missing(SLOPES)
        differs(len(set(lengths)) > 1, "Itakura's band of unequal lengths always leaves a path")
        return {"window": "itakura"}
    if kind == "sakoe_chiba" or sakoe_chiba_radius is not None:
        differs(len(set(lengths)) > 1, BANDS)
        return sakoe_chiba(1 if sakoe_chiba_radius is None else sakoe_chiba_radius)
    return {}


def tslearn_pair(metric, report, s1, s2, **options):
    """One of tslearn's functions of two series: `metric` makes ours of its options, `report` its result."""
    x, y = tslearn_series(s1), tslearn_series(s2)
    band = tslearn_band((len(x), len(y)), *(options.pop(name, None) for name in BAND))
    return report(metric(**options, **band).distance(x, y))


def tslearn_cdist(metric, report, dataset1, dataset2=None, **options):
    from tslearn.utils import to_time_series_dataset

    X, Y = (None if a is None else [tslearn_series(b) for b in to_time_series_dataset(a)] for a in (dataset1, dataset2))
    band = tslearn_band([len(a) for a in [*X, *(Y or [])]], *(options.pop(name, None) for name in BAND))
    report = np.sqrt if options.get("gamma") == 0 else report  # there
    return report(pairwise_distances(X, Y, metric=metric(**options, **band)))


def soft_dtw(gamma=1.0, divergence=False, **band):
    return distances.SoftDTW(gamma=gamma, divergence=divergence, **band) if gamma else distances.DTW(**band)


def tslearn_subsequence(subseq, longseq):
    found = QuerySearcher("dtw", n_matches=1, min_length=1).fit(tslearn_series(subseq)).search(tslearn_series(longseq))
    return pairs(found.path(0)), np.sqrt(found.distance[0])


def tslearn_dba(X, barycenter_size=None, init_barycenter=None, max_iter=30, tol=1e-5, weights=None, metric_params=None):
    from tslearn.barycenters.dba import _init_avg
    from tslearn.utils import to_time_series_dataset

    X = to_time_series_dataset(X)
    if init_barycenter is None:
        init_barycenter = _init_avg(X, X.shape[1] if barycenter_size is None else barycenter_size)
    X, init = [tslearn_series(x) for x in X], tslearn_series(init_barycenter)
    metric = distances.DTW(**tslearn_band({len(x) for x in [*X, init]}, **(metric_params or {})))
    return barycenter(X, metric, series_weight=weights, init=init, max_iter=max_iter, tol=tol)


def tslearn_soft_barycenter(X, gamma=1.0, weights=None, tol=1e-3, max_iter=50, init=None, **band):
    from tslearn.preprocessing import TimeSeriesResampler
    from tslearn.utils import to_time_series_dataset

    X = to_time_series_dataset(X)
    if init is None:
        init = np.average(TimeSeriesResampler().fit_transform(X), axis=0, weights=weights)
    X, init = [tslearn_series(x) for x in X], tslearn_series(init)
    metric = soft_dtw(gamma, **tslearn_band({len(x) for x in [*X, init]}, **band))
    return barycenter(X, metric, method="soft", series_weight=weights, init=init, max_iter=max_iter, tol=tol)


def tslearn():
    for module in ("barycenters", "clustering", "neighbors", "svm", "metrics.dtw_variants", "metrics.softdtw_variants"):
        import_module(f"tslearn.{module}")

    def root(d):
        return float(d) ** 0.5

    def similarity(d):
        return 1.0 - (d if isinstance(d, np.ndarray) else float(d))

    normalized = partial(soft_dtw, divergence=True)
    m = distances
    adapters = {
        "dtw": partial(tslearn_pair, m.DTW, root),
        "dtw_path": partial(tslearn_pair, m.DTW, lambda d: (pairs(d.path), root(d))),
        "cdist_dtw": partial(tslearn_cdist, m.DTW, np.sqrt),
        "dtw_subsequence_path": tslearn_subsequence,
        "lcss": partial(tslearn_pair, m.LCSS, similarity),
        "lcss_path": partial(tslearn_pair, m.LCSS, lambda d: (pairs(d.path), similarity(d))),
        "frechet": partial(tslearn_pair, m.Frechet, float),
        "frechet_path": partial(tslearn_pair, m.Frechet, lambda d: (pairs(d.path), float(d))),
        "cdist_frechet": partial(tslearn_cdist, m.Frechet, np.asarray),
        "soft_dtw": partial(tslearn_pair, soft_dtw, float),
        "cdist_soft_dtw": partial(tslearn_cdist, soft_dtw, np.asarray),
        "soft_dtw_normalized": partial(tslearn_pair, normalized, float),
        "cdist_soft_dtw_normalized": partial(tslearn_cdist, normalized, np.asarray),
        "gak": partial(tslearn_pair, m.GAK, similarity),
        "cdist_gak": partial(tslearn_cdist, m.GAK, similarity),
    }
    replace({f"tslearn.metrics.{name}": adapter for name, adapter in adapters.items()})
    replace({"tslearn.barycenters.dtw_barycenter_averaging": tslearn_dba})
    replace({"tslearn.barycenters.softdtw_barycenter": tslearn_soft_barycenter})


# -------------------------------------------------------------------------------------------------------- dtaidistance
def dtai_metric(m, n, window=None, penalty=None, psi=None, inner_dist=None, **other):
    """The metric that dtaidistance's options stand for, and whether it reports the root of it."""
    for name in other.keys() - {"include_distance", "psi_neg", "keep_int_repr", "compact", "second_matrix"}:
        if other[name]:
            missing(name)
    band = {}
    if window is not None and 0 < window < max(m, n):
        differs(m != n, BANDS)
        band = sakoe_chiba(window - 1)
    psi = [psi] * 4 if isinstance(psi, int) else list(psi or [0] * 4)
    psi = psi * 4 if len(psi) == 1 else psi
    options = {}
    if any(psi):
        ways = {(0, 0, n, n): "sub-dtw", (0, 0, 0, n): "oe-dtw"}
        kind = ways.get(tuple(psi), "psi-dtw" if len(set(psi)) == 1 else None)
        if kind is None or (kind == "psi-dtw" and psi[0] >= min(m, n)):
            missing("psi for each end")
        options = {"dtw_type": kind, **({"tolerance": psi[0]} if kind == "psi-dtw" else {})}
    if not isinstance(inner_dist, str | None):
        missing("an inner distance of their own classes")
    euclidean = inner_dist == "euclidean"
    if penalty:
        if options or euclidean:
            missing("a penalty together with psi or another local cost")
        return distances.ADTW(omega=penalty**2, **band), True
    return distances.DTW(**options, **band, dist=ABSOLUTE if euclidean else None), not euclidean


def dtai_series(s):
    s = np.asarray(s, dtype=float)
    return s[:, 0] if s.ndim == 2 and s.shape[1] == 1 else s


def dtai_pair(report, s1=None, s2=None, from_s=None, to_s=None, max_dist=None, args=None, **options):
    x, y = (dtai_series(a) for a in args or ((s1, s2) if from_s is None else (from_s, to_s)))
    if x.ndim > 1 and options.get("inner_dist") == "euclidean":
        missing("the Euclidean distance as local cost of several channels")
    metric, rooted = dtai_metric(len(x), len(y), **options)
    cutoff = None if not max_dist else max_dist ** (2 if rooted else 1)
    d = metric.distance(x, y, cutoff=cutoff)
    return report(d, np.sqrt if rooted else np.asarray, options)


def dtai_distance(d, scale, options):
    return float(scale(float(d)))


def dtai_path(d, scale, options):
    return (pairs(d.path), float(scale(float(d)))) if options.get("include_distance") else pairs(d.path)


def dtai_paths(d, scale, options):
    if options.get("compact") or options.get("second_matrix") is not None:
        missing("compact or second matrices of warping paths")
    if options.get("psi"):
        missing("a cost matrix with psi")
    scale = np.asarray if options.get("keep_int_repr") else scale
    costs = np.pad(scale(d.cost_matrix), ((1, 0), (1, 0)), constant_values=np.inf)
    costs[0, 0] = 0
    return float(scale(float(d))), costs


def dtai_matrix(s, block=None, compact=False, only_triu=False, ndim=None, max_dist=None, **options):
    from dtaidistance.dtw import _distance_matrix_idxs, distances_array_to_matrix
    from dtaidistance.util import SeriesContainer

    X = [dtai_series(x) for x in SeriesContainer.wrap(s)]
    lengths = [len(x) for x in X]
    metric, rooted = dtai_metric(min(lengths), max(lengths), **options)
    d = pairwise_distances(X, metric=metric)[_distance_matrix_idxs(block, len(X))]
    d = np.sqrt(d) if rooted else d
    d[d > (max_dist or np.inf)] = np.inf
    return d if compact else distances_array_to_matrix(d, nb_series=len(X), block=block, only_triu=only_triu)


def dtai_euclidean(s1, s2, inner_dist="squared euclidean"):
    if inner_dist != "squared euclidean":
        missing("ed: another inner distance")
    x, y = dtai_series(s1), dtai_series(s2)
    differs(len(x) != len(y), "lockstep distances interpolate")
    return float(distances.Euclidean().distance(x, y))


def dtai_align(self):
    """The costs of all subsequences: a row of the matrix is the profile of the query's points up to that row."""
    if self.matching is None:
        q, s, penalty = dtai_series(self.query), dtai_series(self.series), self.settings.penalty or 0
        if self.settings.window not in (None, 0) or str(self.settings.inner_dist) != "squared euclidean":
            missing("a band or another local cost in a search")
        searcher = QuerySearcher(distances.ADTW(omega=penalty**2) if penalty else "dtw", min_length=None)
        rows = [searcher.fit(q[: i + 1]).profile(s).distance for i in range(len(q))]
        self.paths = np.pad(np.array(rows), ((1, 0), (1, 0)), constant_values=np.inf)
        self.paths[0] = 0
        self._compute_matching()


def dtai_dba(s, c, mask=None, samples=None, **options):
    from dtaidistance.util import SeriesContainer

    if samples is not None:
        missing("averages of random paths")
    X = [dtai_series(x) for x in SeriesContainer.wrap(s)]
    metric, _ = dtai_metric(len(X[0]), len(c), **options)
    kept = None if mask is None else np.asarray(mask, dtype=float)
    return barycenter(X, metric, init=dtai_series(c), series_weight=kept, max_iter=1, tol=0.0)


def dtaidistance():
    from dtaidistance.subsequence import subsequencealignment

    for module in ("dtw_ndim", "dtw_barycenter", "ed", "clustering", "alignment", "similarity"):
        import_module(f"dtaidistance.{module}")
    distance, path, paths = (partial(dtai_pair, report) for report in (dtai_distance, dtai_path, dtai_paths))
    several = {"distance": distance, "warping_paths": paths, "warping_path": path, "distance_matrix": dtai_matrix}
    for module in ("dtw", "dtw_ndim"):
        names = {f"{name}{fast}": adapter for name, adapter in several.items() for fast in ("", "_fast")}
        names = {name: a for name, a in names.items() if hasattr(import_module(f"dtaidistance.{module}"), name)}
        replace({f"dtaidistance.{module}.{name}": adapter for name, adapter in names.items()})
    euclidean = {"ed.distance": dtai_euclidean, "ed.distance_fast": dtai_euclidean, "dtw.ub_euclidean": dtai_euclidean}
    replace({f"dtaidistance.{name}": adapter for name, adapter in euclidean.items()})
    replace({"dtaidistance.dtw_barycenter.dba": dtai_dba})
    cls = subsequencealignment.SubsequenceAlignment
    cls.align = adapted(cls.align, dtai_align)


# -------------------------------------------------------------------------------------------------------------- stumpy
def stumpy_profile(Q, T, metric="euclidean", normalize="zscore"):
    """Distances of all windows; those with missing values are infinite there."""
    Q, T = (np.array(a, dtype=float).ravel() for a in (Q, T))
    if len(Q) > len(T):
        raise ValueError("the query is longer than the sequence")
    whole = np.lib.stride_tricks.sliding_window_view(np.isfinite(T), len(Q)).all(axis=1)
    if not np.isfinite(Q).all():
        return np.full(len(whole), np.inf)
    T[~np.isfinite(T)] = 0
    d = QuerySearcher(metric, normalize=normalize).fit(Q).profile(T).distance
    return np.where(whole, d, np.inf)


def natural(T, m, given):
    """Refuse windows that are said to be constant and are not."""
    if given is None:
        return
    windows = np.lib.stride_tricks.sliding_window_view(np.array(T, dtype=float).ravel(), m)
    constant = (windows == windows[:, :1]).all(axis=1)
    if callable(given) or not np.array_equal(np.ravel(given), constant):
        missing("windows that count as constant")


def stumpy_mass(Q, T, normalize=True, p=2.0, T_subseq_isconstant=None, Q_subseq_isconstant=None):
    if any(np.ndim(a) > 1 and np.shape(a)[1] > 1 for a in (Q, T)):
        raise ValueError("Q and T must be 1-dimensional")
    natural(T, len(Q), T_subseq_isconstant)
    natural(Q, len(Q), Q_subseq_isconstant)
    return stumpy_profile(Q, T) if normalize else stumpy_profile(Q, T, distances.Minkowski(p), None)


def stumpy_match(Q, T, max_distance=None, max_matches=None, normalize=True, p=2.0, atol=1e-8, **constant):
    from stumpy import config

    Q, T = (np.array(a[0] if np.ndim(a) > 1 and len(a) == 1 else a, dtype=float) for a in (Q, T))
    if Q.ndim > 1 or not np.isfinite(T).all():
        missing("match: several channels, or missing values")
    m = len(Q)
    natural(T, m, constant.get("T_subseq_isconstant"))
    natural(Q, m, constant.get("Q_subseq_isconstant"))
    apart = int(np.ceil(m / config.STUMPY_EXCL_ZONE_DENOM)) + 1
    if apart > m:
        missing("matches that are more than their length apart")
    metric, kind = ("euclidean", "zscore") if normalize else (distances.Minkowski(p), None)
    if not isinstance(max_distance, int | float):
        d = stumpy_mass(Q, T, normalize, p)
        max_distance = max(d.mean() - 2 * d.std(), d.min()) if max_distance is None else max_distance(d)
    threshold = max_distance + atol if np.isfinite(max_distance) else None
    options = {"normalize": kind, "threshold": threshold, "max_overlap": 1 - apart / m}
    found = QuerySearcher(metric, n_matches=max_matches, **options).fit(Q).search(T)
    return np.array([[float(d), int(i)] for d, i in zip(found.distance, found.start, strict=True)], dtype=object)


def stumpy_stump(T_A, m, T_B=None, ignore_trivial=True, normalize=True, p=2.0, k=1):
    from stumpy import config, core
    from stumpy.mparray import mparray

    for T in (T_A, T_B):
        if T is not None and np.asarray(T).dtype.kind != "f":
            raise TypeError("floats expected")
    T_A = np.array(T_A, dtype=float)
    core.check_window_size(m, max_size=len(T_A))
    zone = int(np.ceil(m / config.STUMPY_EXCL_ZONE_DENOM))
    T, out = T_A if T_B is None else np.array(T_B, dtype=float), []
    for i in range(len(T_A) - m + 1):
        d = stumpy_mass(T_A[i : i + m], T, normalize, p)
        at = np.arange(len(d))
        if T_B is None and ignore_trivial:
            d[abs(at - i) <= zone] = np.inf
        order = np.argsort(d, kind="stable")
        order = order[np.isfinite(d[order])][:k]
        row = [*d[order], *[np.inf] * (k - len(order)), *order, *[-1] * (k - len(order))]
        for side in (at < i, at > i):
            d_side = np.where(side, d, np.inf)
            row.append(d_side.argmin() if T_B is None and ignore_trivial and np.isfinite(d_side.min()) else -1)
        out.append(row)
    result = np.empty((len(out), 2 * k + 2), dtype=object)
    result[:] = [[*map(float, row[:k]), *map(int, row[k:])] for row in out]
    return mparray(result, m, k, config.STUMPY_EXCL_ZONE_DENOM)


def stumpy():
    replace({"stumpy.core.mass": stumpy_mass, "stumpy.core.mass_absolute": partial(stumpy_mass, normalize=False)})
    replace({"stumpy.match": stumpy_match, "stumpy.aamp_match": partial(stumpy_match, normalize=False)})
    replace({"stumpy.stump": stumpy_stump, "stumpy.aamp": partial(stumpy_stump, normalize=False)})


# ---------------------------------------------------------------------------------------------------------------- pyts
def pyts_dtw(x=None, y=None, dist="square", method="classic", options=None, precomputed_cost=None, **reports):
    from pyts.metrics._dtw import cost_matrix

    options, metric_options = dict(options or {}), {}
    if method not in ("classic", "sakoechiba", "itakura"):
        missing(f"the method {method!r}")
    if dist == "precomputed":
        x, y, metric_options["dist"] = looked_up(precomputed_cost)
    else:
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if dist != "square":
            metric_options["dist"] = ABSOLUTE if dist == "absolute" else dist
    if method == "sakoechiba":
        differs(len(x) != len(y), BANDS)
        size = options.pop("window_size", 0.1)
        relative = isinstance(size, float) and len(x) == len(y)
        metric_options |= sakoe_chiba(np.ceil(size * (len(x) - 1)) if relative else size)
    elif method == "itakura":
        if options.pop("max_slope", 2.0) != 2:
            missing(SLOPES)
        differs(len(x) != len(y), "Itakura's band of unequal lengths")
        metric_options["window"] = "itakura"
    if options:
        missing(f"the options {', '.join(options)}")
    d = distances.DTW(**metric_options).distance(x, y)
    result = [float(d) ** 0.5 if dist == "square" else float(d)]
    if reports["return_cost"]:  # no result, but what a distance is made of
        costs = cost_matrix(x, y, dist) if dist != "precomputed" else np.asarray(precomputed_cost, dtype=float)
        result += [np.where(np.isfinite(d.cost_matrix), costs, np.inf)]
    result += [d.cost_matrix] if reports["return_accumulated"] else []
    result += [d.path] if reports["return_path"] else []
    return tuple(result) if len(result) > 1 else result[0]


def pyts():
    import_module("pyts.classification")
    replace({"pyts.metrics.dtw": pyts_dtw})


# ---------------------------------------------------------------------------------------------------------- dtw-python
@cache
def symmetric2():
    """Their default step pattern: a diagonal step costs twice."""

    def moves(p, point_costs, lag_cost, a, b, c, gap):
        return 2.0 * a, a, a

    class Symmetric2(NamedTuple):
        pass

    made = recurrence(
        terms=lambda p, row, y, y_before: (row[2] * abs(row[0] - y), 0.0, 0.0), moves=moves, monotone=True
    )
    return register_metric("symmetric2", made(Symmetric2))


def dtw_dtw(x, y=None, dist_method="euclidean", step_pattern="symmetric2", window_type=None, window_args=None, **how):
    from dtw import stepPattern
    from dtw.dtw import DTW

    step_pattern = getattr(stepPattern, step_pattern, None) if isinstance(step_pattern, str) else step_pattern
    if step_pattern not in (stepPattern.symmetric1, stepPattern.symmetric2):
        missing("a step pattern")
    twice = step_pattern is stepPattern.symmetric2
    if how["open_begin"] or how["open_end"]:
        missing("open ends with a step pattern that is not that of dtw")
    band = {}
    if window_type == "sakoechiba":
        band = sakoe_chiba(window_args["window_size"])
        differs(y is not None and len(x) != len(y), BANDS)
    elif window_type not in (None, "none"):
        missing("a window function")
    if y is None:
        if twice:
            missing("a matrix of local costs with symmetric2")
        x, y, cost = looked_up(x)
        metric = distances.DTW(dist=cost, **band)
    else:
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if x.ndim > 1 and x.shape[1] > 1 and dist_method != "cityblock":
            missing("another local cost of several channels")
        metric = symmetric2()(**band) if twice else distances.DTW(dist=ABSOLUTE, **band)
    d = metric.distance(x, y)
    first = np.abs(np.atleast_1d(x[0] - y[0])).sum() if twice else 0.0  # their first pair counts once
    m, n, value = len(x), len(y), float(d) - first
    result = DTW({"N": m, "M": n, "distance": value, "jmin": n - 1, "stepPattern": step_pattern})
    result.normalizedDistance = value / (m + n) if twice else np.nan
    result.index1, result.index2 = result.index1s, result.index2s = d.path
    if how["keep_internals"]:
        result.costMatrix, result.query, result.reference = d.cost_matrix - first, x, y
    return result


def dtw_python():
    replace({"dtw.dtw.dtw": dtw_dtw} if inspect.ismodule(import_module("dtw").dtw) else {"dtw.dtw": dtw_dtw})


# ------------------------------------------------------------------------------------------------------------ tssearch
def tssearch():
    """Its functions have the same names here."""
    import_module("tssearch.search.query_search")
    ours = import_module("sktslib")
    paths = {f"distances.elastic_distances.{name}": distances for name in ("dtw", "lcss", "twed", "dlp")}
    for name in "euclidean manhattan chebyshev correlation braycurtis canberra cosine sqeuclidean hamming".split():
        paths[f"distances.lockstep_distances.{name}_distance"] = distances
    paths |= {"search.query_search.time_series_search": ours, "search.segmentation.time_series_segmentation": ours}
    replace({f"tssearch.{path}": getattr(module, path.split(".")[-1]) for path, module in paths.items()})


# --------------------------------------------------------------------------------------------------------------- peers
class Peer(NamedTuple):
    package: str
    install: callable
    tests: tuple  # files, from the folder of the package or of the checkout
    source: str = ""  # the folder of a checkout that the package is in
    scripts: bool = False  # whether tests are scripts


STUMPY_TESTS = "core", "stump", "aamp", "motifs", "aamp_motifs", "ostinato", "aamp_ostinato"
PEERS = {
    "tslearn": Peer("tslearn", tslearn, ("tests/test_*.py",)),
    "aeon": Peer("aeon", aeon, ("distances/**/test_*.py", "*/distance_based/tests/test_*.py")),
    "dtaidistance": Peer("dtaidistance", dtaidistance, ("tests/test_*.py",), "src"),
    "stumpy": Peer("stumpy", stumpy, tuple(f"tests/test_{name}.py" for name in STUMPY_TESTS)),
    "pyts": Peer("pyts", pyts, ("metrics/tests/test_*.py", "classification/tests/test_knn.py")),
    "dtw-python": Peer("dtw", dtw_python, ("tests/test_*.py",)),
    "tssearch": Peer("tssearch", tssearch, ("tests/test_*.py",), scripts=True),
}

# Tests that differ for a reason that no call tells: a pattern of the name, one of the error, the kind, the reason.
TIES = "where moves cost the same, another path: the diagonal comes first here"
WORDS = "another type, or other words, of an error"
EXPLAINED = {
    "tslearn": [
        ("test_lcss_path|test_frechet", "Items are not equal: item|assert \\[\\(", "differs", TIES),
        ("test_gak", "sigma", "differs", WORDS),
        ("test_dtw_path_with_empty", "at least one point", "differs", WORDS),
        ("test_softdtw$", "ACTUAL: 4.50509527391942", "differs", "the last digit of a root that is squared again"),
    ],
}


# ------------------------------------------------------------------------------------------------------ pytest plugin
class Recorder:
    """Writes what became of each test, and whether it called an adapter, to a file."""

    def __init__(self, path):
        self.file = open(path, "a")

    def pytest_runtest_logstart(self, nodeid, location):
        NOTED.clear()

    def pytest_runtest_setup(self, item):
        signal.signal(signal.SIGALRM, self.too_long)
        signal.alarm(int(os.environ["PEERS_TESTS_SECONDS"]))

    @staticmethod
    def too_long(*_):
        raise TimeoutError("took too long")

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            signal.alarm(0)
        if report.when == "call" or report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            error = " ".join((crash.message if crash else str(report.longrepr or "")).split())[:200]
            noted = {key: NOTED.get(key) for key in ("called", "option", "differs")}
            row = {"id": report.nodeid, "outcome": report.outcome, "error": error, **noted}
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()


def pytest_configure(config):
    if "PEERS_TESTS_OUT" in os.environ:
        config.pluginmanager.register(Recorder(os.environ["PEERS_TESTS_OUT"]), "peers-tests-recorder")


SCRIPTS = """
import runpy
import pytest

@pytest.mark.parametrize("script", {paths})
def test_script(script):
    runpy.run_path(script, run_name="__main__")
"""


# -------------------------------------------------------------------------------------------------------------- the run
def run(name, peer, files, root, source, mode, folder, seconds, only=None):
    """Run tests in a process of their own; return what became of each that called an adapter."""
    shutil.copy(__file__, folder / "peers_tests_plugin.py")
    out = folder / f"{mode}.jsonl"
    out.unlink(missing_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    path = os.pathsep.join([str(folder), *([str(source)] if source else []), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "PEERS_TESTS_MODE": mode, "PEERS_TESTS_PEER": name, "MPLBACKEND": "Agg"}
    env |= {"PEERS_TESTS_OUT": str(out), "PEERS_TESTS_SECONDS": str(seconds)}
    if peer.scripts:
        (folder / "test_scripts.py").write_text(SCRIPTS.format(paths=[str(file) for file in files]))
        files, root = [folder / "test_scripts.py"], folder
    command = [sys.executable, "-m", "pytest", "-p", "peers_tests_plugin", "-p", "no:cacheprovider", "-q", "-s"]
    command += ["-c", str(folder / "pytest.ini"), "--rootdir", str(root), "--continue-on-collection-errors"]
    command += [str(root / test) for test in only] if only else [str(file) for file in files]
    log = folder / f"{mode}.log"
    with open(log, "w") as output:
        subprocess.run(command, cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT)
    if not out.exists():
        sys.exit(f"{name}: pytest did not run:\n{log.read_text()[-3000:]}")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return {row["id"]: row for row in rows if row["called"] and row["outcome"] != "skipped"}


def explained(name, row):
    """The kind and reason of a failing test that the calls do not explain."""
    for test, error, kind, reason in EXPLAINED.get(name, ()):
        if re.search(test, row["id"]) and re.search(error, row["error"]):
            return kind, reason
    return "unexplained", row["error"]


def judge(name, peer, place, folder, seconds):
    """Return the kind and the reason of each test."""
    *_, files, root, source = place
    rows = run(name, peer, files, root, source, "all", folder, seconds)
    failed = [test for test, row in rows.items() if row["outcome"] != "passed"]
    again = {}
    for mode in MODES[1:] if failed else ():
        again[mode] = run(name, peer, files, root, source, mode, folder, seconds, failed)
    for test, row in rows.items():
        known, alone = (again.get(mode, {}).get(test) for mode in MODES[1:])
        kind = "option" if row["option"] else "differs"  # a missing option ends a test
        if row["outcome"] == "passed":
            yield test, "agree", ""
        elif alone and alone["outcome"] != "passed":
            yield test, "peer's", alone["error"]
        elif known and known["outcome"] == "passed" and row[kind]:
            yield test, kind, row[kind]
        else:
            yield test, *explained(name, row)


def find(name, peer, checkouts):
    """Return the version of a peer, its test files, their root and the folder to import it from, or why not."""
    try:
        found, version = find_spec(peer.package), distribution(name).version
    except PackageNotFoundError:
        found = version = None
    checkout = checkouts.get(name)
    if found is None and checkout is None:
        return "not installed, skipped", None
    roots = [] if found is None else [Path(found.submodule_search_locations[0])]
    if checkout is not None:
        roots = [checkout.resolve(), checkout.resolve() / peer.source / peer.package, *roots]
    for root in roots:
        files = sorted({file for pattern in peer.tests for file in root.glob(pattern)})
        if files:
            source = None if found else checkout.resolve() / peer.source
            return version or "of the checkout", files, root, source
    return f"{version or 'of the checkout'} has no tests: give a checkout, skipped", None


def print_counts(name, counts):
    numbers = [sum(counts.values()), *(counts[kind] for kind in KINDS)]
    print(f"{name:22s}" + "".join(f"{number:13d}" for number in numbers), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="NAME")
    parser.add_argument("--checkout", nargs="+", action="extend", default=[], metavar="NAME=PATH")
    parser.add_argument("--seconds", type=int, default=120, help="for one test at most (default: 120)")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    checkouts = {name: Path(path) for name, path in (given.split("=", 1) for given in options.checkout)}
    total = Counter()
    print(" " * 22 + "".join(f"{kind:>13s}" for kind in ("tests", *KINDS)))
    for name in options.peers:
        place = find(name, PEERS[name], checkouts)
        if place[1] is None:
            print(f"{name}: {place[0]}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = list(judge(name, PEERS[name], place, Path(folder), options.seconds))
        counts = Counter(kind for _, kind, _ in found)
        total += counts
        print_counts(f"{name} {place[0]}", counts)
        for test, kind, reason in found:
            if kind == "unexplained" or (options.verbose and kind != "agree"):
                print(f"    {kind}: {test}: {reason}")
    print_counts("all", total)
    sys.exit(total["unexplained"] > 0)


if __name__ == "__main__":
    main()
elif "PEERS_TESTS_OUT" in os.environ:  # a plugin, which is imported before any test or conftest
    PEERS[os.environ["PEERS_TESTS_PEER"]].install()
