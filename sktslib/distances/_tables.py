"""Tables that hold time in their rows: collections in long form, and what looks like them."""

import re

import numpy as np

from ..utils._conversion import refuse_lazy
from ..utils._names import did_you_mean
from ..utils._warnings import warn
from ..utils.validation import shown

CASE = re.compile(r"(?i)(.*_)?(case|id|instance|subject|series|uid|unit|trial|segment)(_?(id|no|nr|number))?")
# What a column of times is called in a table with one series a row, and what the times of a long table are.
CLOCK = re.compile(r"(?i)\s*(hour|h|t|time)?[ _]?\d+([:.]\d+)*\s*(h|hr|hours?|am|pm|s|ms|min)?")
TIME = re.compile(r"(?i)(time.*|t|date.*|.*timestamp|samples?|steps?|frames?|seconds?)")
LEAST = 2  # rows of a series


def as_cases(X):
    """A table of an index (case, time) as a list of the cases' tables; anything else as it is."""
    refuse_lazy(X, "X")
    if not _has_cases(X):
        return X
    cases = list(range(X.index.nlevels - 1))
    parts = [part.droplevel(cases) for _, part in X.groupby(level=cases, sort=False, dropna=False)]
    if not all(part.index.is_monotonic_increasing for part in parts):
        raise ValueError(
            "'X.index' must hold the times of each case in order. Got some that fall. Sort them, X.sort_index()."
        )
    return parts


def case_index(X):
    """The cases of such a table, in their order; None of anything else."""
    return X.index.droplevel(-1).unique() if _has_cases(X) else None


def _has_cases(X):
    """Whether an index has levels and the columns are channels: names, and not the times of one series a row."""
    index, columns = getattr(X, "index", None), list(getattr(X, "columns", ()))
    if getattr(index, "nlevels", 1) < 2 or not hasattr(X, "groupby"):
        return False
    return len(columns) < 2 or not all(map(_is_time, columns))


def notice_table(X, name):
    """Warn of a table whose rows are taken for series and may be points in time."""
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
    if case is None or time is None or not _repeats(X, case):
        case = next((c for c in columns if not TIME.fullmatch(str(c)) and _tells_cases(X, c)), None)
        time = None if case is None else next((c for c in columns if c != case and _starts_again(X, case, c)), None)
    if case is None or (time is None and not CASE.fullmatch(str(case))):
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
    """Whether the name of a column is a time or a number, as of a table with one series a row."""
    return not isinstance(column, str) or CLOCK.fullmatch(column) is not None


def _runs(values):
    """Where each run of equal values begins, and the end."""
    return np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1, [len(values)]])


def _repeats(X, column):
    """Whether a column holds few different texts or numbers, several rows each."""
    values = np.asarray(X[column])
    return 1 < len(set(values.tolist())) <= len(values) // LEAST if _is_plain(values) else False


def _is_plain(values):
    """Whether they are numbers or text, and no series in cells."""
    return values.dtype != object or isinstance(values[0], str)


def _tells_cases(X, column):
    """Whether whole numbers or text come in several runs, each value in one, of several rows each."""
    values = np.asarray(X[column])
    if not _is_plain(values):
        return False
    if values.dtype.kind == "f" and not (np.isfinite(values).all() and (values == values.round()).all()):
        return False
    runs = _runs(values)
    few = 1 < len(runs) - 1 <= len(values) // LEAST and np.diff(runs).min() >= LEAST
    return bool(few and len(np.unique(values[runs[:-1]])) == len(runs) - 1)


def _starts_again(X, case, column):
    """Whether a column increases within each case, and is lower where the next one begins."""
    values, edges = np.asarray(X[column]), _runs(np.asarray(X[case]))[1:-1]
    if values.dtype.kind not in "iufMm":
        return False
    rises = values[1:] > values[:-1]
    within = np.ones(len(rises), bool)
    within[edges - 1] = False
    return bool(rises[within].all() and not rises[~within].any())


def refuse_metric_name(Y, names):
    """Refuse the name of a distance where the second collection belongs."""
    if isinstance(Y, str):
        raise TypeError(
            f"'Y' must be a collection of series. Got the text {shown(Y)}; a distance is given by its keyword, "
            f"metric={shown(Y)}.{'' if Y in names else did_you_mean(Y, names)}"
        )
