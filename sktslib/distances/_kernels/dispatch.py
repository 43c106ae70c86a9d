"""Functions of a recurrence, selected by the type of its parameter record.

A distance is a parameter record (a NamedTuple) with small functions: the terms that a pair of points adds per channel
(`terms`), the costs of the three moves as functions of their sums (`moves`), and the cost of skipping a series point
(`gap`). ``numba.extending.overload`` selects them by the record's type at compile time, so they are inlined and the
compiled driver can be stored on disk. Facts that a recurrence declares, such as `equal_moves`, are constants there.
"""

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from .compile import INNER
from .simd import compiled_as

# Arguments of the functions of a recurrence.
ARGUMENTS = {
    "terms": "p, row, y, y_before",
    "add_terms": "p, sums, row, y, y_before",
    "moves": "p, point_costs, lag_cost, a, b, c, gap",
    "row": "p, x, x_before, w, w_before",
    "lag_cost": "p, lag, lag_before",
    "gap_terms": "p, y, y_before",
    "gap": "p, total, step",
    "pairs": "p, a",
    "accumulate": "p, total, cost",
}


class BoundFacts(NamedTuple):
    """Facts for lower bounds of a recurrence whose pair costs never fall with the difference of the values."""

    skips: bool = False  # whether a move may skip a point, at another cost than that of a pair
    # Function of the record: minimum gap cost per channel. None: each point has a gap cost of its own.
    minimum_gap: Callable | None = None
    stretch: Callable | None = None  # function of the record: additional cost of each move that is not diagonal
    gap_value: Callable | None = None  # function of the record: value from which the distance of a skipped point counts
    squares: bool = False  # whether a pair costs its weighted squared difference, summed over the channels


def recurrence(
    *,
    terms: Callable,
    moves: Callable,
    add_terms: Callable | None = None,
    row: Callable | None = None,
    size: int = 1,
    lag_cost: Callable | None = None,
    gap_terms: Callable | None = None,
    gap: Callable | None = None,
    closed_boundary: bool = True,
    pairs: Callable | None = None,
    accumulate: Callable | None = None,
    equal_moves: bool = False,
    equal_stretches: bool = False,
    monotone: bool = False,
    bounds: bool | BoundFacts = False,
) -> Callable[[type], type]:
    """Make an elastic distance of a NamedTuple of parameters and functions (class decorator).

    The functions take floats and vectors of floats: use operators, `abs` and the functions of
    `sktslib.distances.elementwise`, and no ``if``. Their arguments have the names below; `p` is the NamedTuple.

    Parameters
    ----------
    terms : callable ``(p, row, y, y_before) -> (a, b, c)``
        Terms that one channel adds to up to `size` sums. `row` holds four numbers of the query point: its value, the
        value of the point before, its weight, and the weight of the point before; before the first point all are 0.
    moves : callable ``(p, point_costs, lag_cost, a, b, c, gap) -> (diagonal, query, series)``
        Costs of the three moves into a cell. `point_costs` has three costs of the query point: if it is skipped, if it
        is matched, and if it meets a point that does not match. `a`, `b` and `c` are the sums; `lag_cost` and `gap` are
        the results of these functions.
    add_terms : callable ``(p, sums, row, y, y_before) -> (a, b, c)``, optional
        Returns the three sums including one more channel, if its terms must not be rounded first. Default: `sums` plus
        `terms`.
    row : callable ``(p, x, x_before, w, w_before) -> (four numbers)``, optional
        Returns the four numbers of `row`, computed once for all cells of a query point; the third must be the weight.
        It also takes arrays of all points, like a numpy function.
    size : int, default=1
        Number of sums that are used.
    lag_cost : callable ``(p, lag, lag_before) -> float``, optional
        Cost of the time lags of a pair of points and of the points before them, passed to `moves`. Only with a closed
        boundary.
    gap_terms, gap : callables ``(p, y, y_before) -> float`` and ``(p, total, step) -> float``, optional
        The gap cost, which is the cost of skipping a series point: the term of a channel, and a function of their sum,
        where `step` is the time since the point before.
    closed_boundary : bool, default=True
        Whether a path starts with a diagonal move, because the boundary is infinite. Otherwise points may be skipped
        anywhere, and a band restricts only diagonal moves.
    pairs : callable ``(p, a) -> bool``, optional
        Whether two points match, for distances with an open boundary. Without it a candidate of a search could consist
        of skipped points alone.
    accumulate : callable ``(p, total, cost) -> float``, optional
        Combines a cost with the accumulated cost; it must not fall if the accumulated cost rises. Default: the sum.
    equal_moves : bool, default=False
        Whether the three moves have equal costs. The best move is then the one from the predecessor with the lowest
        cost.
    equal_stretches : bool, default=False
        Whether the moves of the query and of the series have equal costs, so that the better one can be chosen before
        its cost is added.
    monotone : bool, default=False
        Whether costs never fall along a path: costs are at least 0, and `accumulate` returns at least the accumulated
        cost. Searches and neighbors then skip cells that cannot matter. If it does not hold, results are wrong.
    bounds : bool or BoundFacts, default=False
        Whether the cost of two points never falls with the difference of their values, and every move that skips no
        point costs at least as much as the diagonal one. Lower bounds then exclude series and windows. If it does not
        hold, results are wrong. For recurrences that skip points see `BoundFacts`.

    Returns
    -------
    callable
        The decorator; it returns the class itself. Pass that to `register_metric`.

    Raises
    ------
    TypeError
        If `terms` or `moves` is not callable, a flag is not True or False, or `bounds` is not a valid value.
    ValueError
        If `size` is not 1, 2 or 3, or facts exclude each other: bounds without `monotone`, lags without a closed
        boundary.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from sktslib.distances import recurrence, register_metric
    >>> def terms(p, row, y, y_before):
    ...     x, x_before, w, w_before = row
    ...     return w * abs(x - y), 0.0, 0.0
    >>> def moves(p, point_costs, lag_cost, a, b, c, gap):
    ...     return a, a, a
    >>> @recurrence(terms=terms, moves=moves, equal_moves=True)
    ... class Absolute(NamedTuple):
    ...     pass
    >>> register_metric("absolute", Absolute, symmetric=True)()([0, 1, 2], [0, 0, 4])
    3.0
    """
    for name, function in {"terms": terms, "moves": moves}.items():
        if not callable(function):
            raise TypeError(f"The {name!r} parameter of recurrence must be callable. Got {function!r}.")
    if not isinstance(size, Integral) or isinstance(size, bool) or not 1 <= size <= 3:
        raise ValueError(f"The 'size' parameter of recurrence must be 1, 2 or 3. Got {size!r}.")
    flags = {"closed_boundary": closed_boundary, "monotone": monotone}
    flags |= {"equal_moves": equal_moves, "equal_stretches": equal_stretches}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"The {name!r} parameter of recurrence must be True or False. Got {flag!r}.")
    if not isinstance(bounds, bool | BoundFacts):
        raise TypeError(f"The 'bounds' parameter of recurrence must be True, False or BoundFacts. Got {bounds!r}.")
    if bounds and not monotone:
        raise ValueError(
            "The 'bounds' parameter of recurrence must be False where 'monotone' is False: a sum over points bounds "
            "the whole only if no cost is negative. Set monotone=True, if it holds."
        )
    with_lags = lag_cost not in (None, _timeless)
    if with_lags and not closed_boundary:
        raise ValueError(
            "The 'lag_cost' parameter must be None where 'closed_boundary' is False: the points before the first have "
            f"no lag. Got {lag_cost!r}. Leave it out, or close the boundary."
        )

    def register(record):
        record._parts = {
            "terms": terms,
            "moves": moves,
            "add_terms": add_terms or _plus_terms,
            "row": row or _as_they_are,
            "lag_cost": lag_cost or _timeless,
            "gap_terms": gap_terms or _nothing,
            "gap": gap or _free,
            "pairs": pairs or _always,
            "accumulate": accumulate or _add,
            "size": int(size),
            **flags,
            "equal_moves_in_search": equal_moves and not with_lags,  # in a search each predecessor has its own lag
            "even_search": equal_moves and not with_lags and closed_boundary and monotone,
            "has_gap_cost": gap not in (None, _free),
            "bounds": BoundFacts() if bounds is True else bounds,
        }
        return record

    return register


def part_of(name, record):
    """Return the declared part of a type of records; None for other types."""
    return getattr(record, "_parts", {}).get(name)


def bounds_of(record):
    """Return the `BoundFacts` of a record; None if its recurrence declares no bounds."""
    return part_of("bounds", type(record)) or None


def by_type(part, name):
    """Return a function that dispatches on the type of its first argument.

    ``part(name, type)`` is the implementation for a type, or None.
    """

    def function(p, *arguments):
        return part(name, type(p))(p, *arguments)

    @overload(function, strict=False, jit_options={**INNER, "forceinline": True})
    def chosen(p, *arguments):
        return part(name, getattr(p, "instance_class", None))

    return function


def by_fact(name, functions):
    """Return a function that dispatches on the value of a fact that the recurrence of its first argument declares."""
    return by_type(lambda _, record: functions.get(part_of(name, record)), name)


def _fact(name, result_type):
    """Return a function of the record that returns a declared fact of its recurrence; a constant in compiled code."""

    def fact(p):
        return part_of(name, type(p))

    @compiled_as(fact, lambda p: result_type)
    def build(context, builder, sig, args):
        return context.get_constant(result_type, part_of(name, sig.args[0].instance_class))

    return fact


terms, add_terms, moves, row = (by_type(part_of, name) for name in ("terms", "add_terms", "moves", "row"))
gap_terms, gap, lag_cost = (by_type(part_of, name) for name in ("gap_terms", "gap", "lag_cost"))
matched_pair, accumulate = by_type(part_of, "pairs"), by_type(part_of, "accumulate")
n_sums = _fact("size", types.intp)
closed_boundary, has_gap_cost = _fact("closed_boundary", types.boolean), _fact("has_gap_cost", types.boolean)
equal_moves, equal_stretches = _fact("equal_moves", types.boolean), _fact("equal_stretches", types.boolean)
equal_moves_in_search = _fact("equal_moves_in_search", types.boolean)


# ------------------------------------------------------------------------------------------------------------ defaults
def _as_they_are(p, x, x_before, w, w_before):
    return x, x_before, w, w_before


def _plus_terms(p, sums, row, y, y_before):
    a, b, c = terms(p, row, y, y_before)
    return sums[0] + a, sums[1] + b, sums[2] + c


def _timeless(p, lag, lag_before):
    return 0.0


def _nothing(p, y, y_before):
    return 0.0


def _free(p, total, step):
    return 0.0


def _always(p, a):
    return True


def _add(p, total, cost):
    return total + cost


# ----------------------------------------------------------------------------------------------- queries and weights
def rows_of(p, x, w, size):
    """Return the four numbers per query point that the recurrence takes as `row`: (count, channels, 4, size).

    The queries and their weights are arrays (count, channels, m); without weights (None) all are 1. Zeros fill the
    array up to `size`.
    """
    w = np.ones_like(x) if w is None else w
    before, m = np.zeros((2, *x.shape)), x.shape[2]
    before[0, ..., 1:], before[1, ..., 1:] = x[..., :-1], w[..., :-1]
    out = np.zeros((*x.shape[:2], 4, size))
    with np.errstate(all="ignore"):  # as in compiled code
        for r, values in enumerate(type(p)._parts["row"](p, x, before[0], w, before[1])):
            out[:, :, r, :m] = values
    return out


def weighting(p, w):
    """Return None if kernels can leave out the weights `w` because all are 1, else True.

    A second compilation without weights pays off only if a cell takes few operations (`equal_moves`). In compiled code
    any array counts as weights.
    """
    return None if equal_moves(p) and (w is None or (w == 1.0).all()) else True


def _type_of_weighting(p, w):
    return types.none if part_of("equal_moves", p.instance_class) and w == types.none else types.boolean


@compiled_as(weighting, _type_of_weighting)
def _build_weighting(context, builder, sig, args):
    return context.get_dummy_value() if sig.return_type == types.none else context.get_constant(types.boolean, True)
