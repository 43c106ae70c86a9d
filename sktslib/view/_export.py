"""What is taken away from a session: labels, the model, and a script that finds the same."""

import csv
import io

import numpy as np

from ..search import QuerySearcher
from ._work import NEAR, limited, limits_of

SUFFIXES = {"labels": ".labels.csv", "model": ".model.joblib", "script": ".script.py"}
COPY = 'X = np.load({name!r}, mmap_mode="r")\nX = X.reshape(len(X), -1)'


def export(session, what, form=None, path=None):
    """Return where something was written, None without a folder, and its text."""
    if what not in SUFFIXES:
        raise ValueError(f"'what' must be one of {', '.join(SUFFIXES)}. Got {what!r}.")
    if form not in (None, SUFFIXES[what].rpartition(".")[2]):
        raise ValueError(f"'format' of {what} must be {SUFFIXES[what].rpartition('.')[2]!r}. Got {form!r}.")
    own = None if session.path is None else beside(session, SUFFIXES[what], path)
    if what == "labels":
        text = labels(session)
    else:
        session._found()
        if what == "model":
            import joblib

            if own is None:
                raise ValueError(
                    "A model needs a file. Give the session a path: show(recording, path='rec.view.json')."
                )
            joblib.dump(fitted(session), own)
            text = repr(fitted(session))
        else:
            text = script(session)
    if own is not None and what != "model":
        own.write_text(text, encoding="utf-8", newline="")
    return {"path": None if own is None else str(own), "text": text}


def beside(session, suffix, name=None):
    """Return a file in the folder of the session: of another name that is given, or of that of the session."""
    stem = session.path.name.removesuffix(".json").removesuffix(".view")
    own = session.path.parent / (name or f"{stem}{suffix}")
    if own.parent != session.path.parent or own == session.path:
        raise ValueError(f"'path' must be the name of a file in the session's folder. Got {name!r}.")
    return own


def labels(session):
    """Return the labels as a table in text form: half-open ranges, times where there are some, classes."""
    viewed, (ranges, names), out = session.viewed, session.labels(), io.StringIO()
    timed = viewed.times is not None
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["start", "end", *["start_time", "end_time"] * timed, "label"])
    for (start, end), name in zip(ranges.tolist(), names, strict=True):
        times = [viewed.label(start, 6), viewed.label(end, 6)] if timed else []
        writer.writerow([start, end, *times, name])
    return out.getvalue()


def fitted(session):
    """Return the estimator that finds what the session shows, with its threshold."""
    estimator, value = session.made[2], session.threshold
    if not isinstance(estimator, QuerySearcher):
        return estimator.set_params(threshold=value)
    if len(estimator._queries) > 1:
        return limited(estimator, None, [limit * value for limit in limits_of(estimator)])
    new = limited(estimator, None)
    return new.set_params(threshold=value)


def script(session):
    """Return a script that finds the same matches."""
    _, task, _, relearned = session.made
    estimator, code = fitted(session), session.code
    is_search = isinstance(estimator, QuerySearcher)
    if code is None:
        code = COPY.format(name="recording.npy")
        if session.path is not None:
            copy = beside(session, ".npy")
            np.save(copy, session.viewed.values)
            code = COPY.format(name=str(copy))
            if session.viewed.max_gap is not None:
                times = beside(session, ".times.npy")
                np.save(times, np.asarray(session.viewed.times))
                code += f"\ntimes = np.load({str(times)!r})"
    channels = "" if task.channels == list(range(session.viewed.channels)) else f"[:, {task.channels}]"
    times = [""] if session.viewed.max_gap is None else [", times=times", "times[{}:{}]"]
    lines = ["import numpy as np", "", f"from sktslib import {type(estimator).__name__}", "", code]
    if relearned:
        if session.path is None:
            raise ValueError("A script needs the model in a file. Give the session a path: show(recording, path=...).")
        path = export(session, "model")["path"]
        lines += ["import joblib", "", f"estimator = joblib.load({path!r})  # what the answers taught"]
    else:
        given = {"threshold": session.threshold, **task.parameters}
        if is_search:
            given["n_matches"] = None
        else:
            given.pop("normalize", None)
            given |= {} if task.queries else {"query": "auto"}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
        pieces = [f"X[{s}:{e}]{channels}" for s, e in task.queries] or [f"X[:{NEAR}]{channels}"]
        query = pieces[0] if len(pieces) == 1 else f"[{', '.join(pieces)}]"
        if not task.queries:
            query += times[0] and f", times=times[:{NEAR}]"
        lines += [f"estimator = {type(estimator).__name__}({task.metric!r}, {shown}).fit({query})"]
    lines += [f"found = estimator.{'search' if is_search else 'segment'}(X{channels}{times[0]})"]
    if is_search and len(estimator._queries) > 1:
        lines += ["# Of matches of several queries that overlap the one counts that is nearer by its threshold."]
        lines += ["from sktslib.search._selection import select"]
        lines += ["found = found[select(found.distance / found.threshold[found.query], found.start, found.end)]"]
    return "\n".join([*lines, "found = found.sorted()", "print(found.to_frame().to_csv(index=False), end='')", ""])
