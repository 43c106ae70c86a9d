"""What the command line shows: tables of occurrences and repetitions, and one picture."""

import math
from textwrap import fill

import numpy as np

from ..utils._plot.axes import write
from ..utils.visualisation import plot_search_distance_result, plot_segmentation, plot_weight_query

HEADROOM = 0.18  # share of a row's height that is kept free for the names of marks


def decimals_of(step):
    """How many decimals tell neighbours apart that lie `step` apart."""
    return next((d for d in range(12) if abs(round(step, d) - step) <= 0.1 * step), 12)


def write_times(values, times):
    """Times as text, with as many decimals as the steps between the recording's `times` need."""
    if values.dtype.kind == "M":
        texts = np.datetime_as_string(values, unit="ms")
        return [text.removesuffix(".000").replace("T", " ") for text in texts.tolist()]
    digits = decimals_of(float(np.median(np.diff(times)))) if len(times) > 1 else 3
    return [f"{value:.{digits}f}" for value in values]


def write_numbers(values):
    """Numbers as text, four digits of the largest and the same decimals for all."""
    finite = [abs(v) for v in values if np.isfinite(v)]
    top = max(finite, default=0.0)
    if top and not 1e-4 <= top < 1e9:
        return [f"{v:.3e}" for v in values]
    digits = max(0, 3 - math.floor(math.log10(top))) if top else 3
    return [f"{v:.{digits}f}" for v in values]


def counted(found, noun):
    """Say how many there are of something."""
    return f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"


def align(columns):
    """Lines of a table, right-aligned, from a dict of heading -> texts."""
    widths = [max(map(len, [name, *texts])) for name, texts in columns.items()]
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return [
        "  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def beats_in(job, found):
    """For each range the known beats whose R peak lies in it, as text."""
    index, labels = job.marks
    texts = np.array([f"{time} {of}" for time, of in zip(write_times(job.ts[index], job.ts), labels, strict=True)])
    return [", ".join(texts[(index >= s) & (index < e)]) or "-" for s, e in zip(found.start, found.end, strict=True)]


def table_of(job, found, value):
    """Lines of a table of `Matches` or `Segments`; `value` names the column of their distances or costs."""
    start, end = (found.start, found.end) if job.ts is None else (found.start_time, found.end_time)
    write = (lambda a: [str(v) for v in a]) if job.ts is None else (lambda a: write_times(a, job.ts))
    columns = {
        "rank" if value == "distance" else "no.": [str(k + 1) for k in range(len(found))],
        f"start ({job.unit})": write(start),
        f"end ({job.unit})": write(end),
        value: write_numbers(getattr(found, value)),
    }
    if job.marks is not None:
        columns["R peak (s), kind"] = beats_in(job, found)
    return align(columns)


def frame_of(job, searches, segments, by):
    """All tables as one DataFrame, one row per occurrence or repetition."""
    import pandas as pd

    frames = []
    for kind, name, found in [*(("occurrence", *item) for item in searches.items()), ("repetition", by, segments)]:
        frame = found.to_frame().rename(columns={"cost": "distance"}).drop(columns="label", errors="ignore")
        frame.insert(0, "rank", np.arange(1, len(frame) + 1))
        frame.insert(0, "metric", name)
        frame.insert(0, "kind", kind)
        if job.marks is not None:
            frame["beats"] = beats_in(job, found)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def summary(job, searches, segments, by):
    """Say in a few lines what the tables and the picture show."""
    text = [
        "Coloured: the occurrences, numbered from the best, which has the smallest distance. Shaded: the repetitions.",
    ]
    if job.sequence.ndim == 2 and job.sequence.shape[1] > 1:
        text.append(f"The picture shows the first of {job.sequence.shape[1]} channels, {job.value_label}.")
    if job.marks is not None:
        held = {name: _count(job, found) for name, found in [*searches.items(), (f"segmentation by {by}", segments)]}
        text += [
            "Beats: N normal, like the query; V wide and ectopic; F in between. Found: "
            + "; ".join(f"{name} {beats}" for name, beats in held.items())
            + ".",
            "The normal beats at 3.633 s and 4.158 s lie closer together than the query is long: an occurrence of full "
            "length at one leaves no room for one at the other.",
        ]
    return text


def _count(job, found):
    """How many ranges hold a beat of each class, in words."""
    beats = [text[-1] for text in beats_in(job, found)]
    return (
        ", ".join(f"{beats.count(key)} {key.replace('-', 'without a beat')}" for key in "NFV-" if key in beats)
        or "none"
    )


def draw(job, searches, segments, segmented_by, notes):
    """Draw the query with its weights, the occurrences of each distance, and the segmentation.

    Parameters
    ----------
    job : Job
        Query and sequence.
    searches : dict
        Title -> `Matches`.
    segments : Segments
        The segmentation.
    segmented_by : str
        Its title.
    notes : list of str
        Paragraphs beside the query.

    Returns
    -------
    matplotlib Figure
    """
    from matplotlib.figure import Figure

    rows = len(searches) + 1
    figure = Figure(figsize=(11, 2.6 + 1.75 * rows), layout="constrained", dpi=120)
    top, below = figure.subfigures(2, height_ratios=[2.3, 0.3 + 1.75 * rows])
    left, right = top.subplots(1, 2, width_ratios=[1, 1.35])
    plot_weight_query(job.tq, job.query, np.ones(len(job.query)) if job.weight is None else job.weight, ax=left)
    left.set_title("query and the weights of its points", loc="left", fontsize="medium")
    left.set(xlabel=job.query_label, ylabel=job.value_label)
    right.set_axis_off()
    right.text(
        0.02,
        1.0,
        "\n\n".join(fill(note, 72) for note in notes),
        va="top",
        fontsize=9.5,
        linespacing=1.4,
        transform=right.transAxes,
    )

    axes = below.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    for ax, (title, matches) in zip(axes, searches.items(), strict=False):
        plot_search_distance_result(matches, job.sequence, job.ts, ax=ax)
        ax.set_title(title, loc="left", fontsize="medium")
    plot_segmentation(segments, job.sequence, job.ts, ax=axes[-1])
    axes[-1].set_title(segmented_by, loc="left", fontsize="medium")
    for ax in axes:
        ax.set_ylabel(job.value_label)
        ax.label_outer()
    axes[-1].set_xlabel(job.time_label)
    below.align_ylabels(axes)
    if job.marks is not None:
        _write_marks(axes[-1], job)
    return figure


def _write_marks(ax, job):
    """Name the marked samples along the upper edge of the axes."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + HEADROOM * (top - bottom))
    index, texts = job.marks
    x = index if job.ts is None else job.ts[index]
    for at, text in zip(x, texts, strict=True):
        style = {"xycoords": ax.get_xaxis_transform(), "va": "top", "fontsize": 9, "fontweight": "bold"}
        write(ax, text, (at, 1), (0, -3), rim=3, **style)
