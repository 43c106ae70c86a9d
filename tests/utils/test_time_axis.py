"""The horizontal axis of pictures: zones, daylight-saving changes, ranges of time, ticks of many samples."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num, num2date
from pictures import DATES, SEQUENCE, Found

from sktslib import QuerySearcher, QuerySegmenter, Sampling
from sktslib._plots.base import as_times, reduced
from sktslib.utils.visualisation import EventsDisplay, ProfileDisplay, SearchDisplay, SegmentationDisplay

pytestmark = pytest.mark.usefixtures("_closed_figures")
FOUND = Found([10], [12], [1.0])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_places_and_samples_of_dates_belong_to_each_other(unit):
    times = as_times(DATES.as_unit(unit), 200, "times")
    np.testing.assert_allclose(times.values[:], date2num(DATES.to_numpy()))
    for moved, side, first in ((0, "left", 0), (0, "right", 1), (0.5, "left", 1), (0.5, "right", 1)):
        found = times.find(times.values[:][:-1] + moved / 24, side)
        np.testing.assert_array_equal(found, np.arange(first, 199 + first))
    assert times.find(np.array([-1e9, 1e9])).tolist() == [0, 199]
    days = as_times(np.arange("2024-01-01", "2024-01-11", dtype="datetime64[D]"), 10, "times")
    noon = date2num(np.datetime64("2024-01-03T12:00"))
    assert [days.find(noon, side) for side in ("left", "right")] == [3, 3]


@pytest.mark.parametrize(("rate", "start"), [(1.0, 0.0), (204.8, 0.0), (0.3, -17.7), (1e6 / 3, 1e5)])
def test_times_of_a_rate_are_found_as_those_of_an_array(rate, start):
    n = 30_000
    even, held = as_times(Sampling(rate, start), n, "times"), as_times(start + np.arange(n) / rate, n, "times")
    assert not isinstance(even.values, np.ndarray)
    places = np.r_[held.values[::7], held.values[::7] + 0.3 / rate, np.nextafter(held.values[::7], np.inf), -1e9, 1e9]
    for side in ("left", "right"):
        np.testing.assert_array_equal(even.find(places, side), held.find(places, side))
    assert even.find(held.values[5]) == 5 and even.find(held.values[5], "right") == 6
    index = np.array([[0, 3], [n - 1, n]])
    np.testing.assert_array_equal(even.at(index), held.at(index))
    np.testing.assert_array_equal(even.values[3:9], held.values[3:9])
    assert len(even.holes) == 0
    with pytest.raises(ValueError, match="runs from"):
        even.view((1e12, 2e12))


def test_a_recording_in_a_file_stays_there(tmp_path):
    y = np.sin(np.arange(30_000) / 50).astype(np.float32)
    np.save(tmp_path / "y.npy", y)
    stored = np.load(tmp_path / "y.npy", mmap_mode="r")
    drawn = [SearchDisplay.from_predictions(FOUND, one, times=Sampling(8.0)) for one in (stored, y.astype(float))]
    assert isinstance(drawn[0].sequence, np.memmap)
    lines = [display.sequence_lines_[0].get_xydata() for display in drawn]
    np.testing.assert_array_equal(*lines)


def test_the_end_lies_one_step_behind_the_last_sample():
    assert as_times([0.0, 1.0, 3.0], 3, "times").at([0, 2, 3]).tolist() == [0, 3, 5]
    assert as_times(None, 1, "times").at([0, 1]).tolist() == [0, 1]
    np.testing.assert_allclose(np.diff(as_times(DATES, 200, "times").at([199, 200])), 1 / 24)
    low, high = SearchDisplay.from_predictions(FOUND, np.where(SEQUENCE > 0, SEQUENCE, np.nan)).ax_.get_xlim()
    assert low <= 0 < 199 <= high  # missing values at the ends belong to the recording


def test_the_name_and_the_times_of_an_index_are_drawn():
    """The axis says the unit that the index says, also where the result holds the samples alone."""
    times = np.arange(200) / 120 + 5
    table = pd.DataFrame({"a": SEQUENCE}, index=pd.Index(times, name="time (s)"))
    searcher = QuerySearcher("euclidean").fit(SEQUENCE[:9])
    found = [searcher.search(table), searcher.search([table]), searcher.search(table)[:1]]
    found += [QuerySegmenter("euclidean").fit(SEQUENCE[:9]).segment(table)]
    displays = [one.plot(sequence=table) for one in found]
    displays += [SearchDisplay(FOUND, table), SegmentationDisplay([10, 12], table)]
    displays += [ProfileDisplay.from_estimator(searcher, table)]
    displays += [SearchDisplay(FOUND, table.set_axis(pd.to_timedelta(times, unit="s")))]
    for display in displays:
        np.testing.assert_allclose(display.times.values, times, atol=1e-9)
        assert display.times.label == "time (s)"
    assert displays[0].axes_[-1].get_xlabel() == "time (s)"
    named = searcher.search(SEQUENCE, times=pd.Series(times, name="t (s)"))
    assert named.plot().ax_.get_xlabel() == "t (s)"
    assert named.plot(ts=times).ax_.get_xlabel() == "time"
    for rows in (np.arange(200), np.roll(times, 3)):  # numbers of rows, and floats that do not increase
        assert SearchDisplay(FOUND, table.set_axis(rows)).times.label == "sample"
    assert SearchDisplay(FOUND, SEQUENCE, pd.Series(times, name="sample")).times.label == "time"


@pytest.mark.parametrize(
    ("times", "time_range", "limits", "shown"),
    [
        (None, (100, None), (100, 199), slice(99, None)),  # a sample more, so that the line reaches the border
        (np.arange(200) / 4, (None, 2), (0, 2), slice(0, 10)),
        (DATES - DATES[0], ("1h", 7200), (3600, 7200), slice(0, 4)),
    ],
)
def test_a_range_of_samples_and_of_numbers(times, time_range, limits, shown):
    for display in (
        SegmentationDisplay.from_predictions([3, 9], SEQUENCE, times=times, time_range=time_range),
        EventsDisplay.from_predictions([[3, 9]], [[3, 9]], SEQUENCE, times=times, time_range=time_range),
    ):
        assert display.ax_.get_xlim() == limits
        np.testing.assert_array_equal(display.sequence_lines_[0].get_ydata(), SEQUENCE[shown])


@pytest.mark.parametrize("dates", [False, True])
def test_holes_in_the_times_are_not_drawn_over(dates):
    t = np.r_[0:100, 5000:5100, 9000:9001, 20000:20100].astype(float)
    given = pd.Timestamp("2024") + pd.to_timedelta(t, unit="s") if dates else t
    times, y = as_times(given, 301, "times"), np.cos(t)
    assert times.holes.tolist() == [100]  # one sample alone would not be seen as a line
    x, drawn = reduced(times, y, 0, 301, 301)
    assert np.flatnonzero(np.isnan(drawn)).tolist() == [100]
    np.testing.assert_array_equal(np.delete(drawn, 100), y)
    np.testing.assert_array_equal(np.delete(x, 100), times.values[:])
    x, drawn = reduced(times, y, 0, 301, 40)  # by columns, each with its lowest and its highest value
    gap = np.flatnonzero(np.isnan(drawn))
    assert len(gap) == 2
    assert (x[gap] == times.at(100)).all()
    np.testing.assert_array_equal([np.nanmin(drawn), np.nanmax(drawn)], [y.min(), y.max()])
    assert not len(as_times(np.arange(50.0), 50, "times").holes)
    assert not len(as_times([1.0], 1, "times").holes)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
def test_times_with_a_zone_are_drawn_at_their_instant_and_written_in_their_zone(zone):
    local = DATES.tz_localize("UTC").tz_convert(zone)
    for times in (local, pd.Series(local), local.to_pydatetime().tolist()):
        display = SearchDisplay.from_predictions(FOUND, SEQUENCE, times=times)
        assert display.ax_.get_xlabel() == f"time ({zone})"
        np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), date2num(DATES.to_numpy()))
        ticks = [t.astimezone(ZoneInfo(zone)) for t in num2date(display.ax_.get_xticks())]
        assert all((t.hour, t.minute) == (0, 0) for t in ticks)


AWARE = [t.replace(tzinfo=UTC) for t in DATES.to_pydatetime()]


@pytest.mark.parametrize(
    ("times", "zone"),
    [
        (lambda: [t.isoformat() for t in DATES], None),
        (lambda: pd.period_range("2024-03-30", periods=200, freq="h"), None),
        (lambda: [t.astimezone(timezone(timedelta(hours=5))) for t in AWARE], "UTC+05:00"),
        (lambda: [t.astimezone(timezone(timedelta(hours=k % 3))) for k, t in enumerate(AWARE)], "UTC"),
        (lambda: pytest.importorskip("polars").Series(AWARE).dt.convert_time_zone("Europe/Rome"), "Europe/Rome"),
    ],
)
def test_dates_of_all_kinds(times, zone):
    found = as_times(times(), 200, "times")
    assert found.label == ("time" if zone is None else f"time ({zone})")
    np.testing.assert_allclose(found.values[:], date2num(DATES.to_numpy()))


def test_many_samples_are_numbered_with_commas():
    y = np.zeros(200_000)
    display = SegmentationDisplay.from_predictions([5], y)
    display.figure_.canvas.draw()
    assert "100,000" in [text.get_text() for text in display.ax_.get_xticklabels()]


# ------------------------------------------------------------------------------------------------------------- ranges
@pytest.mark.parametrize(
    "time_range",
    [
        ("2024-03-31 00:00", "2024-03-31 05:00"),
        (pd.Timestamp("2024-03-30 23:00", tz="UTC"), pd.Timestamp("2024-03-31 03:00", tz="UTC")),
        (datetime(2024, 3, 31), "2024-03-31T03:00Z"),
    ],
)
def test_a_range_of_local_times(time_range):
    times = pd.date_range("2024-03-30 20:00", periods=200, freq="15min", tz="Europe/Berlin")
    display = SearchDisplay.from_predictions(FOUND, SEQUENCE, times=times, time_range=time_range)
    low, high = num2date(display.ax_.get_xlim())
    assert low.astimezone(UTC) == datetime(2024, 3, 30, 23, tzinfo=UTC)
    assert high - low == timedelta(hours=4)  # the clock says five
    # One sample more on either side, so that the line reaches the border.
    assert len(display.sequence_lines_[0].get_xdata()) == 4 * 4 + 1 + 2


def test_a_range_holds_both_hours_of_a_night_when_clocks_are_put_back():
    times = pd.date_range("2024-10-26 22:00", periods=200, freq="5min", tz="UTC").tz_convert("Europe/Berlin")
    display = SearchDisplay(FOUND, SEQUENCE, times)
    low, high = num2date(display.plot(time_range=("2024-10-27 02:00", "2024-10-27 02:30")).ax_.get_xlim())
    assert high - low == timedelta(minutes=90)
    times = pd.date_range("2024-03-30 22:00", periods=200, freq="5min", tz="UTC").tz_convert("Europe/Berlin")
    low = SearchDisplay(FOUND, SEQUENCE, times).plot(time_range=("2024-03-31 02:30", None)).ax_.get_xlim()[0]
    assert num2date(low) == datetime(2024, 3, 31, 1, tzinfo=UTC)


def test_the_line_is_drawn_anew_where_the_axes_show_a_part():
    y = np.random.default_rng(0).normal(size=300_000)
    display = SearchDisplay.from_predictions(Found([1000], [120_000], [1.0]), y)
    line, coarse = display.sequence_lines_[0], len(display.occurrence_lines_[0].get_segments()[0])
    assert len(line.get_xdata()) < 5000
    display.ax_.set_xlim(1000, 2000)
    np.testing.assert_array_equal(line.get_xdata(), np.arange(999, 2002))
    np.testing.assert_array_equal(line.get_ydata(), y[999:2002])
    assert len(display.occurrence_lines_[0].get_segments()[0]) == 119_000 > coarse
    display.ax_.set_xlim(0, 300_000)
    assert len(line.get_xdata()) < 5000


@pytest.mark.parametrize(
    ("time_range", "times", "message"),
    [
        ((5, 3), None, r"start must be before the end.*Got \(5, 3\); the recording's sample runs from 0.0 to 199.0"),
        ((500, 600), None, "must hold samples"),
        (7, None, r"None or two times \(start, end\), either of which may be None\. Got 7"),
        ("2024", DATES, "None or two times"),
        (("soon", None), DATES, "must hold datetimes, as the times do. Got 'soon'"),
        ((0, np.nan), None, "'time_range' parameter must be a real number"),
    ],
)
def test_ranges_that_cannot_be(time_range, times, message):
    for draw in (SearchDisplay(FOUND, SEQUENCE, times), ProfileDisplay(SEQUENCE, times=times)):
        with pytest.raises(ValueError, match=message):
            draw.plot(time_range=time_range)
