"""The state of a page: a recording, the queries, the results and the answers.

A session knows a recording by its samples, names, written times, and a mark that identifies it.
"""

import base64
import hashlib
import json
import os
import threading
import traceback
from itertools import pairwise
from math import floor, log10
from pathlib import Path

import numpy as np

from .._plots.base import COLORS, coverage, without_outliers
from .._plots.pyramid import Pyramid, rows
from ..distances import metric_names
from ..distances._series import NORMALIZATIONS, resample
from ..io import read
from ..io._library import is_real
from ..io._objects import converter_of, recording_of
from ..io._parts import samples_of, slice_of
from ..io._recording import channel_names
from ..metrics._events import pairs_by_iou
from ..search._chunks import times_at
from ..search._learning.labels import SHIFTED
from ..utils._sampling import LONG, holes, interval, numbers_of
from ..utils._times import EvenTimes, is_datetime
from ..utils.validation import as_times, refused, shown
from . import _export
from ._work import Job, Task, ranges_of, same, search, segmented

POINTS, BINS, IN_TURN = 64, 60, 5  # of a small picture; of the histogram; every 5th question is drawn at random
SAVED = "settings", "queries", "classes", "thresholds", "drawn", "run"
PIECES, PIECE = 64, 256  # number and length of the pieces of a recording from which its mark is computed
CLOCK = 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200  # steps of a clock, seconds
DAY = 86_400
APART = 90  # minimum distance of labels on the time axis, in pixel columns
START = b"\n["  # start of each change in a session's file


def packed(values):
    """Return an array in the form that JSON can hold, encoded in base64."""
    return {"f32": base64.b64encode(np.ascontiguousarray(values, "<f4")).decode()}


def finite(values):
    """Return numbers in the form that JSON can hold; None stays None."""
    return None if values is None else [v if np.isfinite(v) else None for v in np.ravel(values).tolist()]


def wilson(right, n):
    """Return a share with its 95 % interval by Wilson's method."""
    from scipy.stats import binomtest

    low, high = binomtest(right, n).proportion_ci(method="wilson")
    return {"value": right / n, "low": float(low), "high": float(high), "n": n}


def cached(make):
    """Return a property that is recomputed only after a change of the session."""
    return property(lambda self: self._kept[make] if make in self._kept else self._kept.setdefault(make, make(self)))


class Viewed:
    """A recording to view: from a file, an object that `read` converts, a table or an array."""

    def __init__(self, recording):
        is_read = isinstance(recording, str | os.PathLike) or converter_of(recording)
        one = read(recording) if is_read else recording_of(recording)
        self.values, self.n, self.channels = one.values, len(one), (*one.shape, 1)[1]
        if 0 in one.shape or not is_real(np.asarray(self.values[:1]).dtype):
            raise ValueError(f"A recording must have numbers, of shape (n,) or (n, channels). Got {shown(recording)}.")
        named = zip(channel_names(one), one.units or [""] * self.channels, strict=True)
        self.described, self.rate = [{"name": name, "unit": unit} for name, unit in named], one.rate
        self.times = one.times if self.rate is None else EvenTimes(one.times, self.n)
        self.is_dated = self.times is not None and is_datetime(self.times[:1]) and self.times[:1].dtype.kind != "m"
        # Uneven times as numbers; datetimes as seconds from the first one.
        self._t = None if self.times is None or self.rate else as_times(self.times, self.n, "times")
        self.step = interval(self._t) or 1.0 / (self.rate or 1.0)
        has_gaps = self._t is not None and np.diff(self._t).max(initial=0.0) > LONG * self.step
        self.max_gap, self.gapped_times = (2.0 * self.step, self.times) if has_gaps else (None, None)
        self.gaps = holes(self._t, self.max_gap)  # the samples that follow a gap

    @property
    def mark(self):
        """A text that identifies the recording, from its shape, its type and some of its samples."""
        found = hashlib.sha256(f"{self.n} {self.channels} {self.values[:1].dtype}".encode())
        for start in np.linspace(0, max(self.n - PIECE, 0), PIECES).astype(int).tolist():
            found.update(np.ascontiguousarray(rows(self.values, start, start + PIECE)))
        return found.hexdigest()[:12]

    def label(self, sample, places=3):
        """Return the time of a sample as text: as written in the file, else in seconds or samples."""
        if self.times is None:
            return str(int(sample))
        time = times_at(self.times, [int(sample)])
        if not self.is_dated:
            return f"{numbers_of(time)[0]:.{places}f}"
        time = time.tz_localize(None) if getattr(time, "tz", None) is not None else time
        return str(np.asarray(time, "datetime64[us]")[0]).replace("T", " ")[: 19 + places + (places > 0)]

    def ticks(self, first, last, columns):
        """Return samples and labels of round times, far enough apart; a gap in the times takes no width."""
        ends, is_dated = np.array([int(first), min(int(last), self.n - 1)]), self.is_dated
        at = np.unique(np.linspace(*ends, max(columns, 2)).astype(int))
        t = at / (self.rate or 1.0) if self._t is None else self._t[at]
        begin, day = self.label(ends[0], 9), self.label(0)[:10]  # in local time
        begin = (np.datetime64(begin) - np.datetime64(day)) / np.timedelta64(1, "s") if is_dated else float(begin)
        least = max((ends[1] - ends[0]) * self.step / max(columns // APART, 2), 1.0 if self.times is None else 1e-12)
        power = 10.0 ** floor(log10(least))
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= least * (1 - 1e-9))
        if is_dated and least > 1:
            step = next((s for s in CLOCK if s >= least), np.ceil(least / DAY) * DAY)
        k = np.floor((t - t[0] + begin) / step + 1e-9)
        k = k[np.diff(k, prepend=np.ceil(begin / step - 1e-9) - 1) > 0]  # the last round time within a column
        at = k * step - begin + t[0]
        samples = np.rint(at * (self.rate or 1.0)) if self._t is None else np.searchsorted(self._t, at * (1 - 1e-12))
        samples = np.unique(np.clip(samples.astype(int), 0, self.n - 1)).tolist()
        texts = [self.label(sample, max(-floor(log10(step) + 1e-9), 0)) for sample in samples]
        if is_dated:  # add the date where it changes
            pairs, end = pairwise(["", *texts]), 10 if step >= DAY else 16 if step >= 60 else None
            texts = [text[11 * (step < DAY and text[:10] == before[:10]) : end] for before, text in pairs]
        return list(zip(samples, texts, strict=True))


class Session:
    """All that a page shows, and one method that takes its messages; no part of it knows of the web.

    Parameters
    ----------
    recording : str, path-like, Recording, object or array of shape (n,) or (n, channels)
        A file or an object that `sktslib.io.read` takes, a recording, or a table or array in memory or not.
    path : str or Path, optional
        File to which each change of the session is appended as a line, and from which the session is resumed. Several
        sessions may share it, even in several processes: each reads the lines that the others add. Exports are written
        next to it.
    name : str, optional
        The name of the recording.
    code : str, optional
        Lines of Python for exported scripts that read the recording as `X` of shape (n, channels) and `times`. Without
        them a copy of the recording is exported with a script.
    seed : int, default=0
        Seed of the matches drawn at random.
    """

    def __init__(self, recording, path=None, *, name="recording", code=None, seed=0):
        self.viewed, self.path, self.code = Viewed(recording), path and Path(path), code
        self.name, self.notice, self._seed, self._mark = name, None, seed, self.viewed.mark
        self.lock, self.pyramid = threading.RLock(), Pyramid(self.viewed.values)
        self.job = self.finds = self._made = None
        self.settings = {"metric": "auto", "normalize": None, "channels": list(range(self.viewed.channels))}
        self.queries, self.classes, self.answers = {}, {0: {"name": "match", "color": COLORS[0]}}, []
        self.thresholds, self.drawn, self.run = {}, {}, {}  # by key of the finds; by range; last search of each kind
        self._asked, self._turn, self._kept, self._jobs, self._seen, self.written = [], 0, {}, [], 0, set()
        if self.path is not None and self.path.exists() and self.path.read_bytes()[:2] not in (b"", START):
            raise refused("'path'", "name the file of a session", f"{path}, damaged or none", "Name another one.")
        self._catch_up()

    def handle(self, message):
        """Answer a message of the page; if it fails, the answer has the key `error`."""
        try:
            if (answer := getattr(self, f"_on_{message.get('type')}", None)) is None:
                raise ValueError(f"There is no message of type {message.get('type')!r}.")
            with self.lock:
                self._catch_up()
                return {**answer(message), "notice": self.notice}
        except (ValueError, TypeError, OSError, ImportError) as error:  # their texts say what is wrong
            return {"error": str(error)}
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error} (the terminal shows where)"}

    # ----------------------------------------------------------------------------------------------------- saved state
    def _catch_up(self):
        """Apply the changes in the file that the session does not have yet, such as those made in other windows."""
        if self.path is not None and self.path.exists():
            with open(self.path, "rb") as file:
                if file.seek(0, 2) < self._seen:
                    self._seen = 0
                    self.notice = f"{self.path.name} was replaced while it was open: what it holds is added."
                file.seek(self._seen)
                whole, end, _ = file.read().rpartition(b"\n")  # an incomplete line is completed by the next change
            self._seen += len(whole + end)
            for line in filter(None, whole.splitlines()):
                self._apply(line)

    def _apply(self, line):
        """Apply the change in a line of the file, if it is complete and belongs to this recording."""
        try:
            self._kept = {}
            mark, kind, *values = json.loads(line)
            if mark != self._mark:
                self.notice = f"This recording has changed since. Earlier marks and answers stay in {self.path.name}."
            elif kind == "answer":
                start, end, number, yes = map(int, values)
                if not (0 <= start < end <= self.viewed.n and 0 <= number < len(self.classes)):
                    raise ValueError
                self.answers.append([start, end, number, bool(yes)])
            elif kind == "undo":
                del self.answers[-1:]
            else:
                key, value = values
                if kind not in SAVED or (kind == "settings" and key not in self.settings):
                    raise ValueError
                if key is None:  # a new class, added here or in another window
                    key = len(self.classes)
                    value = {"name": f"class {key + 1}", "color": COLORS[key % len(COLORS)], **value}
                getattr(self, kind)[key] = value
        except (ValueError, TypeError, KeyError):
            self.notice = f"{self.path.name} is damaged: a line is left out, and stays there: {line[:50]!r}"

    def _change(self, *changes):
        """Make changes by appending them to the file, from where the session reads them; without a file, directly."""
        lines = [json.dumps([self._mark, *change]) for change in changes]
        try:
            if self.path is not None:
                with open(self.path, "ab") as file:  # in a single write, so that lines of other windows do not mix in
                    file.write("\n".join(["", *lines, ""]).encode())
                return self._catch_up()
        except OSError as error:
            self.notice = f"The session cannot be saved: {error}. Name a file in another folder for it."
        for line in lines:
            self._apply(line)

    # ---------------------------------------------------------------------------------------------- the whole recording
    def _on_open(self, message):
        found = {"name": self.name, "n": self.viewed.n, "settings": self.settings, **self.run, **self._standing()}
        found |= {"channels": self.viewed.described, "formats": [*_export.FORMS], "metrics": ["auto", *metric_names()]}
        found |= {"normalizations": [*NORMALIZATIONS], "classes": [*self.classes.values()]}
        found["times"] = "sample" if self.viewed.times is None else "" if self.viewed.is_dated else "s"
        job = len(self._jobs) - 1 if self.job is not None and self.job.is_alive() else None
        return {**found, "has_results": self.finds is not None, "job": job}

    def _on_view(self, message):
        viewed, first = self.viewed, max(min(float(message["first"]), self.viewed.n - 1), 0.0)
        columns = max(int(message["columns"]), 1)
        last = max(min(float(message["last"]), viewed.n), first + 1)
        marks = self.marks[(self.marks[:, 1] > first) & (self.marks[:, 0] < last)]
        edges, good = np.linspace(first, last, columns + 1), marks[marks[:, 3] != 0]
        each = (coverage(edges, *good[good[:, 2] == k, :2].T) for k in range(len(self.classes)))  # one per class
        few = len(marks) <= columns
        shown = {"marks": marks[:, :4].tolist()} if few else {"density": packed(np.minimum([*each], 1.0))}
        low, high = map(packed, self.pyramid.between(edges))
        gaps = viewed.gaps[slice(*np.searchsorted(viewed.gaps, [first, last]))][:columns].tolist()
        shown |= {"first": first, "last": last, "low": low, "high": high}
        ranges, ticks = [finite(pair) for pair in self.pyramid.ranges], viewed.ticks(first, last, columns)
        return {**shown, "ranges": ranges, "ticks": ticks, "ready": self.pyramid.ready, "gaps": gaps}

    def _picture(self, start, end):
        """Return a small picture of a piece of the recording, (channels, points)."""
        return packed(resample(rows(self.viewed.values, start, end).T.astype(float), POINTS))

    # ------------------------------------------------------------------------------------------------------- searches
    def _on_query(self, message):
        """Set the query of a class if the message has a range; describe the query."""
        own = self.queries.get(kind := self._class(message.get("class")))
        given = [message[name] for name in ("start", "end")] if "start" in message else own
        if given is None:
            return {}
        start, end = sorted(min(max(round(float(each)), 0), self.viewed.n) for each in given)
        if end - start < 2:
            raise ValueError(f"A query must have at least two samples. Got samples {start} to {end}. Drag further.")
        if own != [start, end]:
            self._change(["queries", kind, [start, end]])
        about = {"start": start, "end": end, "label": self.viewed.label(start), "points": POINTS}
        return about | {"picture": self._picture(start, end)}

    def _class(self, number):
        if not 0 <= (kind := int(number or 0)) < len(self.classes):
            raise ValueError(f"'class' must be from 0 to {len(self.classes) - 1}. Got {number}.")
        return kind

    def _begin(self, kind, work, queries, answers=()):
        """Start a job, and stop the running one."""
        if not queries and kind != "count":
            raise ValueError("There is no query yet: drag over a pattern, or count, which finds a period itself.")
        if self.job is not None:
            self.job.stopped.set()
        key = hashlib.sha256(json.dumps([kind, queries, self.settings, answers]).encode()).hexdigest()
        self._change(["run", "last", kind])

        def publish(job, finds, estimator):
            with self.lock:
                if job is self.job and not job.stopped.is_set():
                    self.finds, self._made, job.estimator = finds, job, estimator
                    self._kept, self._asked = {}, []

        self.job = Job(kind, key, Task(self.viewed, queries, **self.settings), work, publish)
        self._jobs.append(self.job)
        self.job.start()
        return {"job": len(self._jobs) - 1}

    def _on_search(self, message):
        given = {name: message.get(name, own) for name, own in self.settings.items()}
        channels = given["channels"] = sorted({int(k) for k in given["channels"]})
        if not channels or not 0 <= channels[0] <= channels[-1] < self.viewed.channels:
            raise ValueError(f"'channels' must be from 0 to {self.viewed.channels - 1}. Got {channels}.")
        kind = self._class(message.get("class", self.run.get("class")))
        self._change(*(["settings", *one] for one in given.items()), ["run", "class", kind])
        return self._begin("search", search, {k: query for k, query in self.queries.items() if k == kind})

    def _on_relearn(self, message):
        answers, finds = self._answers, self.finds
        if not len(answers):
            raise ValueError("There is nothing to learn from yet: drag over a pattern, and answer for some matches.")
        # A class without a query uses its first match as the query.
        first = {kind: [start, end] for start, end, kind, yes in answers[::-1].tolist() if yes}
        queries = dict(sorted((first | self.queries).items()))
        numbers = np.where(answers[:, 3], np.searchsorted(list(queries), answers[:, 2]), -1)
        known = finds, answers[:, :2], numbers
        return self._begin("relearn", lambda job: search(job, known), queries, answers.tolist())

    def _on_segment(self, message):
        return self._begin("segment", segmented, dict(sorted(self.queries.items())))

    def _on_count(self, message):
        return self._begin("count", segmented, {})

    def _on_progress(self, message):
        job = self._jobs[int(message["job"])]
        found = {"state": job.state, "share": 1.0 if job.state == "done" else job.share, "error": job.error}
        return {**found, "n_matches": len(self.finds.start) if job is self._made else 0, "notes": job.notes}

    def _on_cancel(self, message):
        self._jobs[int(message["job"])].stopped.set()
        return {}

    # --------------------------------------------------------------------------------------------- finds and answers
    @cached
    def _answers(self):
        """Rows of the answers that are still valid, sorted by range."""
        every = np.array(self.answers, int).reshape(-1, 4)
        earlier, later = pairs_by_iou(every[:, :2], every[:, :2], SHIFTED)
        every = np.delete(every, earlier[earlier < later], axis=0)
        return every[np.argsort(every[:, 0], kind="stable")]

    @cached
    def _states(self):
        """Answers to the finds (1, 0, or -1 without one), their classes, and the rows of these answers (or -1)."""
        finds, answers = self.found_by() and self.finds, np.vstack([self._answers, np.full(4, -1)])
        which = same(ranges_of(finds), self._answers[:, :2])
        own = np.array([*self._made.task.queries, 0]).take(finds.query, mode="clip")  # a count has no class
        return answers[which, 3], np.where(which < 0, own, answers[which, 2]), which

    @property
    def threshold(self):
        """The largest distance of a match, as chosen or else as proposed."""
        chosen = self.thresholds.get(self._made.key)
        return self.finds.limit if chosen is None else chosen

    @property
    def _within(self):
        return int(np.searchsorted(self.finds.distance, self.threshold, "right"))

    @cached
    def _are_drawn(self):
        """Whether each find within the threshold was drawn at random."""
        drawn = np.array([self._range(name) for name in self.drawn], int).reshape(-1, 2)
        return same(ranges_of(self.finds)[: self._within], drawn) >= 0

    @cached
    def marks(self):
        """Rows (start, end, class, answer, index) of finds within the threshold and of answers, sorted by start.

        An answer is 1, 0, or -1 without one; the index is -1 for an answer that belongs to no find.
        """
        every = np.column_stack([self._answers, np.full(len(self._answers), -1)])
        if self.finds is not None:
            answer, kind, which = self._states
            k = np.flatnonzero((np.arange(len(answer)) < self._within) | (answer >= 0))
            finds = np.column_stack([self.finds.start[k], self.finds.end[k], kind[k], answer[k], k])
            every = np.concatenate([np.delete(every, which[which >= 0], axis=0), finds])
        return every[np.argsort(every[:, 0], kind="stable")]

    def found_by(self):
        """Return the job that made the finds."""
        if self.finds is None:
            raise ValueError("Nothing has been searched for yet: drag over the pattern that you look for.")
        return self._made

    def _rows(self, which):
        """Return finds, given by their indices, in the form that the page shows."""
        finds, (answer, kind, _), rows = self.finds, self._states, []
        beside = {name: getattr(finds.table and finds.table[which], name, None) for name in ("scale", "offset")}
        for i, k in enumerate(which):
            start, end, distance = finds.start[k].item(), finds.end[k].item(), finds.distance[k].item()
            about = {name: None if each is None else finite(each[i]) for name, each in beside.items()}
            about |= {"id": f"{start}-{end}", "start": start, "end": end, "distance": distance, "points": POINTS}
            about |= {"label": self.viewed.label(start), "class": int(kind[k]), "within": k < self._within}
            about["q"] = None if finds.q is None else finite(finds.q[k])[0]
            rows.append(about | {"answer": [False, True, None][answer[k]], "picture": self._picture(start, end)})
        return rows

    def _on_matches(self, message):
        self.found_by()
        by_time, starts = message.get("order") == "time", self.finds.start
        order = np.argsort(starts[: self._within], kind="stable") if by_time else np.arange(len(starts))
        limit, first = int(message.get("limit", 50)), int(message.get("offset", 0))
        if "around" in message:  # return the page of the list that holds this match, or its place in time
            start, end = self._range(message["around"])
            at = [*np.flatnonzero((starts == start) & (self.finds.end == end)), 0][0]
            at = min(np.searchsorted(starts[order], start), max(len(order) - 1, 0)) if by_time else at
            first = int(at) // limit * limit
        return {"total": len(order), "offset": first, "rows": self._rows(order[first : first + limit].tolist())}

    def _on_threshold(self, message):
        self.found_by()
        if "value" in message:
            self._change(["thresholds", self._made.key, None if (value := message["value"]) is None else float(value)])
        (decoys, count, known), distance = self.finds.chance or ((), 1, -1.0), self.finds.distance
        expected = np.searchsorted(decoys, self.threshold, "right") / count if self.threshold <= known else None
        near = without_outliers(distance)  # a few extreme values must not squeeze the others
        counts, edges = np.histogram(near, BINS, (0.0, near.max(initial=0.0) or 1.0))
        about = {"edges": edges.tolist(), "counts": counts.tolist(), "beyond": len(distance) - len(near)}
        found = {"value": self.threshold, "n": self._within, "expected_false": expected and float(expected)}
        return {**found, "histogram": {**about, "largest": float(distance.max(initial=0.0))}}

    def _on_next(self, message):
        left, self._turn, pair = self._states[0] < 0, self._turn + 1, ()
        while self._turn % IN_TURN == 0:  # until a randomly drawn one has no answer yet
            drawn = self._are_drawn
            pair = np.flatnonzero(drawn & left[: len(drawn)])[:1]
            if len(pair) or drawn.all():
                break
            # Draw from all other finds, whether answered or not.
            k = np.random.default_rng([self._seed, len(self.drawn)]).choice(np.flatnonzero(~drawn))
            self._change(["drawn", f"{self.finds.start[k]}-{self.finds.end[k]}", True])
        if not (is_random := len(pair) > 0):
            new = np.setdiff1d(np.flatnonzero(left), self._asked, assume_unique=True)
            if not len(new):
                new, self._asked = np.flatnonzero(left), []
            at = int(np.searchsorted(new, self._within))
            pair = new[max(at - 1, 0) : at + 1]  # the nearest finds below and above the threshold
        if not len(pair):
            return {"id": None}
        self._asked.append(int(pair[self._turn % len(pair)]))
        row = self._rows(self._asked[-1:])[0]
        return {"id": row["id"], "why": "random" if is_random else "uncertain", "row": row}

    def _range(self, name):
        """Return the samples of a match from its name, START-END."""
        return samples_of(slice_of(str(name), "'id'"), None, None, self.viewed.n, "'id'")

    def _on_answer(self, message):
        at, kind = self._range(message["id"]), self._class(message.get("class"))
        self._change(["answer", *at, kind, bool(message["yes"])])
        return self._standing()

    def _on_undo(self, message):
        if not self.answers:
            raise ValueError("There is no answer to take back.")
        start, end, *_ = self.answers[-1]
        self._change(["undo"])
        return {**self._standing(), "id": f"{start}-{end}", "start": start, "end": end}

    def _standing(self):
        """Return the number of answered ranges, and the precision estimated from those drawn at random."""
        said = np.empty(0) if self.finds is None else self._states[0][: self._within][self._are_drawn]
        said = said[said >= 0]
        return {"n_answers": len(self._answers), "precision": wilson(int(sum(said)), len(said)) if len(said) else None}

    def _on_class(self, message):
        number = None if message.get("number") is None else self._class(message["number"])
        given = {name: message[name] for name in ("name", "color") if message.get(name)}
        self._change(["classes", number, {**self.classes.get(number, {}), **given}])
        return {"classes": [*self.classes.values()]}

    def mark(self, ranges, labels):
        """Set ranges (k, 2) that are known occurrences, with the names of their classes, before the page opens."""
        names, kinds = np.unique(np.asarray(labels, str), return_inverse=True)
        for k, name in enumerate(names.tolist()):
            self._on_class({"name": name, "number": k if k < len(self.classes) else None})
        self._change(*(["answer", *answer, True] for answer in np.column_stack([ranges, kinds]).tolist()))

    def _on_export(self, message):
        return _export.export(self, message["what"], message.get("format") or "csv")
