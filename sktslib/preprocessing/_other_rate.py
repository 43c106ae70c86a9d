"""Resampled: an estimator that works at another sampling rate, and answers in samples of the recording."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from ..search._query import event_score, refuse_sample_weight
from ..search._several import refuse_several
from ..utils._given_times import times_of
from ..utils._sklearn import Estimator, StrOptions
from ._resample import like_table, new_labels, read_grid, times_between

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..search._results import Matches
    from ..search._segmentation.segments import Segments
    from ..utils._types import Times


class Resampled(MetaEstimatorMixin, Estimator):
    """Run an estimator at another sampling rate; matches and segments are those of the recording's own samples.

    Recordings, with their labels and times, are brought to the rate by `resample`. What is found is then told in
    samples and times of the recording that was given: at a lower rate a search takes less time, and recordings of
    several rates can be searched for one query.

    Parameters
    ----------
    estimator : QuerySearcher, QuerySegmenter or pipeline
        What is fitted, a pipeline with one of these at its end. A clone of it is fitted.
    rate : float
        Samples a unit of time that the estimator is given.
    sampling_rate : float, optional
        That of the recordings. Default: that of their times; for a recording without times the one of `fit`.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), as in `resample`; the estimator has one of its own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    sampling_rate_ : float
        The sampling rate of what was fitted.
    n_features_in_ : int
        Number of channels.

    Notes
    -----
    Borders lie halfway between samples, so ranges that touch still do, and none is empty. A path gives for each sample
    at the new rate the nearest of the recording. ``cut()`` and pictures are of the recording as it was given;
    `explain` counts in samples at the new rate.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib import QuerySearcher
    >>> from sktslib.preprocessing import Resampled
    >>> beat = np.sin(np.linspace(0, 2 * np.pi, 40))
    >>> recording = np.concatenate([np.zeros(60), beat, np.zeros(100)])
    >>> searcher = Resampled(QuerySearcher("euclidean", n_matches=1), rate=50, sampling_rate=100).fit(beat)
    >>> searcher.search(recording).start
    array([60])
    """

    _parameter_constraints = {
        "estimator": "no_validation",
        "rate": "no_validation",
        "sampling_rate": "no_validation",
        "nan_policy": [StrOptions({"raise", "omit"})],
    }

    def __init__(
        self, estimator: Any, rate: float, sampling_rate: float | None = None, *, nan_policy: str = "raise"
    ) -> None:
        self.estimator = estimator
        self.rate = rate
        self.sampling_rate = sampling_rate
        self.nan_policy = nan_policy

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, times: Times | None = None) -> Self:
        """Fit a clone of the estimator at the new rate.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The query, or with `y` a recording, as the estimator takes them; one, not a list.
        y : array-like of shape (n,), optional
            Labels of its time points.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Resampled
            Itself.

        Raises
        ------
        TypeError
            If `estimator` cannot be fitted.
        ValueError
            If a parameter is out of its range, or the sampling rate of `X` is neither given nor told by its times.
        """
        self._validate()
        if not hasattr(self.estimator, "fit"):
            raise TypeError(
                "The 'estimator' parameter of Resampled must be a QuerySearcher, a QuerySegmenter or a pipeline that "
                f"ends with one. Got {self.estimator!r}."
            )
        refuse_several(X)
        x, given, grid = self._read(X, times, self.sampling_rate)
        new_times = None if given is None else times_between(given, grid.at)
        rest = {} if times is None or isinstance(self.estimator, Pipeline) else {"times": new_times}
        y = None if y is None else new_labels(y, grid)
        self.estimator_ = clone(self.estimator).fit(like_table(X, self._resampled(x, grid), new_times), y, **rest)
        self.sampling_rate_ = grid.old_rate
        return self

    def search(self, X: ArrayLike, times: Times | None = None) -> Matches:
        """Find the occurrences, where the estimator is a `QuerySearcher` or ends with one.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence; one, not a list.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Matches
            In samples and times of `X`.
        """
        from .._pipelines import search_in  # which stands above, for it knows this class

        return self._found(search_in, X, times)

    def segment(self, X: ArrayLike, times: Times | None = None) -> Segments:
        """Segment a recording, where the estimator is a `QuerySegmenter` or ends with one.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Segments
            In samples and times of `X`.
        """
        from .._pipelines import segment_in  # which stands above, for it knows this class

        return self._found(segment_in, X, times)

    def predict(self, X: ArrayLike, times: Times | None = None) -> NDArray[Any]:
        """Label each time point of `X`, as the estimator does at the new rate.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        x, given, grid = self._read_known(X, times)
        new_times = None if given is None else times_between(given, grid.at)
        labels = self.estimator_.predict(like_table(X, self._resampled(x, grid), new_times))
        edges = grid.to_old(np.column_stack([np.arange(len(grid)), np.arange(1, len(grid) + 1)]))
        return labels[np.searchsorted(edges[:, 0], np.arange(grid.n), "right") - 1]

    def score(
        self, X: ArrayLike, y: ArrayLike, times: Times | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Event F1 of what is found against labels, see :func:`sktslib.metrics.event_f1_score`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,)
            True labels of its time points.
        times : array-like of shape (n,), optional
            Its sample times.
        sample_weight : None
            Here because ``Pipeline.score`` names it.

        Returns
        -------
        float
            In [0, 1].
        """
        from .._pipelines import ends_with_searcher

        refuse_sample_weight(sample_weight)
        check_is_fitted(self)
        found = (self.search if ends_with_searcher(self.estimator_) else self.segment)(X, times)
        return event_score(y, found, np.shape(y)[0])

    def get_metadata_routing(self) -> MetadataRouter:
        """Say that the estimator is given nothing but recordings and labels.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the fitted estimator."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of channels."""
        return self.estimator_.n_features_in_

    def _read(self, X, times, sampling_rate):
        return read_grid(X, times, self.rate, sampling_rate, self.nan_policy, type(self).__name__)

    def _read_known(self, X, times):
        """The same of a recording that may have no times."""
        timed = times_of(X, times) is not None
        known = self.sampling_rate_ if self.sampling_rate is None and not timed else self.sampling_rate
        return self._read(X, times, known)

    def _resampled(self, x, grid):
        values = grid.values(x.reshape(len(x), -1).T)
        return values[0] if x.ndim == 1 else np.ascontiguousarray(values.T)

    def _found(self, find, X, times):
        check_is_fitted(self)
        refuse_several(X)
        x, given, grid = self._read_known(X, times)
        new_times = None if given is None else times_between(given, grid.at)
        found = find(self.estimator_, like_table(X, self._resampled(x, grid), new_times), times=new_times)
        ranges = np.column_stack([found.start, found.end]).astype(np.int64)
        start, end = grid.to_old(ranges).T
        source = ResampledSource(found._source, ranges, grid.at, x)
        return replace(found, start=start.copy(), end=end.copy(), times=given, _source=source)


class ResampledSource:
    """The samples behind ranges that were found at another rate: of the recording as it was given."""

    def __init__(self, found, ranges, at, x):
        self._found, self._ranges, self._at = found, ranges, at
        self.sequence = np.array(x)  # the caller is free to write into it

    max_gap = None  # ends are when the sample there was taken

    @property
    def readers(self):
        return self._found.readers

    def of(self, rows):
        """The same of some of the ranges."""
        return ResampledSource(self._found.of(rows), self._ranges[rows], self._at, self.sequence)

    def kept(self, start, end):
        """The same of the samples that the ranges depend on, beside the recording itself."""
        return ResampledSource(self._found.kept(*self._ranges.T), self._ranges, self._at, self.sequence)

    def query(self, number):
        """The number of a query, checked."""
        return self._found.query(number)

    def beside(self, start, end):
        """Scale and offset of the ranges, as they were found at the other rate."""
        return self._found.beside(*self._ranges.T)

    def cut(self, ranges, sequence, length, *, listed):
        """The samples of each range, in the recording or in another sequence beside it."""
        sequence = self.sequence if sequence is None else sequence
        return self._found.cut(ranges, sequence, length, listed=listed)

    def search(self, k, start, end):
        """The k-th range and its query, with paths in samples of the recording."""
        return _ResampledRange(self._found.search(k, *self._ranges[k]), self._ranges[k], self._at, self.sequence)


class _ResampledRange:
    """One range and its query."""

    def __init__(self, search, found, at, x):
        self._search, self._range, self._at = search, tuple(found.tolist()), at
        self.how, self.first, self.y = search.how, 0, x.reshape(len(x), -1).T

    def path(self, start, end, shown=None):
        return self._in_samples(*self._search.path(*self._range, shown))

    def channel_path(self, start, end, channel):
        return self._in_samples(*self._search.channel_path(*self._range, channel))

    def _in_samples(self, i, j):
        return np.array([i, np.rint(self._at[j]).astype(np.int64)])

    def explain(self, start, end):
        return self._search.explain(*self._range)
