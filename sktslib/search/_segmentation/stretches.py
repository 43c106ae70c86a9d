"""Rounds of a long series: stretches side by side at fixed positions, which know nothing of what was before them.

A round has LANES stretches of `step` samples; each one starts `lead` samples early without knowing what was before.
Once the cheapest segmentations that lead to the cells of a column have a boundary in common, what was before adds the
same to all of them. So a stretch is right, but for a constant, if its column was that of the stretch before it where
that one ends; else the true column goes on until it meets that of the stretch, if need be to its end. What a round
gives depends on its own samples alone unless its first stretch does not meet the round before. So rounds may be
computed in any order, and the numbers are the same. Costs are counted from the start of the last stretch that was met.
"""

from typing import NamedTuple

import numpy as np

from ...distances._kernels.one_pass import INF, LANES, advance, advance_lanes, difference_of
from .listing import costs_of_ranges
from .partial import open_begin
from .undecided import Parts, Undecided, joined_parts

LEAD = 4  # query lengths after which stretches of a series mostly agree
FULL = 16  # leads that a stretch has in a long series
STEP = 2**13  # samples that it has at least
AT_ONCE = 512  # samples of each lane that are computed before they are put in their places


class Queries(NamedTuple):
    """Several queries as the kernels take them."""

    p: object  # their record, or a tuple of one each
    rows: np.ndarray | None
    points: np.ndarray
    first: np.ndarray
    tx: np.ndarray | None

    @classmethod
    def of(cls, problems):
        """The queries of several prepared pairs with one series."""
        records = [problem.record for problem in problems]
        same = all(len(r) == 0 or not any(isinstance(v, np.ndarray) for v in r) for r in records)
        one = problems[0]
        return cls(
            records[0] if len(problems) == 1 or same else tuple(records),
            None if one.x is None else np.concatenate([problem.rows for problem in problems], axis=2),
            np.concatenate([problem.points for problem in problems], axis=1),
            np.concatenate([[0], np.cumsum([problem.points.shape[1] for problem in problems])]),
            None if one.tx is None else np.concatenate([problem.tx for problem in problems]),
        )

    def state(self, lanes=1):
        """The kernel's state before the first sample."""
        m, k = self.first[-1], len(self.first) - 1
        state = np.zeros((5, max(m, k + 1) * lanes))
        state[[0, 2, 3]] = INF
        state[2, : (k + 1) * lanes] = 0.0
        return state

    def one(self, q):
        """One of the queries alone."""
        own = slice(self.first[q], self.first[q + 1])
        return Queries(
            self.p if hasattr(self.p, "_fields") else self.p[q],
            np.ascontiguousarray(self.rows[:, :, own]),
            np.ascontiguousarray(self.points[:, own]),
            np.array([0, own.stop - own.start]),
            None,
        )

    @property
    def label(self):
        """The labels of the unfinished paths in a state."""
        k = len(self.first) - 1
        return np.concatenate([np.repeat(np.arange(1, k + 1), np.diff(self.first)), np.arange(1, k + 1)])

    @property
    def at_cost(self):
        """Where a state has the costs of unfinished paths: in the queries, and at their borders."""
        m, k = self.first[-1], len(self.first) - 1
        return np.concatenate([np.arange(m), 3 * max(m, k + 1) + np.arange(k)])

    @property
    def at_start(self):
        """Where it has their starts."""
        return self.at_cost + max(self.first[-1], len(self.first))

    def live(self, state):
        """Starts, labels and costs of unfinished paths; infinite where there is none."""
        return state.take(self.at_start), self.label, state.take(self.at_cost)


def as_series(parts, ty, has_rows):
    """What the kernel of one lane compares of a series, features or local costs with each query, and its times."""
    if not has_rows:
        return np.concatenate(parts, axis=1), None
    (y,) = parts
    y = np.concatenate([np.zeros((len(y), 1)), y], axis=1)
    return y, None if ty is None else np.concatenate([ty[:1] - 1.0, ty])


def in_order(queries, series, begin_at, offset, rules, state):
    """Rows of costs and starts of the samples from `begin_at` on, one by one; changes `state`."""
    k = len(queries.first) - 1
    n = len(rules[0])
    best, begin = np.empty((n, k + 1)), np.empty((n, k))
    advance(None, queries, series, begin_at, offset, rules, state, best.reshape(-1), begin.reshape(-1))
    return best[begin_at:], begin[begin_at:]


class Round(NamedTuple):
    """Where the stretches of a round are: stretch i is [at + i * step, at + (i + 1) * step + lead)."""

    at: int
    step: int
    lead: int
    fresh: bool  # whether the series begins here

    @property
    def end(self):
        return self.at + LANES * self.step + self.lead


def rounds(at, end, m, fresh, ended):
    """The rounds of the samples [at, end) of a series, of which more may come unless it has `ended` there.

    They depend on where the series begins and ends alone: all but the last one or two are of full size, and those have
    one size, so that little is left.
    """
    lead = LEAD * m
    step = max(FULL * lead, STEP)
    while end - at >= lead + 2 * LANES * step:
        yield Round(at, step, lead, fresh)
        at, fresh = at + LANES * step, False
    if ended and end - at >= 4 * LANES * lead:
        count = -(-(end - at - lead) // (LANES * step))
        step = (end - at - lead) // (count * LANES)
        for _ in range(count):
            yield Round(at, step, lead, fresh)
            at, fresh = at + LANES * step, False


class _Lanes(NamedTuple):
    """What a round's stretches give, each counting costs and samples from its own start."""

    best: np.ndarray  # (LANES, width + 1, k + 1)
    begin: np.ndarray  # (LANES, width, k)
    marks: list  # samples after which the states were kept; the last one is the end
    states: list


class Joined(NamedTuple):
    """What is decided within a round, and what is not."""

    found: Parts | None  # None: nothing is decided
    first: int  # the label at the first boundary, see `Undecided.decide`
    listed: int  # segments from this one on have the cost of their range
    rows: Undecided
    begin: np.ndarray | None  # the state where the first stretch must meet the one before
    end: np.ndarray  # the last state; samples are counted as in the whole series


def compute(queries, series, rules, shape, listed, known=None, rows=None):
    """What a round gives.

    Parameters
    ----------
    queries : Queries
    series : ndarray of shape (channels, width + 1)
        Features of the round's samples, and of the one before.
    rules : tuple
        Costs of background samples, transitions, bounds of the lengths, and whether an end may cut a repetition off.
    shape : Round
    listed : bool
        Whether segments are to have the costs of their ranges.
    known : ndarray
        The true state of the series where the first stretch must meet it, if it is known not to, and what is not
        decided there, its `rows`.
    """
    *rules, partial = rules
    lanes = _side_by_side(queries, series, rules, shape, partial)
    at, lead, fresh = shape.at, shape.lead, shape.fresh
    if known is None:
        skip = 0 if fresh else lead
        if fresh:
            rows = Undecided.anew(at, rules[1])
        else:
            rows = Undecided(at + lead, lanes.best[0, lead], rules[1], unknown=True)
        rows.append(lanes.best[0, skip + 1 :], lanes.begin[0, skip:] + at)
        first, known, begin = 1, _lane(lanes.states[-1], 0, at), _lane(lanes.states[0], 0, at)
        parts, label = _collect([], None, rows.settle(queries.live(known)))
    else:
        first, parts, label, begin = 0, [], None, None
    for lane in range(first, LANES):
        known = _join(queries, series, rules, shape, lanes, lane, known, rows)
        parts, label = _collect(parts, label, rows.settle(queries.live(known)))
    if not parts:
        return Joined(None, label, 0, rows, begin, known)
    found = joined_parts(parts)
    known_from = at + (lead if begin is not None and not fresh else 0)  # what comes from before has no cost yet
    k = int(np.searchsorted(found.start, known_from)) if listed else len(found.start)
    k += int(found.hidden[:1].sum() > 0)  # the first may be a part
    some = slice(k, None)
    if k < len(found.start):
        ranges = found.start[some] - at, found.end[some] - at, found.label[some] - 1
        found.cost[some] = costs_of_ranges(queries, series, *ranges)
    return Joined(found, label, k, rows, begin, known)


def _collect(parts, label, settled):
    """The parts so far with those that are settled, and the label at the first boundary of all."""
    if settled is None:
        return parts, label
    return [*parts, settled[0]], settled[1] if label is None else label


def _side_by_side(queries, series, rules, shape, partial):
    """The stretches of a round."""
    step, lead = shape.step, shape.lead
    k, width = len(queries.first) - 1, step + lead
    best, begin = np.empty((LANES, width + 1, k + 1)), np.empty((LANES, width, k))
    state, states, done = queries.state(LANES), [], 0
    if shape.fresh and partial:
        first = queries.state()
        open_begin(first, queries)
        state.reshape(len(state), -1, LANES)[:, : first.shape[1], 0] = first
    marks = [lead]
    while 2 * marks[-1] < width:
        marks.append(2 * marks[-1])
    marks.append(width)
    for mark in marks:
        advance_lanes(queries, series, step, done, mark, tuple(rules), state, AT_ONCE, best, begin)
        done = mark
        states.append(state.copy())
    return _Lanes(best, begin, marks, states)


def _join(queries, series, rules, shape, lanes, lane, known, rows):
    """Add the rows of a stretch behind those of the one before it, whose last state is `known`; the last state then."""
    at, begin, done, zero = shape.at + lane * shape.step, lane * shape.step, shape.lead, None
    for mark, then in zip(lanes.marks, lanes.states, strict=True):
        if mark > done:
            a, b = begin + done, begin + mark
            own = rules[0][a:b], *rules[1:]
            piece = np.ascontiguousarray(series[:, a : b + 1])
            rows.append(*in_order(queries, (piece, None), 0, at + done, own, known))
            done = mark
        zero = difference(_lane(then, lane, at), known)
        if zero is not None:
            break
    else:
        zero = _least(known)
        rows.shift(zero)
        return counted_from(known, zero)
    rest = lanes.best[lane, done + 1 :]
    known = _lane(lanes.states[-1], lane, at)
    if len(rows) <= 4 * (shape.step + shape.lead):
        rows.shift(zero)
    else:  # where nothing is decided for long, old rows are left as they are
        rest, known = rest + zero, counted_from(known, -zero)
    rows.append(rest, lanes.begin[lane, done:] + at)
    return known


def _least(state):
    least = state[2].min()
    return least if np.isfinite(least) else 0.0


def counted_from(state, zero):
    """The state with costs from another zero."""
    state = state.copy()
    state[[0, 2, 3]] -= zero
    return state


def _lane(state, lane, at):
    """The state of one lane, samples counted as in the whole series."""
    one = state.reshape(len(state), -1, LANES)[:, :, lane].copy()
    one[[1, 4]] += at
    return one


def difference(a, b):
    """How much more state `b` costs than `a`, if that is the same everywhere up to rounding, and starts agree."""
    offset = difference_of(a, b)
    return None if np.isnan(offset) else offset
