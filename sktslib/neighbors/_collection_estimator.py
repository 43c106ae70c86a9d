"""Base of the estimators of collections: parameters, and conversion of a collection for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, check_is_fitted, column_or_1d

from ..distances._collection import as_collection, case_index, channel_names, has_gaps, is_matrix, timed
from ..distances._metrics.lockstep import LockstepMetric
from ..distances._metrics.mixed import Mixed
from ..distances._names import MetricParameter
from ..distances._pairwise import pairwise_distances, refuse_gaps
from ..utils._names import did_you_mean
from ..utils._parameters import JOBS, Interval, StrOptions
from ..utils._sklearn import Estimator, check_columns, warn_of_names, with_index
from ..utils._times import MetricLike, Sequences
from ..utils.validation import shown


def read_classes(y, series, owner="Learning from classes"):
    """Return the sorted classes of a collection, and the class number of each series."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None. Pass one class per series.")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_consistent_length(series, y)
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def read_examples(y, series, owner):
    """Return what `read_classes` does; there must be at least two classes, and no missing values."""
    classes, labels = read_classes(y, series, owner)
    if len(classes) < 2:
        raise ValueError(f"'y' must hold at least two classes, which {owner} is to tell apart. Got one class.")
    for k, x in enumerate(series):
        if np.isnan(x).any():
            raise ValueError(
                f"{owner} learns from series without missing values. Got some in 'X[{k}]'; fill them, or give what "
                "would be learned."
            )
    return classes, labels


COUNT = [Interval(Integral, 1, None, closed="left")]


@dataclass(eq=False, repr=False, kw_only=True)
class CollectionEstimator(MetricParameter, Estimator):
    """Base of the estimators that are fitted on a collection of series.

    Parameters are fields of a dataclass; a subclass declares its own, and `metric`, which need not come first.
    """

    metric_params: dict[str, Any] | None = None
    weight: ArrayLike | None = None
    nan_policy: str = "raise"
    n_jobs: int | None = None
    channels_first: bool | None = None
    verbose: int = 0

    _reads_times = True  # whether times in the index of series are used, if the metric uses times
    _compares_pairs = True  # whether whole series are compared; nan_policy="omit" then needs a lockstep metric
    _parameter_constraints = {
        "metric": "no_validation",
        "metric_params": [dict, None],
        "weight": ["array-like", None],
        "nan_policy": [StrOptions({"raise", "omit"})],
        "n_jobs": JOBS,
        "channels_first": ["boolean", None],
        "verbose": ["verbose"],
    }

    def _fit_collection(self, X):
        """Check the parameters, and store the metric and a copy of the collection."""
        self._validate()
        metric = self._made_metric()
        for name in ("n_features_in_", "feature_names_in_", "_channel_names", "metric_weights_"):
            vars(self).pop(name, None)  # from an earlier fit
        self._series = [x.copy() for x in self._checked(X, reset=True)]
        self.n_channels_ = len(self._series[0])
        self._channel_names = channel_names(X, self.channels_first)
        self.metric_ = metric._named(self._channel_names)._fitted_to(self._series)
        self._series = self._timed(X, self._series)
        if self._compares_pairs and has_gaps(self._series) and not isinstance(self.metric_, LockstepMetric | Mixed):
            refuse_gaps(self.metric_)
        return self

    def _timed(self, X, series):
        """Return series with the times in their indices, if the metric uses times and all series have them."""
        return timed(self.metric_, (X, X), (series, series), None, True)[0] if self._reads_times else series

    def _checked(self, X, *, reset=False):
        """Return a validated collection as series (channels, length)."""
        if not reset:
            check_is_fitted(self)
        # After fit, the fitted layout decides.
        channels_first = self.channels_first if reset else bool(self.channels_first)
        # Messages mention nan_policy only if the estimator has this parameter.
        omit = self.nan_policy == "omit" if "nan_policy" in self._get_param_names() else None
        series = as_collection(X, "X", missing=omit, channels_first=channels_first)
        if not reset:
            self._check_channels(series, channel_names(X, channels_first))
        if is_matrix(X):
            check_columns(self, X, reset=reset)
        return series if reset else self._timed(X, series)

    def _check_channels(self, series, names):
        """Refuse channels that are not the fitted ones."""
        if len(series[0]) != self.n_channels_:
            time, channels = (2, 1) if self.channels_first else (1, 2)
            raise ValueError(
                f"'X' must have as many channels as the fitted collection, {self.n_channels_}. Got {len(series[0])}. "
                f"Time runs along axis {time} of an array and channels along axis {channels}; 'channels_first' says so."
            )
        fitted = self._channel_names
        if names and fitted and names != fitted:
            unknown = [name for name in names if name not in fitted]
            hint = did_you_mean(unknown[0], fitted) if unknown else ""
            raise ValueError(
                f"The columns of 'X', its channels, must be those of the fitted table, {shown(fitted)}. Got "
                f"{shown(names)}; choose them by their names, table[{shown(fitted)}].{hint}"
            )
        if fitted and not names:
            warn_of_names(self, fitted)

    @property
    def _used_weight(self):
        """The weights: learned ones if there are any, else the parameter."""
        return self.metric_weights_.weight_ if hasattr(self, "metric_weights_") else self.weight

    def _labeled(self, values, X):
        """Return the values of a `transform`, indexed by the cases of a table if pandas output was asked for."""
        return values if issparse(values) else with_index(self, values, case_index(X))

    def _distances(self, X, Y):
        """Return the distances between two validated collections; weights belong to the first one."""
        return pairwise_distances(X, Y, self.metric_, nan_policy=self.nan_policy, **self._options)

    @property
    def _options(self):
        """Options for comparing validated series."""
        jobs = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        return {"weight": self._used_weight, "channels_first": True, **jobs}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


@dataclass(eq=False, repr=False)
class CollectionTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CollectionEstimator):
    """Base of the transformers with one column for each series of the fitted collection."""

    metric: MetricLike = "dtw"

    def fit(self, X: Sequences, y: ArrayLike | None = None) -> Self:
        """Keep the collection.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : ignored

        Returns
        -------
        object
            The transformer itself.
        """
        self._fit_collection(X)
        self._n_features_out = len(self._series)
        return self

    def fit_transform(self, X: Sequences, y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Keep the collection, and give what `transform` gives of it.

        Parameters
        ----------
        X : collection of series
            See `fit`.
        y : ignored
            Present for scikit-learn's interface.

        Returns
        -------
        X_new : ndarray or sparse matrix of shape (n_series, n_series)
            The values.
        """
        return self._labeled(self.fit(X)._compared(self._series), X)

    def transform(self, X: Sequences) -> NDArray[np.float64]:
        """Compare series with the fitted ones.

        Parameters
        ----------
        X : collection of series
            Series of any length, with the channels of the fitted ones.

        Returns
        -------
        X_new : ndarray or sparse matrix of shape (n_series, n_fitted)
            The values, described above.
        """
        return self._labeled(self._compared(self._checked(X)), X)
