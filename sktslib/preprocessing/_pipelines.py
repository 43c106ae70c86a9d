"""Fitted pipelines that end with a searcher or segmenter."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from ..io._objects import unwrapped
from ..search import QuerySearcher, QuerySegmenter
from ..search._chunks import located, one_each, one_sequence, several, taken_apart
from ..search._results import Matches
from ..search._segments.segmenter import Segments
from ..search._sources import n_samples
from ..utils._times import Sequences, Times, times_of
from ..utils.validation import refused, shown

ENDS = {QuerySearcher: "pipeline_search", QuerySegmenter: "pipeline_segment"}


def pipeline_search(fitted: Any, X: Sequences, times: Times | None = None) -> Matches:
    """Find the occurrences of a query by a fitted pipeline or grid search whose last step is a QuerySearcher.

    The steps before the searcher transform `X`, and the searcher searches the result. A pipeline's own ``predict``
    gives labels of time points; this function gives the matches, with the times of `X`.

    Parameters
    ----------
    fitted : estimator
        A fitted `QuerySearcher`, a `Pipeline` that ends with one, or a `GridSearchCV` or similar (whose best estimator
        counts), nested in any way. Any transformers may come before it, such as `FeatureUnion` and `ColumnTransformer`,
        if they keep the number of samples.
    X : array-like of shape (n,) or (n, channels), or list of them
        The sequence, or several, as input of the first step.
    times : array-like of shape (n,), optional
        Strictly increasing sample times, numbers or datetimes; for several sequences a list. Default: the index of `X`,
        even if a step before the searcher returns arrays. Steps of `sktslib.preprocessing` get them; other steps only
        if metadata routing is enabled and they request `times` in `transform`.

    Returns
    -------
    Matches
        The matches in the transformed sequence: ``matches.cut(X)`` gives the samples of `X`, and
        ``matches.plot(sequence=X)`` draws it.

    Raises
    ------
    NotFittedError
        If `fitted` is not fitted.
    TypeError
        If `fitted` does not end with a `QuerySearcher`.
    ValueError
        If a transformer changes the number of samples, or a grid search has not refitted its best estimator.

    See Also
    --------
    pipeline_segment : For pipelines that end with a QuerySegmenter.

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
        with located(f"X[{k}]"):
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
        The segments of the transformed recording, as `QuerySegmenter.segment` returns them.

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
    X, times = one_sequence(X, times, whole=bool(steps))
    return segmenter.segment(*_transformed(steps, X, times))


def pipeline_stream(fitted: Any, *, max_delay: int | None = None) -> PipelineStream:
    """Start a search or segmentation chunk by chunk, by a fitted pipeline or grid search.

    Parameters
    ----------
    fitted : estimator
        A fitted `QuerySearcher` or `QuerySegmenter`, or a pipeline or search that ends with one, see
        :func:`pipeline_search`. The steps before it must have a stream, like those of `sktslib.preprocessing` with
        ``causal=True``.
    max_delay : int, optional
        See `QuerySearcher.stream` and `QuerySegmenter.stream`.

    Returns
    -------
    PipelineStream
        The stream: ``update(X)`` returns the matches or segments that are final, ``flush()`` those left at the end;
        together they are those of :func:`pipeline_search` or :func:`pipeline_segment` for the whole recording.

    Raises
    ------
    NotFittedError
        If `fitted` is not fitted.
    TypeError
        If `fitted` does not end with a `QuerySearcher` or `QuerySegmenter`, or a step before it has no stream.
    ValueError
        If a step is not causal, or the last one cannot stream, such as a searcher without a threshold.

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
                "method 'stream'. Use transformers of sktslib.preprocessing with causal=True; or, if it transforms "
                "each sample by itself, leave it out, and pass what it makes of each chunk to 'update'."
            )
        streams.append((name, step.stream()))
    return PipelineStream(streams, last.stream(max_delay))


class PipelineStream:
    """The streams of a pipeline's steps, one after the other; made by :func:`pipeline_stream`. It can be pickled.

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
            The matches or segments that are decided now; ranges count from the stream's first sample.
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


def _taken_apart(fitted, wanted, caller):
    """Return the steps before the last estimator with their names, and this estimator, after a check of its class."""
    steps, last = [], fitted
    while not isinstance(last, wanted):
        if isinstance(last, FrozenEstimator):
            last = last.estimator
        elif isinstance(last, Pipeline):
            steps, last = [*steps, *last.steps[:-1]], last.steps[-1][1]
        elif hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        elif hasattr(last, "refit") and hasattr(last, "fit"):
            check_is_fitted(last)
            raise ValueError(
                f"{caller} needs the best estimator of {type(last).__name__}, which refit={shown(last.refit)} does not "
                "keep. Set 'refit' to True, or to the name of a score, and fit again."
            )
        else:
            got = type(last).__name__ if hasattr(last, "get_params") and not isinstance(last, type) else shown(last)
            within = "" if last is fitted else f" at the end of {type(fitted).__name__}"
            call = next((f" Call {function} instead." for one, function in ENDS.items() if isinstance(last, one)), "")
            names = " or ".join(one.__name__ for one in (wanted if isinstance(wanted, tuple) else (wanted,)))
            rule = f"{caller} needs a fitted {names}, or a pipeline or search that ends with one."
            raise TypeError(f"{rule} Got {got}{within}.{call}")
    check_is_fitted(last)
    return list(_flat(steps)), last


def _flat(steps):
    """Yield the steps that do something, with nested pipelines replaced by their steps."""
    for name, step in steps:
        if isinstance(step, Pipeline):
            yield from _flat(step.steps)
        elif step is not None and step != "passthrough":
            yield name, step


def _transformed(steps, X, times):
    """Return a sequence after all steps, and its times before them."""
    times = times_of(X, times)
    for name, step in steps:
        n = n_samples(X)
        # Only steps that request times get them; metaestimators pass them on only with metadata routing.
        routing = get_routing_for_object(step)
        open_to = isinstance(routing, MetadataRequest) or get_config()["enable_metadata_routing"]
        asked = times is not None and open_to and "times" in routing.consumes("transform", ["times"])
        X = step.transform(X, times=times) if asked else step.transform(X)
        if n_samples(X) != n:
            rule = "keep the number of samples, so that results have the samples of the recording"
            got = f"{n_samples(X)} samples of {n} from {name!r}, {type(step).__name__}"
            out = "Leave it out, and resample or shorten recordings beforehand, together with their times."
            raise refused("The steps before the last one", rule, got, out)
    return X, times
