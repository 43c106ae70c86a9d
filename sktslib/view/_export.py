"""Exports of a session: labels, the model, and a script that finds the same."""

import re
from copy import copy
from importlib.util import find_spec

import numpy as np

from .._models import save
from ..search import Matches, QuerySearcher
from ._work import NEAR, limited, units

FORMS = {"csv": ".labels.csv", "audacity": ".labels.txt", "edf": ".labels.edf", "mne": ".labels-annot.fif"}
FORMS |= {"wfdb": ".found"}  # whose suffix is the annotator
MODEL = "skops" if find_spec("skops") else "joblib"  # which runs code when it is loaded
OVERLAPS = """\
# Of matches of several queries that overlap the one counts that is nearer by its threshold.
free, kept = np.ones(len(X), bool), []
for k in np.argsort(found.distance / found.threshold[found.query], kind="stable"):
    if free[found.start[k] : found.end[k]].all():
        free[found.start[k] : found.end[k]] = False
        kept.append(k)
found = found[kept]
"""
SCRIPT = """\
import numpy as np

from sktslib import {needed}

{code}
estimator = {estimator}
found = estimator.{call}(X{channels}, times={times})
{overlaps}print(found.sorted().to_frame().to_csv(index=False), end="")
"""


def export(session, what, form=None, name=None):
    """Write labels, model or script into the session's folder; return where, None without a folder, and the text."""
    kinds = {"labels": FORMS, "model": {MODEL: f".model.{MODEL}"}, "script": {"py": ".script.py"}}
    if (form := form or next(iter(kinds.get(what, [None])))) not in kinds.get(what, ()):
        raise ValueError(f"'what' must be one of {kinds}, which are written in these forms. Got {what!r} as {form!r}.")
    path = None if session.path is None else beside(session, kinds[what][form], name)
    if what == "labels":
        return {"path": path and str(path), "text": labels(session, form, path)}
    if what == "model":
        save(fitted(session), needed(path))
        return {"path": str(path), "text": repr(fitted(session))}
    text = script(session)
    if path is not None:
        path.write_text(text, encoding="utf-8", newline="")
    return {"path": path and str(path), "text": text}


def beside(session, suffix, name=None):
    """Return a file in the folder of the session, of a name that is given or of the session's."""
    path = needed(session.path)
    stem = path.name.removesuffix(".json").removesuffix(".view")
    stem = re.sub(r"[^-\w]", "_", stem) if suffix == FORMS["wfdb"] else stem  # for WFDB takes no others
    own = path.parent / (name or f"{stem}{suffix}")
    if own.parent != path.parent or own == path:
        raise ValueError(f"'path' must be the name of a file in the session's folder. Got {name!r}.")
    return own


def needed(path):
    """Return the path of a file, or say how to get one."""
    if path is None:
        raise ValueError("This needs a file. Give the session one: show(recording, path='recording.view.json').")
    return path


def labels(session, form, path):
    """Write labels in a form that `to_annotations` knows, or as the table of matches; return the text, if it is one."""
    start, end, kind, _, distance = (column[session.marks.answer != 0] for column in session.marks)
    names = np.array([session.classes[k]["name"] for k in kind.tolist()], str)
    table = Matches(start, end, distance, times=session.viewed.times, label=names)
    if form == "csv":
        text = table.to_frame().to_csv(index=False, lineterminator="\n")
        if path is not None:
            path.write_text(text, encoding="utf-8", newline="")
        return text
    if session.viewed.times is None and form != "wfdb":
        way_out = "Start again with the samples per second: --rate HZ, or show(..., rate=HZ)."
        raise ValueError(f"Labels as {form!r} are in seconds, and the recording has no times. {way_out}")
    made = table.to_annotations(form, path if form == "audacity" else needed(path))
    return made if form == "audacity" else None


def fitted(session):
    """Return the estimator that finds what the session shows, with its threshold."""
    estimator, value = session.found_by().estimator, session.threshold
    if isinstance(estimator, QuerySearcher):
        if len(estimator._queries) > 1:
            return limited(estimator, None, [unit * value for unit in units(estimator._thresholds)])
        estimator = limited(estimator, None)
    return copy(estimator).set_params(threshold=value)


def script(session):
    """Return a script that finds the same."""
    (_, task, _, kind, _), estimator = session.found_by(), fitted(session)
    channels, gap = f"[:, {task.channels}]", session.viewed.max_gap is not None
    if kind == "relearn":  # what the answers taught
        trust = ", trust=True" if MODEL == "joblib" else ""
        made = f"load_model({export(session, 'model')['path']!r}{trust})"
    else:
        pieces = [f"X[{start}:{end}]{channels}" for start, end in task.queries or [(0, NEAR)]]
        times = [f"times[{start}:{end}]" if gap else "None" for start, end in task.queries or [(0, NEAR)]]
        query, times = (one[0] if len(one) == 1 else f"[{', '.join(one)}]" for one in (pieces, times))
        made = f"{estimator!r}.fit({query}, times={times if gap else None})"
    is_search = isinstance(estimator, QuerySearcher)
    parts = {"call": "search" if is_search else "segment", "times": "times" if gap else None, "channels": channels}
    parts["overlaps"] = OVERLAPS if is_search and len(estimator._queries) > 1 else ""
    parts["needed"] = next(name for name in ("load_model", "QuerySearcher", "QuerySegmenter") if made.startswith(name))
    return SCRIPT.format(code=session.code or copied(session), estimator=made, **parts)


def copied(session):
    """Write a copy of the recording next to the session, and return lines that read it."""
    path, times = beside(session, ".npz"), session.viewed.times
    np.savez(path, X=session.viewed.values, **({} if times is None else {"times": np.asarray(times)}))
    code = f"stored = np.load({str(path)!r})\nX = stored['X'].reshape(len(stored['X']), -1)"
    return f"{code}\ntimes = stored.get('times')"
