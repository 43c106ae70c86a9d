"""How kernels are compiled: what is called by kernels alone, and what the disk cache has to know of the others."""

import hashlib
from pathlib import Path

from numba import njit

# Nearly every kernel takes functions from these.
COMMON = ("_compiled.py", "_elastic.py", "_recurrence.py", "_recurrences.py", "_vector.py", "_vector_memory.py")

# For functions that only kernels call: without what Python would need to call them they take less time to compile.
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def version_of(*modules):
    """The version of kernels that take functions from other files: a number, not 0, made of those files.

    numba's disk cache looks at a kernel's own file alone, but what its closure holds is a part of the cache's key. The
    common files are always among them.
    """
    files = *(Path(__file__).with_name(name) for name in COMMON), *(Path(module.__file__) for module in modules)
    return int(hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:15], 16) | 1
