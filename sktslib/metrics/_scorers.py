"""Event scores as scorers, for estimators that find ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from ..utils.validation import check_flag, shown

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from ..utils._types import Sequences, Times


class EventScorer:
    """A score of found events as scikit-learn's searches and cross-validation take it.

    Unlike ``make_scorer``, which sees labels per time point, it compares the ranges that `QuerySearcher.search` or
    `QuerySegmenter.segment` find, so that repetitions end to end stay apart. In a pipeline the last step is asked.
    Times come with the index of pandas objects, or by metadata routing, see `set_score_request`.

    Parameters
    ----------
    score : callable
        Called as ``score(y_true, events, **parameters)``, such as `event_f1_score`, `boundary_error` and
        `segmentation_covering`.
    greater_is_better : bool, default=True
        Whether to turn the sign, as for errors.
    **parameters
        Passed on.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.metrics import EventScorer, boundary_error
    >>> scorer = EventScorer(boundary_error, greater_is_better=False)
    >>> scorer(QuerySearcher("euclidean").fit([0, 1, 0]), [3, 0, 1, 0, 3], [0, 1, 1, 1, 1])
    -0.5
    """

    def __init__(self, score: Any, *, greater_is_better: bool = True, **parameters: Any) -> None:
        if not callable(score):
            raise TypeError(f"The 'score' parameter of EventScorer must be callable. Got {shown(score)}.")
        self.score = score
        self.greater_is_better = check_flag(greater_is_better, "greater_is_better", owner="EventScorer")
        self.parameters = parameters
        self._times = None

    def __repr__(self):
        further = "".join(f", {key}={value!r}" for key, value in self.parameters.items())
        return f"EventScorer({getattr(self.score, '__name__', self.score)}{further})"

    def set_score_request(self, *, times: Times) -> Self:
        """Ask for metadata, where metadata routing is switched on.

        Parameters
        ----------
        times : bool, str or None
            Whether ``fit(..., times=...)`` of a search, or `cross_validate`, hands the sample times of `X` on to the
            estimator asked; a string is another name for them there.

        Returns
        -------
        EventScorer
            Itself.
        """
        self._times = times
        return self

    def get_metadata_routing(self) -> Any:
        """Say what metadata is asked for.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        request = MetadataRequest(owner=self)
        request.score.add_request(param="times", alias=self._times)
        return request

    def __call__(self, estimator: Any, X: Sequences, y: ArrayLike, times: Times | None = None) -> float:
        if isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
        find = getattr(estimator, "segment", None) or getattr(estimator, "search", None)
        if find is None:
            raise TypeError(
                "EventScorer needs an estimator with 'search' or 'segment', or a pipeline that ends in one. Got "
                f"{type(estimator).__name__}; for labels per time point take sklearn.metrics.make_scorer."
            )
        found = find(X, times)
        value = self.score(y, np.column_stack([found.start, found.end]), **self.parameters)
        return value if self.greater_is_better else -value
