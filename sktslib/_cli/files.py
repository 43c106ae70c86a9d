"""A query and a sequence from CSV files, for the command line."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..utils.validation import as_series, as_times, as_weight, shown

LONGEST_LINE = 2**20  # bytes: tens of thousands of columns
EPS_SHARE = 0.5  # eps of lcss for files, as a share of the sequence's standard deviation


@dataclass
class Job:
    """What to search for and where, as the user gave it, and how to name it in tables and the picture."""

    query: np.ndarray
    sequence: np.ndarray
    weight: np.ndarray | None
    tq: np.ndarray | None
    ts: np.ndarray | None
    query_label: str  # of the query's times
    time_label: str  # of the sequence's times
    value_label: str
    unit: str  # of times in tables
    eps: float
    marks: tuple | None = None  # sample indices of known beats and their classes
    n_matches: int = 10


class Recording(NamedTuple):
    """What a file holds; `times` and `weight` are None where it has no such column."""

    values: np.ndarray  # (n, channels)
    names: list
    times: np.ndarray | None
    time_name: str | None
    weight: np.ndarray | None


def read_job(query, sequence, **names):
    """Read the files of a query and of a sequence; `names` as in `read_pair`."""
    query, sequence = read_pair(query, sequence, **names)
    label = sequence.time_name or "sample"
    first = sequence.names[0]
    return Job(
        query.values,
        sequence.values,
        query.weight,
        query.times,
        sequence.times,
        query_label=query.time_name or "sample",
        time_label=label,
        value_label=f"column {first}" if first.isdigit() else first,
        unit=label,
        eps=float(f"{EPS_SHARE * sequence.values.std(axis=0).min():.3g}"),
    )


def read_pair(query, sequence, *, time_column=None, weight_column=None, columns=None):
    """Read the files of a query and of a sequence as two `Recording`, the same channels in the same order."""
    tables = {"--query": _read_table(query, "--query"), "--sequence": _read_table(sequence, "--sequence")}
    times = {option: _time_name(table, time_column) for option, table in tables.items()}
    weight_name = _weight_name(tables["--query"], weight_column)
    if time_column is not None and not any(times.values()):
        raise _no_column("--time-column", time_column, tables)
    names = {
        option: columns or [c for c in table if c != times[option] and (option == "--sequence" or c != weight_name)]
        for option, table in tables.items()
    }
    for option, table in tables.items():
        for name in columns or []:
            if name not in table:
                raise _no_column("--columns", name, {option: table})
    wanted, there = names["--query"], names["--sequence"]
    if set(wanted) <= set(there):  # further columns of the sequence are none of the query's business
        names["--sequence"] = wanted
    elif len(wanted) != len(there):
        raise ValueError(
            f"--columns must say which columns to compare: the query has {len(wanted)} ({_listed(wanted)}) and the "
            f"sequence {len(there)} ({_listed(there)}). Without a header they are numbered from 1."
        )
    return tuple(
        _recording(option, table, names[option], times[option], weight_name if option == "--query" else None)
        for option, table in tables.items()
    )


def _read_table(path, option):
    """A file as a DataFrame with names: those of its header, or the numbers of its columns from 1."""
    import pandas as pd

    try:
        _refuse_long_lines(path, option)
        with open(path, encoding="utf-8-sig") as file:
            head = next((line for line in file if line.strip()), "")
        separator = max(",;\t", key=head.count)
        # A header holds no number; the first line of data holds at least one.
        header = None if any(map(_is_number, head.split(separator))) else 0
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                path, sep=separator, header=header, index_col=False, skipinitialspace=True, encoding="utf-8-sig"
            )
    except (
        OSError,
        UnicodeDecodeError,
        pd.errors.EmptyDataError,
        pd.errors.ParserError,
        pd.errors.ParserWarning,
    ) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise ValueError(f"{option} must name a readable CSV file. Got {str(path)!r}: {reason}.") from None
    if not len(table):
        raise ValueError(
            f"{option} must name a CSV file with at least one row of numbers. Got {str(path)!r}, which has none."
        )
    # numpy.savetxt puts a # before its header.
    numbered = header is None
    table.columns = [str(k + 1 if numbered else c).strip().lstrip("#").strip() for k, c in enumerate(table.columns)]
    return table


def _refuse_long_lines(path, option):
    """Read a file once by blocks: a line is held whole by who reads it, and with it a column for each of its fields."""
    with open(path, "rb") as file:
        length, line = 0, 1
        while block := file.read(LONGEST_LINE):
            codes = np.frombuffer(block, np.uint8)
            ends = np.flatnonzero((codes == ord("\n")) | (codes == ord("\r")))
            lengths = np.diff(ends, prepend=-1 - length, append=len(codes)) - 1
            wrong = np.flatnonzero(lengths > LONGEST_LINE)
            if len(wrong):
                line += np.count_nonzero(codes[: ends[wrong[0] - 1] + 1] == ord("\n")) if wrong[0] else 0
                raise ValueError(
                    f"{option} must name a CSV file with lines of at most {LONGEST_LINE} bytes, one for each time "
                    f"point. Got {str(path)!r}, whose line {line} is longer. Write one time point a line, its channels "
                    "side by side."
                )
            line += np.count_nonzero(codes == ord("\n"))
            length = int(lengths[-1])


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _time_name(table, wanted):
    if wanted is not None:
        return wanted if wanted in table else None
    return next((c for c in table if c.lower().startswith("time") or c.lower() == "t"), None)


def _weight_name(table, wanted):
    if wanted is not None and wanted not in table:
        raise _no_column("--weight-column", wanted, {"--query": table})
    return wanted or next((c for c in table if c.lower() == "weight"), None)


def _no_column(option, name, tables):
    there = "; ".join(f"{of} has {_listed(table)}" for of, table in tables.items())
    return ValueError(f"{option} must name a column. Got {name!r}; {there}.")


def _listed(names):
    names = list(names)
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") if names else "none"


def _recording(option, table, names, time_name, weight_name):
    if not names:
        raise ValueError(f"--columns must name at least one column of values. Got none in {option}: {_listed(table)}.")
    for name in names:
        _refuse_text(table[name], option)
    values = as_series(table[names].to_numpy(np.float64), option).T
    weight = times = None
    if weight_name is not None:
        _refuse_text(table[weight_name], "--weight-column")
        weight = table[weight_name].to_numpy(np.float64)
        as_weight(weight, len(values), len(names), name="--weight-column")
    if time_name is not None:
        times = _times(table[time_name], f"--time-column of {option}")
    return Recording(values, names, times, time_name, weight)


def _refuse_text(column, option):
    """Say which cell of a column is no number."""
    import pandas as pd

    if column.dtype.kind in "biuf":
        return
    wrong = pd.to_numeric(column, errors="coerce").isna() & column.notna()
    row = int(np.argmax(wrong.to_numpy()))
    raise ValueError(
        f"{option}: the column {column.name!r} must hold numbers. Got {shown(column.iloc[row])} in row {row + 1}. "
        "Name the columns to compare with --columns."
    )


def _times(column, option):
    import pandas as pd

    if column.dtype.kind in "iuf":
        times = column.to_numpy(np.float64)
    else:
        try:
            times = pd.to_datetime(column, utc=True, format="ISO8601").dt.tz_localize(None).to_numpy()
        except (ValueError, TypeError):
            raise ValueError(
                f"{option}: the column {column.name!r} must hold numbers or ISO 8601 dates. "
                f"Got {shown(column.iloc[0])} in row 1."
            ) from None
    as_times(times, len(times), option)
    return times
