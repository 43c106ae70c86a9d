"""Sheets of Excel and OpenDocument files: which sheet, and where in it the table begins."""

import re

import numpy as np

from ..utils._names import did_you_mean
from .text_layout import EMPTY_CELLS, kind_of, layout_of, number_form

HEAD = 500  # rows by which the table is recognized
CELLS = "\t"  # between the cells of a row that is looked at as a line of text
NUMBERS = number_form(".", None)


def read_sheet(path, sheet, header):
    """The table in a sheet.

    Parameters
    ----------
    path : str
        The file.
    sheet : str, optional
        Name of the sheet, or its number from 1. Default: the first. A file that has but one needs none of that name.
    header : int, optional
        The row of the names, from 1; 0: there is none. Default: found as in a text.

    Returns
    -------
    tuple of (DataFrame, int, bool, list of str)
        The table, the row that its data begin with, whether the file names its columns, and what there is to say.
    """
    import pandas as pd

    try:
        file = pd.ExcelFile(path)
    except ValueError as error:
        if "format cannot be determined" not in str(error):
            raise
        raise ValueError(
            "the file must be a spreadsheet, as its ending says. Got something else. Save it anew."
        ) from None
    with file:
        names = file.sheet_names
        name, notes = _chosen(names, sheet)
        frame = pd.read_excel(file, sheet_name=name, header=None, na_values=EMPTY_CELLS)
    lines = [CELLS.join(map(_text, row)) for row in frame.iloc[:HEAD].itertuples(index=False)]
    if header is None:
        notes += _join_groups(lines)
    layout = layout_of(lines, separator=CELLS, decimal=".", header=header)
    if layout is None:
        raise ValueError(
            f"the sheet {name!r} must hold at least one row of numbers. Got none in its first rows. The file has "
            f"{_listed(names)}; --sheet names another one, --header the row of its header."
        )
    for number, line in layout.skipped:
        cells = " ".join(line.split())
        notes.append(f"row {number + 1} is neither names nor numbers and was skipped: {cells[:60]!r}")
    table = frame.iloc[layout.first :].reset_index(drop=True).infer_objects()
    # A column of which no cell holds anything is room between tables.
    filled = [k for k in range(table.shape[1]) if table[k].notna().any() or (layout.names and layout.names[k])]
    named = layout.names or [str(k + 1) for k in range(table.shape[1])]
    table = table[filled].set_axis([named[k] for k in filled], axis=1)
    return table, layout.first + 1, layout.names is not None, notes


def _chosen(names, wanted):
    """The name of the sheet to read, and what there is to say about it."""
    listed = _listed(names)
    if wanted is None:
        more = f"the file has the sheets {listed}; the first was read (--sheet names another)"
        return names[0], [more] if len(names) > 1 else []
    if wanted in names:
        return wanted, []
    if wanted.isdigit() and 0 < int(wanted) <= len(names):
        return names[int(wanted) - 1], []
    if len(names) == 1:
        return names[0], [f"the file has no sheet {wanted!r}; its only one, {listed}, was read"]
    raise ValueError(
        f"--sheet must name a sheet, or its number from 1. Got {wanted!r}; the file has {listed}."
        f"{did_you_mean(wanted, names)}"
    )


def _listed(names):
    return ", ".join(map(repr, names[:12]))


def _text(cell):
    """A cell as it stands in a text."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        return str(int(cell))
    if hasattr(cell, "total_seconds"):  # a duration
        seconds = cell.total_seconds()
        return f"{int(seconds // 3600) % 100:02d}:{int(seconds // 60) % 60:02d}:{int(seconds % 60):02d}"
    return re.sub(r'[\s"]+', " ", str(cell)).strip()


def _join_groups(lines):
    """Write names of groups, in merged cells above the names of columns, before these: ``left x``, ``left y``.

    Only the first of merged cells holds anything, so the row of groups is empty where a name stands below. Returns
    what there is to say.
    """
    rows = [line.split(CELLS) for line in lines]
    data = next((k for k, row in enumerate(rows) if any(_is_value(cell) for cell in row)), 0)
    if data < 2:
        return []
    groups, names = rows[data - 2], rows[data - 1]
    beside = [k for k, (group, name) in enumerate(zip(groups, names, strict=True)) if name and not group]
    if sum(map(bool, groups)) < 2 or not beside:
        return []
    above, joined = "", []
    for group, name in zip(groups, names, strict=True):
        above = group or above
        joined.append(f"{above} {name}".strip() if name else group)
        if not name:  # merged with the cell below, or a name of its own
            above = ""
    lines[data - 2], lines[data - 1] = "", CELLS.join(joined)
    return [f"names of groups in row {data - 1} were written before those of columns: {joined[beside[0]]!r}"]


def _is_value(cell):
    return kind_of(cell, NUMBERS) not in (None, "text")
