"""Parts that the displays share: axes, colors, texts, the horizontal axis, checks of data, and the reduction of lines.

The horizontal axis holds the times of samples, their places on it, and the part that is shown. Series, paths and ranges
are checked without matplotlib, which is imported when a picture is drawn. Long recordings are drawn by the extremes of
a line in each pixel column, and many ranges as strips of color. Both are computed for the visible part. A line follows
the axes: it is computed again when another part is shown.
"""

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np

from ..utils import validation
from ..utils._names import names_of
from ..utils._sampling import LONG, edges, end_times, holes
from ..utils._times import Sampling, given_times, index_times, time_name
from ..utils.validation import unknown_name

FEW_HOURS = timedelta(hours=6)  # ticks of so many hours are an hour apart at most, as clocks are put forward and back
MAX_ROWS = 8  # channels drawn in a new figure; more rows cannot be read
MAX_NAMES = 14  # classes in a legend
MANY = 99_999  # samples from which their numbers are written with commas, which are easier to read than 1e7
GRAY = "0.65"
# Okabe & Ito's colors, distinguished whatever the eye's color vision; yellow, which is faint on white, comes last.
BLUE, VERMILION = "#0072B2", "#D55E00"
COLORS = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", VERMILION, "#F0E442")


class Display:
    """Base of the displays: an unknown parameter of `plot`, which others pass on to it, is answered with the valid."""

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        plot, valid = cls.plot, list(inspect.signature(cls.plot).parameters)[1:]

        @functools.wraps(plot)
        def checked(self, *args, **style):
            for name in style:
                if name not in valid:
                    message = unknown_name("parameter", name, valid, f"{cls.__name__}.plot")
                    raise TypeError(f"{message} Restyle what is drawn by the attributes of what 'plot' returns.")
            return plot(self, *args, **style)

        cls.plot = checked


def make_axes(ax, n_rows, *, height=2.2, width=10.0, what="channels"):
    """Return an array of axes, one a row, new ones if `ax` is None, and their figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        rows = min(n_rows, MAX_ROWS) if what == "channels" else n_rows
        size = (width, 1 + height * rows)
        figure, axes = plt.subplots(rows, sharex=True, squeeze=False, layout="constrained", figsize=size)
        return axes[:, 0], figure
    axes = np.ravel(np.asarray(ax, dtype=object)) if np.size(ax) <= MANY else []
    if len(axes) == 0 or not all(hasattr(a, "plot") and hasattr(a, "figure") for a in axes):
        numbers = np.size(ax) > 1 and not any(hasattr(a, "plot") for a in axes[:1])
        hint = "If it is the recording, name it: sequence=..., as in matches.plot(sequence=y). " if numbers else ""
        raise ValueError(
            f"The 'ax' parameter must be None, a matplotlib Axes or a list of them. Got {type(ax).__name__}. "
            f"{hint}Make one with matplotlib.pyplot.subplots."
        )
    if len(axes) > n_rows or (what != "channels" and len(axes) < n_rows):
        raise ValueError(
            f"The 'ax' parameter must hold {'at most ' if what == 'channels' else ''}one Axes for each of the {n_rows} "
            f"{what}. Got {len(axes)}. Pass None to have them made."
        )
    return axes, axes[0].figure


def label_rows(axes, times, view, n_channels, names=None):
    """Name the axes: values or channels on the left, samples or times below the last row."""
    label_channels(axes, n_channels, names)
    label_times(axes, times, view)
    if len(axes) < n_channels:
        axes[0].set_title(f"first {len(axes)} of {n_channels} channels", loc="left", fontsize="medium")


def label_times(axes, times, view):
    """Name the horizontal axis, write dates in their zone, and set the limits."""
    axes[-1].set_xlabel(times.label)
    for ax in axes:
        if view.limits is None:
            ax.margins(x=0.01)
        else:
            ax.set_xlim(view.limits)
        if times.label == "sample" and len(times) > MANY:
            from matplotlib.ticker import MaxNLocator, StrMethodFormatter

            ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10]))
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        if times.dates:
            from matplotlib.dates import ConciseDateFormatter

            locator = _date_locator(times.zone)
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=times.zone))


def _date_locator(zone):
    """Return ticks at round local times, also where clocks are put forward or back.

    matplotlib counts by the clock: an hour that comes twice has ticks at its first time alone, one that is skipped
    gives some twice. So the ticks of a few hours are counted from the clock at their start; of longer views those that
    the clock shows again are there for both times, and each is there once.
    """
    from matplotlib.dates import AutoDateLocator

    class LocalDateLocator(AutoDateLocator):
        def get_locator(self, dmin, dmax):
            if dmax.astimezone(UTC) - dmin.astimezone(UTC) > FEW_HOURS:
                return super().get_locator(dmin, dmax)
            zone, self.tz = self.tz, timezone(dmin.utcoffset())
            try:
                return super().get_locator(dmin.astimezone(self.tz), dmax.astimezone(self.tz))
            finally:
                self.tz = zone

        def __call__(self):
            return _with_second_times(super().__call__(), zone, *self.axis.get_view_interval())

        def tick_values(self, vmin, vmax):
            return np.unique(super().tick_values(vmin, vmax))

        def __reduce__(self):
            return _date_locator, (zone,), vars(self)

    return LocalDateLocator(tz=zone)


def _with_second_times(ticks, zone, low, high):
    """Return ticks, each once, and those within a view that the clock shows again after it is put back."""
    ticks = np.unique(ticks)
    if zone is None or not len(ticks):
        return ticks
    import pandas as pd
    from matplotlib.dates import date2num, num2date

    local = pd.DatetimeIndex(num2date(ticks)).tz_convert(zone).tz_localize(None)
    later = local.tz_localize(zone, ambiguous=np.zeros(len(local), bool), nonexistent="shift_forward")
    later = date2num(later.tz_convert(None).to_numpy())
    again = np.round((later - ticks) * 1440) > 0  # minutes; of all others a rounding of the conversion is left
    return np.unique(np.concatenate([ticks, later[again & (low <= later) & (later <= high)]]))


def label_channels(axes, n_channels, names=None):
    """Name what the rows show: the channels' names if there are any."""
    names = names or (["value"] if n_channels == 1 else [f"channel {k}" for k in range(n_channels)])
    for ax, name in zip(axes, names, strict=False):
        ax.set_ylabel(name)
    axes[0].figure.align_ylabels(axes)


def pieces_around(x, y):
    """Return a line in one piece a point, which reaches halfway to its neighbors."""
    knots = np.column_stack([x, y])
    halves = (knots[1:] + knots[:-1]) / 2
    return np.stack([np.vstack([knots[:1], halves]), knots, np.vstack([halves, knots[-1:]])], axis=1)


def make_cmap(name, *, reverse=False):
    """Return a color map; without a name, viridis less its yellow end, which is faint on white."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    if name is not None:
        return mpl.colormaps.get_cmap(name)
    colors = mpl.colormaps["viridis"](np.linspace(0, 0.88, 256))
    return ListedColormap(colors[::-1] if reverse else colors, name="viridis_dark")


def class_colors(classes):
    """Return a color for each class: of a palette, or along a color map where it has too few."""
    if len(classes) <= len(COLORS):
        return list(COLORS[: len(classes)])
    return [tuple(color) for color in make_cmap(None)(np.linspace(0, 1, len(classes)))]


def make_norm(values, low=None):
    """Return the color scale of `values`, from the smallest or `low`; a single value is the low end.

    Outliers do not stretch it: it ends at the largest value within three interquartile ranges of the upper quartile.
    """
    from matplotlib.colors import Normalize

    values = np.asarray(values)[np.isfinite(values)]
    if values.size == 0:
        return Normalize(0, 1)
    lower, upper = np.percentile(values, [25, 75])
    fence = upper + 3 * (upper - lower) if upper > lower else np.inf
    low, high = float(values.min()) if low is None else low, float(values[values <= fence].max())
    return Normalize(low, high if high > low else low + (abs(low) or 1.0))


def write(ax, text, place, offset, *, rim=2, **style):
    """Write a text some points off a place of the axes, with a white rim, so that it can be read on any line."""
    from matplotlib.patheffects import withStroke

    effects = [withStroke(linewidth=rim, foreground="white")]
    style = {"ha": "center"} | style
    return ax.annotate(text, place, offset, textcoords="offset points", path_effects=effects, **style)


def add_colorbar(figure, artist, axes, label):
    """Put a color bar next to the axes, with an arrow if values are beyond its end."""
    values = np.ma.compressed(np.ma.masked_invalid(artist.get_array()))
    extend = "max" if values.size and values.max() > artist.norm.vmax else "neither"
    rows = len(axes)  # beside many it would be as wide as it is tall
    shape = {"pad": 0.02, "aspect": 20 * rows, "extendfrac": 0.05 / rows}
    bar = figure.colorbar(artist, ax=list(axes), label=label, extend=extend, **shape)
    if values.size and (values == artist.norm.vmin).all():
        bar.set_ticks([values[0]])
    return bar


def add_legend(ax, handles=None):
    """Put a legend above the axes, on the right, where it hides nothing; None without an entry."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return None
    shown = handles[:MAX_NAMES]
    title = f"{len(shown)} of {len(handles)} classes" if len(shown) < len(handles) else None
    place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "frameon": False, "borderaxespad": 0.2}
    columns = _legend_columns(ax, [handle.get_label() for handle in shown])
    return ax.legend(handles=shown, title=title, ncols=columns, **place)


def _legend_columns(ax, texts):
    """Return the number of legend entries that fit side by side.

    A letter is taken to be 0.6 of its size wide, a key four letters.
    """
    inches = [(4 + len(text)) * 0.6 * 10 / 72 + 0.2 for text in texts]
    room = ax.bbox.width / ax.figure.dpi
    return len(texts) if sum(inches) <= room else int(np.clip(room / max(inches), 1, 7))


def add_title(ax, title):
    """Write a title above the axes and what stands there: a note on the left, a legend on the right."""
    if title is None:
        return
    note, legend = ax.get_title(loc="left"), ax.get_legend()
    texts = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    rows = -(-len(texts) // _legend_columns(ax, texts)) + bool(legend.get_title().get_text()) if texts else 0
    ax.set_title(f"{title}\n{note}" if note else title, loc="left", fontsize="medium", pad=6 + 15 * rows)


DAY = 86_400_000_000  # microseconds; matplotlib's axes count days
SOME = 10_000  # steps of the times that tell the usual one


class View(NamedTuple):
    """Samples that are shown, [first, end), one more on either side, and the limits of the axis; None: all."""

    first: int
    end: int
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Times:
    """Times of a series: numbers, or ``datetime64`` (UTC) when `dates` is set; `label` names the axis.

    Steps of more than `max_gap` (of dates, seconds) are gaps, which no range spans.
    Places on the axis are computed for the samples that are asked for: those of ten million dates take a second.
    """

    values: np.ndarray
    label: str
    dates: bool = False
    zone: object = None
    max_gap: float | None = None

    def __len__(self):
        return len(self.values)

    @cached_property
    def holes(self):
        """Samples behind a gap in the times, two samples or more on either side, for one alone is no line."""
        if self.label == "sample" or len(self) < 2:
            return np.empty(0, np.int64)
        step = np.diff(self.values)
        usual = np.median(step[:: max(len(step) // SOME, 1)].astype(np.float64))
        ends = np.concatenate([[0], holes(self.values, (LONG * usual).astype(step.dtype)), [len(self)]])
        lonely = np.diff(ends) < 2
        return ends[1:-1][~(lonely[:-1] | lonely[1:])]

    def between(self, first=0, end=None):
        """Return the places of the samples [first, end)."""
        return self._positions(self.values[first:end])

    def at(self, index):
        """Return the places of samples; n, the end of the last one, is one step behind it."""
        index, last = np.asarray(index, dtype=np.int64), len(self) - 1
        places = self._positions(self.values[np.minimum(index, last)]).astype(np.float64)
        two = self.between(max(last - 1, 0))
        return np.where(index > last, places + (two[-1] - two[0] if last else 1.0), places)

    def edges(self, start, end):
        """Return the places where ranges of samples start and end; before a gap, ends are a step after the sample."""
        if self.max_gap is None:
            return self.at(start), self.at(end)
        start, end, last, before = map(self.at, edges(start, end, self.max_gap))
        return start, end_times(end, last, before, self.max_gap / 86_400 if self.dates else self.max_gap)

    def find(self, places, side="left"):
        """Return the numbers of the first samples at places of the axis or behind them; if `side` is "right" behind."""
        places = np.clip(places, *self.at([0, len(self) - 1]))
        if not self.dates:
            return np.searchsorted(self.values, places, side)
        from matplotlib.dates import get_epoch

        exact = np.datetime64(get_epoch(), "us") + np.round(places * DAY).astype("timedelta64[us]")
        values = exact.astype(self.values.dtype)
        if side == "left":  # dates of days, say, are rounded up, so that those before the place stay out
            values = values + (values < exact).astype(np.int64)
        return np.searchsorted(self.values, values, side)

    def shown(self, low, high):
        """Return the view between two places."""
        first, end = self.find(np.array([low]))[0], self.find(np.array([high]), "right")[0]
        return View(max(int(first) - 1, 0), min(int(end) + 1, len(self)), (low, high))

    def view(self, time_range):
        """Return the view of a range of times or samples; None shows all."""
        if time_range is None:
            return View(0, len(self))
        rule = "The 'time_range' parameter must be None or two times (start, end), either of which may be None."
        if isinstance(time_range, str) or np.shape(time_range) != (2,):
            raise ValueError(f"{rule} Got {validation.shown(time_range)}.")
        ends = self.at([0, len(self) - 1])
        low, high = (ends[k] if t is None else self._place(t, first=k == 0) for k, t in enumerate(time_range))
        if not (low < high and low <= ends[1] and high >= ends[0]):
            first, last = (str(v) for v in self.values[[0, -1]])
            raise ValueError(
                f"{rule} The start must lie before the end, and the range must hold samples. Got "
                f"{validation.shown(time_range)}; the recording's {self.label} runs from {first} to {last}."
            )
        return self.shown(float(low), float(high))

    def _positions(self, values):
        if not self.dates:
            return values
        from matplotlib.dates import date2num

        return date2num(values)

    def _place(self, time, first):
        """Return the place of a time as people give it; a datetime without a zone is local.

        Of two samples at that time the first or the last counts.
        """
        if not self.dates:
            if not isinstance(time, Real) and self.label.endswith("(s)"):
                import pandas as pd

                return pd.Timedelta(time).total_seconds()
            return validation.check_number(time, "time_range")
        import pandas as pd

        try:
            stamp = pd.Timestamp(time)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"The 'time_range' parameter must hold datetimes, as the times do. Got {validation.shown(time)}: "
                f"{error}. Pass texts such as '2024-03-31 12:00', or datetimes."
            ) from error
        if self.zone is not None and stamp.tz is None:
            stamp = stamp.tz_localize(self.zone, ambiguous=first, nonexistent="shift_forward")
        stamp = stamp if stamp.tz is None else stamp.tz_convert(None)
        return float(self._positions(np.array([stamp.to_datetime64()]))[0])


def as_times(times, n, name, series=None, max_gap=None, called=None):
    """Return the times of `n` samples; without times, those of the index of `series`, or the sample indices.

    Numbers are `called` so, or by the name of their Series or index, on the axis.
    """
    if times is None or hasattr(times, "samples"):  # those of some samples, which the result of a stream knows
        held = index_times(getattr(series, "index", None))
        if times is not None and held is None:
            raise ValueError(
                f"The '{name}' parameter must be given: the result holds the times of its own starts and ends, and no "
                f"others. Got None. Pass the times of the whole sequence, or numpy.arange({n}) to draw it by samples."
            )
        called, times = time_name(series, None) if called is None else called, held
    if times is None:
        return Times(np.arange(n, dtype=np.float64), "sample")
    times = times.at(np.arange(n)) if isinstance(times, Sampling) else times
    array, zone = _without_zone(given_times(times, name))
    label = "time" if zone is None else f"time ({zone})"
    # Numbers of seconds are not needed: those of ten million dates take a fifth of a second.
    if array.dtype.kind == "M" and array.shape == (n,) and (array[1:] > array[:-1]).all() and not np.isnat(array[0]):
        return Times(array, label, True, zone, max_gap)
    numbers = validation.as_times(array, n, name)
    called = time_name(None, times) if called is None else called
    label = "time (s)" if array.dtype.kind == "m" else label if called in (None, "sample") else called
    return Times(numbers, label, max_gap=max_gap)


def _without_zone(times):
    """Return times as an array, in UTC if they have a zone, and that zone: numpy's datetimes know none."""
    zone = getattr(times, "tz", None)
    array = np.asarray(times if zone is None else times.tz_convert(None))
    if array.dtype == object and array.size and hasattr(array.flat[0], "isoformat"):
        array = array.astype("datetime64[ns]")
    return array, zone


def as_series(values, name):
    """Return `values` as floats of shape (n, channels); what is not finite becomes NaN, a gap in the line."""
    array = validation.as_points(values, name, strided=True)  # a copy of a long table takes longer than its picture
    if not np.isfinite([np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)]).all():
        array = np.where(np.isfinite(array), array, np.nan)
    return array.reshape(len(array), -1)


def channel_names(n, *given):
    """Return the names of n channels, from the first object that has them: a table, or a result with `channels`."""
    for one in given:
        names = names_of(one) or field(one, "channels")
        if names is not None and len(names) == n:
            return names
    return None


def as_path(path, n_query, n_sequence, out="Pass indices of the whole series."):
    """Return a warping path as integers of shape (2, K) within the lengths of both series."""
    array = validation.as_indices(path, "path")
    if array.ndim != 2 or len(array) != 2:
        raise ValueError(
            f"The 'path' parameter must have shape (2, K): query indices, then sequence indices. "
            f"Got shape {array.shape}. Pass path.T, or numpy.transpose of a list of pairs."
        )
    for row, length, what in ((0, n_query, "query"), (1, n_sequence, "sequence")):
        if array.shape[1] and not (array[row].min() >= 0 and array[row].max() < length):
            raise ValueError(
                f"The 'path' parameter must index the {length} {what} samples in row {row}. "
                f"Got {array[row].min()} to {array[row].max()}. {out}"
            )
    return array


def as_ranges(start, end, n, name):
    """Return half-open ranges within n samples as two integer arrays."""
    start, end = validation.as_indices(start, name), validation.as_indices(end, name)
    if start.ndim != 1 or start.shape != end.shape:
        raise ValueError(
            f"The '{name}' parameter must have a start and an end for each occurrence. "
            f"Got shapes {start.shape} and {end.shape}. Pass the result of the search as it is."
        )
    wrong = np.flatnonzero((start < 0) | (end <= start) | (end > n))
    if len(wrong):
        k = wrong[0]
        raise ValueError(
            f"The '{name}' parameter must hold ranges with 0 <= start < end <= {n}, the length of the sequence. "
            f"Got [{start[k]}, {end[k]}). Pass the sequence that was searched."
        )
    return start, end


def as_boundaries(boundaries, n):
    """Return sorted boundaries within n samples as an integer array."""
    array = validation.as_indices(boundaries, "segments")
    if array.ndim != 1 or (array.size and not (array.min() >= 0 and array.max() <= n and (np.diff(array) >= 0).all())):
        raise ValueError(
            f"The 'segments' parameter must hold sorted boundaries from 0 to {n}, the length of the sequence. "
            f"Got {validation.shown(boundaries)}. Pass the sequence that was segmented and sample indices, not times."
        )
    return array


def field(result, name):
    """Return an attribute of a result or an entry of a dict; None if it has neither."""
    return result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)


def of_estimator(estimator, method, *arguments, **keywords):
    """Call a method of a fitted estimator, or refuse an estimator that does not have it."""
    call = getattr(estimator, method, None)
    if call is None:
        raise TypeError(
            f"The 'estimator' parameter must have the method {method!r}. Got {type(estimator).__name__}. Pass a fitted "
            "estimator of this package; of a pipeline its last step, with the sequence transformed by the others."
        )
    return call(*arguments, **keywords)


def found_in(estimator, X, times):
    """Return matches or segments that a fitted estimator finds in a sequence."""
    return of_estimator(estimator, "segment" if hasattr(estimator, "segment") else "search", X, times=times)


def query_of(estimator, found, k):
    """Return the query of the k-th match or segment, with the signs that it fits."""
    queries = estimator.queries_ if hasattr(estimator, "queries_") else estimator._queries_in_range
    query = numbered(queries, 0 if found.query is None else found.query[k])
    return query if found.polarity is None else query * found.polarity[k]


def numbered(values, number):
    """Return the entry of one of several queries, or the value of the only one."""
    return values[number] if isinstance(values, list) else values


LONG_LINE = 20_000  # samples from which a line is drawn by its extremes in each pixel column
PIXELS = 4  # of width for each boundary; with less of it they are drawn as a strip
STRIP = 0.09  # height of a strip, of that of the axes
FAINTEST = 0.3  # opacity of a column of a strip that holds the smallest part of a range
BLOCK = 1 << 16  # samples of which extremes are found at a time


def reduced(times, y, first, end, columns):
    """Return a line through the samples [first, end): all of them, or the lowest and highest value of each column.

    The extremes are exact. A column without a value is a gap; a gap within a column does not hide its other values.
    Nothing is drawn across a gap in the times. `y` holds one series (n,) or several (k, n), and so does what is
    returned.
    """
    if end - first <= 2 * columns:
        holes = times.holes[(times.holes > first) & (times.holes < end)] - first
        x, part = times.between(first, end), np.asarray(y[..., first:end], np.float64)
        return np.insert(x, holes, x[holes]), np.insert(part, holes, np.nan, axis=-1)
    low, high = times.at([first, end - 1])
    starts = np.clip(times.find(np.linspace(low, high, columns + 1)[:-1]), first, end - 1)
    starts[0] = first  # places of dates are rounded to microseconds, and may lie behind it
    starts = np.unique(starts)
    x, holes = times.at(starts), np.flatnonzero(np.isin(starts, times.holes))  # others are narrower than a column
    extremes = np.insert(_extremes(y, np.append(starts, end)), holes, np.nan, axis=-2)
    return np.repeat(np.insert(x, holes, x[holes]), 2), extremes.reshape(*y.shape[:-1], -1)


def _extremes(y, borders):
    """Return the lowest and highest value between each two borders.

    Channels lie side by side in memory, so a pass for each would read all of them: a block of all is copied at a time.
    """
    extremes = np.empty((*y.shape[:-1], len(borders) - 1, 2))
    k = 0
    while k < len(borders) - 1:
        after = max(int(np.searchsorted(borders, borders[k] + BLOCK, "right")) - 1, k + 1)
        block, within = np.ascontiguousarray(y[..., borders[k] : borders[after]]), borders[k:after] - borders[k]
        np.fmin.reduceat(block, within, axis=-1, out=extremes[..., k:after, 0])
        np.fmax.reduceat(block, within, axis=-1, out=extremes[..., k:after, 1])
        k = after
    return extremes


def n_columns(ax):
    """Return the number of columns of a line over the width of the axes, half a pixel each."""
    return max(2 * round(ax.bbox.width), 2)


def draw_series(axes, times, rows, view, **style):
    """Draw a line in each of the axes; long ones by their extremes in columns of half a pixel, which looks the same."""
    widest = max(axes, key=lambda ax: ax.bbox.width)
    x, shown = _visible(widest, times, rows[: len(axes)], view)
    return [_draw_line(ax, (x, y), times, row, view, style) for ax, y, row in zip(axes, shown, rows, strict=False)]


def _draw_line(ax, points, times, y, view, style):
    line = ax.plot(*points, **style)[0]
    # Missing values at the ends belong to the recording.
    ax.update_datalim([(x, 0.0) for x in times.at([view.first, view.end - 1])], updatey=False)
    follow(ax, times, view, lambda seen: line.set_data(*_visible(ax, times, y, seen)))
    return line


def _visible(ax, times, y, view):
    count = view.end - view.first
    return reduced(times, y, view.first, view.end, n_columns(ax) if count > LONG_LINE else count)


def follow(ax, times, view, draw):
    """Draw again when another part of the axis is shown, where not every sample is drawn."""
    if len(times) > LONG_LINE or view.limits is not None:
        ax.callbacks.connect("xlim_changed", _Follower(times, view, draw))


class _Follower:
    """Calls `draw` with the view of the axes when the samples that are seen are others than before."""

    def __init__(self, times, view, draw):
        self.times, self.draw, self.seen = times, draw, (view.first, view.end)

    def __call__(self, ax):
        view = self.times.shown(*sorted(ax.get_xlim()))
        if (view.first, view.end) != self.seen:
            self.seen = view.first, view.end
            self.draw(view)


# ------------------------------------------------------------------------------------------------------------- strips
def is_dense(ax, count):
    """Return whether there are more boundaries than the axes have room for."""
    return count * PIXELS > ax.bbox.width


def inside(view, start, end):
    """Return a mask of the ranges that a view shows, at least in part."""
    return (np.asarray(start) < view.end) & (np.asarray(end) > view.first)


def column_borders(ax, times, view):
    """Return the places of the borders of the pixel columns of a strip."""
    low, high = times.at([view.first, view.end]) if view.limits is None else view.limits
    return np.linspace(low, high, max(round(ax.bbox.width), 1) + 1)


def coverage(borders, left, right):
    """Return the share of each column that ranges cover; above 1 where they overlap."""
    zero = borders[0]
    return np.diff(_reached(borders - zero, np.sort(left) - zero) - _reached(borders - zero, np.sort(right) - zero)) / (
        borders[1] - borders[0]
    )


def _reached(x, sorted_places):
    """Return the sum of max(0, x - place) over all places."""
    sums = np.concatenate([[0.0], np.cumsum(sorted_places)])
    before = np.searchsorted(sorted_places, x)
    return x * before - sums[before]


def opacity(share):
    """Return the opacity of a column of a strip by the share of it that is covered: whatever is there can be seen."""
    share = np.clip(share, 0.0, 1.0)
    return np.where(share > 1e-9, FAINTEST + (1 - FAINTEST) * share, 0.0)


def draw_stack(ax, borders, shares, colors, bottom=0.0, top=STRIP):
    """Draw a strip whose columns are divided among several ranges by their shares of each column.

    The height of a color is its part of what is covered; a column is the paler the less of it is covered. Returns one
    collection for each of the `shares` (n_ranges, columns).
    """
    from matplotlib.colors import to_rgb

    total = shares.sum(axis=0)
    heights = bottom + (top - bottom) * np.cumsum(shares, axis=0) / np.where(total > 0, total, 1.0)
    drawn, low = [], np.full(len(total), bottom)
    for high, share, color in zip(heights, shares, colors, strict=True):
        some = np.flatnonzero(share > 1e-9)
        rgba = np.column_stack([np.tile(to_rgb(color), (len(some), 1)), opacity(total[some])])
        drawn.append(draw_columns(ax, borders[some], borders[some + 1], rgba, low[some], high[some]))
        low = high
    return drawn


def draw_columns(ax, left, right, colors, bottom=0.0, top=STRIP, **style):
    """Draw columns of a strip, each in its color."""
    # Not antialiased: seams between the columns would be seen.
    style = {"antialiased": False, "linewidths": 0, "zorder": 3} | style
    return areas(ax, left, right, bottom, top, facecolors=colors, **style)


def make_room(ax, share=STRIP):
    """Make room for strips below the data, parted from them by a line: a share of the height of the axes."""
    from matplotlib.patches import Rectangle

    bottom, top = ax.get_ylim()
    ticks = ax.get_yticks()
    ax.set_ylim(bottom - (top - bottom) * share / (1 - share), top)
    ax.set_yticks(ticks[(ticks >= bottom) & (ticks <= top)])  # strips have no values
    style = {"facecolor": "white", "edgecolor": "0.8", "linewidth": 0.8, "zorder": 2.9}
    ax.add_artist(Rectangle((0, 0), 1, share, transform=ax.transAxes, **style))


def areas(ax, left, right, bottom=0.0, top=1.0, **style):
    """Return areas from a height of the axes to another."""
    from matplotlib.collections import PolyCollection

    low, high = np.broadcast_to(bottom, np.shape(left)), np.broadcast_to(top, np.shape(left))
    corners = np.stack([np.stack([left, left, right, right], axis=1), np.stack([low, high, high, low], axis=1)], axis=2)
    area = PolyCollection(corners, transform=ax.get_xaxis_transform(), **style)
    # The height is the axes' own, whatever the data: it must not move the limits.
    return ax.add_collection(area, autolim=False)


def are_narrow(ax, view, start, end):
    """Return whether most ranges are too narrow for their area to be seen."""
    return len(start) > 0 and np.median(end - start) * ax.bbox.width < 2 * (view.end - view.first)
