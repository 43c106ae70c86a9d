"""Further formats of electroencephalography, by MNE; samples are read where they are asked for."""

from ._library import library
from ._objects import of_mne

SUFFIXES = ".vhdr", ".set", ".fif", ".fif.gz", ".cnt", ".gdf", ".mff", ".nxe", ".cdt", ".lay", ".snirf", ".egi", ".raw"


def can_open(path, head):
    """Return whether a file is called as one of those that MNE reads."""
    return path.lower().rstrip("/").endswith(SUFFIXES)


def open(path, **options):
    """Return the recording; `options` go to :func:`mne.io.read_raw`."""
    mne = library("mne", "eeg")
    with mne.utils.use_log_level("ERROR"):
        return of_mne(mne.io.read_raw(path, **options))
