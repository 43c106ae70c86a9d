"""Compile kernels, store them, and call them; long calls are cut into pieces, so that Ctrl-C is noticed."""

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
    """Return a block size, on which no result depends: the usual one, or the small one in some tests.

    With small blocks, short series cross all block borders.
    """
    return small if SMALL else usual


# ---------------------------------------------------------------------------------------------------------- compiling
INNER = internals.INNER if internals else {"nogil": True}  # options of functions that only kernels call


def inner(function=None, **options):
    """Compile a function that only kernels call (decorator); literal arguments do not cause another compilation."""
    if function is None:
        return partial(inner, **options)
    if internals is None or config.DISABLE_JIT:
        return njit(**INNER, **options)(function)
    return internals.inner(function, options)


# For functions that a hot loop calls at each step: LLVM would not inline them into large functions.
step = partial(inner, forceinline=True)


def kernel(function=None, *, keep=True, **options):
    """Compile a function that Python calls, at its first call, without the GIL, and store it on disk (decorator).

    Parameters
    ----------
    keep : bool, default=True
        Whether to store the compiled kernel. Set it to False if a function of the user is compiled into it.
    **options
        Options of `numba.njit`, such as `fastmath`.

    Notes
    -----
    A kernel returns numbers or nothing, and fills arrays that it is given. numba creates returned arrays in Python
    code, where an interrupt raises a SystemError.
    """
    if function is None:
        return partial(kernel, keep=keep, **options)
    if internals is None or config.DISABLE_JIT:
        return njit(nogil=True, **options)(function)
    made = internals.kernel(function, keep, options)
    made.compile = partial(_compile, made.compile)
    return made


def _compile(compile_, signature):
    """Load a kernel, or compile it if it is not stored."""
    with interrupts_held(), _no_garbage_collection():
        return compile_(signature)


@contextmanager
def _no_garbage_collection():
    """Disable garbage collection within a block.

    The compiler creates many objects and little garbage; garbage collection takes a tenth of its time.
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
    """Delay an interrupt (Ctrl-C) until the end of the block: a compiler stopped halfway is left inconsistent."""
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
# Between two pieces of a long call Python handles interrupts. No result depends on the borders of the pieces.
CELLS = block_size(2**22, 300)  # cells of the first piece, which takes a few milliseconds
SECONDS = 0.03  # time that a piece should take
MOST = 2**50  # most cells of a piece; budgets that are never used up would double without limit


def stop_if_unwanted():
    """Raise CancelledError if the result of this thread is no longer needed; `utils._jobs` sets the event."""
    if any(event.is_set() for event in getattr(threading.current_thread(), "unwanted", ())):
        raise CancelledError


def budgets():
    """Yield, without end, the number of cells to compute before the next check for interrupts.

    The number follows the time that the last piece took.
    """
    size = CELLS
    while True:
        stop_if_unwanted()
        started = perf_counter()
        yield size
        took = perf_counter() - started
        size = max(1, size // 2) if took > 2 * SECONDS else min(2 * size, MOST) if took < SECONDS / 2 else size


def pieces(count, cells):
    """Return half-open ranges that partition range(count), for items of `cells` cells each."""
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
