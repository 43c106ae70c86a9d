"""The column of a subsequence search: which kernel advances it along a series."""

import numpy as np

from .._kernels import columns, open_ended
from .._kernels.dispatch import has_weights


class SubsequenceKernel:
    """A query as the kernels of subsequence searches take it, prepared once for any number of pieces of a series.

    `few` samples or fewer go column by column, which costs less to begin than vectors along diagonals.
    """

    def __init__(self, problem, radius, few=0):
        self.rows, self._radius, self._few = problem.rows, radius, few
        self._runs_diagonally = problem.runs_diagonally
        self._weighted = has_weights(problem.record, self.rows) if problem.runs_diagonally else None  # None: no weights
        self._ground = None

    def advance(self, problem, at, lengths, state, found, costs=columns.NO_COSTS):
        """Advance the `state`, costs and starts of a column, along the series of a problem.

        Parameters
        ----------
        problem : PreparedPair
            The query with the samples and their times.
        at : tuple
            The column of the samples to begin with, and its number in the whole sequence.
        lengths : tuple
            The least and the largest length of a candidate.
        state : pair of ndarray of shape (m + 1,)
            Left as the next samples need it.
        found : pair of ndarray of shape (n,)
            Filled with the distance of the best candidate that ends at each sample, and its start.
        costs : ndarray of shape (n, m) or (0, m)
            Filled with the accumulated costs, unless it is empty.
        """
        record, _, _, y, tx, ty, points = problem
        limits = self._radius, *lengths
        if self._runs_diagonally and len(found[0]) > self._few and not costs.size:
            query = record, self.rows, self._weighted, points
            open_ended.subsequence_profile(query, y, *at, limits, state, *found)
            return
        if self._ground is None:
            self._ground = np.zeros((3, points.shape[1]))
        pair = record, self.rows, points, y, tx, ty
        columns.subsequence_profile(pair, *at, limits, (*state, self._ground), *found, costs)
