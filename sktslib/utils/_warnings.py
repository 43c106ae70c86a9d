"""Warnings that point at the caller's own line, wherever in the package, in scikit-learn or in a thread they arise."""

import sys
import threading
import warnings

# Packages between a caller and what is warned of, and what the frames of a thread belong to.
BETWEEN = {"concurrent", "joblib", "multiprocessing", "sklearn", "sktslib", "threading"}


def warn(message, category=UserWarning):
    """Warn, at the innermost line that is not between the caller and the package."""
    # A thread knows nothing of who started it; the main thread waits within the caller's line.
    waiting = sys._current_frames().get(threading.main_thread().ident)
    frame = _caller(sys._getframe(1)) or _caller(waiting)
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    known = frame.f_globals
    registry = known.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, known["__name__"], registry)


def _caller(frame):
    """The innermost frame of the caller's own code; None where there is none."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return frame
