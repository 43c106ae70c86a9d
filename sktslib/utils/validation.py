"""Input validation of arrays, times, weights and numbers, including the size of values that can be squared.

Code that gets validated input may rely on it: float64, C-contiguous, writable, finite, series as `(channels, length)`.
Input that needs no conversion is not copied, so this code must not write to it.
"""

from datetime import date, timedelta
from numbers import Integral, Real

import numpy as np

from ._conversion import converted, place, refused, shown
from ._names import did_you_mean
from ._times import Sampling, as_dates, given_times

# Largest absolute value, for which squares of differences and their sums are finite; and its square.
LARGEST, LARGEST_SQUARE = 1e140, 1e280
# From this size on, linear algebra libraries start threads, which wait in a loop and take time from others.
MANY_NUMBERS = 10_000


def sum_of_squares(a):
    """Return the sum of squares of an array without a temporary array or warnings."""
    axes = list(range(a.ndim))
    return np.vdot(a, a) if a.size < MANY_NUMBERS else np.einsum(a, axes, a, axes, [])


FLOAT = np.dtype(np.float64)
SET_BACK = 7200.0  # seconds; at the end of summer time no clock is set back by more


def unknown_name(what, given, valid, owner="", aliases=None):
    """Return a ValueError that lists the valid names and, for a string, suggests the nearest one.

    `aliases` are valid but not listed: a dictionary from aliases to what is suggested for them.
    """
    valid = sorted(valid, key=str)
    hint = did_you_mean(given, {**(aliases or {}), **{name: name for name in valid}})
    of = f" of {owner}" if owner else ""
    return ValueError(f"Unknown {what} {shown(given)}{of}.{hint} Valid: {', '.join(map(str, valid))}.")


def check_names(names, valid, what, owner=""):
    """Refuse names that are not among the valid ones."""
    for name in names:
        if name not in tuple(valid):  # a tuple, because a wrong name may not be hashable
            raise unknown_name(what, name, valid, owner)


# ------------------------------------------------------------------------------------------------------------ numbers
def check_number(value, name, *, low=-np.inf, high=np.inf, open_low=False, owner="", integer=False):
    """Return a finite real number within the range, or raise an error with parameter, rule and value."""
    is_number = isinstance(value, Integral if integer else Real) and not isinstance(value, bool | np.bool_)
    too_large = ""
    try:
        number = (int(value) if integer else float(value)) if is_number else np.nan
    except OverflowError:
        number, too_large = np.nan, " It does not fit into float64." if low <= value <= high else ""
    # Every comparison with NaN is False.
    if low <= number <= high and not (open_low and number == low) and number not in (np.inf, -np.inf):
        return number
    numbers = "an integer" if integer else "a real number"
    span = f"{'(' if open_low or low == -np.inf else '['}{low:g}, {high:g}{')' if high == np.inf else ']'}"
    what = f"The {name!r} parameter{' of ' + owner if owner else ''}"
    raise (ValueError if is_number else TypeError)(
        f"{what} must be {numbers} in the range {span}. Got {shown(value)}.{too_large}"
    )


def check_flag(value, name, owner=""):
    """Return a boolean; other values are errors, because "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        rule, got = "be True or False", shown(value)
        raise refused(f"The {name!r} parameter{' of ' + owner if owner else ''}", rule, got, error=TypeError)
    return bool(value)


def check_verbose(value, owner=""):
    """Return the verbosity, an integer of at least 0; True means 1."""
    value = int(value) if isinstance(value, bool | np.bool_) else value
    return check_number(value, "verbose", low=0, owner=owner, integer=True)


def check_count(value, name, *, low=1, none=False, owner=""):
    """Return an integer of at least `low`, or None if that is allowed (`none`)."""
    return None if none and value is None else check_number(value, name, low=low, owner=owner, integer=True)


def plain_count(value):
    """Return a valid count in the range of compiled code; None stays None.

    Larger counts have the same effect, because they exceed the number of points of any series.
    """
    return None if value is None else min(int(value), 2**48)


# ------------------------------------------------------------------------------------------------------------- arrays
def as_floats(values, name, *, strided=False):
    """Convert real numbers of any type to a float64 array; refuse complex numbers, strings, dates and ragged lists.

    With `strided`, the array may have any memory layout and be read-only.
    """
    a = values
    if type(a) is not np.ndarray or a.dtype != FLOAT:
        a = converted(values, name)
    # Strided and read-only arrays would be further types for compiled kernels.
    return a if strided or a.flags.carray else np.array(a, np.float64, order="C")


def as_indices(values, name):
    """Return sample indices as int64, small enough that floats are exact and sums do not overflow."""
    a = as_floats(values, name)
    wrong = ~((np.floor(a) == a) & (np.abs(a) < 2**53))
    if wrong.any():
        first = np.unravel_index(np.argmax(wrong), a.shape)
        rule, got = "hold sample indices, which are integers below 2**53", f"{a[first]:g} at index {place(first)}"
        raise refused(name, rule, got, "Convert times to indices, for example with numpy.searchsorted.")
    return a.astype(np.int64)


def refuse_missing(
    a, name, way_out="Cut the series there, or fill the gaps, for example with numpy.interp.", missing=None, padded=None
):
    """Refuse NaN and infinite values with an error that counts them and gives the index of the first (axis 0 is time).

    NaN after the last point of a series, along the time axis `padded`, get advice of their own. With `missing`, NaN are
    valid; False means that the caller has a parameter `nan_policy` to allow them, None that it has no such parameter.
    """
    if sum_of_squares(a) < LARGEST_SQUARE:
        return
    finite = np.isfinite(a) | np.isnan(a) if missing else np.isfinite(a)
    if finite.all():
        large = np.abs(a) > LARGEST
        if large.any():
            first = np.unravel_index(np.argmax(large), a.shape)
            rule = f"hold values of at most {LARGEST:g} in size, so that squares of differences are finite"
            got = f"{a[first]:g} at index {place(first)}"
            out = "Divide all by a common factor, or put NaN where such a number stands for a missing value."
            raise refused(repr(name), rule, got, out)
        return
    counts = {"NaN": 0 if missing else np.isnan(a).sum(), "infinite": np.isinf(a).sum()}
    if counts["NaN"] and not counts["infinite"] and padded is not None:
        gaps = np.isnan(np.moveaxis(a, padded, 0))
        if (gaps[1:] >= gaps[:-1]).all() and not gaps[0].any():  # all NaN follow the other values
            way_out = (
                "Where NaN pads shorter series, give a list of arrays of their own lengths, x[~numpy.isnan(x)], or "
                "with channels x[~numpy.isnan(x).any(axis=1)]."
            )
    if missing is False and counts["NaN"]:
        way_out += " To leave out what is NaN, set nan_policy='omit'"
        way_out += "." if padded is None else ", with a lockstep metric."
    found = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    first = place(np.unravel_index(np.argmin(finite), a.shape))
    raise ValueError(f"{name!r} must be finite. Got {found} of {a.size} values, first at index {first}. {way_out}")


# ------------------------------------------------------------------------------------------- series, weights and times
def as_series(
    values, name, *, channels=None, like="the other series", missing=None, channels_first=False, in_collection=False
):
    """Return a series as a float64 array `(channels, length)` for the kernels.

    Parameters
    ----------
    values : array-like of shape (length,) or (length, channels)
        Real numbers; never changed.
    name : str
        The parameter's name, for messages.
    channels : int, optional
        The number of channels it must have.
    like : str
        The object with that number of channels, for messages.
    missing : bool, optional
        Whether NaN may pass, where the caller's `nan_policy` says so; None where there is no such parameter.
    channels_first : bool, default=False
        Whether its channels may be in its rows.
    in_collection : bool, default=False
        Whether NaN may pad it to the length of others, which is worth a word in the message.

    Returns
    -------
    ndarray of shape (channels, length)
        C-contiguous and writable. Shares memory with `values` where no conversion was needed.
    """
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype is FLOAT and values.flags.carray:
        # Fast path for most series; the comparison is False for NaN.
        if 0 < values.size < MANY_NUMBERS and np.vdot(values, values) < LARGEST_SQUARE and channels in (None, 1):
            return values[np.newaxis]
    a = as_points(values, name)
    if channels is not None and channels != (a.shape[1 - channels_first] if a.ndim == 2 else 1):
        raise ValueError(_other_channels(a.shape, name, channels, like, channels_first))
    axis = a.ndim - 1 if channels_first else 0
    refuse_missing(a, name, missing=missing, padded=axis if in_collection else None)
    if a.ndim == 1:
        return a[np.newaxis]
    return a if channels_first else np.ascontiguousarray(a.T)


def as_points(values, name, *, strided=False):
    """Return a series as floats in its own shape, (length,) or (length, channels)."""
    a = as_floats(values, name, strided=strided)
    if a.ndim not in (1, 2):
        hint = (
            "Several series, where they can be taken, are a list of numpy arrays."
            if a.ndim
            else f"Reshape your data: a single point is [{name}]."
        )
        rule, got = "be one series, (length,) or (length, channels)", f"{a.ndim} dimensions, shape {a.shape}"
        raise refused(repr(name), rule, got, hint)
    refuse_empty(a, name)
    return a


def refuse_empty(a, name):
    """Refuse empty input with an error in scikit-learn's words, which its estimator checks look for."""
    if a.size == 0:
        got = f"0 {'feature' if len(a) else 'sample'}(s) (shape={a.shape})"
        raise ValueError(f"{name!r} must hold at least one point. Got {got} while a minimum of 1 is required.")


def _other_channels(shape, name, channels, like, channels_first):
    if len(shape) == 2 and shape[channels_first] == channels:
        hint = f"If its {'columns' if channels_first else 'rows'} are the channels, pass numpy.transpose({name})."
    elif channels_first:
        hint = "With channels_first=True channels are the rows of a series and time points its columns."
    else:
        hint = "Time runs along the first axis of a series and channels along the second."
    got = shape[1 - channels_first] if len(shape) == 2 else 1
    return f"{name!r} must have as many channels as {like}, {channels}. Got {got}, shape {shape}. {hint}"


def as_weight(weight, m, channels, *, name="weight"):
    """Return the relative weights `(channels, m)` of a query, or None if all are equal.

    Weights are divided by the largest one, so equal weights are the same as no weights.
    """
    if weight is None:
        return None
    w = as_floats(weight, name)
    if w.shape not in ((m,), (m, channels), (1, channels)):
        raise ValueError(
            f"{name!r} must have one value per point of the query (the first series), shape ({m},), or one per "
            f"point and channel, shape ({m}, {channels}). Got shape {w.shape}. Weights of channels alone have shape "
            f"(1, {channels})."
        )
    w = relative(w, name, "points")
    if w is None:
        return None
    if channels == 1:
        return w.reshape(1, m)
    return np.array(np.broadcast_to(w.reshape(len(w), -1).T, (channels, m)), order="C")


def relative(w, name, what):
    """Return the weights divided by the largest one; None if all are equal, which means no weights."""
    low, top = w.min(), w.max()
    if not (low >= 0 and top < np.inf):
        refuse_missing(w, name, f"{what.capitalize()} that do not count have weight 0.")
        first = place(np.unravel_index(np.argmax(w < 0), w.shape))
        rule, got = "not be negative", f"{low:g} as the least value, the first below 0 at index {first}"
        raise refused(repr(name), rule, got, f"{what.capitalize()} that do not count have weight 0.")
    if top == 0:
        rule, got = "have at least one value above 0", f"only zeros: none of the {what} would count"
        raise refused(repr(name), rule, got, f"Leave it out to weigh all {what} alike.")
    return None if low == top else w / top


def check_one_time_per_point(shape, length, name):
    """Refuse times whose shape is not `(length,)`."""
    if shape != (length,):
        rule, got = f"have one time per point, shape ({length},)", f"shape {shape}"
        raise refused(repr(name), rule, got, "Pass the time of each row, or None to count samples.")


def as_times(times, length, name, origin=None):
    """Return strictly increasing times as float64 `(length,)`; None stays None.

    Datetimes become seconds since the first time or the `origin`, durations become seconds, and numbers stay unchanged,
    except for integers above 2^53, which count from the first one, too.
    """
    if times is None:
        return None
    if isinstance(times, Sampling):
        times = times.at(np.arange(length))
    given, t = _seconds(times, name, origin)
    check_one_time_per_point(t.shape, length, name)
    refuse_missing(t, name, "Every point needs a time.")
    rises = t[1:] > t[:-1]
    if not rises.all():
        k = int(np.argmin(rises))
        way_out = "Sort the recording and drop repeated times; to split it, do not shuffle it (shuffle=False)."
        local = given.dtype.kind == "M" and getattr(given, "tz", None) is None
        if local and rises.sum() == len(rises) - 1 and 0.0 < t[k] - t[k + 1] <= SET_BACK:
            way_out += " Local times repeat where a clock is set back: give them with their zone."
        if t[k + 1] <= t[0]:  # in a short recording both may be the cause
            way_out += " Where several recordings stand one below the other, cut them apart there."
        raise refused(repr(name), "be strictly increasing", f"{given[k]} at index {k} and then {given[k + 1]}", way_out)
    return t


def _seconds(times, name, origin):
    """Return the times in the caller's type, for messages, and as floats."""
    own = given_times(times, name)
    given = as_dates(own)
    if given.dtype.kind == "O":
        first = next((v for v in given.flat if v is not None and v == v), None) if origin is None else origin
        return given, _elapsed(given, first, name) if isinstance(first, date | timedelta) else as_floats(times, name)
    if given.dtype.kind == "M":
        known = given[~np.isnat(given)]
        first = origin if origin is not None else known[0] if known.size else given
        return own, (given - first) / np.timedelta64(1, "s")
    if given.dtype.kind == "m":
        return given, given / np.timedelta64(1, "s")
    if origin is not None or are_counted(given):
        whole = given.astype(np.int64) if given.dtype.kind == "u" else given
        return given, (whole - (whole.flat[0] if origin is None else np.int64(origin))).astype(float)
    return given, as_floats(times, name)


def are_counted(given):
    """Return whether times count from the first one: datetimes, and integers too large for float64 to distinguish."""
    kind = given.dtype.kind
    return kind in "MO" or (kind in "iu" and given.size > 0 and max(abs(int(v)) for v in given.flat[[0, -1]]) > 2**53)


def _elapsed(given, first, name):
    """Return datetime objects as seconds since the first, or durations as seconds; missing ones become NaN."""
    out = np.full(given.shape, np.nan)
    for index, value in np.ndenumerate(given):
        try:
            if value is not None:
                out[index] = (value if isinstance(first, timedelta) else value - first).total_seconds()
        except (TypeError, AttributeError):
            rule = "be of one type: numbers, durations, or datetimes that all have a time zone or all have none"
            got = f"{shown(first)} and {shown(value)}, at index {place(index)}"
            raise refused(repr(name), rule, got, error=TypeError) from None
    return out
