"""Files as recordings: formats, times, zones, weights and channels."""

import builtins
import os

import numpy as np
import pandas as pd
import pytest
from command_runs import read, refused
from scipy.io import wavfile

from sktslib.__main__ import main
from sktslib._cli.recordings import Files, compared
from sktslib.io._tables import Reading

X = np.sin(np.arange(20.0))
N = len(X)
START = pd.Timestamp("2024-03-31 01:59:55")


def write(path, head, rows):
    path.write_text(head + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------------------------ formats
def test_numpy_files_stay_on_disk(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([X, -X]))
    found = read(tmp_path / "a.npy")
    assert isinstance(found.values, np.memmap)
    assert found.channels == ["1", "2"]
    assert np.asarray(read(tmp_path / "a.npy", columns="2"))[:, 0].tolist() == (-X).tolist()
    np.save(tmp_path / "b.npy", np.vstack([X, -X]))
    assert "--transpose" in read(tmp_path / "b.npy").notes[0]
    assert read(tmp_path / "b.npy", transpose=True).values.shape == (N, 2)
    np.savez(tmp_path / "c.npz", x=X)
    assert read(tmp_path / "c.npz").values[:, 0].tolist() == X.tolist()
    np.savez(tmp_path / "c.npz", x=X, y=X)
    refused(r"must hold one array of numbers, .*Got x \(20,\), y \(20,\)\. Name one after a colon", tmp_path / "c.npz")
    assert read(f"{tmp_path}/c.npz:y").values[:, 0].tolist() == X.tolist()
    np.save(tmp_path / "d.npy", np.rec.fromarrays([np.arange(20.0), X], names="time, v"))
    found = read(tmp_path / "d.npy")
    assert (found.names, found.times.tolist()) == (["v"], list(range(20)))


def test_files_that_are_no_tables_say_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text(str(X.tolist()))
    refused(r"'a\.json': files of this format, JSON, .* are not read\. Open it by pandas\.read_json", "a.json")
    os.mkfifo(tmp_path / "pipe")
    for name in ("-", "pipe"):
        refused(f"'{name}': a pipe or the standard input cannot be read twice", name)
    write(tmp_path / "-", "v", map(str, X))
    assert read("-").values[:, 0].tolist() == X.tolist()


def test_sound_that_is_cut_off_says_how_much_there_is(tmp_path):
    wavfile.write(tmp_path / "a.wav", 40, np.zeros((200, 2), np.int16))
    content = (tmp_path / "a.wav").read_bytes()
    (tmp_path / "a.wav").write_bytes(content[:443])  # and a part of a sample
    found = read(tmp_path / "a.wav")
    assert len(found) == 99
    (note,) = found.notes
    assert "the file is cut off: 443 of 844 bytes are there, and 99 samples, 2.475 s, were read" in note


def test_the_rate_of_a_file_is_told_where_another_counts(tmp_path):
    wavfile.write(tmp_path / "a.wav", 40, np.zeros(20, np.int16))
    found = read(tmp_path / "a.wav", rate=50.0)
    assert found.times[1] == 0.02
    assert "the file says 40 samples per second; --rate 50 counts" in found.notes[0]


def test_numbers_for_missing_values_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, -9999], [2, 3]]))
    assert np.isnan(read(tmp_path / "a.npy", missing="-9999").values).tolist() == [[False, True], [False, False]]


def test_parquet_keeps_the_index_and_its_zone(tmp_path):
    pytest.importorskip("pyarrow")
    index = pd.date_range(START, periods=N, freq="s", tz="Europe/Berlin")
    pd.DataFrame({"v": X}, index=index).to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet")
    assert found.names == ["v"]
    assert found.times.equals(index.as_unit(found.times.unit))
    assert str(found.times.tz) == "Europe/Berlin"
    index = pd.MultiIndex.from_product([range(2), range(10)])
    pd.DataFrame({"v": X}, index=index).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").names == ["v"]


def test_something_else_is_no_spreadsheet(tmp_path):
    for name in ("a.xlsx", "a.xls"):
        (tmp_path / name).write_bytes(b"no spreadsheet, but some text")
        refused(r"must be a spreadsheet, as its ending says\.", tmp_path / name)


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK")

    def fail(*args, **kwargs):
        raise ImportError("Missing optional dependency 'openpyxl'")

    monkeypatch.setattr(pd, "ExcelFile", fail)
    refused(r"a.xlsx' needs a package .*openpyxl.* Or save the table as CSV", tmp_path / "a.xlsx")


# -------------------------------------------------------------------------------------------------------------- times
SECONDS = pd.date_range("2024-05-01 12:00:55", periods=N, freq="250ms")


def test_dates_and_clock_times_in_two_columns(tmp_path):
    rows = [f"{t:%d.%m.%Y}\t{t:%H:%M:%S.%f}\t{v:.3f}" for t, v in zip(SECONDS, X, strict=True)]
    path = write(tmp_path / "a.txt", "# logger\nDate\tTime\tv\ndd.mm\ths\tmV", rows)
    found = read(path)
    assert found.names == ["v"]
    assert list(found.times) == list(SECONDS)
    assert found.time_name == "Date and Time"
    assert list(read(path, time_column="Date,Time").times) == list(SECONDS)


def test_minutes_and_seconds_are_durations_as_physionet_writes_them(tmp_path):
    rows = ["'59:59.500',1,2", "'59:59.750',3,4", "'1:00:00.000',5,6", "'1:00:00.250',7,8"]
    for first, unit in ((0, "mm:ss"), (0, "hh:mm:ss"), (2, "hh:mm:ss")):  # the file begins before the hour, or at it
        path = write(tmp_path / "a.csv", f"'Elapsed time','MLII','V5'\n'{unit}.mmm','mV','mV'", rows[first:])
        found = read(path)
        assert found.names == ["MLII", "V5"]
        assert found.values[:, 0].tolist() == [1, 3, 5, 7][first:]
        assert (found.times == pd.timedelta_range("0:59:59.5", periods=4, freq="250ms")[first:]).all()


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_since_1970_are_dates_where_they_are_said_to_be(tmp_path, unit, factor):
    since = (1_714_564_800 + 7 * np.arange(N)) * factor
    path = write(tmp_path / "a.csv", "timestamp,v", [f"{t},{x:.3f}" for t, x in zip(since, X, strict=True)])
    expected = pd.date_range("2024-05-01 12:00", periods=N, freq="7s", tz="UTC")
    assert (read(path, epoch=unit).times == expected).all()
    local = read(path, epoch=unit, time_zone="Asia/Tokyo").times
    assert local[0].isoformat() == "2024-05-01T21:00:00+09:00"
    assert read(path).times.dtype == np.float64
    with pytest.raises(ValueError, match=r"Got '0s-9s', and times from 1.?7145648.* If they count from 1970: --epoch"):
        Files(Reading()).read(f"{path}:0s-9s", "--query")
    assert len(Files(Reading(epoch=unit)).read(f"{path}:0s-14s", "--query")) == 2


def test_times_beyond_all_dates_are_not_counted_from_1970(tmp_path):
    path = write(tmp_path / "a.csv", "t,v", ["1e30,1", "2e30,2"])
    refused(r"'t' must hold s since 1970, as --epoch says. Got .*1e.30.*, and .*, in row 1", path, epoch="s")


def test_zones_are_kept(tmp_path):
    local = pd.date_range(START, periods=N, freq="s", tz="Europe/Berlin")  # the clock is changed within it
    path = tmp_path / "a.csv"
    pd.DataFrame({"v": X}, index=local).to_csv(path)
    found = read(path)
    assert (found.times == local).all()
    assert "several offsets from UTC and are shown in UTC (--time-zone names a zone)" in found.notes[0]
    named = read(path, time_zone="Europe/Berlin")
    assert named.notes == []
    assert [t.isoformat() for t in named.times] == [t.isoformat() for t in local]
    write(path, "t,v", [f"{k},{v}" for k, v in enumerate(X)])
    refused(r"--time-zone must name a zone .* Got 'Mars'", path, time_zone="Mars")
    assert "not dates: --time-zone does not apply to them" in read(path, time_zone="Europe/Berlin").notes[0]


def test_times_may_be_refused(tmp_path):
    path = write(tmp_path / "a.csv", "t,v", ["0,1", "0,2", "1,3"])
    refused(r"times in 't' .* Got 0.0 in row 1 and 0.0 in row 2\. .* --time-column none, and --rate", path)
    assert read(path, time_column="none", columns="v").times is None


def test_without_a_header_a_first_column_of_even_steps_is_times(tmp_path):
    rows = [f"{k / 204.8:.4f}\t{v:.3f}" for k, v in enumerate(X)]
    found = read(write(tmp_path / "a.txt", rows[0], rows[1:]))
    assert found.names == ["2"]
    assert found.times.tolist() == [round(k / 204.8, 4) for k in range(N)]
    assert "column 1 increases in even steps: it was read as times" in found.notes[0]
    found = read(tmp_path / "a.txt", time_column="none")
    assert found.times is None
    assert found.names == ["1", "2"]
    # A channel is not even, and a header would have named the times.
    rows = [f"{k**2}\t{v:.3f}" for k, v in enumerate(X)]
    assert read(write(tmp_path / "b.txt", rows[0], rows[1:])).times is None
    rows = [f"{k / 10}\t{v:.3f}" for k, v in enumerate(X)]
    assert read(write(tmp_path / "c.txt", "angle\tlevel", rows)).names == ["angle", "level"]


# ----------------------------------------------------------------------------------------------------------- channels
def test_files_of_other_kinds_are_not_read_as_text(tmp_path):
    (tmp_path / "a.bin").write_bytes(np.arange(100.0).tobytes())
    way_out = "Give it the ending of its format, or save it as CSV"
    refused(rf"a\.bin', which is not text and .*\. {way_out}", tmp_path / "a.bin")


def test_times_that_are_compared_are_told(tmp_path):
    path = write(tmp_path / "a.csv", "stamp,v", [f"{1000 + k / 4},{x}" for k, x in enumerate(np.r_[X, X])])
    (note,) = read(path).notes
    assert "column 'stamp' increases like times and is compared: --time-column stamp reads it" in note
    rounded = write(tmp_path / "b.csv", "v,seconds", [f"{x},{k // 4}" for k, x in enumerate(X)])
    (note,) = read(rounded, time_column="none").notes
    assert "column 'seconds' increases like times and is compared: --columns v leaves it out" in note
    assert read(path, time_column="stamp", columns="v").notes == []
    assert read(path, columns="stamp,v").notes == []  # as it was asked for


@pytest.mark.parametrize("dated", [False, True])
def test_recordings_one_below_the_other_are_named_by_their_rows(tmp_path, dated):
    times = [f"2024-05-01T12:00:{k:02d}" if dated else str(k / 10) for k in range(20)]
    rows = [f"{name},{t},{k}" for name in ("p1", "p2", "p3") for k, t in enumerate(times)]
    path = write(tmp_path / "s.csv", "id,time,v", rows)
    for part in (path, f"{path}:0-60", f"{path}:0-41"):
        refused(r"in row 20 and .* in row 21. Where recordings .*s\.csv:0-20; else sort", part)
    refused(r"in row 40 and .* in row 41. Where recordings .*s\.csv:20-40; else sort", f"{path}:20-60")
    for first in (0, 20, 40):
        one = read(f"{path}:{first}-{first + 20}")
        assert one.values[:, 0].tolist() == [*range(20)] and one.first == first
        assert len(one.times) == 20 and one.times[0] == one.begin
    counted = write(tmp_path / "c.csv", "id,v", [f"{row[:2]},{row.rsplit(',')[-1]}" for row in rows])
    told = f"{counted}: column 'id' holds no numbers and was left out"
    assert read(counted).notes == [
        f"{told}. It changes at row 20: if recordings stand one below the other, name one, {counted}:0-20"
    ]
    notes = write(tmp_path / "n.csv", "note,v", [f"{'ab'[k % 2]},{k}" for k in range(60)])
    assert read(notes).notes == [f"{notes}: column 'note' holds no numbers and was left out"]


def test_channels_are_compared_by_name_or_else_in_order(tmp_path):
    query = read(write(tmp_path / "q.csv", "b,a", ["1,2", "3,4"]))
    other = write(tmp_path / "s.csv", "t,a,b,c", ["0,1,2,3", "1,4,5,6"])
    (_,), sequence, line = compared([query], read(other))
    assert sequence.names == ["b", "a"]
    assert sequence.values.tolist() == [[2, 1], [5, 4]]
    assert line == "columns compared: b, a"
    (own,), sequence, line = compared([query], read(other, columns="c,a"))
    assert line == "columns compared: b, a of the query with c, a of the sequence, in this order"
    assert own.names == sequence.names == ["c", "a"]
    assert own.values.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"the query has 2 \(b, a\) and the sequence 1 \(c\)"):
        compared([query], read(other, columns="c"))


def test_a_file_is_read_once(tmp_path, monkeypatch):
    path = write(tmp_path / "s.csv", "t,a,weight", ["0,1,1", "1,4,2", "2,3,3", "3,1,4"])
    opened = []
    own = builtins.open
    monkeypatch.setattr(builtins, "open", lambda name, *a, **k: opened.append(name) or own(name, *a, **k))
    files = Files(Reading())
    whole, part = files.read(str(path), "--sequence"), files.read(f"{path}:1-3", "--query", weighted=True)
    assert opened.count(str(path)) == 4  # its first bytes, its encoding, its first lines, and all
    assert part.names == whole.names == ["a", "weight"]  # of a slice only a named column holds weights
    assert part.times.tolist() == [1, 2]
    assert files.read(str(path), "--query", weighted=True).weight.tolist() == [1, 2, 3, 4]


def test_errors_of_files_with_their_channels_first_name_the_option_that_turns_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.zeros((2, N)))
    (tmp_path / "query.csv").write_text("mV\n0\n2\n1\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("start,end\n10,20\n", encoding="utf-8")
    learn = "learn rows.npy --labels labels.csv --output m.joblib"
    for line in ("search rows.npy --query query.csv", "show rows.npy 0-10", "show rows.npy 10-3", learn):
        assert main(line.split()) == 2
        assert "If the rows of 'rows.npy' are its channels: --transpose." in capsys.readouterr().err.splitlines()[-1]
    assert main(["show", "rows.npy", "0-10", "--transpose"]) == 0
