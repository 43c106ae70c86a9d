"""Suggestions of the valid name that a wrong one probably means, and warnings that point at the caller's own line.

Warnings find this line even if they arise in the package, in scikit-learn or in a thread.
"""

import difflib
import sys
import threading
import warnings

# Names in other packages and papers -> names here; suggested only if the name on the right is valid.
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
    """Return the valid name most similar to a wrong one; None if no name is similar.

    `valid` is a list of names, or a dictionary from names to what is suggested for them.
    """
    if not isinstance(given, str):
        return None
    # Compare in lower case, so that case does not hide the nearest name.
    told = {str(name).lower(): valid[name] if isinstance(valid, dict) else str(name) for name in valid}
    meant = MEANT.get(given.lower().replace("-", "").replace("_", "").replace(" ", ""))
    near = [meant] if meant in told else difflib.get_close_matches(given.lower(), told, n=1, cutoff=0.5)
    return told[near[0]] if near else None


def did_you_mean(given, valid):
    """Return a sentence that suggests a name, for the end of a message; empty if no valid name is similar."""
    near = nearest(given, valid)
    return "" if near is None else f" Did you mean {near!r}?"


# Packages whose frames are between the caller and a warning, including those of threads.
BETWEEN = {"concurrent", "joblib", "multiprocessing", "sklearn", "sktslib", "threading"}


def warn(message, category=UserWarning):
    """Warn, with the caller's innermost line as the location."""
    # In a thread, use the main thread, which waits within the caller's line.
    waiting = sys._current_frames().get(threading.main_thread().ident)
    frame = _caller(sys._getframe(1)) or _caller(waiting)
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    known = frame.f_globals
    registry = known.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, known["__name__"], registry)


def _caller(frame):
    """Return the innermost frame of the caller's own code, or None."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return frame


def names_of(series):
    """Return the names of the channels (columns of a table, or name of a single one) if all are texts, else None."""
    names = list(getattr(series, "columns", ())) or list(getattr(series, "channel_names", None) or ())
    if not names and hasattr(series, "index") and hasattr(series, "name"):
        names = [series.name]
    return names if names and all(isinstance(name, str) for name in names) else None
