"""Files of bytes, unpacked where their endings say so, without lines that are too long."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile
from pathlib import Path

import numpy as np

LONGEST_LINE = 2**20  # bytes: tens of thousands of columns
LARGE = 2**25  # bytes from which a bar shows how far the reading has come
PACKED = 2**16  # bytes that are unpacked at a time


class _Watched(io.RawIOBase):
    """A file that refuses long lines while it is read.

    Who reads a table holds a line whole, and a column for each of its fields.
    """

    def __init__(self, file, packed):
        self._file, self._packed, self._line, self._length = file, packed, 1, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._file.readinto(buffer)
        codes = np.frombuffer(buffer, np.uint8, count)
        ends = np.flatnonzero((codes == ord("\n")) | (codes == ord("\r")))
        lengths = np.diff(ends, prepend=-1 - self._length, append=len(codes)) - 1
        wrong = np.flatnonzero(lengths > LONGEST_LINE)
        if len(wrong):
            self._line += np.count_nonzero(codes[: ends[wrong[0] - 1] + 1] == ord("\n")) if wrong[0] else 0
            raise ValueError(
                f"a file must have lines of at most {LONGEST_LINE} bytes, one for each time point. Got a longer one, "
                f"line {self._line}. Write one time point a line, its channels side by side."
            )
        self._line += np.count_nonzero(codes == ord("\n"))
        self._length = int(lengths[-1])
        return count

    def close(self):
        self._file.close()
        self._packed.close()
        super().close()


def contents(path):
    """Whether a file is packed, and the ending of what it holds, as its name says."""
    kind = Path(path).suffix.lower()
    packed = kind in OPENERS
    return packed, Path(Path(path).stem).suffix.lower() if packed else kind


def opened(path):
    """A file to read bytes from, unpacked where its ending says so."""
    exists = os.path.exists(path)
    if (exists or path == "-") and not os.path.isfile(path) and not os.path.isdir(path):
        what = "a pipe" if exists else "the standard input"
        raise ValueError(
            f"a file must be one that can be read twice, which {what} cannot. Write its contents to a file."
        )
    size = os.path.getsize(path)
    kind = Path(path).suffix.lower()
    if kind == ".zip":
        raw = zipfile.ZipFile(path)
        members = [name for name in raw.namelist() if not name.endswith("/")]
        if len(members) != 1:
            raw.close()
            raise ValueError(f"a ZIP file must hold one file. Got {len(members)}. Unpack it.")
        file = raw.open(members[0])
    elif kind in (".7z", ".rar", ".tar", ".tgz"):
        raise ValueError(
            f"files packed as {kind} cannot be read. Unpack it; .gz, .bz2, .xz, .zst and .zip are read as they are."
        )
    else:
        raw = open(path, "rb")
        if size > LARGE and sys.stderr.isatty():
            from tqdm import tqdm

            bar = tqdm(total=size, unit="B", unit_scale=True, desc=Path(path).name, leave=False)
            raw = io.BufferedReader(_Counted(raw, bar))
        file = OPENERS[kind](raw) if kind in OPENERS else raw
    return io.BufferedReader(_Watched(file, raw), 2**18)


class _Counted(io.RawIOBase):
    """A file that moves a bar as it is read."""

    def __init__(self, file, bar):
        self._file, self._bar = file, bar

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._file.readinto(buffer)
        self._bar.update(count)
        return count

    def close(self):
        self._bar.close()
        self._file.close()
        super().close()


class _Zstandard(io.RawIOBase):
    """What a file holds that is packed by Zstandard; one that is cut off is an error, as of the other formats."""

    def __init__(self, file):
        try:
            import zstandard
        except ImportError:
            file.close()
            raise ValueError(
                "files packed as .zst need the package zstandard, which is not installed. Install it (pip install "
                "zstandard), or unpack the file; .gz, .bz2, .xz and .zip are read as they are."
            ) from None
        self._file, self._wrong, self._unpacker = file, zstandard.ZstdError, zstandard.ZstdDecompressor()
        self._frame, self._left = None, memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not len(self._left):
            packed = self._file.read(PACKED)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the packed file ends before its contents do; copy or download it again")
                return 0
            self._left = memoryview(self._unpacked(packed))
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _unpacked(self, packed):
        """What bytes hold, perhaps of several frames."""
        found = []
        try:
            while packed:
                if self._frame is None:
                    self._frame = self._unpacker.decompressobj()
                found.append(self._frame.decompress(packed))
                packed = b""
                if self._frame.eof:
                    packed, self._frame = self._frame.unused_data, None
        except self._wrong as error:
            raise OSError(f"the packed file cannot be unpacked: {error}") from None
        return b"".join(found)

    def close(self):
        self._file.close()
        super().close()


OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _Zstandard}
