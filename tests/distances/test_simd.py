"""Vectors of floats do in compiled code what numpy's arrays do in plain code."""

import numpy as np
import pytest
from numba import njit

from sktslib.distances._kernels.compile import inner
from sktslib.distances._kernels.simd import (
    REGISTER,
    REGISTERS,
    aligned,
    aligned_zeros,
    entering,
    last,
    makers,
    maximum,
    minimum,
    scratch,
    shifted,
    some,
    sqrt,
    store,
    store_codes,
    take,
    where,
)

LANES = 4 * REGISTER
LINE = 64  # bytes
load, splat, load_striped = makers(LANES, fused=False)
A, B = np.random.default_rng(0).normal(size=(2, LANES))

TABLE = np.arange(REGISTER + 4.0) ** 2


def rows_of(v):
    """The lanes in the order of the rows that stand in them."""
    return v.reshape(REGISTERS, -1).T.ravel()


def dealt(v):
    """The other way round."""
    return v.reshape(-1, REGISTERS).T.ravel()


EXPRESSIONS = {
    "sum": (lambda a, b: a + b, A + B),
    "difference": (lambda a, b: 1.0 - a, 1.0 - A),
    "product": (lambda a, b: 2 * a * b, 2 * A * B),
    "quotient": (lambda a, b: a / b, A / B),
    "power": (lambda a, b: abs(a) ** 3.0, np.abs(A) ** 3),
    "negative": (lambda a, b: -a, -A),
    "root": (lambda a, b: sqrt(abs(a)), np.sqrt(np.abs(A))),
    "minimum": (lambda a, b: minimum(a, b), np.minimum(A, B)),
    "larger of a number": (lambda a, b: maximum(a, 0.25), np.maximum(A, 0.25)),
    "where": (lambda a, b: where(a < b, a, 7.0), np.where(A < B, A, 7.0)),
    "where both": (lambda a, b: where((a >= 0.0) & (b <= 0.0), 1.0, b), np.where((A >= 0) & (B <= 0), 1.0, B)),
    "one condition": (lambda a, b: where(1 > 2, a, b), B),
    "shifted": (lambda a, b: shifted(a, 9.0), dealt(np.append(9.0, rows_of(A)[:-1]))),
    "entering": (lambda a, b: entering(a, 9.0), np.append(9.0, A[1:])),
    "last": (lambda a, b: last(a) + 0.0 * b, np.full(LANES, A[-1])),
    "splat": (lambda a, b: splat(3) + a, 3.0 + A),
    "striped": (
        lambda a, b: load_striped(TABLE, (2, 1, 0, 3)) + a,
        A + np.concatenate([TABLE[k : k + REGISTER] for k in (2, 1, 0, 3)]),
    ),
    "some": (lambda a, b: where(some(a > 2.0) or some(b < 9.0), a, b), A),
    "take": (lambda a, b: take(TABLE, 9.0 * abs(a)), TABLE[np.minimum(9 * np.abs(A), len(TABLE) - 1).astype(int)]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_equals_arrays(name):
    expression, expected = EXPRESSIONS[name]
    expression = inner(expression)

    @njit
    def run(a, b, out):
        store(out, 1, expression(load(a, 0), load(b, 0)))

    out = np.zeros(LANES + 2)
    run(A, B, out)
    np.testing.assert_allclose(out[1:-1], expected, rtol=1e-15)
    assert out[0] == out[-1] == 0.0


@pytest.mark.parametrize("compiled", [False, True])
def test_numbers_take_the_same_functions(compiled):
    def run(table):
        minima = minimum(1.0, 2.0), minimum(2.0, 1.0)
        return minima, maximum(1.0, 2.0), sqrt(4.0), take(table, 3.0), take(table, 1e3), where(1.0 > 2.0, 1, 2.5)

    found = (njit(run) if compiled else run)(TABLE)
    assert found == ((1.0, 1.0), 2.0, 2.0, 9.0, TABLE[-1], 2.5)


def test_codes_of_two_conditions():
    @njit
    def run(a, b, out):
        x, y = load(a, 0), load(b, 0)
        store_codes(out, 0, x < 0.0, y < 0.0)

    out = np.zeros(LANES, np.uint8)
    run(A, B, out)
    np.testing.assert_array_equal(out, np.where(B < 0, 2, A < 0))


@pytest.mark.parametrize("table", [np.arange(8), np.arange(8.0)[::2], np.arange(8, dtype=np.float32)])
def test_tables_of_any_numbers(table):
    @njit
    def run(table, a, out):
        store(out, 0, take(table, load(a, 0)))
        return take(table, 2.0)

    at, out = np.arange(LANES) % 9.0, np.zeros(LANES)
    assert run(table, at, out) == table[2]
    np.testing.assert_array_equal(out, table[np.minimum(at, len(table) - 1).astype(int)])


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 3, 1000)])
def test_arrays_begin_where_a_cache_line_does(shape, dtype):
    held = [aligned(*shape, dtype=dtype) for _ in range(5)]  # each somewhere else
    held += [scratch("shape", shape, dtype), aligned_zeros(*shape).astype(dtype)]
    for a in held[:-1]:
        assert not a.size or a.__array_interface__["data"][0] % LINE == 0
    for k, a in enumerate(held):
        assert (a.shape, a.dtype, a.flags.c_contiguous, a.flags.writeable) == (shape, dtype, True, True)
        a[...] = k % 2
    for k, a in enumerate(held):
        assert (a == k % 2).all()  # none lies in another's memory
