"""Tables in text files of any layout, packed or not.

Spreadsheets, loggers and ``DataFrame.to_csv`` write text tables in many ways, and few say which. Separator, decimal
mark, comments, header and units are therefore found from the first lines: each combination of separator and decimal
mark is tried, and the one wins under which most cells are numbers, dates or clock times.
"""

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import sys
import warnings
import zipfile
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

LONGEST_LINE = 2**20  # characters: tens of thousands of columns
LARGE = 2**25  # bytes from which a bar shows how far the reading has come
PACKED = 2**16  # bytes that are unpacked at a time
HEAD = 500  # rows by which the layout is recognized


@dataclass
class Table:
    """A table that was read from a file, all of its columns named by texts; blanks name those without a name."""

    path: str
    frame: object  # DataFrame, or an array (n, columns) that is not in memory
    names: list
    rate: float | None = None  # samples per second, where the file says so
    first_line: int = 0  # of the data in a text file, from 1
    header: bool = True  # whether the file names its columns
    notes: list = field(default_factory=list)  # what was guessed or left out


# ------------------------------------------------------------------------------------------------------------- packed
class _Counted(io.FileIO):
    """A file that moves a bar as it is read."""

    def __init__(self, path, bar):
        super().__init__(path)
        self._bar = bar

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self._bar.update(count)
        return count


class _Unpacked(io.RawIOBase):
    """A file of the bytes that an iterator yields."""

    def __init__(self, chunks):
        self._chunks, self._left = chunks, b""

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._left:
            self._left = next(self._chunks, None)
            if self._left is None:
                return 0
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _zstandard(file):
    """Return a file of what a Zstandard file holds; a truncated one is an error, as with the other formats."""
    try:
        import zstandard
    except ImportError:
        raise ValueError(
            "files packed as .zst need the package zstandard, which is not installed. Install it (pip install "
            "zstandard), or unpack the file; .gz, .bz2, .xz and .zip are read as they are."
        ) from None

    def chunks():
        frame = None
        try:
            while packed := file.read(PACKED):
                while packed:  # which may belong to several frames
                    frame = frame or zstandard.ZstdDecompressor().decompressobj()
                    yield memoryview(frame.decompress(packed))
                    packed, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        except zstandard.ZstdError as error:
            raise OSError(f"the packed file cannot be unpacked: {error}") from None
        if frame is not None:
            raise EOFError("the packed file ends before its contents do; copy or download it again")

    return _Unpacked(chunks())


UNPACKERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _zstandard}


def contents(path):
    """Return whether a file is packed, and the ending of what it holds, as its name says."""
    kind = Path(path).suffix.lower()
    packed = kind in UNPACKERS
    return packed, Path(Path(path).stem).suffix.lower() if packed else kind


@contextmanager
def opened(path):
    """A file to read bytes from, unpacked where its ending says so."""
    exists, kind = os.path.exists(path), Path(path).suffix.lower()
    if (exists or path == "-") and not os.path.isfile(path) and not os.path.isdir(path):
        what = "a pipe" if exists else "the standard input"
        raise ValueError(
            f"a file must be one that can be read twice, which {what} cannot. Write its contents to a file."
        )
    size = os.path.getsize(path)
    if kind in (".7z", ".rar", ".tar", ".tgz"):
        raise ValueError(
            f"files packed as {kind} cannot be read. Unpack it; .gz, .bz2, .xz, .zst and .zip are read as they are."
        )
    with ExitStack() as stack:
        if kind == ".zip":
            file = stack.enter_context(zipfile.ZipFile(path))
            members = [name for name in file.namelist() if not name.endswith("/")]
            if len(members) != 1:
                raise ValueError(f"a ZIP file must hold one file. Got {len(members)}. Unpack it.")
            file = stack.enter_context(file.open(members[0]))
        else:
            file = stack.enter_context(open(path, "rb"))
            if size > LARGE and sys.stderr.isatty():
                from tqdm import tqdm

                bar = tqdm(total=size, unit="B", unit_scale=True, desc=Path(path).name, leave=False)
                file = stack.enter_context(io.BufferedReader(_Counted(path, stack.enter_context(bar))))
            if kind in UNPACKERS:
                file = stack.enter_context(UNPACKERS[kind](file))
        yield io.BufferedReader(file, 2**18)


# ------------------------------------------------------------------------------------------------------------- layout
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
    """Layout of a text table: separators, header, kinds of columns and lines to skip."""

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
    """Return a regular expression of numbers with this decimal mark.

    Groups of thousands count where they cannot be mistaken: with both marks, with two groups, or if the mark is given.
    """
    d, other = re.escape(decimal), re.escape(thousands or {".": ",", ",": "."}[decimal])
    plain = rf"(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"
    groups = rf"[1-9]\d{{0,2}}(?:{other}\d{{3}})+"
    sure = rf"{groups}(?:{d}\d*)?" if thousands else rf"(?:{groups}{d}\d*|[1-9]\d{{0,2}}(?:{other}\d{{3}}){{2,}})"
    return re.compile(rf"[+-]?(?:{plain}|(?P<grouped>{sure})|inf|Inf|infinity)")


def split(line, separator):
    """Return the cells of a line."""
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


def has_value(cells, numbers):
    """Return whether any of the cells is a number, a date or a clock time."""
    return any(kind_of(cell, numbers) not in (None, "text") for cell in cells)


class _Trial(NamedTuple):
    """The lines under one separator and decimal mark."""

    score: float
    separator: str | None
    numbers: re.Pattern
    decimal: str
    rows: list  # (line number, cells)
    whole: list  # the cells of rows of the usual width

    empty: int  # columns at the end of which no cell holds anything, but perhaps a name

    @property
    def width(self):
        """Number of columns."""
        return len(self.whole[0])


def _try(lines, separator, decimal, thousands):
    rows = [(number, split(line, separator)) for number, line in lines]
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    whole = [cells for _, cells in rows if len(cells) == width]
    if separator != NONE and (width < 2 or (separator == "," and width == 2 and decimal == "." and _is_split(whole))):
        return None
    numbers = number_form(decimal, thousands)
    # Names and units, rows without any number, say nothing against a mark; texts with a comma are cells of a table.
    spoiled = separator == NONE and decimal == ","
    telling = [cells for cells in whole if has_value(cells, numbers) or (spoiled and "," in cells[0])]
    known = sum(kind_of(cell, numbers) != "text" for cells in telling for cell in cells)
    score = known / max(1, width * len(telling)) * len(whole) / len(rows)
    full = max((k for cells in telling for k, cell in enumerate(cells, 1) if cell), default=0)
    return _Trial(score, separator, numbers, decimal, rows, whole, width - full)


def _is_split(rows):
    """Return whether two columns are the digits before and behind a decimal comma.

    Such columns have as many digits in each row, some after a zero.
    """
    second = [cells[1] for cells in rows]
    return (
        len({len(cell) for cell in second}) == 1
        and all(map(str.isdigit, second))
        and any(cell[0] == "0" for cell in second)
        and len(second[0]) > 1
    )


def layout_of(lines, *, separator=None, decimal=None, thousands=None, header=None):
    """Return the layout of a table whose first lines these are, or None if they hold no row of numbers.

    Parameters
    ----------
    lines : list of str
        The first lines, without line ends.
    separator, decimal, thousands : str, optional
        What is known of it.
    header : int, optional
        The number of the line with the names, from 1; 0: no names.

    Returns
    -------
    Layout or None
    """
    quote = "'" if any(SINGLE_QUOTED.match(line) for line in lines) and not any('"' in line for line in lines) else '"'
    written, lines = lines, [line.replace(quote, '"') for line in lines]
    comments = {k for k, line in enumerate(lines) if line.lstrip().startswith("#")}
    content = [(k, line) for k, line in enumerate(lines) if line.strip() and k not in comments and k >= (header or 0)]
    if not content:
        return None
    separators = (*SEPARATORS, NONE)
    if separator is not None:
        separators = ({"tab": "\t", "\\t": "\t", "space": None, " ": None}.get(separator, separator), NONE)
    marks = (decimal,) if decimal else (".", ",")
    trials = [_try(content, s, d, thousands) for s in separators for d in marks if s != d]
    best = max((trial for trial in trials if trial is not None), key=lambda trial: trial.score, default=None)
    if best is None:
        return None
    kinds = _kinds(best)
    first = next((at for at, (_, cells) in enumerate(best.rows) if _is_data(cells, kinds, best.numbers)), None)
    if first is None:
        return None
    names, skipped = None, []
    if header is None:
        first, chosen = _head(best, first)
        skipped = [(k, written[k]) for at, (k, _) in enumerate(best.rows[:first]) if at != chosen]
        if chosen is not None:
            names = best.rows[chosen][1]
        else:  # numpy.savetxt writes a # before the names
            last = max((k for k in comments if k < best.rows[first][0]), default=None)
            inside = [] if last is None else split(lines[last].lstrip("# "), best.separator)
            names = inside if len(inside) == best.width and not has_value(inside, best.numbers) else None
    else:
        first = 0
        if 0 < header <= len(lines):
            names = split(lines[header - 1].lstrip("# "), best.separator)
    data = [cells for _, cells in best.rows[first:]]
    if thousands is None and any(m and m["grouped"] for cells in data for m in map(best.numbers.fullmatch, cells)):
        thousands = {".": ",", ",": "."}[best.decimal]
    if names is not None and 0 < best.width - len(names) <= best.empty:  # rows end in marks
        names = [*names, *[""] * (best.width - len(names))]
    elif names is not None and len(names) == best.width - 1:  # R leaves out the name of the index
        names = ["", *names]
    if names is not None and len(names) != best.width:
        raise ValueError(
            f"--header must be the line of the names, as many as there are columns, {best.width}. Got line {header} "
            f"with {len(names)}: {written[header - 1].strip()[:60]!r}."
        )
    within = any("#" in line.lstrip()[1:] for _, line in content)
    return Layout(
        ";" if best.separator == NONE else best.separator,
        best.decimal,
        thousands,
        "#" if comments and not within else None,
        best.rows[first][0],
        names,
        kinds,
        skipped,
        quote,
    )


def _kinds(trial):
    """Return the kind of most cells of each column."""
    kinds = []
    for column in zip(*trial.whole, strict=True):
        counts = Counter(kind for cell in column if (kind := kind_of(cell, trial.numbers)) is not None)
        kinds.append(counts.most_common(1)[0][0] if counts else "number")
    # Names in a header of a few rows must not outvote the numbers below them.
    last = trial.rows[-1][1]
    if len(trial.rows) < 4 and len(last) == trial.width:
        kinds = [kind_of(cell, trial.numbers) or kind for cell, kind in zip(last, kinds, strict=True)]
    return kinds


def _is_data(cells, kinds, numbers):
    if len(cells) != len(kinds):
        return False
    found = [kind_of(cell, numbers) for cell in cells]
    fits = all(a is None or b == "text" or a == b for a, b in zip(found, kinds, strict=True))
    return fits and has_value(cells, numbers)


def _head(trial, first):
    """Return the first row of data and the row of the names before it, or None."""
    rows = [cells for _, cells in trial.rows]
    if _is_numbered(rows[first], trial, first):  # the header of a DataFrame whose columns are numbers
        return first + 1, first
    # Rows of names: of about as many cells as the data, and no number among them.
    least = max(min(2, trial.width), trial.width - max(1, trial.empty))
    names = [at for at in range(first) if least <= len(rows[at]) <= trial.width]
    names = [at for at in names if not has_value(rows[at], trial.numbers)]
    if not names:
        return first, None
    chosen = names[-1]
    if chosen - 1 in names and trial.rows[chosen - 1][0] == trial.rows[chosen][0] - 1:
        units = all(UNIT.fullmatch(cell) for cell in rows[chosen] if cell)
        timed = [any(TIME_WORD.match(cell) for cell in rows[at]) for at in (chosen - 1, chosen)]
        chosen -= units or timed == [True, False]
    # What stands between the names and the first whole row, and holds a number, is data that somebody spoiled.
    return next((at for at in range(chosen + 1, first) if has_value(rows[at], trial.numbers)), first), chosen


def _is_numbered(cells, trial, first):
    """Return whether a row counts 0, 1, 2, ... over columns of other numbers, as a nameless DataFrame names them."""
    following = next((row for _, row in trial.rows[first + 1 :] if len(row) == trial.width), None)
    if following is None or trial.width < 2:
        return False
    if cells[0] == "" and cells[1:] == [str(k) for k in range(trial.width - 1)]:
        return following[0] != ""
    return cells == [str(k) for k in range(trial.width)] and all("." in cell for cell in following)


# ------------------------------------------------------------------------------------------------------------ reading
def read_text(path, *, separator=None, decimal=None, thousands=None, header=None, encoding=None):
    """Read a table from a text file; what is not given is found from its first lines.

    Parameters
    ----------
    path : str
        The file.
    separator, decimal, thousands, header : optional
        See `layout_of`.
    encoding : str, optional
        The encoding.

    Returns
    -------
    Table
    """
    import pandas as pd

    with opened(path) as file:
        encoding, noted = _encoding(file, encoding)
        with io.TextIOWrapper(file, encoding=encoding, newline=None) as text:
            lines = list(_first_lines(text))
    layout = layout_of(lines, separator=separator, decimal=decimal, thousands=thousands, header=header)
    if layout is None:
        raise ValueError(
            "the file must hold at least one row of numbers. Got none in its first lines. Its separator and decimal "
            "mark may be named with --separator and --decimal, the line of its header with --header."
        )
    notes = [noted] if noted else []
    try:
        frame = _frame(path, encoding, layout)
        commented = frame[0].dtype.kind not in "biuf" and frame[0].astype(str).str.startswith("#").any()
    except pd.errors.ParserError:
        commented = True  # for all that the first lines say
    if commented:
        frame = _frame(path, encoding, layout, commented)
    for k, kind in enumerate(layout.kinds):
        if kind == "number" and frame[k].dtype.kind not in "biuf":  # there is a text among the numbers
            frame[k] = _numbers_and_texts(frame[k], layout)
    return table_of(path, frame, layout, notes)


def table_of(path, frame, layout, notes, row="line"):
    """Return the table of data that were found by a layout, without empty rows at the end, as spreadsheets write."""
    names = unique_names(layout.names or [str(k + 1) for k in frame], notes)
    for number, line in layout.skipped:
        notes.append(f"{row} {number + 1} is neither names nor numbers and was skipped: {line.strip()[:60]!r}")
    full = np.flatnonzero(frame.notna().any(axis=1).to_numpy())
    empty = len(frame) - (full[-1] + 1 if len(full) else 0)
    if 0 < empty < len(frame):
        notes.append(f"{empty} empty row{'' if empty == 1 else 's'} at the end left out")
        frame = frame.iloc[: len(frame) - empty]
    frame = frame.set_axis(names, axis=1)
    return Table(path, frame, names, first_line=layout.first + 1, header=layout.names is not None, notes=notes)


def _first_lines(text):
    for number in range(1, HEAD + 1):
        line = text.readline(LONGEST_LINE + 1)
        if len(line.rstrip("\n")) > LONGEST_LINE:
            raise ValueError(
                f"a file must have lines of at most {LONGEST_LINE} characters, one for each time point. Got a longer "
                f"one, line {number}. Write one time point a line, its channels side by side."
            )
        if not line:
            return
        yield line.rstrip("\n")


def _frame(path, encoding, layout, commented=False):
    """Return the data as a DataFrame, without lines that begin with # where they are `commented`."""
    import pandas as pd

    texts = {k: "str" for k, kind in enumerate(layout.kinds) if kind != "number"}
    with (
        opened(path) as file,
        io.TextIOWrapper(file, encoding=encoding, newline=None) as text,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # A column of numbers and texts is refused, with the row.
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        for _ in range(layout.first):
            text.readline()
        rows = (line for line in text if not line.lstrip().startswith("#"))
        try:
            return pd.read_csv(
                io.StringIO("".join(rows)) if commented else text,
                sep=r"\s+" if layout.separator is None else layout.separator,
                decimal=layout.decimal,
                thousands=layout.thousands,
                quotechar=layout.quote,
                comment=layout.comment,
                header=None,
                names=range(len(layout.kinds)),
                index_col=False,
                dtype=texts,
                skipinitialspace=True,
                na_values=EMPTY_CELLS,
            )
        except pd.errors.ParserWarning as warning:
            raise pd.errors.ParserError(str(warning)) from None


def _numbers_and_texts(column, layout):
    """Return a column in which cells like numbers are such; pandas leaves all of them texts for the sake of one."""
    form = number_form(layout.decimal, layout.thousands)

    def converted(cell):
        if not isinstance(cell, str) or not form.fullmatch(cell.strip()):
            return cell
        return float(cell.replace(layout.thousands or "\0", "").replace(layout.decimal, "."))

    return column.astype(object).map(converted)


def unique_names(names, notes):
    """Return names without what numpy.savetxt puts before them, no two alike; blanks for those that are missing."""
    found = []
    for name in (str(name).strip().lstrip("#").strip() for name in names):
        if not name:
            name = " " * sum(not other.strip() for other in found)
        elif name in found:
            count = sum(other == name or other.startswith(f"{name}.") for other in found)
            notes.append(f"another column named {name!r} is called {f'{name}.{count}'!r}")
            name = f"{name}.{count}"
        found.append(name)
    return found


MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"))
MARKS += ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def _encoding(file, given):
    """Return the encoding of a text, and what there is to say about it."""
    if given is not None:
        try:
            "".encode(given)
        except LookupError:
            raise ValueError(f"--encoding must be a known encoding, such as utf-8 or cp1252. Got {given!r}.") from None
        return given, None
    head = file.peek(2**16)[: 2**16]
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, None
    zeros = [head[k::2].count(0) for k in (0, 1)]
    if sum(zeros) > len(head) / 4 and 10 * min(zeros) < max(zeros):  # letters and digits are zero in every second byte
        return ("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"), None
    if 0 in head[:512]:  # MATLAB's files, HDF5 and the like, whose bytes may all be letters otherwise
        raise UnicodeDecodeError("charmap", head, head.index(0), head.index(0) + 1, "no letter")
    try:
        head[: head.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", "the text is not UTF-8 and was read as cp1252 (--encoding names another)"
    return "utf-8", None
