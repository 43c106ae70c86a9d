"""Validation of series, numbers, names, weights and times: what is converted, what untouched, and what is refused."""

import datetime as dt
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import DAYS, HUGE, READ_ONLY, refused
from scipy import sparse

from sktslib import QuerySearcher
from sktslib.utils import validation
from sktslib.utils.validation import as_floats, as_series, as_times, as_weight, check_count, check_number, unknown_name


# ------------------------------------------------------------------------------------------------- what is accepted
@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 2, 3],
        (0.0, 1.0, 2.0, 3.0),
        range(4),
        np.arange(4),
        np.arange(4, dtype=np.float32),
        np.arange(4, dtype=np.longdouble),
        np.arange(4, dtype=">f8"),
        np.arange(8.0)[::2] / 2,
        np.arange(3.0, -1.0, -1.0)[::-1],
        READ_ONLY,
        np.array([0, 1.0, Decimal(2), Fraction(3)], dtype=object),
        np.array([np.float32(0), np.int8(1), True + 1, np.array(3.0)], dtype=object),
        np.ma.array([0.0, 1.0, 2.0, 3.0]),
        pd.Series([0, 1, 2, 3], index=[9, 8, 7, 6]),
        pd.Series([0.0, 1.0, 2.0, 3.0], dtype="Float32"),
        pd.DataFrame({"a": [0, 1, 2, 3]}),
        np.arange(4.0)[:, np.newaxis],
        np.array([False, True, 2, 3], object),
    ],
    ids=lambda values: f"{type(values).__name__}-{getattr(values, 'dtype', '')}",
)
def test_real_numbers_of_any_kind_become_one_type(values):
    a = as_series(values, "x")
    np.testing.assert_array_equal(a, [[0, 1, 2, 3]])
    assert type(a) is np.ndarray
    assert a.dtype == np.float64
    assert a.flags.carray


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_channels_come_first_and_time_second():
    a = as_series([[1, 2], [3, 4], [5, 6]], "x", channels=2)
    np.testing.assert_array_equal(a, [[1, 3, 5], [2, 4, 6]])
    assert a.flags.carray
    np.testing.assert_array_equal(as_series([True, False], "x"), [[1, 0]])
    matrix = as_series(np.matrix([[1, 2], [3, 4]]), "x")
    assert type(matrix) is np.ndarray and matrix.tolist() == [[1, 3], [2, 4]]
    np.testing.assert_array_equal(as_series(pd.DataFrame({"a": [1, 3], "b": [2.5, 4]}), "x"), [[1, 3], [2.5, 4]])


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=5), elements=st.floats(-9, 9)))
def test_every_layout_gives_the_same_array(a):
    want = a.reshape(len(a), -1).T
    views = a, np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2], a[::-1].copy()[::-1]
    for values in (*views, a.tolist(), a.astype(object)):
        before = np.array(values, copy=True)
        np.testing.assert_array_equal(as_series(values, "x"), want)
        np.testing.assert_array_equal(values, before)


def test_no_copy_is_made_where_none_is_needed():
    a = np.arange(5.0)
    assert np.shares_memory(as_series(a, "x"), a)
    assert not np.shares_memory(as_series(READ_ONLY, "x"), READ_ONLY)


def test_missing_values_pass_where_they_may_and_infinity_never():
    np.testing.assert_array_equal(as_series([1, np.nan, None], "x", missing=True), [[1, np.nan, np.nan]])
    with pytest.raises(
        ValueError, match=re.escape("'x' must be finite. Got 1 infinite of 3 values, first at index 2.")
    ):
        as_series([1, np.nan, np.inf], "x", missing=True)


# -------------------------------------------------------------------------------------------------- what is refused
REFUSED = {
    ValueError: [
        (5, "Got 0 dimensions, shape (). Reshape your data: a single point is [x]."),
        (np.zeros((2, 3, 4)), "Got 3 dimensions, shape (2, 3, 4). Several series, where"),
        ([], "'x' must hold at least one point. Got 0 sample(s) (shape=(0,))"),
        (np.zeros((0, 2)), "Got 0 sample(s) (shape=(0, 2))"),
        (np.zeros((3, 0)), "Got 0 feature(s) (shape=(3, 0)) while a minimum of 1 is required."),
        ([[1, 2], [3]], "'x' must have rows of equal length. Got a ragged list. A series is (length,) or"),
        (np.array([[1, 2], [3]], dtype=object), "Got a ragged list."),
        ([0, np.nan, np.nan], "'x' must be finite. Got 2 NaN of 3 values, first at index 1. Cut the series"),
        ([[0, 1], [np.inf, np.nan]], "Got 1 NaN and 1 infinite of 4 values, first at index (1, 0)."),
        (pd.Series([pd.NA, 1], dtype="Int64"), "Got 1 NaN of 2 values, first at index 0."),
        ([1j, 2], "Complex data not supported: got complex128. Pass the real part or the modulus, numpy.real(x)"),
        (np.array([1, 2j], object), "Complex data not supported: got 2j at index 1."),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "'x' must not have masked values. Got 1; pass x.filled(numpy.nan)"),
        ([HUGE, 1], "'x' must fit into float64, up to 1.8e308. Got 1000"),
        ([0.5, -HUGE], "0000000000 at index 1."),
        ([10**5000], "Got an integer of 16610 bits at index 0."),
        (np.array(["1e4000", "1"], np.longdouble), "Got 1 infinite of 2 values, first at index 0."),
    ],
    TypeError: [
        (None, "'x' must be an array of real numbers. Got None."),
        (["1", "2"], "Got text, dtype <U1. If it spells numbers, pass numpy.asarray(x, dtype=float)."),
        ("abc", "'x' must hold real numbers. Got text"),
        (np.array([1, "2"], object), "Got '2' at index 1: a str is not a number. Pass the numbers alone."),
        (pd.DataFrame({"a": [1], "b": ["y"]}), "Got text in the column 'b'. Select the columns of numbers, x["),
        (DAYS, "Got dates, dtype datetime64"),
        (DAYS.tz_localize("UTC"), "a Timestamp is not a number"),
        ([dt.date(2024, 1, 1)], "Got datetime.date(2024, 1, 1) at index 0: a date is not a number."),
        (np.array([1, np.datetime64("2024")], object), "at index 1: a datetime64 is not a number."),
        (np.arange(3).astype("m8[s]"), "Got durations, dtype timedelta64[s]. Divide them by a unit"),
        ([{"a": 1}], "Got {'a': 1} at index 0: float() argument must be a string or a real number"),
        ({"a": [1.0, 2.0]}, r"Got a dictionary of ['a']. Of channels make one array, numpy.column_stack"),
        ((i for i in range(3)), "not 'generator'. Pass the numbers alone."),
        ([object(), 1], "at index 0: float() argument must be"),
        (np.zeros(2, [("a", float)]), "Pass the values alone, for example one field of a structured array."),
        (sparse.csr_matrix(np.eye(3)), "'x' must be dense. Got sparse data; pass x.toarray()."),
    ],
}


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [(v, e, m) for e, rows in REFUSED.items() for v, m in rows],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_series_is_named(values, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        as_series(values, "x")
    assert str(raised.value).startswith("'x' must ")


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (np.zeros(4), "Got 1, shape (4,). Time runs along the first axis of a series and channels along the second."),
        (np.zeros((4, 2)), "Got 2, shape (4, 2). Time runs along the first axis"),
        (np.zeros((3, 4)), "Got 4, shape (3, 4). If its rows are the channels, pass numpy.transpose(y)."),
    ],
)
def test_other_channels(values, hint):
    refused(lambda: as_series(values, "y", channels=3, like="'x'"), f"'y' must have as many channels as 'x', 3. {hint}")


def test_a_large_array_is_not_written_out():
    for values in (np.arange(10_000).astype("U5"), [{"key": "v" * 10_000}]):
        with pytest.raises(TypeError) as raised:
            as_floats(values, "x")
        assert len(str(raised.value)) < 300
        assert "\n" not in str(raised.value)


# ------------------------------------------------------------------------------------------------ numbers and names
@pytest.mark.parametrize("value", [1, 2.5, np.float32(2.5), np.int64(3), Fraction(5, 2)])
def test_real_numbers_become_floats(value):
    got = check_number(value, "p", low=0)
    assert got == value
    assert type(got) is float


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *[(value, TypeError) for value in ("1", None, True, np.True_, [1], 1j, Decimal(1), np.array(1.0))],
        *[(value, ValueError) for value in (-1, 0, 11, np.nan, np.inf, -np.inf, np.float64("nan"), HUGE, 10**5000)],
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_out_of_range(value, error):
    rule = "The 'p' parameter of Thing must be a real number in the range (0, 10]. Got "
    refused(lambda: check_number(value, "p", low=0, high=10, open_low=True, owner="Thing"), rule, error=error)


def test_numbers_beyond_float64():
    refused(lambda: check_number(HUGE, "p"), "in the range (-inf, inf). Got 1000", "0. It does not fit into float64.")


def test_counts():
    assert check_count(np.int32(3), "k") == 3
    assert type(check_count(np.int32(3), "k")) is int
    assert check_count(None, "k", none=True) is None
    assert check_count(0, "k", low=0) == 0
    for value, error in ((0, ValueError), (1.0, TypeError), (True, TypeError), (None, TypeError), ("2", TypeError)):
        with pytest.raises(
            error, match=re.escape(f"'k' parameter must be an integer in the range [1, inf). Got {value!r}.")
        ):
            check_count(value, "k")


@pytest.mark.parametrize("given", ["aplha", "ALPHA", "qqq", 3, None, []])
def test_unknown_names_come_with_the_nearest(given):
    hint = " Did you mean 'alpha'?" if given in ("aplha", "ALPHA") else ""
    error = unknown_name("parameter", given, ["window", "alpha"], "dtw")
    assert isinstance(error, ValueError)
    assert str(error) == f"Unknown parameter {given!r} of dtw.{hint} Valid: alpha, window."


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", [(1,), (7,), (300,), (40, 3)])
@pytest.mark.parametrize("size", [1e-200, 1e135, 1e140])
def test_large_and_small_numbers_are_finite(shape, size):
    x = np.full(shape, size)
    with np.errstate(all="raise"):
        assert as_series(x, "x").shape[1] == shape[0]
    x.flat[-1] = np.nan
    refused(lambda: as_series(x, "x"), "1 NaN")


def test_numbers_whose_sums_are_infinite():
    with pytest.raises(ValueError, match=r"'x' must hold values of at most 1e\+140 in size.*Got -1.7e\+308 at index 1"):
        as_series([0.0, -1.7e308], "x")


def test_arrays_from_other_processes_are_not_copied():
    a = pickle.loads(pickle.dumps(np.arange(5.0)))
    assert np.shares_memory(as_floats(a, "a"), a)


@pytest.mark.parametrize("border", [validation.MANY_NUMBERS, 2**14])
@pytest.mark.parametrize(("odd", "at"), [(None, 0.5), (np.nan, 0.5), (np.inf, 0.5), (np.nan, 1.0), (1e200, 1.0)])
def test_sums_of_squares_on_both_sides_of_where_a_library_starts_threads(border, odd, at):
    for n in (border - 1, border, border + 1):
        a = np.arange(n) / n
        if odd is not None:
            a[round((n - 1) * at)] = odd
        both = np.column_stack([a, a])
        for values in (a, a[:, np.newaxis], both, both.T, both[:, 0], both[::2]):
            with np.errstate(over="ignore"):
                want = (values**2).sum()
            np.testing.assert_allclose(validation.sum_of_squares(values), want, rtol=1e-12)


@pytest.mark.parametrize("at", [0, validation.MANY_NUMBERS - 1, validation.MANY_NUMBERS, 3 * validation.MANY_NUMBERS])
def test_missing_values_are_found_wherever_they_stand(at):
    a = np.zeros(3 * validation.MANY_NUMBERS + 1)
    a[at] = np.nan
    searcher = QuerySearcher("euclidean", n_jobs=2).fit([0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=rf"1 NaN.*at index {at}\b"):
        searcher.profile(a)


# ---------------------------------------------------------------------------------------------------------- weights
def test_weights_are_relative_to_the_largest():
    np.testing.assert_array_equal(as_weight([1, 2, 4], 3, 1), [[0.25, 0.5, 1]])
    np.testing.assert_array_equal(as_weight([[1], [2]], 2, 1), [[0.5, 1]])
    np.testing.assert_array_equal(as_weight(pd.Series([1, 2], index=[5, 4]), 2, 2), [[0.5, 1], [0.5, 1]])
    np.testing.assert_array_equal(as_weight([[1, 0], [2, 4]], 2, 2), [[0.25, 0.5], [0, 1]])
    assert as_weight([1, 2], 2, 2).flags.carray
    np.testing.assert_array_equal(as_weight([1e308, 5e-324], 2, 1), [[1, 0]])


def test_equal_weights_are_none():
    assert as_weight(None, 3, 1) is None
    for weight in ([7, 7, 7], [[2.5, 2.5]] * 3, [True] * 3):
        assert as_weight(weight, 3, np.ndim(weight)) is None


WEIGHTS = {
    ValueError: [
        ([1, 2], "one value per point of the query (the first series), shape (3,), or one per point and"),
        (np.ones((3, 3)), "channel, shape (3, 2). Got shape (3, 3)."),
        ([], "Got shape (0,)."),
        ([1, -2, -0.5], "'weight' must not be negative. Got -2 as the least value, the first below 0 at index 1."),
        ([[1, 1], [1, -1], [1, 1]], "the first below 0 at index (1, 1). Points that do not count have weight 0."),
        ([1, np.nan, 1], "'weight' must be finite. Got 1 NaN of 3 values, first at index 1. Points that do"),
        ([0, 0, -0.0], "at least one value above 0. Got only zeros: none of the points would count. Leave it"),
    ],
    TypeError: [(["a", "b", "c"], "'weight' must hold real numbers. Got text")],
}


@pytest.mark.parametrize(("weight", "error", "message"), [(v, e, m) for e, rows in WEIGHTS.items() for v, m in rows])
def test_weights_that_do_not_fit(weight, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        as_weight(weight, 3, 2)
    assert str(raised.value).startswith("'weight' must ")


# ------------------------------------------------------------------------------------------------------------ times
SECONDS = [
    [0, 1, 2, 3],
    range(4),
    np.arange(4, dtype=np.float32),
    READ_ONLY,
    pd.Series(range(4), index=[3, 2, 1, 0]),
    DAYS,
    DAYS.to_numpy(),
    list(DAYS),
    DAYS.tz_localize("Europe/Berlin"),
    pd.Series(DAYS.tz_localize("UTC"), index=[3, 2, 1, 0]),
    [dt.datetime(2024, 1, 1, 0, 0, i) for i in range(4)],
    [dt.datetime(3000, 1, 1, 0, 0, i) for i in range(4)],
    [dt.datetime(2024, 1, 1, 0, 0, i, tzinfo=dt.UTC) for i in range(4)],
    np.datetime64("2024-01-01", "ns") + np.arange(4).astype("m8[s]"),
    np.arange(4).astype("m8[s]"),
    pd.timedelta_range(0, periods=4, freq="s"),
    [dt.timedelta(seconds=i) for i in range(4)],
    [f"2024-01-01T00:00:0{i}" for i in range(4)],
    np.array([f"2024-01-01 00:00:0{i}.000" for i in range(4)]),
    [f"2024-01-01T0{i % 2}:00:0{i}+0{i % 2}:00" for i in range(4)],
    pd.Series([f"2024-01-01T00:00:0{i}Z" for i in range(4)]),
    np.array([b"2024-01-01 00:00:00", b"2024-01-01 00:00:01", b"2024-01-01 00:00:02", b"2024-01-01 00:00:03"]),
    pd.period_range("2024", periods=4, freq="s"),
]


@pytest.mark.parametrize("times", SECONDS, ids=lambda times: f"{type(times).__name__}-{getattr(times, 'dtype', '')}")
def test_times_are_floats_and_datetimes_seconds_from_the_first(times):
    before = list(times)
    t = as_times(times, 4, "tx")
    np.testing.assert_array_equal(t, [0, 1, 2, 3])
    assert t.dtype == np.float64
    assert t.flags.carray
    assert list(times) == before


def test_numbers_keep_their_origin_and_datetimes_their_zone_shift():
    np.testing.assert_array_equal(as_times([-5, 0.5, 7], 3, "tx"), [-5, 0.5, 7])
    assert as_times(None, 3, "tx") is None
    night = pd.date_range("2024-03-31 00:30", periods=3, freq="h", tz="Europe/Berlin")  # 02:30 does not exist
    np.testing.assert_array_equal(as_times(night, 3, "tx"), [0, 3600, 7200])
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 3)]
    np.testing.assert_array_equal(as_times(days, 2, "tx"), [0, 2 * 86400])


TIMES = {
    ValueError: [
        ([0, 1, 1, 2], "'tx' must be strictly increasing. Got 1 at index 1 and then 1. Sort the recording and drop"),
        (DAYS[::-1], "Got 2024-01-01T00:00:03"),
        ([0, 1], "'tx' must have one time per point, shape (4,). Got shape (2,)."),
        (np.array([], "M8[s]"), "Got shape (0,)."),
        (3, "Got shape ()."),
        ([0, np.nan, 2, 3], "'tx' must be finite. Got 1 NaN of 4 values, first at index 1. Every point needs a time."),
        ([0, 1, 2, np.inf], "Got 1 infinite of 4 values, first at index 3."),
        (DAYS.where(DAYS != DAYS[0]), "Got 1 NaN of 4 values, first at index 0."),
        ([*DAYS[:3], pd.NaT], "Got 1 NaN of 4 values, first at index 3."),
        (["2024-01-01", None, "2024-01-03", "2024-01-04"], "Got 1 NaN of 4 values, first at index 1."),
        (
            pd.to_datetime(["2024-10-27 02:30", "2024-10-27 02:45", "2024-10-27 02:00", "2024-10-27 02:15"]),
            "to split it, do not shuffle it (shuffle=False). Local times repeat where a clock is set back",
        ),
        (
            pd.to_datetime(["2024-05-01 10:00", "2024-05-01 13:00"] * 2),
            "to split it, do not shuffle it (shuffle=False). Where several recordings stand one below the other",
        ),
        ([0, 1, 0, 1], "Where several recordings stand one below the other, cut them apart there."),
        ([0, 1], "Pass the time of each row, or None to count samples."),
        ([0, 1, 2, HUGE], "'tx' must fit into float64"),
    ],
    TypeError: [
        (
            ["a"] * 4,
            "'tx' must hold numbers or datetimes. Got text, dtype <U1, that is not of ISO 8601: 'a' at index 0.",
        ),
        ([1, *DAYS[1:]], "'tx' must hold real numbers. Got Timestamp("),
        ([*DAYS[:3], 1], "'tx' must be of one type: numbers, durations, or datetimes that all have a time zone or"),
        ([DAYS[0], DAYS[1].tz_localize("UTC")] * 2, "'tx' must be of one type"),
        ([dt.timedelta(0), 1, 2, 3], "Got datetime.timedelta(0) and 1, at index 1."),
        (
            [pd.Period("2024"), pd.Period("2024-02")] * 2,
            "'tx' must be of one type: periods of one frequency. Got others, too",
        ),
        (["2024-01-01", "2024-01-02", "noon", "2024-01-04"], "not of ISO 8601: 'noon' at index 2."),
        (["1.5", "2.5", "3.5", "4.5"], "or numbers with numpy.asarray(tx, dtype=float)"),
        (
            ["2024-01-01T00+01:00", "2024-01-02T00", "2024-01-03T00", "2024-01-04T00"],
            "all have a time zone or all have none. Got text of both, such as '2024-01-01T00+01:00'.",
        ),
    ],
}


@pytest.mark.parametrize(("times", "error", "message"), [(v, e, m) for e, rows in TIMES.items() for v, m in rows])
def test_times_that_are_none(times, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        as_times(times, 4, "tx")
    assert str(raised.value).startswith("'tx' must ")
