"""Nearest neighbors in a collection, exact, with as little computed as that needs.

Candidates come block by block, LANES at a time, the most promising first. A candidate whose lower bound is above the
k-th best distance so far is skipped, and a block ends as soon as all its lanes are above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed

from ..utils._jobs import count_jobs, counted, each_in_jobs
from ..utils.validation import check_jobs, check_memory, check_verbose, shown
from ._blockwise.candidates import KEPT, Candidates, Task
from ._collection import StoredCollection, Timed, as_collection, channel_names, lengths_of, part_size, timed
from ._kernels.lanes import LANES
from ._metric_parameter import refuse_unknown
from ._metrics.mixed import Mixed
from ._metrics.registry import get_metric, metric_names
from ._pairwise import by_length, collection_weight, observed_distance
from ._series import spread
from ._tables import refuse_metric_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Sequences

# Of no influence on any result: series whose neighbors are searched for at once, more where searches take so little
# that threads would often wait for each other in between; points of them and the collection in all pairs, and numbers
# of the collection that one of theirs counts for; pairs; series of a call at most, and at least for the sake of jobs.
QUERIES, MANY_QUERIES = 64, 256
POINTS, EACH = 2**24, 2**7
ENTRIES = 2**20
ROWS, FEW_ROWS = 1024, 16
# Bytes of a pair, and more for each term of a sum, and sizes of a candidate, in all arrays that are made for them.
PAIR = 100
TERM = 16
COPIES = 12
# Bytes for each job where the collection that is searched is not in memory, unless more or less may be taken.
MEMORY = 2**28


@dataclass(frozen=True)
class Pruning:
    """What became of the pairs of a neighbor search.

    Attributes
    ----------
    pairs : int
        Pairs of a query and a candidate.
    bounded : int
        Pairs skipped because their lower bound was above the k-th best distance.
    abandoned : int
        Pairs that were begun and found to be above it.
    computed : int
        Pairs whose distance was computed.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> nearest_neighbors([[0, 1, 2]], [[0, 1, 1], [5, 5, 5]], metric="euclidean").report.pairs
    2
    """

    pairs: int
    bounded: int
    abandoned: int
    computed: int


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors; unpacks into distances and indices, and is indexed alike.

    Attributes
    ----------
    distances : ndarray of shape (n_series, n_neighbors)
        Distances to the nearest series, ascending.
    indices : ndarray of shape (n_series, n_neighbors)
        Their positions in the collection; of equally near ones the first.
    report : Pruning
        What was computed and what was not.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> distances, indices = nearest_neighbors([[0, 1, 2]], [[0, 1, 1], [5, 5, 5]], metric="euclidean")
    >>> distances, indices
    (array([[1.]]), array([[0]]))
    """

    distances: np.ndarray
    indices: np.ndarray
    report: Pruning

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.distances, self.indices))

    def __getitem__(self, k: Any) -> Any:
        return (self.distances, self.indices)[k]


def nearest_neighbors(
    X: Sequences,
    Y: Sequences | None = None,
    metric: MetricLike = "dtw",
    n_neighbors: int = 1,
    *,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    times: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    verbose: int = 0,
    channels_first: bool | None = None,
    **unknown: Any,
) -> Neighbors:
    """Find the nearest neighbors of each series in a collection; exact for every metric.

    Elastic distances are not computed for candidates that a lower bound excludes, and no further than needed for the
    others; so are the elastic parts of `Mixed`, by what the sum is at least. All other distances are computed.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The series whose neighbors are searched for; a list may hold series of different lengths. An array that is not
        in memory (memory map, zarr, h5py, dask) is read by parts.
    Y : like X, optional
        The collection to search; None: `X`, each series without itself.
    metric : str, metric object or callable, default="dtw"
        The distance, from a series of `X` to one of `Y`.
    n_neighbors : int, default=1
        Number of neighbors, at most the number of series to choose from.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of every series of `X`, which must have one length then, or of their
        channels alone.
    times : list, optional
        Sample times of each series, see :func:`pairwise_distances`. Then all distances are computed.
    n_jobs : int, optional
        Number of threads, as in joblib; no result depends on it.
    max_memory : int or str, optional
        Bytes that the work may take beside the collections and the result, or text such as "2GB"; of all threads, or
        of as many processes. Less takes longer; no neighbor depends on it. None: a few copies of `Y`, and some 80 MB a
        job; 270 MB a job where `Y` is not in memory.
    verbose : int, default=0
        Above 0: a bar on stderr shows how far the work has come.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`pairwise_distances`.
    **unknown
        Nothing else is taken: parameters of the metric are an error that says how to give them.

    Returns
    -------
    Neighbors
        Arrays `distances` and `indices` of shape (n_series, n_neighbors), nearest first, ties by the lower index, and
        a `report` of what was computed. It unpacks into the two arrays.

    Raises
    ------
    ValueError
        If a series or a weight is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something is of the wrong kind, such as text where numbers are meant.

    References
    ----------
    Keogh & Ratanamahatana (2005), Exact indexing of dynamic time warping; Herrmann & Webb (2021), Early abandoning and
    pruning for elastic distances including dynamic time warping.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> distances, indices = nearest_neighbors([[0, 1, 2], [5, 5, 5]], [[5, 5, 6], [0, 0, 1, 2], [9, 9, 9]])
    >>> distances
    array([[0.],
           [1.]])
    >>> indices
    array([[1],
           [0]])
    """
    refuse_unknown(unknown, nearest_neighbors)
    refuse_metric_name(Y, metric_names())
    metric = get_metric(metric, metric_params)
    n_jobs, verbose, max_memory = check_jobs(n_jobs), check_verbose(verbose), check_memory(max_memory)
    given = X, X if Y is None else Y
    alone, same, names = Y is None, Y is None, [channel_names(one, channels_first) for one in (X, Y)]
    part = part_size(max_memory)
    X = as_collection(X, "X", channels_first=channels_first, part=part)
    Y = X if same else as_collection(Y, "Y", channels=len(X[0]), channels_first=bool(channels_first), part=part)
    metric = metric._named(*names)
    metric._check_sizes(X, Y, ("X", "X" if same else "Y"))
    metric._warn_of_scale(X, Y)
    available = len(Y) - same
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= available:
        raise ValueError(
            f"The 'n_neighbors' parameter must be an integer from 1 to the number of series to choose from, "
            f"{available}. Got {shown(n_neighbors)}."
        )
    w = collection_weight(weight, X)
    metric = metric._fitted_to(X, None if w is None else [spread(w, m) for m in lengths_of(X)])
    k = int(n_neighbors)
    pair_of = timed(metric, given, (X, Y), times, same, alone)
    if isinstance(pair_of[0][0], Timed):
        return _of_all_distances(metric, w, pair_of, same, k)
    pair = PAIR + TERM * len(metric._made) if isinstance(metric, Mixed) else PAIR
    jobs = count_jobs(n_jobs)
    rows, columns = _sizes(X, Y, k, jobs, max_memory, pair)
    candidates = Candidates(Task(metric, w, k, rows, columns), Y)
    places = []
    for members in map(np.array, by_length(X).values()):
        size = min(ROWS, len(members) // (4 * jobs), getattr(X, "rows", ROWS))
        size = max(rows, size - size % rows)
        count = -(-len(members) // size)
        # Jobs end together; but each part has its cost. Series that lie side by side often take about as long: they are
        # dealt out, unless they are read side by side.
        count = max(count, min(count + -count % jobs, len(members) // min(FEW_ROWS, max(1, rows // 4))))
        stored = isinstance(X, StoredCollection)
        places += np.array_split(members, count) if stored else [members[k::count] for k in range(count)]
    calls = (
        delayed(_nearest)(candidates, [X[a] for a in part], part if same else np.full(len(part), -1)) for part in places
    )
    distances, indices, counts = np.empty((len(X), k)), np.empty((len(X), k), np.intp), np.zeros(3, int)
    found = each_in_jobs(calls, len(places), n_jobs, verbose, "nearest neighbors", "block")
    for part, (some, their_indices, their_counts) in zip(places, found, strict=True):
        distances[part], indices[part] = some, their_indices
        counts += their_counts
    return Neighbors(distances, indices, Pruning(len(X) * available, *counts.tolist()))


def _of_all_distances(metric, w, collections, same, k):
    """The nearest of all pairs, whose series have times."""
    X, Y = collections
    found = np.array([[observed_distance(metric, x, spread(w, x.shape[1]), y) for y in Y] for x in X], float)
    order = np.argsort(np.where(np.eye(len(X), dtype=bool), np.inf, found) if same else found, axis=1, kind="stable")
    if same:  # no series is its own neighbor, not even where all others are infinitely far
        order = order[order != np.arange(len(X))[:, np.newaxis]].reshape(len(X), -1)
    order, pairs = order[:, :k], len(X) * (len(Y) - same)
    return Neighbors(np.take_along_axis(found, order, axis=1), order, Pruning(pairs, 0, 0, pairs))


def _sizes(X, Y, k, jobs, max_memory, pair):
    """How many series to find the neighbors of at once, and among how many candidates."""
    if max_memory is None and isinstance(Y, StoredCollection):
        max_memory = MEMORY * jobs
    if max_memory is None:
        many = POINTS // (len(Y[0]) * max(sum(lengths_of(Y)), EACH * max(lengths_of(X))))
        rows = max(QUERIES, min(MANY_QUERIES, many, getattr(X, "rows", MANY_QUERIES)))
        return max(1, min(rows, ENTRIES // len(Y))), len(Y)
    # One half is for what is prepared of the candidates, the other one for the pairs.
    of_series = COPIES * 8 * len(Y[0]) * max(lengths_of(Y))
    columns = min(len(Y), max_memory // (2 * (KEPT + jobs) * of_series))
    rows = min(QUERIES, max_memory // (2 * jobs * pair * max(columns + k, 1)))
    if columns < min(len(Y), LANES) or not rows:
        least = max(2 * (KEPT + jobs) * of_series * LANES, 2 * jobs * pair * (LANES + k))
        raise ValueError(
            f"The 'max_memory' parameter must leave room for {LANES} candidates and {counted(jobs)}, {least} bytes. "
            f"Got {max_memory}. Raise it, or lower 'n_jobs'."
        )
    return rows, columns


def _nearest(candidates, X, itself):
    return candidates.nearest(X, itself)
