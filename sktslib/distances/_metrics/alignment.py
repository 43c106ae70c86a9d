"""The value that the elastic functions return: a number that also knows its path."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

__all__ = ["Alignment"]


class Alignment(float):
    """A distance that remembers the alignment it comes from.

    It is a float in every respect; numpy, pandas and scikit-learn take it for one. It also unpacks:
    ``distance, cost_matrix, path = dtw(x, y)``, and ``dtw(x, y)[2]`` is the path. Cost
    matrix and path are computed when first asked for.

    Attributes
    ----------
    path : ndarray of shape (2, K)
        Query indices and sequence indices of the alignment.
    cost_matrix : ndarray of shape (m, n)
        Accumulated costs.

    Examples
    --------
    >>> from sktslib.distances import dtw
    >>> d, cost_matrix, path = dtw([0, 1, 2], [0, 0, 1, 2])
    >>> d == 0, cost_matrix.shape
    (True, (3, 4))
    >>> path
    array([[0, 0, 1, 2],
           [0, 1, 2, 3]])
    """

    ndim = 0  # without it pandas takes for a list what can be unpacked

    def __new__(cls, value, metric=None, problem=None):
        self = super().__new__(cls, value)
        self._metric, self._problem = metric, problem
        return self

    @cached_property
    def path(self):
        return self._metric._path(self._problem)

    @cached_property
    def cost_matrix(self):
        return self._metric._cost_matrix(self._problem)

    def __iter__(self) -> Iterator[Any]:
        yield float(self)
        yield self.cost_matrix
        yield self.path

    def __getitem__(self, k: Any) -> Any:
        names = ("real", "cost_matrix", "path")[k]
        return getattr(self, names) if isinstance(names, str) else tuple(getattr(self, name) for name in names)

    def __reduce__(self):
        return Alignment, (float(self), self._metric, self._problem)
