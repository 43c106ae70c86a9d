"""Pictures of the commands: the queries at the top, and the recording with all its channels below."""

import numpy as np

from .._plots.base import BLUE
from ..utils import visualisation
from ..utils.visualisation import plot_segmentation, plot_weight_query
from .output import clock_of, note, shortened

MOST_QUERIES = 4  # most queries in a row
TITLE = 110  # most characters in a line of titles
MOST_RANGES = 50  # most ranges drawn over each other


def _figure(width, height):
    """Return an empty figure that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=120)


def save_picture(figure, path):
    """Save a picture and print a note."""
    figure.savefig(path)
    note(f"picture: {path}")


def draw(queries, recording, panels, shown=None, profile=None, threshold=None, marks=None, periods=None):
    """Draw queries with their weights, and the results in a recording.

    Parameters
    ----------
    queries : list of FileRecording
        The queries, of which the first four are drawn.
    recording : FileRecording
        The recording.
    panels : dict
        Title -> `Matches` or `Segments`; each has a row for every channel.
    shown : tuple of int, optional
        The samples [first, end) of the recording that are drawn.
    profile : Profile or list, optional
        The distances of all candidates, drawn in further rows; for several queries a list.
    threshold : float or list, optional
        The thresholds that are drawn in these rows.
    marks : tuple of (list of int, list of str), optional
        Samples that are named.
    periods : ndarray of shape (n_lags, 2), optional
        Lags in samples, and how well the recording repeats itself at each; the length of the query is marked.

    Returns
    -------
    matplotlib Figure
    """
    channels, names = len(recording.channels), _names([query.short_title for query in queries])
    profiles = 0 if profile is None else len(profile) if isinstance(profile, list) else 1
    row = 1.75 if channels == 1 else 1.25
    above, under = max(2.3, 1.1 * channels), 0.3 + row * channels * len(panels) + 1.25 * profiles
    figure = _figure(11, above + under + 0.3)
    top, below = figure.subfigures(2, height_ratios=[above, under])
    _draw_queries(top, queries[:MOST_QUERIES], recording, next(iter(panels.values())), periods)
    times = np.arange(float(len(recording))) if recording.times is None else recording.times
    time_range = None if shown is None else [times[k : k + 1][0] for k in (shown[0], shown[1] - 1)]
    axes = below.subplots(len(panels) * channels + profiles, 1, sharex=True, squeeze=False)[:, 0]
    for k, (title, found) in enumerate(panels.items()):
        own = axes[k * channels : (k + 1) * channels]
        plot = visualisation.plot_search_distance_result if hasattr(found, "distance") else plot_segmentation
        style = {"ax": list(own), "title": title, "time_range": time_range}
        display = plot(found, recording.values, recording.times, **style)
        for text in [] if display.legend_ is None else display.legend_.get_texts():
            word, _, number = text.get_text().partition(" ")
            text.set_text(names[int(number)] if word == "query" and number.isdigit() else text.get_text())
    if profiles:
        rows = visualisation.ProfileDisplay(profile, next(iter(panels.values())), threshold, times=recording.times)
        rows.plot(ax=list(axes[-profiles:]), time_range=time_range)
        for ax, name in zip(axes[-profiles:], names if profiles > 1 else (), strict=False):
            ax.set_title(name, loc="left", fontsize="medium")
    _name_rows(axes, recording._described_channels * len(panels) + ["distance"] * profiles, recording)
    below.align_ylabels(axes)
    if marks is not None:
        from matplotlib.patheffects import withStroke

        style = {"xycoords": axes[-channels].get_xaxis_transform(), "ha": "center", "va": "top", "fontweight": "bold"}
        style["path_effects"] = [withStroke(linewidth=3, foreground="white")]  # a rim, to be readable on any line
        for at, text in zip(recording.times[marks[0]], marks[1], strict=True):
            axes[-channels].annotate(text, (at, 0.97), **style)
    return figure


def draw_recording(recording, most):
    """Draw the channels of a recording, at most `most`, one above the other."""
    names = recording._described_channels[:most]
    figure = _figure(11, 0.8 + 1.6 * len(names))
    axes = _rows(figure, recording.short_title, names)
    plot_segmentation(np.empty(0, np.int64), recording.values, recording.times, ax=list(axes))
    _name_rows(axes, names, recording)
    return figure


def _draw_queries(figure, queries, recording, found, periods):
    """Draw the queries in a row, and next to them the ranges found, aligned at their starts.

    For a query that is a period of the recording, draw the evidence for this period.
    """
    columns = len(queries) + 1 + (periods is not None)
    ratios = [1] * (columns - 1) + [1.35 if columns == 2 else 1]
    parts = np.ravel(figure.subfigures(1, columns, width_ratios=ratios))
    if periods is not None:
        _draw_periods(parts[-2], periods, len(queries[0].values))
    for part, query, k in zip(parts, queries, range(len(queries)), strict=False):
        names = recording._described_channels if k == 0 else [""] * len(recording.channels)
        axes = _rows(part, shortened(query.short_title, TITLE // columns), names)
        weight = np.ones(len(query.values)) if query.weight is None else query.weight
        display = plot_weight_query(query.times, query.values, weight, ax=list(axes))
        if query.weight is None:
            display.colorbar_.remove()
        _name_rows(axes, names, query)
    _draw_found(parts[-1], recording, found)


def _names(titles):
    """Return names of queries for a legend: only what differs in their titles, shortened to fit."""
    files = {title.rpartition(":")[0] for title in titles}
    titles = titles if len(files) > 1 else [title.rpartition(":")[2] for title in titles]
    return [shortened(title, TITLE // (2 * len(titles))) for title in titles]


def _rows(part, title, channels):
    """Return one row of axes per channel."""
    axes = part.subplots(len(channels), 1, sharex=True, squeeze=False)[:, 0]
    axes[0].set_title(title, loc="left", fontsize="medium")
    return axes


def _name_rows(axes, names, recording=None):
    """Label rows with the names of channels and the time axis; clock times are written as such."""
    for ax, name in zip(axes, names, strict=True):
        ax.set_ylabel(f"column {name}" if name.isdigit() else name)
        ax.label_outer()
    label, own = getattr(recording, "time_name", None) or "sample", axes[-1].get_xlabel()
    if getattr(getattr(getattr(recording, "times", None), "dtype", None), "kind", "") == "m":
        for ax in axes:
            ax.locator_params("x", nbins=6, steps=(1, 2, 3, 6, 10))  # multiples of 30 or 60 seconds, not of 25
            ax.xaxis.set_major_formatter(lambda seconds, _: clock_of(seconds))
        own = label
    axes[-1].set_xlabel(own if own.startswith("time (") else label)


def _draw_found(part, recording, found):
    """Draw the first ranges found on top of each other, aligned at their starts."""
    count = min(len(found), MOST_RANGES)
    title = f"the first {count}" if count < len(found) else "what was found" if count else "nothing was found"
    axes = _rows(part, f"{title}, overlaid" if count else title, recording.channels)
    for start, end in zip(found.start[:count].tolist(), found.end[:count].tolist(), strict=True):
        piece = np.asarray(recording.values[start:end], np.float64).reshape(end - start, -1)
        for ax, y in zip(axes, piece.T, strict=True):
            ax.plot(y, color=BLUE, linewidth=0.8, alpha=max(0.15, 1 / (1 + 0.2 * count)))
    _name_rows(axes, [""] * len(axes))


def _draw_periods(part, periods, chosen):
    """Draw how well a recording repeats at each lag, and mark the chosen period."""
    (ax,) = _rows(part, f"period: {chosen} samples", [""])
    ax.plot(*periods.T, color=BLUE, linewidth=0.9)
    ax.axvline(chosen, color="black", linewidth=0.9, linestyle="dashed")
    ax.set_xscale("log")
    ax.set(xlabel="lag in samples", ylabel="resembles itself", ylim=(0, 1))


def draw_alignment(x, y, path, tx, ty, title):
    """Draw two series and lines between the points that their alignment pairs."""
    channels = x.shape[1]
    figure = _figure(10, 1 + 2.2 * channels)
    axes = figure.subplots(channels, 1, squeeze=False)[:, 0]
    visualisation.plot_alignment(x, y, path, ax=list(axes), tx=tx, ty=ty)
    figure.suptitle(title, fontsize="medium")
    return figure
