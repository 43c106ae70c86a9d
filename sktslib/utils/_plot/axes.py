"""Axes, colours and lines shared by the displays. matplotlib is imported when a picture is drawn."""

import numpy as np

from .plot_data import LONG, thin

MAX_ROWS = 8  # channels drawn in a new figure; more rows cannot be read
GREY = "0.65"
# Okabe & Ito's colours, distinguished whatever the eye's colour vision.
BLUE, VERMILION = "#0072B2", "#D55E00"
COLOURS = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", VERMILION, "#F0E442")


def make_axes(ax, n_rows, *, height=2.2, what="channels"):
    """Return an array of axes, one a row, new ones if `ax` is None, and their figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        rows = min(n_rows, MAX_ROWS) if what == "channels" else n_rows
        size = (10, 1 + height * rows)
        figure, axes = plt.subplots(rows, sharex=True, squeeze=False, layout="constrained", figsize=size)
        return axes[:, 0], figure
    axes = np.ravel(np.asarray(ax, dtype=object))
    if len(axes) == 0 or not all(hasattr(a, "plot") and hasattr(a, "figure") for a in axes):
        raise ValueError(
            f"The 'ax' parameter must be None, a matplotlib Axes or a list of them. Got {type(ax).__name__}. "
            "Make one with matplotlib.pyplot.subplots."
        )
    if len(axes) > n_rows or (what != "channels" and len(axes) < n_rows):
        raise ValueError(
            f"The 'ax' parameter must hold {'at most ' if what == 'channels' else ''}one Axes for each of the {n_rows} "
            f"{what}. Got {len(axes)}. Pass None to have them made."
        )
    return axes, axes[0].figure


def label_rows(axes, times, n_channels, names=None):
    """Name the axes: values or channels on the left, samples or times below the last row."""
    label_channels(axes, n_channels, names)
    for ax in axes:
        ax.margins(x=0.01)
    axes[-1].set_xlabel(times.label)
    if len(axes) < n_channels:
        axes[0].set_title(f"first {len(axes)} of {n_channels} channels", loc="left", fontsize="medium")
    if times.dates:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        for ax in axes:
            locator = AutoDateLocator()
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def label_channels(axes, n_channels, names=None):
    """Name what the rows show: the channels' names if there are any."""
    names = names or (["value"] if n_channels == 1 else [f"channel {k}" for k in range(n_channels)])
    for ax, name in zip(axes, names, strict=False):
        ax.set_ylabel(name)


def positions(times):
    """Return times as positions on the axis: collections of lines take numbers only."""
    if not times.dates:
        return times.values
    from matplotlib.dates import date2num

    return date2num(times.values)


def column_width(ax, x):
    """Return the width of half a pixel in data units, or None if the line is short enough to be drawn whole."""
    return (x[-1] - x[0]) / (2 * ax.bbox.width) if len(x) > LONG else None


def draw_series(ax, x, y, **style):
    """Draw a line; a long one by its extremes in each pixel column, which looks the same."""
    width = column_width(ax, x)
    if width is not None:
        x, y = thin(x, y, width)
    return ax.plot(x, y, **style)[0]


def make_cmap(name, *, reverse=False):
    """Return a colour map; without a name, viridis less its yellow end, which is faint on white."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    if name is not None:
        return mpl.colormaps.get_cmap(name)
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.88, 256))
    return ListedColormap(colours[::-1] if reverse else colours, name="viridis_dark")


def make_norm(values, low=None):
    """Return the colour scale of `values`, from the smallest or `low`; a single value is the low end."""
    from matplotlib.colors import Normalize

    values = np.asarray(values)[np.isfinite(values)]
    if values.size == 0:
        return Normalize(0, 1)
    low, high = float(values.min()) if low is None else low, float(values.max())
    return Normalize(low, high if high > low else low + (abs(low) or 1.0))


def write(ax, text, place, offset, *, rim=2, **style):
    """Write a text some points off a place of the axes, with a white rim, so that it can be read on any line."""
    from matplotlib.patheffects import withStroke

    effects = [withStroke(linewidth=rim, foreground="white")]
    return ax.annotate(text, place, offset, textcoords="offset points", ha="center", path_effects=effects, **style)


def add_colorbar(figure, artist, axes, label):
    """Put a colour bar beside the axes."""
    bar = figure.colorbar(artist, ax=list(axes), label=label, pad=0.02)
    values = np.ma.compressed(np.ma.masked_invalid(artist.get_array()))
    if values.size and (values == artist.norm.vmin).all():
        bar.set_ticks([values[0]])
    return bar
