"""Tables: text, spreadsheets, Parquet and Feather, whose layout, names and times are found out."""

from ..utils._names import warn
from ._columns import columns_of
from ._packed import contents
from ._recording import Recording
from ._tables import READERS, Reading, read_table

TEXT = bytes(range(32, 256)) + b"\t\n\r\f\x1b"  # bytes of a text, whatever its encoding


def can_open(path, head):
    """Return whether a file is called as a table, or begins as a text."""
    packed, kind = contents(path)
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
    return packed or kind in READERS or wide or (head != b"" and not head.translate(None, TEXT))


def open(path, channels=None, **options):
    """Return the recording in a table; `options` are those of the command line, such as `time_column` and `missing`."""
    if channels is not None:
        options["columns"] = channels if isinstance(channels, str) else ",".join(channels)
    reading = Reading(**options)
    found = columns_of(read_table(path, reading, "the file"), reading, "the file")
    for note in found["notes"]:
        warn(note)
    values = found["values"]
    return Recording(values.to_numpy(), found.get("times"), list(values.columns))
