"""Layout of tables in texts and sheets, detected from their first lines.

Spreadsheets, loggers and ``DataFrame.to_csv`` write tables in many ways, and rarely say which. All combinations of
separator and decimal mark are tried; the one that makes most cells numbers, dates or clock times wins.
"""

import csv
import json
import re
from collections import Counter
from contextlib import suppress
from functools import cached_property, reduce
from itertools import pairwise

from ..utils.validation import refused
from ._library import rate_of

SEPARATORS = ("\t", ";", "|", ",", None)  # None: blanks
NO_SEPARATOR = "\0"  # does not occur in texts, so there is one column
MONTH = r"(?:[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Mm]a[yi]|[Jj]un|[Jj]ul|[Aa]ug|[Ss]ep|[Oo][ck]t|[Nn]ov|[Dd]e[cz])[a-z]*"
DAY = r"\d{1,2}[-/.]\d{1,2}"  # day and month, in either order
DATE = rf"(?:\d{{4}}[-/.]{DAY}|{DAY}[-/.](?:\d{{4}}|\d{{2}})|\d{{1,2}}[-/. ]{MONTH}[-/. ]\d{{2,4}})"
CLOCK = r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?"
MINUTES = r"\d{1,3}:\d{2}[.,]\d+"  # minutes and seconds with a fraction, as PhysioNet writes the first hour
ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?"
NAMED_ZONE = r" ?\[(\w+(?:/[\w+-]+)*)\]"  # as Java writes it after the offset
KINDS = {
    "datetime": re.compile(rf"(?:{DATE}|\d{{8}})[T ]+{CLOCK}{ZONE}(?:{NAMED_ZONE})?"),
    "date": re.compile(DATE),
    "clock": re.compile(rf"{CLOCK}|{MINUTES}"),
}
ERRORS = "#N/A #DIV/0! #VALUE! #REF! #NUM! #NAME? #NULL! #NV #WERT! #BEZUG! #ZAHL!".split()  # errors of spreadsheets
EMPTY_CELLS = ["-", "--", "---", *ERRORS]  # in addition to those of pandas
MISSING = {"", "nan", "na", "n/a", "null", "none", "<na>", *(cell.lower() for cell in EMPTY_CELLS)}
WORDS = ["M", *(form(word) for word in MISSING for form in (str.lower, str.upper, str.title))]  # in columns of numbers
UNIT = re.compile(
    r"[(\[].*[)\]]|-|%|°\s?[CFc]?|deg.*|[cdfhkmnpuµMGT]?(s|sec|Hz|V|A|W|g|G|m|N|Pa|bar|T|C|F|K|L|l|rad|J|min|h)"
    r"(\s?[/·*^²³]?.{0,5})?|[mM]?[Bb]ar|bpm|rpm|1|counts?|a\.?u\.?|raw|yyyy.*|hh.*|mm:.*"
)
SINGLE_QUOTED = re.compile(r"\s*'[^']*'\s*(?:[\t;|,]|$)")  # matches the first cell of a line
TIME_WORD = re.compile(r"(?i)(date|time|zeit|uhrzeit|datum|heure|temps|fecha|hora|timestamp|t\b)")


def number_form(decimal, thousands):
    """Return a regular expression for numbers with this decimal mark.

    Groups of thousands are recognized only if they are unambiguous: with both marks, with two groups, or if the mark
    was given.
    """
    d, other = re.escape(decimal), re.escape(thousands or {".": ",", ",": "."}[decimal])
    plain = rf"(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"
    groups = rf"[1-9]\d{{0,2}}(?:{other}\d{{3}})+"
    sure = rf"{groups}(?:{d}\d*)?" if thousands else rf"(?:{groups}{d}\d*|[1-9]\d{{0,2}}(?:{other}\d{{3}}){{2,}})"
    return re.compile(rf"[+-]?(?:{plain}|(?P<grouped>{sure})|inf|Inf|infinity)")


def split(line, separator):
    """Split a line into cells."""
    if separator is None:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]


def kind_of(cell, numbers):
    """Return the kind of a cell: "number", a key of `KINDS` or "text"; None if the cell is empty."""
    if cell.lower() in MISSING:
        return None
    if numbers.fullmatch(cell):
        return "number"
    return next((kind for kind, form in KINDS.items() if form.fullmatch(cell)), "text")


class Layout:
    """Layout of a text table: separators, header, kinds of columns and lines to skip.

    It starts as the lines split by one separator and decimal mark, with a score; the best one is then completed.
    """

    def __init__(self, lines, separator, decimal, thousands, words):
        self.separator, self.decimal, self.thousands, self.words = separator, decimal, thousands, words
        self.numbers = number_form(decimal, thousands)
        self.rows = [(number, split(line, separator)) for number, line in lines]
        below = self.rows[len(self.rows) // 2 :]  # the lower half, without settings at the top
        self.width = width = Counter(len(cells) for _, cells in below).most_common(1)[0][0]
        self.whole = whole = [cells for _, cells in self.rows if len(cells) == width]
        # Rows without numbers are names or units and do not count; a comma in texts must separate cells.
        spoiled = separator == NO_SEPARATOR and decimal == ","
        telling = [cells for cells in whole if self.has_value(cells) or (spoiled and "," in cells[0])]
        known = sum(kind_of(cell, self.numbers) != "text" for cells in telling for cell in cells)
        shares = len(whole) / len(self.rows), sum(len(cells) == width for _, cells in below) / len(below)
        self.score = known / max(1, width * len(telling)) * max(shares) + 1e-3 * shares[0]
        # Columns at the right end that are empty except for a name.
        self.empty = width - max((k for cells in telling for k, cell in enumerate(cells, 1) if cell), default=0)
        if (separator != NO_SEPARATOR and width < 2) or ((separator, decimal) == (",", ".") and _is_split(whole)):
            self.score = -1

    def has_value(self, cells):
        """Return whether any cell is a number, a date or a clock time."""
        return any(kind_of(cell, self.numbers) not in (None, "text") for cell in cells)

    @cached_property
    def kinds(self):
        """The kind of most cells in each column: "number", a key of `KINDS`, or "text"."""
        kinds = []
        for column in zip(*self.whole, strict=True):
            known = [kind_of(cell, self.numbers) for cell in column if cell not in self.words]
            known = [kind for kind in known if kind is not None] or ["number"]
            # In a table with few rows, names in the header must not outvote the numbers below them.
            kinds.append(known[-1] if len(self.rows) < 6 else Counter(known).most_common(1)[0][0])
        return kinds

    def is_data(self, cells):
        """Return whether the cells of a row match the kinds of the columns, with at least one value."""
        found = ((cell, kind_of(cell, self.numbers), kind) for cell, kind in zip(cells, self.kinds, strict=False))
        fits = all(own in (None, kind) or kind == "text" or cell in self.words for cell, own, kind in found)
        return len(cells) == self.width and fits and self.has_value(cells)


def _is_split(rows):
    """Return whether two columns are the digits before and after a decimal comma.

    The second column then has the same number of digits in each row, and some values start with a zero.
    """
    second = [cells[1] for cells in rows if len(cells) == 2]
    alike = len({len(cell) for cell in second}) == 1 and all(map(str.isdigit, second))
    return alike and any(cell[0] == "0" for cell in second) and len(second[0]) > 1


def layout_of(lines, *, separator=None, decimal=None, thousands=None, header=None, missing=()):
    """Return the layout of a table from its first lines, or None if they contain no row of numbers.

    Parameters
    ----------
    lines : list of str
        The first lines, without line ends.
    separator, decimal, thousands : str, optional
        The known parts of the layout.
    header : int, optional
        The number of the line with the names, from 1; 0: no names.
    missing : list of str
        Words that mean missing numbers.

    Returns
    -------
    Layout or None
    """
    if header is not None and not 0 <= header <= len(lines):
        raise refused("header", f"be the number of one of the {len(lines)} first lines, or 0", header)
    quote = "'" if any(SINGLE_QUOTED.match(line) for line in lines) and not any('"' in line for line in lines) else '"'
    written, lines = lines, [line.replace(quote, '"') for line in lines]
    comments = {k: line.strip().lstrip("# ") for k, line in enumerate(lines) if line.lstrip().startswith("#")}
    content = [(k, line) for k, line in enumerate(lines) if line.strip() and k not in comments and k >= (header or 0)]
    separators = (*SEPARATORS, NO_SEPARATOR)
    if separator is not None:
        separators = ({"tab": "\t", "\\t": "\t", "space": None, " ": None}.get(separator, separator), NO_SEPARATOR)
    marks, words = (decimal,) if decimal else (".", ","), {*WORDS, *missing}
    trials = (Layout(content, s, d, thousands, words) for s in separators for d in marks if s != d and content)
    best = max(trials, key=lambda trial: trial.score, default=None)
    rows = [] if best is None or best.score < 0 else best.rows
    first = next((at for at, (_, cells) in enumerate(rows) if best.is_data(cells)), None)
    if first is None:
        return None
    if header is None:
        first, used, names, best.notes = _head(best, first)
    else:
        names = split(lines[header - 1].lstrip("# "), best.separator) if header else None
        first, used, best.notes = 0, [], []
    # Numbers and texts of the lines before the data that are neither header nor comment.
    best.skipped = [(k, written[k]) for at, (k, _) in enumerate(rows[:first]) if at not in used]
    best.first, best.quote = rows[first][0], quote  # number of the first line of data; the quotation mark
    best.rate, said = _said([line for k, line in comments.items() if k < best.first], best)
    best.names = _as_wide(names or (said if header is None else None), best, header, written)
    cells = (cell for _, row in rows[first:] for cell in row) if thousands is None else ()
    if any(m and m["grouped"] for m in map(best.numbers.fullmatch, cells)):
        best.thousands = {".": ",", ",": "."}[best.decimal]
    best.separator = ";" if best.separator == NO_SEPARATOR else best.separator
    return best


def _as_wide(names, trial, header, written):
    """Return names for all columns: rows may end with separators, and R leaves out the name of the index."""
    if names is None:
        return None
    short = trial.width - len(names)
    if short not in (0, 1, *range(trial.empty + 1)):
        rule = f"the line of the names, as many as there are columns, {trial.width}"
        got = f"line {header} with {len(names)}: {written[header - 1].strip()[:60]!r}"
        raise ValueError(f"The 'header' parameter must be {rule}. Got {got}.")
    return [*names, *[""] * short] if short <= trial.empty else [""] * short + names


def _said(comments, trial):
    """Return the rate and the column names that comments before the data give, as JSON or in numpy's form."""
    rate = None
    for text in (text for text in comments if text.startswith("{")):
        with suppress(ValueError):
            found = json.loads(text)
            inner = next((value for value in found.values() if isinstance(value, dict)), {})  # the entry of a device
            rate, lists = rate_of({**found, **inner}), {**found, **inner}.items()
            names = next((v for k, v in lists if k.lower() in ("columns", "column") and isinstance(v, list)), [])
            if trial.width - trial.empty <= len(names) <= trial.width:
                return rate, list(map(str, names))
    inside = split(comments[-1], trial.separator) if comments else []
    return rate, inside if len(inside) == trial.width and not trial.has_value(inside) else None


def _head(trial, first):
    """Return the first row of data, the rows of names, the names of columns or None, and notes."""
    rows, width = [cells for _, cells in trial.rows], trial.width
    following = next((row for row in rows[first + 1 :] if len(row) == width), [""])
    if (trial.kinds[0] != "text" or not rows[first][0]) and _is_numbered(rows[first], following, trial):
        return first + 1, [first], rows[first], []

    def names_columns(at):  # whether a row has about as many cells as the data, and no number
        cells, least = rows[at], max(min(2, width), width - max(1, trial.empty))
        return least <= len(cells) <= width and not trial.has_value(cells) and not cells[0].endswith(":")

    block = [at for at in range(first) if names_columns(at)]
    # A row with a number between the names and the first whole row is incomplete data.
    between = [at for at in range(block[-1] + 1 if block else first, first) if trial.has_value(rows[at])]
    above = rows[first - 1] if first and not block else [""]
    if len(above) == width > 1 and not above[0].endswith(":") and _is_numbered(above, rows[first], trial):
        return first, [first - 1], above, []
    if not block or any(rows[at][0].endswith(":") for at in between):  # the row above belongs to settings, too
        return first, [], None, []
    first, at = min(between, default=first), block[-1]
    above, names = rows[at - 1], rows[at]
    if at - 1 not in block or trial.rows[at - 1][0] != trial.rows[at][0] - 1 or len(above) != len(names):
        return first, [at], names, []
    if width > 1 and names[0] and not any(names[1:]):  # pandas writes the name of the index on a line of its own
        levels = [rows[level] for level in block if level < at and len(rows[level]) == len(names)]
        return first, block, [names[0], *reduce(_joined, levels)[1:]], ["rows of names were joined"]
    filled, merged, joined = [name for name in names if name], _merged(above, names), _joined(above, names)
    timed = [any(map(TIME_WORD.match, cells)) for cells in (above, names)] == [True, False]
    if all(map(UNIT.fullmatch, filled)) or (timed and not merged):
        return first, [at - 1], above, []
    if not merged and (len({*filled}) == len(filled) or len({*joined}) < len(joined)):
        return first, [at], names, []
    example = next((new for new, old in zip(joined, names, strict=True) if new.endswith(f" {old}")), joined[-1])
    return first, [at - 1, at], joined, [f"two rows of names were joined: {example!r}"]


def _merged(groups, names):
    """Return whether group names stand above the names, once per column or, in merged cells, only above the first."""
    inner = "".join("x" if group else " " for group in groups).rstrip()
    below = any(name and not group for group, name in zip(groups, names, strict=True))
    repeated = any(a == b != "" for a, b in pairwise(groups))
    return repeated or (below and inner.count("x") > 1 and " " in inner)


def _joined(groups, names):
    """Return column names prefixed by those of their groups: ``left x``, ``left y``.

    pandas writes the names of the levels above the index.
    """
    above, joined = "", []
    for k, (group, name) in enumerate(zip(groups, names, strict=True)):
        above = group or above
        levels = k == 0 and name and name not in names[1:] and groups[1:2] not in ([""], [group])
        joined.append(name if levels else f"{above} {name}".strip() if name else group)
        above = above if name else ""  # merged with the cell below, or a name by itself
    return joined


def _is_numbered(cells, below, trial):
    """Return whether a row holds numbers as column names, as in a DataFrame or a spectrum, above other numbers."""
    named = kind_of(cells[0], trial.numbers) in (None, "text")
    numbers = cells[named:]
    if len(cells) < 2 or not all(map(str.isdigit, numbers)) or not below[0]:
        return False
    steps = {int(b) - int(a) for a, b in pairwise(numbers)}
    counted, even = int(numbers[0]) in (0, 1) and steps <= {1}, len(steps) <= 1 and min(steps, default=1) > 0
    if cells[0] and named:  # a text above a column of numbers
        return len({*numbers}) == len(numbers)
    fractions = all(trial.decimal in cell for cell in below[named:])
    few = counted and (len(numbers) > 2 or numbers[0] == "0")
    return counted or (fractions and even) if named else fractions and (even if len(numbers) > 3 else few)
