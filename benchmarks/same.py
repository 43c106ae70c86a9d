"""Whether two checkouts give the same answers, to the bit: results, warnings, and the texts of errors.

    python benchmarks/same.py OTHER_CHECKOUT [--calls 20000] [--seed 0] [--jobs 2] [--variant plain]
    python benchmarks/same.py OTHER_CHECKOUT [--seed 0] --repeat NUMBER

A call is drawn from the seed and its number alone, so that both checkouts get the same ones, each in a process of its
own with its own cache of compiled kernels, which the first run fills. Only what is public is called. Where the answers
differ, the call is printed with what each checkout says; `--repeat` lists the parts of one answer that differ.
"""

import argparse
import hashlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

# Calls are drawn with the parameters that the estimators had before these became objects: where a checkout has the
# objects, it is given these. Of messages that name such parameters only the type is compared.
BOUNDS, LIMITS = ("min_length", "max_length"), ("scale_limits", "offset_limit")
CHANNELS = {"channel_lag": "lag", "lag_tolerance": "tolerance", "channel_weight": "weight", "min_channels": "min_votes"}
LEARNING = ("n_templates", "refine", "self_train")
REGROUPED = re.compile(
    rf"\b({'|'.join([*BOUNDS, *LIMITS, *CHANNELS, *LEARNING])}|mode|percentile|scales|candidates|lengths|min_votes)\b"
    r"|\b(Subsequences|Normalization|ChannelPlan|Learning|Percentile|Windows)\b"
    r"|'(lag|tolerance|weight|max_gap|normalize|threshold|query)' param"
)

VARIANTS = {
    "plain": {},
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
    "small": {"SKTSLIB_BLOCKS": "small", "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
}
EQUAL = "braycurtis canberra chebyshev correlation cosine euclidean hamming kullback_leibler mahalanobis manhattan"
LOCKSTEP = {name: {} for name in f"{EQUAL} short_time_series sqeuclidean".split()}
LOCKSTEP |= {"minkowski": {"p": [3, 1, 2, 2.5]}, "pearson_correlation": {"beta": [None, 1.0, 0.5]}}
ELASTIC = {
    "adtw": {"omega": [0.5, 0.0, 2.0, "auto"]},
    "dtw": {"alpha": [1.0, 0.7, 0.0], "do_dist_norm": [False, True]},
    "erp": {"g": [0.0, -0.5, 0.3]},
    "msm": {"c": [1.0, 0.0, 0.1]},
    "shape_dtw": {"reach": [5, 0, 2]},
    "twed": {"nu": [0.25, 0.0, 0.001], "lmbda": [1.0, 0.0, 0.1], "p": [2, 1, 3]},
    **{name: {"eps": [1.0, 0.0, 0.25, 3.0]} for name in ("edr", "lcss")},
    **{name: {} for name in ("cid_dtw", "ddtw", "frechet")},
    **{name: {"g": [0.05, 0.0, 1.0]} for name in ("wddtw", "wdtw")},
}
PATHLESS = {"gak": {"sigma": [1.0, 5.0, None], "triangular": [None, 3]}, "sbd": {}}
PATHLESS |= {"soft_dtw": {"gamma": [1.0, 0.01], "divergence": [True, False]}}
METRICS = {**LOCKSTEP, **ELASTIC, **PATHLESS, "tam": {}}
USUAL = "dtw dtw adtw twed msm lcss euclidean euclidean manhattan correlation soft_dtw".split()
DTW_KINDS = {"dtw_type": "dtw oe-dtw obe-dtw sub-dtw psi-dtw".split(), "tolerance": [2], "do_sign_norm": [True]}
REPORTS = {"report": "distance ratios instants path cost_matrix similarity".split()}
BANDS = [{"window": 0.3}, {"window": "sakoe-chiba", "factor": 2}, {"window": "sakoe-chiba"}, {"window": "itakura"}]
NORMALIZATIONS = [None, None, "zscore", "zscore", "mean", "minmax", "robust"]
NO_SENSE = [None, "abc", "", -1, 0, 1.5, np.nan, np.inf, True, [], [[]], {}, {"a": 1}, 2**70, 1j, (1, 2), b"x", "auto"]
NO_SENSE += [np.zeros(0), np.zeros((2, 2, 2)), np.array(["a", "b"]), np.array([1.0, np.inf]), 10**200]
FORMS = [np.ndarray.tolist, np.float32, np.asfortranarray, np.flip, np.round, pd.DataFrame, np.atleast_2d, np.negative]
FORMS += [np.complex64, np.log, partial(np.delete, obj=0, axis=0), partial(np.multiply, 1e200)]
FORMS += [partial(np.asarray, dtype="U9")]

# What of these answers is compared; all others are compared by their repr.
ANSWERS = "Alignment Explanation Matches Neighbors Profile QuerySearcher QuerySegmenter Segments SparseTimes".split()
FIELDS = "start end distance label query sequence times start_time end_time duration channels polarity qvalue pvalue"
FIELDS += " false_per_hour threshold votes channel_distance lag scale offset cost partial boundaries stretch to_frame"
FIELDS += " distances indices samples __float__ path cost_matrix advance delay phase classes_ metric_ threshold_ query_"
FIELDS += (
    " weight_ cv_results_ best_index_ normalize_ alternatives_ background_ queries_ weights_ self_training_ explain"
)


class Call:
    """One step of a call: a public function, a method of what the step before gave, or a function of this file."""

    def __init__(self, name, *args, **keywords):
        self.name, self.given = name, {**dict(enumerate(args)), **keywords}

    def __repr__(self):
        return f"{self.name}({', '.join(f'{k}={text_of(v)}' for k, v in self.given.items())})"


class Sliced:
    """A sequence that is not in memory: it knows its length and gives slices."""

    def __init__(self, y):
        self.y, self.shape, self.ndim, self.dtype = y, y.shape, y.ndim, y.dtype

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return self.y[part]


class Draw:
    """What a call is drawn from."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.kind = self.pick("quarters symbols normal normal walk walk offset scaled constant".split())
        self.channels = self.pick([1, 1, 1, 2, 3])
        self.flat = self.channels == 1 and self.chance(0.7)
        self.scale = self.pick([1e-6, 1e5]) if self.kind == "scaled" else 1.0
        self.missing = self.pick([0.0] * 9 + [0.02, 0.3])  # share of samples that are NaN
        self.least = -np.inf

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p):
        return bool(self.rng.random() < p)

    def between(self, low, high):
        return int(self.rng.integers(low, max(low, high) + 1))

    def some(self, p, /, **choices):
        """A few of the keywords, each with one of its values."""
        return {key: self.pick(values) for key, values in choices.items() if self.chance(p)}

    def length(self, high, low=1):
        return self.between(low, min(high, self.pick([8, 20, 70, high])))

    def series(self, n):
        v = self.rng.normal(size=(n, self.channels)) * self.scale
        if self.kind in ("quarters", "symbols", "constant"):
            v = np.round(4 * v) / 4 if self.kind != "symbols" else np.floor(np.abs(2 * v))
            v[:] = v[:1] if self.kind == "constant" and self.chance(0.3) else v
        v = v.cumsum(axis=0) if self.kind == "walk" else v + 1e6 if self.kind == "offset" else v
        v = np.maximum(np.abs(v), self.least) if self.least > 0 else v
        v[self.rng.random(n) < self.missing * self.chance(0.5)] = np.nan
        return v[:, 0].copy() if self.flat else v

    def sequence(self, n, queries):
        """A series with some copies of the queries in it, a little changed."""
        y = self.series(n)
        for _ in range(self.between(0, 1 + n // 60)):
            x = self.pick(queries)
            at = self.between(0, n - len(x))
            if len(x) < n:
                y[at : at + len(x)] = np.maximum(x + self.rng.normal(size=x.shape) * self.pick([0.0, 0.1]), self.least)
        return y

    def weights(self, m, p=0.4):
        """Keywords with weights of m points, or none."""
        w = self.rng.random((m, self.channels) if self.chance(0.3) else m)
        w = np.floor(4 * w) / 2 if self.chance(0.5) else w
        w.flat[0] = 1.0
        return self.some(p, weight=[w])

    def times(self, n):
        """Increasing times, perhaps with holes, of numbers or dates."""
        steps = self.pick([np.ones(n), self.rng.integers(1, 4, n) / 4, self.rng.uniform(0.5, 1.5, n)])
        at = np.where(self.rng.random(n) < self.pick([0.0, 0.03]), 20.0, steps).cumsum()
        return np.datetime64("2024-03-01", "ms") + (1000 * at).astype("timedelta64[ms]") if self.chance(0.2) else at

    def metric(self, names=None, bands=BANDS[:3], often_whole=True):
        """A metric and its parameters as keywords, and its name; then series have the values that it takes."""
        if names is None and self.chance(0.04):
            mixed = Call("Mixed", {c: self.pick(["dtw", "euclidean", "twed"]) for c in range(self.channels)})
            return {"metric": self.pick([lambda x, y: float(abs(np.mean(x) - np.mean(y))), mixed])}, "dtw"
        name = self.pick(list(names or (USUAL if self.chance(0.3) else METRICS)))
        self.least = 0.1 if name == "kullback_leibler" else -np.inf
        self.missing *= not often_whole or name in LOCKSTEP or self.chance(0.1)
        params = self.some(0.5, **METRICS[name])
        if (name in ELASTIC or name in ("soft_dtw", "gak")) and self.chance(0.4):
            params |= self.pick(bands)
        if self.chance(0.2):
            return {"metric": Call("get_metric", name, params)}, name
        return {"metric": name, **({"metric_params": params} if params else {})}, name


def pair(d):
    keywords, name = d.metric(bands=BANDS)
    names = [name] * 2 + ["dlp", "table", "tam", *(["lcss", "twed", "dtw"] if d.chance(0.3) else [])]
    high, same, of = d.pick([60, 60, 60, 300, 1000]), d.chance(0.5) or name == "short_time_series", d.pick(names)
    x = d.series(d.length(high))
    y = d.series(len(x) if same else d.length(high))
    more, params, times = d.weights(len(x)), keywords.get("metric_params", {}), (d.times(len(x)), d.times(len(y)))
    if name == "dtw":
        params |= d.some(0.3, **DTW_KINDS)
    if of == "table":
        return [Call("time_series_distance", Call("get_distance_dict"), x, y)]
    if of == "twed":
        return [Call(of, x, y, *d.pick([(None, None), times]), **more)]
    if of in ("lcss", "tam", "dlp", "pearson_correlation") or (of == "dtw" and d.chance(0.5)):
        more |= d.some(0.5, **METRICS.get(of, {})) | (d.some(0.4, **REPORTS) if of in ("dtw", "lcss", "tam") else {})
        return [Call(of, x, y, **more)]
    if of in LOCKSTEP and d.chance(0.5):
        return [Call(f"{of}_distance", x, y, **more)]
    more |= d.some(0.2, cutoff=[1.0, 0.0, 10.0, np.inf]) | ({"tx": times[0], "ty": times[1]} if d.chance(0.2) else {})
    return [Call("get_metric", keywords["metric"], params), Call(d.pick(["distance", "__call__"]), x, y, **more)]


def collections(d):
    of = d.pick("pairwise_distances nearest_neighbors nearest_neighbors PairwiseDistances barycenter".split())
    keywords, name = d.metric([*ELASTIC, "soft_dtw"] if of == "barycenter" else None, bands=BANDS)
    ragged, high = d.chance(0.3) and name != "short_time_series", d.pick([20, 60, 60, 200])
    one, counts = d.length(high), [d.pick([1, 2, 5, 17, 40]), d.pick([5, 16, 33])]
    X, Y = ([d.series(d.length(high) if ragged else one) for _ in range(count)] for count in counts)
    X, Y = X if ragged or d.chance(0.5) else np.array(X), d.pick([X, Y])
    if of == "barycenter":
        keywords |= d.some(0.25, random_state=[0, 3], return_cost=[True], init=["medoid"], n_jobs=[2])
        method = "soft" if name == "soft_dtw" else "dba"
        return [Call(of, X[:8], **keywords, method=method, max_iter=d.pick([1, 3]))]
    keywords |= d.some(0.1, n_jobs=[1, 2, 3], channels_first=[False, True])
    keywords |= {} if ragged else d.weights(one, 0.3)
    if of == "nearest_neighbors":
        return [Call(of, X, *d.pick([(), (Y,)]), **keywords, n_neighbors=d.between(1, min(4, len(X) - 1)))]
    keywords |= {"nan_policy": "omit"} if d.missing else {}
    if of == "pairwise_distances":
        every = [d.times(len(x)) for x in X]
        return [Call(of, X, Y, **keywords) if d.chance(0.5) else Call(of, X, **keywords, **d.some(0.2, times=[every]))]
    return [
        Call("PairwiseDistances", **keywords, **d.some(0.2, symmetrize=["mean"])),
        Call("fit", Y),
        Call("transform", X),
    ]


def recorded(d, of, keywords, count, n, high, low, batch):
    """An estimator that is fitted with queries, and what is asked of a sequence, at once or in parts or chunks."""
    queries = [d.series(d.length(high, low)) for _ in range(count)]
    y, times = d.sequence(n, queries), d.some(0.2, times=[d.times(n)])
    m = len(queries[0])
    fit = {} if count > 1 else d.weights(m) | d.some(0.3 if times else 0, times=[d.times(m)])
    keywords |= {"nan_policy": "omit"} if d.missing and d.chance(0.9) else {}
    keywords |= d.some(0.5, max_gap=[5.0, pd.Timedelta("3s"), 0.9]) if times else {}
    X = queries[0] if count == 1 else d.pick([queries, dict(zip("abc", queries, strict=False))])
    made = [Call(of, **keywords), Call("fit", X, **fit)]
    if d.chance(0.65):
        y = Sliced(y) if d.chance(0.1) else [y, y[::-1]] if of == "QuerySearcher" and d.chance(0.05) else y
        return [*made, Call(d.pick(batch), y, **times)]
    if of == "QuerySearcher" and d.chance(0.3):
        cuts = sorted({0, n, *(d.between(0, n) for _ in range(d.between(1, 3)))})
        return [*made, Call("in_parts", y, cuts, d.chance(0.7), **times)]
    n, sizes = (300, [1]) if d.chance(0.25) else (1500, [*d.rng.integers(0, 200, 5).tolist(), 1, 31])
    delay = d.some(0.15, max_delay=[10, 100, 1000])
    return [*made, Call("stream", **delay), Call("in_chunks", y[:n], sizes, **{k: t[:n] for k, t in times.items()})]


def searches(d):
    keywords, name = d.metric(often_whole=False)
    level, some = float(10 ** d.rng.uniform(-2, 2)) * d.scale, {"n_matches": d.pick([1, 2, 5, None])}
    rate = d.pick(["fdr:0.2", Call("FalseDiscoveryRate", 0.3, random_state=1, null="negated")])
    rules = [{}, some, {"threshold": level}, {"threshold": level, **some}, {"threshold": level}, {"threshold": rate}]
    keywords |= d.pick([*rules, {"percentile": d.pick([0, 5, 50]), **some}])
    keywords |= {"normalize": d.pick(NORMALIZATIONS) if d.least < 0 else None} | d.some(0.3, n_jobs=[1, 2, 3])
    keywords |= d.some(0.4, mode=["windows", "subsequence"] if name in ELASTIC else ["windows"])
    keywords |= d.some(0.06, polarity=["any", "channels"], scales=[(0.8, 1.25), [0.5, 1, 2]], scale_limits=[(0.5, 2.0)])
    keywords |= d.some(0.06, offset_limit=[1.0, [0.5]], min_length=[4, None], max_length=[30], max_overlap=[0.25, 1.0])
    if "scales" in keywords or {*BOUNDS} & {*keywords}:  # each is of one kind of candidates alone
        keywords = {k: v for k, v in keywords.items() if k not in (BOUNDS if "scales" in keywords else ())}
        keywords["mode"] = "windows" if "scales" in keywords else "subsequence"
    if d.chance(0.12) and not {*BOUNDS} & {*keywords}:  # by channel
        keywords |= d.some(0.6, channel_lag=[{0: 3}, None], lag_tolerance=[0, 1, 2], channel_weight=[{0: 2.0}])
        keywords |= d.some(0.3, min_channels=[1, 2]) | {"mode": "windows"}
    n = d.pick([d.between(1, 60), d.between(60, 400), d.between(60, 400), d.between(400, 3000)])
    high = min(n, d.pick([12, 60, 60, 250 if n < 1500 or name in LOCKSTEP else 60]))
    batch = ["search"] * 6 + ["profile", "profile", "predict", "transform", "candidates"]
    return recorded(d, "QuerySearcher", keywords, d.pick([1] * 8 + [2, 3]), n, high, min(high, 3), batch)


def segments(d):
    keywords, _ = d.metric([*ELASTIC, *ELASTIC, *LOCKSTEP, "soft_dtw", "sbd"], [{}], often_whole=False)
    keywords |= d.some(0.2, background=[0.1 * d.scale, 1.0, 0], n_jobs=[1, 2, 3], max_length=[40])
    keywords |= d.some(0.06, partial=[True], refine=[1], threshold=[0.5, "fdr:0.2"], min_length=[3], polarity=["any"])
    count, n = d.pick([1, 1, 1, 2]), d.pick([d.between(1, 100), d.between(100, 400), d.between(400, 1500)])
    costs = d.rng.integers(0, 3, (count + 1, count + 1)) / 2.0
    keywords |= d.some(0.15, transitions=[costs - np.diag(np.diag(costs))])
    return recorded(d, "QuerySegmenter", keywords, count, n, min(n, 30), 1, ["segment", "segment", "predict"])


def labels(d):
    """An estimator that is fitted with labels of a recording."""
    keywords, _ = d.metric(["dtw", "adtw", "twed", "msm", "euclidean"], [{}])
    of, names, size = d.pick(["Searcher", "Segmenter"]), d.pick([[0, 1], [0, 1, 2], ["", "a"]]), d.between(4, 20)
    d.flat, rows, marks = False, [], []
    shapes = [d.series(size) for _ in names]
    for k in [0, *d.rng.integers(1, len(names), d.between(1, 9)).tolist()]:
        rows += [shapes[k] + 0.1 * d.scale * d.rng.normal(size=(size, d.channels)), d.series(d.between(3, 30))]
        marks += [names[k]] * size + [names[0]] * len(rows[-1])
    keywords = {"metric": "auto"} if d.chance(0.1) else keywords
    keywords |= d.some(0.08, threshold=["conformal:0.3"], polarity=["any"], nan_policy=["omit"])
    keywords |= d.some(0.1, self_train=[1], n_templates=[1, 2]) if of == "Segmenter" else {}
    fitted = [Call(f"Query{of}", **keywords), Call("fit", np.concatenate(rows), np.array(marks))]
    last = Call("search" if of == "Searcher" else "segment", np.concatenate(d.pick([rows, rows[::-1]])))
    return fitted if d.chance(0.3) else [*fitted, last]


def motif(d):
    keywords, n = d.metric()[0] if d.chance(0.5) else {}, d.between(10, d.pick([60, 150]))
    n = n if keywords else d.pick([n, 800])
    length = d.between(2, min(n // 2, 30))
    keywords |= {"normalize": d.pick(["zscore", *NORMALIZATIONS])} | ({"nan_policy": "omit"} if d.missing else {})
    keywords |= d.some(0.2, n=[2, 3], max_overlap=[0.5], n_jobs=[2, 3], other=[d.series(d.between(length, 80))])
    return [Call(d.pick(["motifs", "discords"]), d.sequence(n, [d.series(length)]), length, **keywords)]


def dictionary(d):
    names = ["Dynamic Time Warping", "Euclidean Distance", "Time Warp Edit Distance", "Correlation Distance"]
    m, n, d.missing, of = d.between(1, 20), d.between(20, 200), 0.0, d.pick(["search", "search", "segmentation"])
    x, times = d.series(m), d.pick([(), (d.times(m), d.times(n))])
    args = Call("get_distance_dict", names[: d.between(1, 4)]), x, d.sequence(n, [x]), *times
    output = d.some(0.5, output=[("number", None), ("threshold", 1.0), ("percentile", 5)]) if of == "search" else {}
    return [Call(f"time_series_{of}", *args, **d.weights(m), **output)]


KINDS = [pair] * 8 + [collections] * 6 + [searches] * 12 + [segments] * 5 + [labels, motif, dictionary]


def drawn(seed, number):
    """The call of a number: a list of steps, in some of them an argument of another form, or of no sense."""
    d = Draw(seed, number)
    with np.errstate(all="ignore"):
        chain = d.pick(KINDS)(d)
        places = [(step.given, key) for step in chain for key in step.given]
        arrays = [(given, key) for given, key in places if isinstance(given[key], np.ndarray) and given[key].ndim < 3]
        if arrays and d.chance(0.15):
            given, key = d.pick(arrays)
            given[key] = d.pick(FORMS)(given[key]) if given[key].dtype.kind == "f" else given[key][::-1]
    if places and d.chance(0.05):
        given, key = d.pick(places)
        given[key] = d.pick(NO_SENSE)
    chain[0].given |= d.some(0.003, windw=[1], n_match=[1], metrics=["dtw"])
    return chain


def made(value):
    """What an argument stands for: calls in it are made, and arrays are copies."""
    if isinstance(value, dict):
        return {k: made(v) for k, v in value.items()}
    return run([value]) if isinstance(value, Call) else value.copy() if isinstance(value, np.ndarray) else value


def run(chain):
    """The answer to a call."""
    value = None
    for step in chain:
        given = made(step.given)
        args = [given.pop(k) for k in range(len(given)) if k in given]
        if step.name in ("in_chunks", "in_parts"):
            target = partial(globals()[step.name], value)
        else:
            new = {"candidates": "search_all"}.get(step.name, step.name)  # a parameter's name now
            target = public(step.name) if value is None else getattr(value, new, None) or getattr(value, step.name)
        value = target(*args, **regrouped(target, given))
    return value


def regrouped(target, given):
    """Parameters of an estimator as this checkout has them."""
    parameters = inspect.signature(target).parameters if isinstance(target, type) else ()
    if not {"candidates", "learning"} & set(parameters) or "queries" in parameters:  # as they were, or no estimator
        return given
    if "inputs" not in sys.modules:
        sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from inputs import grouped  # of the tests, which knows the objects

    return grouped(target, given)


def public(name):
    homes = [import_module(f"sktslib{part}") for part in ("", ".distances", ".search", ".neighbors")]
    return getattr(next(home for home in homes if name in home.__all__), name)


def in_chunks(stream, y, sizes, times=None):
    """What a stream finds in chunks of these sizes, in turns."""
    found, at, turn = [], 0, 0
    while at < len(y):
        size = sizes[turn % len(sizes)] or turn % 3
        found.append(stream.update(y[at : at + size], **({} if times is None else {"times": times[at : at + size]})))
        at, turn = at + size, turn + 1
    return [one for one in [*found, stream.flush()] if len(one)], stream.n_samples_seen


def in_parts(searcher, y, cuts, whole, times=None):
    """What parts of a sequence find together."""
    begin = getattr(searcher, "partial_search", None) or searcher.begin  # as it is called, and was
    parts = [begin(at, start_time=None if times is None else times[0]) for at in cuts[:-1]]
    for part, end in zip(parts, cuts[1:], strict=True):
        at = slice(part.first, end)
        part.feed(y[at], **({} if times is None else {"times": times[at]}))
    return public("merge_parts")(parts, *((y, times) if whole else ()))


def text_of(value):
    """A value as it stands in the description of a call."""
    if hasattr(value, "shape"):
        holes = " with NaN" if getattr(value, "dtype", None) == np.float64 and np.isnan(value[:]).any() else ""
        return f"<{type(value).__name__} {value.shape}{holes}>"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value[:4]))}{', ...' * (len(value) > 4)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {text_of(v)}' for k, v in value.items())}}}"
    return re.sub("0x[0-9a-f]+", "0x", repr(value))[:200]


def asked(value, field):
    """An attribute, or what a method returns of the first match; an error is an answer, too."""
    try:
        got = getattr(value, field)
        return got(*[0] * (field in ("path", "explain"))) if type(got).__name__.startswith("method") else got
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def leaves(value, name="answer"):
    """The arrays and texts that an answer consists of, with their places."""
    kind, inner = type(value).__name__, {}
    if kind in ANSWERS:
        inner = {f".{field}": asked(value, field) for field in FIELDS.split() if field in dir(value)}
    elif isinstance(value, dict | pd.DataFrame):
        inner = {f"[{k!r}]": v for k, v in value.items()}
    elif isinstance(value, list | tuple) or getattr(getattr(value, "dtype", None), "kind", "") == "O":
        inner = {f"[{k}]": v for k, v in enumerate(value)}
    elif isinstance(value, pd.Index | pd.Series):
        kind, value = f"{kind} {value.dtype}", value.tolist()
    is_array = isinstance(value, np.ndarray) and not inner
    yield name, value if is_array else f"{kind} of {len(inner)}" if inner else f"{kind} {value!r}"
    for place, one in inner.items():
        yield from leaves(one, name + place)


def answer(seed, number):
    """The leaves of the answer to a call: of its result or error, and of its warnings."""
    chain, found = drawn(seed, number), []
    np.random.seed(number)  # noqa: NPY002  # what is not told a seed draws from this one
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found.extend(leaves(run(chain)))
        except Exception as error:
            found.append(("error", said(type(error), error)))
    return found + [("warning", text) for text in sorted({said(one.category, one.message) for one in warned})]


def said(category, message):
    """What an error or a warning says, without the names of parameters that are objects in one of the checkouts."""
    of = "of a regrouped parameter" if REGROUPED.search(str(message)) else message
    return f"{category.__name__}: {of}"


def line_of(name, found):
    """A digest of some leaves, and what they say in short."""
    out, says = hashlib.blake2b(digest_size=16), []
    for place, leaf in found:
        text = leaf if isinstance(leaf, str) else f"{leaf.dtype} {leaf.shape} {leaf.ravel()[:6].tolist()}"
        text = re.sub("0x[0-9a-f]+", "0x", text)  # addresses
        out.update(f"\n{place} {text} ".encode("utf-8", "replace"))
        out.update(b"" if isinstance(leaf, str) else np.ascontiguousarray(leaf).tobytes())
        says.append(" ".join(text.split())[: 300 // len(found) + 60])
    return f"{name}\t{out.hexdigest()}\t{'; '.join(says)[:300]}"


def output(options, root):
    """The lines of the process of a checkout, by their first columns."""
    name = f"{root.name}-{hashlib.blake2b(str(root).encode(), digest_size=4).hexdigest()}-{options.variant}"
    (options.cache / name).mkdir(parents=True, exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "SKTSLIB_"))}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment |= {"PYTHONPATH": str(root), "PYTHONHASHSEED": "0", "NUMBA_CACHE_DIR": str(options.cache / name)}
    command = [sys.executable, __file__, *sys.argv[1:], "--worker", str(root)]
    settings = environment | VARIANTS[options.variant]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{root} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines() if line.count("\t") == 2}


def main():
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="2: both checkouts at a time; 1: one after the other")
    parser.add_argument("--variant", choices=VARIANTS, default="plain", help="the processor that is compiled for")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "sktslib-same")
    parser.add_argument("--repeat", type=int, metavar="NUMBER", help="one call, by all parts of its answers")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:  # the process of a checkout: a line for each call, or for each part of one answer
        assert Path(import_module("sktslib").__file__).is_relative_to(options.worker)
        for k in range(options.calls) if options.repeat is None else [options.repeat]:
            found = answer(options.seed, k)
            parts = [line_of(f"{n} {one[0]}", [one]) for n, one in enumerate(found) if options.repeat is not None]
            print(*(parts or [line_of(k, found)]), sep="\n", flush=True)
        return 0
    roots, begin = [Path(__file__).resolve().parents[1], options.other.resolve()], time.perf_counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        here, there = pool.map(partial(output, options), roots)
    keys = [str(k) for k in range(options.calls)] if options.repeat is None else [*{**here, **there}]
    differing = [key for key in keys if key not in here or here[key] != there.get(key)]
    for key in differing if options.repeat is None else [options.repeat, *differing]:
        is_call = options.repeat in (None, key)
        print(f"{key}:", ".".join(map(repr, drawn(options.seed, int(key)))) if is_call else "")
        if key in differing:
            print(*(f"    {side.get(key, ['', 'no answer'])[1]}" for side in (here, there)), sep="\n")
    errors = sum(re.match(r"\w*(Error|Exception): ", text) is not None for _, text in here.values())
    print(f"{len(differing)} of {len(keys)} differ; {errors} are errors; {time.perf_counter() - begin:.0f} s")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
