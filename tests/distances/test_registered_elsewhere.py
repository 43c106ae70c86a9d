"""Metrics of the user's own in other processes, and their compiled kernels in the cache."""

import os
import subprocess
import sys

import numba
import pytest

HELPERS = "FACTOR = {factor}\n\n\ndef cost(a):\n    return FACTOR * a\n"
MODULE = """
from typing import NamedTuple

from helpers import cost
from numba.extending import register_jitable
from sktslib.distances import recurrence, register_metric

cost = register_jitable(cost)


def terms(p, row, y, y_before):


    x, _, w, _ = row
    return w * abs(x - y), 0.0, 0.0


def moves(p, at, late, a, b, c, gap):
    return cost(a){more}, a, a


@recurrence(terms=terms, moves=moves)
class Edited(NamedTuple):
    pass


register_metric("edited", Edited)
"""
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import edited
from sktslib.distances import get_metric
from sktslib.distances._kernels import diagonals
print(float(get_metric("edited")([0.0, 0.0], [1.0, 1.0])), sum(diagonals._go_on.stats.cache_hits.values()))
"""
OTHER = """
from sktslib.distances import DTW
from sktslib.distances._kernels import diagonals
print(float(DTW()([0.0, 0.0], [1.0, 1.0])))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled, so nothing is kept")
def test_an_edited_recurrence_is_never_answered_from_an_old_cache(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def run(code, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=environment, check=True, capture_output=True, text=True
        )
        return [float(word) for word in done.stdout.split()]

    def edited(more, factor):
        (tmp_path / "edited.py").write_text(MODULE.format(more=more))
        (tmp_path / "helpers.py").write_text(HELPERS.format(factor=factor))
        return run(RUN, str(tmp_path))

    assert edited("", 1.0) == [2.0, 0]
    assert edited(" + 1.0", 1.0) == [4.0, 0]  # the recurrence itself was edited
    assert edited("", 3.0) == [5.0, 0]  # a value that its helper looks up was edited
    assert edited("", 1.0) == [2.0, 1]  # the first one again, which was kept
    assert run(OTHER) == [2.0]  # a program that knows nothing of the module reads the same cache


MAIN = """
from typing import NamedTuple
from joblib import Parallel, delayed
from sktslib.distances import get_metric, pairwise_distances, recurrence, register_metric
from sktslib.neighbors import PairwiseDistances

@recurrence(
    terms=lambda p, row, y, y_before: (row[2] * abs(row[0] - y), 0.0, 0.0),
    moves=lambda p, at, late, a, b, c, gap: (a, p.price + a, p.price + a),
)
class Priced(NamedTuple):
    price: float = 0.1

if __name__ == "__main__":
    Priced = register_metric("priced", Priced)
    far = register_metric("far", lambda x, y, power=1.0: 7.0 * power)
    metrics = Priced, Priced(price=5.0), far, far(2.0)
    tasks = [delayed(pairwise_distances)([[0.0, 0.0], [0.0, 1.0]], metric=metric) for metric in metrics]
    for table in Parallel(n_jobs=2)(tasks):
        print(table[0, 1])
    register_metric("named", lambda x, y, power=1.0: 3.0 * power)
    by_name = PairwiseDistances("named").set_output(transform="default")
    print(Parallel(n_jobs=2)([delayed(by_name.fit_transform)([[0.0], [1.0]])])[0][0, 1])
    register_metric("left", lambda x, y: 0.0)
    try:
        Parallel(n_jobs=2)([delayed(get_metric)("left")])
    except ValueError as error:
        print("give-the-metric-object" in str(error).replace(" ", "-"))
"""


def test_metric_objects_and_classes_take_their_distance_to_other_processes():
    """Where it is defined in a notebook, too: the others cannot import it."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", MAIN], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1.0", "1.0", "7.0", "14.0", "3.0", "True"]
