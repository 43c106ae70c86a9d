"""Vectors of floats as numba values: what the compiler's own vectoriser would have to guess is said outright.

A recurrence written with the operators and with `where`, `smaller`, `larger` and `root2` takes floats and vectors.
A vector of more lanes than a register has is split over several registers by LLVM. Where the compiler is switched off,
a vector is a numpy array.

`fused` vectors may round a product and a sum once (fused multiply-add); the others round as plain floats do, so that
ties are broken alike in every driver.
"""

import operator

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, overload, register_model, type_callable

# Floats in one of this machine's registers. No result depends on it.
REGISTER = 8 if binding.get_host_cpu_features().get("avx512f") else 4
REGISTERS = 4  # that rows are dealt to
# Where the least of integers is one instruction beside the adders. Others have none or take two and wait longer.
BITS = REGISTER == 8 and binding.get_host_cpu_name().startswith("znver")

_BOOL, _I8, _I32, _I64, _F64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


class Vector(types.Type):
    """Numba type of a vector of floats."""

    def __init__(self, lanes, fused):
        self.lanes, self.fused = lanes, fused
        super().__init__(f"Vector({lanes}, {fused})")

    @property
    def flags(self):
        return ("contract",) if self.fused else ()


class Mask(types.Type):
    """Numba type of the outcome of a comparison of vectors."""

    def __init__(self, lanes):
        self.lanes = lanes
        super().__init__(f"Mask({lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(_F64, fe_type.lanes))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(_BOOL, fe_type.lanes))


# ---------------------------------------------------------------------------------------------------------- building
def _splat(builder, scalar, lanes):
    nothing = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes))


def _as_vector(context, builder, value, kind, vector):
    if isinstance(kind, Vector):
        return value
    return _splat(builder, context.cast(builder, value, kind, types.float64), vector.lanes)


def _vector_of(*kinds):
    """The vector type of an operation: that of its vectors, the others being numbers."""
    vectors = [k for k in kinds if isinstance(k, Vector)]
    if vectors and all(isinstance(k, Vector | types.Number | types.Boolean) for k in kinds):
        return vectors[0]
    return None


def _binary(op, result, build):
    @type_callable(op)
    def typer(context):
        def kind(a, b):
            vector = _vector_of(a, b)
            return vector and result(vector)

        return kind

    def lower(context, builder, sig, args):
        vector = _vector_of(*sig.args)
        a, b = (_as_vector(context, builder, v, k, vector) for v, k in zip(args, sig.args, strict=True))
        return build(builder, a, b, vector)

    for left, right in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(op, left, right)(lower)


def _same(vector):
    return vector


def _mask(vector):
    return Mask(vector.lanes)


_binary(operator.add, _same, lambda builder, a, b, v: builder.fadd(a, b, flags=v.flags))
_binary(operator.sub, _same, lambda builder, a, b, v: builder.fsub(a, b, flags=v.flags))
_binary(operator.mul, _same, lambda builder, a, b, v: builder.fmul(a, b, flags=v.flags))
_binary(operator.truediv, _same, lambda builder, a, b, v: builder.fdiv(a, b, flags=v.flags))
for _op, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _binary(_op, _mask, lambda builder, a, b, v, sign=_sign: builder.fcmp_ordered(sign, a, b))


def _call(builder, name, vector, *args):
    """Call one of LLVM's functions on floats, which exist for vectors of every size."""
    kind = ir.VectorType(_F64, vector.lanes)
    function = ir.FunctionType(kind, [kind] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, function, f"{name}.v{vector.lanes}f64"), args)


_binary(operator.pow, _same, lambda builder, a, b, v: _call(builder, "llvm.pow", v, a, b))


def _unary(op, build):
    @type_callable(op)
    def typer(context):
        return lambda a: a if isinstance(a, Vector) else None

    @lower_builtin(op, Vector)
    def lower(context, builder, sig, args):
        return build(builder, args[0], sig.args[0])


_unary(operator.neg, lambda builder, a, v: builder.fneg(a))
_unary(abs, lambda builder, a, v: _call(builder, "llvm.fabs", v, a))


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


@intrinsic
def _select(typing, condition, a, b):
    """By a condition for each lane, or one for all."""
    vector = _vector_of(a, b) or Vector(condition.lanes, False)

    def build(context, builder, sig, args):
        a, b = (_as_vector(context, builder, v, k, vector) for v, k in zip(args[1:], sig.args[1:], strict=True))
        by_lane = isinstance(sig.args[0], Mask)
        condition = args[0] if by_lane else context.cast(builder, args[0], sig.args[0], types.boolean)
        return builder.select(condition, a, b)

    return vector(condition, a, b), build


@overload(where, jit_options={"forceinline": True})
def _overload_where(condition, a, b):
    if isinstance(condition, Mask) or _vector_of(a, b):
        return lambda condition, a, b: _select(condition, a, b)
    return lambda condition, a, b: a if condition else b


def smaller(a, b):
    """The smaller of two values.

    Examples
    --------
    >>> from sktslib.distances.elementwise import smaller
    >>> smaller(1.0, 2.0)
    1.0
    """
    return np.minimum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else (a if a < b else b)


@overload(smaller, jit_options={"forceinline": True})
def _overload_smaller(a, b):
    if _vector_of(a, b):
        return lambda a, b: _select(a < b, a, b)
    return lambda a, b: a if a < b else b


def cheaper(a, b):
    """The smaller of a cost, which is not negative, and of another number.

    Their bits, read as integers, are in the same order. AMD's vector units compare integers on the side where they
    multiply and floats on the side where they add: a recurrence is faster if it keeps both sides busy.
    """
    return smaller(a, b)


@intrinsic
def _smaller_bits(typing, a, b):
    vector = _vector_of(a, b)
    words = ir.VectorType(_I64, vector.lanes)

    def build(context, builder, sig, args):
        a, b = (_as_vector(context, builder, v, k, vector) for v, k in zip(args, sig.args, strict=True))
        least = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(words, [words, words]), f"llvm.smin.v{vector.lanes}i64"
        )
        word = builder.call(least, [builder.bitcast(a, words), builder.bitcast(b, words)])
        return builder.bitcast(word, ir.VectorType(_F64, vector.lanes))

    return vector(a, b), build


@overload(cheaper, jit_options={"forceinline": True})
def _overload_cheaper(a, b):
    return (lambda a, b: _smaller_bits(a, b)) if BITS and _vector_of(a, b) else (lambda a, b: smaller(a, b))


def larger(a, b):
    """The larger of two values.

    Examples
    --------
    >>> from sktslib.distances.elementwise import larger
    >>> larger(1.0, 2.0)
    2.0
    """
    return np.maximum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else (a if a > b else b)


@overload(larger, jit_options={"forceinline": True})
def _overload_larger(a, b):
    if _vector_of(a, b):
        return lambda a, b: _select(a > b, a, b)
    return lambda a, b: a if a > b else b


def root2(a):
    """The square root.

    Examples
    --------
    >>> from sktslib.distances.elementwise import root2
    >>> float(root2(4.0))
    2.0
    """
    return np.sqrt(a)


@intrinsic
def _sqrt(typing, a):
    def build(context, builder, sig, args):
        return _call(builder, "llvm.sqrt", sig.args[0], args[0])

    return a(a), build


@overload(root2, jit_options={"forceinline": True})
def _overload_root2(a):
    return (lambda a: _sqrt(a)) if isinstance(a, Vector) else (lambda a: np.sqrt(a))


def take(values, at):
    """`values[at]`; places beyond the last give the last.

    Examples
    --------
    >>> from sktslib.distances.elementwise import take
    >>> take([5.0, 6.0, 7.0], 1.0)
    6.0
    """
    return values[np.minimum(at, len(values) - 1).astype(int)] if isinstance(at, np.ndarray) else values[int(at)]


@intrinsic
def _gather(typing, values, at):
    lanes = at.lanes

    def build(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        last = builder.sub(builder.extract_value(array.shape, 0), ir.Constant(_I64, 1))
        out = ir.Constant(ir.VectorType(_F64, lanes), ir.Undefined)
        places = builder.fptosi(args[1], ir.VectorType(_I64, lanes))
        for k in range(lanes):
            lane = ir.Constant(_I32, k)
            place = builder.extract_element(places, lane)
            place = builder.select(builder.icmp_signed("<", place, last), place, last)
            out = builder.insert_element(out, builder.load(builder.gep(array.data, [place])), lane)
        return out

    return at(values, at), build


@overload(take, jit_options={"forceinline": True})
def _overload_take(values, at):
    return (
        (lambda values, at: _gather(values, at))
        if isinstance(at, Vector)
        else (lambda values, at: values[np.uintp(at)])
    )


# ------------------------------------------------------------------------------------------------------ memory, lanes
def store(values, at, v):
    """values[at : at + lanes] = v, of a one-dimensional array; a float is one lane."""
    if isinstance(v, float):
        values[at] = v
        return
    _check_room(values, at, len(v))
    values[at : at + len(v)] = v


def _check_room(values, at, lanes):
    """Compiled code does not look; plain code does, for the tests."""
    if at < 0 or at + lanes > len(values):
        raise IndexError(f"{lanes} lanes from {at} on of {len(values)} values")


@intrinsic
def _store(typing, values, at, v):
    def build(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        place = builder.gep(array.data, [context.cast(builder, args[1], sig.args[1], types.intp)])
        place = builder.bitcast(place, ir.VectorType(_F64, sig.args[2].lanes).as_pointer())
        builder.store(args[2], place, align=8)
        return context.get_dummy_value()

    return types.void(values, at, v), build


@overload(store, jit_options={"forceinline": True})
def _overload_store(values, at, v):
    if isinstance(v, Vector):
        return lambda values, at, v: _store(values, at, v)
    return _put


def _put(values, at, v):
    values[at] = v


def shifted(v, first):
    """What the rows before hold, `first` for row 0, of rows dealt to `REGISTERS` registers in turn.

    Row r stands in lane r // REGISTERS of register r % REGISTERS: from one row to the next it is a register that moves,
    as a whole, and only the last one has its lanes shifted.
    """
    dealt = v.reshape(REGISTERS, -1)
    return np.concatenate([[first], dealt[-1, :-1], dealt[:-1].ravel()])


@intrinsic
def _shift(typing, v, first):
    lanes = v.lanes

    def build(context, builder, sig, args):
        scalar = context.cast(builder, args[1], sig.args[1], types.float64)
        nothing = ir.Constant(ir.VectorType(_F64, lanes), ir.Undefined)
        entering = builder.insert_element(nothing, scalar, ir.Constant(_I32, lanes - 1))
        size = lanes // REGISTERS
        order = [lanes - 1, *range(2 * lanes - size, 2 * lanes - 1), *range(lanes, 2 * lanes - size)]
        return builder.shuffle_vector(entering, args[0], ir.Constant(ir.VectorType(_I32, lanes), order))

    return v(v, first), build


@overload(shifted, jit_options={"forceinline": True})
def _overload_shifted(v, first):
    if isinstance(v, Vector):
        return lambda v, first: _shift(v, first)


def entering(v, first):
    """The lanes with `first` in the place of lane 0."""
    return np.concatenate([[first], v[1:]])


@intrinsic
def _enter(typing, v, first):
    def build(context, builder, sig, args):
        scalar = context.cast(builder, args[1], sig.args[1], types.float64)
        return builder.insert_element(args[0], scalar, ir.Constant(_I32, 0))

    return v(v, first), build


@overload(entering, jit_options={"forceinline": True})
def _overload_entering(v, first):
    if isinstance(v, Vector):
        return lambda v, first: _enter(v, first)


def last(v):
    """The last lane."""
    return v[-1]


@intrinsic
def _last(typing, v):
    def build(context, builder, sig, args):
        return builder.extract_element(args[0], ir.Constant(_I32, sig.args[0].lanes - 1))

    return types.float64(v), build


@overload(last, jit_options={"forceinline": True})
def _overload_last(v):
    if isinstance(v, Vector):
        return lambda v: _last(v)


def store_codes(values, at, first, second):
    """values[at : at + lanes] = 2 where the second condition holds, else 1 where the first does, else 0."""
    _check_room(values, at, len(first))
    values[at : at + len(first)] = np.where(second, 2, first)


@intrinsic
def _store_codes(typing, values, at, first, second):
    def build(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        bytes_ = ir.VectorType(_I8, sig.args[2].lanes)
        two = ir.Constant(bytes_, [2] * sig.args[2].lanes)
        codes = builder.select(args[3], two, builder.zext(args[2], bytes_))
        place = builder.gep(array.data, [context.cast(builder, args[1], sig.args[1], types.intp)])
        builder.store(codes, builder.bitcast(place, bytes_.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(values, at, first, second), build


@overload(store_codes, jit_options={"forceinline": True})
def _overload_store_codes(values, at, first, second):
    if isinstance(first, Mask):
        return lambda values, at, first, second: _store_codes(values, at, first, second)


# Loops instead of slices: numba compiles a slice's checks, with their messages, into every kernel.
@njit(nogil=True)
def fill(values, begin, end, value):
    """values[begin:end] = value."""
    for k in range(begin, end):
        values[k] = value


@njit(nogil=True)
def copy(source, begin, end, target, at):
    """target[at:] = source[begin:end], as far as that goes."""
    for k in range(end - begin):
        target[at + k] = source[begin + k]


def bits(mask):
    """The outcomes of 64 comparisons as a word, the first in its lowest bit."""
    return np.packbits(mask, bitorder="little").view(np.uint64)[0]


@intrinsic
def _as_word(typing, mask):
    return types.uint64(mask), lambda context, builder, sig, args: builder.bitcast(args[0], _I64)


@overload(bits, jit_options={"forceinline": True})
def _overload_bits(mask):
    if isinstance(mask, Mask) and mask.lanes == 64:
        return lambda mask: _as_word(mask)


def some(mask):
    """Whether the condition holds in some lane."""
    return bool(np.any(mask))


@intrinsic
def _some(typing, mask):
    def build(context, builder, sig, args):
        word = ir.IntType(sig.args[0].lanes)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], word), ir.Constant(word, 0))

    return types.boolean(mask), build


@overload(some, jit_options={"forceinline": True})
def _overload_some(mask):
    if isinstance(mask, Mask):
        return lambda mask: _some(mask)


@njit(nogil=True)
def _get(values, at):
    return values[at]


@njit(nogil=True)
def _float(value):
    return float(value)


def makers(lanes, fused):
    """The functions that make vectors of so many lanes: `load`, `splat` and `load_dealt`.

    ``load(values, at)`` takes neighbouring values of a one-dimensional array, ``splat(value)`` one value for all lanes;
    of one lane these are floats. ``load_dealt(values, places)`` takes those of each register from a place of its own.
    """
    if lanes == 1:
        return _get, _float, None
    vector = Vector(lanes, fused)

    def load(values, at):
        _check_room(values, at, lanes)
        return values[at : at + lanes].copy()

    def splat(value):
        return np.full(lanes, float(value))

    def load_dealt(values, at):
        size = lanes // REGISTERS
        for place in at:
            _check_room(values, place, size)
        return np.concatenate([values[place : place + size] for place in at])

    @intrinsic
    def _load(typing, values, at):
        def build(context, builder, sig, args):
            array = context.make_array(sig.args[0])(context, builder, args[0])
            place = builder.gep(array.data, [context.cast(builder, args[1], sig.args[1], types.intp)])
            return builder.load(builder.bitcast(place, ir.VectorType(_F64, lanes).as_pointer()), align=8)

        return vector(values, at), build

    @intrinsic
    def _fill(typing, value):
        def build(context, builder, sig, args):
            return _as_vector(context, builder, args[0], sig.args[0], vector)

        return vector(value), build

    @intrinsic
    def _load_dealt(typing, values, at):
        size = lanes // REGISTERS

        def build(context, builder, sig, args):
            array, parts, count = context.make_array(sig.args[0])(context, builder, args[0]), [], size
            for k in range(REGISTERS):
                place = builder.gep(array.data, [builder.extract_value(args[1], k)])
                parts.append(builder.load(builder.bitcast(place, ir.VectorType(_F64, size).as_pointer()), align=8))
            while len(parts) > 1:
                count *= 2
                order = ir.Constant(ir.VectorType(_I32, count), list(range(count)))
                parts = [builder.shuffle_vector(a, b, order) for a, b in zip(parts[::2], parts[1::2], strict=True)]
            return parts[0]

        return vector(values, at), build

    overload(load, jit_options={"forceinline": True})(lambda values, at: lambda values, at: _load(values, at))
    overload(splat, jit_options={"forceinline": True})(lambda value: lambda value: _fill(value))
    overload(load_dealt, jit_options={"forceinline": True})(
        lambda values, at: lambda values, at: _load_dealt(values, at)
    )
    return load, splat, load_dealt
