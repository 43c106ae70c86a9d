"""Vectors and memory: how lanes are loaded, stored, moved among each other and asked as a whole.

Arrays are one-dimensional and of floats; compiled code does not look whether there is room, plain code does.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .compilation import inner
from .simd import BOOL, CHOSEN, F64, I8, I32, I64, Mask, Vector, as_type, compiled_as

REGISTERS = CHOSEN.parts  # that rows are striped to


def _address(context, builder, sig, args, lanes, number=F64):
    """Where neighboring values of the array args[0] begin at args[1], as a pointer to a vector, or to one value."""
    array = context.make_array(sig.args[0])(context, builder, args[0])
    address = builder.gep(array.data, [context.cast(builder, args[1], sig.args[1], types.intp)])
    return builder.bitcast(address, (number if lanes == 1 else ir.VectorType(number, lanes)).as_pointer())


def _check_room(values, at, lanes):
    if at < 0 or at + lanes > len(values):
        raise IndexError(f"{lanes} lanes from {at} on of {len(values)} values")


def store(values, at, v):
    """values[at : at + lanes] = v; a float is one lane."""
    if isinstance(v, float):
        values[at] = v
        return
    _check_room(values, at, len(v))
    values[at : at + len(v)] = v


@compiled_as(store, lambda values, at, v: types.void)
def _build_store(context, builder, sig, args):
    given = sig.args[2]
    value = as_type(context, builder, args[2], given, types.float64)
    address = _address(context, builder, sig, args, given.lanes if isinstance(given, Vector) else 1)
    builder.store(value, address, align=8)
    return context.get_dummy_value()


def store_codes(values, at, first, second):
    """values[at : at + lanes] = 2 where the second condition holds, else 1 where the first does, else 0."""
    _check_room(values, at, len(first))
    values[at : at + len(first)] = np.where(second, 2, first)


@compiled_as(store_codes, lambda values, at, first, second: types.void)
def _build_store_codes(context, builder, sig, args):
    lanes = sig.args[2].lanes
    numbers = ir.VectorType(I8, lanes)
    codes = builder.select(args[3], ir.Constant(numbers, [2] * lanes), builder.zext(args[2], numbers))
    builder.store(codes, _address(context, builder, sig, args, lanes, I8), align=1)
    return context.get_dummy_value()


def shifted(v, first):
    """What the rows before hold, `first` for row 0, of rows striped to `REGISTERS` registers in turn.

    Row r stands in lane r // REGISTERS of register r % REGISTERS: from one row to the next it is a register that moves,
    as a whole, and only the last one has its lanes shifted.
    """
    dealt = v.reshape(REGISTERS, -1)
    return np.concatenate([[first], dealt[-1, :-1], dealt[:-1].ravel()])


@compiled_as(shifted, lambda v, first: v)
def _build_shifted(context, builder, sig, args):
    lanes, scalar = sig.args[0].lanes, context.cast(builder, args[1], sig.args[1], types.float64)
    nothing = ir.Constant(ir.VectorType(F64, lanes), ir.Undefined)
    entering = builder.insert_element(nothing, scalar, ir.Constant(I32, lanes - 1))
    size = lanes // REGISTERS
    order = [lanes - 1, *range(2 * lanes - size, 2 * lanes - 1), *range(lanes, 2 * lanes - size)]
    return builder.shuffle_vector(entering, args[0], ir.Constant(ir.VectorType(I32, lanes), order))


def shifted_lanes(v, first):
    """What the lanes before hold, `first` for lane 0."""
    return np.concatenate([[first], v[:-1]])


@compiled_as(shifted_lanes, lambda v, first: v)
def _build_shifted_lanes(context, builder, sig, args):
    lanes, scalar = sig.args[0].lanes, context.cast(builder, args[1], sig.args[1], types.float64)
    nothing = ir.Constant(ir.VectorType(F64, lanes), ir.Undefined)
    entering = builder.insert_element(nothing, scalar, ir.Constant(I32, lanes - 1))
    order = ir.Constant(ir.VectorType(I32, lanes), list(range(lanes - 1, 2 * lanes - 1)))
    return builder.shuffle_vector(entering, args[0], order)


def entering(v, first):
    """The lanes with `first` in the place of lane 0."""
    return np.concatenate([[first], v[1:]])


@compiled_as(entering, lambda v, first: v)
def _build_entering(context, builder, sig, args):
    scalar = context.cast(builder, args[1], sig.args[1], types.float64)
    return builder.insert_element(args[0], scalar, ir.Constant(I32, 0))


def number_at(values, at):
    """values[at], which numba would look up from the end where `at` is negative."""
    _check_room(values, at, 1)
    return values[at]


@compiled_as(number_at, lambda values, at: types.float64)
def _build_number_at(context, builder, sig, args):
    return builder.load(_address(context, builder, sig, args, 1))


def unlikely(condition):
    """The condition; the compiler is told that it rarely holds, and keeps the registers for the other way."""
    return condition


@compiled_as(unlikely, lambda condition: types.boolean)
def _build_unlikely(context, builder, sig, args):
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(BOOL, [BOOL, BOOL]), "llvm.expect.i1")
    return builder.call(function, [context.cast(builder, args[0], sig.args[0], types.boolean), BOOL(0)])


def last(v):
    """The last lane."""
    return v[-1]


@compiled_as(last, lambda v: types.float64)
def _build_last(context, builder, sig, args):
    return builder.extract_element(args[0], ir.Constant(I32, sig.args[0].lanes - 1))


def bits(mask):
    """The outcomes of up to 64 comparisons as a word, the first in its lowest bit."""
    return np.packbits(np.append(mask, np.zeros(64 - len(mask), bool)), bitorder="little").view(np.uint64)[0]


@compiled_as(bits, lambda mask: types.uint64 if isinstance(mask, Mask) and mask.lanes <= 64 else None)
def _build_bits(context, builder, sig, args):
    word = builder.bitcast(args[0], ir.IntType(sig.args[0].lanes))
    return word if sig.args[0].lanes == 64 else builder.zext(word, I64)


def some(mask):
    """Whether the condition holds in some lane."""
    return bool(np.any(mask))


@compiled_as(some, lambda mask: types.boolean if isinstance(mask, Mask) else None)
def _build_some(context, builder, sig, args):
    word = ir.IntType(sig.args[0].lanes)
    return builder.icmp_unsigned("!=", builder.bitcast(args[0], word), ir.Constant(word, 0))


def channels_of(values):
    """The channels of a series (channels, n) as kernels take them: a tuple of a single one.

    So the compiler knows that there is no other, and leaves out what would look for more at each cell.
    """
    return (values[0],) if len(values) == 1 else values


# Loops instead of slices: numba compiles a slice's checks, with their messages, into every kernel.
@inner
def fill(values, begin, end, value):
    """values[begin:end] = value."""
    for k in range(begin, end):
        values[k] = value


@inner
def copy(source, begin, end, target, at):
    """target[at:] = source[begin:end], as far as that goes."""
    for k in range(end - begin):
        target[at + k] = source[begin + k]


def makers(lanes, fused):
    """The functions that make vectors of so many lanes: `load`, `splat` and `load_striped`.

    ``load(values, at)`` takes neighboring values of a one-dimensional array, ``splat(value)`` one value for all lanes;
    ``load_striped(values, at)`` takes those of each register from a position of its own.
    """
    vector = Vector(lanes, fused)

    def load(values, at):
        _check_room(values, at, lanes)
        return values[at : at + lanes].copy()

    def splat(value):
        return np.full(lanes, float(value))

    def load_striped(values, at):
        size = lanes // REGISTERS
        for position in at:
            _check_room(values, position, size)
        return np.concatenate([values[position : position + size] for position in at])

    @compiled_as(load, lambda values, at: vector)
    def build_load(context, builder, sig, args):
        return builder.load(_address(context, builder, sig, args, lanes), align=8)

    @compiled_as(splat, lambda value: vector)
    def build_splat(context, builder, sig, args):
        return as_type(context, builder, args[0], sig.args[0], vector)

    @compiled_as(load_striped, lambda values, at: vector)
    def build_load_dealt(context, builder, sig, args):
        array, parts, count = context.make_array(sig.args[0])(context, builder, args[0]), [], lanes // REGISTERS
        for k in range(REGISTERS):
            address = builder.gep(array.data, [builder.extract_value(args[1], k)])
            parts.append(builder.load(builder.bitcast(address, ir.VectorType(F64, count).as_pointer()), align=8))
        while len(parts) > 1:
            count *= 2
            order = ir.Constant(ir.VectorType(I32, count), list(range(count)))
            parts = [builder.shuffle_vector(a, b, order) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    return load, splat, load_striped
