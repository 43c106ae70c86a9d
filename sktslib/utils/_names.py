"""Suggestions of the valid name that a wrong one probably means, and warnings that point at the caller's own line.

Warnings find that line wherever in the package, in scikit-learn or in a thread they arise.
"""

import difflib
import sys
import threading
import warnings

# What other packages and papers call it; of use where the name on the right is a valid one.
MEANT = {
    "chessboard": "chebyshev",
    "ed": "euclidean",
    "fastdtw": "dtw",
    "l1": "manhattan",
    "l2": "euclidean",
    "linf": "chebyshev",
    "lp": "minkowski",
    "max": "chebyshev",
    "sed": "sqeuclidean",
    "standard": "zscore",
    "standardise": "zscore",
    "standardize": "zscore",
    "taxicab": "manhattan",
    "z": "zscore",
    "znorm": "zscore",
}
NOTHING = {"", "false", "no", "none", "null", "off"}


def nearest(given, valid):
    """Return the name among the valid ones that a wrong one is most like; None where none is alike.

    `valid` is a list of names, or a dictionary whose values are told in place of its keys.
    """
    if not isinstance(given, str):
        return None
    # Capital letters alone must not hide the nearest name.
    told = {str(name).lower(): valid[name] if isinstance(valid, dict) else str(name) for name in valid}
    meant = MEANT.get(given.lower().replace("-", "").replace("_", "").replace(" ", ""))
    near = [meant] if meant in told else difflib.get_close_matches(given.lower(), told, n=1, cutoff=0.5)
    return told[near[0]] if near else None


def did_you_mean(given, valid):
    """Return a sentence for the end of a message; empty where no valid name is alike."""
    near = nearest(given, valid)
    return "" if near is None else f" Did you mean {near!r}?"


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
    """Return the innermost frame of the caller's own code; None without one."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return frame


def names_of(series):
    """Return the names of the channels, all texts: the columns of a table, or the name of one of them; None without."""
    names = list(getattr(series, "columns", ())) or list(getattr(series, "channel_names", None) or ())
    if not names and hasattr(series, "index") and hasattr(series, "name"):
        names = [series.name]
    return names if names and all(isinstance(name, str) for name in names) else None
