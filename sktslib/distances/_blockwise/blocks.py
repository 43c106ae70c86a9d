"""Two collections compared block by block: each block is a call of its own, which any process can do."""

from math import ceil, isqrt

from joblib import delayed

from ...utils._jobs import count_jobs, each_in_jobs
from .._kernels.lanes import LANES
from .._metrics.lockstep import LockstepMetric
from .._metrics.sbd import SBD

# Of no influence on any result: pairs of points, and of series, that a block may hold, and blocks for each job.
CELLS = 2**30
ENTRIES = 2**18
SHARE = 8


def compared_by_blocks(compare, metric, X, Y, order, mirrored, how):
    """Yield for each block its positions in both collections, and what `compare` makes of their series.

    Parameters
    ----------
    compare : callable
        Takes the series of both collections in a block, and whether they are the same ones, half of whose pairs will
        do.
    metric : Metric
        The distance that is computed.
    X, Y : sequence of ndarray of shape (channels, length)
        The collections.
    order : pair of ndarray of int
        All positions in `X` and in `Y`, in the order in which they are cut into blocks.
    mirrored : bool
        Whether both are one collection, of whose pairs half will do: those of the upper triangle, in this order.
    how : tuple
        Number of jobs, verbosity, and the name of the work.
    """
    n_jobs, verbose, name = how
    places = list(_blocks(order, mirrored, _pairs_of_block(metric, X, Y, count_jobs(n_jobs))))
    calls = (
        delayed(compare)([X[a] for a in rows], [Y[b] for b in columns], mirrored and bool(rows[0] == columns[0]))
        for rows, columns in places
    )
    for place, found in zip(places, each_in_jobs(calls, len(places), n_jobs, verbose, name, "block"), strict=True):
        yield *place, found


def _pairs_of_block(metric, X, Y, jobs):
    """How many pairs of series a block may hold."""
    m, n = (max(a.shape[1] for a in series) for series in (X, Y))
    cells = max(m, n) if isinstance(metric, LockstepMetric | SBD) else m * n
    return max(1, min(ENTRIES, CELLS // cells, ceil(len(X) * len(Y) / (1 if jobs == 1 else SHARE * jobs))))


def _blocks(order, mirrored, pairs):
    rows, columns = order
    side = isqrt(pairs)
    height = side + -side % LANES if mirrored else min(len(rows), max(1, side, pairs // len(columns)))
    width = height if mirrored else pairs // height + -(pairs // height) % LANES
    for begin in range(0, len(rows), height):
        for first in range(begin if mirrored else 0, len(columns), width):
            yield rows[begin : begin + height], columns[first : first + width]
