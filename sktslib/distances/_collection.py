"""Validation of collections of series, and of the names of their channels.

Tables in long form, and tables that look like it, are recognized.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from ..io._recording import Recording
from ..utils._conversion import is_stored, refuse_columns, refuse_lazy
from ..utils._names import warn
from ..utils._times import Sampling, given_times, index_of, index_times, is_datetime, notice_index
from ..utils.validation import (
    as_floats,
    as_points,
    as_series,
    as_times,
    check_flag,
    refuse_empty,
    refuse_missing,
    refused,
    shown,
)

CASE = re.compile(r"(?i)(.*_)?(case|id|instance|subject|series|uid|unit|trial|segment)(_?(id|no|nr|number))?")
# Names of columns that are times, in tables with one series per row; and the names of the time column of a long table.
CLOCK = re.compile(r"(?i)\s*(hour|h|t|time)?[ _]?\d+([:.]\d+)*\s*(h|hr|hours?|am|pm|s|ms|min)?")
TIME = re.compile(r"(?i)(time.*|t|date.*|.*timestamp|samples?|steps?|frames?|seconds?)")
LEAST = 2  # minimum rows per series of a long table


def as_cases(X):
    """Return a table with an index (case, time) as a list of tables, one per case; anything else unchanged."""
    refuse_lazy(X, "X")
    if not _has_cases(X):
        return X
    cases = list(range(X.index.nlevels - 1))
    parts = [part.droplevel(cases) for _, part in X.groupby(level=cases, sort=False, dropna=False)]
    if not all(part.index.is_monotonic_increasing for part in parts):
        rule, got = "hold the times of each case in order", "some that fall"
        raise refused("'X.index'", rule, got, "Sort them, X.sort_index().")
    return parts


def case_index(X):
    """Return the cases of a table with an index (case, time), in their order; None for anything else."""
    return X.index.droplevel(-1).unique() if _has_cases(X) else None


def _has_cases(X):
    """Return whether the index has levels and the columns are channels, not the times of one series per row."""
    index, columns = getattr(X, "index", None), list(getattr(X, "columns", ()))
    if getattr(index, "nlevels", 1) < 2 or not hasattr(X, "groupby"):
        return False
    return len(columns) < 2 or not all(map(_is_time, columns))


def notice_table(X, name):
    """Warn of a table whose rows are read as series, but may be points in time."""
    columns = list(X.columns)
    if len(columns) < 2 or len(X) < 2 * LEAST:
        return
    index = getattr(X, "index", None)
    if getattr(index, "nlevels", 1) > 1:
        warn(
            f"The index of {name!r} has levels, and each of its {len(X)} rows is taken for a series, because its "
            f"columns are called like times. If they are channels, give them names, {name}.add_prefix('channel '); if "
            f"not, pass {name}.to_numpy()."
        )
        return
    kind = getattr(getattr(index, "dtype", None), "kind", None)
    if kind in ("M", "m") and not all(_is_time(column) for column in columns):
        warn(
            f"{name!r} has times in its index and {len(columns)} columns, and each of its {len(X)} rows is taken for a "
            f"series. If its columns are the series, pass [{name}[c] for c in {name}.columns]; if its rows are, pass "
            f"{name}.to_numpy()."
        )
        return
    case, time = (next((c for c in columns if rule.fullmatch(str(c))), None) for rule in (CASE, TIME))
    if case is None or not _repeats(X, case):
        return
    keys = [case] if time is None else [case, time]
    if hasattr(X, "iloc"):
        way_out = f"{name}.set_index({keys!r})"
        if time is None:
            way_out = f"[part.drop(columns={case!r}) for _, part in {name}.groupby({case!r}, sort=False)]"
    else:
        way_out = f"[part.drop({keys!r}) for part in {name}.partition_by({case!r}, maintain_order=True)]"
    warn(
        f"The column {case!r} of {name!r} repeats like the number of a series whose points are in several rows, and "
        f"each row is taken for a series. If it is a long table, pass {way_out}; if not, pass {name}.to_numpy()."
    )


def _is_time(column):
    """Return whether the name of a column is a time or a number, as in a table with one series per row."""
    return not isinstance(column, str) or CLOCK.fullmatch(column) is not None


def _repeats(X, column):
    """Return whether a column holds a few distinct texts or numbers, each in several rows."""
    values = np.asarray(X[column])
    is_plain = values.dtype != object or isinstance(values[0], str)  # no cell holds a series
    return is_plain and 1 < len(set(values.tolist())) <= len(values) // LEAST


# -------------------------------------------------------------------------------------------------------- collections
def as_collection(values, name, channels=None, *, missing=None, channels_first=False):
    """Return a collection as a list of series (channels, length).

    An array is (n_series, length) or (n_series, length, channels); a list holds series of any lengths; a table has one
    series per row, either its points in columns, or one channel per cell. `missing` is that of `as_series`.

    With `channels_first` an array is (n_series, channels, length), and a list holds series (channels, length). With
    None the layout is not that, and data that looks like it is refused or warned of. Data that is not in memory is read
    as a whole.
    """
    if type(values) is not np.ndarray:  # most collections are arrays and skip this
        values = as_cases(values)
    if isinstance(values, Recording):
        got = f"a recording, whose rows are {len(values)} samples"
        way_out = f"Pass its parts, [{name}[:100], {name}[100:200]]; if each row is a series, {name}.values."
        raise refused(repr(name), "be a collection of series", got, way_out)
    asked = channels_first is None
    channels_first = False if asked else check_flag(channels_first, "channels_first")
    layout = channels, missing, channels_first
    if hasattr(values, "tocsr") or np.ma.isMaskedArray(values):
        values = as_floats(values, name)  # raises an error that says why, or removes a mask that hides nothing
    if hasattr(values, "columns"):
        notice_table(values, name)
        values = refuse_columns(values, name)
    elif hasattr(values, "__array__") or is_stored(values):
        values = np.asarray(values if hasattr(values, "__array__") else values[:])
    if isinstance(values, np.ndarray):
        if values.dtype != object or (values.ndim > 1 and values.size and np.ndim(values.flat[0]) == 0):
            a = as_floats(values, name)
            if asked and a.ndim == 3:
                refuse_other_layout([a.shape[1:]], name, a.shape)
            return _rows(a, name, channels, missing, channels_first)
        if values.ndim > 1 and values.shape[1] > 1:
            asked, layout = False, (channels, missing, False)  # a column of a table is a channel
        values = _cells(values, name)
    if isinstance(values, str | PurePath):
        as_floats(values, name)  # raises an error that explains what to do with the name of a file
    if not isinstance(values, list | tuple) or not len(values):
        raise TypeError(f"{name!r} must be an array or a list of series, at least one. Got {shown(values)}.")
    if np.ndim(values[0]) == 0 and not hasattr(values[0], "__array__"):
        rule, got = "be a collection of series", f"one series; pass [{name}]"
        raise refused(repr(name), rule, got, "Reshape your data: an array of one series has shape (1, length).")
    points = [as_points(v, f"{name}[{k}]") for k, v in enumerate(values)]
    if asked and all(a.ndim == 2 for a in points):
        refuse_other_layout([a.shape for a in points], name)
    first = _listed(points[0], 0, name, layout)
    return [first, *(_listed(a, k, name, layout, len(first)) for k, a in enumerate(points) if k)]


def _listed(a, k, name, layout, like_first=None):
    """Return series k of a list as (channels, length); all series must have as many channels as the first one."""
    channels, missing, channels_first = layout
    like = (like_first, f"{name}[0]") if k else (channels, "the other collection")
    rest = {"missing": missing, "channels_first": channels_first, "in_collection": True}
    return as_series(a, f"{name}[{k}]", channels=like[0], like=like[1], **rest)


def refuse_other_layout(shapes, name, whole=None):
    """Refuse series of these shapes that must be (channels, length), and warn of those that may be.

    Series with a single point, or with equal numbers of rows but different numbers of columns, cannot be (length,
    channels). More channels than points are rare.
    """
    rows, columns = (np.array(sizes) for sizes in zip(*shapes, strict=True))
    got = f"shape {shapes[0] if whole is None else whole}" + (" of the first" if whole is None else "")
    way_out = (
        "If the channels come before time, (n_series, channels, length), as in aeon and the UCR archive, set "
        "channels_first=True; if not, channels_first=False"
    )
    varying = (columns != columns[0]).any()
    if (rows == rows[0]).all() and (varying or (rows[0] == 1 and columns[0] > 1)):
        found = f"{columns.min()} to {columns.max()} channels" if varying else f"one point and {columns[0]} channels"
        rule = "one number of channels" if varying else "series of more than one point"
        rest = ", and cut the series to the same channels." if varying else " says so."
        raise ValueError(f"{name!r} must hold {rule}. Got {found}, {got}. {way_out}{rest}")
    if (columns > rows).all() and columns[0] > 1:
        warn(
            f"{name!r} holds series with more channels than points: {columns[0]} channels of "
            f"{rows.min()}{'' if (rows == rows[0]).all() else f' to {rows.max()}'} points, {got}. {way_out} ends this "
            "warning."
        )


def _rows(a, name, channels, missing, channels_first):
    """Return the series in an array."""
    if a.ndim not in (2, 3):
        layout = "(n_series, channels, length)" if channels_first else "(n_series, length, channels)"
        layout_hint = (
            "an array of one series has shape (1, length)" if a.ndim < 2 else "one axis for channels is enough"
        )
        rule = f"be a collection of series: an array (n_series, length) or {layout}, or a list of series"
        raise refused(repr(name), rule, f"shape {a.shape}", f"Reshape your data: {layout_hint}.")
    refuse_empty(a, name)
    found = 1 if a.ndim == 2 else a.shape[1 if channels_first else 2]
    if channels is not None and found != channels:  # this raises an error
        _listed(a[0], 0, name, (channels, True, channels_first))
    refuse_missing(
        a,
        name,
        "Axis 0 counts the series. Fill the gaps, for example with numpy.interp.",
        missing,
        padded=1 if a.ndim == 2 or not channels_first else 2,
    )
    if a.ndim == 2:
        return list(a[:, np.newaxis])
    return list(a if channels_first else np.ascontiguousarray(a.transpose(0, 2, 1)))


class Timed(np.ndarray):
    """A series (channels, length) with the `times` of its samples as kernels count them, or None."""

    def __array_finalize__(self, of):
        self.times, self.dated = getattr(of, "times", None), getattr(of, "dated", False)

    def __reduce__(self):
        return _timed, (np.asarray(self), self.times, self.dated)


def _timed(x, t, dated):
    x = x.view(Timed)
    x.times, x.dated = t, dated
    return x


def timed(metric, given, collections, times, same, alone=True):
    """Return two collections, as given and validated, with times attached to their series if the metric uses times.

    `times` is a list with those of the first collection if it is `alone`, else a pair of lists; None means sample
    indices.
    """
    if times is None:
        known = [_index_times_of(of) for of in given] if metric.uses_times else [[]]
        if not all(any(t is not None for t in of) for of in known):
            return collections
    else:
        known = [times, times] if alone or isinstance(times, Sampling) else times
        if not all(isinstance(of, Sampling | Sequence | np.ndarray) for of in [known, *(known if alone else [])]):
            raise TypeError(f"'times' must be a list with the times of each series. Got {shown(times)}.")
        known = [[of] * len(X) if isinstance(of, Sampling) else of for of, X in zip(known, collections, strict=False)]
        if len(known) != 2 or any(len(of) != len(X) for of, X in zip(known, collections, strict=True)):
            many = f"one entry for each of the {len(collections[0])} series of 'X'"
            rule = many if alone else f"a pair of lists: {many}, and for each of the {len(collections[1])} of 'Y'"
            raise ValueError(f"'times' must hold {rule}. Got {shown([len(of) for of in known[: 2 - alone]])} entries.")
        if not metric.uses_times:
            out = "Leave them out, or use a distance that needs them, such as metric='twed'."
            raise refused("'times'", "be None where the distance uses no times", f"some, and {metric.full_name}", out)
    dates = [[_is_dated(a, t) for a, t in zip(of, X, strict=True)] for of, X in zip(known, collections, strict=True)]
    kinds = {dated for of in dates for dated in of if dated is not None}
    if len(kinds) > 1:
        rule, got = "be of one kind, numbers or dates, for all series", "both"
        raise refused("'times'", rule, got, "Turn dates into numbers by subtraction and division.")
    made = []
    for of, X, name in zip(known, collections, "XY", strict=True):
        rows = enumerate(zip(X, of, dates[len(made)], strict=True))
        made.append([_timed(x, as_times(t, x.shape[1], f"times of {name}[{k}]"), d) for k, (x, t, d) in rows])
    return (made[0], made[0]) if same else made


def _is_dated(times, x):
    """Return whether the times of a series are datetimes; None if it has no times, or only a sampling rate."""
    if times is None or isinstance(times, Sampling):
        return None
    return x.dated if isinstance(x, Timed) and times is x.times else is_datetime(given_times(times, "times"))


def _index_times_of(values):
    """Return the times of each series in a list from its index; None for series without such an index."""
    values = as_cases(values)
    if not isinstance(values, list | tuple):
        return []
    for k, a in enumerate(values):
        notice_index(a, None, f"X[{k}]")
    return [a.times if isinstance(a, Timed) else index_times(index_of(a)) for a in values]


def lengths_of(series):
    """Return the length of each series."""
    return [x.shape[1] for x in series]


def by_length(series):
    """Return the positions of the series by their length, as a dictionary."""
    groups = {}
    for a, length in enumerate(lengths_of(series)):
        groups.setdefault(length, []).append(a)
    return groups


def has_gaps(series):
    """Return whether any value of a collection is missing."""
    return any(np.isnan(x).any() for x in series)


def _cells(table, name):
    """Return the series in an array of objects: one series per cell, or with several columns one channel per cell."""
    if table.ndim == 1 or table.shape[1] == 1:
        return list(table.ravel())
    series = []
    for r, row in enumerate(table):
        lengths = [np.size(cell) for cell in row]
        if len(set(lengths)) > 1:
            got = f"lengths {lengths} in row {r}: each column is a channel, each row a series"
            raise refused(repr(name), "have channels of one length in each row", got)
        series.append(np.column_stack([as_floats(cell, f"{name}[{r}]") for cell in row]))
    return series


# ---------------------------------------------------------------------------------------------------- names of channels
def is_matrix(X):
    """Return whether rows are series and columns their points, so that the number of columns is the length."""
    X = as_cases(X)
    if isinstance(X, list | tuple):  # a list of series, or nested lists of numbers, which form one array
        nested = all(isinstance(x, list | tuple) and np.ndim(x) == 1 for x in X)
        return nested and len({len(x) for x in X}) == 1
    if is_stored(X) and hasattr(X, "shape"):
        return len(X.shape) == 2
    a = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    return a.ndim == 2 and not (a.dtype == object and np.ndim(a.flat[0]))


def channel_names(X, channels_first=False):
    """Return the names of the channels: the columns of a list of tables, or of a table with series in its cells.

    None if there are no names. Tables of a list may have different names, which then are not used, but not the same
    names in another order.
    """
    X = as_cases(X)
    if isinstance(X, list | tuple):
        return None if channels_first else _common_names(X)
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) and not is_matrix(X) else None


def _common_names(tables):
    """Return the names of the columns, if all tables have the same."""
    names = list(getattr(tables[0], "columns", ())) if len(tables) else []
    if not names or not all(isinstance(name, str) for name in names):
        return None
    same = True
    for k, table in enumerate(tables):
        other = list(getattr(table, "columns", ()))
        if other != names and sorted(map(str, other)) == sorted(names):
            raise ValueError(
                f"Tables of a collection must have their columns, the channels, in one order. Got {shown(names)} first "
                f"and {shown(other)} at index {k}. Choose them by their names, [x[{shown(names)}] for x in X]."
            )
        same &= other == names
    return names if same else None
