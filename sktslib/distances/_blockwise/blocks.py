"""Two collections compared block by block: each block is a call of its own, which any process can do."""

from math import ceil, isqrt

from joblib import delayed

from ...utils._jobs import AT_ONCE, count_jobs, counted, each_in_jobs
from .._collection import StoredCollection, lengths_of
from .._kernels.lanes import LANES
from .._metrics.lockstep import LockstepMetric
from .._metrics.sbd import SBD

# Of no influence on any result: pairs of points, and of series, that a block may hold, and blocks for each job; where
# all take one time, few, for each is prepared by itself.
CELLS = 2**30
ENTRIES = 2**18
SHARE = 8
EVEN = 2
# Bytes of a pair, and sizes of a series, in all arrays that are made for a block.
PAIR = 40
COPIES = 6


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
        Number of jobs, verbosity, the most memory or None, how many shares of it there are, one of which blocks may
        take, and the name of the work.
    """
    n_jobs, verbose, max_memory, shares, name = how
    jobs = count_jobs(n_jobs)
    pairs, most = _pairs_of_block(metric, X, Y, jobs, mirrored), [len(X), len(Y)]
    if max_memory is not None:
        at_once = AT_ONCE * jobs * shares
        room = max_memory // at_once
        pairs = min(pairs, room // (2 * PAIR))
        size = COPIES * 8 * len(X[0]) * max(lengths_of(X) + lengths_of(Y))
        most = [room // (4 * size)] * 2
        if not pairs or not most[0]:
            raise ValueError(
                f"The 'max_memory' parameter must leave room for one pair of series and {counted(jobs)}, "
                f"{at_once * max(4 * size, 2 * PAIR)} bytes. Got {max_memory}. Raise it, or lower 'n_jobs'."
            )
    most = [min(k, s.rows) if isinstance(s, StoredCollection) else k for k, s in zip(most, (X, Y), strict=True)]
    places = list(_blocks(order, mirrored, pairs, most))
    calls = (
        delayed(compare)([X[a] for a in rows], [Y[b] for b in columns], mirrored and bool(rows[0] == columns[0]))
        for rows, columns in places
    )
    for place, found in zip(places, each_in_jobs(calls, len(places), n_jobs, verbose, name, "block"), strict=True):
        yield *place, found


def _pairs_of_block(metric, X, Y, jobs, mirrored):
    """How many pairs of series a block may hold."""
    m, n = max(lengths_of(X)), max(lengths_of(Y))
    cells = max(m, n) if isinstance(metric, LockstepMetric | SBD) else m * n
    share = SHARE if mirrored or m > min(lengths_of(X)) or n > min(lengths_of(Y)) else EVEN
    return max(1, min(ENTRIES, CELLS // cells, ceil(len(X) * len(Y) / (1 if jobs == 1 else share * jobs))))


def _blocks(order, mirrored, pairs, most):
    """The positions in both collections of each block of about so many pairs, and at `most` so many of each."""
    rows, columns = order
    side = isqrt(pairs)
    if mirrored:
        height = width = min(side + -side % LANES, most[0])
    else:
        height = min(len(rows), max(1, side, pairs // len(columns)), most[0])
        width = min(pairs // height + -(pairs // height) % LANES, most[1])
    for begin in range(0, len(rows), height):
        for first in range(begin if mirrored else 0, len(columns), width):
            yield rows[begin : begin + height], columns[first : first + width]
