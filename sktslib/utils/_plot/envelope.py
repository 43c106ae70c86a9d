"""What is drawn of long recordings: the extremes of a line in each pixel column, and strips of color for many ranges.

Both are computed for what is visible. A line follows the axes: it is computed anew where a part is shown.
"""

import numpy as np

LONG = 20_000  # samples from which a line is drawn by its extremes in each pixel column
PIXELS = 4  # of width for each boundary; with less of it they are drawn as a strip
STRIP = 0.09  # height of a strip, of that of the axes
FAINTEST = 0.3  # opacity of a column of a strip that holds the smallest part of a range
BLOCK = 1 << 16  # samples of which extremes are found at a time


def reduced(times, y, first, end, columns):
    """A line through the samples [first, end): all of them, or the lowest and highest value in each of the columns.

    The extremes are exact. A column without a value is a gap; a gap within a column does not hide its other values.
    Nothing is drawn across a hole in the times. `y` holds one series (n,) or several (k, n), and so does what is
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
    """The lowest and highest value between each two borders.

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
    """Number of columns of a line over the width of the axes, half a pixel each."""
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
    return reduced(times, y, view.first, view.end, n_columns(ax) if count > LONG else count)


def follow(ax, times, view, draw):
    """Draw anew when another part of the axis is shown, where not every sample is drawn."""
    if len(times) > LONG or view.limits is not None:
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
    """Whether there are more boundaries than the axes have room for."""
    return count * PIXELS > ax.bbox.width


def inside(view, start, end):
    """Which ranges are shown, at least in part."""
    return (np.asarray(start) < view.end) & (np.asarray(end) > view.first)


def column_borders(ax, times, view):
    """Places of the borders of the pixel columns of a strip."""
    low, high = times.at([view.first, view.end]) if view.limits is None else view.limits
    return np.linspace(low, high, max(round(ax.bbox.width), 1) + 1)


def coverage(borders, left, right):
    """Share of each column that ranges cover; above 1 where they overlap."""
    zero = borders[0]
    return np.diff(_reached(borders - zero, np.sort(left) - zero) - _reached(borders - zero, np.sort(right) - zero)) / (
        borders[1] - borders[0]
    )


def _reached(x, sorted_places):
    """The sum of max(0, x - place) over all places."""
    sums = np.concatenate([[0.0], np.cumsum(sorted_places)])
    before = np.searchsorted(sorted_places, x)
    return x * before - sums[before]


def opacity(share):
    """Opacity of a column of a strip by the share of it that is covered: whatever is there can be seen."""
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
    """Areas from a height of the axes to another."""
    from matplotlib.collections import PolyCollection

    low, high = np.broadcast_to(bottom, np.shape(left)), np.broadcast_to(top, np.shape(left))
    corners = np.stack([np.stack([left, left, right, right], axis=1), np.stack([low, high, high, low], axis=1)], axis=2)
    area = PolyCollection(corners, transform=ax.get_xaxis_transform(), **style)
    # The height is the axes' own, whatever the data: it must not move the limits.
    return ax.add_collection(area, autolim=False)


def are_narrow(ax, view, start, end):
    """Whether most ranges are too narrow for their area to be seen."""
    return len(start) > 0 and np.median(end - start) * ax.bbox.width < 2 * (view.end - view.first)
