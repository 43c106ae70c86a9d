"""How strips lie in vectors and memory: what pairs and searches along anti-diagonals share.

A strip is LANES query points. Its rows walk along the series one point behind each other: at step t, row r stands at
point t - r, so that every predecessor of a cell was computed one or two steps before. What the last row leaves is the
`edge` that the next strip meets, in one array: ``edge[LANES - 1 + j]`` belongs to point j of the series, and the last
LANES numbers are room to work in.

Rows are striped to the registers in turn (`shifted` says why), and so is here what belongs to the query's points,
padded to whole strips. Lanes of one register then stand REGISTERS points apart; so that they are neighbors in memory
the series is striped to as many parts, each of them reversed: see `index_of`.
"""

import numpy as np

from .compilation import inner, step
from .dispatch import add_terms, by_fact, gap, gap_terms, has_gap_cost, terms
from .simd import REGISTER
from .simd_memory import REGISTERS, channels_of, last, makers, number_at, store, unlikely

LANES = REGISTERS * REGISTER
SHIFT = REGISTERS.bit_length() - 1  # numba divides with checks, which kernels are slower for
ROWS = np.arange(float(LANES)).reshape(REGISTER, REGISTERS).T.ravel()  # the row in each lane

load, splat, load_striped = makers(LANES, fused=False)


@step
def lane_of(row):
    """The lane of a row of a strip."""
    return (row & (REGISTERS - 1)) * REGISTER + (row >> SHIFT)


@step
def place_of(i):
    """Where what belongs to query point i stands in the order of the lanes."""
    row = i & (LANES - 1)
    return i - row + lane_of(row)


@inner
def stripe(values, out):
    """What belongs to query points, in the order of the lanes; what is missing at the end is like the last one."""
    for i in range(out.shape[0]):
        out[place_of(i)] = values[min(i, values.shape[0] - 1)]


@inner
def stripe_query(rows, points, out, costs):
    """Query and costs of its points to the end of the last strip, in the order of the lanes."""
    for k in range(rows.shape[0]):
        for r in range(4):
            stripe(rows[k, r], out[k, r])
    for r in range(3):
        stripe(points[r], costs[r])


@step
def index_of(j, size):
    """Where point j of the series is, in parts of `size` numbers; a few points before and behind are zeros."""
    return (j & (REGISTERS - 1)) * size + size - REGISTER - 2 - (j >> SHIFT)


def room_for(record, channels, count):
    """Room for `count` points of a series, and for the gap costs of its points, if they have any."""
    length = (((count + LANES) >> SHIFT) + REGISTER + 3) * REGISTERS
    return channels_of(np.zeros((channels, length))), np.zeros(length if has_gap_cost(record) else 0)


@inner
def deal(p, y, first, count, yr, gap_costs):
    """Fill that room with the points from `first` on, zeros where there are none."""
    size = len(yr[0]) >> SHIFT
    for k in range(len(yr)):
        for j in range(count):
            yr[k][index_of(j, size)] = y[k, first + j] if 0 <= first + j < y.shape[1] else 0.0
    fill_gap_costs(p, count, size, yr, gap_costs)


def _fill_gap_costs(p, count, size, yr, gap_costs):
    for j in range(count):
        total = 0.0
        for k in range(len(yr)):
            total += gap_terms(p, yr[k][index_of(j, size)], yr[k][index_of(j - 1, size)])
        gap_costs[index_of(j, size)] = gap(p, total, 1.0)


def _no_gap_costs(p, count, size, yr, gap_costs):
    pass


fill_gap_costs = by_fact("has_gap_cost", {True: _fill_gap_costs, False: _no_gap_costs})


@step
def gap_cost_at(p, gap_costs, at):
    return load_striped(gap_costs, at[:REGISTERS]) if has_gap_cost(p) else splat(0.0)


@step
def row_at(r, weighted, i):
    return load(r[0], i), load(r[1], i), splat(1.0) if weighted is None else load(r[2], i), load(r[3], i)


@step
def indices_at(t, size):
    """Where the points are that the registers meet at step t, and the point before those of the last one."""
    return index_of(t, size), index_of(t - 1, size), index_of(t - 2, size), index_of(t - 3, size), index_of(t - 4, size)


@step
def terms_at(p, row, rows, weighted, yr, i, at):
    """The terms of the cells of a step, summed over the channels; `row` is that of the first one."""
    here, before = at[:REGISTERS], at[1:]
    a, b, c = terms(p, row, load_striped(yr[0], here), load_striped(yr[0], before))
    for k in range(1, len(yr)):
        y, y_before = load_striped(yr[k], here), load_striped(yr[k], before)
        a, b, c = add_terms(p, (a, b, c), row_at(rows[k], weighted, i), y, y_before)
    return a, b, c


@step
def leave(edge, at, lane, old):
    """Keep the cost of a strip's last row, which need not be in its last lane."""
    if unlikely(lane != LANES - 1):
        room = edge.shape[0] - LANES
        store(edge, room, old)
        store(edge, at, number_at(edge, room + lane))
    else:
        store(edge, at, last(old))


# ----------------------------------------------------------------------------------------- one register after the other
load_register, splat_register, _ = makers(REGISTER, fused=False)


@step
def row_of_register(r, weighted, i):
    weights = splat_register(1.0) if weighted is None else load_register(r[2], i)
    return load_register(r[0], i), load_register(r[1], i), weights, load_register(r[3], i)


@step
def of_register(r, weighted, points, i):
    """The rows from i on: what a register of each holds, and the costs of their points."""
    costs = load_register(points[0], i), load_register(points[1], i), load_register(points[2], i)
    return row_of_register(r, weighted, i), costs


@step
def terms_of_register(p, row, rows, weighted, yr, i, at, before):
    """What `terms_at` gives, for the register of rows from i on, where the points of the series stand at `at`."""
    a, b, c = terms(p, row, load_register(yr[0], at), load_register(yr[0], before))
    for k in range(1, len(yr)):
        y, y_before = load_register(yr[k], at), load_register(yr[k], before)
        a, b, c = add_terms(p, (a, b, c), row_of_register(rows[k], weighted, i), y, y_before)
    return a, b, c


@step
def gap_cost_of_register(p, gap_costs, at):
    return load_register(gap_costs, at) if has_gap_cost(p) else splat_register(0.0)


@step
def load_strip(values, i):
    """The registers of the strip's rows from i on."""
    first, second = load_register(values, i), load_register(values, i + REGISTER)
    return first, second, load_register(values, i + 2 * REGISTER), load_register(values, i + 3 * REGISTER)


@step
def store_strip(values, i, registers):
    """The same back to memory."""
    store(values, i, registers[0])
    store(values, i + REGISTER, registers[1])
    store(values, i + 2 * REGISTER, registers[2])
    store(values, i + 3 * REGISTER, registers[3])


@step
def leave_last(edge, at, lane, registers):
    """What `leave` does, of the registers of a strip's rows."""
    if unlikely(lane != LANES - 1):
        room = edge.shape[0] - LANES
        store_strip(edge, room, registers)
        store(edge, at, number_at(edge, room + lane))
    else:
        store(edge, at, last(registers[3]))
