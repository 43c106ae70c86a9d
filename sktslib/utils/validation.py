"""The only door for arrays, times, weights and names.

Everything behind it may trust its input: float64, C-contiguous, writable, finite, `(channels, length)`.
"""

import difflib
from numbers import Integral, Real

import numpy as np

__all__ = ["as_series", "as_times", "as_weight", "check_count", "check_number", "unknown_name"]


def unknown_name(what, given, valid):
    """A ValueError that lists the valid names and the nearest one."""
    valid = sorted(str(name) for name in valid)
    near = difflib.get_close_matches(str(given), valid, n=1, cutoff=0.5)
    if not near:  # capital letters alone must not hide the nearest name
        lower = {name.lower(): name for name in valid}
        near = [lower[name] for name in difflib.get_close_matches(str(given).lower(), lower, n=1, cutoff=0.5)]
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(f"Unknown {what} {given!r}.{hint} Valid: {', '.join(valid)}.")


def check_number(value, name, *, low=-np.inf, high=np.inf, open_low=False, owner="", integer=False):
    """Return a finite real number of the range, or raise an error that names parameter, rule and value."""
    kind = "an integer" if integer else "a real number"
    span = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if high == np.inf else ']'}"
    rule = f"The {name!r} parameter{' of ' + owner if owner else ''} must be {kind} in the range {span}. Got {value!r}."
    wanted = Integral if integer else Real
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, wanted):
        raise TypeError(rule)
    if not np.isfinite(value) or not low <= value <= high or (open_low and value == low):
        raise ValueError(rule)
    return int(value) if integer else float(value)


def check_count(value, name, *, low=1, none=False, owner=""):
    """Return an integer of at least `low` (or None where that is allowed)."""
    return None if none and value is None else check_number(value, name, low=low, owner=owner, integer=True)


def as_floats(values, name):
    """Convert real numbers of any kind to a float64 array; refuse complex numbers, strings, dates and ragged lists."""
    if hasattr(values, "tocsr") and not isinstance(values, np.ndarray):
        raise TypeError(f"{name!r} must be dense. Got sparse data; pass {name}.toarray().")
    try:
        a = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name!r} must be a series of equal rows, (length,) or (length, channels). Got a ragged list: {error}."
        ) from None
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"{name!r} must not have masked values. Fill them first, for example with .filled(0.0).")
    if a.dtype.kind in "bc" or a.dtype.kind in "SUmMV":
        words = {"b": "booleans", "c": "complex numbers. Complex data not supported; pass its real part or its modulus"}
        got = words.get(a.dtype.kind, f"{a.dtype}")
        if a.dtype.kind != "b":
            raise (ValueError if a.dtype.kind == "c" else TypeError)(f"{name!r} must hold real numbers. Got {got}.")
    if a.dtype.kind == "O":
        for value in a.ravel():
            if isinstance(value, complex | np.complexfloating):
                raise ValueError(f"{name!r} must hold real numbers. Got a complex one: {value!r}. Complex data not supported.")
            if not isinstance(value, Real) and value is not None and not hasattr(value, "__float__"):
                raise TypeError(f"{name!r} must hold real numbers. Got {value!r}; argument must be a string or a number.")
        a = np.array([[np.nan if v is None else v for v in a.ravel()]], dtype=np.float64).reshape(a.shape)
    return np.require(a, np.float64, ["C", "A", "W"])


def refuse_missing(a, name):
    """Raise an error that says how many values are NaN or infinite and where the first one is (axis 0 is time)."""
    if np.isfinite(a).all():
        return
    bad = np.argwhere(~np.isfinite(a))
    where = int(bad[0][0]) if a.ndim == 1 else tuple(int(v) for v in bad[0])
    kind = "NaN" if np.isnan(a[tuple(bad[0])]) else "infinity"
    raise ValueError(
        f"{name!r} must be finite. Got {len(bad)} value(s) that are NaN or infinity, the first ({kind}) at index {where}. "
        f"Fill or cut them first."
    )


def as_series(values, name, *, channels=None, finite=True):
    """Return a series as a float64 array `(channels, length)` for the kernels.

    Parameters
    ----------
    values : array-like of shape (length,) or (length, channels)
        Real numbers; never changed.
    name : str
        The parameter's name, for messages.
    channels : int, optional
        The number of channels it must have.
    finite : bool
        Whether NaN and infinity are errors; otherwise NaN alone is let through.

    Returns
    -------
    ndarray of shape (channels, length)
        C-contiguous and writable. Shares memory with `values` where no conversion was needed.
    """
    a = as_floats(values, name)
    if a.ndim not in (1, 2):
        hint = " Reshape your data: a single point is [[value]]." if a.ndim == 0 else ""
        raise ValueError(
            f"{name!r} must be one series of shape (length,) or (length, channels). Got {a.ndim} dimensions, "
            f"shape {a.shape}.{hint}"
        )
    if a.size == 0:
        raise ValueError(f"{name!r} must hold at least one point. Got shape {a.shape}: 0 sample(s) or 0 feature(s).")
    if finite:
        refuse_missing(a, name)
    elif np.isinf(a).any():
        refuse_missing(np.where(np.isnan(a), 0.0, a), name)
    a = a[np.newaxis] if a.ndim == 1 else np.require(a.T, np.float64, ["C", "A", "W"])
    if channels is not None and a.shape[0] != channels:
        raise ValueError(
            f"{name!r} must have {channels} channel(s), as the other series. Got {a.shape[0]}. "
            f"A series is (length,) or (length, channels): time runs along the first axis."
        )
    return a


def as_weight(weight, m, channels, *, name="weight"):
    """Return the relative weights `(channels, m)` of a query, or None where all are equal.

    Weights are divided by their largest value, so equal weights are no weights.
    """
    if weight is None:
        return None
    w = as_floats(weight, name)
    if w.shape not in ((m,), (m, channels)):
        raise ValueError(
            f"{name!r} must have one value per query point, shape ({m},), or per point and channel, shape ({m}, {channels}). "
            f"Got shape {w.shape}."
        )
    refuse_missing(w, name)
    if (w < 0).any():
        where = np.argwhere(w < 0)[0]
        raise ValueError(f"{name!r} must not be negative. Got {w[tuple(where)]!r} at index {int(where[0])}.")
    top = w.max()
    if top == 0:
        raise ValueError(f"{name!r} must have at least one value above 0. Got only zeros: no query point would count.")
    if (w == top).all():
        return None
    w = np.broadcast_to((w / top).reshape(m, -1).T, (channels, m))
    return np.require(w, np.float64, ["C", "A", "W"])


def as_times(times, length, name):
    """Return strictly increasing times as float64 `(length,)`; datetimes become seconds from the first. None stays None."""
    if times is None:
        return None
    t = np.asarray(times)
    if t.dtype == object and t.size and hasattr(t.flat[0], "isoformat"):
        t = t.astype("datetime64[ns]")
    if t.dtype.kind == "M":
        missing = np.isnat(t)
        t = np.where(missing, np.nan, (t - t[:1]) / np.timedelta64(1, "s")) if t.ndim == 1 and t.size else t.astype(float)
    elif t.dtype.kind == "m":
        t = np.where(np.isnat(t), np.nan, t / np.timedelta64(1, "s"))
    t = as_floats(t, name)
    if t.shape != (length,):
        raise ValueError(f"{name!r} must have one time per point, shape ({length},). Got shape {t.shape}.")
    refuse_missing(t, name)
    back = np.flatnonzero(np.diff(t) <= 0)
    if back.size:
        k = int(back[0])
        raise ValueError(
            f"{name!r} must be strictly increasing. Got {t[k]:.10g} at index {k} and then {t[k + 1]:.10g}. "
            f"Sort the recording and drop repeated times."
        )
    return t
