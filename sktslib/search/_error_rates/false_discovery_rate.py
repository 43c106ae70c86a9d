"""A threshold that keeps the share of false matches."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from ...utils._sklearn import Estimator, Interval, StrOptions
from ...utils._warnings import warn
from .decoys import Decoys

if TYPE_CHECKING:
    from typing import Any

REVERSED = "reversed", "reverse", "time", "time-reversed", "time_reversed", "time reversed"


class FalseDiscoveryRate(Estimator):
    """A threshold with which at most a share of the matches is expected to be false.

    A decoy is a query that is like the query, but occurs by chance alone. Decoys are searched for in the same recording
    in the same way, and the threshold is the largest distance for which ``(1 + decoys / n_decoys) / matches`` is at
    most `alpha`: matches of the query that are at most so far, and of all decoys. It is found for each query in each
    recording anew. Pass it as the `threshold` of `QuerySearcher` or `QuerySegmenter`, or the text ``"fdr:0.05"``.

    Parameters
    ----------
    alpha : float in (0, 1), default=0.05
        The expected share of false ones among all matches. At least 1 / `alpha` matches must be nearer than nearly all
        those of decoys; where they are fewer, there is no match, and a warning.
    null : {"phase", "negated"} or callable, default="phase"
        What decoys are. "phase": the query mirrored about the recording's median, in the order that it has with the
        phases of all frequencies in all channels shifted by one random angle of at most a quarter turn. "negated": the
        mirrored query, which is a single decoy. A function ``f(query, random_state)`` returns a decoy of the query's
        shape, (m, channels), drawn by a ``numpy.random.RandomState``. The query reversed in time is not one: an event
        that rises as it falls is its own reverse, and is found by it.
    n_decoys : int, default=4
        How many decoys: a search takes as much longer.
    random_state : int, RandomState instance or None, default=None
        What decoys are drawn by. With an integer each call gives the same.

    Notes
    -----
    Decoys know what chance finds in noise. They do not protect against look-alikes, which are no chance: another class
    of event that resembles the query is found by the query and not by its decoys. A warning tells where matches fall
    into groups far apart in distance or scale. Learn a query of that class too, or count it by labels. Nor do they
    protect where a recording's background is not as likely to rise as to fall, such as one with artifacts to one side;
    then give `null` a function that knows it.

    References
    ----------
    Elias JE, Gygi SP. Target-decoy search strategy for increased confidence in large-scale protein identifications by
    mass spectrometry. Nature Methods 4(3), 2007.

    Storey JD, Tibshirani R. Statistical significance for genomewide studies. PNAS 100(16), 2003.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import FalseDiscoveryRate
    >>> ecg = load_ecg_example()
    >>> rule = FalseDiscoveryRate(alpha=0.2, random_state=0)
    >>> matches = QuerySearcher("dtw", threshold=rule).fit(ecg.query).search(ecg.sequence, times=ecg.ts)
    >>> len(matches), bool((matches.qvalue <= 0.2).all())
    (13, True)
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "null": [StrOptions({"phase", "negated"}), callable],
        "n_decoys": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: float = 0.05,
        null: str | Callable[..., Any] = "phase",
        n_decoys: int = 4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.null = null
        self.n_decoys = n_decoys
        self.random_state = random_state

    def _check(self):
        if isinstance(self.null, str) and self.null.lower() in REVERSED:
            raise ValueError(
                "The 'null' parameter of FalseDiscoveryRate must be 'phase', 'negated' or a function. Got "
                f"{self.null!r}: the query reversed in time is no decoy, for an event that rises as it falls is found "
                "by its reverse. Take 'phase'."
            )
        self._validate()

    def _decoys(self, n_queries):
        return Decoys(self, n_queries, check_random_state(self.random_state))

    def _thresholds(self, calibrations):
        """The threshold of each calibration, and a warning where there is none."""
        thresholds = [one.threshold(float(self.alpha)) for one in calibrations]
        without = [one for one, t in zip(calibrations, thresholds, strict=True) if t == -np.inf]
        if without:
            least, one = int(np.ceil(1.0 / self.alpha)), max(without, key=lambda one: len(one.matches))
            shares, n = one.shares, len(one.matches)
            if n < least:
                why = f"Got {n} matches, fewer than 1 / alpha, {least}"
            else:
                k = int(np.argmin(shares))
                count = np.searchsorted(one.matches, one.matches[k], "right")
                why = f"Got {n} matches, and the lowest estimated share of false ones is {shares[k]:.2g}, of {count}"
            several = f" in {len(without)} of {len(thresholds)} searches" if len(thresholds) > 1 else ""
            nothing = "which find nothing" if several else "so there are no matches"
            warn(
                f"No distance keeps a false discovery rate of {self.alpha:g}{several}, {nothing}: at "
                f"least {least} matches must be nearer than nearly all those of decoys. {why}. Take a larger 'alpha', "
                "search a longer recording, or set 'threshold' to a number."
            )
        return thresholds
