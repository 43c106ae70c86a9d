"""Tables of matches and segments: what is selected of them, their times, and the pieces that they cut out."""

import pickle
from zoneinfo import ZoneInfo

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, refused

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances._series import resample
from sktslib.search import Subsequences

QUERY = np.array([0.0, 2, 5, 2, 0])
FULL = np.concatenate([[9, 9], QUERY, [9], [0, 2, 4, 2, 0], [9, 9], [0, 2, 2, 5.5, 2, 0], [9], QUERY + 0.25, [9, 9]])
N = len(FULL)
# The clock is put back from 3:00 to 2:00 amid the recording.
BERLIN = pd.date_range("2024-10-27 00:59:50", periods=N, freq="s", tz="UTC").tz_convert("Europe/Berlin")


def some(kind, times=None):
    """Results with one entry in each of several places."""
    if kind == "segments":
        return QuerySegmenter("dtw", background=0.5).fit([QUERY, -QUERY]).segment(np.r_[FULL, -QUERY], times)
    searcher = QuerySearcher("dtw", n_matches=4, candidates=Subsequences(min_length=4))
    if kind == "matches":
        return searcher.fit(QUERY).search(FULL, times)
    if kind == "stream":
        stream = (
            QuerySearcher("dtw", candidates=Subsequences(min_length=4), threshold=4.0, n_matches=None)
            .fit(QUERY)
            .stream()
        )
        return stream.update(FULL, times)
    both = [FULL, FULL[::-1].copy()]
    return searcher.fit([QUERY, QUERY[1:]]).search(both, None if times is None else [times, times])


KINDS = ["matches", "several", "stream", "segments"]


def same(got, want):
    assert list(got) == list(want)
    pd.testing.assert_frame_equal(got.to_frame(), want.to_frame())


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_selected_has_all_that_belongs_to_it(kind, data):
    times = data.draw(st.sampled_from([None, np.arange(100) / 4, pd.date_range("2026-01-01", periods=100, tz="UTC")]))
    whole = some(kind, None if times is None else times[: N + 5 if kind == "segments" else N])
    n = len(whole)
    assert n > 3
    numbers, bound = st.lists(st.integers(-n, n - 1), max_size=5), st.none() | st.integers(-n - 1, n + 1)
    slices = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, -1]))
    key = data.draw(slices | numbers | st.lists(st.booleans(), min_size=n, max_size=n).map(np.array))
    rows = np.arange(n)[np.array(key, int) if isinstance(key, list) else key]
    part = whole[key]
    assert type(part) is type(whole)
    assert list(part) == [list(whole)[row] for row in rows]
    pd.testing.assert_frame_equal(part.to_frame(), whole.to_frame().iloc[rows].reset_index(drop=True))
    np.testing.assert_array_equal(part.duration, whole.duration[rows])
    assert part.intervals.equals(whole.intervals[rows])
    again = pickle.loads(pickle.dumps(part))
    same(again, part)
    for k, row in enumerate(rows):
        assert part[k] == whole[int(row)]
        for one in (part, again):
            np.testing.assert_array_equal(one.path(k), whole.path(row))
            np.testing.assert_array_equal(one.cut()[k], whole.cut()[row])
        if kind != "segments":
            np.testing.assert_array_equal(part.explain(k).cost, whole.explain(row).cost)
    if kind == "segments":
        for query in (0, 1):
            kept = np.flatnonzero(whole.query == query)
            places = [kept.tolist().index(row) for row in rows if whole.query[row] == query]
            np.testing.assert_array_equal(part.warped(query), whole.warped(query)[places])
        np.testing.assert_array_equal(part.stretch, whole.stretch[rows])


@pytest.mark.parametrize("kind", KINDS)
def test_an_integer_gives_what_iterating_gives(kind):
    whole = some(kind)
    assert [whole[k] for k in range(len(whole))] == list(whole) == list(reversed(list(whole[::-1])))
    assert whole[np.int64(1)] == whole[1 - len(whole)] == list(whole)[1]
    assert list(whole[[1]]) == [whole[1]]
    assert list(whole[pd.Series([False, True] + [False] * (len(whole) - 2))]) == [whole[1]]
    assert len(whole[[]]) == len(whole[np.zeros(len(whole), bool)]) == 0


@pytest.mark.parametrize("kind", ["matches", "segments"])
def test_what_an_index_must_be(kind):
    whole = some(kind)
    n = len(whole)
    mask = whole.to_frame().sort_values("end", ascending=False).end > 0
    for key, error, says in [
        (n, IndexError, rf"from 0 to {n - 1} \(or from -1 to -{n}.*Got {n}"),
        ([0, -n - 1], IndexError, rf"Got .*{-n - 1}.*len\(\)"),
        (np.array([2**63], np.uint64), IndexError, "Got .*9223372036854775808"),
        (np.ones(n + 1, bool), IndexError, rf"one truth value for each of the {n}. Got {n + 1}"),
        (mask, IndexError, rf"must have the index 0 to {n - 1}.*Got \[\d, .*mask.to_numpy"),
        ("start", TypeError, r"Got 'start'\. Columns are attributes, such as \w+\.start"),
        ((0, 1), TypeError, r"a list of integers. Got \(0, 1\)"),
        (1.0, TypeError, "Got 1.0"), ([0.5], TypeError, r"Got \[0.5\]"), (True, TypeError, "Got True"),
        (None, TypeError, "Got None"), ([[0]], TypeError, r"Got \[\[0\]\]"),
    ]:  # fmt: skip
        with pytest.raises(error, match=says):
            whole[key]
    refused(lambda: whole[[]][0], "there are no", error=IndexError)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reverse", [False, True])
def test_sorted_as_python_sorts(kind, reverse):
    whole = some(kind)
    columns = whole.to_frame()
    for by in (*columns, "duration"):
        values = whole.duration if by == "duration" else columns[by].to_numpy()
        keys = list(zip(columns["sequence"], values, strict=True)) if kind == "several" and by == "start" else values
        rows = sorted(range(len(whole)), key=lambda k, keys=keys: keys[k], reverse=reverse)
        same(whole.sorted(by, reverse=reverse), whole[rows])
    same(whole.sorted(), whole.sorted(by="start"))
    with pytest.raises(ValueError, match=r"Unknown column 'strat' of \w+\. Did you mean 'start'\? Valid"):
        whole.sorted("strat")
    refused(lambda: whole.sorted(reverse="yes"), "'reverse' parameter must be True or False", error=TypeError)
    if kind == "matches":
        with pytest.raises(ValueError, match="Unknown column 'query'"):  # there is one
            whole.sorted("query")


def test_labels_of_texts_and_numbers_are_sorted_and_counted():
    y = np.zeros(N, object)
    y[2:7], y[8:13], y[15:21] = "b", 3, "a"
    segments = QuerySegmenter("dtw").fit(FULL[:, np.newaxis], y).segment(FULL)
    assert set(segments.label) == {3, "a", "b"}
    labels = segments.sorted("label").label.tolist()
    assert labels == sorted(labels, key=lambda label: (isinstance(label, str), label))
    assert segments.summary().index.tolist() == [3, "a", "b"]
    assert "3 labels" in repr(segments)


def test_a_selection_of_segments_is_of_the_same_segmentation():
    whole = some("segments")
    part = whole[whole.label == 1][[2, 0]]
    assert part.boundaries.tolist() == sorted([*whole.start[[0, 2]], *whole.end[[0, 2]]])
    assert part.cost.tolist() == whole.cost[[2, 0]].tolist()
    table = part.summary().loc[1]  # in the order of time, whatever that of the selection
    assert (table["count"], table["interval_mean"]) == (2, whole.start[2] - whole.start[0])
    assert len(whole[:0].summary()) == 0
    refused(whole.warped, "number of a query, from 0 to 1")
    assert len(part.plot().boundary_lines_[0].get_segments()) == 4
    assert len(part.plot_repetitions(0).repetition_lines_[0].get_segments()) == 2
    plt.close("all")


# -------------------------------------------------------------------------------------------------------- times, tables


def test_sequences_in_one_zone_keep_it_and_others_are_in_utc():
    def start_times(*indexes):
        X = [pd.DataFrame({"ecg": FULL}, index=index) for index in indexes]
        matches = QuerySearcher("dtw", n_matches=4).fit(QUERY).search(X)
        frame = matches.to_frame()
        want = [indexes[k][s] for k, s in zip(matches.sequence, matches.start, strict=True)]
        assert frame.start_time.tolist() == want  # instants
        one = matches[matches.sequence == 1]
        assert one.start_time.tolist() == [indexes[1][s] for s in one.start]
        assert str(one.start_time.tz) == str(indexes[1].tz)
        assert pickle.loads(pickle.dumps(matches)).to_frame().equals(frame)
        np.testing.assert_array_equal(matches.duration, (matches.end - matches.start).astype(float))
        return frame.start_time

    assert str(start_times(BERLIN, BERLIN.shift(3600)).dt.tz) == "Europe/Berlin"
    named = BERLIN.tz_convert(ZoneInfo("Europe/Berlin"))
    assert str(start_times(BERLIN, named.as_unit("us")).dt.tz) == "Europe/Berlin"
    tokyo = start_times(BERLIN, BERLIN.tz_convert("Asia/Tokyo"))
    assert str(tokyo.dt.tz) == "UTC"


def test_sequences_of_several_kinds_of_times():
    naive, numbers = BERLIN.tz_convert(None), np.arange(N) / 2
    searcher = QuerySearcher("dtw", n_matches=6).fit(QUERY)
    for times in ([BERLIN, naive], [BERLIN, numbers], [naive, numbers]):
        matches = searcher.search([FULL, FULL], times=times)
        want = [times[k][s] for k, s in zip(matches.sequence, matches.start, strict=True)]
        assert list(matches.start_time) == want
        step = np.array([1.0, 0.5 if times[1] is numbers else 1.0])[matches.sequence]
        np.testing.assert_allclose(matches.duration, (matches.end - matches.start) * step)
        with pytest.raises(TypeError, match=r"times of one kind.*matches\[matches\.sequence == 0\]\.intervals"):
            _ = matches.intervals
        assert len(matches[matches.sequence == 0].intervals) == 3
    matches = searcher.search([FULL, FULL], times=[numbers, None])
    assert np.isnan(matches.start_time[matches.sequence == 1]).all()
    np.testing.assert_array_equal(matches.start_time[matches.sequence == 0], matches.start[matches.sequence == 0] / 2)
    matches = searcher.search([FULL, pd.Series(FULL, index=BERLIN)])
    assert matches.to_frame().start_time.isna().tolist() == (matches.sequence == 0).tolist()
    assert np.isnan(matches.duration).tolist() == (matches.sequence == 0).tolist()
    assert matches[matches.sequence == 0].to_frame().start_time.isna().all()
    assert searcher.search([FULL, FULL]).start_time is None


@pytest.mark.parametrize("times", [None, np.arange(N) / 8, BERLIN], ids=["samples", "numbers", "zone"])
def test_intervals_are_half_open(times):
    matches = some("matches", times).sorted()
    intervals = matches.intervals
    assert not intervals.is_overlapping
    at = np.arange(N) if times is None else times
    for k, (start, end, _) in enumerate(matches):
        assert at[start] in intervals[k]
        assert at[end] not in intervals[k]
        assert intervals.get_loc(at[end - 1]) == k


def test_reprs_are_short():
    whole = some("several")
    assert (
        repr(whole)
        == f"<Matches: 8, 2 queries, 2 sequences, distance {whole.distance.min():.4g} to {whole.distance.max():.4g}>"
    )
    assert repr(whole[:0]) == "<Matches: 0>"
    assert repr(whole[:1]) == "<Matches: 1, distance 0 to 0>"
    assert repr(some("segments")).startswith("<Segments: 5, 2 labels, cost 0 to ")


def test_tables_in_notebooks():
    html = some("matches", BERLIN)._repr_html_()
    assert html.startswith("<p>Matches: 4, distance 0 to ")
    assert "times in Europe/Berlin</p><table" in html
    assert html.count("<tr") == 1 + 4
    many = QuerySearcher("euclidean", n_matches=None).fit([0.0, 1]).search(np.zeros(200))
    assert len(many) == 100
    assert many._repr_html_().count("<tr") < 20
    y = np.zeros((N, 1), object)
    y[2:7] = "<b>"
    labeled = QuerySegmenter().fit(FULL[:, np.newaxis], y[:, 0]).segment(FULL)
    assert "&lt;b&gt;" in labeled._repr_html_()
    assert "<b>" not in labeled._repr_html_()
    assert "<table" in some("matches")[:0]._repr_html_()


# ------------------------------------------------------------------------------------------------------- pieces cut out
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_the_samples_of_the_ranges(kind):
    whole = some(kind)
    n = N + 5 if kind == "segments" else N
    y = np.random.default_rng(0).normal(size=(n, 3))
    frame = pd.DataFrame(y, columns=list("abc"), index=np.linspace(5.0, 6.0, n))
    for raw in (y, frame, y.tolist(), Slices(y), y[:, 0], frame["a"], np.asfortranarray(y), y.astype(np.float32)):
        as_array = np.asarray(raw.y if isinstance(raw, Slices) else raw, float)
        got = whole.cut([raw, raw] if kind == "several" else raw)
        assert len(got) == len(whole)
        for piece, (s, e, *_) in zip(got, whole, strict=True):
            np.testing.assert_array_equal(piece, as_array[s:e])
            assert not np.shares_memory(piece, raw) if isinstance(raw, np.ndarray) else True
        if isinstance(raw, Slices):
            assert raw.read == (whole.end - whole.start).sum()
        even = whole.cut([raw, raw] if kind == "several" else raw, length=7)
        assert even.shape == (len(whole), 7, 1 if as_array.ndim == 1 else 3)
        for piece, short in zip(even, got, strict=True):
            short = short.reshape(len(short), -1)
            np.testing.assert_array_equal(piece, resample(short.T, 7).T)
            at = np.linspace(0, len(short) - 1, 7)
            np.testing.assert_allclose(piece[:, 0], np.interp(at, np.arange(len(short)), short[:, 0]), atol=1e-12)
    empty = whole[:0]
    assert empty.cut() == []
    assert empty.cut(length=4).shape == (0, 4, 1)
    assert empty.cut([y, y] if kind == "several" else y, length=4).shape == (0, 4, 3)


def test_pieces_of_what_was_searched_need_no_sequence():
    matches = some("several")
    both = [FULL, FULL[::-1]]
    for one in (matches, pickle.loads(pickle.dumps(matches))):
        for piece, k, (s, e, _) in zip(one.cut(), matches.sequence, matches, strict=True):
            np.testing.assert_array_equal(piece, both[k][s:e])
    one = matches.cut()[0]
    one[:] = -1  # the caller's own
    np.testing.assert_array_equal(matches.cut()[0], both[matches.sequence[0]][matches.start[0] : matches.end[0]])


def test_pieces_keep_what_is_missing():
    y = FULL.copy()
    y[0] = np.nan
    matches = QuerySearcher("euclidean", nan_policy="omit", n_matches=3).fit(QUERY).search(y)
    raw = np.arange(float(N))
    raw[matches.start[0] + 1] = np.nan
    assert np.isnan(matches.cut(raw)[0]).tolist() == [False, True, False, False, False]
    assert np.isnan(matches.cut(raw, length=5)[0, :, 0]).tolist() == [False, True, False, False, False]
    assert np.isnan(matches.cut(raw, length=3)[0, :, 0]).tolist() == [False, False, False]
    assert np.isnan(matches.cut(raw, length=9)[0, :, 0]).tolist() == [False, True, True, True] + 5 * [False]


def test_what_pieces_are_cut_out_of_must_fit():
    matches, several = some("matches"), some("several")
    for call, error, says in [
        (lambda: matches.cut(FULL[:9]), ValueError, "'sequence' must have a sample for each.*Got 9 samples"),
        (lambda: matches.cut(3.0), ValueError, "'sequence' must be one series"),
        (lambda: matches.cut({"a": FULL}), TypeError, "'sequence' must hold real numbers"),
        (lambda: matches.cut(iter(FULL)), TypeError, "'sequence' must hold real numbers"),
        (lambda: matches.cut("text"), TypeError, "'sequence' must hold real numbers"),
        (lambda: matches.cut(np.zeros((N, 2, 2))), ValueError, "Got 3 dimensions"),
        (lambda: matches.cut(length=0), ValueError, r"'length' parameter must be an integer in the range \[1"),
        (lambda: matches.cut(length=2.5), TypeError, "'length' parameter"),
        (
            lambda: several.cut(FULL),
            ValueError,
            "one entry for each of the 2 sequences that were searched. Got ndarray",
        ),
        (lambda: several.cut([FULL]), ValueError, "Got 1 entries"),
        (lambda: several.cut([FULL, FULL[:3]]), ValueError, r"'sequence\[1\]' must have a sample"),
        (lambda: several.cut([FULL, np.zeros((N, 2))], 5), ValueError, r"number of channels.*Got \[1, 2\]"),
    ]:
        with pytest.raises(error, match=says):
            call()


def test_matches_in_one_of_several_sequences_are_drawn():
    X = [pd.Series(FULL, index=BERLIN), FULL[::-1].copy()]
    matches = QuerySearcher("dtw", n_matches=4, candidates=Subsequences(min_length=4)).fit([QUERY, QUERY[1:]]).search(X)
    second = matches[matches.sequence == 1]
    display = second.plot()
    np.testing.assert_array_equal(display.sequence_lines_[0].get_ydata(), FULL[::-1])
    assert len(display.occurrence_lines_[0].get_segments()) == len(second)
    assert display.ax_.get_xlabel() == "sample"
    assert "time" in matches[matches.sequence == 0].plot().ax_.get_xlabel()
    stored = pickle.loads(pickle.dumps(second))
    np.testing.assert_array_equal(stored.plot(sequence=X[1]).sequence_lines_[0].get_ydata(), X[1])
    for none in (matches, matches[:0]):
        refused(none.plot, "one picture", "matches[matches.sequence == 0]")
    plt.close("all")


def test_unknown_styles_are_those_of_the_display():
    found = QuerySearcher("dtw").fit(QUERY).search(FULL), QuerySegmenter("dtw").fit(QUERY).segment(FULL)
    for one, name in zip(found, ("SearchDisplay", "SegmentationDisplay"), strict=True):
        with pytest.raises(TypeError, match=rf"^Unknown parameter 'color' of {name}\.plot\..* Valid: ax, .*title"):
            one.plot(color="red")
