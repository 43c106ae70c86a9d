"""Example data that comes with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["load_ecg_example"]

SAMPLING_RATE = 120.0


def load_ecg_example() -> Bunch:
    """Load ten seconds of a real ECG, and one normal heart beat to look for in it.

    The beat (the query) was recorded more than a minute after the ten seconds (the sequence), so it is not a
    piece of them.

    Returns
    -------
    Bunch
        A dictionary whose keys are attributes as well:

        query : ndarray of shape (65,)
            One normal beat in mV, P wave to T wave; its R peak is point 22.
        sequence : ndarray of shape (1200,)
            The recording in mV, baseline not removed.
        weight : ndarray of shape (65,)
            Weights of the query's points, 1 at the R peak and 0.25 away from the QRS complex.
        tq : ndarray of shape (65,)
            Times of the query's points in seconds from its first.
        ts : ndarray of shape (1200,)
            Times of the sequence's points in seconds from its first.
        sampling_rate : float
            Samples per second, 120.0.
        beats : ndarray of shape (17,)
            Sample index of each R peak of the sequence, found by eye.
        beat_kinds : ndarray of shape (17,)
            Class of each beat: "N" normal, "V" wide and ectopic, "F" in between.
        DESCR : str
            Where the data come from, what was done to them, and their license.

    Notes
    -----
    The data are from record 208 of the MIT-BIH Arrhythmia Database [1]_, distributed by PhysioNet [2]_ under the Open
    Data Commons Attribution License 1.0.

    References
    ----------
    .. [1] Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Engineering in Medicine and Biology
       20(3):45-50, 2001. doi 10.13026/C2F305
    .. [2] Goldberger AL et al. PhysioBank, PhysioToolkit, and PhysioNet. Circulation 101(23):e215-e220, 2000.

    Examples
    --------
    >>> from sktslib import load_ecg_example
    >>> ecg = load_ecg_example()
    >>> ecg.query.shape, ecg.sequence.shape
    ((65,), (1200,))
    >>> int(ecg.weight.argmax()), int((ecg.beat_kinds == "N").sum())
    (22, 12)
    """
    from sklearn.utils import Bunch

    query, weight = np.loadtxt(_lines("query.csv"), delimiter=",", skiprows=1, usecols=(1, 2), unpack=True)
    sequence = np.loadtxt(_lines("sequence.csv"), delimiter=",", skiprows=1, usecols=1)
    beats = np.loadtxt(_lines("beats.csv"), delimiter=",", skiprows=1, usecols=1, dtype=np.intp)
    beat_kinds = np.loadtxt(_lines("beats.csv"), delimiter=",", skiprows=1, usecols=2, dtype=np.str_)
    # The files round times to 1 us, which would make the steps uneven, so times are computed from sample numbers.
    return Bunch(
        query=np.ascontiguousarray(query),
        sequence=sequence,
        weight=np.ascontiguousarray(weight),
        tq=np.arange(len(query)) / SAMPLING_RATE,
        ts=np.arange(len(sequence)) / SAMPLING_RATE,
        sampling_rate=SAMPLING_RATE,
        beats=beats,
        beat_kinds=beat_kinds,
        DESCR="\n".join(_lines("README.md")),
    )


def _lines(name: str) -> list[str]:
    return files("sktslib.datasets").joinpath("data", name).read_text(encoding="utf-8").splitlines()
