"""Times that come with a recording or its index: what counts as times, and zones that go in and come out."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search
from sktslib.distances import TWED
from sktslib.preprocessing import RunningBaseline
from sktslib.search import Windows, discords, motifs
from sktslib.utils._times import column_of_times, given_times, times_of

QUERY = np.array([0.0, 5.0, 0.0])
Y = np.random.default_rng(0).normal(size=60)
Y[20:23] = Y[40:43] = QUERY
SEARCHER = QuerySearcher("euclidean", n_matches=2).fit(QUERY)
SEGMENTER = QuerySegmenter("euclidean", background=0.01).fit(QUERY)
UTC = pd.date_range("2024-10-27 00:35", periods=60, freq="min", tz="UTC")
NIGHT = UTC.tz_convert("Europe/Berlin")  # from 2:35; at 3:00 clocks go to 2:00


TOKYO = NIGHT.tz_convert("Asia/Tokyo")
ZONED = {  # times, and those that must come out
    "index": (lambda: NIGHT, NIGHT),
    "series": (lambda: pd.Series(NIGHT, index=range(60, 0, -1)), NIGHT),
    "objects": (lambda: [t.to_pydatetime() for t in NIGHT], NIGHT),
    "objects of several zones": (lambda: [(TOKYO if k % 2 else UTC)[k].to_pydatetime() for k in range(60)], UTC),
    "text": (lambda: [t.isoformat() for t in TOKYO], TOKYO),
    "text of two offsets": (lambda: [t.isoformat() for t in NIGHT], UTC),
    "polars": (
        lambda: (
            pytest.importorskip("polars")
            .Series(UTC.tz_localize(None).to_numpy())
            .dt.replace_time_zone("UTC")
            .dt.convert_time_zone("Europe/Berlin")
        ),
        NIGHT,
    ),
    "pyarrow": (
        lambda: pytest.importorskip("pyarrow") and pd.Series(NIGHT).astype("timestamp[us, tz=Europe/Berlin][pyarrow]"),
        NIGHT,
    ),
}


@pytest.mark.parametrize("kind", ZONED)
def test_zones_in_zones_out(kind):
    make, want = ZONED[kind]
    times = make()
    for found in (SEARCHER.search(Y, times=times), SEGMENTER.segment(Y, times=times)):
        again = pickle.loads(pickle.dumps(found))
        for got in (found, again):
            assert got.start_time.tolist() == want[[20, 40]].tolist()
            assert got.end_time.tolist() == want[[23, 43]].tolist()
            assert [t.utcoffset() for t in got.start_time] == [t.utcoffset() for t in want[[20, 40]]]
    stream = SEGMENTER.stream()
    parts = [stream.update(Y[a : a + 7], times=times[a : a + 7]) for a in range(0, 60, 7)] + [stream.flush()]
    assert [t for part in parts for t in part.start_time] == want[[20, 40]].tolist()


@pytest.mark.parametrize("start", ["2024-10-27 00:40", "2024-03-31 00:40"])  # before clocks are set back and forward
@pytest.mark.parametrize("where", [1, 2, 3])
def test_steps_of_datetime_objects_are_what_passed(start, where):
    clock = pd.date_range(start, periods=6, freq="10min", tz="UTC").tz_convert("Europe/Berlin")
    clock = clock[:where].append(clock[where:] + pd.Timedelta("30min"))
    y = np.full(6, 2.0)
    y[where : where + 3] = QUERY
    searcher = QuerySearcher("euclidean", threshold=0.0, max_gap=pd.Timedelta("11min")).fit(QUERY)
    whole = searcher.search(y, times=[t.to_pydatetime() for t in clock])
    assert whole.intervals.equals(searcher.search(y, times=clock).intervals)
    assert (whole.start.tolist(), whole.duration.tolist()) == ([where], [1800.0])
    pairs = QuerySearcher("euclidean", threshold=9.0, max_gap=pd.Timedelta("11min")).fit([2.0, 2.0])
    found = [pairs.search(y, times=some).sorted() for some in ([t.to_pydatetime() for t in clock], clock)]
    assert found[0].intervals.equals(found[1].intervals)
    assert set(found[0].duration.tolist()) == {1200.0}  # also of those that end before the hole
    stream = searcher.stream()
    found = [stream.update(y[k : k + 1], times=[clock[k].to_pydatetime()]) for k in range(6)] + [stream.flush()]
    assert [t for part in found for t in part.end_time] == whole.end_time.tolist()


def test_chunks_have_a_zone_or_none():
    for first, then in ((NIGHT, NIGHT.tz_localize(None)), (NIGHT.tz_localize(None), NIGHT)):
        stream = SEGMENTER.stream()
        stream.update(Y[:9], times=first[:9])
        with pytest.raises(ValueError, match=r"time zone in all chunks or in none\. Got .*, at sample 9"):
            stream.update(Y[9:12], times=then[9:12])


DATES = pd.date_range("2024", periods=60)
INDEXES = {
    "dates": (DATES, DATES),
    "durations": (pd.timedelta_range(0, periods=60, freq="s"), pd.timedelta_range(0, periods=60, freq="s")),
    "periods": (pd.period_range("2024", periods=60, freq="M"), pd.date_range("2024", periods=60, freq="MS")),
    "text": (DATES.strftime("%Y-%m-%d"), DATES),
    "days": (pd.Index([d.date() for d in DATES]), [d.date() for d in DATES]),
    "floats": (np.arange(60) / 10, np.arange(60) / 10),
}


@pytest.mark.parametrize(("index", "times"), INDEXES.values(), ids=INDEXES)
def test_an_index_that_holds_times(index, times):
    frame = pd.DataFrame({"y": Y}, index=index)
    times = np.asarray(times)
    for found in (SEARCHER.search(frame), SEARCHER.search(frame["y"]), SEGMENTER.segment(frame)):
        np.testing.assert_array_equal(found.start_time, times[[20, 40]])


NO_TIMES = {
    "range": pd.RangeIndex(5, 65),
    "stride": np.arange(60) * 10,
    "joined": np.r_[0:30, 0:30],  # of two tables put together
    "text": [f"row {k}" for k in range(60)],
    "levels": pd.MultiIndex.from_product([["2024-01-01"], range(60)]),
    "categories": pd.CategoricalIndex(["a", "b"] * 30),
    "bools": np.arange(60) % 2 == 0,
}


@pytest.mark.parametrize("index", NO_TIMES.values(), ids=NO_TIMES)
def test_an_index_that_holds_no_times(index):
    assert times_of(pd.DataFrame({"y": Y}, index=index), None) is None
    assert SEARCHER.search(pd.DataFrame({"y": Y}, index=index)).times is None


def test_floats_that_do_not_increase_are_ignored_with_a_warning():
    for index in (np.arange(60)[::-1] / 10, np.round(np.arange(60) / 20, 1), np.r_[np.nan, 1.0:60.0]):
        frame = pd.DataFrame({"y": Y}, index=index)
        searches = SEARCHER.search, SEARCHER.profile, SEARCHER.transform
        for call in (*searches, SEGMENTER.segment, SEGMENTER.stream().update):
            with pytest.warns(UserWarning, match="index of 'X' holds floats that do not increase, so it is not"):
                assert getattr(call(frame), "times", None) is None


def test_recordings_one_below_the_other_that_an_index_tells_apart_are_warned_of():
    index = pd.MultiIndex.from_product([["first", "second"], pd.date_range("2024-01-01", periods=30, freq="s")])
    frame = pd.DataFrame({"y": Y}, index=index)
    searches = SEARCHER.search, SEARCHER.predict, SEARCHER.profile
    for call in (*searches, SEGMENTER.segment, partial(motifs, length=5)):
        with pytest.warns(UserWarning, match=r"has 2 levels, and its rows are taken for one recording.*groupby"):
            assert getattr(call(frame), "times", None) is None
    parts = [part.droplevel(0) for _, part in frame.groupby(level=0)]  # the way out that is named
    found = SEARCHER.search(parts)
    assert [len(times) for times in found.times] == [30, 30]
    SEARCHER.search(frame, times=np.arange(60.0))  # who gives times means one recording


def test_shuffled_recordings_are_refused():
    dated, numbered = pd.DataFrame({"y": Y}, index=NIGHT), pd.DataFrame({"y": Y})
    for frame, message in (
        (dated, r"'X.index' must be strictly increasing\. Got 2024-10-27 02:\d\d:00\+0\d:00 at .*\(shuffle=False\)"),
        (numbered, r"'X.index' must increase, for the rows are time points\. Got \d+ at row \d+ and then.*sort_index"),
    ):
        shuffled, _ = train_test_split(frame, random_state=0)
        for call in (SEARCHER.search, SEARCHER.predict, SEGMENTER.segment, SEARCHER.fit, SEGMENTER.fit):
            with pytest.raises(ValueError, match=message):
                call(shuffled)
        in_order, _ = train_test_split(frame, shuffle=False)
        assert SEARCHER.search(in_order).start.tolist() == [20, 40]
    with pytest.raises(ValueError, match="Got 59 at row 0 and then 58"):
        SEARCHER.search(numbered[::-1])


def test_times_on_one_side_are_kept_and_samples_are_counted():
    t, tq = np.cumsum(np.linspace(0.9, 1.1, 60)), [0.0, 1.0, 2.0]
    searcher, segmenter = QuerySearcher(TWED(nu=0.1)), QuerySegmenter(TWED(nu=0.1), background="auto")
    plain, cut = searcher.fit(QUERY).search(Y), segmenter.fit(QUERY).segment(Y)
    for of_query, of_sequence in ((None, t), ([0.0, 5.0, 10.0], None)):
        given = {} if of_sequence is None else {"times": of_sequence}
        for found, want in (
            (searcher.fit(QUERY, times=of_query).search(Y, **given), plain),
            (segmenter.fit(QUERY, times=of_query).segment(Y, **given), cut),
        ):
            assert list(found) == list(want)
            np.testing.assert_array_equal(found.path(0), want.path(0))
            assert (found.times is None) == (of_sequence is None)
        profile = searcher.profile(Y, **given)
        np.testing.assert_array_equal(profile.distance, searcher.fit(QUERY).profile(Y).distance)
    timed = searcher.fit(QUERY, times=tq).search(Y, times=3 * t)
    assert timed.distance[0] != plain.distance[0]
    both = searcher.set_params(n_matches=None, threshold=9.0).fit([QUERY, QUERY], times=[tq, None])
    found = both.search(Y, times=3 * t)
    alone = [searcher.fit(QUERY, times=one).search(Y, times=3 * t) for one in (tq, None)]
    for k, want in enumerate(alone):
        assert [one for one, query in zip(found, found.query, strict=True) if query == k] == list(want)


@pytest.mark.parametrize("times", [None, np.cumsum(np.linspace(0.9, 1.1, 60))], ids=["query", "sequence"])
def test_streams_with_times_on_one_side_count_samples(times):
    of_query = [0.0, 5.0, 10.0] if times is None else None
    searcher = QuerySearcher(TWED(nu=0.1), threshold=9.0, n_matches=None)
    segmenter = QuerySegmenter(TWED(nu=0.1))
    for estimator, search in ((searcher, "search"), (segmenter, "segment")):
        fitted = estimator.fit(QUERY, times=of_query)
        want, stream = getattr(fitted, search)(Y, times), fitted.stream()
        assert len(want) > 1
        chunks = [(Y[a : a + 7], None if times is None else times[a : a + 7]) for a in range(0, 60, 7)]
        found = [one for chunk in chunks for one in stream.update(*chunk)] + list(stream.flush())
        assert sorted(found) == sorted(want)
        again = fitted.stream()  # which knows of no other
        assert sorted([*again.update(Y, times), *again.flush()]) == sorted(want)
        assert list(getattr(fitted, search)(Y, times)) == list(want)


# -------------------------------------------------------------------------------------------------- uneven sampling
def hundredths(n, seed=0):
    return np.arange(n) / 100 + np.random.default_rng(seed).normal(size=n) * 0.0003


@pytest.mark.parametrize(
    "times",
    [
        hundredths(60),
        np.round(np.arange(60) / 100 * 1.05, 3),
        pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(np.arange(60) * 60, "s"),  # the query's are numbers
        np.r_[0:30, 32:62] / 100,  # two samples are missing
        pd.date_range("2020", periods=60, freq="MS"),
    ],
    ids=["jitter", "rounded", "dates", "dropped", "months"],
)
@pytest.mark.filterwarnings("error")
def test_even_times_are_no_news(times):
    given = times[7:10] if isinstance(times, pd.DatetimeIndex) and times.freqstr == "MS" else [0, 0.01, 0.02]
    assert len(QuerySearcher("dtw").fit(QUERY, times=given).search(Y, times=times)) == 1
    assert len(QuerySearcher("dtw").fit(QUERY).search(pd.Series(Y, index=times))) == 1


def test_another_sampling_interval_is_noticed():
    fitted = QuerySearcher("dtw", threshold=1e9, n_matches=None).fit(QUERY, times=[0, 0.01, 0.02])
    message = r"sampling intervals of query and sequence differ: 0\.01 and 0\.02 \(of datetimes"
    times = np.arange(60) / 50
    stream = fitted.stream()
    for call in (fitted.search, fitted.profile, fitted.transform, fitted.predict, stream.update):
        with pytest.warns(UserWarning, match=message) as found:
            call(Y, times)
        assert [one.filename for one in found] == [__file__]
    stream.update(Y, times=times + 100)  # not again
    with pytest.warns(UserWarning, match=message):
        QuerySegmenter("dtw").fit(QUERY, times=[0, 0.01, 0.02]).segment(Y, times=times)
    scaled = QuerySearcher("euclidean", candidates=Windows([0.5, 1.0])).fit(QUERY, times=[0, 0.01, 0.02])
    assert len(scaled.search(Y, times=times)) == 1
    timed = QuerySearcher("twed").fit(QUERY, times=[0, 0.01, 0.02])
    assert len(timed.search(Y, times=times)) == 1


def test_holes_and_uneven_steps_are_noticed():
    hole, uneven = np.r_[0:30, 500:530] / 100, np.cumsum(np.random.default_rng(0).uniform(0.1, 2.0, 60))
    with pytest.warns(UserWarning, match=r"has holes: its times usually step by 0\.01, but by up to 4\.71 .*'max_gap'"):
        QuerySearcher("euclidean").fit(QUERY).search(Y, times=hole)
    with pytest.warns(UserWarning, match="sampled unevenly: its times step by.*resample.*shuffle=False"):
        QuerySearcher("euclidean").fit(QUERY).search(Y, times=uneven)
    assert len(QuerySearcher("euclidean", max_gap=0.1).fit(QUERY).search(Y, times=hole)) == 1
    assert len(QuerySearcher("twed").fit(QUERY, times=[0, 1, 2]).search(Y, times=uneven)) == 1


T = np.arange(200) / 360
V = np.random.default_rng(5).normal(size=(200, 2))
WARNED = r"(^The column 'time'|^Column 0) of '(X|sequence)' increases like times.*(X|sequence)(\['time'\]|\[:, 0\])"


@pytest.mark.parametrize(
    "times", [T, T.round(3), T.astype(np.float32), 1e9 + T], ids=["even", "rounded", "float32", "from 1970"]
)
def test_times_among_the_channels_are_noticed(times):
    X = np.column_stack([times, V])
    table = pd.DataFrame(X, columns=["time", "a", "b"])
    calls = [
        lambda X: QuerySearcher("euclidean").fit(X),
        lambda X: QuerySegmenter("euclidean", query=X[:9] if isinstance(X, np.ndarray) else X.iloc[:9]).fit(X),
        lambda X: RunningBaseline(9).fit(X),
        lambda X: discords(X, 20, metric="euclidean"),
        lambda X: time_series_search(get_distance_dict(["Euclidean Distance"]), X[:9], X),
    ]
    for k, call in enumerate(calls):
        for given in (X, table) if k < 4 else (X,):
            with pytest.warns(UserWarning, match=WARNED) as found:
                call(given)
            assert {one.filename for one in found} == {__file__}
    frame = pytest.importorskip("polars").DataFrame({"a": V[:, 0], "seconds (s)": times})
    with pytest.warns(UserWarning, match=r"X\.drop\('seconds \(s\)'\), and give it as times=X\['seconds \(s\)'\]"):
        QuerySearcher("euclidean").fit(frame)


def test_other_channels_are_not_taken_for_times():
    ramp = np.arange(200.0)
    for X in (V, T[:, np.newaxis], np.column_stack([ramp, 2 * ramp]), np.column_stack([-ramp, V])):
        assert column_of_times(X, ()) is None
    bent = np.column_stack([ramp**1.1, V])  # increases always, but not along a line
    assert column_of_times(bent, ()) is None
    assert column_of_times(np.column_stack([ramp, V])[:29], ()) is None  # too few
    swing = np.sin(np.linspace(-0.5, 0.5, 60))  # nearly straight: half a step beside a line at most
    assert column_of_times(np.column_stack([swing, V[:60]]), ()) is None
    assert column_of_times(np.column_stack([np.floor(ramp / 7), V]), ()) is None  # a counter
    rounded = np.round(ramp / 120, 3)[:60]
    assert column_of_times(np.column_stack([rounded, V[:60]]), ()) == 0
    assert column_of_times(np.column_stack([ramp, V])[:2], ("T", "a", "b")) == 0
    assert column_of_times(np.column_stack([ramp**1.1, V]), ("time", "a", "b")) == 0
    assert column_of_times(np.column_stack([V, np.zeros(200)]), ("a", "b", "t")) is None


def test_arrays_are_as_they_were_given():
    times = np.arange(4.0)
    assert given_times(times, "times") is times
    dates = np.arange(4).astype("M8[s]")
    assert given_times(dates, "times") is dates
