"""How kernels are compiled: what is called by kernels alone, and what the disk cache has to know of the others."""

import hashlib
from pathlib import Path

from numba import njit

# Nearly every kernel takes functions from these; they are read once.
COMMON = b"".join(
    Path(__file__).with_name(f"{name}.py").read_bytes()
    for name in ("_compiled", "_elastic", "_recurrence", "_recurrences", "_vector", "_vector_memory")
)

# For functions that only kernels call: without what Python would need to call them they take less time to compile.
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def version_of(*modules):
    """The version of kernels that take functions from other files: a number, not 0, made of those files.

    numba's disk cache looks at a kernel's own file alone, but what its closure holds is a part of the cache's key. The
    common files are always among them.
    """
    sources = [COMMON, *(Path(module.__file__).read_bytes() for module in modules)]
    return int(hashlib.sha256(b"".join(sources)).hexdigest()[:15], 16) | 1
