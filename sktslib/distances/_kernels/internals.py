"""Uses of numba's private names: kernels linked into kernels, and compiled kernels that are stored and loaded.

No other file uses private names, except `numba.core.cgutils` and the class `Dispatcher`, which numba's documentation
names. If a version of numba lacks any of them, `compile` works without this file: results are correct, but each process
compiles all kernels, and more slowly.
"""

from functools import cache, partial

from llvmlite import binding
from numba import _dynfunc, njit
from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.environment import lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering
from numba.core.types import BaseNamedTuple, unliteral

from . import cache as store


# ---------------------------------------------------------------------------------------------------------- compiling
class _LinkedLibrary(JITCodeLibrary):
    """The code of a function that only kernels call, linked into them without optimization.

    numba would optimize the function and generate machine code for it, and then do so again within the kernel.
    """

    def finalize(self):
        """Link the functions that this one calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # not in numba 0.60
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Announce(LoweringPass):
    """Compiler pass that registers a function, without machine code of its own, so that kernels can link it."""

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


class _LinkedCompiler(Compiler):
    """numba's compiler for functions that only kernels call."""

    def __init__(self, typing_context, target_context, library, args, return_type, flags, locals):
        library = library or _LinkedLibrary(target_context.codegen(), "linked")
        flags.no_compile = True
        super().__init__(typing_context, target_context, library, args, return_type, flags, locals)

    def define_pipelines(self):
        builder = DefaultPassBuilder.define_nopython_pipeline(self.state)
        builder.add_pass_after(_Announce, NativeLowering)
        builder.finalize()
        return [builder]


# Options of functions that only kernels call.
INNER = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _LinkedCompiler}


def inner(function, options):
    """Return the compiled form of a function that only kernels call."""
    made = njit(**INNER, **options)(function)
    made.get_call_template = partial(_template_of_types, made.get_call_template)
    return made


def _template_of_types(get_call_template, args, keywords):
    return get_call_template(tuple(unliteral(a) for a in args), {name: unliteral(a) for name, a in keywords.items()})


def kernel(function, keep, options):
    """Return the compiled form of a function that Python calls; kernels call it as an inner function."""
    made = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if keep:
        made._cache = KernelCache(function)
    within = cache(partial(inner, function, options))
    made.get_call_template = lambda args, keywords: within().get_call_template(args, keywords)
    made.get_overload = lambda signature: within().get_overload(signature)
    made.compile = partial(_compile, made.compile, made)
    return made


def _compile(compile_, kernel, signature):
    with global_compiler_lock:
        entry = compile_(signature)
        _set_environments(kernel.overloads[tuple(sigutils.normalize_signature(signature)[0])].library)
    return entry


def _set_environments(library):
    """Set the runtime environment of the functions that were linked into a kernel."""
    for variable in library._final_module.global_variables:
        environment = lookup_environment(variable.name)
        if environment is not None:
            library.codegen.set_env(variable.name, environment)


# ------------------------------------------------------------------------------------------------------------ keeping
class KernelCache:
    """The cache of one kernel on disk, with the interface that numba's dispatcher expects."""

    def __init__(self, function):
        self._name = f"{function.__module__}.{function.__qualname__}"

    @property
    def cache_path(self):
        """The first writable folder, which numba shows in its statistics."""
        return str(store.folders()[0])

    def flush(self):
        """Do nothing: numba calls this before it compiles again, which overwrites the files."""

    def _key(self, signature, target_context):
        """Return the key of a compiled form: its name and argument types, then name and features of the processor."""
        owner = self._name, tuple(sigutils.normalize_signature(signature)[0])
        return owner, target_context.codegen().magic_tuple()[1:]

    def load_overload(self, signature, target_context):
        """Return the compiled form for a signature, or None."""
        if not all(map(_is_known, signature)):
            return None
        # Enough to run a kernel; numba would also load everything that it needs to compile one.
        rtsys.initialize(target_context)
        return store.load(*self._key(signature, target_context), partial(_rebuild, target_context))

    def save_overload(self, signature, result):
        """Store a compiled form if its code is valid in other processes."""
        if not (result.library.has_dynamic_globals or result.lifted) and all(map(_is_known, result.signature.args)):
            store.save(*self._key(signature, result.target_context), lambda owner: dumps((owner, _reduce(result))))


def _is_known(given):
    """Return whether a type means the same in all processes; a record that a user defines may change its functions."""
    if isinstance(given, BaseNamedTuple) and not given.instance_class.__module__.startswith("sktslib."):
        return False
    return all(map(_is_known, getattr(given, "types", ())))


def _reduce(result):
    """Return the parts of a compiled kernel to pickle, without the bitcode that only compiling other kernels needs."""
    (name, kind, (code, _)), *rest, _, reload_init, environments = result._reduce()
    return (name, kind, code), rest, reload_init, environments


def _rebuild(target_context, reduced):
    """Return the compiled kernel from the parts that `_reduce` returned."""
    (name, kind, code), rest, reload_init, environments = reduced
    target_context.codegen()._engine._defined_symbols.add(rest[0].llvm_cpython_wrapper_name)
    library = name, kind, (code, _no_bitcode())
    return CompileResult._rebuild(target_context, library, *rest, "", reload_init, environments)


@cache
def _no_bitcode():
    return binding.parse_assembly("").as_bitcode()
