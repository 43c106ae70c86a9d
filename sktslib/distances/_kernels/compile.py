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

from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.environment import lookup_environment
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function, Type, unliteral

from .cache import KernelCache

logger = logging.getLogger("sktslib")
SMALL = os.environ.get("SKTSLIB_BLOCKS") == "small"


def block_size(usual, small):
    """Return a size that decides how work is cut, and no result.

    Tests set all sizes to the small one, and cross all borders.
    """
    return small if SMALL else usual


# ---------------------------------------------------------------------------------------------------------- compiling
class _LinkedLibrary(JITCodeLibrary):
    """The code of a function that only kernels call.

    It is linked into them as it is: numba would optimize it and make machine code of it, and the kernel with it again.
    """

    def finalize(self):
        """Link what the function calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # not in numba 0.60
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Announce(LoweringPass):
    """Tell the compiler of a function that has no machine code."""

    _name = "sktslib_announce"

    def __init__(self):
        LoweringPass.__init__(self)

    def run_pass(self, state):
        library, function, environment = state.library, state.cr.fndesc, state.cr.env
        library.finalize()
        none = _dynfunc.make_function(function.lookup_module(), function.qualname, "", 0, environment, (library,))
        state.targetctx.insert_user_function(none, function, [library])
        if hasattr(library, "_reload_init"):
            state.reload_init.extend(library._reload_init)
        state["cr"] = state.cr._replace(cfunc=none)
        return True


class _QuickFlags(Flags):
    """Options of the compiler, compared as they were set.

    numba compares all it knows with their defaults, a few times for each operator of a kernel.
    """

    __slots__ = ()

    def __hash__(self):
        return hash(frozenset(self._values))

    def __eq__(self, other):
        return self._values == other._values if isinstance(other, _QuickFlags) else super().__eq__(other)


class _KernelCompiler(Compiler):
    """numba's compiler for functions that Python calls."""

    def __init__(self, typing_context, target_context, library, args, return_type, flags, locals):
        super().__init__(typing_context, target_context, library, args, return_type, _QuickFlags(flags), locals)


class _LinkedCompiler(_KernelCompiler):
    """Compiler of numba for functions that only kernels call."""

    def __init__(self, typing_context, target_context, library, args, return_type, flags, locals):
        library = library or _LinkedLibrary(target_context.codegen(), "linked")
        flags.no_compile = True
        super().__init__(typing_context, target_context, library, args, return_type, flags, locals)

    def define_pipelines(self):
        builder = DefaultPassBuilder.define_nopython_pipeline(self.state)
        builder.add_pass_after(_Announce, NativeLowering)
        builder.finalize()
        return [builder]


# For functions that only kernels call.
INNER = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _LinkedCompiler}


def inner(function=None, **options):
    """Compile a function that only kernels call (decorator); once for all numbers that are written in a call."""
    if function is None:
        return partial(inner, **options)
    made = njit(**INNER, **options)(function)
    if isinstance(made, Dispatcher):  # else the compiler is switched off
        made.get_call_template = partial(_template_of_types, made.get_call_template)
    return made


def _template_of_types(get_call_template, args, keywords):
    return get_call_template(tuple(unliteral(a) for a in args), {name: unliteral(a) for name, a in keywords.items()})


# For what a hot loop does at each step: a call would cost more, and the compiler decides for calls where there is much.
step = partial(inner, forceinline=True)


def kernel(function=None, *, keep=True, linked=False, **options):
    """Compile a function that Python calls at its first call, without the GIL, and keep it on disk (decorator).

    Parameters
    ----------
    keep : bool, default=True
        Whether to keep what is compiled: not where a caller's function is compiled into it.
    linked : bool, default=False
        Whether kernels that call it take it as an `inner` function, which compiles faster and may run a little slower.
    **options
        Those of `numba.njit`, such as `fastmath`.

    Notes
    -----
    A kernel returns numbers or nothing, and fills arrays that it is given: numba makes returned arrays in Python code,
    in which an interrupt ends as a SystemError.
    """
    if function is None:
        return partial(kernel, keep=keep, linked=linked, **options)
    made = njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_KernelCompiler, **options)(function)
    if isinstance(made, Dispatcher):  # else the compiler is switched off
        if keep:
            made._cache = KernelCache(function)
        made.compile = partial(_compile_whole, made.compile, made)
        if linked:
            within = inner(function, **options)  # what kernels that call it compile
            made.get_call_template, made.get_overload = within.get_call_template, within.get_overload
    return made


SLOW = 2.0  # seconds of compiling that are worth a word
_seconds = [0.0]  # that this process has spent on it


def _compile_whole(compile_, kernel, signature):
    """Compile a kernel, or load it; once in a process a log record says where its time goes."""
    with interrupts_held(), global_compiler_lock, _no_garbage_collection(), _types_remembered(kernel.typingctx):
        began, compiled, before = perf_counter(), sum(kernel.stats.cache_misses.values()), _seconds[0]
        entry = compile_(signature)
        _set_environments(kernel.overloads[tuple(normalize_signature(signature)[0])].library)
        if sum(kernel.stats.cache_misses.values()) > compiled:
            _seconds[0] += perf_counter() - began
        if before <= SLOW < _seconds[0]:
            logger.info(
                "Compiling kernels for their first call takes more than %g seconds. They are kept on disk, so that "
                "later processes load them; sktslib.warmup compiles ahead.",
                SLOW,
            )
    return entry


def _set_environments(library):
    """Give functions that were only linked into a kernel what numba's runtime needs of them."""
    for variable in library._final_module.global_variables:
        environment = lookup_environment(variable.name)
        if environment is not None:
            library.codegen.set_env(variable.name, environment)


_signatures = {}  # of numba's functions, by the types they are called with and the compiler's options


@contextmanager
def _types_remembered(context):
    """Remember which of numba's functions take which types; it tries all again for each operator of a kernel."""
    if "resolve_function_type" in vars(context):
        yield
        return
    context.resolve_function_type = partial(_resolve, context, context.resolve_function_type)
    try:
        yield
    finally:
        del context.resolve_function_type


def _resolve(context, resolve, function, args, keywords):
    if not isinstance(function, Type):
        function = context._lookup_global(function) or function
    if type(function) is not Function or keywords:
        return resolve(function, args, keywords)
    key = id(function), tuple(args), ConfigStack.top_or_none()
    if key not in _signatures:
        signature = resolve(function, args, keywords)
        if signature is None or signature.args not in function._impl_keys:
            return signature
        _signatures[key] = signature, function._impl_keys[signature.args], function  # which keeps its id
    signature, implementation, _ = _signatures[key]
    function._impl_keys[signature.args] = implementation
    return signature


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
