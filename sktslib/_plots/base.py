"""Base of the displays: axes, labels, legends, colors, strips, times on the horizontal axis, checks of data, and lines.

Times, series, paths and ranges are checked without matplotlib, which is imported when a picture is drawn. Long
recordings are drawn by the extremes of the line in each pixel column, and many ranges as strips of color. Both are
computed for the visible part, and again when another part becomes visible.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from typing import Any, Self

import numpy as np

from ..utils import validation
from ..utils._names import names_of
from ..utils._sampling import LONG, edges, end_times, holes
from ..utils._times import EvenTimes, Sampling, Sequences, given_times, index_times, time_name
from ..utils._times import Times as GivenTimes
from ..utils.validation import refused, unknown_name
from .pyramid import BLOCK, Pyramid, extremes

MAX_ROWS = 8  # most channels drawn in a new figure, to keep rows readable
MAX_NAMES = 14  # most classes in a legend
MANY = 99_999  # samples from which indices are written with commas, which are easier to read than 1e7
GRAY = "0.65"
# The palette of Okabe & Ito, suitable for all kinds of color vision; yellow, which is faint on white, comes last.
BLUE, VERMILION = "#0072B2", "#D55E00"
COLORS = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", VERMILION, "#F0E442")


class Display:
    """Base of the displays: rows of axes, titles and legends around them, and creation from estimators and results.

    Every `plot` first makes its rows (`axes_`, `ax_`, `figure_`), then draws and labels them, and writes the legend and
    the title last.
    """

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, y: Any = None, *, times: GivenTimes | None = None, **options: Any
    ) -> Self:
        """Search or segment a sequence and draw what is found.

        Parameters
        ----------
        estimator : QuerySearcher or QuerySegmenter
            A fitted estimator.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        y : array-like of shape (n,) or (n_events, 2), optional
            The annotation, which displays of events compare with what is found.
        times : array-like of shape (n,), optional
            Times of the sequence, numbers or datetimes.
        **options
            Passed on to `from_predictions`, such as `ax` and `title`.

        Returns
        -------
        display : Display
            One of the class.
        """
        given = () if y is None else (y,)
        return cls.from_predictions(*given, found_in(estimator, X, times), X, times=times, **options)

    @classmethod
    def from_predictions(cls, *data: Any, **options: Any) -> Self:
        """Draw results that are given.

        Parameters
        ----------
        *data, **options
            The parameters of the class, and those of `plot`, such as `ax` and `title`.

        Returns
        -------
        display : Display
            One of the class.
        """
        own = {name: options.pop(name) for name in inspect.signature(cls).parameters if name in options}
        return cls(*data, **own)._drawn(options)

    def _drawn(self, style):
        """Draw with parameters for `plot`; an unknown one raises an error that lists the valid ones."""
        valid = inspect.signature(self.plot).parameters
        for name in style:
            if name not in valid:
                message = unknown_name("parameter", name, valid, f"{type(self).__name__}.plot")
                raise TypeError(f"{message} Restyle the drawing by the attributes of the object that 'plot' returns.")
        return self.plot(**style)

    def _make_axes(self, ax, n_rows, *, height=2.2, width=10.0, what="channels"):
        """Use the given axes, one per row, or make them in a new figure; for channels, fewer axes suffice."""
        if ax is None:
            import matplotlib.pyplot as plt

            rows = min(n_rows, MAX_ROWS) if what == "channels" else n_rows
            style = {"layout": "constrained", "figsize": (width, 1 + height * rows)}
            axes = plt.subplots(rows, sharex=True, squeeze=False, **style)[1][:, 0]
        else:
            axes = np.ravel(np.asarray(ax, dtype=object)) if np.size(ax) <= MANY else []
            if len(axes) == 0 or not all(hasattr(a, "plot") and hasattr(a, "figure") for a in axes):
                numbers = np.size(ax) > 1 and not any(hasattr(a, "plot") for a in axes[:1])
                hint = "If it is the recording, name it: sequence=..., as in matches.plot(sequence=y). " * numbers
                out = f"{hint}Make one with matplotlib.pyplot.subplots."
                raise refused("ax", "be None, a matplotlib Axes or a list of them", type(ax).__name__, out)
            if len(axes) > n_rows or (what != "channels" and len(axes) < n_rows):
                count = "at most one" if what == "channels" else "one"
                rule = f"hold {count} Axes for each of the {n_rows} {what}"
                raise refused("ax", rule, len(axes), "Pass None to have them made.")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure

    def _label(self, names, view=None):
        """Label each row on the left and, with a view, the time axis at the bottom; dates are in their zone."""
        for ax, name in zip(self.axes_, names, strict=False):
            ax.set_ylabel(name)
        self.figure_.align_ylabels(self.axes_)
        if len(self.axes_) < len(names):
            self.ax_.set_title(f"first {len(self.axes_)} of {len(names)} channels", loc="left", fontsize="medium")
        if view is None:
            return
        self.axes_[-1].set_xlabel(view.times.label)
        for ax in self.axes_:
            if view.limits is None:  # include missing values at both ends of the recording
                ax.update_datalim([(x, 0.0) for x in view.times.at([view.first, view.end - 1])], updatey=False)
                ax.margins(x=0.01)
            else:
                ax.set_xlim(view.limits)
            if view.times.dates:
                from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

                locator = AutoDateLocator(tz=view.times.zone)
                ax.xaxis.set_major_locator(locator)
                ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=view.times.zone))
            elif view.times.label == "sample" and len(view.times) > MANY:
                ax.xaxis.set_major_formatter("{x:,.10g}")

    def _add_colorbar(self, artist, label):
        """Draw a color bar next to the axes, with an arrow if values exceed its range."""
        values = np.ma.compressed(np.ma.masked_invalid(artist.get_array()))
        extend = "max" if values.size and values.max() > artist.norm.vmax else "neither"
        rows = len(self.axes_)  # next to many rows it would be too wide
        shape = {"pad": 0.02, "aspect": 20 * rows, "extendfrac": 0.05 / rows}
        bar = self.figure_.colorbar(artist, ax=list(self.axes_), label=label, extend=extend, **shape)
        if values.size and (values == artist.norm.vmin).all():
            bar.set_ticks([values[0]])
        return bar

    def _write_above(self, title, handles=(), ax=None):
        """Write a title, and draw a legend (if there are handles) below it on the right, where it hides nothing."""
        ax, shown, legend, rows = ax or self.ax_, handles[:MAX_NAMES], None, 0
        if shown:
            # Assume that a letter is 0.6 times its size wide, and a key four letters.
            inches = [(4 + len(handle.get_label())) * 0.6 * 10 / 72 + 0.2 for handle in shown]
            room = ax.bbox.width / ax.figure.dpi
            columns = len(shown) if sum(inches) <= room else int(np.clip(room / max(inches), 1, 7))
            name = f"{len(shown)} of {len(handles)} classes" if len(shown) < len(handles) else None
            place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "frameon": False, "borderaxespad": 0.2}
            legend = ax.legend(handles=shown, title=name, ncols=columns, **place)
            rows = -(-len(shown) // columns) + (name is not None)
        if title is not None:
            note = ax.get_title(loc="left")
            text = f"{title}\n{note}" if note else title
            ax.set_title(text, loc="left", fontsize="medium", pad=6 + 15 * rows)
        return legend


def draw_pieces(ax, x, y, values, **style):
    """Draw a line with one piece per point, which reaches halfway to its neighbors, colored by the point's value."""
    from matplotlib.collections import LineCollection

    knots = np.column_stack([x, y])
    halves = (knots[1:] + knots[:-1]) / 2
    pieces = np.stack([np.vstack([knots[:1], halves]), knots, np.vstack([halves, knots[-1:]])], axis=1)
    lines = ax.add_collection(LineCollection(pieces, array=values, label="query", **style))
    ax.autoscale_view()
    return lines


def make_cmap(name, *, reverse=False):
    """Return a color map; by default viridis without its yellow end, which is faint on white."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    colors = mpl.colormaps["viridis"](np.linspace(0, 0.88, 256))[:: -1 if reverse else 1]
    return ListedColormap(colors, name="viridis_dark") if name is None else mpl.colormaps.get_cmap(name)


def class_colors(classes):
    """Return a color (rgba) for each class, from a palette or, for many classes, along a color map."""
    from matplotlib.colors import to_rgba_array

    few = len(classes) <= len(COLORS)
    return to_rgba_array(COLORS[: len(classes)]) if few else make_cmap(None)(np.linspace(0, 1, len(classes)))


def without_outliers(values):
    """Return the values without those more than three interquartile ranges above the upper quartile."""
    lower, upper = np.percentile(values, [25, 75]) if len(values) else (0.0, 0.0)
    return values[values <= upper + 3 * (upper - lower)] if upper > lower else values


def make_norm(values, low=None):
    """Return the color scale of `values`, from the smallest or from `low`, without stretching it to outliers.

    A single value gets the color of the low end.
    """
    from matplotlib.colors import Normalize

    values = np.asarray(values)[np.isfinite(values)]
    if values.size == 0:
        return Normalize(0, 1)
    low, high = float(values.min()) if low is None else low, float(without_outliers(values).max())
    return Normalize(low, high if high > low else low + (abs(low) or 1.0))


# -------------------------------------------------------------------------------------------------------------- times
def days_of(dates):
    """Return datetimes as matplotlib's axis positions, which count days; its own function is slow."""
    from matplotlib.dates import get_epoch

    return (np.asarray(dates, "M8") - np.datetime64(get_epoch())) / np.timedelta64(1, "D")


@dataclass(frozen=True)
class Times:
    """Positions of samples on the time axis, in days (UTC) if `dates` is set; `label` names the axis.

    Steps of more than `max_gap` are gaps, which no range spans. For a constant rate, positions are computed on demand.
    """

    values: np.ndarray | EvenTimes
    label: str
    dates: bool = False
    zone: object = None
    max_gap: float | None = None

    def __len__(self):
        return len(self.values)

    @cached_property
    def holes(self):
        """Samples that follow a gap, with at least two samples on either side of it, because one makes no line."""
        if self.label == "sample" or isinstance(self.values, EvenTimes) or len(self) < 2:
            return np.empty(0, np.int64)
        ends = np.concatenate([[0], holes(self.values, LONG * np.median(np.diff(self.values))), [len(self)]])
        lonely = np.diff(ends) < 2
        return ends[1:-1][~(lonely[:-1] | lonely[1:])]

    def at(self, index):
        """Return the positions of samples; sample n, the end of the last one, is one step after it."""
        index, last = np.asarray(index, dtype=np.int64), len(self) - 1
        places = self.values[np.minimum(index, last)].astype(np.float64).reshape(index.shape)
        two = self.values[max(last - 1, 0) :]
        return np.where(index > last, places + (two[-1] - two[0] if last else 1.0), places)

    def edges(self, start, end):
        """Return the positions where ranges of samples start and end; before a gap, one step after the last sample."""
        if self.max_gap is None:
            return self.at(start), self.at(end)
        start, end, last, before = map(self.at, edges(start, end, self.max_gap))
        return start, end_times(end, last, before, self.max_gap)

    def find(self, places, side="left"):
        """Return the first sample at or after each position; with `side` "right", after it."""
        places = np.clip(places, *self.at([0, len(self) - 1]))
        if isinstance(self.values, EvenTimes):
            first, rate = self.values[:1], self.values.sampling.rate
            before = np.maximum(np.floor((places - first) * rate).astype(np.int64).reshape(places.shape) - 1, 0)
            near = self.values[before[..., None] + np.arange(4)]  # because rounding may shift it by one
            reached = near < places[..., None] if side == "left" else near <= places[..., None]
            return np.minimum(before + reached.sum(axis=-1), len(self))
        return np.searchsorted(self.values, places, side)

    def shown(self, low, high):
        """Return the view between two positions."""
        first, end = self.find(low), self.find(high, "right")
        return View(self, max(int(first) - 1, 0), min(int(end) + 1, len(self)), (low, high))

    def view(self, time_range):
        """Return the view of a range of times or samples; None shows all."""
        if time_range is None:
            return View(self, 0, len(self))
        rule, out = "be None or two times (start, end), either of which may be None", "Pass times of the recording."
        if isinstance(time_range, str) or np.shape(time_range) != (2,):
            raise refused("time_range", rule, validation.shown(time_range), out)
        ends = self.at([0, len(self) - 1])
        low, high = (ends[k] if t is None else self._place(t, first=k == 0) for k, t in enumerate(time_range))
        if not (low < high and low <= ends[1] and high >= ends[0]):
            rule = f"{rule}. The start must be before the end, and the range must hold samples"
            from matplotlib.dates import num2date

            begin, end = num2date(ends, self.zone) if self.dates else ends
            whole = f"the recording's {self.label} runs from {begin} to {end}"
            raise refused("time_range", rule, f"{validation.shown(time_range)}; {whole}", out)
        return self.shown(float(low), float(high))

    def _place(self, time, first):
        """Return the axis position of a time given by a user; a datetime without a zone is in local time.

        If two samples have this time, `first` selects which one counts.
        """
        if not self.dates and (isinstance(time, Real) or not self.label.endswith("(s)")):
            return validation.check_number(time, "time_range")
        import pandas as pd

        if not self.dates:
            return pd.Timedelta(time).total_seconds()
        try:
            stamp = pd.Timestamp(time)
        except (TypeError, ValueError) as error:
            got, out = f"{validation.shown(time)}: {error}", "Pass texts such as '2024-03-31 12:00', or datetimes."
            raise type(error)(str(refused("time_range", "hold datetimes, as the times do", got, out))) from error
        if self.zone is not None and stamp.tz is None:
            stamp = stamp.tz_localize(self.zone, ambiguous=first, nonexistent="shift_forward")
        return float(days_of(_without_zone(stamp)))


def as_times(times, n, name, series=None, result=None):
    """Return the times of `n` samples.

    If no times are given, they come from the result or from the index of `series`, else they are sample indices. A
    numeric axis is named like the result's, the Series' or the index's times.
    """
    called, max_gap = None, field(result, "_max_gap")
    if times is None:
        times, called = field(result, "times"), field(result, "_time_name")
    if times is None or hasattr(times, "samples"):  # a stream's result knows the times of some samples only
        held = index_times(getattr(series, "index", None))
        if times is not None and held is None:
            rule = "be given: the result holds only the times of its own starts and ends"
            out = f"Pass the times of the whole sequence, or numpy.arange({n}) to draw it by samples."
            raise refused(name, rule, None, out)
        called, times = time_name(series, None) if called is None else called, held
    if times is None:
        return Times(EvenTimes(Sampling(1.0), n) if n > LONG_LINE else np.arange(n, dtype=np.float64), "sample")
    times = EvenTimes(times, n) if isinstance(times, Sampling) else times
    if isinstance(times, EvenTimes):
        if len(times) == n > LONG_LINE and times[:1].dtype.kind == "f":
            return Times(times, "time" if called in (None, "sample") else called, max_gap=max_gap)
        times = times[:]
    times = given_times(times, name)
    zone, array = getattr(times, "tz", None), _without_zone(times)
    label = "time" if zone is None else f"time ({zone})"
    # Skip conversion to seconds, which takes a fifth of a second for ten million dates.
    if array.dtype.kind == "M" and array.shape == (n,) and (array[1:] > array[:-1]).all() and not np.isnat(array[0]):
        return Times(days_of(array), label, True, zone, max_gap and max_gap / 86_400)
    numbers = validation.as_times(array, n, name)
    called = time_name(None, times) if called is None else called
    label = "time (s)" if array.dtype.kind == "m" else label if called in (None, "sample") else called
    return Times(numbers, label, max_gap=max_gap)


def _without_zone(times):
    """Return times as an array, converted to UTC if they have a zone, which numpy does not support."""
    array = np.asarray(times if getattr(times, "tz", None) is None else times.tz_convert(None))
    dates = array.dtype == object and array.size and hasattr(array.flat[0], "isoformat")
    return array.astype("datetime64[ns]") if dates else array


def n_samples(least, sequence, *times):
    """Return the number of samples of a recording: that of the sequence or of complete times, else `least`."""
    given = [t for t in (sequence, *times) if hasattr(t, "__len__") and not hasattr(t, "samples")]
    return max(least, len(given[0]) if given else 0)


# -------------------------------------------------------------------------------------------------------------- checks
def as_series(values, name):
    """Return `values` as floats of shape (n, channels); values that are not finite become NaN, gaps in the line.

    An array in a file is not loaded.
    """
    stored = isinstance(values, np.memmap) and values.dtype.kind == "f" and values.ndim in (1, 2) and values.size
    # Avoid a copy of a long table, which takes longer than its picture.
    array = values if stored else validation.as_points(values, name, strided=True)
    if not np.isfinite([np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)]).all():
        array = np.where(np.isfinite(array), array, np.nan)
    return array.reshape(len(array), -1)


def channel_names(n, *given):
    """Return the names of n channels from the first object that has them, a table or a result with `channels`."""
    known = (names_of(one) or field(one, "channels") or () for one in given)
    numbered = ["value"] if n == 1 else [f"channel {k}" for k in range(n)]
    return next((list(names) for names in known if len(names) == n), numbered)


def as_path(path, n_query, n_sequence, out="Pass indices of the whole series."):
    """Return a warping path as integers of shape (2, K), after checking that it is within both series."""
    array = validation.as_indices(path, "path")
    if array.ndim != 2 or len(array) != 2:
        rule = "have shape (2, K): query indices, then sequence indices"
        raise refused("path", rule, f"shape {array.shape}", "Pass path.T, or numpy.transpose of a list of pairs.")
    for row, length, what in ((0, n_query, "query"), (1, n_sequence, "sequence")):
        if array.shape[1] and not (array[row].min() >= 0 and array[row].max() < length):
            rule = f"index the {length} {what} samples in row {row}"
            raise refused("path", rule, f"{array[row].min()} to {array[row].max()}", out)
    return array


def as_ranges(result, n, name):
    """Return starts and ends of a result's half-open ranges within n samples as two integer arrays."""
    start, end = (validation.as_indices(field(result, border), name) for border in ("start", "end"))
    if start.ndim != 1 or start.shape != end.shape:
        rule, got = "have a start and an end for each occurrence", f"shapes {start.shape} and {end.shape}"
        raise refused(name, rule, got, "Pass the result of the search as it is.")
    wrong = np.flatnonzero((start < 0) | (end <= start) | (end > n))
    if len(wrong):
        rule = f"hold ranges with 0 <= start < end <= {n}, the length of the sequence"
        got = f"[{start[wrong[0]]}, {end[wrong[0]]})"
        raise refused(name, rule, got, "Pass the sequence that was searched.")
    return start, end


def field(result, name):
    """Return an attribute of a result, or an entry of a dict; None if missing."""
    return result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)


def of_estimator(estimator, method, *arguments, **keywords):
    """Call a method of a fitted estimator; refuse an estimator that does not have it."""
    if not hasattr(estimator, method):
        out = "Pass a fitted estimator of this package; of a pipeline its last step, with the sequence transformed by"
        rule, got = f"have the method {method!r}", type(estimator).__name__
        raise refused("estimator", rule, got, f"{out} the others.", error=TypeError)
    return getattr(estimator, method)(*arguments, **keywords)


def found_in(estimator, X, times):
    """Return the matches or segments that a fitted estimator finds in a sequence."""
    return of_estimator(estimator, "segment" if hasattr(estimator, "segment") else "search", X, times=times)


def numbered(values, number):
    """Return the entry of one query from a list for several, or the value for a single one."""
    return values[number] if isinstance(values, list) else values


# --------------------------------------------------------------------------------------------------------------- lines
LONG_LINE = 20_000  # samples from which a line is drawn by its extremes in each pixel column
PIXELS = 4  # minimum pixels per boundary; if there are fewer, boundaries are drawn as a strip
STRIP = 0.09  # height of a strip relative to that of the axes
FAINTEST = 0.3  # opacity of a strip's column that holds a tiny part of a range


@dataclass(frozen=True)
class View:
    """The visible samples [first, end), with one more on either side, and the limits of the axis (None: everything)."""

    times: Times
    first: int
    end: int
    limits: tuple[float, float] | None = None

    def columns(self, ax):
        """Return the number of columns of a long line, two per pixel of width, or of samples if the line is short."""
        count = self.end - self.first
        return max(2 * round(ax.bbox.width), 2) if count > LONG_LINE else count

    def follow(self, ax, draw):
        """Call `draw` with the new view whenever other samples become visible, unless every sample is drawn."""
        seen = self.first, self.end

        def changed(ax):
            nonlocal seen
            view = self.times.shown(*sorted(ax.get_xlim()))
            if (view.first, view.end) != seen:
                seen = view.first, view.end
                draw(view)

        if len(self.times) > LONG_LINE or self.limits is not None:
            ax.callbacks.connect("xlim_changed", changed)

    def inside(self, start, end):
        """Return a mask of the ranges that are at least partly visible."""
        return (np.asarray(start) < self.end) & (np.asarray(end) > self.first)

    def is_dense(self, ax, start, end):
        """Return whether there are more ranges than fit into the axes."""
        return self.inside(start, end).sum() * PIXELS > ax.bbox.width

    def are_narrow(self, ax, start, end):
        """Return whether most ranges are too narrow to be seen as areas."""
        return len(start) > 0 and np.median(end - start) * ax.bbox.width < 2 * (self.end - self.first)

    def are_crowded(self, ax, start, end):
        """Return whether narrow ranges are so close together that their lines would merge."""
        apart = np.median(np.diff(np.sort(start))) if len(start) > 1 else np.inf
        return self.are_narrow(ax, start, end) and apart * ax.bbox.width < PIXELS * (self.end - self.first)

    def borders(self, ax):
        """Return the positions of the borders between pixel columns of a strip."""
        low, high = self.times.at([self.first, self.end]) if self.limits is None else self.limits
        return np.linspace(low, high, max(round(ax.bbox.width), 1) + 1)

    def shares(self, ax, start, end):
        """Return the share of each column of a strip that ranges cover."""
        return coverage(self.borders(ax), *self.times.edges(start, end))


def reduced(times, y, first, end, columns, between=None):
    """Return a line through the samples [first, end): all of them, or the minimum and maximum of each column.

    The extremes are exact, or those that `between` returns. A column without values is a gap; a gap within a column
    does not hide its other values. No line crosses a gap in the times. `y` is one series (n,) or several (k, n), and so
    is the result.
    """
    if end - first <= 2 * columns:
        holes = times.holes[(times.holes > first) & (times.holes < end)] - first
        x, part = times.values[first:end], np.asarray(y[..., first:end], np.float64)
        return np.insert(x, holes, x[holes]), np.insert(part, holes, np.nan, axis=-1)
    low, high = times.at([first, end - 1])
    starts = np.clip(times.find(np.linspace(low, high, columns + 1)[:-1]), first, end - 1)
    starts[0] = first  # dates are rounded to microseconds, so it may be later
    starts = np.unique(starts)
    x, holes = times.at(starts), np.flatnonzero(np.isin(starts, times.holes))  # gaps within a column are not visible
    edges = np.append(starts, end)
    part = y[..., first:end].reshape(-1, end - first).T
    found = extremes((part, part), edges - first) if between is None else between(edges)
    found = np.insert(np.moveaxis(found, 0, -1), holes, np.nan, axis=-2)
    return np.repeat(np.insert(x, holes, x[holes]), 2), found.reshape(*y.shape[:-1], -1)


def draw_series(axes, view, rows, **style):
    """Draw a line in each of the axes; long ones by their extremes in columns of half a pixel, which look the same."""
    rows = rows[: len(axes)]

    @cache
    def pyramid():
        return Pyramid(rows.T).wait()

    def points(ax, view):
        columns = view.columns(ax)
        between = pyramid().between if view.end - view.first >= BLOCK * columns else None
        return reduced(view.times, rows, view.first, view.end, columns, between)

    def draw(ax, k):
        line = ax.plot(x, shown[k], **style)[0]

        def redraw(seen):
            x, every = points(ax, seen)
            line.set_data(x, every[k])

        view.follow(ax, redraw)
        return line

    x, shown = points(max(axes, key=lambda ax: ax.bbox.width), view)
    return [draw(ax, k) for k, ax in enumerate(axes)]


# -------------------------------------------------------------------------------------------------------------- strips
def coverage(borders, left, right):
    """Return the share of each column that ranges cover; above 1 where they overlap."""
    x = borders - borders[0]

    def reached(places):  # the sum of max(0, x - place) over all positions
        places = np.sort(places) - borders[0]
        before = np.searchsorted(places, x)
        return x * before - np.concatenate([[0.0], np.cumsum(places)])[before]

    return np.diff(reached(left) - reached(right)) / x[1]


def opacity(share):
    """Return the opacity of a strip's column from its covered share; even the smallest share is visible."""
    share = np.clip(share, 0.0, 1.0)
    return np.where(share > 1e-9, FAINTEST + (1 - FAINTEST) * share, 0.0)


def draw_strip(ax, view, shares, colors, bottom=0.0, top=STRIP):
    """Draw a strip whose columns are divided among several groups of ranges by their shares of each column.

    The height of a color is its part of what is covered; the less of a column is covered, the paler it is. Return one
    collection for each row of `shares` (n_ranges, columns).
    """
    from matplotlib.colors import to_rgb

    shares, borders = np.asarray(shares), view.borders(ax)
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
    """Draw the columns of a strip, each in its color."""
    # Without antialiasing, because it would show seams between the columns.
    style = {"antialiased": False, "linewidths": 0, "zorder": 3} | style
    return areas(ax, left, right, bottom, top, facecolors=colors, **style)


def make_room(ax, share=STRIP):
    """Reserve a share of the axes' height for strips below the data, separated by a line."""
    from matplotlib.patches import Rectangle

    bottom, top = ax.get_ylim()
    ticks = ax.get_yticks()
    ax.set_ylim(bottom - (top - bottom) * share / (1 - share), top)
    ax.set_yticks(ticks[(ticks >= bottom) & (ticks <= top)])  # strips have no values
    style = {"facecolor": "white", "edgecolor": "0.8", "linewidth": 0.8, "zorder": 2.9}
    ax.add_artist(Rectangle((0, 0), 1, share, transform=ax.transAxes, **style))


def areas(ax, left, right, bottom=0.0, top=1.0, **style):
    """Draw areas between two relative heights of the axes, and return them."""
    from matplotlib.collections import PolyCollection

    low, high = np.broadcast_to(bottom, np.shape(left)), np.broadcast_to(top, np.shape(left))
    corners = np.stack([np.stack([left, left, right, right], axis=1), np.stack([low, high, high, low], axis=1)], axis=2)
    area = PolyCollection(corners, transform=ax.get_xaxis_transform(), **style)
    # Heights are relative to the axes, so they must not change the limits of the data.
    return ax.add_collection(area, autolim=False)
