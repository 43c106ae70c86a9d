"""Data of the examples, see data/README.md."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"


def load_gunpoint():
    """Return training series (50, 150) and their classes, test series (150, 150) and theirs."""
    with np.load(FOLDER / "gunpoint.npz") as data:
        return data["X_train"].astype(float), data["y_train"], data["X_test"].astype(float), data["y_test"]


def load_japanese_vowels():
    """Return 135 utterances of different lengths, a list of arrays (length, 12), and the number of the speaker."""
    with np.load(FOLDER / "japanese_vowels.npz") as data:
        return np.split(data["values"].T.astype(float), np.cumsum(data["lengths"])[:-1]), data["speaker"]


def load_gait():
    """Return the walk (3964, 6) of a right foot at 102.4 Hz, the left foot's mean stride (107, 6), strides, names.

    Accelerations are in m/s^2, rates of turning in degrees per second; strides are labeled ranges of samples.
    """
    with np.load(FOLDER / "gait.npz") as data:
        walk, stride = (data[name] * data["scale"] for name in ("right", "template"))
        return walk, stride, data["strides"].astype(int), data["axes"].tolist()
