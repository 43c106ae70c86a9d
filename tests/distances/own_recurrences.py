"""Recurrences of the user's own that several tests compile."""

from typing import NamedTuple

from sktslib.distances import recurrence


def products(p, row, y, y_before):

    x, _, w, _ = row
    return w * x * y, 0.0, 0.0


def alike(p, at, late, a, b, c, gap):
    return a, a, a


def unlike(p, at, late, a, b, c, gap):
    return a, a - 0.5, a + 0.25


@recurrence(terms=products, moves=alike, equal_moves=True)
class Alike(NamedTuple):
    """Costs of either sign, the same for every move."""


@recurrence(terms=products, moves=unlike)
class Unlike(NamedTuple):
    """Costs of either sign, which differ between the moves."""
