"""Reports of found events: each hit, miss and false event with its errors and its cause, and tables of the classes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..utils._times import Sampling, Times, given_times
from ..utils.validation import as_times, refused
from ._events import agreement, change_points, intersection_over_union, is_background, pairs_by_overlap

if TYPE_CHECKING:
    from pandas import DataFrame, Series


BACKGROUND = "background"


ROWS = 12  # of a table in a notebook
KINDS = "hit", "missed", "false"


@dataclass(frozen=True, eq=False, repr=False)
class EventReport:
    """True and found events in order of time, one row for each event or matched pair; see `event_report`.

    Attributes
    ----------
    kind : ndarray of str of shape (n,)
        "hit", "missed" or "false".
    cause : ndarray of str of shape (n,)
        Cause of a miss or a false event: "borders": it overlaps an event of the other side, but the borders differ too
        much; "double": it agrees with an event that has another partner; "distance": even the best candidate in its
        range is above the threshold; "nothing": otherwise. For a hit "label" if it was found as another class,
        otherwise "".
    true, found : ndarray of int of shape (n,)
        Numbers of the true events in temporal order, and of the found ones as given; -1 without one.
    true_start, true_end, found_start, found_end : ndarray of int of shape (n,)
        Half-open ranges in samples; -1 without one.
    start_error, end_error : ndarray of shape (n,)
        The found border minus the true one, in samples; NaN without a pair.
    start_error_time, end_error_time : ndarray of shape (n,) or None
        Differences of the times of the first samples, and of the last ones, in the unit of the times (seconds for
        datetimes); None without times.
    iou : ndarray of shape (n,)
        Intersection over union with the partner, or the largest one with an event of the other side.
    overlaps : ndarray of int of shape (n,)
        Partner of a hit; otherwise the number of the event of the other side with the largest intersection over union;
        -1 without one.
    true_label, label : ndarray of shape (n,) or None
        Classes, if known; None for a missing event.
    distance : ndarray of shape (n,) or None
        Distance of a match, or cost of a segment. For a missed event that of the best candidate in its range, for a
        query of its class; NaN without such a query, or if the samples are no longer held. None if ranges were given.
    next_query : ndarray of int of shape (n,) or None
        For a found event, the query of another class nearest to its samples; -1 without one.
    next_distance : ndarray of shape (n,) or None
        Distance or cost of `next_query` there: near that of the match itself if the classes are easily confused.

    Examples
    --------
    >>> from sktslib.metrics import event_report
    >>> report = event_report([(0, 10), (20, 30)], [(1, 11), (40, 50)])
    >>> report.kind.tolist(), report.start_error.tolist()
    (['hit', 'missed', 'false'], [1.0, nan, nan])
    """

    kind: np.ndarray
    cause: np.ndarray
    true: np.ndarray
    found: np.ndarray
    true_start: np.ndarray
    true_end: np.ndarray
    found_start: np.ndarray
    found_end: np.ndarray
    start_error: np.ndarray
    end_error: np.ndarray
    iou: np.ndarray
    overlaps: np.ndarray
    start_error_time: np.ndarray | None = None
    end_error_time: np.ndarray | None = None
    true_label: np.ndarray | None = None
    label: np.ndarray | None = None
    distance: np.ndarray | None = None
    next_query: np.ndarray | None = None
    next_distance: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def n_hit(self) -> int:
        """Number of events that were found."""
        return int((self.kind == "hit").sum())

    @property
    def n_missed(self) -> int:
        """Number of true events that were not found."""
        return int((self.kind == "missed").sum())

    @property
    def n_false(self) -> int:
        """Number of found events that match no true event."""
        return int((self.kind == "false").sum())

    @property
    def precision(self) -> float:
        """Share of the found events that are true; 0 where none were found, 1 where there were none to find either."""
        found = self.n_hit + self.n_false
        return self.n_hit / found if found else float(not len(self))

    @property
    def recall(self) -> float:
        """Share of the true events that were found; 0 without any, 1 if none was found either."""
        true = self.n_hit + self.n_missed
        return self.n_hit / true if true else float(not len(self))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, as `event_f1_score` returns it."""
        total = 2 * self.n_hit + self.n_missed + self.n_false
        return 2 * self.n_hit / total if total else 1.0

    def summary(self) -> Series:
        """Return counts, scores and mean errors.

        Returns
        -------
        pandas.Series
            `hit`, `missed`, `false`; `other_label`, the hits that were found as another class; `precision`, `recall`,
            `f1`; mean (`_mean`) and standard deviation (`_sd`) of `start_error` and `end_error` of the hits, in the
            unit of the times if there are some, else in samples.
        """
        import pandas as pd

        counts = {"hit": self.n_hit, "missed": self.n_missed, "false": self.n_false}
        counts["other_label"] = int((self.cause == "label").sum())
        values = counts | {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        for name in ("start_error", "end_error"):
            timed = getattr(self, f"{name}_time")
            errors = (getattr(self, name) if timed is None else timed)[self.kind == "hit"]
            values[f"{name}_mean"] = errors.mean() if errors.size else np.nan
            values[f"{name}_sd"] = errors.std(ddof=1) if errors.size > 1 else np.nan
        return pd.Series(values)

    def to_frame(self) -> DataFrame:
        """Return a table, one row an event.

        Returns
        -------
        DataFrame
            A column for each attribute that is not None; missing values where an event is lacking.
        """
        import pandas as pd

        columns = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}
        table = pd.DataFrame(columns)
        for name, values in columns.items():
            if values.dtype.kind == "i":
                table[name] = table[name].astype("Int64").mask(values < 0)
        return table

    def confusion(self) -> DataFrame:
        """Count the events of each true class by the class that they were found as.

        Returns
        -------
        pandas.DataFrame
            A row and a column for each class, of the true events and of the found ones. The last row, "background",
            counts what is false, and the last column what was missed.

        Raises
        ------
        ValueError
            If the classes of one side are not known.

        Examples
        --------
        >>> from sktslib.metrics import event_report
        >>> report = event_report(["N", "N", "", "V", "V", "", "N", "N"], ["N", "N", "", "N", "N", "", "", ""])
        >>> table = report.confusion()
        >>> table.columns.tolist(), table.loc["N"].tolist(), table.loc["V"].tolist()
        (['N', 'V', 'background'], [1, 0, 1], [1, 0, 0])
        """
        import pandas as pd

        sides = {"true": self.true_label, "found": self.label}
        for side, labels in sides.items():
            if labels is None:
                raise ValueError(
                    f"A report must know the classes of both sides to count them. Got none of the {side} events. Give "
                    "event_report labels of the time points, or "
                    f"{'kinds' if side == 'true' else 'the result of a search or a segmentation'}."
                )
        names = list(dict.fromkeys(name for labels in sides.values() for name in labels.tolist() if name is not None))
        try:
            names.sort()
        except TypeError:  # numbers and texts together
            names.sort(key=str)
        number = dict(zip([*names, None], range(len(names) + 1), strict=True))
        counts = np.zeros((len(number), len(number)), np.int64)
        np.add.at(counts, tuple([number[name] for name in labels.tolist()] for labels in sides.values()), 1)
        index, columns = (pd.Index([*names, BACKGROUND], dtype=object, name=side) for side in sides)
        return pd.DataFrame(counts, index, columns)

    def by_class(self) -> DataFrame:
        """Return precision, recall and F1 of each class; a hit is an event that was found as its class.

        Returns
        -------
        pandas.DataFrame
            Indexed by class: `true`, `found` and `hit`, numbers of events; `precision` and `recall`, 0 where there is
            no event; `f1`.

        Raises
        ------
        ValueError
            As `confusion`.
        """
        import pandas as pd

        table = self.confusion()
        true, found, hit = (values[:-1] for values in (table.sum(axis=1), table.sum(axis=0), np.diag(table)))
        columns = {"true": true, "found": found, "hit": hit, "precision": hit / np.maximum(found, 1)}
        columns |= {"recall": hit / np.maximum(true, 1), "f1": 2 * hit / (true + found)}
        return pd.DataFrame(columns, index=table.index[:-1].rename("label"))

    def __repr__(self):
        counts = f"{self.n_hit} hit, {self.n_missed} missed, {self.n_false} false"
        return f"<EventReport: {counts}, precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}>"

    def _repr_html_(self):
        from html import escape

        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html(max_rows=ROWS)}"


def event_report(
    y_true: ArrayLike,
    found: Any,
    *,
    kinds: ArrayLike | None = None,
    times: Times | None = None,
    min_iou: float = 0.5,
    tolerance: float | None = None,
) -> EventReport:
    """List hits, misses and false events with their errors and causes.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_events, 2)
        The annotation: a label for each time point, or events as half-open ``[start, end)`` in samples.
    found : Matches, Segments, or array-like of shape (n,) or (n_events, 2)
        The found events of this sequence: the result of a search or a segmentation, labels or ranges.
    kinds : array-like of shape (n_events,), optional
        The classes of the true events, if these are ranges.
    times : array-like of shape (n,), optional
        The sample times, for errors in their unit. Default: those of `found`, if it has those of all samples.
    min_iou : float, default=0.5
        Smallest intersection over union of matched events.
    tolerance : float, optional
        Largest difference of the starts, and of the ends, of matched events, in samples; replaces `min_iou`.

    Returns
    -------
    EventReport
        The report. Events are matched as in `event_f1_score`; of equally many pairs, those with the smallest border
        errors.

    Raises
    ------
    ValueError, TypeError
        See `event_f1_score`; also if `kinds` or `times` do not fit, or if matches are in several sequences.

    See Also
    --------
    event_f1_score : The score alone.
    sktslib.utils.visualisation.EventsDisplay : Draws the events.

    Examples
    --------
    >>> from sktslib.metrics import event_report
    >>> report = event_report([[10, 20], [40, 50], [70, 80]], [[11, 20], [44, 60], [90, 99]])
    >>> report
    <EventReport: 1 hit, 2 missed, 2 false, precision 0.333, recall 0.333, F1 0.333>
    >>> report.kind.tolist(), report.cause.tolist()
    (['hit', 'missed', 'false', 'missed', 'false'], ['', 'borders', 'borders', 'nothing', 'nothing'])
    >>> float(report.summary()["start_error_mean"])
    1.0
    """
    if getattr(found, "sequence", None) is not None:
        rule, got = "hold events of one sequence", "matches of a list of sequences"
        raise refused("found", rule, got, "Search each sequence by itself, and report on it with its own annotation.")
    is_result = hasattr(found, "start") and hasattr(found, "end")
    ranges = np.column_stack([found.start, found.end]) if is_result else found
    true, pred, agreeing, (rows, columns), n_samples = agreement(y_true, ranges, min_iou, tolerance, "found")
    _check_room(true, pred, n_samples)
    numbers = np.argsort(true[:, 0], kind="stable")  # of the true events, in temporal order
    rank = np.argsort(numbers)
    true, rows, agreeing = true[numbers], rank[rows], (rank[agreeing[0]], agreeing[1])
    # A hit has two numbers, every other row one and -1, which is the last of what is appended to each side.
    missed, false = (np.setdiff1d(np.arange(len(side)), known) for side, known in ((true, rows), (pred, columns)))
    i = np.concatenate([rows, missed, np.full(len(false), -1)]).astype(np.int64)
    j = np.concatenate([columns, np.full(len(missed), -1), false]).astype(np.int64)
    true, pred = (np.concatenate([side, [[-1, -1]]]) for side in (true, pred))
    order = np.lexsort((i < 0, np.where(i >= 0, true[i, 0], pred[j, 0])))
    i, j = i[order], j[order]
    hit = (i >= 0) & (j >= 0)
    iou, overlaps, agree = _overlaps(true, pred, (i, j), agreeing)
    sides = _true_labels(y_true, kinds, numbers), found.label if is_result else _labels(found)
    with_none = [None if of is None else np.append(of.astype(object), None) for of in sides]
    labels = [None if of is None else of[k] for of, k in zip(with_none, (i, j), strict=True)]
    known = _distances(np.where(j[:, None] >= 0, pred[j], true[i]), j, labels[0], found)
    cause = np.where(known.pop("above"), "distance", np.where(iou > 0, "borders", "nothing"))
    cause[agree] = "double"
    cause[hit] = ""
    if all(of is not None for of in sides) and {*sides[0].tolist()} & {*sides[1].tolist()}:
        cause[hit & (labels[0] != labels[1])] = "label"
    edges = *true[i].T, *pred[j].T
    errors = [np.where(hit, edges[end + 2] - edges[end], np.nan) for end in (0, 1)]
    t = _seconds(times, found, edges)
    timed = [None, None] if t is None else [np.where(hit, t[end + 2] - t[end], np.nan) for end in (0, 1)]
    kind = np.where(i < 0, "false", np.where(j < 0, "missed", "hit"))
    return EventReport(kind, cause, i, j, *edges, *errors, iou, overlaps, *timed, *labels, **known)


def _check_room(true, pred, n_samples):
    """Refuse events behind the last label: what is one-dimensional are then places or another recording's labels."""
    last = max((int(side[:, 1].max()) for side in (true, pred) if len(side)), default=0)
    if n_samples and last > n_samples:
        raise ValueError(
            f"Labels must be one for each time point of the recording. Got {n_samples}, and an event ends at {last}. "
            "Give events as [start, end) in two columns; of peaks or starts, numpy.column_stack([peaks - before, "
            "peaks + after])."
        )


def _overlaps(true, pred, pairs, agreeing):
    """Return for each row the largest intersection over union, the index of that event, and whether it agrees there."""
    rows, columns, iou = pairs_by_overlap(true[:-1], pred[:-1])
    order = np.argsort(iou, kind="stable")  # the largest is written last
    found = []
    for side, own, other, fits, at in zip((true, pred), (rows, columns), (columns, rows), agreeing, pairs, strict=True):
        best, partner = np.zeros(len(side)), np.full(len(side), -1)
        best[own[order]], partner[own[order]] = iou[order], other[order]
        found.append((best[at], partner[at], np.isin(at, fits)))
    i, j = pairs
    alone = [np.where(i >= 0, of_true, of_pred) for of_true, of_pred in zip(*found, strict=True)]
    hit = (i >= 0) & (j >= 0)
    both = np.maximum(intersection_over_union(true[i], pred[j]), 0.0)
    return np.where(hit, both, alone[0]), np.where(hit, j, alone[1]), alone[2] & ~hit


def _distances(ranges, j, true_label, found):
    """Return the distances of the rows, those of other queries, and whether what is missed is above the threshold."""
    if not hasattr(found, "_compared"):
        return {"above": np.zeros(len(j), bool)}
    every, matched = found._compared(ranges), j >= 0
    count = every.shape[1]
    query = np.append(np.zeros(len(found.start), int) if found.query is None else found.query, -1)[j]
    label_of = np.full(count, None) if found._query_labels is None else found._query_labels.astype(object)
    own = label_of[query][:, None]
    left_out = matched[:, None] & (((label_of == own) & (own != None)) | (np.arange(count) == query[:, None]))  # noqa: E711
    # Classes that are no query's label say nothing of queries, unless some others are.
    if true_label is not None and {*label_of.tolist()} & {*true_label.tolist()} - {None}:
        left_out |= ~matched[:, None] & (label_of != true_label[:, None])
    values = np.where(left_out, np.nan, every)
    some = ~np.isnan(values).all(axis=1)
    best, least = np.full(len(j), -1), np.full(len(j), np.nan)
    best[some] = np.nanargmin(values[some], axis=1)
    least[some] = values[some, best[some]]
    limit = np.full(count, np.nan) if found._limits is None else found._limits
    above = some & ~matched & ~(values <= np.where(np.isnan(limit), np.inf, limit)).any(axis=1)
    known = {"distance": np.where(matched, np.append(getattr(found, found._measure), np.nan)[j], least), "above": above}
    if count > 1:
        known |= {"next_query": np.where(matched, best, -1), "next_distance": np.where(matched, least, np.nan)}
    return known


def _seconds(times, found, edges):
    """Return the times of the first samples of the events, and of their last ones, as numbers; None without."""
    if times is None:
        times = getattr(found, "times", None)
        if times is None or hasattr(times, "samples"):
            return None
    last = max((int(edge.max()) for edge in edges if len(edge)), default=0)
    n = last if isinstance(times, Sampling) else len(times)
    t = as_times(times if isinstance(times, Sampling) else given_times(times, "times"), n, "times")
    if last > len(t):
        rule, got = "have a time for each sample of the recording", f"{len(t)}, and an event ends at {last}"
        out = "Clip the events to the recording, for example with numpy.clip, or pass the times of all of it."
        raise refused("'times'", rule, got, out)
    last_ones = (0, 1, 0, 1)  # a hole may lie behind them
    return [t[np.maximum(edge - back, 0)] for edge, back in zip(edges, last_ones, strict=True)]


def _true_labels(y_true, kinds, numbers):
    """Return the classes of the true events in temporal order; None without any."""
    if kinds is None:
        return _labels(y_true)
    kinds = np.asarray(kinds)
    if np.ndim(y_true) == 1 and len(y_true):
        raise ValueError("The 'kinds' parameter must be None where 'y_true' are labels, which are the classes.")
    if kinds.shape != (len(numbers),):
        raise refused("kinds", f"have one class for each of the {len(numbers)} events", f"shape {kinds.shape}")
    return kinds[numbers]


def _labels(y):
    """Return the labels of the events of a label vector; None of ranges."""
    y = np.asarray(y)
    if y.ndim != 1:
        return None
    labels = y[change_points(y)[:-1]] if len(y) else y
    return labels[[not is_background(label) for label in labels.tolist()]]
