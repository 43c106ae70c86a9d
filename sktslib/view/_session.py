"""The state of a page: a recording, what is searched for, what was found and what was answered."""

import base64
import json
import os
import threading
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
SAVED = "settings", "queries", "classes", "answers"
NO_FINDS = "Nothing was searched for yet: drag over the pattern that you look for."
NO_QUERY = "There is no query yet: drag over the pattern that you look for, or count, which finds a period itself."


class Answer(NamedTuple):
    """An answer about a range."""

    start: int
    end: int
    yes: bool
    kind: int  # number of its class
    random: bool  # whether it was drawn at random, at some time


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
        Where the session is saved after each change, and opened if it is there. Exports are written next to it.
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
        self.job = self.finds = self.chosen = self._made = None
        self.settings = {"metric": "auto", "normalize": None, "channels": list(range(self.viewed.channels))}
        self.queries, self.classes, self.answers = {}, [{"name": "match", "color": COLORS[0]}], []
        self._asked, self._random, self._turn, self._kept, self._jobs = [], set(), 0, {}, []
        if self.path is not None and self.path.exists():
            self._open()

    def handle(self, message):
        """Answer a message of the page; what cannot be done is an answer with `error`."""
        answer = getattr(self, f"_on_{message.get('type')}", None)
        try:
            if answer is None:
                raise ValueError(f"There is no message of type {message.get('type')!r}.")
            with self.lock:
                return answer(message)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)}

    # ----------------------------------------------------------------------------------------------------- saved state
    def _open(self):
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            answers, classes = [Answer(*one) for one in saved["answers"]], [{**one} for one in saved["classes"]]
            queries = {int(k): [int(start), int(end)] for k, (start, end) in saved["queries"].items()}
            settings = {**self.settings, **saved["settings"]}
            why = "is of another recording: this one has changed since"
            if saved["recording"] == self._mark:
                self.answers, self.queries, self.settings, self.classes = answers, queries, settings, classes
                return
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"is damaged ({type(error).__name__}: {error})"
        kept = (self.path.with_suffix(f".{k}.json") for k in range(1, 10_000))
        kept = self.path.rename(next(one for one in kept if not one.exists()))
        self.notice = f"The saved session {why}. It was kept as {kept.name}, and a new one begins."

    def _save(self):
        """Write the session, as a whole or not at all."""
        self._kept = {}
        if self.path is not None:
            new, state = self.path.with_name(f"{self.path.name}.new"), {name: getattr(self, name) for name in SAVED}
            try:
                new.write_text(json.dumps({"recording": self._mark, **state}), encoding="utf-8")
                os.replace(new, self.path)
            except OSError as error:
                self.notice = f"The session cannot be saved: {error}. Name a file in another folder for it."

    # -------------------------------------------------------------------------------------------- what is seen of all
    def _on_open(self, message):
        names, query = zip(self.viewed.names, self.viewed.units, strict=True), self.queries.get(0)
        job = len(self._jobs) - 1 if self.job is not None and self.job.is_alive() else None
        found = {"name": self.name, "n": self.viewed.n, "ready": self.pyramid.ready, "notice": self.notice, "job": job}
        found |= {"channels": [{"name": name, "unit": unit} for name, unit in names], "classes": self.classes}
        found |= {"metrics": ["auto", *metric_names()], "normalizations": NORMALIZATIONS, "settings": self.settings}
        found |= {"has_results": self.finds is not None, **self._standing()}
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
        self.queries[self._class(message.get("class"))] = [start, end]
        self._save()
        about = {"start": start, "end": end, "label": self.viewed.label(start), "picture": self._picture(start, end)}
        return {**about, "channels": self.viewed.channels, "points": POINTS}

    def _class(self, number):
        if not 0 <= int(number or 0) < len(self.classes):
            raise ValueError(f"'class' must be from 0 to {len(self.classes) - 1}. Got {number}.")
        return int(number or 0)

    def _begin(self, work, queries, *, relearned=False):
        """Begin work in place of what runs; it takes a job, a task and a function that shows finds."""
        if self.job is not None:
            self.job.stopped.set()
        own = dict(enumerate(queries))
        task = Task(self.viewed, list(queries.values()), **self.settings)

        def publish(finds, estimator):
            with self.lock:
                if job is self.job and not job.stopped.is_set():
                    if self._made is None or self._made[0] is not job:
                        self.chosen = None
                    self.finds, self._made = finds._replace(classes=own), (job, task, estimator, relearned)
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
        self.settings = given
        self._save()
        return self._begin(search, {0: self.queries[0]})

    def _on_relearn(self, message):
        answers, finds, queries = self._answers, self.finds, dict(self.queries)
        for start, end, yes, kind, *_ in answers.tolist():  # a class without a query has its first match
            if yes:
                queries.setdefault(kind, [start, end])
        if not len(answers) or not queries:
            raise ValueError("There is nothing to learn from yet: drag over a pattern, and answer for some matches.")
        queries = dict(sorted(queries.items()))
        numbers = np.where(answers[:, 2], np.searchsorted(list(queries), answers[:, 3]), -1)

        def work(job, task, publish):
            search(job, task, publish, learned(job, task, finds, answers[:, :2], numbers))

        return self._begin(work, queries, relearned=True)

    def _on_segment(self, message):
        if not self.queries:
            raise ValueError(NO_QUERY)
        return self._begin(segmented, dict(sorted(self.queries.items())))

    def _on_count(self, message):
        return self._begin(segmented, {})

    def _on_progress(self, message):
        job = self._jobs[int(message["job"])]
        found = {"state": job.state, "share": 1.0 if job.state == "done" else job.share, "error": job.error}
        is_shown = self._made is not None and self._made[0] is job
        return {**found, "n_matches": len(self.finds.start) if is_shown else 0, "notes": job.notes}

    def _on_cancel(self, message):
        self._jobs[int(message["job"])].stopped.set()
        return {}

    # --------------------------------------------------------------------------------------------- finds and answers
    @cached
    def _answers(self):
        """Rows of the answers that hold, of ranges in order of time, and last the number of each."""
        every = np.array([(*one, k) for k, one in enumerate(self.answers)], int).reshape(-1, 6)
        earlier, later = pairs_by_iou(every[:, :2], every[:, :2], SHIFTED)
        every = np.delete(every, earlier[earlier < later], axis=0)
        return every[np.argsort(every[:, 0], kind="stable")]

    @cached
    def _states(self):
        """Answers of the finds (1, 0 or -1 without one), their classes, and their rows of the answers, or -1."""
        finds, answers = self.found_by() and self.finds, np.vstack([self._answers, np.full(6, -1)])
        which = same(np.column_stack(finds[:2]), self._answers[:, :2])
        own = np.array([finds.classes.get(k, 0) for k in range(finds.query.max(initial=0) + 1)])[finds.query]
        return answers[which, 2], np.where(which < 0, own, answers[which, 3]), which

    @property
    def threshold(self):
        """The largest distance of a match, chosen or else proposed."""
        return self.finds.limit if self.chosen is None else self.chosen

    @property
    def _within(self):
        return int(np.searchsorted(self.finds.distance, self.threshold, "right"))

    @property
    def _are_drawn(self):
        """Whether each find within the threshold was drawn at random."""
        return np.append(self._answers[:, 4], 0)[self._states[2][: self._within]] == 1

    @cached
    def marks(self):
        """Finds within the threshold, and all that is answered."""
        start, end, yes, kind = self._answers[:, :4].T
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

    def labels(self):
        """Return ranges in order of time and the names of their classes: finds within the threshold, and answers."""
        own = self.marks.answer != 0
        return np.column_stack(self.marks[:2])[own], [self.classes[k]["name"] for k in self.marks.kind[own]]

    def found_by(self):
        """Return the job, the task and the estimator of the finds, and whether it learned from answers."""
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
            self.chosen, self._kept = None if message["value"] is None else float(message["value"]), {}
        (decoys, count, known), distance = self.finds.chance or ((), 1, -1.0), self.finds.distance
        expected = np.searchsorted(decoys, self.threshold, "right") / count if self.threshold <= known else None
        counts, edges = np.histogram(distance, BINS, (0.0, distance.max(initial=0.0) or 1.0))
        found = {"value": self.threshold, "n": self._within, "expected_false": expected and float(expected)}
        return {**found, "histogram": {"edges": edges.tolist(), "counts": counts.tolist()}}

    def _on_next(self, message):
        answer, _, which = self._states
        self._turn += 1
        while self._turn % IN_TURN == 0 and not self._are_drawn.all():  # of all within, those answered before as well
            left = np.flatnonzero(~self._are_drawn)
            k = int(np.random.default_rng([self._seed, self._within - len(left)]).choice(left))
            if answer[k] < 0:
                row = self._row(k)
                self._random.add(row["id"])
                return {"id": row["id"], "why": "random", "row": row}
            number = self._answers[which[k], 5]
            self.answers[number] = self.answers[number]._replace(random=True)
            self._save()
        is_new = answer < 0
        is_new[np.array(self._asked, int)] = False
        if not is_new.any():
            self._asked, is_new = [], answer < 0
        left = np.flatnonzero(is_new)
        at = int(np.searchsorted(left, self._within))
        pair = left[max(at - 1, 0) : at], left[at : at + 1]  # the next below the threshold and the next above
        for k in np.concatenate([pair[self._turn % 2], pair[1 - self._turn % 2]]).tolist():
            self._asked.append(k)
            row = self._row(k)
            return {"id": row["id"], "why": "uncertain", "row": row}
        return {"id": None}

    def _range(self, name):
        """Return the samples of a match by its name, START-END."""
        start, _, end = str(name).partition("-")
        if not (start.isdigit() and end.isdigit() and int(start) < int(end) <= self.viewed.n):
            raise ValueError(f"'id' must be that of a match, START-END. Got {name!r}.")
        return int(start), int(end)

    def _on_answer(self, message):
        at, kind = self._range(message["id"]), self._class(message.get("class"))
        (k,) = same(np.array([at]), self._answers[:, :2])
        is_random = message["id"] in self._random or (k >= 0 and self._answers[k, 4] == 1)
        self.answers.append(Answer(*at, bool(message["yes"]), kind, bool(is_random)))
        self._save()
        return self._standing()

    def _on_undo(self, message):
        if not self.answers:
            raise ValueError("There is no answer that could be taken back.")
        last = self.answers.pop()
        self._save()
        return {**self._standing(), "id": f"{last.start}-{last.end}"}

    def _standing(self):
        """Return how many ranges are answered, and the precision by those that were drawn at random."""
        said = [] if self.finds is None else self._states[0][: self._within][self._are_drawn]
        return {"n_answers": len(self._answers), "precision": wilson(int(sum(said)), len(said)) if len(said) else None}

    def _on_class(self, message):
        number = len(self.classes) if message.get("number") is None else self._class(message["number"])
        if number == len(self.classes):
            self.classes.append({"name": f"class {number + 1}", "color": COLORS[number % len(COLORS)]})
        self.classes[number] |= {name: message[name] for name in ("name", "color") if message.get(name)}
        self._save()
        return {"classes": self.classes}

    def mark(self, ranges, labels):
        """Add ranges (k, 2) that are known to be occurrences, with the names of their classes."""
        with self.lock:
            self.classes, names = self.classes if self.answers else [], list(map(str, labels))
            for name in names:
                if name not in [one["name"] for one in self.classes]:
                    self._on_class({"name": name})
            kinds = [[one["name"] for one in self.classes].index(name) for name in names]
            self.answers += [Answer(*map(int, at), True, k, False) for at, k in zip(ranges, kinds, strict=True)]
            self._save()

    def _on_export(self, message):
        return _export.export(self, message["what"], message.get("format"), message.get("path"))
