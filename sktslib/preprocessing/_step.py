"""What the transformers of recordings share: parameters, input validation, sampling rate, and their streams."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..utils._given_times import name_of, notice_column, notice_index, times_of
from ..utils._sizes import check_size
from ..utils._sklearn import Estimator, check_columns, warn_of_names
from ..utils.validation import as_points, as_times, refuse_missing
from ._rate import notice_steps
from ._step_stream import StepStream

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import Times


class Recording(NamedTuple):
    """A recording that is validated."""

    y: np.ndarray  # (channels, n)
    t: np.ndarray | None  # its times as floats
    given: object  # as they were given
    flat: bool  # whether it came with one dimension

    def like(self, y):
        """Samples (channels, n) in the shape that the recording came in."""
        return y[0] if self.flat else np.ascontiguousarray(y.T)


class RecordingTransformer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Base of the transformers that keep the samples: time points are samples, channels are features.

    A subclass learns from a recording (`_learn`), transforms samples (channels, n) of which all are known (`_whole`),
    and gives what transforms them piece by piece from the past alone (`_causal`), an object whose ``update(y)`` does.
    All of these are given NaN where a value is missing.
    """

    # Times that are given to `search_in` or a pipeline with metadata routing come to every step.
    __metadata_request__fit = {"times": True}
    __metadata_request__transform = {"times": True}

    _rate = None  # samples a unit of time, where the transformer depends on it

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, times: Times | None = None) -> Self:
        """Check the parameters, and learn what there is to learn from a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,), optional
            Labels of its time points; not used, unless the class says so.
        times : array-like of shape (n,), optional
            Strictly increasing sample times, numbers or datetimes. Default: those of the index of `X`, if it holds any.

        Returns
        -------
        object
            The transformer itself.
        """
        self._validate()
        recording = self._checked(X, times, reset=True)
        if recording.flat and y is not None:
            raise ValueError(
                "'X' must have shape (length, channels) where 'y' is given. Got one dimension. Reshape your data with "
                "numpy.reshape(X, (-1, 1)) if it has a single channel."
            )
        self._learn(recording, y)
        notice_column(X, recording.y.T)
        notice_index(X, recording.given)
        self._notice(recording)
        return self

    def transform(self, X: ArrayLike, times: Times | None = None) -> NDArray[np.float64]:
        """Transform a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times, as in `fit`. They are looked at for uneven steps, and do not change the numbers.

        Returns
        -------
        ndarray of the shape of X
            As many samples, NaN where one is missing. A table with the index of `X` where ``set_output`` says so.
        """
        check_is_fitted(self)
        recording = self._checked(X, times, reset=False)
        y = self._causal().update(recording.y) if self.causal else self._whole(recording.y)
        notice_index(X, recording.given)
        self._notice(recording)
        return recording.like(y)

    def stream(self) -> StepStream:
        """Begin to transform a recording that comes in chunks; `causal` must be True.

        Returns
        -------
        StepStream
            Its ``update(X)`` returns the transformed samples of each chunk, to the bit those of `transform`.
        """
        check_is_fitted(self)
        if not self.causal:
            raise ValueError(
                f"The 'causal' parameter of {type(self).__name__} must be True in a stream, where what comes later is "
                "not known. Got False. Set causal=True and fit again, for then events lie later in what is transformed."
            )
        return StepStream(copy(self))

    def _checked(self, X, times, *, reset):
        """A recording, validated."""
        a = as_points(X, "X")
        refuse_missing(a, "X", missing=self.nan_policy == "omit")
        if reset:
            validate_data(self, X if hasattr(X, "columns") else a.reshape(len(a), -1), skip_check_array=True)
        else:
            self._check_channels(X, a)
        y, given = a.reshape(len(a), -1).T, times_of(X, times)
        check_size(y, "'X'", 2.0, type(self).__name__)
        return Recording(y, as_times(given, len(a), name_of(times)), given, a.ndim == 1)

    def _check_channels(self, X, a):
        """Refuse other channels than the fitted ones."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns"):
            check_columns(self, X, reset=False)
        elif names is not None and names.tolist() != [getattr(X, "name", None)]:
            warn_of_names(self, names)
        got = a.shape[1] if a.ndim == 2 else 1
        if got != self.n_features_in_:
            hint = "Reshape your data to (length, channels)" if a.ndim == 1 else "Time runs along the first axis"
            raise ValueError(
                f"X has {got} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                f"input: the channels of the recording that it was fitted to. {hint}."
            )

    def _notice(self, recording):
        notice_steps(recording.t, recording.given, self._rate, type(self).__name__)

    def _learn(self, recording, y):
        """Nothing, unless a subclass has something to learn."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.nan_policy == "omit"
        return tags
