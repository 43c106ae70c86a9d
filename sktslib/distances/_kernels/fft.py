"""Fourier transforms within kernels, for convolutions only: frequencies stay in the order in which they arise.

A transform of N = R C samples has three steps: transform the columns of a matrix (R, C), multiply each entry by its
twiddle factor, and transform the columns of the transpose. REGISTER columns are transformed at once, so neither
transform needs strided access. The inverse transform reads the unordered frequencies as they are. Real and imaginary
parts are the two rows of an array.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from .compile import inner, kernel, step
from .simd import REGISTER, aligned, makers, store

load, _, _ = makers(REGISTER, fused=True)


class Turns(NamedTuple):
    """The roots of unity for transforms of one size, as rows of cosines and sines."""

    rows: np.ndarray  # (2, R): exp(-2 pi i k / R)
    columns: np.ndarray  # (2, C)
    between: np.ndarray  # (2, N): twiddle factors between the two transforms, by row and column


def _roots(count, size):
    half = size // 2
    angle = -2.0 * np.pi * ((count + half) % size - half) / size  # small angles keep their digits
    return np.array([np.cos(angle), np.sin(angle)])


def _order(size):
    """Return the frequency that each row holds after a transform along columns."""
    if size < 4:
        return np.arange(size)
    return np.concatenate([4 * _order(size // 4) + k for k in range(4)])


@cache
def turns(size):
    """Return the roots of unity for transforms of a size, which is a power of two and at least 16."""
    rows = 2 ** ((int(size).bit_length() - 1) // 2)
    columns = size // rows
    between = aligned(2, size)
    between[:] = _roots((_order(rows)[:, np.newaxis] * np.arange(columns)).ravel(), size)
    return Turns(_roots(np.arange(rows), rows), _roots(np.arange(columns), columns), between)


def room_of(roots):
    """Return the shape of the buffer for REGISTER columns, which are transformed at once."""
    return 2, max(roots.rows.shape[1], roots.columns.shape[1]) * REGISTER


@step
def _turns_of(roots, k):
    """Return cosine and sine of the roots k, 2 k and 3 k, the twiddle factors of the second to fourth of four rows."""
    return roots[0, k], roots[1, k], roots[0, 2 * k], roots[1, 2 * k], roots[0, 3 * k], roots[1, 3 * k]


@inner
def _forth(re, im, roots):
    """Transform REGISTER columns in place by radix-4 steps; the frequencies are left unordered."""
    rows = roots.shape[1]
    span = rows
    while span >= 4:
        part, turn = span // 4 * REGISTER, rows // span
        for j in range(span // 4):
            c1, s1, c2, s2, c3, s3 = _turns_of(roots, j * turn)
            for begin in range(j * REGISTER, rows * REGISTER, span * REGISTER):
                second, third, last = begin + part, begin + 2 * part, begin + 3 * part
                a, b, c, d = load(re, begin), load(re, second), load(re, third), load(re, last)
                e, f, g, h = load(im, begin), load(im, second), load(im, third), load(im, last)
                p, q, r, s = a + c, a - c, b + d, b - d
                t, u, v, w = e + g, e - g, f + h, f - h
                store(re, begin, p + r)
                store(im, begin, t + v)
                x, y = q + w, u - s
                store(re, second, x * c1 - y * s1)
                store(im, second, x * s1 + y * c1)
                x, y = p - r, t - v
                store(re, third, x * c2 - y * s2)
                store(im, third, x * s2 + y * c2)
                x, y = q - w, u + s
                store(re, last, x * c3 - y * s3)
                store(im, last, x * s3 + y * c3)
        span //= 4
    if span == 2:
        _pairs(re, im, rows)


@inner
def _pairs(re, im, rows):
    """Replace pairs of neighboring rows by sum and difference: a radix-2 step for sizes that are not powers of four."""
    for begin in range(0, rows * REGISTER, 2 * REGISTER):
        second = begin + REGISTER
        a, b, c, d = load(re, begin), load(re, second), load(im, begin), load(im, second)
        store(re, begin, a + b)
        store(re, second, a - b)
        store(im, begin, c + d)
        store(im, second, c - d)


@inner
def _back(re, im, roots):
    """Invert `_forth` in place; the result is multiplied by the number of rows."""
    rows = roots.shape[1]
    span = 1
    while span < rows:
        span *= 4
    if span != rows:
        _pairs(re, im, rows)
    span = 4 if span == rows else 8
    while span <= rows:
        part, turn = span // 4 * REGISTER, rows // span
        for j in range(span // 4):
            c1, s1, c2, s2, c3, s3 = _turns_of(roots, j * turn)
            for begin in range(j * REGISTER, rows * REGISTER, span * REGISTER):
                second, third, last = begin + part, begin + 2 * part, begin + 3 * part
                a, e = load(re, begin), load(im, begin)
                x, y = load(re, second), load(im, second)
                b, f = x * c1 + y * s1, y * c1 - x * s1
                x, y = load(re, third), load(im, third)
                c, g = x * c2 + y * s2, y * c2 - x * s2
                x, y = load(re, last), load(im, last)
                d, h = x * c3 + y * s3, y * c3 - x * s3
                p, q, r, s = a + c, a - c, b + d, b - d
                t, u, v, w = e + g, e - g, f + h, f - h
                store(re, begin, p + r)
                store(im, begin, t + v)
                store(re, third, p - r)
                store(im, third, t - v)
                store(re, second, q - w)
                store(im, second, u + s)
                store(re, last, q + w)
                store(im, last, u - s)
        span *= 4


@inner
def _load_columns(wave, at, columns, re, im):
    """Copy REGISTER columns of a matrix, from column `at` on, into contiguous buffers."""
    for row in range(re.shape[0] // REGISTER):
        store(re, row * REGISTER, load(wave[0], row * columns + at))
        store(im, row * REGISTER, load(wave[1], row * columns + at))


@inner
def _store_columns(re, im, wave, at, columns):
    """Copy REGISTER columns from the buffers back into the matrix, from column `at` on."""
    for row in range(re.shape[0] // REGISTER):
        store(wave[0], row * columns + at, load(re, row * REGISTER))
        store(wave[1], row * columns + at, load(im, row * REGISTER))


@inner
def _store_transposed(re, im, wave, at):
    """Copy REGISTER columns from the buffers into the transpose of the matrix, as rows from `at` on."""
    rows = re.shape[0] // REGISTER
    for lane in range(REGISTER):
        here = slice((at + lane) * rows, (at + lane + 1) * rows)
        to_re, to_im = wave[0, here], wave[1, here]
        for row in range(rows):
            to_re[row], to_im[row] = re[row * REGISTER + lane], im[row * REGISTER + lane]


@inner
def _turn(re, im, between, at, columns, sign):
    """Multiply each entry of REGISTER columns by its twiddle factor, or by the conjugate (`sign` -1)."""
    for row in range(re.shape[0] // REGISTER):
        here, there = row * REGISTER, row * columns + at
        x, y, c, s = load(re, here), load(im, here), load(between[0], there), load(between[1], there) * sign
        store(re, here, x * c - y * s)
        store(im, here, y * c + x * s)


@kernel
def forward(wave, out, roots, room):
    """Fill `out` with the unordered Fourier transform of a complex signal, real and imaginary part (2, N)."""
    of_rows, of_columns, between = roots
    rows, columns = of_rows.shape[1], of_columns.shape[1]
    re, im = room[0, : rows * REGISTER], room[1, : rows * REGISTER]
    for at in range(0, columns, REGISTER):
        _load_columns(wave, at, columns, re, im)
        _forth(re, im, of_rows)
        _turn(re, im, between, at, columns, 1.0)
        _store_transposed(re, im, out, at)
    re, im = room[0, : columns * REGISTER], room[1, : columns * REGISTER]
    for at in range(0, rows, REGISTER):
        _load_columns(out, at, rows, re, im)
        _forth(re, im, of_columns)
        _store_columns(re, im, out, at, rows)


@inner
def backward(transform, other, out, roots, room):
    """Fill `out` with N times the cross-correlation whose transform is `transform` times the conjugate of `other`."""
    of_rows, of_columns, between = roots
    rows, columns = of_rows.shape[1], of_columns.shape[1]
    re, im = room[0, : columns * REGISTER], room[1, : columns * REGISTER]
    for at in range(0, rows, REGISTER):
        for row in range(columns):
            here, there = row * REGISTER, row * rows + at
            x, y, c, s = (
                load(transform[0], there),
                load(transform[1], there),
                load(other[0], there),
                load(other[1], there),
            )
            store(re, here, x * c + y * s)
            store(im, here, y * c - x * s)
        _back(re, im, of_columns)
        _store_transposed(re, im, out, at)
    re, im = room[0, : rows * REGISTER], room[1, : rows * REGISTER]
    for at in range(0, columns, REGISTER):
        _load_columns(out, at, columns, re, im)
        _turn(re, im, between, at, columns, -1.0)
        _back(re, im, of_rows)
        _store_columns(re, im, out, at, columns)
