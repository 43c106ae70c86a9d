"""Functions that work on numbers and on vectors of numbers alike, for recurrences of your own.

The operators and `abs` work on both as they are. Compiled functions return a float, or a vector of floats. See
:func:`sktslib.distances.recurrence`.
"""

from ._kernels.simd import maximum, minimum, sqrt, take, where

__all__ = ["maximum", "minimum", "sqrt", "take", "where"]
