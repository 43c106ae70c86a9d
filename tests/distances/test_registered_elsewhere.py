"""Metrics of the user's own in other processes."""

import os
import subprocess
import sys

import pytest

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


@pytest.mark.slow
def test_metric_objects_and_classes_take_their_distance_to_other_processes():
    """Where it is defined in a notebook, too: the others cannot import it."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", MAIN], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1.0", "1.0", "7.0", "14.0", "3.0", "True"]
