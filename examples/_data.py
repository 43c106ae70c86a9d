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
