"""Recordings with times, names, units and marks, and what the estimators make of them."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.io
from inputs import Slices, refused
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, Sampling, load_ecg_example, pipeline_search, pipeline_stream
from sktslib.io import Recording, read
from sktslib.io._recording import Marks, Stored
from sktslib.search import FalseDiscoveryRate, discords, motifs

ECG = load_ecg_example()
QUERY, X = ECG["query"].reshape(-1, 1), np.tile(ECG["sequence"], 3)[:2500].reshape(-1, 1)
START = pd.Timestamp("2024-03-01 12:00", tz="Europe/Berlin")
SAMPLING = Sampling(250, START)
NAMES = ["II", "V1"]
TWO = np.column_stack([X, X[::-1] * 0.5])
TABLE = pd.DataFrame(TWO, columns=NAMES)


def same(one, other):
    """The two tables of results are equal, times included."""
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    assert len(one) > 0


def recording(values=TWO, times=SAMPLING, **rest):
    return Recording(values, times, NAMES, ["mV", "mV"], **rest)


def test_searches_take_recordings_and_give_times_and_names_back():
    query = Recording(TWO[300:500], Sampling(250), NAMES)
    searcher = QuerySearcher("dtw", n_matches=5).fit(query)
    assert searcher.feature_names_in_.tolist() == NAMES
    found, expected = searcher.search(recording()), searcher.search(TABLE, times=SAMPLING)
    same(found, expected)
    assert str(found.start_time.tz) == "Europe/Berlin"
    same(searcher.search([recording(), recording()]), searcher.search([TABLE, TABLE], times=[SAMPLING, SAMPLING]))
    same(searcher.search_all(recording()), searcher.search_all(TABLE, times=SAMPLING))
    np.testing.assert_array_equal(searcher.predict(recording()), searcher.predict(TABLE, times=SAMPLING))
    np.testing.assert_array_equal(searcher.transform(recording()), searcher.transform(TABLE))
    np.testing.assert_array_equal(searcher.fit_transform(query), searcher.fit(query).transform(TABLE[300:500]))
    profile, other = searcher.profile(recording()), searcher.profile(TABLE, times=SAMPLING)
    np.testing.assert_array_equal(profile.distance, other.distance)
    assert len(profile.distance) == len(TWO)
    y = (searcher.predict(recording()) > 0).astype(int)
    assert searcher.score(recording(), y) == 1.0


def test_stored_samples_are_read_by_chunks_with_names_and_times():
    searcher = QuerySearcher("dtw", n_matches=3).fit(recording()[300:500])
    stored = Slices(np.tile(TWO, (250, 1)))
    expected = searcher.search(pd.DataFrame(stored.y, columns=NAMES), times=SAMPLING)
    found = searcher.search(recording(stored))
    same(found, expected)
    assert 0 < stored.most < len(stored)
    alone = Recording(Slices(X[:, 0]), Sampling(250))
    same(QuerySearcher("dtw").fit(QUERY).search(alone), QuerySearcher("dtw").fit(QUERY).search(X, times=Sampling(250)))


def test_stored_samples_are_opened_by_other_processes(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.tile(TWO, (250, 1))
    searcher = QuerySearcher("dtw", n_matches=3, n_jobs=2).fit(recording()[300:500])
    with h5py.File(tmp_path / "a.h5") as file:
        one = recording(file["x"])
        with joblib.parallel_config("loky"):
            same(searcher.search(one), searcher.search(recording(file["x"][:])))


def test_segmentations_motifs_and_discords():
    segmenter = QuerySegmenter("adtw").fit(Recording(QUERY, Sampling(250)))
    one = Recording(X, SAMPLING, ["II"])
    same(segmenter.segment(one), segmenter.segment(X, times=SAMPLING))
    np.testing.assert_array_equal(segmenter.predict(one), segmenter.predict(X))
    y = segmenter.predict(one)
    assert segmenter.score(one, y) == segmenter.score(X, y) > 0
    for find in (motifs, discords):
        same(find(one[:900], 100), find(X[:900], 100, times=SAMPLING))
        other = find(one[:900], 100, other=one[:400])
        same(other, find(X[:900], 100, other=X[:400], times=[SAMPLING, SAMPLING]))


def test_labels_are_learned_from_when_they_are_asked_for():
    found = QuerySearcher("dtw", n_matches=8).fit(QUERY).search(X)
    marks = [(s, e, "beat") for s, e in zip(found.start, found.end, strict=True)] + [(0, 1, "noise")]
    one = Recording(X, SAMPLING, ["II"], marks=marks)
    y = one.labels("beat")
    assert set(y.tolist()) == {"", "beat"} and (y != "").sum() == sum(found.end - found.start)
    searcher = QuerySearcher("dtw").fit(one, y)
    other = QuerySearcher("dtw").fit(pd.DataFrame(X, columns=["II"]), y, times=SAMPLING)
    np.testing.assert_array_equal(searcher.query_, other.query_)
    assert searcher.classes_.tolist() == ["beat"] and searcher.threshold_ == other.threshold_
    without = QuerySearcher("dtw").fit(one)  # marks alone teach nothing
    np.testing.assert_array_equal(without.query_, X)


def test_given_queries_have_times_of_their_own():
    metric = "twed"
    query = Recording(QUERY, Sampling(250, 7.0))
    given = QuerySearcher(metric, query=query).fit(Recording(X, Sampling(250)))
    expected = QuerySearcher(metric).fit(QUERY, times=Sampling(250, 7.0))
    one = Recording(X, Sampling(250))
    np.testing.assert_array_equal(given.profile(one).distance, expected.profile(X, times=Sampling(250)).distance)
    named = QuerySearcher(metric).fit({"a": query, "b": Recording(QUERY[::-1], Sampling(250))})
    assert named.search(one).label.tolist() == ["a", "b"] or set(named.search(one).label.tolist()) == {"a", "b"}


def test_thresholds_and_streams_take_recordings():
    one = Recording(X, SAMPLING)
    rate = FalseDiscoveryRate(0.2)
    fitted = QuerySearcher("dtw", threshold=rate).fit(QUERY).fit_threshold(one)
    assert fitted.threshold_ == QuerySearcher("dtw", threshold=rate).fit(QUERY).fit_threshold(X).threshold_
    searcher = QuerySearcher("dtw", threshold=float(QuerySearcher("dtw").fit(QUERY).search(X).distance[0]) * 4).fit(
        QUERY
    )
    stream, found = searcher.stream(), []
    for k in range(0, len(one), 400):
        found += stream.update(one[k : k + 400]).start_time.tolist()
    found += stream.flush().start_time.tolist()
    expected = searcher.search(one)
    assert sorted(found) == sorted(expected.start_time.tolist()) and len(found) > 1
    part = searcher.partial_search()
    for k in range(0, len(one), 400):
        part.feed(one[k : k + 400])
    assert part.n_samples_seen == len(one)


def test_times_given_twice_are_an_error():
    searcher = QuerySearcher("dtw").fit(QUERY)
    for X_, times in (
        (Recording(X, SAMPLING), np.arange(len(X))),
        ([Recording(X, SAMPLING), X], SAMPLING),
        ([Recording(X, SAMPLING), X], [SAMPLING, None]),
    ):
        with pytest.raises(ValueError, match=r"'times' must be None where 'X.*' is a recording with times of its own"):
            searcher.search(X_, times=times)
    found = searcher.search(Recording(X), times=SAMPLING)
    same(found, searcher.search(X, times=SAMPLING))
    mixed = searcher.search([Recording(X, SAMPLING), X[:600]])
    assert pd.isna(mixed.start_time[mixed.sequence == 1]).all()


def test_parts_and_channels():
    one = recording(marks=[(0, 10, "a"), (95, 105, "b"), (300, 310, "c")])
    part = one[100:200]
    assert part.times.start == START + pd.Timedelta("400ms") and part.marks.to_frame().to_numpy().tolist() == [
        [0, 5, "b"]
    ]
    np.testing.assert_array_equal(np.asarray(part), TWO[100:200])
    times = np.arange(len(TWO)) ** 1.5
    np.testing.assert_array_equal(recording(times=times)[5:9].times, times[5:9])
    for values in (TWO, Slices(TWO)):
        other = recording(values).select("V1")
        np.testing.assert_array_equal(np.asarray(other), TWO[:, 1:])
        assert other.names == ["V1"] and other.units == ["mV"]
    refused(lambda: one.select("V2"), "Unknown channel 'V2'")
    refused(lambda: one[3], "cut by a slice", error=TypeError)


def test_marks_overlap_widen_and_end_with_the_recording():
    one = recording(marks=[(-5, 3, "x"), (10, 11, "x"), (2495, 2600, "y")])
    y = one.labels(before=1, after=2)
    assert [np.flatnonzero(y == k).tolist() for k in ("x", "y")] == [
        [0, 1, 2, 3, 4, 9, 10, 11, 12],
        [*range(2494, 2500)],
    ]
    refused(recording(marks=[(0, 9, "x"), (5, 12, "y")]).labels, "overlap")
    refused(lambda: one.labels("z"), "Unknown mark 'z' of 'only'")
    refused(lambda: recording(marks=[(4, 4, "x")]), "one sample at least")
    refused(lambda: recording(marks=[(4, 4)]), "list of (start, end, label)")
    assert Marks.of_times([0.1, 1.0], [0, 0.5], ["a", "b"], 10).to_frame().to_numpy().tolist() == [
        [1, 2, "a"],
        [10, 15, "b"],
    ]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"values": np.zeros((2, 3, 4))}, r"Got shape \(2, 3, 4\)"),
        ({"names": ["a"]}, "'names' must have an entry for each of 2 channels"),
        ({"units": "mV"}, "'units' must have an entry for each of 2 channels"),
        ({"times": np.arange(5)}, "one time per point"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Recording(**{"values": TWO, "times": SAMPLING, "names": NAMES, **arguments})


def test_stored_samples_are_sliced_as_arrays_are():
    values = Stored(TWO.shape, TWO.__getitem__ and (lambda start, end: TWO[start:end]))
    for part in (slice(3, 9), slice(None, None, 7), slice(20, 3, -2), slice(5, 5), slice(9, 3), slice(-4, None)):
        np.testing.assert_array_equal(values[part], TWO[part])
    np.testing.assert_array_equal(values[-1], TWO[-1])
    np.testing.assert_array_equal(np.asarray(values), TWO)
    with pytest.raises(IndexError):
        values[2500]


def test_recordings_can_be_pickled():
    one = pickle.loads(pickle.dumps(recording(marks=[(0, 10, "a")])))
    assert one.names == NAMES and one.times == SAMPLING and one.marks.label.tolist() == ["a"]
    assert repr(one) == "Recording of 2500 samples, 2 channels: II (mV), V1 (mV); 250 per second; 1 mark"


# -------------------------------------------------------------------------------------------- objects of other packages
def searched(given):
    """Search an object as it is, and as a recording; return the latter."""
    one = read(given)
    searcher = QuerySearcher("dtw", n_matches=3).fit(np.asarray(one)[300:500])
    same(searcher.search(given), searcher.search(np.asarray(one), times=one.times))
    assert len(searcher.predict(given)) == len(one)
    return one


@pytest.mark.parametrize("preload", [True, False])
def test_recordings_of_mne(preload, tmp_path):
    mne = pytest.importorskip("mne")
    info = mne.create_info(NAMES, 250.0, "eeg")
    raw = mne.io.RawArray(TWO.T * 1e-6, info, verbose="error")
    raw.set_meas_date(START.to_pydatetime().astimezone(__import__("datetime").UTC))
    raw.set_annotations(mne.Annotations([1.0, 2.0], [0.5, 0.0], ["blink", "click"], orig_time=raw.info["meas_date"]))
    raw.save(tmp_path / "one_raw.fif", verbose="error")
    raw = mne.io.read_raw_fif(tmp_path / "one_raw.fif", preload=preload, verbose="error").crop(0.5)
    one = searched(raw)
    np.testing.assert_array_equal(np.asarray(one), raw.get_data().T)
    assert one.names == NAMES and one.units == ["V", "V"] and one.rate == 250
    assert one.times.start == START + pd.Timedelta("0.5s")
    assert one.marks.to_frame().to_numpy().tolist() == [[125, 250, "blink"], [375, 376, "click"]]
    events, numbers = mne.events_from_annotations(raw, verbose="error")
    assert (events[:, 0] - raw.first_samp).tolist() == one.marks.start.tolist() and len(numbers) == 2
    np.testing.assert_array_equal(np.asarray(read(raw, channels="V1")), raw.get_data(["V1"]).T)
    file = read(tmp_path / "one_raw.fif", channels=["V1"])
    np.testing.assert_allclose(np.asarray(file)[125:], raw.get_data(["V1"]).T)


BRAINVISION = """Brain Vision Data Exchange Header File Version 1.0
[Common Infos]
Codepage=UTF-8
DataFile=made.eeg
MarkerFile=made.vmrk
DataFormat=BINARY
DataOrientation=MULTIPLEXED
NumberOfChannels=2
SamplingInterval=4000
[Binary Infos]
BinaryFormat=IEEE_FLOAT_32
[Channel Infos]
Ch1=II,,1,µV
Ch2=V1,,1,µV
"""
BRAINVISION_MARKS = """Brain Vision Data Exchange Marker File Version 1.0
[Common Infos]
DataFile=made.eeg
[Marker Infos]
Mk1=Comment,blink,251,125,0
"""


def brainvision(path):
    path.write_text(BRAINVISION, encoding="utf-8")
    path.with_suffix(".vmrk").write_text(BRAINVISION_MARKS, encoding="utf-8")
    TWO.astype("<f4").tofile(path.with_suffix(".eeg"))


def eeglab(path):
    places = np.array([(name,) for name in NAMES], dtype=[("labels", object)])
    marks = np.array([("blink", 251.0, 125.0)], dtype=[(name, object) for name in ("type", "latency", "duration")])
    about = {"data": TWO.T, "srate": 250.0, "nbchan": 2.0, "pnts": float(len(TWO)), "trials": 1.0, "xmin": 0.0}
    about |= {"xmax": (len(TWO) - 1) / 250, "chanlocs": places, "event": marks, "epoch": []}
    empty = {key: [] for key in ("icawinv", "icasphere", "icaweights", "icaact")}
    scipy.io.savemat(path, {"EEG": about | empty}, appendmat=False)


def fif(path):
    mne = pytest.importorskip("mne")
    raw = mne.io.RawArray(TWO.T * 1e-6, mne.create_info(NAMES, 250.0, "eeg"), verbose="error")
    raw.set_annotations(mne.Annotations([1.0], [0.5], ["blink"]))
    raw.save(path, verbose="error")


@pytest.mark.parametrize(
    ("write", "name"),
    [(fif, "made_raw.fif"), (fif, "made_raw.fif.gz"), (brainvision, "made.vhdr"), (eeglab, "made.set")],
)
def test_files_that_mne_reads(write, name, tmp_path):
    mne = pytest.importorskip("mne")
    write(tmp_path / name)
    one, raw = read(tmp_path / name), mne.io.read_raw(tmp_path / name, verbose="error")
    np.testing.assert_array_equal(np.asarray(one), raw.get_data().T)
    np.testing.assert_array_equal(np.asarray(one[300:400]), raw.get_data(start=300, stop=400).T)
    np.testing.assert_allclose(np.asarray(one), TWO * 1e-6, atol=1e-12)
    assert one.names == NAMES and one.units == ["V", "V"] and one.rate == 250
    assert (one.marks.start.tolist(), one.marks.end.tolist()) == ([250], [375])
    assert one.marks.label[0].removeprefix("Comment/") == "blink"


def test_streams_of_obspy():
    obspy = pytest.importorskip("obspy")
    start = obspy.UTCDateTime(2024, 3, 1, 12)
    head = {"network": "XX", "station": "A", "channel": "BHZ", "sampling_rate": 250.0, "starttime": start}
    trace = obspy.Trace(TWO[:, 0].copy(), head)
    one = searched(trace)
    np.testing.assert_array_equal(np.asarray(one)[:, 0], trace.data)
    assert one.times == Sampling(250.0, pd.Timestamp(start.ns, tz="UTC")) and one.names == ["XX.A..BHZ"]
    late = obspy.Trace(TWO[:600, 1].copy(), {**head, "channel": "BHN", "starttime": start + 0.4})
    stream = obspy.Stream([trace.slice(start, start + 3.996), trace.slice(start + 6, None), late])
    one = read(stream)
    expected = np.full((2500, 2), np.nan)
    expected[:1000, 0], expected[1500:, 0], expected[100:700, 1] = TWO[:1000, 0], TWO[1500:, 0], TWO[:600, 1]
    np.testing.assert_array_equal(np.asarray(one), expected)
    merged = stream.copy().merge().trim(start, trace.stats.endtime, pad=True)
    for column, name in enumerate(one.names):
        np.testing.assert_array_equal(np.ma.filled(merged.select(id=name)[0].data, np.nan), expected[:, column])
    other = late.copy()
    other.data = other.data + 1.0
    assert np.isnan(np.asarray(read(obspy.Stream([late, other])))).all()  # they disagree
    late.stats.sampling_rate = 100
    with pytest.raises(ValueError, match=r"one sampling rate. Got 250 per second: XX.A..BHZ; 100 per second"):
        read(stream)
    with pytest.raises(ValueError, match="must begin and end together"):
        read(stream, rate=100)
    late.data, late.stats.starttime = TWO[:1000, 1].copy(), start
    both = read(obspy.Stream([trace, late]), rate=100)
    assert both.names == ["XX.A..BHZ", "XX.A..BHN"] and both.shape == (1000, 2) and both.rate == 100
    np.testing.assert_array_equal(np.asarray(both)[:, 1], late.data)
    late.stats.sampling_rate, late.stats.starttime = 250, start + 0.002
    with pytest.raises(ValueError, match=r"same instants\. Got .* Choose one, channels='XX"):
        read(stream)


def test_records_of_wfdb():
    wfdb = pytest.importorskip("wfdb")
    record = wfdb.Record(
        record_name="one", n_sig=2, fs=250, sig_len=2500, p_signal=TWO, sig_name=NAMES, units=["mV"] * 2
    )
    one = searched(record)
    assert one.names == NAMES and one.units == ["mV", "mV"] and one.times == Sampling(250)


def test_arrays_of_xarray():
    xarray = pytest.importorskip("xarray")
    times = pd.date_range("2024-03-01", periods=len(TWO), freq="4ms", name="time")
    for dims, values in ((("time", "lead"), TWO), (("lead", "time"), TWO.T)):
        array = xarray.DataArray(values, dims=dims, coords={"time": times, "lead": NAMES}, attrs={"units": "mV"})
        one = read(array)
        assert one.names == NAMES and one.units == ["mV", "mV"]
        np.testing.assert_array_equal(np.asarray(one), TWO)
        searcher = QuerySearcher("dtw", n_matches=3).fit(array[:, 300:500] if dims[0] == "lead" else array[300:500])
        same(searcher.search(array), searcher.search(TABLE.set_index(times)))


def test_frames_that_are_not_computed_and_tables_of_arrow():
    searcher = QuerySearcher("dtw", n_matches=3).fit(TABLE[300:500])
    polars = pytest.importorskip("polars")
    same(searcher.search(polars.DataFrame(TWO, NAMES).lazy()), searcher.search(TABLE))
    assert read(polars.DataFrame(TWO, NAMES).lazy(), channels="V1").names == ["V1"]
    pyarrow = pytest.importorskip("pyarrow")
    same(searcher.search(pyarrow.Table.from_pandas(TABLE)), searcher.search(TABLE))


def test_arrays_of_other_libraries():
    class Tensor:
        def __dlpack__(self, **options):
            return TWO.__dlpack__(**options)

        def __dlpack_device__(self):
            return TWO.__dlpack_device__()

    searcher = QuerySearcher("dtw", n_matches=3).fit(TWO[300:500])
    same(searcher.search(Tensor()), searcher.search(TWO))


def test_pipelines_and_other_rates_take_recordings():
    one, query = recording(), TABLE[300:500]
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), QuerySearcher("dtw", n_matches=3))
    pipe.fit(query)
    for given in (one, recording(Slices(TWO))):
        same(pipeline_search(pipe, given), pipeline_search(pipe, TABLE, times=SAMPLING))
    limit = float(QuerySearcher("dtw", n_matches=3).fit(query).search(TABLE).distance[-1])
    alone = make_pipeline(QuerySearcher("dtw", threshold=limit)).fit(query)
    stream, found = pipeline_stream(alone), []
    for k in range(0, len(one), 500):
        found += stream.update(one[k : k + 500]).start_time.tolist()
    found += stream.flush().start_time.tolist()
    assert found == pipeline_search(alone, one).sorted().start_time.tolist() and len(found) >= 3
