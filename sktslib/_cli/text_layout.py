"""How a text file holds its table: separator, decimal mark, comments, header and units, from its first lines.

Spreadsheets, loggers and ``DataFrame.to_csv`` write tables in many ways, and few say how. Each combination of separator
and decimal mark is tried on the first lines; the one wins under which most cells are numbers, dates or clock times.
"""

import csv
import re
from collections import Counter
from typing import NamedTuple

SEPARATORS = ("\t", ";", "|", ",", None)  # None: blanks
NONE = "\0"  # a separator that does not occur: one column
DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?"
MINUTES = r"\d{1,3}:\d{2}[.,]\d+"  # and seconds with a fraction: the first hour, as PhysioNet writes it
ZONE = r"(?: ?(?:Z|UTC|[+-]\d{2}(?::?\d{2})?))?"
KINDS = {
    "datetime": re.compile(rf"{DATE}[T ]+{CLOCK}{ZONE}"),
    "date": re.compile(DATE),
    "clock": re.compile(rf"{CLOCK}|{MINUTES}"),
}
SPREADSHEET_ERRORS = {"#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
SPREADSHEET_ERRORS |= {"#nv", "#wert!", "#bezug!", "#zahl!"}  # in German
MISSING = {"", "-", "--", "---", "nan", "na", "n/a", "null", "none", "<na>"} | SPREADSHEET_ERRORS
EMPTY_CELLS = sorted({"-", "--", "---", *(error.upper() for error in SPREADSHEET_ERRORS)})  # besides those of pandas
UNIT = re.compile(
    r"[(\[].*[)\]]|-|%|°\s?[CFc]?|deg.*|[cdfhkmnpuµMGT]?(s|sec|Hz|V|A|W|g|G|m|N|Pa|bar|T|C|F|K|L|l|rad|J|min|h)"
    r"(\s?[/·*^²³]?.{0,5})?|[mM]?[Bb]ar|bpm|rpm|1|counts?|a\.?u\.?|raw|yyyy.*|hh.*|mm:.*"
)
SINGLE_QUOTED = re.compile(r"\s*'[^']*'\s*(?:[\t;|,]|$)")  # the first cell of a line
TIME_WORD = re.compile(r"(?i)(date|time|zeit|uhrzeit|datum|heure|temps|fecha|hora|timestamp|t\b)")


class Layout(NamedTuple):
    """How to read a text table."""

    separator: str | None
    decimal: str
    thousands: str | None
    comment: str | None
    first: int  # number of the first line of data, from 0
    names: list | None  # of the columns; None: there is no header
    kinds: list  # of each column: number, a key of KINDS, or text
    skipped: list  # lines before the data that are neither header nor comment, with their numbers
    quote: str  # what stands around cells


def number_form(decimal, thousands):
    """A regular expression of numbers with this decimal mark.

    Groups of thousands count where they cannot be mistaken: with both marks, with two groups, or if the mark is given.
    """
    d, other = re.escape(decimal), re.escape(thousands or {".": ",", ",": "."}[decimal])
    plain = rf"(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"
    groups = rf"[1-9]\d{{0,2}}(?:{other}\d{{3}})+"
    sure = rf"{groups}(?:{d}\d*)?" if thousands else rf"(?:{groups}{d}\d*|[1-9]\d{{0,2}}(?:{other}\d{{3}}){{2,}})"
    return re.compile(rf"[+-]?(?:{plain}|(?P<grouped>{sure})|inf|Inf|infinity)")


def split(line, separator):
    """The cells of a line."""
    if separator is None:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]


def kind_of(cell, numbers):
    """What a cell holds; None if nothing."""
    if cell.lower() in MISSING:
        return None
    if numbers.fullmatch(cell):
        return "number"
    return next((kind for kind, form in KINDS.items() if form.fullmatch(cell)), "text")


class _Trial(NamedTuple):
    """The lines under one separator and decimal mark."""

    score: float
    separator: str | None
    numbers: re.Pattern
    decimal: str
    width: int
    rows: list  # (line number, cells)


def _try(lines, separator, decimal, thousands):
    rows = [(number, split(line, separator)) for number, line in lines]
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if width < 2 and separator != NONE:
        return None
    numbers = number_form(decimal, thousands)
    whole = [cells for _, cells in rows if len(cells) == width]
    if separator == "," and width == 2 and decimal == "." and _is_split(whole):
        return None
    # Names and units, rows without any number, say nothing against a mark.
    kinds = [[kind_of(cell, numbers) for cell in cells] for cells in whole]
    spoiled = separator == NONE and decimal == ","  # texts with a comma are cells of a table with commas
    kinds = [
        row
        for row, cells in zip(kinds, whole, strict=True)
        if any(kind not in (None, "text") for kind in row) or (spoiled and "," in cells[0])
    ]
    known = sum(kind != "text" for row in kinds for kind in row) / max(1, sum(map(len, kinds)))
    return _Trial(known * len(whole) / len(rows), separator, numbers, decimal, width, rows)


def _is_split(rows):
    """Whether two columns are the digits before and behind a decimal comma: as many in each row, some after a zero."""
    second = [cells[1] for cells in rows]
    return (
        len({len(cell) for cell in second}) == 1
        and all(map(str.isdigit, second))
        and any(c[0] == "0" for c in second)
        and len(second[0]) > 1
    )


def layout_of(lines, *, separator=None, decimal=None, thousands=None, header=None):
    """The layout of a table whose first lines these are, or None if they hold no row of numbers.

    Parameters
    ----------
    lines : list of str
        The first lines, without line ends.
    separator, decimal, thousands : str, optional
        What is known of it.
    header : int, optional
        The number of the line with the names, from 1; 0: there is none.

    Returns
    -------
    Layout or None
    """
    quote = "'" if any(SINGLE_QUOTED.match(line) for line in lines) and not any('"' in line for line in lines) else '"'
    written, lines = lines, [line.replace(quote, '"') for line in lines]
    content = [(k, line) for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    content = content if header is None else [(k, line) for k, line in content if k >= header]
    if not content:
        return None
    marks = (decimal,) if decimal else (".", ",")
    given = {"tab": "\t", "\\t": "\t", "space": None, " ": None}.get(separator, separator)
    separators = (*SEPARATORS, NONE) if separator is None else (given, NONE)
    trials = [_try(content, s, d, thousands) for s in separators for d in marks if s != d]
    best = max((trial for trial in trials if trial is not None), key=lambda trial: trial.score, default=None)
    if best is None:
        return None
    kinds = _kinds(best)
    first = next((at for at, (_, cells) in enumerate(best.rows) if _is_data(cells, kinds, best)), None)
    if first is None:
        return None
    if header is None:
        first, names, skipped = _head(best, first, kinds, lines)
    else:
        first, skipped = 0, []
        names = split(lines[header - 1].lstrip("# "), best.separator) if 0 < header <= len(lines) else None
    start = best.rows[first][0]
    before = any(line.lstrip().startswith("#") for line in lines)
    within = any("#" in line.lstrip()[1:] for _, line in content)
    found = [best.numbers.fullmatch(cell) for _, row in best.rows[first:] for cell in row]
    if thousands is None and any(match and match["grouped"] for match in found):
        thousands = {".": ",", ",": "."}[best.decimal]
    if names is not None and len(names) == best.width - 1:  # R leaves out the name of the index; others end in a mark
        ends_empty = all(cells[-1] == "" for _, cells in best.rows[first:] if len(cells) == best.width)
        names = [*names, ""] if ends_empty else ["", *names]
    separator = ";" if best.separator == NONE else best.separator
    comment = "#" if before and not within else None
    skipped = [(k, written[k]) for k, _ in skipped]
    return Layout(separator, best.decimal, thousands, comment, start, names, kinds, skipped, quote)


def _kinds(trial):
    """The kind of most cells of each column."""
    columns = zip(*(cells for _, cells in trial.rows if len(cells) == trial.width), strict=True)
    kinds = []
    for column in columns:
        counts = Counter(kind for cell in column if (kind := kind_of(cell, trial.numbers)) is not None)
        kinds.append(counts.most_common(1)[0][0] if counts else "number")
    # Names in a header of a few rows must not outvote the numbers below them.
    last = trial.rows[-1][1]
    if len(trial.rows) < 4 and len(last) == trial.width:
        kinds = [kind_of(cell, trial.numbers) or kind for cell, kind in zip(last, kinds, strict=True)]
    return kinds


def _is_data(cells, kinds, trial):
    if len(cells) != trial.width:
        return False
    found = [kind_of(cell, trial.numbers) for cell in cells]
    fits = all(a is None or b == "text" or a == b for a, b in zip(found, kinds, strict=True))
    return fits and any(a not in (None, "text") for a in found)


def _head(trial, first, kinds, lines):
    """The first row of data, the names of the columns, and the lines before that are skipped."""
    cells = trial.rows[first][1]
    if _is_numbered(cells, trial, first):  # the header of a DataFrame whose columns are numbers
        return first + 1, cells, [(k, lines[k]) for k, _ in trial.rows[:first]]
    widths = (trial.width, trial.width - 1) if trial.width > 2 else (trial.width,)
    # Rows of names: of about as many cells as the data, and no number among them.
    names = [
        at
        for at, (_, row) in enumerate(trial.rows[:first])
        if len(row) in widths and not any(kind_of(cell, trial.numbers) not in (None, "text") for cell in row)
    ]
    if not names:
        comments = [k for k in range(trial.rows[first][0]) if lines[k].lstrip().startswith("#")]
        inside = [split(lines[k].lstrip("# "), trial.separator) for k in comments[-1:]]
        fits = [row for row in inside if len(row) == trial.width and not any(_has_number(c, trial) for c in row)]
        # numpy.savetxt writes a # before the names.
        return first, fits[0] if fits else None, [(k, lines[k]) for k, _ in trial.rows[:first]]
    chosen = names[-1]
    above = trial.rows[chosen - 1] if chosen else (-2, [])
    if chosen - 1 in names and above[0] == trial.rows[chosen][0] - 1:
        units = all(UNIT.fullmatch(cell) for cell in trial.rows[chosen][1] if cell)
        timed = any(TIME_WORD.match(cell) for cell in above[1])
        if units or (timed and not any(TIME_WORD.match(cell) for cell in trial.rows[chosen][1])):
            chosen -= 1
    # What stands between the names and the first whole row, and holds a number, is data that somebody spoiled.
    spoiled = (at for at in range(chosen + 1, first) if any(_has_number(cell, trial) for cell in trial.rows[at][1]))
    begin = next(spoiled, first)
    skipped = [(k, lines[k]) for at, (k, _) in enumerate(trial.rows[:begin]) if at != chosen]
    return begin, trial.rows[chosen][1], skipped


def _has_number(cell, trial):
    return kind_of(cell, trial.numbers) not in (None, "text")


def _is_numbered(cells, trial, first):
    """Whether a row counts 0, 1, 2, ... over columns of other numbers, as the names of a nameless DataFrame do."""
    following = next((row for _, row in trial.rows[first + 1 :] if len(row) == trial.width), None)
    if following is None or trial.width < 2:
        return False
    if cells[0] == "" and cells[1:] == [str(k) for k in range(trial.width - 1)]:
        return following[0] != ""
    return cells == [str(k) for k in range(trial.width)] and all("." in cell for cell in following)
