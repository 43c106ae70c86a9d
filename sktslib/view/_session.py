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
IN_TURN = 5  # of which one is drawn at random
Z = 1.959963984540054  # of an interval that holds the precision with 95 %
MARK = "start", "end", "class", "answer", "distance"
ANSWER = "start", "end", "yes", "class", "random"
SAVED = {"settings": dict, "queries": dict, "classes": list, "answers": list}


class Made(NamedTuple):
    """What the finds were made by."""

    job: Job
    task: Task
    estimator: object
    relearned: bool


def packed(values):
    """Return an array as JSON holds it."""
    return {"f32": base64.b64encode(np.ascontiguousarray(values, "<f4")).decode()}


def wilson(right, n):
    """Return a share and the interval of Wilson that holds it with 95 %."""
    middle, spread = right + Z * Z / 2, Z * np.sqrt(right * (n - right) / n + Z * Z / 4)
    low, high = ((middle + side * spread) / (n + Z * Z) for side in (-1, 1))
    return {"value": right / n, "low": max(float(low), 0.0), "high": min(float(high), 1.0), "n": n}


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
        self.name, self.notice, self._seed = name or "recording", None, seed
        self.lock, self.pyramid = threading.RLock(), Pyramid(self.viewed.values)
        self.job, self.finds, self.made, self.chosen = None, None, None, None
        self._state = {"answers": [], "queries": {}, "classes": [{"name": "match", "color": COLORS[0]}]}
        channels = list(range(self.viewed.channels))
        self._state["settings"] = {"metric": "auto", "normalize": None, "channels": channels}
        self._asked, self._random, self._turn, self._kept, self._jobs = set(), set(), 0, {}, []
        self._mark, self._stamp = self.viewed.mark, None
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
            state = {name: kind(saved[name]) for name, kind in SAVED.items()}
            state["answers"] = [dict(zip(ANSWER, answer, strict=True)) for answer in saved["answers"]]
            state["queries"] = {int(k): [int(s), int(e)] for k, (s, e) in saved["queries"].items()}
            known = all(one["class"] < len(state["classes"]) for one in state["answers"])
            if saved["recording"] == self._mark and known and state["settings"].keys() >= {"metric", "channels"}:
                self._state, self._stamp = state, self._stamp_now()
                return
            why = "is of another recording: this one has changed since" if known else "names a class it does not have"
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"is damaged ({type(error).__name__}: {error})"
        self.notice = f"The saved session {why}. It was kept as {self._set_aside().name}, and a new one begins."

    def _set_aside(self):
        """Give the saved file a name that no file has."""
        number = next(k for k in range(1, 10**6) if not self.path.with_suffix(f".{k}.json").exists())
        return self.path.rename(self.path.with_suffix(f".{number}.json"))

    def _stamp_now(self):
        return (self.path.stat().st_mtime_ns, self.path.stat().st_size) if self.path.exists() else None

    def _save(self):
        """Write the session, as a whole or not at all."""
        self._kept = {}
        if self.path is None:
            return
        saved = {"recording": self._mark, **self._state}
        saved["answers"] = [[one[name] for name in ANSWER] for one in self._state["answers"]]
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            if self._stamp is not None and self._stamp != self._stamp_now() is not None:
                self.notice = (
                    f"Another program wrote the session file. What it wrote is kept as {self._set_aside().name}."
                )
            new.write_text(json.dumps(saved), encoding="utf-8")
            os.replace(new, self.path)
            self._stamp = self._stamp_now()
        except OSError as error:
            self.notice = f"The session cannot be saved: {error}. Name a file in another folder for it."

    # -------------------------------------------------------------------------------------------- what is seen of all
    def _on_open(self, message):
        names = zip(self.viewed.names, self.viewed.units, strict=True)
        query = self._state["queries"].get(0)
        return {
            "name": self.name,
            "n": self.viewed.n,
            "channels": [{"name": name, "unit": unit} for name, unit in names],
            "ready": self.pyramid.ready,
            "classes": self._state["classes"],
            "metrics": ["auto", *metric_names()],
            "normalizations": NORMALIZATIONS,
            "settings": self._state["settings"],
            "query": query and {"start": query[0], "end": query[1]},
            "n_answers": len(self._answers[1]),
            "notice": self.notice,
            "has_results": self.finds is not None,
        }

    def _on_view(self, message):
        n = self.viewed.n
        first, last = (min(max(float(message[name]), 0.0), n) for name in ("first", "last"))
        first, columns = min(first, n - 1), max(int(message["columns"]), 1)
        last = max(last, first + 1)
        low, high = self.pyramid.view(first, last, columns)
        begin = np.searchsorted(np.maximum.accumulate(self.marks["end"]), first, "right")
        end, found = np.searchsorted(self.marks["start"], last), {}
        if end - begin <= columns:
            found["marks"] = [self._mark_of(k) for k in range(begin, end)]
        else:
            found["density"] = packed(self._density(np.linspace(first, last, columns + 1), slice(begin, end)))
        ranges = [[None if np.isnan(v) else float(v) for v in pair] for pair in self.pyramid.ranges]
        ticks = self.viewed.ticks(first, last, columns)
        about = {"first": first, "last": last, "ticks": ticks, "ready": self.pyramid.ready, "ranges": ranges}
        return {**about, "low": packed(low), "high": packed(high), **found}

    def _mark_of(self, k):
        start, end, kind, answer, distance = (self.marks[name][k] for name in MARK)
        known = {"answer": None if answer < 0 else bool(answer), "class": int(kind) if answer else None}
        distance = None if np.isnan(distance) else float(distance)
        return {"id": f"{start}-{end}", "start": int(start), "end": int(end), "distance": distance, **known}

    def _density(self, edges, some):
        """Return the share of each column that some marks of each class cover."""
        out = np.zeros((len(self._state["classes"]), len(edges) - 1))
        start, end, kind, answer, _ = (self.marks[name][some] for name in MARK)
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
        self._state["queries"][self._class(message.get("class") or 0)] = [start, end]
        self._save()
        about = {"start": start, "end": end, "label": self.viewed.label(start), "picture": self._picture(start, end)}
        return {**about, "channels": self.viewed.channels, "points": POINTS}

    def _class(self, number):
        if not 0 <= int(number) < len(self._state["classes"]):
            raise ValueError(f"'class' must be from 0 to {len(self._state['classes']) - 1}. Got {number}.")
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
        settings = self._state["settings"]
        return Task(self.viewed, queries, settings["metric"], settings.get("normalize"), settings["channels"])

    def _publish(self, job, task, searcher, classes, *, relearned=False):
        """Return a function that takes what a job finds, unless another one has begun."""

        def publish(finds, estimator=searcher):
            with self.lock:
                if job is self.job and not job.stopped.is_set():
                    chosen = self.chosen if self.made is not None and self.made.job is job else None
                    self.finds, self.chosen, self._kept, self._asked = (
                        finds._replace(classes=classes),
                        chosen,
                        {},
                        set(),
                    )
                    self.made = Made(job, task, estimator, relearned)

        return publish

    def _on_search(self, message):
        channels = sorted({int(k) for k in message.get("channels", self._state["settings"]["channels"])})
        if not channels or not 0 <= channels[0] <= channels[-1] < self.viewed.channels:
            raise ValueError(f"'channels' must be numbers from 0 to {self.viewed.channels - 1}. Got {channels}.")
        if 0 not in self._state["queries"]:
            raise ValueError("There is no query yet: drag over the pattern that you look for.")
        given = {name: message.get(name, self._state["settings"].get(name)) for name in ("metric", "normalize")}
        self._state["settings"] = {**given, "channels": channels}
        self._save()
        task = self._task([self._state["queries"][0]])

        def work(job):
            searcher = task.searcher()
            search(job, task, searcher, self._publish(job, task, searcher, {0: 0}))

        return self._begin(work)

    def _on_relearn(self, message):
        ranges, yes, kind = self._answers[0], self._said("yes"), self._said("class")
        queries = dict(self._state["queries"])
        for k in np.flatnonzero(yes).tolist():  # a class without a query has its first match
            queries.setdefault(int(kind[k]), ranges[k].tolist())
        if not len(ranges) or not queries:
            raise ValueError("There is nothing to learn from yet: drag over a pattern, and answer for some matches.")
        used, finds = sorted(queries), self.finds
        task, own = self._task([queries[k] for k in used]), dict(enumerate(used))
        number = np.array([used.index(k) if said else -1 for k, said in zip(kind.tolist(), yes, strict=True)])

        def work(job):
            searcher = learned(job, task, finds, ranges, number)
            search(job, task, searcher, self._publish(job, task, searcher, own, relearned=True))

        return self._begin(work)

    def _on_segment(self, message):
        if not self._state["queries"]:
            raise ValueError("There is no query yet: drag over one repetition, or count, which finds a period itself.")
        return self._segment(sorted(self._state["queries"].items()))

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
        """Ranges (k, 2) that are answered, ascending, and the number of the answer that holds, the last one."""
        every = self._state["answers"]
        ranges = np.array([(one["start"], one["end"]) for one in every], int).reshape(-1, 2)
        left = np.lexsort((np.arange(len(every)), ranges[:, 0]))
        while True:
            size, (start, end) = np.diff(ranges[left])[:, 0], ranges[left].T
            common = np.minimum(end[1:], end[:-1]) - start[1:]
            of_one = np.flatnonzero(common >= HALF * np.minimum(size[1:], size[:-1]))
            if not len(of_one):
                return ranges[left], left
            left = np.delete(left, np.where(left[of_one] < left[of_one + 1], of_one, of_one + 1))

    def _said(self, name):
        """Return a part of the answers that hold, an array."""
        return np.array([self._state["answers"][k][name] for k in self._answers[1].tolist()], int)

    @cached
    def _states(self):
        """Of each find the answer, 1, 0 or -1 without one, its class, and which range of the answers it is, or -1."""
        finds = self.finds
        which = same(finds.start, finds.end, self._answers[0])
        kind = np.array([finds.classes.get(k, 0) for k in range(finds.query.max(initial=0) + 1)])[finds.query]
        answer, known = np.full(len(which), -1), which >= 0
        answer[known], kind[known] = (self._said(name)[which[known]] for name in ("yes", "class"))
        return answer, kind, which

    @property
    def threshold(self):
        """The largest distance of a match, chosen or else proposed."""
        return self.finds.limit if self.chosen is None else self.chosen

    @property
    def _within(self):
        return int(np.searchsorted(self.finds.distance, self.threshold, "right"))

    @cached
    def marks(self):
        """What is shown in order of time: finds within the threshold and all that is answered, a dict of arrays."""
        (start, end), yes, kind = self._answers[0].T, self._said("yes"), self._said("class")
        parts = [[start, end, kind, yes, np.full(len(start), np.nan)]]
        if self.finds is not None:
            answer, own, which = self._states
            shown = (np.arange(len(answer)) < self._within) | (answer >= 0)
            alone = np.setdiff1d(np.arange(len(start)), which)
            rest = self.finds.start, self.finds.end, own, answer, self.finds.distance
            parts = [[column[alone] for column in parts[0]], [column[shown] for column in rest]]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        return dict(zip(MARK, (column[order] for column in columns), strict=True))

    def _found(self):
        if self.finds is None:
            raise ValueError("Nothing was searched for yet: drag over the pattern that you look for.")
        return self.finds

    def _row(self, k):
        """Return a find as the page shows it."""
        finds, (answer, kind, _) = self.finds, self._states
        start, end = int(finds.start[k]), int(finds.end[k])
        table = finds.table[[k]] if isinstance(finds.table, Matches) else None
        beside = [None if table is None else getattr(table, name) for name in ("scale", "offset")]
        beside = [None if one is None else [float(v) for v in np.ravel(one)] for one in beside]
        q = None if finds.q is None or np.isnan(finds.q[k]) else float(finds.q[k])
        about = {"id": f"{start}-{end}", "start": start, "end": end, "label": self.viewed.label(start), "q": q}
        about |= {"distance": float(finds.distance[k]), "scale": beside[0], "offset": beside[1], "points": POINTS}
        known = None if answer[k] < 0 else bool(answer[k])
        about |= {"answer": known, "class": int(kind[k]), "within": bool(k < self._within)}
        return about | {"picture": self._picture(start, end)}

    def _on_matches(self, message):
        count, first = len(self._found().start), int(message.get("offset", 0))
        order = np.arange(count)
        if message.get("order") == "time":
            order = order[: self._within]
            order = order[np.argsort(self.finds.start[order], kind="stable")]
        some = order[first : first + int(message.get("limit", 50))].tolist()
        return {"total": len(order), "rows": [self._row(k) for k in some]}

    def _on_threshold(self, message):
        finds, value = self._found(), message.get("value")
        self.chosen = None if value is None else float(value)
        self._kept.pop(Session.marks.fget, None)
        expected = None
        if finds.chance and self.threshold <= finds.chance[2]:
            expected = float(np.searchsorted(finds.chance[0], self.threshold, "right") / finds.chance[1])
        top = float(finds.distance[-1]) if len(finds.distance) else 1.0
        edges = np.linspace(0.0, top or 1.0, BINS + 1)
        histogram = {"edges": edges.tolist(), "counts": np.histogram(finds.distance, edges)[0].tolist()}
        return {"value": self.threshold, "n": self._within, "expected_false": expected, "histogram": histogram}

    def _on_next(self, message):
        _n, (answer, _, which) = len(self._found().start), self._states
        self._turn += 1
        while self._turn % IN_TURN == 0:  # among all within the threshold, those answered before as well
            is_drawn = np.append(self._said("random"), 0)[which[: self._within]] == 1
            left = np.flatnonzero(~is_drawn)
            if not len(left):
                break
            k = int(np.random.default_rng([self._seed, int(is_drawn.sum())]).choice(left))
            if answer[k] < 0:
                self._random.add(self._id(k))
                return {"id": self._id(k), "why": "random", "row": self._row(k)}
            self._state["answers"][self._answers[1][which[k]]]["random"] = True
            self._save()
        for _ in range(2):
            left = [k for k in np.flatnonzero(answer < 0).tolist() if k not in self._asked]
            at = int(np.searchsorted(left, self._within))
            pair = left[max(at - 1, 0) : at], left[at : at + 1]  # the next below the threshold and the next above
            for k in pair[self._turn % 2] or pair[1 - self._turn % 2]:
                self._asked.add(k)
                return {"id": self._id(k), "why": "uncertain", "row": self._row(k)}
            self._asked = set()
        return {"id": None}

    def _id(self, k):
        return f"{self.finds.start[k]}-{self.finds.end[k]}"

    def _on_answer(self, message):
        start, end = (int(part) for part in str(message["id"]).split("-"))
        if not 0 <= start < end <= self.viewed.n:
            raise ValueError(f"'id' must be that of a match, START-END. Got {message['id']!r}.")
        (k,) = same(np.array([start]), np.array([end]), self._answers[0])
        was_random = k >= 0 and self._state["answers"][self._answers[1][k]]["random"]
        kind = self._class(message.get("class") or 0)
        is_random = bool(was_random or message["id"] in self._random)
        self._state["answers"].append(
            dict(zip(ANSWER, (start, end, bool(message["yes"]), kind, is_random), strict=True))
        )
        self._save()
        return self._standing()

    def _on_undo(self, message):
        if not self._state["answers"]:
            raise ValueError("There is no answer that could be taken back.")
        last = self._state["answers"].pop()
        self._save()
        return {**self._standing(), "id": f"{last['start']}-{last['end']}"}

    def _standing(self):
        """Return how many ranges are answered, and the precision by those that were drawn at random."""
        found = {"n_answers": len(self._answers[1]), "precision": None}
        if self.finds is not None:
            answer, _, which = (column[: self._within] for column in self._states)
            said = answer[np.append(self._said("random"), 0)[which] == 1]
            found["precision"] = wilson(int(said.sum()), len(said)) if len(said) else None
        return found

    def _on_class(self, message):
        classes, number = self._state["classes"], message.get("number")
        name, color = message.get("name"), message.get("color")
        if number is None:
            classes.append(
                {"name": name or f"class {len(classes) + 1}", "color": color or COLORS[len(classes) % len(COLORS)]}
            )
        else:
            own = classes[self._class(number)]
            own.update(name=name or own["name"], color=color or own["color"])
        self._save()
        return {"classes": classes}

    def mark(self, ranges, labels):
        """Add ranges (k, 2) that are known to be occurrences, with the names of their classes."""
        with self.lock:
            names = [one["name"] for one in self._state["classes"]] if self._state["answers"] else []
            for name in dict.fromkeys(map(str, labels)):
                if name not in names:
                    self._state["classes"] = self._state["classes"][: len(names)]
                    names.append(name)
                    self._on_class({"name": name})
            for (start, end), name in zip(np.asarray(ranges).tolist(), map(str, labels), strict=True):
                answer = (start, end, True, names.index(name), False)
                self._state["answers"].append(dict(zip(ANSWER, answer, strict=True)))
            self._save()

    def _on_export(self, message):
        return _export.export(self, message["what"], message.get("format"), message.get("path"))

    def labels(self):
        """Return ranges (k, 2) in order of time and their classes: finds within the threshold, and what is answered."""
        own = self.marks["answer"] != 0
        ranges = np.column_stack([self.marks["start"], self.marks["end"]])[own]
        return ranges, [self._state["classes"][k]["name"] for k in self.marks["class"][own].tolist()]
