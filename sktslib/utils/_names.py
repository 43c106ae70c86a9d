"""The valid name that a wrong one probably means."""

import difflib

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
    """The name among the valid ones that a wrong one is most like; None where none is alike.

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
    """A sentence for the end of a message; empty where no valid name is alike."""
    near = nearest(given, valid)
    return "" if near is None else f" Did you mean {near!r}?"
