"""The commands search, segment and learn: what they print is what the estimators say."""

import json
import re
import warnings
from inspect import signature

import joblib
import numpy as np
import pandas as pd
import pytest
from command_runs import ECG, TS, ZONED, N, Y, printed, same, table

from sktslib import QuerySearcher, QuerySegmenter
from sktslib._cli import commands, pictures
from sktslib.distances import DTW
from sktslib.metrics import event_report, labels_from_events
from sktslib.search import ChannelPlan, Windows


@pytest.fixture
def drawn(monkeypatch):
    """Pictures that the commands draw."""
    made, own = [], pictures.draw
    monkeypatch.setattr(pictures, "draw", lambda *args, **rest: made.append(own(*args, **rest)) or made[-1])
    return made


# ------------------------------------------------------------------------------------------------------------- search
def test_search_prints_the_matches_of_the_estimator(files, capsys):
    frame, err = table(capsys, "search rec.csv --query beat.csv --metric dtw:alpha=0.7")
    found = QuerySearcher(DTW(alpha=0.7), n_matches=10).fit(ECG.query, weight=ECG.weight).search(Y, times=TS)
    same(frame, found, ("start", "end", "distance", "start_time", "end_time"))
    assert frame["rank"].tolist() == [*range(1, len(found) + 1)]
    assert "columns compared: mV\n" in err
    assert "by QuerySearcher(metric=DTW(alpha=0.7), n_matches=10); ranges are half-open" in err


@pytest.mark.parametrize("task", ["search", "segment"])
def test_a_threshold_may_be_a_false_discovery_rate(files, capsys, task):
    given = [task, "rec.csv", "--query", "beat.csv", "--metric", "euclidean", "--threshold"]
    frame, _ = table(capsys, *given, "fdr:0.3")
    assert len(frame) > 5
    assert (frame["qvalue"] <= 0.3).all()
    again, _ = table(capsys, *given, "FDR:0.3")  # the decoys are drawn alike in each run
    pd.testing.assert_frame_equal(again, frame)


@pytest.mark.slow
def test_every_parameter_of_the_estimator_is_an_option(files, capsys):
    given = ["--normalize", "zscore", "--n-matches", "all", "--max-overlap", "0.2", "--scales", "0.9,1.1"]
    given += ["--threshold", "9.5", "--metric", "euclidean", "--nan-policy", "omit"]
    frame, _ = table(capsys, "search", "rec.csv", "--query", "rec.csv:40-105", *given)
    limits = {"threshold": 9.5, "n_matches": None, "max_overlap": 0.2, "nan_policy": "omit"}
    searcher = QuerySearcher("euclidean", candidates=Windows((0.9, 1.1)), normalize="zscore", **limits)
    found = searcher.fit(Y[40:105]).search(Y)
    assert len(found) > 3
    same(frame, found)


@pytest.mark.parametrize(
    ("callee", "table", "otherwise"),
    [
        (QuerySearcher, commands.SEARCH, {"metric", "metric_params", "query", "weight"}),
        (QuerySegmenter, commands.SEGMENT, {"metric", "metric_params", "query", "weight"}),
        (DTW().distance, commands.DISTANCE, {"weight", "tx", "ty"}),
        (event_report, commands.EVALUATE, {"kinds", "times"}),
    ],
)
def test_tables_of_options_have_every_parameter(callee, table, otherwise):
    """Parameters of objects that a parameter may be are there by the key that `set_params` takes."""
    wanted, objects = {}, getattr(callee, "_parameter_objects", {})
    for name, parameter in signature(callee).parameters.items():
        held = objects.get(name, ()) if name != "threshold" else ()  # which has texts for its objects
        for cls in held:
            own = signature(cls).parameters.values()
            wanted |= {f"{name}__{one.name}": one.default for one in own if one.name != "method"}
        is_object_alone = name in ("channels", "learning")
        if name not in otherwise and parameter.default is not parameter.empty and not is_object_alone:
            wanted[name] = parameter.default
    assert table.keys() == wanted.keys()
    for key, text in table.items():
        default = re.search(r" \(default: (.*)\)$", text)[1]
        if wanted[key] is not None and key not in ("n_matches", "verbose", "candidates__min_length"):
            assert default == ("no" if wanted[key] is False else str(wanted[key])), key


def test_queries_may_be_slices_and_several(files, capsys):
    frame, _ = table(capsys, "search rec.csv --query :1.5s-2s --query beat.csv:10-50 --n-matches 2")
    found = QuerySearcher(n_matches=2).fit([Y[180:240], ECG.query[10:50]]).search(Y)
    same(frame, found)
    assert frame["query"].tolist() == [("rec.csv:1.5s-2s", "beat.csv:10-50")[k] for k in found.query]
    part, _ = table(capsys, "search rec.csv:100-400 --query :180-240 --n-matches 1")
    assert part[["start", "end"]].to_numpy().tolist() == [[80, 140]]
    assert part["start_time"].tolist() == [TS[180]]
    clock = ZONED.tz_localize(None)
    pd.DataFrame({"mV": Y}, index=clock).to_csv("clock.csv")
    day, _ = table(capsys, "search clock.csv:01:59:59-02:00:03 --query :01:59:59..02:00:00 --n-matches 1")
    assert day[["start", "end", "start_time"]].to_numpy().tolist() == [[0, 100, "2024-03-31 01:59:59"]]


@pytest.mark.slow
def test_times_of_both_files_count_for_metrics_of_times(files, capsys):
    frame, err = table(capsys, "search rec.csv --query beat.csv --metric twed:nu=0.5")
    with_times = QuerySearcher("twed", metric_params={"nu": 0.5}, n_matches=10)
    with_times.fit(ECG.query, weight=ECG.weight, times=ECG.tq)
    same(frame, with_times.search(Y, times=TS))
    frame, err = table(capsys, "search rec.csv --query beat.csv --metric twed:nu=0.5 --time-column none --columns mV")
    assert "start_time" not in frame
    pd.DataFrame({"mV": ECG.query}).to_csv("q.csv", index=False)
    frame, err = table(capsys, "search rec.csv --query q.csv --metric twed:nu=0.5")
    assert "only the recording has times, so Time Warp Edit Distance counts samples" in err
    same(frame, QuerySearcher("twed", metric_params={"nu": 0.5}, n_matches=10).fit(ECG.query).search(Y))
    np.testing.assert_array_equal(frame["start_time"], TS[frame["start"]])
    # Samples are counted, but holes are in the recording's times.
    for command, estimator in (("search", QuerySearcher("twed", n_matches=10)), ("segment", QuerySegmenter("twed"))):
        frame, err = table(capsys, command, "rec.csv", "--query", "q.csv", "--metric", "twed", "--max-gap", "0.1")
        fitted = estimator.set_params(max_gap=0.1).fit(ECG.query)
        want = getattr(fitted, command)(Y, times=TS)
        assert frame["start"].tolist() == want.start.tolist()


def test_json_has_iso_times_with_their_zone(files, capsys):
    pd.DataFrame({"mV": Y}, index=ZONED).to_csv("zoned.csv")
    out, _ = printed(capsys, "search zoned.csv --query :40-105 --n-matches 2 --time-zone Europe/Berlin --format json")
    content = json.loads(out)
    assert content["columns"] == ["mV"]
    assert content["queries"] == ["zoned.csv:40-105"]
    assert content["samples"] == N
    found = QuerySearcher(n_matches=2).fit(Y[40:105]).search(Y)
    assert [row["distance"] for row in content["matches"]] == found.distance.tolist()
    assert [row["start_time"] for row in content["matches"]] == [ZONED[k].isoformat() for k in found.start]
    assert {row["end_time"][-6:] for row in content["matches"]} <= {"+01:00", "+02:00"}


def test_a_table_shows_samples_and_times(files, capsys):
    out, _ = printed(capsys, "search rec.csv --query :40-105 --n-matches 1")
    assert [line.split() for line in out.splitlines()] == [
        ["rank", "start", "end", "start_time", "end_time", "distance"],
        ["1", "40", "105", "0.333", "0.875", "0.000"],
    ]


def test_nothing_found_is_exit_code_1(files, capsys, drawn):
    out, err = printed(capsys, "search rec.csv --query beat.csv --threshold 1e-9 --picture p.png", code=1)
    assert drawn[0].subfigs[0].subfigs[-1].axes[0].get_title("left") == "nothing was found"
    assert out == ""
    assert "0 matches by" in err
    out, _ = printed(capsys, "search rec.csv --query beat.csv --threshold 1e-9 --format json", code=1)
    assert json.loads(out)["matches"] == []


def test_of_matches_of_several_queries_one_is_kept_in_each_place(files, capsys):
    line = "search rec.csv --query :140-205 --query :145-200 --n-matches 4 --metric euclidean --normalize zscore"
    every, _ = table(capsys, line)
    frame, err = table(capsys, f"{line} --one-per-place")
    kept = []
    for row in every.sort_values("distance", kind="stable").itertuples():
        if all(row.end <= other.start or row.start >= other.end for other in kept):
            kept.append(row)
    assert sorted(zip(frame["start"], frame["end"], strict=True)) == sorted((row.start, row.end) for row in kept)
    assert len(frame) < len(every) and f"{len(every) - len(frame)} of {len(every)} overlap a nearer one" in err


def test_columns_of_other_names_are_mapped(files, capsys):
    pd.DataFrame({"a": -Y, "b": Y}).to_csv("other.csv", index=False)
    frame, err = table(capsys, "search other.csv --query beat.csv --map mV=b")
    same(frame, QuerySearcher(n_matches=10).fit(ECG.query, weight=ECG.weight).search(Y))
    assert "columns compared: mV with b" in err
    chosen, _ = table(capsys, "search other.csv --query beat.csv --columns mV --map mV=b")
    pd.testing.assert_frame_equal(chosen, frame)
    err = printed(capsys, "search other.csv --query beat.csv", code=2).err
    assert "or --map which belong together: the query has 1 (mV) and the sequence 2 (a, b)" in err
    for wrong, words in {
        "mV=c": "--map must name columns of the recording after =. Got 'c'; other.csv has a, b.",
        "V=b": "--map must name columns of the query before =. Got 'V'; the query has mV. Did you mean 'mV'?",
        "b": "--map must be written QUERY=RECORDING,..., such as mV=ecg_mV. Got 'b'.",
    }.items():
        assert words in printed(capsys, "search other.csv --query beat.csv --map", wrong, code=2).err


def test_columns_of_a_model_are_mapped(files, capsys):
    labels = np.zeros(N, int)
    labels[140:205] = labels[330:395] = 1
    pd.DataFrame({"mV": Y, "beat": labels}).to_csv("lab.csv", index=False)
    pd.DataFrame({"a": -Y, "b": Y}).to_csv("other.csv", index=False)
    printed(capsys, "learn lab.csv --labels beat --metric euclidean --output m.joblib")
    want, _ = table(capsys, "segment lab.csv --trust --model m.joblib --columns mV")
    frame, _ = table(capsys, "segment other.csv --trust --model m.joblib --map mV=b")
    pd.testing.assert_frame_equal(frame, want)
    err = printed(capsys, "segment other.csv --trust --model m.joblib", code=2).err
    assert "or --map which belong together: the model has 1 (mV) and the sequence 2 (a, b)" in err
    err = printed(capsys, "segment other.csv --trust --model m.joblib --columns b").err
    assert "columns compared: mV of the model with b of the sequence, in this order" in err


@pytest.mark.parametrize(
    ("bar", "argv"),
    [
        ("chunk", ["search", "rec.npy", "--query", "beat.csv"]),
        ("search: 100%", ["search", "rec.csv", "--query", "beat.csv", "--query", ":40-105"]),
        ("segmentation: 100%", ["segment", "rec.csv", "--query", "beat.csv"]),
        ("search: 100%", ["search", "rec.csv", "--model", "m.joblib", "--trust"]),
        ("learn thresholds: 100%", "learn lab.csv --labels label --task search --output m.joblib".split()),
    ],
)
def test_a_bar_on_a_terminal_alone(bar, argv, files, capsys, monkeypatch):
    np.save("rec.npy", Y)
    labels = labels_from_events([[40, 105], [230, 295]], n_samples=N)
    pd.DataFrame({"mV": Y, "label": labels}).to_csv("lab.csv", index=False)
    joblib.dump(QuerySearcher().fit(pd.DataFrame({"mV": ECG.query})), "m.joblib")
    without = printed(capsys, *argv)
    assert bar not in without.err
    monkeypatch.setattr(commands, "is_terminal", lambda: True)
    assert bar in printed(capsys, *argv).err
    if argv[0] == "learn":
        assert joblib.load("m.joblib").verbose == 0  # of another terminal
    assert printed(capsys, *argv, "--verbose", "0") == without


@pytest.mark.parametrize(("name", "unit"), [("time", 1), ("time_ms", 1000), ("date", None)])
def test_a_hole_is_told_in_options_and_bounded_by_a_duration(files, capsys, name, unit):
    times = np.arange(N) / 100 + 60 * (np.arange(N) > 299)
    dates = pd.Timestamp("2024-05-01") + pd.to_timedelta(times, unit="s")
    pd.DataFrame({name: times * unit if unit else dates, "mV": Y}).to_csv("hole.csv", index=False)
    argv = ["search", "hole.csv", "--query", ":40-105", "--metric", "euclidean", "--n-matches", "all"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, err = table(capsys, *argv)
    assert "\nwarning: The sequence has holes: " in err
    assert "set --max-gap, for example to " in err
    assert "UserWarning" not in err
    frame, err = table(capsys, *argv, "--max-gap", "1.5s")
    assert f"max_gap={1.5 * (unit or 1)!r}" in err
    same(frame, QuerySearcher("euclidean", n_matches=None, max_gap=1).fit(Y[40:105]).search(Y, times=times))
    assert not ((frame["start"] < 300) & (frame["end"] > 300)).any()
    _, err = printed(capsys, *argv, "--max-gap", "1.5q", code=2)
    assert "--max-gap must be a number in the unit of the times (of dates, seconds), or a duration such as 500ms" in err


@pytest.mark.slow
def test_lags_of_channels_are_samples_or_durations(files, capsys):
    dates = pd.date_range("2024-05-01", periods=N, freq="10ms")
    both = pd.DataFrame({"date": dates, "a": Y, "b": np.roll(Y, 12)})[:300]
    both.to_csv("lag.csv", index=False)
    both.assign(date=np.arange(len(both)) * 10).rename(columns={"date": "time_ms"}).to_csv("ms.csv", index=False)
    argv = ["search", "lag.csv", "--query", ":40-105", "--metric", "correlation", "--n-matches", "3"]
    searcher = QuerySearcher("correlation", n_matches=3, channels=ChannelPlan(lag=[0, 12])).fit(
        both[["a", "b"]][40:105]
    )
    want = searcher.search(both[["a", "b"]])
    for lags in ("0,12", "0s,0.12s", "0ms, 120ms", '{"b": 12}'):
        frame, err = table(capsys, *argv, "--channel-lag", lags)
        assert "channels=ChannelPlan(lag=" in err
        assert frame["start"].tolist() == want.start.tolist()
        assert "channel_distance_b" in frame
        numbered, _ = table(capsys, argv[0], "ms.csv", *argv[2:], "--channel-lag", lags)
        assert numbered["start"].tolist() == want.start.tolist()
    err = printed(capsys, *argv, "--columns", "a,b", "--time-column", "none", "--channel-lag", "1s", code=2).err
    assert "--channel-lag may be a duration if the recording has times. Give samples, or name --rate." in err
    _, err = printed(capsys, *argv, "--channel-lag", "b=12", code=2)
    assert "--channel-lag must be a number of samples, or a duration such as 500ms or 1.5s, or a list of one for" in err
    assert """or a dict of numbers by channel, '{"B": 10}'; units""" in err
    _, err = printed(capsys, *argv, "--channel-tolerance", "5q", code=2)
    assert "--channel-tolerance must be a number of samples, or a duration such as 500ms or 1.5s; units" in err


def test_what_a_file_lost_is_told_before_an_error(files, capsys):
    pd.DataFrame({"a": ECG.query, "b": "x"}).to_csv("named.csv", index=False)
    _, err = printed(capsys, "search two.csv --query named.csv", code=2)
    assert "column 'b' holds no numbers and was left out" in err
    assert "sktslib: error: --columns must say which columns" in err


# ------------------------------------------------------------------------------------------------------------ pictures
@pytest.mark.slow
@pytest.mark.parametrize(
    ("recording", "part", "limits"),
    [
        ("rec.csv", "1s-2.5s", (TS[120], TS[299])),
        ("rec.csv", "120-300", (TS[120], TS[299])),
        ("rec.npy", "120-300", (120, 299)),
        ("clock.csv", "14:30:01-14:30:02.5", (52201.0, 52202.0 + 59 / 120)),
    ],
)
def test_a_part_is_drawn_of_the_whole_that_is_searched(files, capsys, drawn, recording, part, limits):
    np.save("rec.npy", Y)
    clocks = (pd.Timestamp("2024-05-01 14:30") + pd.to_timedelta(TS, unit="s")).strftime("%H:%M:%S.%f")
    pd.DataFrame({"Zeit": clocks, "mV": Y}).to_csv("clock.csv", index=False)
    argv = ["search", recording, "--query", ":40-105", "--n-matches", "5"]
    frame, _ = table(capsys, *argv, "--picture", "p.png", "--time-range", part)
    same(frame, QuerySearcher(n_matches=5).fit(Y[40:105]).search(Y))
    ax = drawn[0].subfigs[1].axes[1]  # of the profile, below the recording
    assert ax.get_xlim() == drawn[0].subfigs[1].axes[0].get_xlim() == pytest.approx(limits, abs=1e-5)
    if recording == "clock.csv":
        assert ax.get_xlabel() == "Zeit"
        assert "14:30:01.300" in [text.get_text() for text in ax.get_xticklabels()]


# ------------------------------------------------------------------------------------------------------------ segment
def test_segment_prints_the_repetitions_of_the_estimator(files, capsys):
    frame, err = table(capsys, "segment rec.csv --query beat.csv --metric adtw --partial --background 0.2")
    segmenter = QuerySegmenter("adtw", partial=True, background=0.2).fit(ECG.query, weight=ECG.weight)
    same(frame, segmenter.segment(Y), ("start", "end", "cost", "label"))
    assert "repetitions by QuerySegmenter(metric=ADTW(omega='auto'), background=0.2, partial=True)" in err
    _, err = table(capsys, "segment rec.csv --query beat.csv --metric twed")
    assert "times as long as the query" not in err
    command = ["segment", "rec.csv", "--query", "beat.csv"]
    for more, hint in (
        (["--lengths", "none,5"], "5, the longest, is in samples, and the query has more than twice as many"),
        (["--background", "1e-9"], "a higher --background accepts"),
    ):
        assert hint in printed(capsys, *command, *more, code=1).err.splitlines()[-1]
    wave = np.sin(np.arange(20) * 0.3)
    pd.DataFrame({"v": np.r_[wave, np.full(80, wave[-1]), wave]}).to_csv("rest.csv", index=False)
    _, err = table(capsys, "segment rest.csv --query :0-20 --metric dtw")
    assert "repetitions are up to 5.0 times as long as the query: bound them with --lengths" in err
    wave = np.sin(np.arange(80) * 0.6) + np.arange(80) % 3
    np.savetxt("wave.txt", wave)
    frame, _ = table(capsys, "segment wave.txt --query auto --metric euclidean")
    found = QuerySegmenter("euclidean", query="auto").fit(wave.reshape(-1, 1)).segment(wave)
    assert len(found) > 2
    same(frame, found, ("start", "end", "cost"))


def test_repetitions_are_counted_without_a_query(files, drawn, capsys):
    phase = 2 * np.pi * np.arange(30 * 9) / 30
    wave = np.column_stack([np.sin(phase), np.cos(2 * phase) + np.sin(phase)])
    wave += 0.05 * np.random.default_rng(0).standard_normal(wave.shape)
    pd.DataFrame(wave, columns=["a", "b"]).to_csv("wave.csv", index=False)
    frame, err = table(capsys, "count wave.csv --picture why.png")
    fitted = QuerySegmenter(query="auto").fit(wave)
    (ax,) = [ax for ax in drawn[0].axes if ax.get_ylabel() == "resembles itself"]
    lags, gain = fitted.periods_.T
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), fitted.periods_)
    assert set(ax.lines[1].get_xdata()) == {len(fitted.query_)} == {lags[gain.argmax()]}
    found = fitted.segment(wave)
    row = frame.iloc[0]
    assert row["count"] == len(found) == 9
    assert (row["least"], row["most"]) == found.count_interval
    assert "9 repetitions by" in err
    frame, _ = table(capsys, "count wave.csv --metric euclidean")
    assert frame[["least", "most"]].isna().all(axis=None)


def test_lengths_may_be_durations_by_the_times_of_the_recording(files, capsys):
    phase = 2 * np.pi * np.arange(30 * 9) / 30
    wave = np.sin(phase) + 0.5 * np.cos(2 * phase) + 0.05 * np.random.default_rng(0).standard_normal(len(phase))
    pd.DataFrame({"time_ms": 20 * np.arange(len(wave)), "a": wave}).to_csv("timed.csv", index=False)
    pd.DataFrame({"a": wave}).to_csv("bare.csv", index=False)
    found = QuerySegmenter(query="auto", lengths=(45, 80)).fit(wave).segment(wave)
    assert len(found) in (4, 5)
    for line in ("timed.csv --lengths 0.9s,1600ms", "bare.csv --rate 50 --lengths 45,1.6s", "bare.csv --lengths 45,80"):
        frame, err = table(capsys, f"count {line}")
        assert frame["count"].tolist() == [len(found)]
        assert "lengths=(45, 80)" in err
    frame, _ = table(capsys, "segment timed.csv --query :300ms-900ms --lengths none,0.7s")
    same(frame, QuerySegmenter(lengths=(None, 35)).fit(wave[15:45]).segment(wave), ("start", "end", "cost"))
    assert "above 0" in printed(capsys, "count", "timed.csv", "--lengths=-1s,2s", code=2).err
    for given, message in (
        ("0.9s,1.6s", "--lengths may be a duration if the recording has times. Give samples, or name --rate."),
        ("0.9s", "--lengths must be SHORTEST,LONGEST, each none, a number of samples, or a duration such as 500ms"),
        ("0.9s,long", "--lengths must be SHORTEST,LONGEST"),
    ):
        assert message in printed(capsys, "count", "bare.csv", "--lengths", given, code=2).err


def test_arrays_are_literals(files, capsys):
    found = QuerySegmenter(transitions=[[0, 0], [0, 2.5]]).fit(Y[180:240]).segment(Y)
    frame, _ = table(capsys, "segment", "rec.csv", "--query", ":180-240", "--transitions", "[[0,0],[0,2.5]]")
    same(frame, found, ("start", "end", "cost"))


@pytest.mark.slow
def test_the_picture_names_queries_and_shows_their_profiles(files, drawn, capsys):
    argv = "search rec.csv --query :50-115 --query beat.csv --metric euclidean --threshold 2 --picture p.png"
    printed(capsys, argv)
    printed(capsys, argv.replace("beat.csv", ":150-215"))
    rows = [figure.subfigs[1].axes for figure in drawn]
    legends = [[text.get_text() for text in axes[0].get_legend().get_texts()] for axes in rows]
    assert legends == [["rec.csv:50-115", "beat.csv"], ["50-115", "150-215"]]
    profile = rows[1][1]
    expected = QuerySearcher("euclidean").fit(Y[50:115]).profile(Y).distance
    np.testing.assert_allclose(profile.lines[0].get_ydata()[: N - 64], expected, rtol=1e-9, atol=1e-12)
    assert profile.get_title(loc="left") == "50-115" and 2.0 in profile.lines[2].get_ydata()
    assert [ax.get_ylabel() for ax in rows[1]] == ["mV", "distance", "distance"]
    printed(capsys, argv.replace("search", "segment").replace(":50-115 --query beat.csv", ":50-115"))
    assert [ax.get_ylabel() for ax in drawn[2].subfigs[1].axes] == ["mV"]
    printed(capsys, "search two.csv --query :40-105 --n-matches 3 --metric euclidean --picture p.svg")
    above, below = drawn[3].subfigs
    for ax, of, factor in zip(below.axes, above.subfigs[1].axes, (1, 2), strict=False):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), factor * Y)
        assert len(ax.collections[0].get_segments()) == len(of.lines) == 3
        np.testing.assert_array_equal(of.lines[0].get_ydata(), factor * Y[40:105])
    assert [ax.get_ylabel() for ax in above.subfigs[0].axes] == ["mV", "double"]
    assert "<svg" in (files / "p.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_distances_that_take_long_are_drawn_when_asked_for(files, drawn, capsys, monkeypatch):
    line = "search rec.csv --query :50-115 --normalize zscore --metric dtw --picture a.png"
    printed(capsys, line)
    monkeypatch.setattr("sktslib._cli.searching.CHEAP", 0)
    profiles = []
    monkeypatch.setattr(QuerySearcher, "profile", lambda *a, _own=QuerySearcher.profile: profiles.append(_own(*a)))
    _, err = printed(capsys, line)
    assert "the picture leaves out the distances of all candidates, which take long to compute: --profile" in err
    assert not profiles and len(drawn[0].subfigs[1].axes) == len(drawn[1].subfigs[1].axes) + 1
    monkeypatch.undo()
    monkeypatch.chdir(files)
    assert "--profile needs --picture" in printed(capsys, "search rec.csv --query :50-115 --profile", code=2).err
