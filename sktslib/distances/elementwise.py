"""Functions of numbers and of vectors of numbers alike, of which a recurrence of your own can be made.

The operators and `abs` work on both as they are. What comes out of compiled ones is a float, or a vector of floats. See
:func:`sktslib.distances.recurrence`.
"""

from ._kernels.simd import maximum, minimum, sqrt, take, where

__all__ = ["maximum", "minimum", "sqrt", "take", "where"]
