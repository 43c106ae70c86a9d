"""Which events agree, and how many of them can be matched one to one. Events are integer arrays of [start, end)."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching


def pairs_by_iou(true, pred, min_iou):
    """List the pairs (i, j) of events whose intersection over union is at least `min_iou`."""
    lengths = pred[:, 1] - pred[:, 0]
    # An event that begins further away than this cannot reach the overlap, whatever its length. One sample of slack
    # covers the rounding of the bounds; the test below is the one that decides.
    earliest = pred[:, 0] - lengths * min(1 / min_iou - 1, 2.0**52) - 1
    latest = pred[:, 0] + lengths * (1 - min_iou) + 1
    rows, columns = _pairs_by_start(true, earliest, latest)
    common = np.minimum(true[rows, 1], pred[columns, 1]) - np.maximum(true[rows, 0], pred[columns, 0])
    union = np.diff(true)[rows, 0] + lengths[columns] - common
    keep = common / union >= min_iou
    return rows[keep], columns[keep]


def pairs_by_tolerance(true, pred, tolerance):
    """List the pairs (i, j) of events whose borders are at most `tolerance` apart."""
    rows, columns = _pairs_by_start(true, pred[:, 0] - tolerance, pred[:, 0] + tolerance)
    keep = np.abs(true[rows, 1] - pred[columns, 1]) <= tolerance
    return rows[keep], columns[keep]


def pairs_by_overlap(true, pred):
    """List the pairs (i, j) of events that overlap, and their intersections over union."""
    longest = int(np.diff(true).max(initial=0))
    rows, columns = _pairs_by_start(true, pred[:, 0] - longest, pred[:, 1])
    common = np.minimum(true[rows, 1], pred[columns, 1]) - np.maximum(true[rows, 0], pred[columns, 0])
    rows, columns, common = rows[common > 0], columns[common > 0], common[common > 0]
    return rows, columns, common / (np.diff(true)[rows, 0] + np.diff(pred)[columns, 0] - common)


def _pairs_by_start(true, earliest, latest):
    """List the pairs (i, j) where event i begins within [earliest_j, latest_j], without a table of all pairs."""
    order = np.argsort(true[:, 0], kind="stable")
    starts = true[order, 0]
    first = np.searchsorted(starts, earliest, side="left")
    counts = np.searchsorted(starts, latest, side="right") - first
    columns = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(columns)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(first, counts) + within], columns


def _narrow(*indices):
    """Indices of 32 bits: the matchings of scipy 1.13 take no others."""
    return tuple(a.astype(np.int32) for a in indices)


def count_matched(rows, columns, n_true, n_pred):
    """Return how many pairs a one-to-one matching can have."""
    if len(rows) == 0:
        return 0
    agree = csr_array((np.ones(len(rows)), _narrow(rows, columns)), shape=(n_true, n_pred))
    return int(np.count_nonzero(maximum_bipartite_matching(agree, perm_type="column") >= 0))


def closest_matching(rows, columns, errors, n_true, n_pred):
    """Return the pairs of the matching that has the most pairs and, among those, the smallest total error.

    scipy's weighted matching leaves no vertex out. So each event gets a stand-in, which it takes at a price above all
    errors together, and the stand-ins of a pair may take each other.
    """
    errors = errors.astype(np.float64)
    price = errors.sum() + 2 * len(errors) + 1
    true, pred = np.arange(n_true), np.arange(n_pred)
    # Zeros in a sparse matrix are no edges: every cost is one more.
    graph = csr_array(
        (
            np.concatenate([errors + 1, np.full(n_true + n_pred, price), np.ones(len(errors))]),
            _narrow(
                np.concatenate([rows, true, n_true + pred, n_true + columns]),
                np.concatenate([columns, n_pred + true, pred, n_pred + rows]),
            ),
        ),
        shape=(n_true + n_pred, n_true + n_pred),
    )
    left, right = min_weight_full_bipartite_matching(graph)
    real = (left < n_true) & (right < n_pred)
    return left[real], right[real]
