"""Transformers of recordings that come in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..utils._given_times import times_of
from ..utils._sklearn import in_container

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import Times


class StepStream:
    """A causal transformer that continues with every chunk of a recording; made by its `stream`.

    What is transformed is to the bit what `transform` gives of the whole recording, whatever the chunks. A stream can
    be pickled and resumes where it was. Memory: the state of a filter, or the samples of a window.

    Attributes
    ----------
    n_samples_seen : int
        Samples so far.

    Examples
    --------
    >>> from sktslib.preprocessing import RunningBaseline
    >>> stream = RunningBaseline(3, causal=True).fit([[0.0]]).stream()
    >>> [stream.update(chunk).tolist() for chunk in ([1.0, 2.0, 9.0], [], [2.0, 2.0])]
    [[0.0, 0.5, 7.0], [], [0.0, 0.0]]
    """

    def __init__(self, transformer: Any) -> None:
        self._transformer, self._state = transformer, transformer._causal()
        self.n_samples_seen = 0

    def update(self, X: ArrayLike, times: Times | None = None) -> NDArray[np.float64]:
        """Transform the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times, which are looked at for uneven steps.

        Returns
        -------
        ndarray of the shape of X
            The transformed samples, in the container that ``set_output`` of the transformer says.

        Raises
        ------
        ValueError
            If the samples are not what the transformer takes; the message says in which chunk.
        """
        step = self._transformer
        if hasattr(X, "__len__") and len(X) == 0:  # as when nothing came in time
            shape = (0,) if len(getattr(X, "shape", (0,))) == 1 else (0, step.n_features_in_)
            return in_container(step, np.empty(shape), X)
        try:
            times = None if times is None else times_of(X, times, self.n_samples_seen)
            chunk = step._checked(X, times, reset=False)
        except ValueError as error:
            raise ValueError(f"In the chunk that begins at sample {self.n_samples_seen}: {error}") from None
        if not self.n_samples_seen:
            step._notice(chunk)
        self.n_samples_seen += chunk.y.shape[1]
        return in_container(step, chunk.like(self._state.update(chunk.y)), X)
