"""Compiling, keeping and calling of kernels; long calls are cut into pieces, so that an interrupt is noticed."""

import gc
import logging
import os
import signal
import threading
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from time import perf_counter

from numba import config, njit

logger = logging.getLogger("sktslib")
SMALL = os.environ.get("SKTSLIB_BLOCKS") == "small"
try:
    from . import internals
except (ImportError, AttributeError) as problem:
    internals = None
    logger.warning("This numba is unknown: kernels compile more slowly and are not kept on disk. %s", problem)


def block_size(usual, small):
    """Return a size that decides how work is cut, and no result.

    Tests set all sizes to the small one, and cross all borders.
    """
    return small if SMALL else usual


# ---------------------------------------------------------------------------------------------------------- compiling
INNER = internals.INNER if internals else {"nogil": True}  # options of functions that only kernels call


def inner(function=None, **options):
    """Compile a function that only kernels call (decorator); once for all numbers that are written in a call."""
    if function is None:
        return partial(inner, **options)
    if internals is None or config.DISABLE_JIT:
        return njit(**INNER, **options)(function)
    return internals.inner(function, options)


# For what a hot loop does at each step: a call would cost more, and the compiler decides for calls where there is much.
step = partial(inner, forceinline=True)


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
    if internals is None or config.DISABLE_JIT:
        return njit(nogil=True, **options)(function)
    made = internals.kernel(function, keep, options)
    made.compile = partial(_compile, made.compile)
    return made


def _compile(compile_, signature):
    """Compile a kernel, or load it."""
    with interrupts_held(), _no_garbage_collection():
        return compile_(signature)


@contextmanager
def _no_garbage_collection():
    """Switch garbage collection off within a block.

    A compiler makes many objects and little garbage; looking for it takes a tenth of its time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


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
MOST = 2**50  # cells of a piece; pieces that end sooner than they may would double without end


def stop_if_unwanted():
    """Leave a call of a thread for whose result nobody waits any longer; `utils._jobs` tells its threads."""
    if any(event.is_set() for event in getattr(threading.current_thread(), "unwanted", ())):
        raise CancelledError


def budgets():
    """Yield without end the number of cells to compute before the next check for an interrupt; it grows while fast."""
    size = CELLS
    while True:
        stop_if_unwanted()
        started = perf_counter()
        yield size
        took = perf_counter() - started
        size = max(1, size // 2) if took > 2 * SECONDS else min(2 * size, MOST) if took < SECONDS / 2 else size


def pieces(count, cells):
    """Return half-open ranges that make up range(count), whose items have `cells` cells each."""
    stop_if_unwanted()
    return ((0, count),) if count * cells <= CELLS else _cut(count, cells)


def _cut(count, cells):
    begin = 0
    for budget in budgets():
        end = min(begin + max(1, int(budget // cells)), count)
        yield begin, end
        if end == count:
            return
        begin = end
