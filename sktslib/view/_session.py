"""The state of a page: a recording, what is searched for, what was found and what was answered."""

import base64
import json
import os
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..distances import metric_names
from ..distances._series import resample
from ..search import Matches
from ..search._results import HALF
from . import _export
from ._pyramid import Pyramid, rows
from ._recording import Viewed
from ._work import Job, Task, learned, same, search, segmented

COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
NORMALIZATIONS = (None, "zscore", "mean", "minmax", "robust")
POINTS = 64  # of a picture
BINS = 60  # of the histogram of distances
NAMES = [f".{k}.json" for k in range(1, 1000)]  # of files that are kept
IN_TURN = 5  # of which one is drawn at random
Z = 1.959963984540054  # of an interval that holds the precision with 95 %


class Answer(NamedTuple):
    """What was said of a range."""

    start: int
    end: int
    yes: bool
    kind: int  # number of its class
    random: bool  # whether it was drawn at random, at some time


class Mark(NamedTuple):
    """Columns of what is shown, in order of time."""

    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    answer: np.ndarray  # 1, 0 or -1 without one
    distance: np.ndarray


def packed(values):
    """Return an array as JSON holds it."""
    return {"f32": base64.b64encode(np.ascontiguousarray(values, "<f4")).decode()}


def wilson(right, n):
    """Return a share and the interval of Wilson that holds it with 95 %."""
    from scipy.stats import binomtest

    low, high = binomtest(right, n).proportion_ci(method="wilson")
    return {"value": right / n, "low": float(low), "high": float(high), "n": n}


def finite(values):
    """Return numbers as JSON holds them; None stays None."""
    return None if values is None else [v if np.isfinite(v) else None for v in np.ravel(values).tolist()]


def cached(make):
    """Return a property that is computed once after each change of the session."""
    return property(lambda self: self._kept[make] if make in self._kept else self._kept.setdefault(make, make(self)))


class Session:
    """All that a page shows, and one method that takes its messages; no part of it knows of the web.

    Parameters
    ----------
    recording : object or array of shape (n,) or (n, channels)
        What has `values`, `times`, `names` and `units`, or an array in memory or not.
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
        `times`, `rate`, `names`, `units` of an array.
    """

    def __init__(self, recording, path=None, *, name=None, code=None, seed=0, **given):
        self.viewed, self.path, self.code = Viewed(recording, **given), path and Path(path), code
        self.name, self.notice, self._seed, self._mark = name or "recording", None, seed, self.viewed.mark
        self.lock, self.pyramid = threading.RLock(), Pyramid(self.viewed.values)
        self.job = self.finds = self.chosen = self.made = None
        self.settings = {"metric": "auto", "normalize": None, "channels": list(range(self.viewed.channels))}
        self.queries, self.classes, self.answers = {}, [{"name": "match", "color": COLORS[0]}], []
        self._asked, self._random, self._turn, self._kept, self._jobs = set(), set(), 0, {}, []
        if self.path is not None and self.path.exists():
            self._open()

    def handle(self, message):
        """Answer a message of the page; what cannot be done is an answer with `error`."""
        answer = getattr(self, f"_on_{message.get('type')}", None)
        if answer is None:
            return {"error": f"There is no message of type {message.get('type')!r}."}
        try:
            with self.lock:
                return answer(message)
        except KeyError as error:
            return {"error": f"The message {message['type']!r} must have the field {error}."}
        except Exception as error:
            return {"error": str(error) or type(error).__name__}

    # ----------------------------------------------------------------------------------------------------- saved state
    def _open(self):
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            answers = [Answer(*one) for one in saved["answers"]]
            queries = {int(k): [int(start), int(end)] for k, (start, end) in saved["queries"].items()}
            settings, classes = {**self.settings, **saved["settings"]}, [{**one} for one in saved["classes"]]
            if saved["recording"] == self._mark:
                self.answers, self.queries, self.settings, self.classes = answers, queries, settings, classes
                return
            why = "is of another recording: this one has changed since"
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"is damaged ({type(error).__name__}: {error})"
        kept = next(one for one in map(self.path.with_suffix, NAMES) if not one.exists())
        self.path.rename(kept)
        self.notice = f"The saved session {why}. It was kept as {kept.name}, and a new one begins."

    def _save(self):
        """Write the session, as a whole or not at all."""
        self._kept = {}
        if self.path is not None:
            new = self.path.with_name(f"{self.path.name}.new")
            state = {name: getattr(self, name) for name in ("settings", "queries", "classes", "answers")}
            try:
                new.write_text(json.dumps({"recording": self._mark, **state}), encoding="utf-8")
                os.replace(new, self.path)
            except OSError as error:
                self.notice = f"The session cannot be saved: {error}. Name a file in another folder for it."

    # -------------------------------------------------------------------------------------------- what is seen of all
    def _on_open(self, message):
        names, query = zip(self.viewed.names, self.viewed.units, strict=True), self.queries.get(0)
        found = {"name": self.name, "n": self.viewed.n, "ready": self.pyramid.ready, "notice": self.notice}
        found |= {"metrics": ["auto", *metric_names()], "normalizations": NORMALIZATIONS}
        found |= {"settings": self.settings, "classes": self.classes}
        job = len(self._jobs) - 1 if self.job is not None and self.job.is_alive() else None
        found |= {**self._standing(), "has_results": self.finds is not None, "job": job}
        found["query"] = query and {"start": query[0], "end": query[1]}
        return {**found, "channels": [{"name": name, "unit": unit} for name, unit in names]}

    def _on_view(self, message):
        first, columns = max(min(float(message["first"]), self.viewed.n - 1), 0.0), max(int(message["columns"]), 1)
        last = max(min(float(message["last"]), self.viewed.n), first + 1)
        low, high = self.pyramid.view(first, last, columns)
        begin = np.searchsorted(np.maximum.accumulate(self.marks.end), first, "right")
        end, found = np.searchsorted(self.marks.start, last), {}
        if end - begin <= columns:
            found["marks"] = [self._mark_of(k) for k in range(begin, end)]
        else:
            found["density"] = packed(self._density(np.linspace(first, last, columns + 1), slice(begin, end)))
        ranges = [finite(pair) for pair in self.pyramid.ranges]
        ticks = self.viewed.ticks(first, last, columns)
        about = {"first": first, "last": last, "ticks": ticks, "ready": self.pyramid.ready, "ranges": ranges}
        gaps = self.viewed.gaps[slice(*np.searchsorted(self.viewed.gaps, [first, last]))][:columns]
        return {**about, "gaps": gaps.tolist(), "low": packed(low), "high": packed(high), **found}

    def _mark_of(self, k):
        start, end, kind, answer, distance = (column[k].item() for column in self.marks)
        known = {"answer": None if answer < 0 else answer == 1, "class": kind if answer else None}
        return {"id": f"{start}-{end}", "start": start, "end": end, "distance": finite(distance)[0], **known}

    def _density(self, edges, some):
        """Return the share of each column that some marks of each class cover."""
        out = np.zeros((len(self.classes), len(edges) - 1))
        start, end, kind, answer, _ = (column[some] for column in self.marks)
        for k, row in enumerate(out):
            own = (kind == k) & (answer != 0)
            if own.any():
                until = np.maximum.accumulate(end[own])
                since = np.maximum(start[own], np.concatenate([[0], until[:-1]]))  # what marks share counts once
                at = np.column_stack([since, np.maximum(until, since)])
                covered = np.column_stack([np.zeros(len(at)), at[:, 1] - at[:, 0]]).ravel().cumsum()
                row += np.diff(np.interp(edges, at.ravel(), covered)) / np.diff(edges)
        return out

    def _picture(self, start, end):
        """Return a piece (channels, points) of the recording as a small picture."""
        y = rows(self.viewed.values, start, end).T.astype(float)
        return packed(resample(y, POINTS) if y.shape[1] > 1 else np.repeat(y, POINTS, axis=1))

    # ------------------------------------------------------------------------------------------------------- searches
    def _on_query(self, message):
        start, end = sorted(round(float(message[name])) for name in ("start", "end"))
        start, end = max(start, 0), min(end, self.viewed.n)
        if end - start < 2:
            raise ValueError(f"A query must have two samples at least. Got samples {start} to {end}. Drag further.")
        self.queries[self._class(message.get("class") or 0)] = [start, end]
        self._save()
        about = {"start": start, "end": end, "label": self.viewed.label(start), "picture": self._picture(start, end)}
        return {**about, "channels": self.viewed.channels, "points": POINTS}

    def _class(self, number):
        if not 0 <= int(number) < len(self.classes):
            raise ValueError(f"'class' must be from 0 to {len(self.classes) - 1}. Got {number}.")
        return int(number)

    def _begin(self, work):
        """Begin work in place of what runs."""
        if self.job is not None and self.job.is_alive():
            self.job.stopped.set()
        self.job = Job(work)
        self._jobs.append(self.job)
        self.job.start()
        return {"job": len(self._jobs) - 1}

    def _task(self, queries):
        settings = self.settings
        return Task(self.viewed, queries, settings["metric"], settings.get("normalize"), settings["channels"])

    def _publish(self, job, task, searcher, classes, *, relearned=False):
        """Return a function that takes what a job finds, unless another one has begun."""

        def publish(finds, estimator=searcher):
            with self.lock:
                if job is self.job and not job.stopped.is_set():
                    if self.made is None or self.made[0] is not job:
                        self.chosen = None
                    self.finds, self.made = finds._replace(classes=classes), (job, task, estimator, relearned)
                    self._kept, self._asked = {}, set()

        return publish

    def _on_search(self, message):
        channels = sorted({int(k) for k in message.get("channels", self.settings["channels"])})
        if not channels or not 0 <= channels[0] <= channels[-1] < self.viewed.channels:
            raise ValueError(f"'channels' must be numbers from 0 to {self.viewed.channels - 1}. Got {channels}.")
        if 0 not in self.queries:
            raise ValueError("There is no query yet: drag over the pattern that you look for.")
        given = {name: message.get(name, self.settings.get(name)) for name in ("metric", "normalize")}
        self.settings = {**given, "channels": channels}
        self._save()
        task = self._task([self.queries[0]])

        def work(job):
            searcher = task.searcher()
            search(job, task, searcher, self._publish(job, task, searcher, {0: 0}))

        return self._begin(work)

    def _on_relearn(self, message):
        answers, queries, finds = self._answers, dict(self.queries), self.finds
        for start, end, yes, kind, *_ in answers.tolist():  # a class without a query has its first match
            if yes:
                queries.setdefault(kind, [start, end])
        if not len(answers) or not queries:
            raise ValueError("There is nothing to learn from yet: drag over a pattern, and answer for some matches.")
        used = sorted(queries)
        task, own = self._task([queries[k] for k in used]), dict(enumerate(used))
        number = np.where(answers[:, 2], np.searchsorted(used, answers[:, 3]), -1)

        def work(job):
            searcher = learned(job, task, finds, answers[:, :2], number)
            search(job, task, searcher, self._publish(job, task, searcher, own, relearned=True))

        return self._begin(work)

    def _on_segment(self, message):
        if not self.queries:
            raise ValueError("There is no query yet: drag over one repetition, or count, which finds a period itself.")
        return self._segment(sorted(self.queries.items()))

    def _segment(self, queries):
        task, own = self._task([ranges for _, ranges in queries]), dict(enumerate(k for k, _ in queries))
        return self._begin(lambda job: segmented(job, task, self._publish(job, task, None, own)))

    def _on_count(self, message):
        return self._segment([])

    def _on_progress(self, message):
        job = self._jobs[int(message["job"])]
        found = {"state": job.state, "share": 1.0 if job.state == "done" else job.share, "error": job.error}
        return {**found, "n_matches": 0 if self.finds is None else len(self.finds.start), "notes": job.notes}

    def _on_cancel(self, message):
        self._jobs[int(message["job"])].stopped.set()
        return {}

    # --------------------------------------------------------------------------------------------- finds and answers
    @cached
    def _answers(self):
        """Rows of the answers that hold, of ranges in order of time, and last the number of each."""
        every = np.array([(*one, k) for k, one in enumerate(self.answers)], int).reshape(-1, 6)
        every = every[np.argsort(every[:, 0], kind="stable")]
        while True:
            size, number, (start, end) = every[:, 1] - every[:, 0], every[:, 5], every[:, :2].T
            common = np.minimum(end[1:], end[:-1]) - start[1:]
            of_one = np.flatnonzero(common >= HALF * np.minimum(size[1:], size[:-1]))
            if not len(of_one):
                return every
            every = np.delete(every, np.where(number[of_one] < number[of_one + 1], of_one, of_one + 1), axis=0)

    @cached
    def _states(self):
        """Of each find the answer, 1, 0 or -1 without one, its class, and which row of the answers it is, or -1."""
        finds, answers = self.finds, np.vstack([self._answers, np.full(6, -1)])
        which = same(finds.start, finds.end, self._answers[:, :2])
        own = np.array([finds.classes.get(k, 0) for k in range(finds.query.max(initial=0) + 1)])[finds.query]
        return answers[which, 2], np.where(which < 0, own, answers[which, 3]), which

    @property
    def threshold(self):
        """The largest distance of a match, chosen or else proposed."""
        return self.finds.limit if self.chosen is None else self.chosen

    @property
    def _within(self):
        return int(np.searchsorted(self.finds.distance, self.threshold, "right"))

    @cached
    def marks(self):
        """What is shown: finds within the threshold, and all that is answered."""
        start, end, yes, kind = self._answers[:, :4].T
        parts = [[start, end, kind, yes, np.full(len(start), np.nan)]]
        if self.finds is not None:
            answer, own, which = self._states
            shown = (np.arange(len(answer)) < self._within) | (answer >= 0)
            alone = np.setdiff1d(np.arange(len(start)), which)
            rest = self.finds.start, self.finds.end, own, answer, self.finds.distance
            parts = [[column[alone] for column in parts[0]], [column[shown] for column in rest]]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.lexsort(columns[1::-1])
        return Mark(*(column[order] for column in columns))

    def _found(self):
        if self.finds is None:
            raise ValueError("Nothing was searched for yet: drag over the pattern that you look for.")
        return self.finds

    def _row(self, k):
        """Return a find as the page shows it."""
        finds, (answer, kind, _) = self.finds, self._states
        start, end, distance = finds.start[k].item(), finds.end[k].item(), finds.distance[k].item()
        table = finds.table[[k]] if isinstance(finds.table, Matches) else None
        scale, offset = (getattr(table, name, None) for name in ("scale", "offset"))
        about = {"id": f"{start}-{end}", "start": start, "end": end, "label": self.viewed.label(start)}
        about |= {"distance": distance, "q": finds.q if finds.q is None else finite(finds.q[k])[0]}
        about |= {"scale": finite(scale), "within": bool(k < self._within)}
        about |= {"offset": finite(offset), "class": int(kind[k])}
        about |= {"answer": None if answer[k] < 0 else bool(answer[k]), "points": POINTS}
        return about | {"picture": self._picture(start, end)}

    def _on_matches(self, message):
        order, limit = np.arange(len(self._found().start)), int(message.get("limit", 50))
        if message.get("order") == "time":
            order = np.argsort(self.finds.start[: self._within], kind="stable")
        first = int(message.get("offset", 0))
        if "around" in message:  # the page that holds this match
            ranges = np.column_stack([self.finds.start, self.finds.end])[order]
            at = np.flatnonzero((ranges == self._range(message["around"])).all(axis=1))
            first = int(at[0]) // limit * limit if len(at) else 0
        rows = [self._row(k) for k in order[first : first + limit].tolist()]
        return {"total": len(order), "offset": first, "rows": rows}

    def _on_threshold(self, message):
        finds, expected = self._found(), None
        if "value" in message:
            self.chosen, self._kept = None if message["value"] is None else float(message["value"]), {}
        if finds.chance and self.threshold <= finds.chance[2]:
            expected = float(np.searchsorted(finds.chance[0], self.threshold, "right") / finds.chance[1])
        edges = np.linspace(0.0, finds.distance.max(initial=0.0) or 1.0, BINS + 1)
        histogram = {"edges": edges.tolist(), "counts": np.histogram(finds.distance, edges)[0].tolist()}
        return {"value": self.threshold, "n": self._within, "expected_false": expected, "histogram": histogram}

    def _on_next(self, message):
        start, (answer, _, which) = self._found().start, self._states
        self._turn += 1
        while self._turn % IN_TURN == 0:  # among all within the threshold, those answered before as well
            left = np.flatnonzero(~self._are_drawn)
            if not len(left):
                break
            k = int(np.random.default_rng([self._seed, self._within - len(left)]).choice(left))
            if answer[k] < 0:
                self._random.add(f"{start[k]}-{self.finds.end[k]}")
                return {"id": f"{start[k]}-{self.finds.end[k]}", "why": "random", "row": self._row(k)}
            number = self._answers[which[k], 5]
            self.answers[number] = self.answers[number]._replace(random=True)
            self._save()
        for asked in (self._asked, set()):
            self._asked = asked
            left = np.setdiff1d(np.flatnonzero(answer < 0), list(asked))
            at = int(np.searchsorted(left, self._within))
            pair = left[max(at - 1, 0) : at], left[at : at + 1]  # the next below the threshold and the next above
            for k in np.concatenate([pair[self._turn % 2], pair[1 - self._turn % 2]]).tolist():
                self._asked.add(k)
                return {"id": f"{start[k]}-{self.finds.end[k]}", "why": "uncertain", "row": self._row(k)}
        return {"id": None}

    @property
    def _are_drawn(self):
        """Whether each find within the threshold was drawn at random."""
        return np.append(self._answers[:, 4], 0)[self._states[2][: self._within]] == 1

    def _on_answer(self, message):
        start, end = self._range(message["id"])
        (k,) = same(np.array([start]), np.array([end]), self._answers[:, :2])
        is_random = message["id"] in self._random or (k >= 0 and self._answers[k, 4] == 1)
        kind = self._class(message.get("class") or 0)
        self.answers.append(Answer(start, end, bool(message["yes"]), kind, bool(is_random)))
        self._save()
        return self._standing()

    def _range(self, name):
        """Return the samples of a match by its name, START-END."""
        start, _, end = str(name).partition("-")
        if not (start.isdigit() and end.isdigit() and int(start) < int(end) <= self.viewed.n):
            raise ValueError(f"'id' must be that of a match, START-END. Got {name!r}.")
        return int(start), int(end)

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
        classes, number = self.classes, message.get("number")
        if number is None:
            number = len(classes)
            classes.append({"name": f"class {number + 1}", "color": COLORS[number % len(COLORS)]})
        classes[self._class(number)] |= {name: message[name] for name in ("name", "color") if message.get(name)}
        self._save()
        return {"classes": classes}

    def mark(self, ranges, labels):
        """Add ranges (k, 2) that are known to be occurrences, with the names of their classes."""
        with self.lock:
            if not self.answers:
                self.classes = []
            for name in map(str, labels):
                if name not in (one["name"] for one in self.classes):
                    self._on_class({"name": name})
            names = [one["name"] for one in self.classes]
            for (start, end), name in zip(np.asarray(ranges).tolist(), map(str, labels), strict=True):
                self.answers.append(Answer(start, end, True, names.index(name), False))
            self._save()

    def _on_export(self, message):
        return _export.export(self, message["what"], message.get("format"), message.get("path"))

    def labels(self):
        """Return ranges (k, 2) in order of time and their classes: finds within the threshold, and what is answered."""
        own = self.marks.answer != 0
        kinds = [self.classes[k]["name"] for k in self.marks.kind[own].tolist()]
        return np.column_stack(self.marks[:2])[own], kinds
