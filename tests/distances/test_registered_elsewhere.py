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
from sktslib.distances import get_metric
from sktslib.distances._kernels import strips
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    for name in ("edited", "helpers"):
        sys.modules.pop(name, None)
    import edited
    print(float(get_metric("edited")([0.0, 0.0], [1.0, 1.0])), sum(strips._at_once.stats.cache_hits.values()))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled, so nothing is kept")
def test_an_edited_recurrence_is_never_answered_from_an_old_cache(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def run(*folders):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *folders], env=environment, check=True, capture_output=True, text=True
        )
        return [float(word) for word in done.stdout.split()]

    def edited(name, more, factor):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "edited.py").write_text(MODULE.format(more=more))
        (folder / "helpers.py").write_text(HELPERS.format(factor=factor))
        return str(folder)

    first = edited("first", "", 1.0)
    assert run(first) == [2.0, 0]
    # The recurrence itself was edited; a value that its helper looks up was edited.
    assert run(edited("recurrence", " + 1.0", 1.0), edited("helper", "", 3.0)) == [4.0, 0, 5.0, 0]
    assert run(first) == [2.0, 1]  # the first one again, which was kept


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
