"""Splits of recordings for scikit-learn's searches and cross-validation: they keep the order of time points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .utils._times import Queries, Sequences
from .utils.validation import as_floats, check_count, refused

__all__ = ["BlockedSeriesSplit", "query_sequence_split"]


class BlockedSeriesSplit:
    """Split one long recording into contiguous test blocks, and train on the rest.

    Neighboring samples are alike, so a random split would test on training data; and it would cut events into single
    samples. Training samples within `gap` of the test block are left out.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks, at least 2; their lengths differ by at most one sample.
    gap : int, default=0
        Samples left out on either side of the test block.

    Examples
    --------
    >>> from sktslib.model_selection import BlockedSeriesSplit
    >>> for train, test in BlockedSeriesSplit(n_splits=3, gap=1).split(range(7)):
    ...     print(train, test)
    [4 5 6] [0 1 2]
    [0 1 6] [3 4]
    [0 1 2 3] [5 6]
    """

    def __init__(self, n_splits: int = 5, *, gap: int = 0) -> None:
        self.n_splits = check_count(n_splits, "n_splits", low=2, owner=type(self).__name__)
        self.gap = check_count(gap, "gap", low=0, owner=type(self).__name__)

    def __repr__(self):
        return f"{type(self).__name__}(n_splits={self.n_splits}, gap={self.gap})"

    def get_n_splits(
        self, X: Sequences | None = None, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : ignored
            The arguments are those of scikit-learn.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(
        self, X: Sequences, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield indices of training and test samples.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            The recording; only its length counts.
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of int
            Ascending.

        Raises
        ------
        ValueError
            If a block would leave no samples to train on, or to test on.
        """
        n = len(X)
        # More blocks than samples would leave some empty, as one more does; a gap of all samples leaves no training.
        at, gap = np.arange(n), min(self.gap, n)
        for block in np.array_split(at, min(self.n_splits, n + 1)):
            train = at[(at < block.min(initial=n) - gap) | (at > block.max(initial=-1) + gap)]
            if not len(block) or not len(train):
                rule = f"leave training and test samples in each of {self.n_splits} blocks with a gap of {self.gap}"
                raise refused(f"A recording of {n} samples", rule, "none in one of them; lower n_splits or gap")
            yield train, block


def query_sequence_split(query: Queries, sequence: Sequences) -> Any:
    """Return the one split that fits on a query and tests on a sequence, for ``cv`` of scikit-learn's searches.

    Parameters
    ----------
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence.

    Returns
    -------
    list of one tuple of ndarray of int
        Rows of the query and rows of the sequence in ``numpy.concatenate([query, sequence])``.

    Examples
    --------
    Which metric finds the beats best? The query is a parameter too, so that `fit` does not learn it from labels;
    ``refit=False`` prevents a final fit on query and sequence together.

    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sktslib import QuerySearcher
    >>> from sktslib.model_selection import query_sequence_split
    >>> query, sequence = np.array([0.0, 1.0, 0.0]), np.array([3.0, 0.0, 1.0, 0.0, 3.0])
    >>> labels = [0, 0, 0, 0, 1, 1, 1, 0]
    >>> X = np.concatenate([query, sequence])[:, np.newaxis]
    >>> grid = {"metric": ["euclidean", "correlation"]}
    >>> searcher = QuerySearcher(query=query)
    >>> search = GridSearchCV(searcher, grid, cv=query_sequence_split(query, sequence), refit=False)
    >>> float(search.fit(X, labels).best_score_)
    1.0
    """
    m, n = (len(np.atleast_1d(as_floats(series, name))) for series, name in ((query, "query"), (sequence, "sequence")))
    return [(np.arange(m), np.arange(m, m + n))]
