"""Tables in text files of any layout and encoding, unpacked as their endings say."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import warnings
import zipfile
from collections import deque
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, takewhile
from pathlib import Path

import numpy as np

from ..utils._times import Sampling
from ..utils.validation import refused
from ._layout import EMPTY_CELLS, WORDS, kind_of, layout_of, number_form, split
from ._library import unique
from ._read import check_format

LONGEST_LINE = 2**20  # characters: tens of thousands of columns
HEAD = 500  # rows by which the layout is recognized
FOOT = 50  # lines of a footer at most
NO_NUMBERS = (
    "the file must hold at least one row of numbers. Got none in its first lines. Name its separator and decimal mark "
    "with separator=... and decimal=..., the line of its header with header=...."
)


NOT_UNPACKED = (".7z", ".rar", ".tar", ".tgz", ".zst")


def _member(file):
    """Return the only file in a ZIP file."""
    archive = zipfile.ZipFile(file)
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        raise ValueError(f"a ZIP file must hold one file. Got {len(members)}. Unpack it.")
    return archive.open(members[0])


UNPACKERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _member}


def contents(path):
    """Return whether a file is packed, and the ending of what it holds, as its name says."""
    packed = Path(path).suffix.lower() in UNPACKERS
    return packed, Path(Path(path).stem if packed else path).suffix.lower()


@contextmanager
def opened(path):
    """A file to read bytes from, unpacked where its ending says so."""
    kind = Path(path).suffix.lower()
    if not os.path.isfile(path) and not os.path.isdir(path) and (path == "-" or os.path.exists(path)):
        raise ValueError("a pipe or the standard input cannot be read twice. Write its contents to a file.")
    if kind in NOT_UNPACKED and os.path.exists(path):
        raise ValueError(f"files packed as {kind} cannot be read. Unpack it, or pack it as {' '.join(UNPACKERS)}.")
    with open(path, "rb") as file, UNPACKERS.get(kind, nullcontext)(file) as unpacked:
        yield io.BufferedReader(unpacked, 2**18)


MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32"}
MARKS |= {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def encoding_of(file, given):
    """Return the encoding of a text, and what there is to say about it."""
    if given is not None:
        try:
            return codecs.lookup(given).name, []
        except LookupError:
            raise refused("encoding", "be known, such as utf-8 or cp1252", repr(given)) from None
    head = file.peek(2**16)[: 2**16]
    if marked := [encoding for mark, encoding in MARKS.items() if head.startswith(mark)]:
        return marked[0], []
    zeros = [head[k::2].count(0) for k in (0, 1)]
    if sum(zeros) > len(head) / 4 and 10 * min(zeros) < max(zeros):  # letters and digits are zero in every second byte
        return ("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"), []
    if 0 in head[:512]:  # MATLAB's files, HDF5 and the like, whose bytes may all be letters otherwise
        raise UnicodeDecodeError("charmap", head, head.index(0), head.index(0) + 1, "no letter")
    try:
        head[: head.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", ["the text is not UTF-8 and was read as cp1252 (encoding=... names another)"]
    return "utf-8", []


# -------------------------------------------------------------------------------------------------------------- tables
@dataclass
class Table:
    """A table that was read from a file, all of its columns named by texts; blanks name those without a name."""

    path: str
    frame: object  # DataFrame, or an array (n, columns) that is not in memory
    names: list
    first_line: int = 0  # of the data in a text file, from 1
    header: bool = True  # whether the file names its columns
    marks: tuple = (".", "")  # of decimals and of thousands, in cells that are texts
    notes: list = field(default_factory=list)  # what was guessed or left out
    times: object = None  # ndarray, Sampling or EvenTimes, where the file has them in no column


def read_text(path, reading):
    """Read a table from a text file; what the `Reading` does not say is found from its first lines."""
    with opened(path) as file:
        encoding, notes = encoding_of(file, reading.encoding)

    @contextmanager
    def text():
        with opened(path) as file, io.TextIOWrapper(file, encoding=encoding) as text:
            yield text

    return table_of(path, text, reading, notes)


def table_of(path, source, reading, notes, row="line"):
    """Return the table in a text, which `source` opens, without empty rows at the end, as spreadsheets write."""
    import pandas as pd

    with source() as text:
        lines = list(_first_lines(text))
    check_format(path, "\n".join(lines[:50]).encode())
    known = {name: getattr(reading, name) for name in ("separator", "decimal", "thousands", "header")}
    layout = layout_of(lines, missing=reading.words, **known)
    if layout is None:
        raise ValueError(NO_NUMBERS)
    frame, notes = None, [*notes, *layout.notes]
    # By lines that are no data, for all that the first lines say.
    with suppress(pd.errors.ParserError, pd.errors.ParserWarning):
        frame = _frame(source, layout, reading)
    names = unique_names(layout.names or [str(k + 1) for k in range(len(layout.kinds))], notes)
    if layout.skipped:
        which = _numbered([number for number, _ in layout.skipped], row)
        notes.append(f"{which} neither names nor numbers and skipped: {layout.skipped[0][1].strip()[:60]!r}")
    if frame is None or _has_others(frame, layout.kinds):
        skip = _between(source, layout, notes, row)
        frame = _frame(source, layout, reading, skip) if skip or frame is None else frame
    if not len(frame):
        raise ValueError(NO_NUMBERS)
    if empty := int(np.argmax(frame.notna().any(axis=1).to_numpy()[::-1])):
        notes.append(f"{empty} empty row{'s' if empty > 1 else ''} at the end left out")
        frame = frame.iloc[: len(frame) - empty]
    marks, header = (layout.decimal, layout.thousands or ""), layout.names is not None
    times = layout.rate and Sampling(layout.rate)
    return Table(path, frame.set_axis(names, axis=1), names, layout.first + 1, header, marks, notes, times)


def _has_others(frame, kinds):
    """Return whether lines of other things than data may be among the rows: texts for numbers, and comments."""
    numbers = frame[[k for k, kind in enumerate(kinds) if kind == "number"]]
    texts = any(dtype.kind not in "biuf" for dtype in numbers.dtypes)
    nothing = numbers.shape[1] and numbers[-1:].isna().all(axis=None)
    return texts or nothing or (kinds[0] != "number" and frame[0].str.startswith("#").any())


def _numbered(lines, row):
    """Return which lines something is said of."""
    which = f"{lines[0] + 1} to {lines[-1] + 1}" if len(lines) > 3 else ", ".join(str(line + 1) for line in lines)
    return f"{row} {which} is" if len(lines) == 1 else f"{row}s {which} are"


def _first_lines(text):
    pieces = iter(partial(text.readline, LONGEST_LINE + 1), "")  # a line may be the whole file
    for number, line in enumerate(islice(pieces, HEAD), 1):
        if len(line.rstrip("\n")) > LONGEST_LINE:
            rule = f"a file must have lines of at most {LONGEST_LINE} characters, one for each time point"
            way_out = "Write one time point a line, its channels side by side."
            raise ValueError(f"{rule}. Got a longer one, line {number}. {way_out}")
        yield line.rstrip("\n")


def _frame(source, layout, reading, skip=()):
    """Return the data as a DataFrame, without the lines of these numbers."""
    import pandas as pd

    words, columns = [*EMPTY_CELLS, *reading.words], dict(enumerate(layout.kinds))
    style = {"decimal": layout.decimal, "thousands": layout.thousands, "quotechar": layout.quote}
    style |= {"skiprows": {*range(layout.first), *skip}, "header": None, "names": range(len(columns))}
    style["dtype"] = {k: "str" for k, kind in columns.items() if kind != "number"}
    style["na_values"] = {k: words + WORDS * (kind == "number") for k, kind in columns.items()}
    # With low memory off a column of numbers and texts holds texts, and is refused with the row.
    style |= {"index_col": False, "skipinitialspace": True, "low_memory": False}
    with source() as text, warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        try:
            return pd.read_csv(text, sep=layout.separator or r"\s+", **style)
        except pd.errors.EmptyDataError:
            raise ValueError(NO_NUMBERS) from None


def _between(source, layout, notes, row):
    """Return the numbers of lines that are comments, or stand behind the data and have other cells or no value."""
    numbers, kinds, skip, last = number_form(layout.decimal, layout.thousands), layout.kinds, set(), deque(maxlen=FOOT)
    with source() as text:
        for number, line in enumerate(map(str.strip, text)):
            if line.startswith("#"):
                skip.add(number)
            elif line.strip("\t ;,|"):
                last.append((number, line))

    def is_foot(line):
        found = [kind_of(cell, numbers) for cell in split(line, layout.separator)]
        values = [own == kind != "text" for own, kind in zip(found, kinds, strict=False)]
        return not (any(values) if len(found) == len(kinds) else values[0])

    foot = dict([*takewhile(lambda one: is_foot(one[1]), reversed(list(last)[1:]))][::-1])
    if 0 < len(foot) < FOOT - 1:
        notes.append(f"{_numbered([*foot], row)} behind the data and skipped: {next(iter(foot.values()))[:60]!r}")
        skip.update(foot)
    return skip


def unique_names(names, notes):
    """Return names without what numpy.savetxt puts before them, no two alike; blanks for those that are missing."""
    names = [str(name).strip().lstrip("#").strip() for name in names]
    found = [name or " " * names[:k].count("") for k, name in enumerate(names)]
    pairs = zip(found, own := unique(found), strict=True)
    notes += [f"another column named {name!r} is called {new!r}" for name, new in pairs if name != new]
    return own
