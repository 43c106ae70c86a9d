"""Axes, colors and texts shared by the displays. matplotlib is imported when a picture is drawn."""

import functools
import inspect
from datetime import UTC, timedelta, timezone

import numpy as np

from ..validation import unknown_name

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
    """Ticks at round local times, also where clocks are put forward or back.

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
    """Ticks, each once, and those within a view that the clock shows again after it is put back."""
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
    """A line in one piece a point, which reaches halfway to its neighbors."""
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
    """Put a color bar beside the axes, with an arrow where values lie beyond its end."""
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
    """How many entries of a legend fit side by side: a letter is about 0.6 of its size wide, a key has four."""
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
