"""Sizes by which work is cut: no number depends on them, and between two pieces an interrupt is heard."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices
from strategies import small_sizes

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import SoftDTW, get_metric, nearest_neighbors, pairwise_distances
from sktslib.distances._kernels import compile
from sktslib.search import Windows

rng = np.random.default_rng(0)
Y, X = rng.integers(-8, 9, (400, 1)) / 4, rng.integers(-8, 9, (40, 30, 1)) / 4


def path(metric, x, y):
    found = metric.distance(x, y)
    return [float(found), found.path]


def found(metric, y, **parameters):
    matches = QuerySearcher(metric, **parameters).fit(Y[:20]).search(y)
    return [matches.start, matches.end, matches.distance]


def segments(metric, y, query=Y[:20], **parameters):
    cut = QuerySegmenter(metric, **parameters).fit(query).segment(y)
    return [cut.start, cut.end, cut.cost]


CALLS = {
    "pair": lambda n: path(get_metric("dtw"), Y[:70], Y[20:n]),
    "pair, band": lambda n: path(get_metric("edr", {"window": 0.2}), Y[:70], Y[20:n]),
    "pair, times": lambda n: path(get_metric("twed", {"nu": 0.5}), Y[:9], Y[20:n]),
    "pair, cutoff": lambda n: [float(get_metric("adtw").distance(Y[:40], Y[20:n], cutoff=1e9))],
    "pair, matrix": lambda n: [get_metric("dtw").distance(Y[:9], Y[20:n]).cost_matrix],
    "pair, soft": lambda n: [SoftDTW()(Y[:9], Y[20:n]), SoftDTW().expected_alignment(Y[:9], Y[20:n])],
    "pair, function": lambda n: path(get_metric("dtw", {"dist": lambda a, b: abs(a - b)}), Y[:9], Y[20:n]),
    "matrix": lambda n: [pairwise_distances(X[:, : n // 14])],
    "matrix, band": lambda n: [pairwise_distances(X[:, : n // 14], metric="twed", metric_params={"window": 0.3})],
    "matrix, bits": lambda n: [pairwise_distances(X[:, : n // 14], metric="edr", metric_params={"eps": 0.5})],
    "neighbors": lambda n: [*nearest_neighbors(X[:, : n // 14], metric="dtw", n_neighbors=3)],
    "neighbors, counts": lambda n: [
        *nearest_neighbors(X, metric="lcss", n_neighbors=3, metric_params={"window": 0.5}, weight=np.arange(1, 31))
    ],
    "neighbors, factors": lambda n: [*nearest_neighbors(X[:, : n // 14], metric="cid_dtw", n_neighbors=3)],
    "subsequences": lambda n: found("dtw", Y[:n], n_matches=3),
    "subsequences, lags": lambda n: found("wdtw", Y[:n], n_matches=3),
    "windows": lambda n: found("dtw", Y[:n], candidates="windows", normalize="zscore", n_matches=3),
    "windows, robust": lambda n: found("dtw", Y[:n], normalize="robust", n_matches=3),
    "windows, lockstep": lambda n: found("euclidean", Y[:n], normalize="zscore", n_matches=3),
    "windows, threshold": lambda n: found("adtw", Y[:n], candidates="windows", threshold=12.0, n_matches=None),
    "windows, scales": lambda n: found("dtw", Y[:n], candidates=Windows([0.5, 1]), n_matches=3),
    "chunks": lambda n: found("dtw", Slices(Y[:n]), n_matches=3),
    "chunks of windows": lambda n: found("dtw", Slices(Y[:n]), candidates="windows", n_matches=3),
    "segments side by side": lambda n: segments("dtw", Y[:n], query=Y[:2], background=0.25),
    "segments": lambda n: segments("dtw", Y[:n], background=0.3),
    "segments, limits": lambda n: segments("edr", Y[:n], background=0.3, lengths=(None, 30)),
    "segments of windows": lambda n: segments("euclidean", Y[:n], background=0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
def test_no_result_depends_on_the_cuts(name, data):
    n = data.draw(st.integers(90, 300))
    want = CALLS[name](n)
    with small_sizes(data):
        got = CALLS[name](n)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_between_pieces_is_heard(name, monkeypatch):
    """And what comes after it is right."""
    want, looks = CALLS[name](300), []

    def interrupted():
        looks.append(None)
        if len(looks) == 3:
            raise KeyboardInterrupt
        return 0.0

    with monkeypatch.context() as patch:
        patch.setattr(compile, "CELLS", 1)
        patch.setattr(compile, "perf_counter", interrupted)
        with pytest.raises(KeyboardInterrupt):
            CALLS[name](300)
    for a, b in zip(CALLS[name](300), want, strict=True):
        np.testing.assert_array_equal(a, b)


SIGNALS = """
import signal, sys, time
sys.path.insert(0, sys.argv[1])
from test_block_sizes import CALLS
from sktslib.distances._kernels import compile
compile.SECONDS = 1e-5
signal.signal(signal.SIGALRM, signal.default_int_handler)
heard, wanted = 0, time.perf_counter() + 1.0
for name, call in CALLS.items():
    call(300)  # whatever is compiled is
while time.perf_counter() < wanted or heard < 20:
    for k, call in enumerate(CALLS.values()):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + k % 7), 1e-3)
            call(300)
        except KeyboardInterrupt:
            heard += 1
        finally:
            while True:  # another one may come before it is off
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    break
                except KeyboardInterrupt:
                    continue
print("heard")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer to send signals")
def test_signals_at_any_moment_are_interrupts():
    """Never a SystemError, which is what a kernel that returns an array makes of one."""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = [sys.executable, "-c", SIGNALS, os.path.dirname(__file__)]
    done = subprocess.run(code, env=here, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("heard", "")


def test_pieces_that_end_at_once_do_not_grow_without_end():
    sizes = [size for size, _ in zip(compile.budgets(), range(100), strict=False)]
    assert sizes[-1] == compile.MOST == max(sizes) < 2**62
