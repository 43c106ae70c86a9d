"""Files that were cut off, or in which bytes have changed: an error that names the file, or the channels there were."""

import os

import made_files
import numpy as np
import pytest
from made_files import VALUES
from scipy.io import savemat, wavfile

from sktslib.io import read

NOTES = [(1.0, 2.0, "x")]
COUNT = int(os.environ.get("SKTSLIB_DAMAGED", "100"))  # files of each kind; a thousand take some ten minutes


def _h5(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["ecg"] = VALUES


def _zarr(path):
    pytest.importorskip("zarr").create_array(path, data=VALUES, chunks=VALUES.shape)


def _fif(path):
    mne = pytest.importorskip("mne")
    info = mne.create_info(["A", "B"], 250.0, "eeg")
    mne.io.RawArray(VALUES.T * 1e-6, info, verbose="error").save(path, verbose="error")


# Of each the library, what writes the file, its name, and the file that is damaged where it is another.
FILES = {
    "edf": ("edfio", lambda path: made_files.edf(path, annotations=NOTES), "a.edf"),
    "bdf": ("edfio", lambda path: made_files.edf(path, annotations=NOTES, kind="bdf"), "a.bdf"),
    "header": ("wfdb", lambda path: made_files.wfdb_record(path.parent), "made.hea"),
    "signals": ("wfdb", lambda path: made_files.wfdb_record(path.parent), "made.hea", "made.dat"),
    "annotations": ("wfdb", lambda path: made_files.wfdb_record(path.parent), "made.hea", "made.atr"),
    "mseed": ("obspy", made_files.mseed, "a.mseed"),
    "sac": ("obspy", lambda path: made_files.mseed(path, format="SAC"), "a.sac"),
    "hdf5": ("h5py", _h5, "a.h5"),
    "zarr": ("zarr", _zarr, "a.zarr", "a.zarr/c/0/0"),
    "mat": ("scipy", lambda path: savemat(path, {"ecg": VALUES}), "a.mat"),
    "packed mat": ("scipy", lambda path: savemat(path, {"ecg": VALUES}, do_compression=True), "a.mat"),
    "fif": ("mne", _fif, "a_raw.fif"),
    "npy": ("numpy", lambda path: np.save(path, VALUES), "a.npy"),
    "npz": ("numpy", lambda path: np.savez(path, ecg=VALUES), "a.npz"),
    "wav": ("scipy", lambda path: wavfile.write(path, 8000, (VALUES * 1000).astype(np.int16)), "a.wav"),
}
# What is shorter than it was may be a whole file of these: audio warns, and MNE reads the blocks that are there.
MAY_BE_SHORTER = "wav", "fif"


def outcome(path):
    """Read a file: its channels and samples, or None where it is refused by an error of the kinds that `read` names."""
    try:
        one = read(path)
        return one.shape, one.names, np.asarray(one)
    except (ValueError, OSError, MemoryError) as error:
        assert str(error)
        return None


def made(kind, folder):
    """What is read, the file that is damaged, its bytes, and what comes of it as it is."""
    library, write, name, *other = FILES[kind]
    pytest.importorskip(library)
    path, damaged = folder / name, folder / (other or [name])[0]
    write(path)
    return path, damaged, damaged.read_bytes(), outcome(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FILES)
def test_what_is_cut_off_is_refused(kind, tmp_path):
    path, damaged, raw, (shape, _, values) = made(kind, tmp_path)
    rng, refused = np.random.default_rng(45), 0
    for end in rng.integers(0, len(raw) - 4, COUNT):
        damaged.write_bytes(raw[:end])
        found = outcome(path)
        refused += found is None
        if found is not None and kind not in MAY_BE_SHORTER:
            # text that is cut off within the last name is as long as it was
            assert kind == "header" and end > len(raw) - 12 and found[0] == shape
            np.testing.assert_array_equal(found[2], values)
        elif kind == "wav" and found is not None:
            np.testing.assert_array_equal(found[2], values[: len(found[2])])
    assert refused >= COUNT * (0 if kind == "wav" else 0.8)
    damaged.write_bytes(raw)
    assert outcome(path)[0] == shape


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FILES)
def test_changed_bytes_are_refused_or_change_no_other_channel(kind, tmp_path):
    path, damaged, raw, (shape, _, _) = made(kind, tmp_path)
    rng, refused, whole = np.random.default_rng(45), 0, 0
    for k in range(COUNT):
        changed = bytearray(raw)
        for at in rng.integers(0, len(raw) if k % 2 else min(len(raw), 1200), 3):
            changed[at] = rng.integers(256)
        damaged.write_bytes(changed)
        found = outcome(path)
        refused += found is None
        whole += found is not None and found[0] == shape
        if found is not None:
            assert len(found[0]) == len(shape) and found[0][0] > 0
    # Most are seen, or change samples; few change what a header says of lengths, which nothing else tells.
    assert refused + whole >= 0.9 * COUNT
