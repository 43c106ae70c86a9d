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

from ...distances._kernels.one_pass import INF, LANES, advance, advance_lanes, difference_of, differences_of
from ...distances._kernels.scratch import aligned_zeros
from .listing import costs_of_ranges
from .partial import open_begin
from .undecided import Parts, Undecided

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
        state = aligned_zeros(5, max(m, k + 1) * lanes)
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
    """What a round's stretches give, each counting costs from its own start."""

    best: np.ndarray  # (width of the round + 1, k + 1); of stretches but the first from the first mark on
    begin: np.ndarray  # (width of the round, k)
    marks: np.ndarray  # samples after which the states were kept; the last one is the end
    states: np.ndarray


class Joined(NamedTuple):
    """What is decided within a round, and what is not."""

    found: Parts | None  # None: nothing is decided
    first: int | None  # the label at the first boundary, see `Undecided.decide`
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
    at, fresh = shape.at, shape.fresh
    begin = _lane(lanes.states[0], 0, at) if known is None else None
    zeros, end = _joined(queries, series, rules, shape, lanes, known)
    skip = 0 if fresh else shape.lead
    if rows is None:
        rows = Undecided(at + skip, lanes.best[skip:], lanes.begin[skip:], rules[1], fresh=fresh, unknown=not fresh)
    else:
        rows.append(lanes.best[skip + 1 :], lanes.begin[skip:])
    rows.count_from(zeros)
    settled = rows.settle(queries.live(end))
    if settled is None:
        return Joined(None, None, 0, rows, begin, end)
    rows.shrink()
    found, label = settled
    known_from = at + (skip if begin is not None else 0)  # what comes from before has no cost yet
    k = int(np.searchsorted(found.start, known_from)) if listed else len(found.start)
    k += int(found.hidden[:1].sum() > 0)  # the first may be a part
    some = slice(k, None)
    if k < len(found.start):
        ranges = found.start[some] - at, found.end[some] - at, found.label[some] - 1
        found.cost[some] = costs_of_ranges(queries, series, *ranges)
    return Joined(found, label, k, rows, begin, end)


def _side_by_side(queries, series, rules, shape, partial):
    """The stretches of a round."""
    step, lead = shape.step, shape.lead
    k, n, width = len(queries.first) - 1, LANES * step + lead, step + lead
    best, begin = np.empty((n + 1, k + 1)), np.empty((n, k))
    best[0] = Undecided.first_row(k)
    state = queries.state(LANES)
    if shape.fresh and partial:
        first = queries.state()
        open_begin(first, queries)
        state.reshape(len(state), -1, LANES)[:, : first.shape[1], 0] = first
    marks = [lead]
    while 2 * marks[-1] < width:
        marks.append(2 * marks[-1])
    marks = np.array([*marks, width])
    states = np.empty((len(marks), *state.shape))
    advance_lanes(queries, series, step, shape.at, tuple(rules), state, marks, states, AT_ONCE, best, begin)
    return _Lanes(best, begin, marks, states)


def _joined(queries, series, rules, shape, lanes, known):
    """Where costs count from another zero, see `Undecided.count_from`, and the last state of the round.

    `known` is the state that the first stretch must meet; None: there is none.
    """
    zeros, apart = [], np.empty(LANES)
    differences_of(lanes.states[0], lanes.states[-1], shape.step, apart)
    for lane in range(known is None, LANES):
        at = shape.at + lane * shape.step
        if known is None and not np.isnan(apart[lane]):  # the stretch before it holds, and this one meets it
            zeros.append((at + shape.lead, apart[lane]))
            continue
        if known is None:
            known = _lane(lanes.states[-1], lane - 1, at - shape.step)
        done, zero, known = _meet(queries, series, rules, shape, lanes, lane, known)
        zeros.append((at + done, zero))
    return zeros, _lane(lanes.states[-1], LANES - 1, at) if known is None else known


def _meet(queries, series, rules, shape, lanes, lane, known):
    """Let what is `known` of the stretch before go on in place of a stretch until it meets that.

    How far it went, how much more it costs from there on, and None; or its last state, if it never meets the stretch.
    """
    begin, at, done = lane * shape.step, shape.at + lane * shape.step, shape.lead
    for mark, then in zip(lanes.marks.tolist(), lanes.states, strict=True):
        if mark > done:
            a, b = begin + done, begin + mark
            own = rules[0][a:b], *rules[1:]
            piece = np.ascontiguousarray(series[:, a : b + 1])
            in_place = in_order(queries, (piece, None), 0, at + done, own, known)
            lanes.best[a + 1 : b + 1], lanes.begin[a:b] = in_place
            done = mark
        zero = difference(_lane(then, lane, at), known)
        if zero is not None:
            return done, zero, None
    zero = _least(known)
    return done, zero, counted_from(known, zero)


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
    offset = difference_of(a, b, 0.0)
    return None if np.isnan(offset) else offset
