"""Parameter records of users' recurrences: the types under which numba keeps what it compiles for them.

numba's disk cache compares types and not the functions behind them, and it keeps types by their module and name. So a
record that compiled code sees is never the user's own class: its name holds a hash of the user's functions, so that an
edited recurrence is another type, and it lives here, so that the cache of kernels can be read in programs which know
nothing of the user's module.
"""

import hashlib
import pickle
from collections import namedtuple
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from uuid import uuid4

import numpy as np
from numba.core.dispatcher import Dispatcher

_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), np.generic)
_FOREIGN = ("builtins", "math", "numba", "numpy", "sktslib")  # versioned elsewhere


def __getattr__(name):
    """Make the record of a name that the cache holds from another program."""
    if not name.startswith("Record_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    fields = [bytes.fromhex(part).decode() for part in name.split("_")[2:]]
    record = namedtuple(name, fields, module=__name__)
    return globals().setdefault(name, record)


def owned(version, fields):
    """The record for fields under a version of their functions, the same class each time."""
    name = "_".join(["Record", version, *(field.encode().hex() for field in fields)])
    return globals().get(name) or __getattr__(name)


def fingerprint(*values):
    """Hash of functions and of all they refer to: code, constants, defaults, closures, helpers, global values.

    What cannot be looked into counts as new in every process, so that nothing compiled is kept for it.
    """
    digest, seen = hashlib.sha256(), set()
    for value in values:
        _feed(value, digest, seen)
    return digest.hexdigest()[:24]


def _feed(value, digest, seen):
    if isinstance(value, Dispatcher):
        value = value.py_func
    if isinstance(value, _PLAIN):
        digest.update(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, tuple | list):
        digest.update(f"{type(value).__name__} {len(value)};".encode())
        for part in value:
            _feed(part, digest, seen)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype} {value.shape};".encode())
        digest.update(value.tobytes())
    elif isinstance(value, FunctionType):
        digest.update(f"{value.__module__}.{value.__qualname__};".encode())
        if value not in seen:
            seen.add(value)
            _feed_function(value, digest, seen)
    elif isinstance(value, type | BuiltinFunctionType | np.ufunc | ModuleType):
        digest.update(f"{getattr(value, '__module__', '')}.{value.__name__};".encode())
    else:
        try:
            digest.update(pickle.dumps(value))
        except Exception:  # whatever refuses to be pickled
            digest.update(uuid4().bytes)


def _feed_function(function, digest, seen):
    names = _feed_code(function.__code__, digest, seen)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    _feed((function.__defaults__, sorted((function.__kwdefaults__ or {}).items()), *cells), digest, seen)
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            _feed(value, digest, seen)
            if isinstance(value, ModuleType) and value.__name__.split(".")[0] not in _FOREIGN:
                for attribute in names:
                    if hasattr(value, attribute):
                        _feed(getattr(value, attribute), digest, seen)


def _feed_code(code, digest, seen):
    """Feed a code object and those within it; returns the names that they look up."""
    digest.update(code.co_code)
    names = set(code.co_names)
    _feed(code.co_names, digest, seen)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= set(_feed_code(constant, digest, seen))
        elif isinstance(constant, frozenset):
            _feed(sorted(constant, key=repr), digest, seen)
        else:
            _feed(constant, digest, seen)
    return sorted(names)
