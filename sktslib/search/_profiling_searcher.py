"""What a searcher tells of every candidate: profiles, and the distance of the best one at each time point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..utils._sklearn import names_out
from ._fitted_searcher import Call
from ._several import refuse_several

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import Queries, Sequences, Times
    from ._selection import Profile


class ProfilingSearcher(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What `QuerySearcher` has to look at candidates that are no matches."""

    def profile(self, X: Sequences, times: Times | None = None) -> Profile:
        """Distance and range of every candidate.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Profile
            One candidate per window, or per end of a subsequence. Of several queries a list.
        """
        check_is_fitted(self)
        refuse_several(X)
        source = self._source(X, times)
        profiles = self._profiles([how for how, _ in self._searches], source)
        self._notice_times(X, source)
        return self._of_each(profiles)

    def transform(self, X: Sequences, times: Times | None = None) -> NDArray[np.float64]:
        """Distance of the best occurrence that ends at each time point.

        Row t depends on samples up to t alone, unless a subsequence search compares slopes or shapes, which reach over
        the next sample or half a shape, or lags are tolerated (`lag_tolerance`), which reach so much further. Rows at
        which no candidate ends hold the largest finite value of the call, or 0 where there is none.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        check_is_fitted(self)
        refuse_several(X)
        source = self._source(X, times)
        jobs, by_parts = self._jobs_within(source, len(self._queries)), not source.in_memory
        work = [delayed(self._ending)(how, source, jobs) for how, _ in self._searches]
        columns = self._in_jobs([Call(one, jobs, by_parts or jobs > 1) for one in work], "transform")
        self._notice_times(X, source)
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``querysearcher_`` and the query's name in `classes_`; without names ``querysearcher`` and its number.
        """
        names = super().get_feature_names_out(input_features)
        return names if self._classes is None else names_out(self, self._classes)

    def fit_transform(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> NDArray[np.float64]:
        """Take the query, and give the distance of the best occurrence that ends at each time point of `X`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            As for `fit`.
        y : array-like of shape (n,), optional
            As for `fit`.
        weight : array-like of shape (m,) or (m, channels), optional
            As for `fit`.
        times : array-like of shape (n,), optional
            Sample times of `X`. A query given as a parameter has its own, those of its DatetimeIndex.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        of_query = times if self.query is None else None
        return self.fit(X, y, weight=weight, times=of_query).transform(X, times=times)
