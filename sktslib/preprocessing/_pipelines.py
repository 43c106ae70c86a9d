"""Estimators at another sampling rate, and pipelines that end with a searcher or segmenter, fitted."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from ..io._objects import unwrapped
from ..search import QuerySearcher, QuerySegmenter
from ..search._chunks import entry, one_each, refuse_several, several, taken_apart
from ..search._query import event_score, refuse_sample_weight
from ..search._sources import n_samples
from ..utils._parameters import HasMethods
from ..utils._sklearn import Estimator
from ..utils._times import times_of
from ..utils.validation import shown
from ._resample import RATES, new_labels, resampled

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..search._results import Matches
    from ..search._segments.results import Segments
    from ..utils._times import Sequences, Times


ENDS = {QuerySearcher: "pipeline_search", QuerySegmenter: "pipeline_segment"}


def pipeline_search(fitted: Any, X: Sequences, times: Times | None = None) -> Matches:
    """Find the occurrences of a query by a fitted pipeline or grid search whose last step is a QuerySearcher.

    The steps before the searcher transform `X`, and the searcher searches in that. A pipeline's own ``predict``
    gives labels of time points; this gives the matches, with the times of `X`.

    Parameters
    ----------
    fitted : estimator
        A fitted `QuerySearcher`, or a `Pipeline` that ends with one, or a `GridSearchCV` or another search (of which
        the best estimator counts), one within another in any way. All kinds of transformers may come before it,
        `FeatureUnion` and `ColumnTransformer` among them, if they keep the number of samples.
    X : array-like of shape (n,) or (n, channels), or list of them
        The sequence, or several, as the first step takes it.
    times : array-like of shape (n,), optional
        Strictly increasing sample times, numbers or datetimes; of several sequences a list. Default: those of the index
        of `X`, also where a step before the searcher returns arrays without one. Steps of `sktslib.preprocessing` are
        given them; others only where metadata routing is enabled and they ask for `times` in `transform`.

    Returns
    -------
    Matches
        As `QuerySearcher.search` returns them. They are in the transformed sequence: ``matches.cut(X)`` gives the
        samples of `X`, and ``matches.plot(sequence=X)`` draws it.

    Raises
    ------
    NotFittedError
        If `fitted` is not.
    TypeError
        If no `QuerySearcher` is at its end.
    ValueError
        If a transformer changes the number of samples, or the search has not refitted its best estimator.

    See Also
    --------
    pipeline_segment : The same for QuerySegmenter.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sktslib import QuerySearcher, pipeline_search
    >>> pipe = make_pipeline(MinMaxScaler(), QuerySearcher("dtw", query=[0, 1, 0]))
    >>> pipe = pipe.fit([[5], [9], [5]])
    >>> pipeline_search(pipe, [[5], [5], [9], [9], [5]], times=[0.0, 0.5, 1.0, 1.5, 2.0]).to_frame()
       start  end  distance  start_time  end_time
    0      1    5       0.0         0.5       2.5
    """
    steps, searcher = _taken_apart(fitted, QuerySearcher, "pipeline_search")
    X, times = unwrapped(X, times, whole=bool(steps))
    listed = several(X)
    if listed is None:
        return searcher.search(*_transformed(steps, X, times))
    every, out = one_each(times, len(listed), "times", "sequences"), []
    for k, (sequence, t) in enumerate(zip(listed, every, strict=True)):
        with entry("X", k):
            out.append(_transformed(steps, sequence, t))
    return searcher.search([one for one, _ in out], [t for _, t in out])


def pipeline_segment(fitted: Any, X: Sequences, times: Times | None = None) -> Segments:
    """Segment a recording by a fitted pipeline or grid search whose last step is a QuerySegmenter.

    Parameters
    ----------
    fitted : estimator
        A fitted `QuerySegmenter`, or a pipeline or search with one at its end, as in :func:`pipeline_search`.
    X : array-like of shape (n,) or (n, channels)
        The recording, as the first step takes it.
    times : array-like of shape (n,), optional
        Its sample times, as in :func:`pipeline_search`.

    Returns
    -------
    Segments
        As `QuerySegmenter.segment` returns them. They are in the transformed recording.

    Raises
    ------
    NotFittedError, TypeError, ValueError
        As :func:`pipeline_search`.

    See Also
    --------
    pipeline_search : The same for QuerySearcher.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sktslib import QuerySegmenter, pipeline_segment
    >>> segmenter = QuerySegmenter("dtw", query=[0, 1, 0], background=0.2)
    >>> pipe = make_pipeline(MinMaxScaler(), segmenter).fit([[5], [9], [5]])
    >>> pipeline_segment(pipe, [[7], [5], [9], [5], [5], [9], [9], [5]]).boundaries
    array([1, 4, 8])
    """
    steps, segmenter = _taken_apart(fitted, QuerySegmenter, "pipeline_segment")
    X, times = unwrapped(X, times, whole=bool(steps))
    refuse_several(X)
    return segmenter.segment(*_transformed(steps, X, times))


def pipeline_stream(fitted: Any, *, max_delay: int | None = None) -> PipelineStream:
    """Begin a search or segmentation, chunk by chunk, by a fitted pipeline or grid search.

    Parameters
    ----------
    fitted : estimator
        A fitted `QuerySearcher` or `QuerySegmenter`, or a pipeline or search with one at its end, as in
        :func:`pipeline_search`. The steps before it must have a stream, as those of `sktslib.preprocessing` have with
        ``causal=True``.
    max_delay : int, optional
        As of `QuerySearcher.stream` and `QuerySegmenter.stream`.

    Returns
    -------
    PipelineStream
        Its ``update(X)`` returns the matches or segments that are decided, ``flush()`` those left at the end: together
        those of :func:`pipeline_search` or :func:`pipeline_segment` of the whole recording.

    Raises
    ------
    NotFittedError
        If `fitted` is not.
    TypeError
        If neither a `QuerySearcher` nor a `QuerySegmenter` is at its end, or a step before it has no stream.
    ValueError
        If a step is not causal, or the last one can have no stream, as a searcher without a threshold.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sktslib import QuerySearcher, pipeline_stream
    >>> from sktslib.preprocessing import RunningBaseline
    >>> searcher = QuerySearcher("euclidean", query=[0, 3, 0], threshold=0.5)
    >>> pipe = make_pipeline(RunningBaseline(5, causal=True), searcher).fit([[0], [0], [0]])
    >>> stream = pipeline_stream(pipe)
    >>> [stream.update(chunk).start.tolist() for chunk in ([7, 7, 7], [7, 10], [7, 7, 7, 7])]
    [[], [], [3]]
    """
    steps, last = _taken_apart(fitted, (QuerySearcher, QuerySegmenter), "pipeline_stream")
    streams = []
    for name, step in steps:
        if not hasattr(step, "stream"):
            raise TypeError(
                f"The steps before the last one must have a stream. Got {type(step).__name__}, {name!r}, which has no "
                "method 'stream'. Take transformers of sktslib.preprocessing with causal=True; or, if it transforms "
                "each sample by itself, leave it out, and pass what it makes of each chunk to 'update'."
            )
        streams.append((name, step.stream()))
    return PipelineStream(streams, last.stream(max_delay))


class PipelineStream:
    """The streams of a pipeline's steps one behind the other; made by :func:`pipeline_stream`. It can be pickled.

    Attributes
    ----------
    n_samples_seen : int
        Samples processed up to now.
    """

    def __init__(self, steps: Any, last: Any) -> None:
        self._steps, self._last = steps, last

    @property
    def n_samples_seen(self) -> int:
        return self._last.n_samples_seen

    def update(self, X: Sequences, times: Times | None = None) -> Matches | Segments:
        """Take the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times: with every chunk, or with none. Default: those of the index of `X`, if it holds any.

        Returns
        -------
        Matches or Segments
            What is decided now; ranges count from the stream's first sample.
        """
        X, times = taken_apart(X, times)
        times = times_of(X, times, self.n_samples_seen)
        for _, step in self._steps:
            X = step.update(X, times)
        return self._last.update(X, times)

    def flush(self) -> Matches | Segments:
        """End the stream and return what was not decided yet.

        Returns
        -------
        Matches or Segments
        """
        return self._last.flush()


def _last_of(fitted, wanted=()):
    """Return the steps before the last estimator, with their names, and that one, innermost or of a wanted class."""
    steps, last = [], fitted
    while not isinstance(last, wanted):
        if isinstance(last, FrozenEstimator):
            last = last.estimator
        elif isinstance(last, Pipeline):
            steps, last = [*steps, *last.steps[:-1]], last.steps[-1][1]
        elif hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        else:
            break
    return steps, last


def _taken_apart(fitted, wanted, caller):
    """Return the steps before the last estimator, with their names, and that estimator, checked for its class."""
    steps, last = _last_of(fitted, wanted)
    if not isinstance(last, wanted) and not _is_resampled(last, wanted):
        if not hasattr(last, "refit") or not hasattr(last, "fit"):
            raise TypeError(_other_end(fitted, last, wanted, caller))
        check_is_fitted(last)
        raise ValueError(
            f"{caller} needs the best estimator of {type(last).__name__}, which refit={shown(last.refit)} does not "
            "keep. Set 'refit' to True, or to the name of a score, and fit again."
        )
    check_is_fitted(last)
    return list(_flat(steps)), last


def _flat(steps):
    """Yield steps that do something, those of a pipeline among them in its place."""
    for name, step in steps:
        if isinstance(step, Pipeline):
            yield from _flat(step.steps)
        elif step is not None and step != "passthrough":
            yield name, step


def _is_resampled(last, wanted):
    """Return whether an estimator runs one of the class that is wanted at another rate, and not in a stream."""
    fitted = isinstance(last, Resampled) and hasattr(last, "estimator_") and not isinstance(wanted, tuple)
    return fitted and isinstance(_last_of(last.estimator_)[1], wanted)


def _other_end(fitted, last, wanted, caller):
    """Return the message for an estimator that does not end with one of the wanted classes."""
    got = type(last).__name__ if hasattr(last, "get_params") and not isinstance(last, type) else shown(last)
    within = "" if last is fitted else f" at the end of {type(fitted).__name__}"
    call = next((f" Call {function} instead." for one, function in ENDS.items() if isinstance(last, one)), "")
    names = " or ".join(one.__name__ for one in (wanted if isinstance(wanted, tuple) else (wanted,)))
    rule = f"{caller} needs a fitted {names}, or a pipeline or search that ends with one."
    return f"{rule} Got {got}{within}.{call}"


def _transformed(steps, X, times):
    """Return a sequence behind all steps, and the times that it had before them."""
    times = times_of(X, times)
    for name, step in steps:
        n = n_samples(X)
        # Only what asks for times is given them; what hands them on to others takes them with metadata routing alone.
        routing = get_routing_for_object(step)
        open_to = isinstance(routing, MetadataRequest) or get_config()["enable_metadata_routing"]
        asked = times is not None and open_to and "times" in routing.consumes("transform", ["times"])
        X = step.transform(X, times=times) if asked else step.transform(X)
        if n_samples(X) != n:
            raise ValueError(
                f"The steps before the last one must keep the number of samples, so that what is found lies where it "
                f"is. Got {n_samples(X)} samples of {n} from {name!r}, {type(step).__name__}. Leave it out, and "
                "resample or shorten recordings beforehand, together with their times."
            )
    return X, times


@dataclass(eq=False, repr=False)
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
    Borders are halfway between samples, so ranges that touch still do, and none is empty. A path gives for each sample
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

    estimator: Any
    rate: float
    sampling_rate: float | None = None
    _: KW_ONLY
    nan_policy: str = "raise"

    _parameter_constraints = {"estimator": [HasMethods("fit")], **RATES}

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
        X, times = unwrapped(X, times, whole=True)
        refuse_several(X)
        resampled = self._resampled(X, times, self.sampling_rate)
        rest = {} if times is None or isinstance(self.estimator, Pipeline) else {"times": resampled.new_times}
        y = None if y is None else new_labels(y, resampled.grid)
        self.estimator_ = clone(self.estimator).fit(resampled.table, y, **rest)
        self.sampling_rate_ = resampled.grid.old_rate
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
        return self._found(pipeline_search, X, times)

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
        return self._found(pipeline_segment, X, times)

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
        resampled = self._resampled_as_fitted(X, times)
        labels, grid = self.estimator_.predict(resampled.table), resampled.grid
        edges = grid.to_old(np.column_stack([np.arange(len(grid)), np.arange(1, len(grid) + 1)]))
        return labels[np.searchsorted(edges[:, 0], np.arange(grid.n), "right") - 1]

    def score(
        self, X: ArrayLike, y: ArrayLike, times: Times | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the event F1 of what is found against labels, see :func:`sktslib.metrics.event_f1_score`.

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
        refuse_sample_weight(sample_weight)
        check_is_fitted(self)
        found = (self.search if isinstance(_last_of(self.estimator_)[1], QuerySearcher) else self.segment)(X, times)
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

    def _resampled(self, X, times, sampling_rate):
        return resampled(X, times, self.rate, sampling_rate, self.nan_policy, type(self).__name__)

    def _resampled_as_fitted(self, X, times):
        """Resample a recording. Without times and `sampling_rate` it counts as sampled at the rate that `fit` found."""
        check_is_fitted(self)
        timed = times_of(X, times) is not None
        known = self.sampling_rate_ if self.sampling_rate is None and not timed else self.sampling_rate
        return self._resampled(X, times, known)

    def _found(self, find, X, times):
        refuse_several(X)
        new = self._resampled_as_fitted(X, times)
        found = find(self.estimator_, new.table, times=new.new_times)
        ranges = np.column_stack([found.start, found.end]).astype(np.int64)
        start, end = new.grid.to_old(ranges).T
        source = ResampledSource(found._source, ranges, new.grid.at, new.values)
        return replace(found, start=start.copy(), end=end.copy(), times=new.times, _source=source)


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
        """Return the source of some of the ranges."""
        return ResampledSource(self._found.of(rows), self._ranges[rows], self._at, self.sequence)

    def kept(self, start, end):
        """Return a source that keeps the whole recording, and the resampled samples that the ranges depend on."""
        return ResampledSource(self._found.kept(*self._ranges.T), self._ranges, self._at, self.sequence)

    def query(self, number):
        """Return the number of a query, checked."""
        return self._found.query(number)

    def beside(self, start, end):
        """Return the scale and offset of the ranges, as they were found at the other rate."""
        return self._found.beside(*self._ranges.T)

    def cut(self, ranges, sequence, length, *, listed):
        """Return the samples of each range, in the recording or in another sequence next to it."""
        sequence = self.sequence if sequence is None else sequence
        return self._found.cut(ranges, sequence, length, listed=listed)

    def search(self, k, start, end):
        """Return the k-th range and its query, with paths in samples of the recording."""
        return _ResampledRange(self._found.search(k, *self._ranges[k]), self._ranges[k], self._at, self.sequence)


class _ResampledRange:
    """A range that was found at another rate, with its query."""

    def __init__(self, search, found, at, x):
        self._search, self._range, self._at = search, tuple(found.tolist()), at
        self.plan, self.first, self.y = search.plan, 0, x.reshape(len(x), -1).T

    def path(self, start, end, shown=None):
        return self._in_samples(*self._search.path(*self._range, shown))

    def channel_path(self, start, end, channel):
        return self._in_samples(*self._search.channel_path(*self._range, channel))

    def _in_samples(self, i, j):
        return np.array([i, np.rint(self._at[j]).astype(np.int64)])

    def explain(self, start, end):
        return self._search.explain(*self._range)
