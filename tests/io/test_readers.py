"""Files, equal to what the library that wrote them reads."""

import pickle
import struct
import tracemalloc
from importlib.util import find_spec

import made_files
import numpy as np
import pandas as pd
import pytest
from inputs import refused
from made_files import START, VALUES

from sktslib import QuerySearcher, Sampling
from sktslib.io import Recording, read
from sktslib.io._library import free_memory
from sktslib.search import _sources

BEGIN = np.datetime64(START, "us")
of_wfdb = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # which the library gets from pandas


# ----------------------------------------------------------------------------------------------------------------- EDF
@pytest.mark.parametrize("kind", ["edf", "bdf"])
@pytest.mark.parametrize("notes", [(), [(0.5, None, "eyes open"), (2.25, 1.5, "blink"), (29.9, 5.0, "late")]])
def test_edf_and_bdf(kind, notes, tmp_path):
    edfio = pytest.importorskip("edfio")
    path = made_files.edf(tmp_path / f"made.{kind}", kind=kind, annotations=notes)
    one = read(path)
    other = (edfio.read_bdf if kind == "bdf" else edfio.read_edf)(path)
    for part in (slice(None), slice(0, 1), slice(99, 101), slice(250, 1733), slice(2999, 3000), slice(7, None, 300)):
        np.testing.assert_array_equal(one.values[part], np.column_stack([s.data for s in other.signals])[part])
    assert one.names == ["EEG Fpz", "EEG Cz"] and one.units == ["uV", "uV"]
    assert one.times == Sampling(100, BEGIN)
    onsets = [(round(a.onset * 100), round((a.onset + (a.duration or 0)) * 100), a.text) for a in other.annotations]
    expected = [(start, min(max(end, start + 1), len(one)), text) for start, end, text in onsets]
    assert list(zip(*(c.tolist() for c in one.marks), strict=True)) == expected and len(expected) == len(notes)
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(one)))[:200], np.asarray(one)[:200])
    np.testing.assert_array_equal(np.asarray(read(str(path), channels="EEG Cz"))[:, 0], other.signals[1].data)


def test_times_of_edf(tmp_path):
    pytest.importorskip("edfio")
    late = made_files.START.replace(microsecond=250_000)
    one = read(made_files.edf(tmp_path / "late.edf", start=late, annotations=[(1.0, None, "x")]))
    assert one.times == Sampling(100, np.datetime64(late, "us")) and one.marks.start.tolist() == [100]
    without = read(made_files.edf(tmp_path / "without.edf", start=None))
    assert without.times == Sampling(100, 0.0)


def test_interruptions_of_edf_are_in_its_times(tmp_path):
    pytest.importorskip("edfio")
    onsets = np.array([*range(10), *range(15, 25), *range(3600, 3610)], float)
    path = made_files.interrupted(tmp_path / "made.edf", onsets)
    one = read(path)
    seconds = (np.asarray(one.times[:]) - BEGIN) / np.timedelta64(1, "s")
    np.testing.assert_allclose(seconds, np.repeat(onsets, 100) + np.tile(np.arange(100) / 100, 30), atol=1e-6)
    assert one.rate is None and one.marks.to_frame().to_numpy().tolist() == [[2525, 2575, "spike"]]
    searcher = QuerySearcher("euclidean", n_matches=None, threshold=1e3, max_gap=0.5).fit(VALUES[:200])
    found = searcher.search(one)
    ends = [1000, 2000, 3000]
    assert len(found) and not any(s < end < e for s, e in zip(found.start, found.end, strict=True) for end in ends)
    expected = searcher.search(np.asarray(one), times=np.asarray(one.times[:]))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    refused(lambda: read(path, rate=50), "no constant sampling rate")
    gapless = read(made_files.interrupted(tmp_path / "even.edf", np.arange(30.0)))
    assert gapless.times == Sampling(100, BEGIN)
    with pytest.raises(ValueError, match=r"records must follow each other\. Got record 4 at 4 s"):
        read(made_files.interrupted(tmp_path / "back.edf", [0, 1, 2, 3, 4, 3, *range(6, 30)]))


def test_channels_of_other_rates_are_chosen_or_resampled(tmp_path):
    pytest.importorskip("edfio")
    path = made_files.edf(tmp_path / "made.edf", rates=(100, 25), labels=("ECG", "Resp"), annotations=[(2.0, 1.0, "x")])
    refused(lambda: read(path), "one sampling rate. Got 100 per second: ECG; 25 per second: Resp")
    assert read(path, channels=["Resp"]).times == Sampling(25, BEGIN)
    both = read(path, rate=50)
    assert both.shape == (1499, 2) and both.names == ["ECG", "Resp"] and both.rate == 50
    assert both.marks.to_frame().to_numpy().tolist() == [[100, 150, "x"]]
    from sktslib.preprocessing import resample

    for k, name in enumerate(both.names):
        alone = read(path, channels=name)
        expected = resample(np.asarray(alone)[:, 0], rate=50, sampling_rate=alone.rate)
        np.testing.assert_allclose(np.asarray(both)[:1490, k], expected[:1490])
    gap = float(np.asarray(read(path, channels="Resp"))[40, 0])
    assert np.isnan(np.asarray(read(path, rate=50, missing=gap))[:, 1]).any()
    assert read(path, channels=["Resp", "ECG"], rate=50).names == ["Resp", "ECG"]
    refused(lambda: read(path, channels="EKG"), "Unknown channel 'EKG'. Did you mean 'ECG'? Valid: ECG, Resp")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["edf", "bdf", "hdf5"])
def test_long_files_are_searched_in_parts(kind, tmp_path, monkeypatch):
    """The memory is that of chunks, far below that of the samples; a day at 1 kHz was measured by hand."""
    pytest.importorskip("h5py" if kind == "hdf5" else "edfio")
    values = np.tile(VALUES, (400, 1))
    if kind == "hdf5":
        import h5py

        path = tmp_path / "made.h5"
        with h5py.File(path, "w") as file:
            file["ecg"] = values
    else:
        path = made_files.edf(tmp_path / f"made.{kind}", values=values, seconds=len(values) // 100, kind=kind)
    one = read(path)
    searcher = QuerySearcher("euclidean", n_matches=3).fit(one[500:600])
    expected = searcher.search(np.asarray(one) if one.names is None else made_files.table(one), times=one.times)
    monkeypatch.setattr(_sources, "CHUNK", 2**16)
    searcher.search(one)
    tracemalloc.start()
    found = searcher.search(one)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert peak < 0.5 * values.nbytes


# ---------------------------------------------------------------------------------------------------------------- WFDB
@of_wfdb
def test_records_of_wfdb(tmp_path):
    wfdb = pytest.importorskip("wfdb")
    path = made_files.wfdb_record(tmp_path)
    one, other = read(path), wfdb.rdrecord(str(path)[:-4])
    assert np.isnan(other.p_signal).sum() == 10
    for part in (slice(None), slice(95, 112), slice(2999, None), slice(0, 0)):
        np.testing.assert_array_equal(one.values[part], other.p_signal[part])
    assert (one.names, one.units, one.times) == (["II", "V1"], ["mV", "mV"], Sampling(250, BEGIN))
    assert one.marks.start.tolist() == [5, 300, 700, 900] and (one.marks.end - one.marks.start == 1).all()
    assert one.marks.label.tolist() == ["N", "V", "(AFIB", "N"]
    np.testing.assert_array_equal(
        np.asarray(read(tmp_path / "made.dat", channels=["V1", "II"])), other.p_signal[:, ::-1]
    )
    other = read(made_files.wfdb_record(tmp_path, annotations=False, name="bare"))
    assert not len(other.marks)
    refused(lambda: read(tmp_path / "bare.hea", annotator="qrs"), "bare.qrs", error=OSError)
    y = one.labels("N", before=5, after=10)
    assert (y == "N").sum() == 32


@of_wfdb
def test_frames_of_wfdb_are_not_averaged(tmp_path):
    wfdb = pytest.importorskip("wfdb")
    fast = [np.arange(200), np.arange(100) * 2]
    signals = {"units": ["mV", "mV"], "sig_name": ["fast", "slow"], "fmt": ["16", "16"], "samps_per_frame": [2, 1]}
    signals |= {"e_d_signal": [one.astype(np.int64) for one in fast], "adc_gain": [1.0, 1.0], "baseline": [0, 0]}
    wfdb.wrsamp("two", fs=50, write_dir=str(tmp_path), **signals)
    refused(lambda: read(tmp_path / "two.hea"), "one sampling rate. Got 100 per second: fast; 50 per second: slow")
    one = read(tmp_path / "two.hea", channels="fast")
    np.testing.assert_array_equal(np.asarray(one)[:, 0], fast[0])
    np.testing.assert_array_equal(one.values[33:78][:, 0], fast[0][33:78])
    assert one.times == Sampling(100, 0.0)
    assert read(tmp_path / "two.hea", rate=50).shape == (100, 2)


@of_wfdb
def test_differences_unnamed_signals_and_records_of_no_length(tmp_path):
    """Format 8 holds differences: a part is the sum of all before it."""
    wfdb = pytest.importorskip("wfdb")
    steps = made_files.RNG.integers(-50, 50, 1000).astype(np.int8)
    steps.tofile(tmp_path / "diff.dat")
    (tmp_path / "diff.hea").write_text("diff 1 100 1000\ndiff.dat 8 200 12 0 7 0 0\n")
    one, other = read(tmp_path / "diff.hea"), wfdb.rdrecord(str(tmp_path / "diff")).p_signal
    np.testing.assert_array_equal(one.values[700:800], other[700:800])
    np.testing.assert_allclose(other[:, 0], (7 + np.cumsum(steps)) / 200)
    assert one.names == ["signal 1"]
    made_files.wfdb_record(tmp_path)
    _, *signals = (tmp_path / "made.hea").read_text().splitlines(keepends=True)
    (tmp_path / "made.hea").write_text("".join(["made 2 250\n", *signals]))
    without = read(tmp_path / "made.hea", channels="V1")
    np.testing.assert_array_equal(np.asarray(without), wfdb.rdrecord(str(tmp_path / "made")).p_signal[:, 1:])
    assert len(without.marks) == 4 and without.rate == 250


# ------------------------------------------------------------------------------------------------------ arrays in files
def test_mat(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "one.mat", {"ecg": VALUES, "note": "text"})
    np.testing.assert_array_equal(np.asarray(read(tmp_path / "one.mat")), VALUES)
    savemat(tmp_path / "two.mat", {"ecg": VALUES, "resp": VALUES[:, 0], "fs": 250.0})
    refused(
        lambda: read(tmp_path / "two.mat"), "one array", "Got ecg (3000, 2), resp (1, 3000). Name one after a colon"
    )
    savemat(tmp_path / "complex.mat", {"z": VALUES[:, 0] + 1j})
    refused(lambda: read(tmp_path / "complex.mat"), "Complex data not supported")
    one = read(f"{tmp_path}/two.mat:resp")
    np.testing.assert_array_equal(np.asarray(one), VALUES[:, 0])
    assert one.rate == 250
    refused(lambda: read(f"{tmp_path}/two.mat:eeg"), "Unknown array 'eeg'")


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "one.h5", "w") as file:
        file["rest/ecg"] = VALUES
        file["rest/text"] = "a text"
    one = read(tmp_path / "one.h5")
    assert one.times is None
    for place, name, value in (("/", "Sampling Rate", 500), ("rest", "fs", 250.0), ("rest/ecg", "sfreq", [125])):
        with h5py.File(tmp_path / "one.h5", "a") as file:
            file[place].attrs[name] = value
        assert read(tmp_path / "one.h5").rate == np.ravel(value)[0]  # what is said nearer to the array counts
    with h5py.File(tmp_path / "number.h5", "w") as file:
        file["rest/ecg"], file["rest/fs"], file["other/fs"] = VALUES, 50, 60
        file["rest/ecg"].attrs["rate"] = True
        scalar = h5py.h5s.create(h5py.h5s.SCALAR)
        h5py.h5a.create(file["rest/ecg"].id, b"when", h5py.h5t.UNIX_D32LE, scalar)  # of no type that numpy has
    assert read(tmp_path / "number.h5").rate == 50
    np.testing.assert_array_equal(np.asarray(one), VALUES)
    assert not isinstance(one.values, np.ndarray)
    with h5py.File(tmp_path / "one.h5", "a") as file:
        file.create_dataset("counts", data=np.array([3, -999, 5, 7]), chunks=(2,)).attrs["_FillValue"] = -999
    refused(lambda: read(tmp_path / "one.h5"), "Got counts (4,), rest/ecg (3000, 2)")
    np.testing.assert_array_equal(np.asarray(read(f"{tmp_path}/one.h5:/counts")), [3, np.nan, 5, 7])
    other = read(f"{tmp_path}/one.h5:/rest/ecg", channels="2", missing=[VALUES[3, 1]])
    expected = VALUES[:, 1:].copy()
    expected[3] = np.nan
    np.testing.assert_array_equal(np.asarray(other), expected)
    searcher = QuerySearcher("dtw", n_matches=3).fit(VALUES[40:90])
    found = searcher.search(read(f"{tmp_path}/one.h5:rest/ecg"))
    wanted = searcher.search(VALUES, times=Sampling(125))
    pd.testing.assert_frame_equal(found.to_frame(), wanted.to_frame())


def test_mat_of_matlab_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "new.mat", "w", userblock_size=512) as file:
        file["ecg"] = VALUES.T  # MATLAB's columns are rows here
        file["ecg"].attrs["MATLAB_class"] = np.bytes_("double")
        file["Fs"] = [[360.0]]
    head = b"MATLAB 7.3 MAT-file, made up".ljust(512, b" ")
    with open(tmp_path / "new.mat", "r+b") as file:
        file.write(head)
    one = read(tmp_path / "new.mat")
    assert one.rate == 360
    np.testing.assert_array_equal(np.asarray(one), VALUES)
    np.testing.assert_array_equal(one.values[10:20], VALUES[10:20])


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "one.zarr", mode="w")
    group.create_array("rest/ecg", data=VALUES, chunks=(500, 2))
    np.testing.assert_array_equal(np.asarray(read(tmp_path / "one.zarr")), VALUES)
    group.create_array("other", data=VALUES[:, 0])
    refused(lambda: read(tmp_path / "one.zarr"), "Got ", "rest/ecg (3000, 2)")
    np.testing.assert_array_equal(np.asarray(read(f"{tmp_path}/one.zarr:/rest/ecg", channels=["1"])), VALUES[:, :1])
    group.attrs["sampling_rate"] = 100
    assert read(f"{tmp_path}/one.zarr:other").rate == 100
    zarr.save_array(tmp_path / "array.zarr", VALUES)
    assert read(tmp_path / "array.zarr").values.shape == VALUES.shape
    chunk = next(path for path in (tmp_path / "array.zarr").rglob("*") if path.parent.name == "0")
    chunk.write_bytes(chunk.read_bytes()[:-9])  # which is seen where it is read
    refused(lambda: np.asarray(read(tmp_path / "array.zarr")), "array.zarr: RuntimeError", "cut off or damaged")


def test_arrays_of_numpy_and_audio(tmp_path):
    np.save(tmp_path / "one.npy", VALUES)
    one = read(tmp_path / "one.npy")
    assert isinstance(one.values, np.memmap)
    np.testing.assert_array_equal(np.asarray(one), VALUES)
    np.savez(tmp_path / "two.npz", ecg=VALUES, resp=VALUES[:, 0], fs=50)
    refused(lambda: read(tmp_path / "two.npz"), "Got ecg (3000, 2), resp (3000,)")
    resp = read(f"{tmp_path}/two.npz:resp")
    np.testing.assert_array_equal(np.asarray(resp), VALUES[:, 0])
    assert resp.rate == 50
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    refused(lambda: read(tmp_path / "objects.npy"), "objects.npy")
    from scipy.io import wavfile

    wavfile.write(tmp_path / "one.wav", 8000, (VALUES * 1000).astype(np.int16))
    audio = read(tmp_path / "one.wav", channels="2")
    np.testing.assert_array_equal(np.asarray(audio)[:, 0], (VALUES[:, 1] * 1000).astype(np.int16))
    assert audio.rate == 8000
    refused(lambda: read(tmp_path / "one.wav", times=Sampling(3)), "'times' parameter of read must be None")


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (1, 1)])
def test_one_row_and_one_column_keep_their_shape(shape, tmp_path):
    from scipy.io import wavfile

    values = np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape)
    np.save(tmp_path / "a.npy", values)
    np.savetxt(tmp_path / "a.csv", values, delimiter=",", header="x,y"[: 2 * shape[1] - 1])
    names = ["a.npy", "a.csv"]
    if shape != (2, 1):  # of one channel a sound has no second axis
        wavfile.write(tmp_path / "a.wav", 100, values)
        names += ["a.wav"]
    if find_spec("h5py") is not None:
        import h5py

        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"] = values
        names += ["a.h5:x"]
    for name in names:
        one = np.asarray(read(f"{tmp_path}/{name}"))
        assert (name == "a.wav" and shape == (1, 1)) or one.shape == shape, name
        np.testing.assert_array_equal(one.reshape(shape), values)


# ------------------------------------------------------------------------------------------------------------- seismic
def test_miniseed_and_sac(tmp_path):
    obspy = pytest.importorskip("obspy")
    one = read(made_files.mseed(tmp_path / "made.mseed"))
    expected = np.ma.filled(obspy.read(tmp_path / "made.mseed").merge()[0].data.astype(float), np.nan)
    np.testing.assert_array_equal(np.asarray(one)[:, 0], expected)
    assert np.isnan(expected).sum() == 200 and one.times == Sampling(100, pd.Timestamp(START, tz="UTC"))
    assert one.names == ["XX.MADE..BHZ"]
    sac = read(made_files.mseed(tmp_path / "made.sac", format="SAC"))
    np.testing.assert_array_equal(np.asarray(sac)[:, 0], obspy.read(tmp_path / "made.sac")[0].data)
    assert sac.times == Sampling(100, pd.Timestamp(START, tz="UTC"))


@pytest.mark.parametrize("ending", [".raw", ".cnt", ".lay", ".egi", ".mat"])
def test_the_contents_of_a_file_count_more_than_its_name(ending, tmp_path):
    path = tmp_path / f"a{ending}"
    with open(path, "wb") as file:
        np.save(file, VALUES)
    np.testing.assert_array_equal(np.asarray(read(path)), VALUES)
    np.savetxt(path, VALUES[:50], delimiter=",", header="a,b")
    np.testing.assert_array_equal(np.asarray(read(path)), VALUES[:50])
    if find_spec("h5py") is not None:
        import h5py

        with h5py.File(path, "w") as file:
            file["ecg"] = VALUES
        np.testing.assert_array_equal(np.asarray(read(path)), VALUES)


@pytest.mark.parametrize("ending", [".raw", ".egi"])
def test_egi(ending, tmp_path):
    mne = pytest.importorskip("mne")
    counts = np.arange(60, dtype=">i2").reshape(20, 3)  # of 20 samples and 3 channels, without events
    head = struct.pack(">i6hi5hih", 2, 2024, 3, 1, 12, 30, 5, 0, 100, 3, 1, 0, 0, len(counts), 0)
    path = tmp_path / f"a{ending}"
    path.write_bytes(head + counts.tobytes())
    expected = mne.io.read_raw_egi(path, verbose="ERROR")
    one = read(path)
    np.testing.assert_array_equal(np.asarray(one), expected.get_data().T)
    assert one.shape[0] == 20 and one.rate == 100 and one.names == expected.ch_names


# ------------------------------------------------------------------------------------------------------------ registry
class Lines:
    """A reader of lines of numbers."""

    @staticmethod
    def can_open(path, head):
        return path.endswith(".lines")

    @staticmethod
    def open(path, skip=0):
        return Recording(np.loadtxt(path)[skip:], Sampling(10))


def test_readers_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "one.lines").write_text("1\n2\n3\n")
    (tmp_path / "binary.x").write_bytes(bytes(range(9)))
    with pytest.raises(ValueError, match=r"No reader knows the file .*binary\.x\. Known are the formats of .*edf"):
        read(tmp_path / "binary.x")
    assert np.asarray(read(tmp_path / "one.lines", reader=Lines, skip=1)).tolist() == [2, 3]
    with pytest.raises(TypeError, match=r"has no such option: .*'jump'"):
        read(tmp_path / "one.lines", reader=Lines, jump=1)
    refused(lambda: read(tmp_path / "one.lines", reader="edff"), "Unknown reader 'edff'. Did you mean 'edf'?")
    refused(lambda: read(tmp_path / "one.lines", reader=3), "must be a name, or have can_open", error=TypeError)
    from sktslib.io import _read

    class Point:
        name = "lines"

        @staticmethod
        def load():
            return Lines

    _read.readers.cache_clear()
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point] if group == "sktslib.readers" else [])
    assert read(tmp_path / "one.lines").rate == 10 and next(iter(_read.readers())) == "lines"
    _read.readers.cache_clear()


@pytest.mark.parametrize(
    "name, contents, line",
    [
        ("a.tdms", b"TDSm", "nptdms.TdmsFile.read"),
        ("a.c3d", b"\x02\x50", "ezc3d.c3d"),
        ("a.xdf", b"XDF:", "pyxdf.load_xdf"),
        ("a.ts", b"@problemname x", "load_from_ts_file"),
        ("a.dat", b"TIMESERIES XX_A__BHZ_D, 9 samples", "obspy.read"),
        ("a.avro", b"Obj\x01", "avro.datafile"),
        ("EDA.csv", b"1469630100.0\n4.0\n0.1\n", r"numpy\.loadtxt"),
    ],
)
def test_formats_that_are_known_and_not_read(name, contents, line, tmp_path):
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(ValueError, match=f"{name}: files of this format, .*, are not read. Open it by .*{line}"):
        read(tmp_path / name)


def test_contents_decide_where_the_ending_is_wrong(tmp_path):
    np.save(tmp_path / "one.npy", VALUES)
    for ending in (".mseed", ".npz", ".csv", ".edf"):
        path = (tmp_path / "one.npy").rename(tmp_path / f"npy{ending}")
        np.testing.assert_array_equal(np.asarray(read(path)), VALUES)
        path.rename(tmp_path / "one.npy")
    text = tmp_path / "text.mseed"
    text.write_text("time,ecg\n0.0,1\n0.1,2\n0.2,3\n")
    assert read(text).names == ["ecg"]
    (tmp_path / "packed.npy").write_bytes(b"PK\x03\x04".ljust(600, b"\0"))
    refused(lambda: read(tmp_path / "packed.npy"), "No reader knows")


def test_a_missing_file_is_named(tmp_path):
    refused(lambda: read(tmp_path / "none.edf"), "none.edf", error=FileNotFoundError)


@pytest.mark.parametrize(
    "module, extra, name, head",
    [
        ("edfio", "edf", "a.edf", b"0       ".ljust(512)),
        ("wfdb", "wfdb", "a.hea", b"a 1 250 10"),
        ("h5py", "hdf5", "a.h5", b"\x89HDF\r\n\x1a\n"),
        ("zarr", "zarr", "a.zarr", b""),
        ("obspy", "seismic", "a.mseed", b"000001D "),
        ("mne", "eeg", "a.vhdr", b"Brain"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_the_line_that_installs_it(
    module, extra, name, head, tmp_path, monkeypatch
):
    (tmp_path / name).write_bytes(head)
    monkeypatch.setitem(__import__("sys").modules, module, None)
    from sktslib.io import _library

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(_library, "import_module", missing)
    with pytest.raises(ImportError, match=rf'the package {module} is needed, .* \(pip install "sktslib\[{extra}\]"\)'):
        read(tmp_path / name)

    def broken(name):
        raise ModuleNotFoundError("No module named 'libbroken'", name="libbroken")

    monkeypatch.setattr(_library, "import_module", broken)
    refused(lambda: read(tmp_path / name), "libbroken", error=ModuleNotFoundError)


def test_what_does_not_fit_into_memory_is_refused_with_its_size(tmp_path, monkeypatch):
    from scipy.io import savemat

    from sktslib.io import _library

    assert free_memory() is None or free_memory() > 1e6
    savemat(tmp_path / "one.mat", {"ecg": VALUES})
    monkeypatch.setattr(_library, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"one.mat: the file must be loaded whole, which takes 4.8e-05 GB. Got 1e-06"):
        read(tmp_path / "one.mat")
