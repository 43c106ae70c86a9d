"""The parameter `threshold` of both estimators: a number, or a rule that finds it."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from ...utils._names import did_you_mean
from ...utils._sklearn import Interval
from ...utils.validation import shown
from .calibration import Calibration
from .conformal import Conformal
from .false_discovery_rate import FalseDiscoveryRate
from .far_groups import warn_of_look_alikes

if TYPE_CHECKING:
    from typing import Self

    from ...utils._types import Sequences, Times

THRESHOLD = [Interval(Real, 0, None, closed="left"), FalseDiscoveryRate, Conformal, str, None]
NAMED = {"fdr": FalseDiscoveryRate, "conformal": Conformal}


def rule_of(threshold, owner="QuerySearcher"):
    """The rule that a threshold is, by name or not; None for a number, and for None."""
    if not isinstance(threshold, str):
        return threshold if isinstance(threshold, FalseDiscoveryRate | Conformal) else None
    name, _, alpha = threshold.partition(":")
    try:
        return NAMED[name.strip().lower()](float(alpha))
    except (KeyError, ValueError):
        hint = did_you_mean(name, dict.fromkeys(NAMED))
        raise ValueError(
            f"The 'threshold' parameter of {owner} must be a number, a FalseDiscoveryRate or a Conformal, or a text "
            f"such as 'fdr:0.05' or 'conformal:0.1'. Got {shown(threshold)}.{hint}"
        ) from None


class ThresholdFitting:
    """What both estimators do with a threshold that is a rule."""

    def _check_threshold(self, marked=True):
        """Refuse a rule that is none, or one that needs labels where there are none."""
        rule = rule_of(self.threshold, type(self).__name__)
        if isinstance(rule, FalseDiscoveryRate):
            self._check_rate(rule)
        elif rule is not None:
            rule._check()
        if isinstance(rule, Conformal) and not marked:
            raise ValueError(
                f"The 'threshold' parameter of {type(self).__name__} can be a Conformal only where 'fit' is given "
                f"labels 'y', by whose occurrences it is found. Got {self.threshold!r} and a query. Take 'fdr:0.05', "
                "which needs no labels, or a number."
            )

    def _check_rate(self, rate):
        """Refuse a rate that is none, and decoys that are no decoys of queries with other signs."""
        rate._check()
        if self.polarity != "same" and not callable(rate.null):
            raise ValueError(
                "The 'null' parameter of FalseDiscoveryRate must be a function where 'polarity' is not 'same': other "
                f"decoys are mirrored, and so are queries then. Got {rate.null!r} and polarity={self.polarity!r}. Set "
                "'polarity' to 'same', or 'threshold' to a number."
            )

    @property
    def _rate(self):
        """The false discovery rate that the threshold keeps, if it is one."""
        rule = rule_of(self.threshold)
        return rule if isinstance(rule, FalseDiscoveryRate) else None

    @property
    def _calibrations(self):
        """What `fit_threshold` found for each query, or None; it counts where the threshold is a rate."""
        return None if self._rate is None else getattr(self, "_fitted_calibrations", None)

    @property
    def _is_awaited(self):
        """Whether the threshold is found in each recording, by decoys."""
        return self._rate is not None and self._calibrations is None

    def _set_thresholds(self, count):
        """The threshold of each of so many queries as the parameter sets it, None where it does not yet."""
        rule = rule_of(self.threshold)
        if isinstance(rule, Conformal):
            return self._conformal_thresholds
        if self._calibrations is not None:
            return [one.threshold(float(rule.alpha)) for one in self._calibrations]
        return [self.threshold if rule is None else None] * count

    def _forget_threshold(self):
        for name in ("_fitted_calibrations", "_conformal"):
            vars(self).pop(name, None)

    @property
    def _conformal_thresholds(self):
        """The threshold of each query that `fit` has found by labels."""
        alpha, thresholds = getattr(self, "_conformal", (None, None))
        if alpha != rule_of(self.threshold).alpha:
            raise ValueError(
                f"The 'threshold' parameter of {type(self).__name__} must be set before 'fit' where it is a Conformal: "
                f"'fit' finds it by the labels. Got {self.threshold!r} afterwards. Call fit(X, y) again."
            )
        return thresholds

    def fit_threshold(self, X: Sequences, times: Times | None = None) -> Self:
        """Fix the threshold that a false discovery rate means by a recording like those to come.

        From then on it counts for every recording, and streams may begin; `threshold_` tells it, and q-values,
        p-values and false ones per hour are those of this recording at the same distance. Without it each recording
        has a threshold of its own.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            The recording, or, of a searcher, several, which count as one.
        times : array-like of shape (n,), optional
            Its sample times; of several recordings a list.

        Returns
        -------
        QuerySearcher or QuerySegmenter
            Itself.
        """
        check_is_fitted(self)
        rate = self._rate
        if rate is None:
            raise ValueError(
                f"The 'threshold' parameter of {type(self).__name__} must be a FalseDiscoveryRate for fit_threshold, "
                f"which finds no other. Got {self.threshold!r}."
            )
        self._check_rate(rate)
        self._forget_threshold()
        each = self._calibrated(X, times)
        self._fitted_calibrations = [Calibration.together(some) for some in zip(*each, strict=True)]
        thresholds = rate._thresholds(self._fitted_calibrations)
        for some in each:  # streams do not know all matches
            for one, threshold in zip(some, thresholds, strict=True):
                warn_of_look_alikes(rate.alpha, one.matches[one.matches <= threshold])
        return self

    def _check_fixed(self, what):
        """Refuse what must know the threshold beforehand while it is found in each recording."""
        if self._is_awaited:
            raise ValueError(
                f"The 'threshold' parameter of {type(self).__name__} must be known for {what}, which does not have the "
                f"whole recording. Got {self.threshold!r}. Call fit_threshold(X) with a recording like it before, or "
                "set a number."
            )
