"""Files that were cut off, or in which bytes have changed: an error that names the file, or the channels there were."""

import os

import made_files
import numpy as np
import pytest
from made_files import VALUES

from sktslib.io import read

NOTES = [(1.0, 2.0, "x")]
COUNT = int(os.environ.get("SKTSLIB_DAMAGED", "100"))  # files of each kind; a thousand take some ten minutes


def _h5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["ecg"] = VALUES
    return path


def _mat(path, packed):
    from scipy.io import savemat

    savemat(path, {"ecg": VALUES}, do_compression=packed)
    return path


def _fif(path):
    mne = pytest.importorskip("mne")
    info = mne.create_info(["A", "B"], 250.0, "eeg")
    mne.io.RawArray(VALUES.T * 1e-6, info, verbose="error").save(path, verbose="error")
    return path


def _npy(path):
    np.save(path, VALUES)
    return path


def _npz(path):
    np.savez(path, ecg=VALUES)
    return path


def _wav(path):
    from scipy.io import wavfile

    wavfile.write(path, 8000, (VALUES * 1000).astype(np.int16))
    return path


# Of each the library, what makes the file, and which file is damaged.
FILES = {
    "edf": ("edfio", lambda folder: made_files.edf(folder / "a.edf", annotations=NOTES), "a.edf"),
    "bdf": ("edfio", lambda folder: made_files.edf(folder / "a.bdf", annotations=NOTES, kind="bdf"), "a.bdf"),
    "header": ("wfdb", made_files.wfdb_record, "made.hea"),
    "signals": ("wfdb", made_files.wfdb_record, "made.dat"),
    "annotations": ("wfdb", made_files.wfdb_record, "made.atr"),
    "mseed": ("obspy", lambda folder: made_files.mseed(folder / "a.mseed"), "a.mseed"),
    "sac": ("obspy", lambda folder: made_files.mseed(folder / "a.sac", format="SAC"), "a.sac"),
    "hdf5": ("h5py", lambda folder: _h5(folder / "a.h5"), "a.h5"),
    "mat": ("scipy", lambda folder: _mat(folder / "a.mat", False), "a.mat"),
    "packed mat": ("scipy", lambda folder: _mat(folder / "a.mat", True), "a.mat"),
    "fif": ("mne", lambda folder: _fif(folder / "a_raw.fif"), "a_raw.fif"),
    "npy": ("numpy", lambda folder: _npy(folder / "a.npy"), "a.npy"),
    "npz": ("numpy", lambda folder: _npz(folder / "a.npz"), "a.npz"),
    "wav": ("scipy", lambda folder: _wav(folder / "a.wav"), "a.wav"),
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
    library, make, name = FILES[kind]
    pytest.importorskip(library)
    path, damaged = make(folder), folder / name
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
