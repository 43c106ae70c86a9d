"""Exports of a session: labels, the model, and a script that reproduces the results."""

import re
from copy import copy
from itertools import count
from pathlib import Path

import numpy as np

from ..search import Matches, QuerySearcher
from ._work import NEAR, limited, units

FORMS = {"csv": ".labels.csv", "audacity": ".labels.txt", "edf": ".labels.edf", "mne": ".labels-annot.fif"}
FORMS |= {"wfdb": ".found"}  # the suffix names the annotator
OVERLAPS = "found = found.without_overlaps(found.distance / found.threshold[found.query])\n"
SCRIPT = """\
import numpy as np

from sktslib import {needed}

{code}
estimator = {estimator}
found = estimator.{call}(X{channels}, times={times})
{overlaps}print(found.sorted().to_frame().to_csv(index=False), end="")
"""


def export(session, what, form="csv"):
    """Write labels, model or script next to the session; return the path, and the text of a script."""
    suffix = {"labels": FORMS.get(form), "model": ".model.skops", "script": ".script.py"}.get(what)
    if suffix is None:
        raise ValueError(f"'what' must be one of {list(FORMS)}, or 'model' or 'script'. Got {what!r} as {form!r}.")
    path = beside(session, suffix)
    if what == "model":
        from .._models import save  # a higher layer than this folder

        estimator = fitted(session)
        try:
            save(estimator, path)
        except ValueError:  # skops is not installed, or cannot save the user's own metric
            save(estimator, path := beside(session, ".model.joblib"))
        text = repr(estimator)
    elif what == "labels" and form != "csv":
        text = labels(session).to_annotations(form, path)
    else:
        text = script(session) if what == "script" else labels(session).to_frame().to_csv(index=False)
        path.write_text(text, encoding="utf-8", newline="")
    return {"path": str(path), "text": text if isinstance(text, str) else None}


def beside(session, suffix):
    """Return the path of a file next to the session's; without a file, a new one in the working directory."""
    path = session.path or Path(re.sub(r"[^-.\w]", "_", session.name))
    stem = path.name.removesuffix(".json").removesuffix(".view")
    stem = re.sub(r"[^-\w]", "_", stem) if suffix == FORMS["wfdb"] else stem  # WFDB allows no other characters
    names = (f"{stem}{f'-{k}' if k else ''}{suffix}" for k in count())
    path = next(one for one in map(path.with_name, names) if session.path or one in session.written or not one.exists())
    session.written.add(path)
    return path


def labels(session):
    """Return a table of the matches and of the ranges that were confirmed."""
    start, end, kind, _, find = session.marks[session.marks[:, 3] != 0].T
    distance = np.append(() if session.finds is None else session.finds.distance, np.nan)[find]
    names = np.array([session.classes[k]["name"] for k in kind.tolist()], str)
    return Matches(start, end, distance, times=session.viewed.times, label=names)


def fitted(session):
    """Return the estimator that finds what the session shows, including its threshold."""
    estimator, value = session.found_by().estimator, session.threshold
    if not isinstance(estimator, QuerySearcher):
        return copy(estimator).set_params(threshold=value)
    made = limited(estimator, None, [unit * value for unit in units(estimator._thresholds)])
    return made if len(made._queries) > 1 else made.set_params(threshold=value)


def script(session):
    """Return a Python script that reproduces the results."""
    task, estimator = session.found_by().task, fitted(session)
    channels, gap = f"[:, {task.channels}]", session.viewed.max_gap is not None
    if session.found_by().kind == "relearn":  # use what was learned from the answers
        path = export(session, "model")["path"]
        made = f"load_model({path!r}{', trust=True' * path.endswith('.joblib')})"
    else:
        ranges = [f"[{start}:{end}]" for start, end in task.queries.values() or [(0, NEAR)]]
        pieces, times = (", ".join(map(form.format, ranges)) for form in (f"X{{}}{channels}", "times{}"))
        pieces, times = (f"[{each}]" if len(ranges) > 1 else each for each in (pieces, times))
        made = f"{estimator!r}.fit({pieces}, times={times if gap else None})"
    is_search = isinstance(estimator, QuerySearcher)
    parts = {"call": "search" if is_search else "segment", "times": "times" if gap else None, "channels": channels}
    parts["overlaps"] = OVERLAPS if is_search and len(estimator._queries) > 1 else ""
    return SCRIPT.format(needed=made.partition("(")[0], estimator=made, code=session.code or copied(session), **parts)


def copied(session):
    """Write a copy of the recording next to the session, and return lines that read it."""
    path, viewed = beside(session, ".recording.npz"), session.viewed
    times = {} if viewed.times is None else {"times": np.asarray(viewed.times)}
    np.savez(path, X=np.reshape(viewed.values, (viewed.n, -1)), **times)
    return f"stored = np.load({str(path)!r})\nX, times = stored['X'], stored.get('times')"
