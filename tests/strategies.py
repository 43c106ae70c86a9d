"""What Hypothesis draws: series of small integers or floats, weights, times, metrics, sizes of blocks and pieces."""

from contextlib import contextmanager
from importlib import import_module

import naive
import numpy as np
import pytest
from hypothesis import strategies as st
from numba import config

from sktslib.distances import get_metric, metric_names

# What takes seconds in plain Python and runs no other lines than tests that take less.
long_without_compiler = pytest.mark.skipif(
    config.DISABLE_JIT, reason="takes long in plain Python, whose lines other tests run"
)

# Elastic distances of recurrences that differ in kind: all moves cost the same, none do, points may be left out
# anywhere; for other processors also those where two do and where a lag gives a factor. A driver takes seconds to
# compile for each. The others differ from them in the cost of a cell, and so do lockstep distances in a term; it is
# compiled for pairs alone, for the examples in docstrings. In plain Python all are compared everywhere.
RECURRENCES = naive.WARPED if config.DISABLE_JIT else "dtw edr twed".split()
if config.CPU_NAME and not config.DISABLE_JIT:
    RECURRENCES = [*RECURRENCES, "adtw", "wdtw"]
UNCOMPILED = """adtw erp frechet msm shape_dtw wddtw wdtw
    braycurtis canberra hamming kullback_leibler manhattan minkowski pearson_correlation sqeuclidean"""
UNCOMPILED = [] if config.DISABLE_JIT else [n for n in UNCOMPILED.split() if n not in RECURRENCES]
DISTANCES = [n for n in metric_names() if n in RECURRENCES or (n not in naive.WARPED and n not in UNCOMPILED)]
# Of several channels each driver is compiled once more: for these elastic ones, a sum of squares and a norm.
SEVERAL = [n for n in DISTANCES if config.DISABLE_JIT or n not in RECURRENCES or n in ("dtw", "twed")]


def channels_of(name):
    """Numbers of channels to draw; of several a search or a segmentation by DTW alone is compiled in quick tests."""
    return st.sampled_from([1, 2] if config.DISABLE_JIT or name == "dtw" or name not in naive.WARPED else [1])


def slow(*values):
    """Values of a test's parameter that are left to the slow tests."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


# Whether searches of subsequences may have a band, or differences of the caller's: each is a kernel of its own.
banded = pytest.mark.parametrize("banded", [False, *slow(True)])


def quick(names, *few):
    """Leave elastic distances but a few to the slow tests, as it takes seconds to compile a driver for each."""
    return [case for n in names for case in ([n] if n in few or n not in naive.WARPED else slow(n))]


def compiled(cases):
    """Leave out names, metrics and tuples that begin with a name for which no more drivers are to be compiled."""
    names = [case[0] if isinstance(case, tuple) else getattr(case, "name", case) for case in cases]
    return [case for case, name in zip(cases, names, strict=True) if name not in UNCOMPILED]


# What is drawn need not be meant: queries longer than sequences, constant ones, values that all lie within `eps`.
unmeant = pytest.mark.filterwarnings(
    "ignore:The query should",
    "ignore:Nothing is found. 'min_length'",
    "ignore:The 'eps' parameter",
    "ignore:The 'max_gap' parameter is below",
    "ignore:'x' and 'y' hold one point",
    "ignore:'[XY]' holds series with more channels",
)

# Quarters add up without rounding, so that ties are ties in every implementation.
quarters = st.integers(-12, 12).map(lambda k: k / 4)
plain = st.floats(-5, 5, allow_subnormal=False).map(lambda v: round(v, 3))


@st.composite
def series(draw, channels, low=1, high=9, values=None):
    length = draw(st.integers(low, high))
    v = draw(st.sampled_from([quarters, plain])) if values is None else values
    rows = draw(st.lists(st.lists(v, min_size=channels, max_size=channels), min_size=length, max_size=length))
    a = np.array(rows, dtype=float)
    return a[:, 0] if channels == 1 and draw(st.booleans()) else a


def recording(kind, rng, n, channels):
    """A recording (n, channels) of one of the kinds that are hard for sums, bounds and ties."""
    y = rng.normal(size=(n, channels))
    if kind in ("walk", "offset"):
        y = y.cumsum(axis=0) + (1e6 if kind == "offset" else 0.0)
    elif kind == "loud and quiet":
        y *= np.exp(rng.normal(size=(n, 1)).cumsum(axis=0) / 4)
    elif kind == "flat":
        y[n // 4 : n // 2] = 0.25
        y[3 * n // 4 :, 0] = 1.0
    elif kind == "step":
        y *= 1e-3
        y[n // 3 : n // 2] = 1e6
    elif kind == "spike":
        y[rng.integers(0, n)] = 1e9
    elif kind == "steps":
        y = (2 * y).round() / 2
    elif kind == "integers":
        y = rng.integers(-1, 2, y.shape).astype(float)
    elif kind == "copies":
        y = np.tile(y[: n // 5 + 1], (6, 1))[:n]
    return y * {"tiny": 1e-120, "vanishing": 1e-200, "huge": 1e130}.get(kind, 1.0)


@st.composite
def weights(draw, m, channels):
    """None, one weight a point, or one a point and channel; dyadic, some of them 0, at least one above."""
    kind = draw(st.sampled_from(["none", "points", "points", "channels"]))
    if kind == "none":
        return None
    shape = (m,) if kind == "points" else (m, channels)
    size = int(np.prod(shape))
    w = np.array(draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.0, 2.0]), min_size=size, max_size=size)))
    w[draw(st.integers(0, size - 1))] = 2.0  # a power of two: dividing by it is exact
    return w.reshape(shape)


@st.composite
def pairs(draw, low=1, high=9, y_low=1, y_high=9, values=None, equal=False, several=True):
    """A query, a series, the query's weights."""
    channels = draw(st.sampled_from([1, 1, 2, 3])) if several else 1
    x = draw(series(channels, low, high, values))
    y = draw(series(channels, len(x) if equal else y_low, len(x) if equal else y_high, values))
    if x.ndim != y.ndim:
        x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    return x, y, draw(weights(len(x), channels))


@st.composite
def collections(draw):
    """Series of several lengths, all with as many axes."""
    channels = draw(st.sampled_from([1, 2]))
    X = [draw(series(channels, low=1, high=7)) for _ in range(draw(st.integers(1, 5)))]
    return X if all(x.ndim == X[0].ndim for x in X) else [x.reshape(len(x), -1) for x in X]


@st.composite
def times(draw, n):
    steps = draw(st.lists(st.integers(1, 12).map(lambda k: k / 4), min_size=n, max_size=n))
    return np.cumsum(steps)


# Parameters of bands: a share of the shorter length, samples, slopes.
BANDED = [{"window": 0.3}, *({"window": "sakoe-chiba", "factor": r} for r in (0, 2)), {"window": "itakura"}]
BANDS = [{}, {}, *BANDED]


@st.composite
def bands(draw):
    """Parameters of a metric's band and of its reference implementation."""
    kind = draw(st.sampled_from(["none", "none", "float", "samples", "default", "itakura"]))
    if kind == "none":
        return {}, {}
    if kind == "itakura":
        return {"window": "itakura"}, {"band_kind": "itakura"}
    if kind == "float":
        share = draw(st.sampled_from([0.1, 0.29, 0.5, 1.0]))
        here, radius = {"window": share}, lambda m, n: int(share * min(m, n) + 1e-9)
    elif kind == "default":
        here, radius = {"window": "sakoe-chiba"}, lambda m, n: min(m, n) // 2
    else:
        r = draw(st.integers(0, 6))
        here, radius = {"window": "sakoe-chiba", "factor": r}, r
    return here, {"band_kind": "sakoe-chiba", "r": radius}


@st.composite
def parameters(draw, name, shortest=None):
    """Parameters of a metric but for its band; those of two whole series alone if the shorter length is given."""
    entry = naive.TABLE[name]
    values = entry.values if shortest is None else {**entry.values, **entry.values_of_pairs}
    p = {key: draw(st.sampled_from(some)) for key, some in values.items()}
    if p.get("dtw_type") == "psi-dtw":
        p["tolerance"] = draw(st.integers(0, shortest - 1))
    return p


def has_band(name):
    return hasattr(get_metric(name), "window")


@st.composite
def metrics(draw, names, shortest):
    """A metric object for pairs of series, its name, and the parameters of its reference implementation."""
    name = draw(st.sampled_from(names))
    p, (here, other) = draw(parameters(name, shortest)), draw(bands()) if has_band(name) else ({}, {})
    if not config.DISABLE_JIT:
        p.pop("p", None)  # norms other than the Euclidean one are other kernels, which slow tests compile
    return get_metric(name, {**p, **here}), name, {**p, **other}


# The sizes by which work is cut, and small ones. None of them may change a result.
SIZES = {
    "distances._kernels.compile.CELLS": [1, 50, 2**22],
    "distances._kernels.compile.SECONDS": [0.0, 0.03],
    "distances._kernels.strips.BLOCK": [2, 7, 40, 4096],
    "search._profile.FEW": [1, 5, 32],
    "search._run.FIRST": [1, 9, 2**12],
    "distances._kernels.strips.KEPT": [1, 2**23],
    "distances._kernels.simd.MOST": [0, 2**20],
    "distances._kernels.batch.MOVES": [1, 2**22],
    "search._segments.optimal.LEAD": [1, 4],
    "search._segments.optimal.FULL": [1, 2, 16],
    "search._segments.optimal.STEP": [1, 10, 2**13],
    "search._segments.optimal.AT_ONCE": [1, 7, 512],
    "search._segments.optimal.BLOCK": [1, 9, 2**13],
    "search._segments.optimal.WINDOWS": [1, 9, 2**17],
    "search._segments.optimal.AHEAD": [1, 2],
    "search._segments.optimal.SPAN": [0, 10, 2**9],
    "distances._kernels.scalar.ROOM": [1, 3, 4096],
    "distances._kernels.soft.ROOM": [1, 600, 2**22],
    "distances._metrics.base.BLOCK": [1, 40, 2**19],
    "distances._metrics.dtw.BLOCK": [1, 2, 7, 2**10],
    "distances._pairwise.CALL": [-(10**9), 2**18],
    "distances._pairwise.ENTRIES": [1, 7, 2**18],
    "distances._pairwise.EVEN": [1, 2],
    "distances._nearest.FEW_CELLS": [0, 200_000],
    "cluster._clusters.ROWS": [1, 5, 2**11],
    "distances._nearest.QUERIES": [1, 3, 64],
    "distances._nearest.MANY_QUERIES": [1, 3, 256],
    "distances._nearest.ROWS": [1, 5, 1024],
    "distances._kernels.mass.LEAST": [1, 2**20],
    "search._pruning.BLOCK_OF_MOMENTS": [1, 7, 2**16],
    "search._pruning.EACH": [1, 8],
    "distances._kernels.mass.GROUP": [1, 2**16],
    "distances._kernels.mass.WINDOWS": [1, 300, 2**19],
    "distances._kernels.mass.HELD": [1, 2**18],
    "distances._kernels.bounds.BLOCK": [1, 40, 2**13],
    "search._pruning.BLOCK": [1, 7, 2**16],
    "search._pruning.FEW": [0, 2**12],
    "search._pruning.TERMS": [1, 60, 2**19],
    "search._pruning.SEEDS": [2, 512],
    "search._pruning.PIECE": [2, 2**11],
    "search._pruning.SAMPLED": [3, 40, 2**12],
    "search._pruning.ROWS": [1, 2, 16],
    "search._pruning.PROMISING": [1, 32],
    "search._pruning.STRETCHES": [3, 64],
    "search._limits.BLOCK": [1, 7, 2**13],
    "search._limits.TERMS": [1, 60, 2**19],
    "search._sources.MOST_TERMS": [1, 9, 2**19],
    "search._motifs.WINDOWS_EACH": [1, 3, 64],
    "search._sources.CHUNK": [1, 16, 2**19],
    "search._sources.VALUES": [1, 20, 2**21],
    "search._sources.FEW": [0, 1, 16],
    "search._sources.COPIED": [1, 100, 2**15],
    "search._run.LONG": [1, 2**22],
    "search._run.RARE": [0, 1, 32],
    "search._run.LEAST": [10, 50, 2**16],
    "search._run.LEADS": [0, 1, 64],
    "utils._jobs.AT_ONCE": [1, 2],
    "search._run.LEAD": [1, 4],
    "search._run.ROOM": [1, 2**10],
    "search._pruning.LEAST": [1, 2**18],
    "search._engines.LEAST": [0, 0, 2**20],
    "search._engines.SHARE": [0.25, 0.5, 1, 3],
    "search._engines.PARTS": [2, 3, 4],
    "search._engines.BATCH": [1, 5, 2**8],
    "search._engines.SEEDS": [0, 1, 2**10],
    "search._engines.EACH": [1, 4],
    "search._engines.TERMS": [1, 20, 2**19],
    "search._selection.BLOCK": [1, 7, 2**14],
    "search._selection.LEAST_BATCH": [1, 20, 2**13],
    "distances._kernels.selection.BLOCK": [1, 7, 2**14],
    "distances._kernels.selection.FEW": [0, 8],
    "search._selection.FIRST": [1, 3, 64],
    "search._selection.COMPARED": [16, 2**21],
}


@contextmanager
def small_sizes(data, *names):
    """Blocks and pieces of drawn sizes; those of these names, or all."""
    with pytest.MonkeyPatch.context() as patch:
        for name in names or SIZES:
            module, _, size = name.rpartition(".")
            patch.setattr(import_module(f"sktslib.{module}"), size, data.draw(st.sampled_from(SIZES[name])))
        yield
