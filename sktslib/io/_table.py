"""Tables: text, spreadsheets, Parquet and Feather, whose layout, names and times are found out."""

from ..utils._names import warn
from ._columns import columns_of
from ._packed import contents
from ._recording import Recording
from ._tables import READERS, Reading, source_of

TEXT = bytes(range(32, 256)) + b"\t\n\r\f\x1b"  # bytes of a text, whatever its encoding


def can_open(path, head):
    """Return whether a file is called as a table, or begins as a text."""
    packed, kind = contents(path)
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
    return packed or kind in READERS or wide or (head != b"" and not head.translate(None, TEXT))


def open(path, channels=None, missing=None, rows=None, **options):
    """Return the recording in a table, or the part in `rows`; `options` are those of `Reading`."""
    for name, given in (("columns", channels), ("missing", missing)):
        if given is not None:
            options[name] = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    reading, part = Reading(**options), slice(*rows or (0, None))
    found = columns_of(source_of(path, reading, "the file"), reading, "the file", part=rows and part)
    for note in found["notes"]:
        warn(note)
    times = found.get("times")
    return Recording(found["values"][part], None if times is None else times[part], found["names"])
