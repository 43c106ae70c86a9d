"""The state of a page: a recording, what is searched for, what was found and what was answered."""

import base64
import hashlib
import json
import threading
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._plots.base import coverage
from .._plots.pyramid import Pyramid, rows
from ..distances import metric_names
from ..distances._series import resample
from ..metrics._events import pairs_by_iou
from ..search import Matches
from ..search._learning.background import SHIFTED
from . import _export
from ._recording import Viewed
from ._work import Job, Task, learned, same, search, segmented

COLORS = "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2"
NORMALIZATIONS = None, "zscore", "mean", "minmax", "robust"
POINTS = 64  # of a picture
BINS = 60  # of the histogram of distances
IN_TURN = 5  # of which one is drawn at random
SAVED = "settings", "queries", "classes", "thresholds", "drawn", "run"
START = b"\n["  # of the file of a session
NO_FINDS = "Nothing was searched for yet: drag over the pattern that you look for."
NO_QUERY = "There is no query yet: drag over the pattern that you look for, or count, which finds a period itself."


class Answer(NamedTuple):
    """An answer about a range."""

    start: int
    end: int
    yes: bool
    kind: int  # number of its class


class Made(NamedTuple):
    """Whence finds come."""

    job: Job
    task: Task
    estimator: object
    kind: str  # the message that asked for them
    key: str  # of all that they depend on


class Marks(NamedTuple):
    """Ranges of a recording that are shown, in order of time."""

    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    answer: np.ndarray  # 1, 0 or -1 without one
    distance: np.ndarray


def packed(values):
    """Return an array as JSON holds it."""
    return {"f32": base64.b64encode(np.ascontiguousarray(values, "<f4")).decode()}


def finite(values):
    """Return numbers as JSON holds them; None stays None."""
    return None if values is None else [v if np.isfinite(v) else None for v in np.ravel(values).tolist()]


def wilson(right, n):
    """Return a share and the interval of Wilson that holds it with 95 %."""
    from scipy.stats import binomtest

    low, high = binomtest(right, n).proportion_ci(method="wilson")
    return {"value": right / n, "low": float(low), "high": float(high), "n": n}


def cached(make):
    """Return a property that is computed once after each change of the session."""
    return property(lambda self: self._kept[make] if make in self._kept else self._kept.setdefault(make, make(self)))


class Session:
    """All that a page shows, and one method that takes its messages; no part of it knows of the web.

    Parameters
    ----------
    recording : str, path-like, Recording, object or array of shape (n,) or (n, channels)
        A file or an object that `sktslib.io.read` takes, a recording, or a table or array in memory or not.
    path : str or Path, optional
        Where each change of the session is appended as a line, and read from when it is opened again. Several sessions
        may share it, also of several processes: each takes over what the others add. Exports are written next to it.
    name : str, optional
        What the recording is called.
    code : str, optional
        Lines of Python that read the recording as `X` of shape (n, channels) and `times`, for scripts. Without them an
        exported script brings a copy of the recording.
    seed : int, default=0
        What the matches that are asked about at random are drawn by.
    **given
        `times`, `rate`, `names`, `units` in place of the recording's own.
    """

    def __init__(self, recording, path=None, *, name="recording", code=None, seed=0, **given):
        self.viewed, self.path, self.code = Viewed(recording, **given), path and Path(path), code
        self.name, self.notice, self._seed, self._mark = name, None, seed, self.viewed.mark
        self.lock, self.pyramid = threading.RLock(), Pyramid(self.viewed.values)
        self.job = self.finds = self._made = None
        self.settings = {"metric": "auto", "normalize": None, "channels": list(range(self.viewed.channels))}
        self.queries, self.classes, self.answers = {}, {0: {"name": "match", "color": COLORS[0]}}, []
        self.thresholds, self.drawn, self.run = {}, {}, {}  # by keys of finds, by ranges, and the last kind of work
        self._asked, self._turn, self._kept, self._jobs, self._seen = [], 0, {}, [], 0
        if self.path is not None and self.path.exists() and self.path.read_bytes()[:2] not in (b"", START):
            rule = "'path' must name the file of a session, or a new one"
            raise ValueError(f"{rule}. Got {path}, which is damaged or holds something else. Name another one.")
        self._catch_up()

    def handle(self, message):
        """Answer a message of the page; what cannot be done is an answer with `error`."""
        try:
            answer = getattr(self, f"_on_{message.get('type')}", None)
            if answer is None:
                raise ValueError(f"There is no message of type {message.get('type')!r}.")
            with self.lock:
                self._catch_up()
                return {**answer(message), "notice": self.notice}
        except (ValueError, TypeError, OSError, ImportError) as error:  # which say what is wrong and what to do
            return {"error": str(error)}
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error} (the terminal shows where)"}

    # ----------------------------------------------------------------------------------------------------- saved state
    def _catch_up(self):
        """Apply the changes that the file has and the session has not: at first all, then those of any window."""
        if self.path is not None and self.path.exists():
            with open(self.path, "rb") as file:
                file.seek(self._seen)
                for line in file:
                    if not line.endswith(b"\n"):  # not whole; the next change ends it
                        break
                    if line.strip():
                        self._apply(line)
                    self._seen += len(line)

    def _apply(self, line):
        """Make the change that a line of the file holds, if it is whole and of this recording."""
        try:
            self._kept = {}
            mark, kind, *values = json.loads(line)
            if mark != self._mark:
                self.notice = f"This recording has changed since. What was said of it before stays in {self.path.name}."
            elif kind == "answer":
                self.answers.append(Answer(*values))
            elif kind == "undo":
                del self.answers[-1:]
            else:
                key, value = values
                {name: getattr(self, name) for name in SAVED}[kind][key] = value
        except (ValueError, TypeError, KeyError):
            self.notice = f"{self.path.name} is damaged: its line at byte {self._seen} is left out, and stays there."

    def _change(self, *changes):
        """Make changes: append them to the file, from which they come into the session; without one make them alone."""
        lines = [json.dumps([self._mark, *change]) for change in changes]
        try:
            if self.path is not None:
                with open(self.path, "ab", buffering=0) as file:  # one call, which no other window's parts
                    file.write("\n".join(["", *lines, ""]).encode())
                return self._catch_up()
        except OSError as error:
            self.notice = f"The session cannot be saved: {error}. Name a file in another folder for it."
        for line in lines:
            self._apply(line)

    # -------------------------------------------------------------------------------------------- what is seen of all
    def _on_open(self, message):
        names, query = zip(self.viewed.names, self.viewed.units, strict=True), self.queries.get(0)
        found = {
            "name": self.name,
            "n": self.viewed.n,
            "ready": self.pyramid.ready,
            "settings": self.settings,
            **self.run,
        }
        found |= {"channels": [{"name": name, "unit": unit} for name, unit in names], "formats": [*_export.FORMS]}
        found |= {"metrics": ["auto", *metric_names()], "normalizations": NORMALIZATIONS, **self._standing()}
        found |= {"has_results": self.finds is not None, "classes": [*self.classes.values()]}
        found["job"] = len(self._jobs) - 1 if self.job is not None and self.job.is_alive() else None
        return {**found, "query": query and {"start": query[0], "end": query[1]}}

    def _on_view(self, message):
        first, columns = max(min(float(message["first"]), self.viewed.n - 1), 0.0), max(int(message["columns"]), 1)
        last = max(min(float(message["last"]), self.viewed.n), first + 1)
        begin = int(np.searchsorted(np.maximum.accumulate(self.marks.end), first, "right"))
        marks = Marks(*(column[begin : np.searchsorted(self.marks.start, last)] for column in self.marks))
        if len(marks.start) <= columns:
            shown = {"marks": [self._mark_of(*mark) for mark in zip(*(c.tolist() for c in marks), strict=True)]}
        else:
            shown = {"density": packed(self._density(marks, np.linspace(first, last, columns + 1)))}
        low, high = map(packed, self.pyramid.view(first, last, columns))
        gaps = self.viewed.gaps[slice(*np.searchsorted(self.viewed.gaps, [first, last]))][:columns].tolist()
        shown |= {"first": first, "last": last, "low": low, "high": high, "ready": self.pyramid.ready, "gaps": gaps}
        shown["ranges"] = [finite(pair) for pair in self.pyramid.ranges]
        return {**shown, "ticks": self.viewed.ticks(first, last, columns)}

    def _mark_of(self, start, end, kind, answer, distance):
        known = {"answer": None if answer < 0 else answer == 1, "class": kind if answer else None}
        return {"id": f"{start}-{end}", "start": start, "end": end, "distance": finite(distance)[0], **known}

    def _density(self, marks, edges):
        """Return the share of each column that marks of each class cover."""
        out = []
        for k in range(len(self.classes)):
            start, end = np.array(marks[:2])[:, (marks.kind == k) & (marks.answer != 0)]
            until = np.append(0, np.maximum.accumulate(end))
            start = np.maximum(start, until[:-1])  # what marks share counts once
            out.append(coverage(edges, start, np.maximum(until[1:], start)))
        return out

    def _picture(self, start, end):
        """Return a piece (channels, points) of the recording as a small picture."""
        y = rows(self.viewed.values, start, end).T.astype(float)
        return packed(resample(y, POINTS) if y.shape[1] > 1 else np.repeat(y, POINTS, axis=1))

    # ------------------------------------------------------------------------------------------------------- searches
    def _on_query(self, message):
        start, end = sorted(min(max(round(float(message[name])), 0), self.viewed.n) for name in ("start", "end"))
        if end - start < 2:
            raise ValueError(f"A query must have two samples at least. Got samples {start} to {end}. Drag further.")
        self._change(["queries", self._class(message.get("class")), [start, end]])
        about = {"start": start, "end": end, "label": self.viewed.label(start), "picture": self._picture(start, end)}
        return {**about, "channels": self.viewed.channels, "points": POINTS}

    def _class(self, number):
        if not 0 <= int(number or 0) < len(self.classes):
            raise ValueError(f"'class' must be from 0 to {len(self.classes) - 1}. Got {number}.")
        return int(number or 0)

    def _begin(self, kind, work, queries, answers=()):
        """Begin work in place of what runs; it takes a job, a task and a function that shows finds."""
        if self.job is not None:
            self.job.stopped.set()
        task = Task(self.viewed, list(queries.values()), **self.settings)
        key = hashlib.sha256(json.dumps([kind, queries, self.settings, answers]).encode()).hexdigest()
        self._change(["run", "last", kind])

        def publish(finds, estimator):
            with self.lock:
                if job is self.job and not job.stopped.is_set():
                    self.finds = finds._replace(classes=dict(enumerate(queries)))
                    self._made = Made(job, task, estimator, kind, key)
                    self._kept, self._asked = {}, []

        self.job = job = Job(lambda job: work(job, task, publish))
        self._jobs.append(job)
        job.start()
        return {"job": len(self._jobs) - 1}

    def _on_search(self, message):
        given = {name: message.get(name, own) for name, own in self.settings.items()}
        given["channels"] = sorted({int(k) for k in given["channels"]})
        if not given["channels"] or not set(given["channels"]) <= set(range(self.viewed.channels)):
            raise ValueError(f"'channels' must be from 0 to {self.viewed.channels - 1}. Got {given['channels']}.")
        if 0 not in self.queries:
            raise ValueError(NO_QUERY)
        self._change(*(["settings", *one] for one in given.items()))
        return self._begin("search", search, {0: self.queries[0]})

    def _on_relearn(self, message):
        answers, finds, queries = self._answers, self.finds, dict(self.queries)
        for start, end, yes, kind in answers.tolist():  # a class without a query has its first match
            if yes:
                queries.setdefault(kind, [start, end])
        if not len(answers) or not queries:
            raise ValueError("There is nothing to learn from yet: drag over a pattern, and answer for some matches.")
        queries = dict(sorted(queries.items()))
        numbers = np.where(answers[:, 2], np.searchsorted(list(queries), answers[:, 3]), -1)

        def work(job, task, publish):
            search(job, task, publish, learned(job, task, finds, answers[:, :2], numbers))

        return self._begin("relearn", work, queries, answers.tolist())

    def _on_segment(self, message):
        if not self.queries:
            raise ValueError(NO_QUERY)
        return self._begin("segment", segmented, dict(sorted(self.queries.items())))

    def _on_count(self, message):
        return self._begin("count", segmented, {})

    def _on_progress(self, message):
        job = self._jobs[int(message["job"])]
        found = {"state": job.state, "share": 1.0 if job.state == "done" else job.share, "error": job.error}
        is_shown = self._made is not None and self._made.job is job
        return {**found, "n_matches": len(self.finds.start) if is_shown else 0, "notes": job.notes}

    def _on_cancel(self, message):
        self._jobs[int(message["job"])].stopped.set()
        return {}

    # --------------------------------------------------------------------------------------------- finds and answers
    @cached
    def _answers(self):
        """Rows of the answers that hold, of ranges in order of time."""
        every = np.array(self.answers, int).reshape(-1, 4)
        earlier, later = pairs_by_iou(every[:, :2], every[:, :2], SHIFTED)
        every = np.delete(every, earlier[earlier < later], axis=0)
        return every[np.argsort(every[:, 0], kind="stable")]

    @cached
    def _states(self):
        """Answers of the finds (1, 0 or -1 without one), their classes, and their rows of the answers, or -1."""
        finds, answers = self.found_by() and self.finds, np.vstack([self._answers, np.full(4, -1)])
        which = same(np.column_stack(finds[:2]), self._answers[:, :2])
        own = np.array([finds.classes.get(k, 0) for k in range(finds.query.max(initial=0) + 1)])[finds.query]
        return answers[which, 2], np.where(which < 0, own, answers[which, 3]), which

    @property
    def threshold(self):
        """The largest distance of a match, chosen or else proposed."""
        chosen = self.thresholds.get(self._made.key)
        return self.finds.limit if chosen is None else chosen

    @property
    def _within(self):
        return int(np.searchsorted(self.finds.distance, self.threshold, "right"))

    @property
    def _are_drawn(self):
        """Whether each find within the threshold was drawn at random."""
        drawn = np.array([self._range(name) for name in self.drawn], int).reshape(-1, 2)
        return same(np.column_stack(self.finds[:2])[: self._within], drawn) >= 0

    @cached
    def marks(self):
        """Finds within the threshold, and all that is answered."""
        start, end, yes, kind = self._answers.T
        parts = [Marks(start, end, kind, yes, np.full(len(start), np.nan))]
        if self.finds is not None:
            answer, own, which = self._states
            shown = (np.arange(len(answer)) < self._within) | (answer >= 0)
            alone = np.setdiff1d(np.arange(len(start)), which)
            finds = Marks(self.finds.start, self.finds.end, own, answer, self.finds.distance)
            parts = [[column[alone] for column in parts[0]], [column[shown] for column in finds]]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return Marks(*(column[order] for column in columns))

    def found_by(self):
        """Return what made the finds."""
        if self.finds is None:
            raise ValueError(NO_FINDS)
        return self._made

    def _row(self, k):
        """Return a find as the page shows it."""
        (start, end, _, distance), (answer, kind, _) = (c[k].item() for c in self.finds[:4]), self._states
        table = self.finds.table[[k]] if isinstance(self.finds.table, Matches) else None
        q = None if self.finds.q is None else finite(self.finds.q[k])[0]
        about = {name: finite(getattr(table, name, None)) for name in ("scale", "offset")}
        about |= {"id": f"{start}-{end}", "start": start, "end": end, "distance": distance, "q": q}
        about |= {"label": self.viewed.label(start), "class": int(kind[k]), "within": k < self._within}
        about |= {"answer": None if answer[k] < 0 else bool(answer[k]), "points": POINTS}
        return about | {"picture": self._picture(start, end)}

    def _on_matches(self, message):
        self.found_by()
        order = np.arange(len(self.finds.start))
        if message.get("order") == "time":
            order = np.argsort(self.finds.start[: self._within], kind="stable")
        limit, first = int(message.get("limit", 50)), int(message.get("offset", 0))
        if "around" in message:  # the page that holds this match
            ranges = np.column_stack(self.finds[:2])[order]
            at = np.flatnonzero((ranges == self._range(message["around"])).all(axis=1))
            first = int(at[0]) // limit * limit if len(at) else 0
        found = [self._row(k) for k in order[first : first + limit].tolist()]
        return {"total": len(order), "offset": first, "rows": found}

    def _on_threshold(self, message):
        self.found_by()
        if "value" in message:
            value = None if message["value"] is None else float(message["value"])
            self._change(["thresholds", self._made.key, value])
        (decoys, count, known), distance = self.finds.chance or ((), 1, -1.0), self.finds.distance
        expected = np.searchsorted(decoys, self.threshold, "right") / count if self.threshold <= known else None
        counts, edges = np.histogram(distance, BINS, (0.0, distance.max(initial=0.0) or 1.0))
        found = {"value": self.threshold, "n": self._within, "expected_false": expected and float(expected)}
        return {**found, "histogram": {"edges": edges.tolist(), "counts": counts.tolist()}}

    def _on_next(self, message):
        answer, self._turn = self._states[0], self._turn + 1
        drawn = self._are_drawn
        while self._turn % IN_TURN == 0:
            if (waiting := np.flatnonzero(drawn & (answer[: len(drawn)] < 0))).size:
                return self._question("random", waiting[0])
            if drawn.all():
                break
            # Of all others within, so that some have an answer already.
            k = np.random.default_rng([self._seed, len(self.drawn)]).choice(np.flatnonzero(~drawn))
            self._change(["drawn", self._name(k), True])
            drawn[k] = True
        is_new = answer < 0
        is_new[np.array(self._asked, int)] = False
        if not is_new.any():
            self._asked, is_new = [], answer < 0
        left = np.flatnonzero(is_new)
        at = int(np.searchsorted(left, self._within))
        pair = left[max(at - 1, 0) : at + 1]  # the next below the threshold and the next above
        if not len(pair):
            return {"id": None}
        self._asked.append(pair[self._turn % len(pair)])
        return self._question("uncertain", self._asked[-1])

    def _question(self, why, k):
        row = self._row(int(k))
        return {"id": row["id"], "why": why, "row": row}

    def _name(self, k):
        return f"{self.finds.start[k]}-{self.finds.end[k]}"

    def _range(self, name):
        """Return the samples of a match by its name, START-END."""
        start, _, end = str(name).partition("-")
        if not (start.isdigit() and end.isdigit() and int(start) < int(end) <= self.viewed.n):
            raise ValueError(f"'id' must be that of a match, START-END. Got {name!r}.")
        return int(start), int(end)

    def _on_answer(self, message):
        at, kind = self._range(message["id"]), self._class(message.get("class"))
        self._change(["answer", *at, bool(message["yes"]), kind])
        return self._standing()

    def _on_undo(self, message):
        if not self.answers:
            raise ValueError("There is no answer that could be taken back.")
        last = self.answers[-1]
        self._change(["undo"])
        return {**self._standing(), "id": f"{last.start}-{last.end}"}

    def _standing(self):
        """Return how many ranges are answered, and the precision by those that were drawn at random."""
        said = [] if self.finds is None else self._states[0][: self._within][self._are_drawn]
        return {"n_answers": len(self._answers), "precision": wilson(int(sum(said)), len(said)) if len(said) else None}

    def _on_class(self, message):
        number = len(self.classes) if message.get("number") is None else self._class(message["number"])
        own = self.classes.get(number, {"name": f"class {number + 1}", "color": COLORS[number % len(COLORS)]})
        given = {name: message[name] for name in ("name", "color") if message.get(name)}
        self._change(["classes", number, {**own, **given}])
        return {"classes": [*self.classes.values()]}

    def mark(self, ranges, labels):
        """Add ranges (k, 2) that are known to be occurrences, with the names of their classes."""
        with self.lock:
            kinds = {one["name"]: k for k, one in self.classes.items()} if self.answers else {}
            for name in dict.fromkeys(map(str, labels)):
                if name not in kinds:
                    kinds[name] = len(kinds)
                    self._on_class({"name": name, "number": kinds[name] if kinds[name] < len(self.classes) else None})
            kinds = [kinds[str(name)] for name in labels]
            self._change(*(["answer", *map(int, at), True, k] for at, k in zip(ranges, kinds, strict=True)))

    def _on_export(self, message):
        return _export.export(self, message["what"], message.get("format"), message.get("path"))
