"""Vectors of floats as numba values, their loads, stores and shuffles, and aligned memory for them.

Explicit vectors do not depend on the compiler's own vectorizer. A recurrence written with operators and with `where`,
`minimum`, `maximum` and `sqrt` takes floats and vectors. LLVM splits a vector with more lanes than a register over
several registers. With the compiler disabled, a vector is a numpy array.

Each product and each sum is rounded by itself, as with floats, except in `multiply_add`. So all drivers agree bit for
bit. For `fused` vectors the compiler may round a product and a sum at once; bounds and transforms use them.

Vectors are loaded from and stored to one-dimensional arrays of floats. Compiled code does not check the borders; plain
Python code does.

Memory is aligned to cache lines, and each thread reuses its `scratch` arrays. Otherwise the system would allocate,
clear and free large arrays for each piece of a long sequence, which took longer than the computation in workers of
dask.
"""

import math
import operator
import platform
import threading
from functools import partial
from typing import NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import lower_builtin, models, register_model, type_callable

from .compile import block_size, inner

# -------------------------------------------------------------------------------------------------------- processor
# The one place that decides on vector sizes, by the processor that kernels are compiled for. Measured with AVX-512
# (32 registers of eight floats), AVX (16 of four) and SSE2 (16 of two), see `benchmarks/RESULTS.md`. Other processors
# get sizes by their registers: ARM's 32 of two floats hold as much as AVX's. No result depends on these sizes.

# LLVM's names of x86-64 processors without AVX; all others are newer.
WITHOUT_AVX = {"generic", "x86-64", "x86-64-v2", "nocona", "core2", "penryn", "nehalem", "westmere", "silvermont"}
WITHOUT_AVX |= {"goldmont", "goldmont-plus", "tremont", "k8", "k8-sse3", "amdfam10", "barcelona", "btver1"}
REGISTERS = 4  # over which the rows of a strip are distributed, in pairs and searches


class Sizes(NamedTuple):
    """Vector sizes of kernels."""

    register: int  # floats per vector
    batch: int  # series per vector, in matrices, neighbors and windows


def sizes_for(machine, name, features):
    """Return the vector sizes for a kind of machine and a processor, given by its features or its name.

    Without the feature `avx`, the name decides on AVX, as in LLVM. AVX-512 counts only if the features name it.
    """
    if machine.lower() not in ("x86_64", "amd64"):
        return Sizes(register=4, batch=8)
    if features.get("avx512f"):
        return Sizes(register=8, batch=16)
    return Sizes(register=4, batch=8 if features.get("avx", name not in WITHOUT_AVX) else 4)


def _compiled_for():
    """Return name and features of the processor that kernels are compiled for: of this machine, or as set for numba."""
    name = config.CPU_NAME or binding.get_host_cpu_name()
    if config.CPU_FEATURES is None:
        return name, binding.get_host_cpu_features()
    told = config.CPU_FEATURES.split(",")
    return name, {feature[1:]: feature[0] == "+" for feature in told if feature}


REGISTER, BATCH = block_size(sizes_for(platform.machine(), *_compiled_for()), Sizes(register=2, batch=4))
BOOL, I8, I32, I64, F64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


class Vector(types.Type):
    """Numba type of a vector of floats."""

    def __init__(self, lanes, fused):
        self.lanes, self.fused = lanes, fused
        super().__init__(f"Vector({lanes}, {fused})")

    @property
    def flags(self):
        return ("contract",) if self.fused else ()


class Mask(types.Type):
    """Numba type of the result of a comparison of vectors."""

    def __init__(self, lanes):
        self.lanes = lanes
        super().__init__(f"Mask({lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(F64, fe_type.lanes))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(BOOL, fe_type.lanes))


# ---------------------------------------------------------------------------------------------------------- building
def compiled_as(function, result_type):
    """Register the decorated code builder as the compiled form of a function.

    `result_type` takes the types of the arguments, with the names that they have in the function, and returns the type
    of the result, or None if the types are not supported. An overload would be a function to compile: a kernel of the
    vector drivers would have forty of these, a twentieth of a second each.
    """
    type_callable(function)(lambda context: result_type)
    return lower_builtin(function, types.VarArg(types.Any))


def as_type(context, builder, value, given, wanted):
    """Convert a number or a vector from the given type to the wanted type, a float or a vector."""
    if isinstance(given, Vector):
        return value
    scalar = context.cast(builder, value, given, types.float64)
    if not isinstance(wanted, Vector):
        return scalar
    nothing = ir.Constant(ir.VectorType(F64, wanted.lanes), ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(I32, wanted.lanes), [0] * wanted.lanes))


def _all_as_type(context, builder, values, given, wanted):
    return [as_type(context, builder, v, t, wanted) for v, t in zip(values, given, strict=True)]


def _vector_of(*given):
    """Return the vector type of an operation on vectors and numbers; None for other operands."""
    vectors = [t for t in given if isinstance(t, Vector)]
    if vectors and all(isinstance(t, Vector | types.Number | types.Boolean) for t in given):
        return vectors[0]
    return None


def type_of(*given):
    """Return the result type of an operation: float if all operands are numbers, else that of `_vector_of`."""
    if all(isinstance(t, types.Number | types.Boolean) for t in given):
        return types.float64
    return _vector_of(*given)


def _operator(op, compares, build):
    @type_callable(op)
    def typer(context):
        def result_type(a, b):
            vector = _vector_of(a, b)
            return vector and (Mask(vector.lanes) if compares else vector)

        return result_type

    def lower(context, builder, sig, args):
        vector = _vector_of(*sig.args)
        a, b = _all_as_type(context, builder, args, sig.args, vector)
        return build(builder, a, b, vector)

    for left, right in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(op, left, right)(lower)


_arithmetic = {"add": ir.IRBuilder.fadd, "sub": ir.IRBuilder.fsub, "mul": ir.IRBuilder.fmul}
for _name, _build in (_arithmetic | {"truediv": ir.IRBuilder.fdiv}).items():
    _operator(getattr(operator, _name), False, lambda builder, a, b, v, f=_build: f(builder, a, b, flags=v.flags))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}.items():
    _operator(getattr(operator, _name), True, lambda builder, a, b, v, s=_sign: builder.fcmp_ordered(s, a, b))


def _call(builder, name, *args):
    """Call one of LLVM's functions of floats, which exist for vectors of every size as well."""
    float_type = args[0].type
    name += f".v{float_type.count}f64" if isinstance(float_type, ir.VectorType) else ".f64"
    function = ir.FunctionType(float_type, [float_type] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)


_operator(operator.pow, False, lambda builder, a, b, v: _call(builder, "llvm.pow", a, b))


def _unary(op, build):
    @type_callable(op)
    def typer(context):
        return lambda a: a if isinstance(a, Vector) else None

    @lower_builtin(op, Vector)
    def lower(context, builder, sig, args):
        return build(builder, args[0])


_unary(operator.neg, lambda builder, a: builder.fneg(a))
_unary(abs, lambda builder, a: _call(builder, "llvm.fabs", a))


@type_callable(operator.and_)
def _type_both(context):
    return lambda a, b: a if isinstance(a, Mask) and a == b else None


@lower_builtin(operator.and_, Mask, Mask)
def _both(context, builder, sig, args):
    return builder.and_(*args)


# ------------------------------------------------------------------------- functions of floats and of vectors alike
def where(condition, a, b):
    """`a` where the condition holds, else `b`.

    Examples
    --------
    >>> from sktslib.distances.elementwise import where
    >>> where(1.0 < 2.0, 3.0, 4.0)
    3.0
    """
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)


def _type_of_where(condition, a, b):
    of_values = type_of(a, b)
    if isinstance(condition, Mask) and of_values == types.float64:
        return Vector(condition.lanes, False)
    return of_values


@compiled_as(where, _type_of_where)
def _build_where(context, builder, sig, args):
    """Build `where` with a condition per lane, or with one for all lanes."""
    a, b = _all_as_type(context, builder, args[1:], sig.args[1:], sig.return_type)
    by_lane = isinstance(sig.args[0], Mask)
    condition = args[0] if by_lane else context.cast(builder, args[0], sig.args[0], types.boolean)
    return builder.select(condition, a, b)


def minimum(a, b):
    """Return the smaller of two values.

    Examples
    --------
    >>> from sktslib.distances.elementwise import minimum
    >>> minimum(1.0, 2.0)
    1.0
    """
    return np.minimum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else (a if a < b else b)


def maximum(a, b):
    """Return the larger of two values.

    Examples
    --------
    >>> from sktslib.distances.elementwise import maximum
    >>> maximum(1.0, 2.0)
    2.0
    """
    return np.maximum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else (a if a > b else b)


def _extreme(function, sign):
    """Build `minimum` or `maximum`, also of integers, because numba's own functions take longer to compile."""

    @compiled_as(function, lambda a, b: types.intp if _are_integers(a, b) else type_of(a, b))
    def build(context, builder, sig, args):
        if _are_integers(*sig.args):
            a, b = (context.cast(builder, v, t, types.intp) for v, t in zip(args, sig.args, strict=True))
            return builder.select(builder.icmp_signed(sign, a, b), a, b)
        a, b = _all_as_type(context, builder, args, sig.args, sig.return_type)
        return builder.select(builder.fcmp_ordered(sign, a, b), a, b)


def _are_integers(a, b):
    return isinstance(a, types.Integer) and isinstance(b, types.Integer)


_extreme(minimum, "<")
_extreme(maximum, ">")


def multiply_add(a, b, c):
    """Return a * b + c, rounded once where the processor has an instruction for it, and twice elsewhere."""
    return a * b + c


@compiled_as(multiply_add, lambda a, b, c: type_of(a, b, c))
def _build_multiply_add(context, builder, sig, args):
    return _call(builder, "llvm.fmuladd", *_all_as_type(context, builder, args, sig.args, sig.return_type))


def with_cost(total, cost):
    """Return total + cost; a cost that is a tuple of two factors is added by `multiply_add`."""
    return multiply_add(*cost, total) if isinstance(cost, tuple) else total + cost


def _type_of_total(total, cost):
    return type_of(total, *(cost if isinstance(cost, types.BaseTuple) else (cost,)))


@compiled_as(with_cost, _type_of_total)
def _build_with_cost(context, builder, sig, args):
    total, cost = sig.args
    if isinstance(cost, types.BaseTuple):
        values = [*cgutils.unpack_tuple(builder, args[1]), args[0]]
        return _call(builder, "llvm.fmuladd", *_all_as_type(context, builder, values, [*cost, total], sig.return_type))
    return builder.fadd(*_all_as_type(context, builder, args, sig.args, sig.return_type))


def rounded(cost):
    """Return a cost as one number; recurrences may give it as a tuple of two factors, for `multiply_add`."""
    return cost[0] * cost[1] if isinstance(cost, tuple) else cost


@compiled_as(rounded, lambda cost: type_of(*cost) if isinstance(cost, types.BaseTuple) else cost)
def _build_rounded(context, builder, sig, args):
    if not isinstance(sig.args[0], types.BaseTuple):
        return args[0]
    factors = cgutils.unpack_tuple(builder, args[0])
    return builder.fmul(*_all_as_type(context, builder, factors, sig.args[0], sig.return_type))


def sqrt(a):
    """Return the square root.

    Examples
    --------
    >>> from sktslib.distances.elementwise import sqrt
    >>> float(sqrt(4.0))
    2.0
    """
    return np.sqrt(a)


@compiled_as(sqrt, lambda a: type_of(a))
def _build_sqrt(context, builder, sig, args):
    return _call(builder, "llvm.sqrt", as_type(context, builder, args[0], sig.args[0], sig.return_type))


def take(values, at):
    """`values[at]` of an array of numbers; positions beyond the last give the last.

    Examples
    --------
    >>> from sktslib.distances.elementwise import take
    >>> take([5.0, 6.0, 7.0], 1.0)
    6.0
    """
    last = len(values) - 1
    return values[np.minimum(at, last).astype(int)] if isinstance(at, np.ndarray) else values[min(int(at), last)]


def _type_of_take(values, at):
    is_table = isinstance(values, types.Array) and values.ndim == 1 and isinstance(values.dtype, types.Number)
    return type_of(at) if is_table else None


@compiled_as(take, _type_of_take)
def _build_take(context, builder, sig, args):
    table = sig.args[0]
    array = context.make_array(table)(context, builder, args[0])
    last = builder.sub(builder.extract_value(array.shape, 0), ir.Constant(I64, 1))
    step = builder.extract_value(array.strides, 0)

    def one(at):
        index = builder.fptosi(at, I64)
        index = builder.select(builder.icmp_signed("<", index, last), index, last)
        value = context.unpack_value(
            builder, table.dtype, cgutils.pointer_add(builder, array.data, builder.mul(index, step))
        )
        return context.cast(builder, value, table.dtype, types.float64)

    if not isinstance(sig.return_type, Vector):
        return one(context.cast(builder, args[1], sig.args[1], types.float64))
    out = ir.Constant(ir.VectorType(F64, sig.return_type.lanes), ir.Undefined)
    for k in range(sig.return_type.lanes):
        lane = ir.Constant(I32, k)
        out = builder.insert_element(out, one(builder.extract_element(args[1], lane)), lane)
    return out


def _address(context, builder, sig, args, lanes, number=F64):
    """Build the address of element args[1] of array args[0], as a pointer to a vector or to one value."""
    array = context.make_array(sig.args[0])(context, builder, args[0])
    address = builder.gep(array.data, [context.cast(builder, args[1], sig.args[1], types.intp)])
    return builder.bitcast(address, (number if lanes == 1 else ir.VectorType(number, lanes)).as_pointer())


def _check_room(values, at, lanes):
    if at < 0 or at + lanes > len(values):
        raise IndexError(f"{lanes} lanes from {at} on of {len(values)} values")


def power_of_two(power):
    """2^power for whole powers of at most 0; for powers below -1022, and for NaN, 0."""
    return np.where(power > -1023.0, np.exp2(np.fmax(power, -1023.0)), 0.0)


@compiled_as(power_of_two, lambda power: power)
def _build_power_of_two(context, builder, sig, args):
    given = (ir.Constant(F64, value) for value in (-1023.0, 1.5 * 2.0**52 + 1023))
    least, exponent = (as_type(context, builder, value, types.float64, sig.return_type) for value in given)
    power, words = builder.select(builder.fcmp_ordered(">", args[0], least), args[0], least), least.type.count * [52]
    # The last bits of this sum are those of the exponent of the power of two.
    word = builder.bitcast(builder.fadd(power, exponent), ir.VectorType(I64, len(words)))
    return builder.bitcast(builder.shl(word, ir.Constant(word.type, words)), least.type)


def store(values, at, v):
    """values[at : at + lanes] = v; a float has one lane."""
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
    """Shift the rows of a strip by one row; row 0 becomes `first`.

    Row r is in lane r // REGISTERS of register r % REGISTERS. So each register takes the place of the next one as a
    whole, and only the last one has its lanes shifted.
    """
    dealt = v.reshape(REGISTERS, -1)
    return np.concatenate([[first], dealt[-1, :-1], dealt[:-1].ravel()])


def _shuffled(context, builder, sig, args, order):
    """Return the vector of a number followed by the lanes in `order`, which counts lane k as `lanes` + k."""
    lanes, scalar = sig.args[0].lanes, context.cast(builder, args[1], sig.args[1], types.float64)
    nothing = ir.Constant(ir.VectorType(F64, lanes), ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(I32, lanes - 1))
    return builder.shuffle_vector(first, args[0], ir.Constant(ir.VectorType(I32, lanes), [lanes - 1, *order]))


@compiled_as(shifted, lambda v, first: v)
def _build_shifted(context, builder, sig, args):
    lanes = sig.args[0].lanes
    order = *range(2 * lanes - lanes // REGISTERS, 2 * lanes - 1), *range(lanes, 2 * lanes - lanes // REGISTERS)
    return _shuffled(context, builder, sig, args, order)


def shifted_lanes(v, first):
    """Shift all lanes by one; lane 0 becomes `first`."""
    return np.concatenate([[first], v[:-1]])


@compiled_as(shifted_lanes, lambda v, first: v)
def _build_shifted_lanes(context, builder, sig, args):
    lanes = sig.args[0].lanes
    return _shuffled(context, builder, sig, args, range(lanes, 2 * lanes - 1))


def entering(v, first):
    """Replace lane 0 by `first`."""
    return np.concatenate([[first], v[1:]])


@compiled_as(entering, lambda v, first: v)
def _build_entering(context, builder, sig, args):
    scalar = context.cast(builder, args[1], sig.args[1], types.float64)
    return builder.insert_element(args[0], scalar, ir.Constant(I32, 0))


def number_at(values, at):
    """values[at], without numba's support of negative indices."""
    _check_room(values, at, 1)
    return values[at]


@compiled_as(number_at, lambda values, at: types.float64)
def _build_number_at(context, builder, sig, args):
    return builder.load(_address(context, builder, sig, args, 1))


def unlikely(condition):
    """Return the condition, with a hint to the compiler that it rarely holds."""
    return condition


@compiled_as(unlikely, lambda condition: types.boolean)
def _build_unlikely(context, builder, sig, args):
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(BOOL, [BOOL, BOOL]), "llvm.expect.i1")
    return builder.call(function, [context.cast(builder, args[0], sig.args[0], types.boolean), BOOL(0)])


def last(v):
    """Return the last lane."""
    return v[-1]


@compiled_as(last, lambda v: types.float64)
def _build_last(context, builder, sig, args):
    return builder.extract_element(args[0], ir.Constant(I32, sig.args[0].lanes - 1))


def bits(mask):
    """Return the lanes of a mask of up to 64 lanes as the bits of a word, the first one lowest."""
    return np.packbits(np.append(mask, np.zeros(64 - len(mask), bool)), bitorder="little").view(np.uint64)[0]


@compiled_as(bits, lambda mask: types.uint64 if isinstance(mask, Mask) and mask.lanes <= 64 else None)
def _build_bits(context, builder, sig, args):
    word = builder.bitcast(args[0], ir.IntType(sig.args[0].lanes))
    return word if sig.args[0].lanes == 64 else builder.zext(word, I64)


def some(mask):
    """Return whether a condition holds in any lane."""
    return bool(np.any(mask))


@compiled_as(some, lambda mask: types.boolean if isinstance(mask, Mask) else None)
def _build_some(context, builder, sig, args):
    word = ir.IntType(sig.args[0].lanes)
    return builder.icmp_unsigned("!=", builder.bitcast(args[0], word), ir.Constant(word, 0))


def channels_of(values):
    """Return a series (channels, n) as kernels take it: an array, or a tuple of one row if there is one channel.

    Then the compiler knows the number of channels, and drops the loop over further channels in each cell.
    """
    return (values[0],) if len(values) == 1 else values


# Loops instead of slices: numba would compile the checks of slices, with their messages, into every kernel.
@inner
def fill(values, begin, end, value):
    """values[begin:end] = value."""
    for k in range(begin, end):
        values[k] = value


@inner
def copy(source, begin, end, target, at):
    """target[at : at + end - begin] = source[begin:end]."""
    for k in range(end - begin):
        target[at + k] = source[begin + k]


def makers(lanes, fused):
    """Return the functions that create vectors with this number of lanes: `load`, `splat` and `load_striped`.

    ``load(values, at)`` reads neighboring values of a one-dimensional array. ``splat(value)`` has one value in all
    lanes. ``load_striped(values, at)`` reads neighboring values for each register, from the position at[register] on.
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


LINE = 64  # bytes of a cache line
MOST = 2**20  # entries of the largest array that is kept; larger ones are allocated in each call


_kept = threading.local()


def aligned(*shape, dtype=np.float64, zeros=False):
    """Return an array that is aligned to cache lines and shares none with other arrays, uninitialized or zero.

    Large arrays of numpy start in the middle of a line, so a register as wide as a line is loaded from two, which takes
    longer. Small ones of several threads may share a line, and threads that write to one line wait for each other.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + -size % LINE + LINE - 1, np.uint8)
    first = -room.__array_interface__["data"][0] % LINE
    out = room[first : first + size]
    if zeros:
        out.fill(0)
    return out.view(dtype).reshape(shape)


aligned_zeros = partial(aligned, zeros=True)


def scratch(name, shape, dtype=np.float64):
    """Return an uninitialized array that is valid until the same thread calls this with the same name again."""
    size = math.prod(shape)
    if size > MOST:
        return aligned(*shape, dtype=dtype)
    held = vars(_kept).get(name)
    if held is None or len(held) < size or held.dtype != dtype:
        held = vars(_kept)[name] = aligned(size, dtype=dtype)
    return held[:size].reshape(shape)
