"""Files of bytes, unpacked as their endings say, and the encodings of texts."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import zipfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

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
    kind = Path(path).suffix.lower()
    packed = kind in UNPACKERS
    return packed, Path(Path(path).stem).suffix.lower() if packed else kind


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
            rule = "known, such as utf-8 or cp1252"
            raise ValueError(f"The 'encoding' parameter must be {rule}. Got {given!r}.") from None
    head = file.peek(2**16)[: 2**16]
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding, []
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
