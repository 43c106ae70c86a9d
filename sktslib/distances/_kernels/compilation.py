"""How kernels are compiled, kept and called: long ones in pieces, so that an interrupt is heard."""

import os
import signal
import threading
from contextlib import contextmanager
from functools import partial
from time import perf_counter

from numba import njit
from numba.core.dispatcher import Dispatcher

from .cache import KernelCache

SMALL = os.environ.get("SKTSLIB_BLOCKS") == "small"


def block_size(usual, small):
    """A size that decides how work is cut and no result; tests set all to the small one, and cross all borders."""
    return small if SMALL else usual


# For functions that only kernels call: without what Python would need to call them they take less time to compile.
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def kernel(function=None, *, keep=True, **options):
    """Compile a function that Python calls at its first call, without the GIL, and keep it on disk (decorator).

    Parameters
    ----------
    keep : bool, default=True
        Whether to keep what is compiled: not where a caller's function is compiled into it.
    **options
        Those of `numba.njit`, such as `fastmath`.

    Notes
    -----
    A kernel returns numbers or nothing, and fills arrays that it is given: numba makes returned arrays in Python code,
    in which an interrupt ends as a SystemError.
    """
    if function is None:
        return partial(kernel, keep=keep, **options)
    made = njit(nogil=True, **options)(function)
    if isinstance(made, Dispatcher):  # else the compiler is switched off
        if keep:
            made._cache = KernelCache(function)
        made.compile = partial(_compile_whole, made.compile)
    return made


def _compile_whole(compile_, signature):
    with interrupts_held():
        return compile_(signature)


@contextmanager
def interrupts_held():
    """Let an interrupt (Ctrl-C) wait until the block has ended: a compiler stopped halfway is left in pieces."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # Python handles signals in the main thread only
        return
    held = []
    signal.signal(signal.SIGINT, lambda *args: held.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if held:
            handler(*held[0])


# ------------------------------------------------------------------------------------------------------------- pieces
# Between two pieces of a long call Python looks whether it was interrupted. No result depends on where the cuts are.
CELLS = block_size(2**22, 300)  # of the first piece: a millisecond or a few
SECONDS = 0.03  # that a piece should take


def budgets():
    """How many cells to compute before the next look, without end: more while that is fast."""
    size = CELLS
    while True:
        started = perf_counter()
        yield size
        took = perf_counter() - started
        size = max(1, size // 2) if took > 2 * SECONDS else size * 2 if took < SECONDS / 2 else size


def pieces(count, cells):
    """Half-open ranges that make up range(count), of items with so many cells each."""
    return ((0, count),) if count * cells <= CELLS else _cut(count, cells)


def _cut(count, cells):
    begin = 0
    for budget in budgets():
        end = min(begin + max(1, int(budget // cells)), count)
        yield begin, end
        if end == count:
            return
        begin = end
