"""The sampling rate of a recording, from its times or as it is given, and times that do not agree with it."""

import numpy as np

from ..utils._given_times import is_datetime
from ..utils._sampling import APART, FEW, interval, unevenness
from ..utils._warnings import warn
from ..utils.validation import shown

WRONG = {"holes": "has holes", "uneven": "is sampled unevenly"}


class Rate:
    """Samples a unit of time, and whether it is known of which kind of times that unit is.

    Attributes
    ----------
    value : float
    dated : bool or None
        Whether the unit is a second of datetimes, else that of the times that the rate was taken from; None where the
        rate was given, which times in numbers cannot contradict, for nobody knows their unit.
    """

    def __init__(self, value, dated=None):
        self.value, self.dated = value, dated

    def compares(self, given):
        """Whether the steps of times can be compared with the rate."""
        return is_datetime(given) if self.dated is None else self.dated == is_datetime(given)


def rate_of(sampling_rate, t, given, owner):
    """The rate that is set, or the one of the times (n,)."""
    if sampling_rate is not None:
        return Rate(float(sampling_rate))
    if t is None or len(t) < 2:
        got = "no times" if t is None else "a single time"
        raise ValueError(
            f"The 'sampling_rate' parameter of {owner} must be a number, the samples a unit of time, where 'X' has no "
            f"times that tell it. Got {shown(sampling_rate)} and {got}. Pass times=..., a table whose index holds "
            "times, or the rate; sampling_rate=1 counts frequencies in cycles a sample."
        )
    return Rate(1.0 / interval(t), is_datetime(given))


def steps_are_even(t):
    """Whether no step of times (n,) is a hole, and few are half as long again as usual, or half as long."""
    return t is None or len(t) <= FEW or unevenness(np.diff(t)) is None


def notice_steps(t, given, rate, owner):
    """Warn of times whose steps are uneven, or are not those that a transformer was fitted for."""
    if t is None or len(t) < 2:
        return
    way_out = "bring it to even steps of time first, with sktslib.preprocessing.resample."
    if rate is not None and rate.compares(given) and not 1 / APART <= interval(t) * rate.value <= APART:
        warn(
            f"{owner} was fitted for {rate.value:.6g} samples a unit of time (of datetimes, a second), and the times "
            f"of 'X' say {1 / interval(t):.6g}. Samples are taken as if they came at the former rate: set "
            "'sampling_rate' and fit again, or resample 'X' with sktslib.preprocessing.resample."
        )
    elif not steps_are_even(t):
        step = np.diff(t)
        warn(
            f"'X' {WRONG[unevenness(step)]}: its times step by {step.min():.6g} to {step.max():.6g} (of datetimes, in "
            f"seconds). {owner} takes samples as if they were evenly spaced: {way_out}"
        )
