"""Series that the tests of pictures draw."""

from collections import namedtuple

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")

Found = namedtuple("Found", "start end distance")
QUERY = np.sin(np.arange(20) / 3)
SEQUENCE = np.concatenate([np.zeros(100), 2 * QUERY, np.linspace(0, 1, 80)])
# As of a search: indices into the whole sequence, where the query was found with a lag of 100 samples.
PATH = np.array([[0, 0, *range(1, 19), 19], [100, 101, *range(101, 119), 119]])
DATES = pd.date_range("2024-03-30", periods=200, freq="h")
