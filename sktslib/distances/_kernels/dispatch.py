"""What makes a recurrence: the functions of a distance, looked up by the type of its parameter record.

A distance is a parameter record (a NamedTuple) with small functions: what a pair of points adds per channel (`terms`),
the costs of the three moves made from the sums (`moves`), and the price of leaving a series point unmatched (`gap`).
``numba.extending.overload`` picks them by the record's type while compiling, so they are inlined and the compiled
driver stays in numba's disk cache. What was said of a recurrence, such as `even`, is a constant there.
"""

from numbers import Integral

from numba import types
from numba.extending import overload

from .simd import build_cheaper, build_smaller, cheaper, compiled_as, kind_of, smaller

_PARTS = {}


def recurrence(
    *,
    terms,
    moves,
    row=None,
    size=1,
    by_lag=None,
    gap_terms=None,
    gap=None,
    closed=True,
    pairs=None,
    join=None,
    even=False,
    monotone=False,
):
    """Give a NamedTuple of parameters the functions that make it an elastic distance (class decorator).

    All take floats and vectors of floats alike: they are made of the operators, `abs` and the functions of
    `sktslib.distances.elementwise`, without ``if``. Their arguments have the names below; `p` is the record.

    Parameters
    ----------
    terms : callable ``(p, row, y, y_before) -> (a, b, c)``
        What one channel adds to up to `size` sums. `row` holds four numbers of the query point: its value, that of the
        point before, its weight and that of the point before; before the first point all are 0.
    moves : callable ``(p, at, late, a, b, c, gap) -> (diagonal, query, series)``
        Costs of the three moves into a cell. `at` holds the three costs of the query point: if it is left out, if it is
        matched, if it meets a point that does not match. `late` is what `by_lag` gave, `gap` what `gap` gave.
    row : callable ``(p, x, x_before, w, w_before) -> (four numbers)``, optional
        What stands in that row instead, made once for all cells of a query point; the third must be the weight.
    size : int, default=1
        How many of the three sums are used.
    by_lag : callable ``(p, lag, lag_before) -> float``, optional
        What the moves need of the time lags of a pair of points and of the points before them; for closed borders.
    gap_terms, gap : callables ``(p, y, y_before) -> float`` and ``(p, total, step) -> float``, optional
        The price of leaving a series point unmatched: what a channel adds, and what becomes of the sum, `step` being
        the time since the point before.
    closed : bool, default=True
        Whether a path begins with a diagonal move, the border being infinite. Where it does not, points may be left out
        anywhere: a band restricts the diagonal moves alone.
    pairs : callable ``(p, a) -> bool``, optional
        Whether two points match, for distances with an open border: they may skip points, so that a candidate of a
        search could be made of skipped points alone.
    join : callable ``(p, total, cost) -> float``, optional
        How a cost joins what was accumulated; a sum by default.
    even : bool, default=False
        Whether the three moves cost the same, so that the best way into a cell can be chosen before the cost joins: it
        comes from the cell that costs least.
    monotone : bool, default=False
        Whether costs never fall along a path: none is negative, and `join` gives no less than was accumulated. Then
        searches and neighbours leave out what cannot matter, and kernels compare costs in a faster way. Where it does
        not hold, results are wrong.

    Returns
    -------
    callable
        The decorator; it returns the class as it is. Pass that to `register_metric`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from sktslib.distances import recurrence, register_metric
    >>> def terms(p, row, y, y_before):
    ...     x, x_before, w, w_before = row
    ...     return w * abs(x - y), 0.0, 0.0
    >>> def moves(p, at, late, a, b, c, gap):
    ...     return a, a, a
    >>> @recurrence(terms=terms, moves=moves, even=True)
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
    for name, flag in {"closed": closed, "even": even, "monotone": monotone}.items():
        if not isinstance(flag, bool):
            raise TypeError(f"The {name!r} parameter of recurrence must be True or False. Got {flag!r}.")
    with_lags = by_lag not in (None, _timeless)
    if with_lags and not closed:
        raise ValueError(
            "The 'by_lag' parameter must be None where 'closed' is False: the points before the first have no lag. Got "
            f"{by_lag!r}. Leave it out, or close the border."
        )

    def register(record):
        _PARTS[record] = {
            "terms": terms,
            "moves": moves,
            "row": row or _as_they_are,
            "by_lag": by_lag or _timeless,
            "gap_terms": gap_terms or _nothing,
            "gap": gap or _free,
            "pairs": pairs or _always,
            "join": join or _add,
            "least": cheaper if monotone else smaller,
            "size": int(size),
            "closed": closed,
            "even": even,
            "even_in_search": even and not with_lags,  # in a search each way in brings lags of its own
            "lagged": with_lags,
            "charged": gap not in (None, _free),
            "monotone": monotone,
        }
        return record

    return register


def _part(name, record):
    entry = _PARTS.get(record)
    return None if entry is None else entry[name]


def _fact(name, kind):
    """A function of the record that gives what was said of its recurrence; compiled code knows it beforehand."""

    def fact(p):
        return _part(name, type(p))

    @compiled_as(fact, lambda p: kind)
    def build(context, builder, sig, args):
        return context.get_constant(kind, _part(name, sig.args[0].instance_class))

    return fact


closed_border, n_sums, even = _fact("closed", types.boolean), _fact("size", types.intp), _fact("even", types.boolean)
even_in_search, lagged = _fact("even_in_search", types.boolean), _fact("lagged", types.boolean)
charged = _fact("charged", types.boolean)


def terms(p, row, y, y_before):
    return _part("terms", type(p))(p, row, y, y_before)


@overload(terms)
def _overload_terms(p, row, y, y_before):
    return _part("terms", p.instance_class)


def late(p, lag, lag_before):
    return _part("by_lag", type(p))(p, lag, lag_before)


@overload(late)
def _overload_late(p, lag, lag_before):
    return _part("by_lag", p.instance_class)


def row(p, x, x_before, w, w_before):
    return _part("row", type(p))(p, x, x_before, w, w_before)


@overload(row)
def _overload_row(p, x, x_before, w, w_before):
    return _part("row", p.instance_class)


def moves(p, at, late, a, b, c, gap):
    return _part("moves", type(p))(p, at, late, a, b, c, gap)


@overload(moves)
def _overload_moves(p, at, late, a, b, c, gap):
    return _part("moves", p.instance_class)


def gap_terms(p, y, y_before):
    return _part("gap_terms", type(p))(p, y, y_before)


@overload(gap_terms)
def _overload_gap_terms(p, y, y_before):
    return _part("gap_terms", p.instance_class)


def gap(p, total, step):
    return _part("gap", type(p))(p, total, step)


@overload(gap)
def _overload_gap(p, total, step):
    return _part("gap", p.instance_class)


def matched_pair(p, a):
    return _part("pairs", type(p))(p, a)


@overload(matched_pair)
def _overload_pairs(p, a):
    return _part("pairs", p.instance_class)


def join(p, total, cost):
    return _part("join", type(p))(p, total, cost)


@overload(join)
def _overload_join(p, total, cost):
    return _part("join", p.instance_class)


def least(p, a, b):
    """The smaller of two accumulated costs."""
    return _part("least", type(p))(a, b)


@compiled_as(least, lambda p, a, b: kind_of(a, b))
def _build_least(context, builder, sig, args):
    build = build_cheaper if _part("least", sig.args[0].instance_class) is cheaper else build_smaller
    return build(context, builder, sig.return_type(*sig.args[1:]), args[1:])


# ------------------------------------------------------------------------------------------------ what may be left out
def _as_they_are(p, x, x_before, w, w_before):
    return x, x_before, w, w_before


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


# ------------------------------------------------------------------------------------------------------------- weights
def has_weights(record, rows):
    """None where all weights of the query's `rows` (..., 4, m) are 1 and kernels need not multiply by them, else True.

    Only where a cell takes few steps else is that worth a second compilation.
    """
    return None if even(record) and (rows[..., 2, :] == 1.0).all() else True


def weighting(p, w):
    """The same where missing weights are None."""
    return None if even(p) and w is None else True


def _kind_of_weighting(p, w):
    return types.none if _part("even", p.instance_class) and w == types.none else types.boolean


@compiled_as(weighting, _kind_of_weighting)
def _build_weighting(context, builder, sig, args):
    return context.get_dummy_value() if sig.return_type == types.none else context.get_constant(types.boolean, True)
