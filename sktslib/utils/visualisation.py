"""Pictures of alignments, searches, segmentations and distances.

Each is a Display, an object in scikit-learn's manner: it holds the data, `from_estimator` makes it of a fitted
estimator and draws it, `from_predictions` of results, and `plot` draws it, again if need be, on the given axes or in a
new figure. Axes (`ax_`, `axes_`), figure (`figure_`) and all that was drawn are its attributes. The functions draw the
pictures that are asked for most. Pictures are shown by the caller, for example with ``matplotlib.pyplot.show()``.

Rows are named after the columns where a series is a table. Times with a time zone are drawn in that zone. A long line
is drawn by its extremes in each column of half a pixel, which looks the same, and again when axes show a part of it;
more ranges than one for four pixels of width are drawn as a strip. A `time_range` shows a part.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

# Classes of return values, for annotations: users do not need to type their names.
from .._plots.alignment import AlignmentDisplay as AlignmentDisplay
from .._plots.alignment import CostMatrixDisplay as CostMatrixDisplay
from .._plots.found import EventsDisplay as EventsDisplay
from .._plots.found import ProfileDisplay as ProfileDisplay
from .._plots.found import RepetitionsDisplay as RepetitionsDisplay
from .._plots.found import SearchDisplay as SearchDisplay
from .._plots.found import SegmentationDisplay as SegmentationDisplay
from .._plots.found import WeightedQueryDisplay as WeightedQueryDisplay
from ._times import Queries, Sequences, Times

__all__ = [
    "plot_alignment",
    "plot_costmatrix",
    "plot_repetitions",
    "plot_search_distance_result",
    "plot_segmentation",
    "plot_weight_query",
]


def plot_alignment(
    ts1: ArrayLike, ts2: ArrayLike, path: Any, *, tx: Times | None = None, ty: Times | None = None, **style: Any
) -> AlignmentDisplay:
    """Draw two series, one above the other, and connect the points that a warping path pairs.

    The part of `ts2` around the path is shown, with one query length on both sides. If the path covers less than half
    of `ts2`, like that of a match, `ts1` is moved above that part and has its own axis there; the axis below has the
    samples or times of `ts2`. The scale on the left has each series' own values.

    Parameters
    ----------
    ts1 : array-like of shape (m,) or (m, channels)
        The query.
    ts2 : array-like of shape (n,) or (n, channels)
        The whole sequence.
    path : array-like of int, shape (2, K)
        Indices into `ts1` (first row) and into the whole of `ts2` (second row).
    tx : array-like of shape (m,), optional
        Times of `ts1`: increasing numbers or datetimes. Default: sample indices. Next to datetimes in `ty`, numbers are
        seconds.
    ty : array-like of shape (n,), optional
        Times of `ts2`.
    **style
        `ax`, `title`, `time_range`, `offset` and `every`, as `AlignmentDisplay.plot` describes them.

    Returns
    -------
    display : AlignmentDisplay
        The drawn objects: `ax_`, `figure_`, `query_lines_`, `sequence_lines_`, `pair_lines_`, `query_axis_`.

    Raises
    ------
    ValueError
        If a series, the path or the times have a wrong shape, the path leaves a series, times do not increase, or there
        are more axes than channels.
    TypeError
        If a series holds no numbers, or `offset` or `every` is not a number.

    See Also
    --------
    plot_costmatrix : The same path within the accumulated costs.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_alignment
    >>> display = plot_alignment([0, 1, 0], [0, 0, 1, 1, 0], [[0, 0, 1, 1, 2], [0, 1, 2, 3, 4]])
    >>> display.ax_.get_xlabel()
    'sample'
    >>> len(display.pair_lines_[0].get_segments())
    5
    >>> plt.close(display.figure_)
    """
    return AlignmentDisplay.from_predictions(ts1, ts2, path, tx=tx, ty=ty, **style)


def plot_costmatrix(
    matrix: Any, path: Any = None, *, query: Queries | None = None, sequence: Sequences | None = None, **style: Any
) -> CostMatrixDisplay:
    """Draw the accumulated costs of an alignment as an image, with its path.

    The query runs up the vertical axis, the sequence along the horizontal one. Cells that are not finite, such as those
    outside a band, are gray.

    Parameters
    ----------
    matrix : array-like of shape (m, n)
        Accumulated costs of m query samples and n sequence samples.
    path : array-like of int, shape (2, K), optional
        Row and column indices of a warping path.
    query, sequence : array-like of shape (m,) or (m, channels) and (n,) or (n, channels), optional
        The two series, drawn on the left and above.
    **style
        `ax`, `title` and `cmap`, as `CostMatrixDisplay.plot` describes them.

    Returns
    -------
    display : CostMatrixDisplay
        The drawn objects: `ax_`, `figure_`, `image_`, `path_line_`, `colorbar_`, `query_lines_`, `sequence_lines_`.

    Raises
    ------
    ValueError
        If the matrix or the path has a wrong shape, or the path leaves the matrix.
    TypeError
        If the matrix holds no numbers.

    See Also
    --------
    plot_alignment : The pairs of the path between the two series.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_costmatrix
    >>> display = plot_costmatrix([[0, 1, 5], [1, 0, 4]], path=[[0, 1, 1], [0, 1, 2]])
    >>> display.image_.get_array().shape
    (2, 3)
    >>> display.colorbar_.ax.get_ylabel()
    'accumulated cost'
    >>> plt.close(display.figure_)
    """
    return CostMatrixDisplay(matrix, path, query, sequence)._drawn(style)


def plot_search_distance_result(res: Any, sequence: Sequences, ts: Times | None = None, **style: Any) -> SearchDisplay:
    """Draw a sequence and the matches of a search.

    The sequence is gray, and each match is colored by its distance, class or query, the best one on top. Up to 30
    matches have their rank, from 1 for the first of the result. If there is more than one match per four pixels of
    width, a strip below the sequence has the color of the best match in each column. A sequence of more than 20,000
    samples is drawn by its extremes in each pixel column. The color scale excludes outliers of the distances.

    Parameters
    ----------
    res : dict or object
        The result of one distance: an entry of the result of `time_series_search` (a dict with arrays `start`, `end`,
        `path_dist`), or an object with the attributes `start`, `end` and `distance`, such as `Matches`. Ranges are
        half-open, in samples of the sequence.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was searched.
    ts : array-like of shape (n,), optional
        Times of the sequence: increasing numbers or datetimes. Default: the times of the result or of a pandas index,
        else sample indices.
    **style
        `ax`, `title`, `time_range`, `cmap` and `color_by`, as `SearchDisplay.plot` describes them.

    Returns
    -------
    display : SearchDisplay
        The drawn objects: `ax_`, `figure_`, `sequence_lines_`, `occurrence_lines_`, `strips_`, `rank_texts_`,
        `colorbar_`, `legend_`.

    Raises
    ------
    ValueError
        If `res` is not the result of one distance, its ranges leave the sequence, a shape is wrong, times do not
        increase, or there are more axes than channels.
    TypeError
        If the sequence holds no numbers.

    See Also
    --------
    plot_alignment : One occurrence and its alignment with the query.
    plot_segmentation : A sequence cut into repetitions.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_search_distance_result
    >>> res = {"start": [4, 1], "end": [7, 3], "path_dist": [0.1, 0.5]}
    >>> display = plot_search_distance_result(res, [0, 1, 0, 0, 0, 2, 0, 0])
    >>> [text.get_text() for text in display.rank_texts_]
    ['1', '2']
    >>> plt.close(display.figure_)
    """
    return SearchDisplay(res, sequence, ts)._drawn(style)


def plot_weight_query(x: Times | None, query: Queries, weight: ArrayLike | None, **style: Any) -> WeightedQueryDisplay:
    """Draw a query colored by the weights of its points.

    Parameters
    ----------
    x : array-like of shape (m,) or None
        Times of the query: increasing numbers or datetimes. None: sample indices.
    query : array-like of shape (m,) or (m, channels)
        The query.
    weight : array-like of shape (m,) or (m, channels)
        The weight of each point, at least 0.
    **style
        `ax` and `title`, as `WeightedQueryDisplay.plot` describes them.

    Returns
    -------
    display : WeightedQueryDisplay
        The drawn objects: `ax_`, `figure_`, `query_lines_`, `colorbar_`.

    Raises
    ------
    ValueError
        If a shape is wrong, a weight is negative or not finite, times do not increase, or there are more axes than
        channels.
    TypeError
        If the query or the weight holds no numbers.

    See Also
    --------
    plot_search_distance_result : Where the query occurs.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_weight_query
    >>> display = plot_weight_query([0.0, 0.5, 1.0], [0, 1, 0], [0.2, 1.0, 0.2])
    >>> display.query_lines_[0].get_array().tolist()
    [0.2, 1.0, 0.2]
    >>> display.ax_.get_xlabel()
    'time'
    >>> plt.close(display.figure_)
    """
    return WeightedQueryDisplay(query, weight, x)._drawn(style)


def plot_segmentation(segments: Any, sequence: Sequences, ts: Times | None = None, **style: Any) -> SegmentationDisplay:
    """Draw a sequence and its segmentation.

    Boundaries are dashed vertical lines. If starts and ends are known, repetitions are shaded, alternately light and
    dark, in the color of their class; background is white. Partial repetitions are hatched. If there is more than one
    boundary per four pixels of width, a strip below the sequence replaces all of these.

    Parameters
    ----------
    segments : object, array-like of int or dict of str -> array-like of int
        An object with arrays `start`, `end` and `label`, and perhaps `partial`, such as `Segments`; or sorted
        boundaries, as sample indices from 0 to n; or the result of `time_series_segmentation`, with one row for each
        distance.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was segmented.
    ts : array-like of shape (n,), optional
        Times of the sequence: increasing numbers or datetimes. Default: the times of the result or of a pandas index,
        else sample indices.
    **style
        `ax`, `title` and `time_range`, as `SegmentationDisplay.plot` describes them.

    Returns
    -------
    display : SegmentationDisplay
        The drawn objects: `ax_`, `figure_`, `sequence_lines_`, `boundary_lines_`, `repetition_areas_`,
        `partial_areas_`, `strips_`, `legend_`.

    Raises
    ------
    ValueError
        If boundaries are not sorted sample indices of the sequence, a shape is wrong, times do not increase, or the
        number of axes does not fit.
    TypeError
        If the sequence holds no numbers.

    See Also
    --------
    plot_search_distance_result : The occurrences of a query by their distance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_segmentation
    >>> display = plot_segmentation({"Dynamic Time Warping": [0, 3, 6]}, [0, 1, 0, 0, 2, 0])
    >>> display.ax_.get_title(loc="left")
    'Dynamic Time Warping'
    >>> plt.close(display.figure_)
    """
    return SegmentationDisplay(segments, sequence, ts)._drawn(style)


def plot_repetitions(repetitions: Any, query: Queries | None = None, **style: Any) -> RepetitionsDisplay:
    """Draw repetitions one over the other on the time base of their query, with their mean and spread.

    Without a repetition only the query is drawn; of more than 300 repetitions, 300 evenly chosen ones.

    Parameters
    ----------
    repetitions : array-like of shape (n_repetitions, m) or (n_repetitions, m, channels)
        The result of ``Segments.warped``.
    query : array-like of shape (m,) or (m, channels), optional
        The query.
    **style
        `ax` and `title`, as `RepetitionsDisplay.plot` describes them.

    Returns
    -------
    display : RepetitionsDisplay
        The drawn objects: `ax_`, `figure_`, `repetition_lines_`, `mean_lines_`, `spread_areas_`, `query_lines_`.

    Raises
    ------
    ValueError
        If a shape is wrong, or the number of axes does not fit.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_repetitions
    >>> display = plot_repetitions([[0, 1, 0], [0, 3, 0]])
    >>> display.mean_lines_[0].get_ydata().tolist()
    [0.0, 2.0, 0.0]
    >>> plt.close(display.figure_)
    """
    return RepetitionsDisplay(repetitions, query)._drawn(style)
