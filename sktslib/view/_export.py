"""Exports of a session: labels, the model, and a script that finds the same."""

import numpy as np

from ..search import QuerySearcher
from ._work import NEAR, limited, units

SUFFIXES = {"labels": ".labels.csv", "model": ".model.joblib", "script": ".script.py"}
OVERLAPS = """\
# Of matches of several queries that overlap the one counts that is nearer by its threshold.
from sktslib.search._selection import select

found = found[select(found.distance / found.threshold[found.query], found.start, found.end)]
"""
SCRIPT = """\
import joblib
import numpy as np

from sktslib import QuerySearcher, QuerySegmenter

{code}
estimator = {estimator}
found = estimator.{call}(X{channels}, times={times})
{overlaps}print(found.sorted().to_frame().to_csv(index=False), end="")
"""


def export(session, what, form=None, name=None):
    """Write labels, model or script into the session's folder; return where, None without a folder, and the text."""
    if what not in SUFFIXES or form not in (None, SUFFIXES[what].rpartition(".")[2]):
        raise ValueError(f"'what' must be one of {SUFFIXES}, which are written in this form. Got {what!r} as {form!r}.")
    path = None if session.path is None else beside(session, SUFFIXES[what], name)
    if what == "model":
        import joblib

        text = repr(fitted(session))
        joblib.dump(fitted(session), needed(path))
        return {"path": str(path), "text": text}
    text = labels(session) if what == "labels" else script(session)
    if path is not None:
        path.write_text(text, encoding="utf-8", newline="")
    return {"path": path and str(path), "text": text}


def beside(session, suffix, name=None):
    """Return a file in the folder of the session, of a name that is given or of the session's."""
    path = needed(session.path)
    own = path.parent / (name or f"{path.name.removesuffix('.json').removesuffix('.view')}{suffix}")
    if own.parent != path.parent or own == path:
        raise ValueError(f"'path' must be the name of a file in the session's folder. Got {name!r}.")
    return own


def needed(path):
    """Return the path of a file, or say how to get one."""
    if path is None:
        raise ValueError("This needs a file. Give the session one: show(recording, path='recording.view.json').")
    return path


def labels(session):
    """Return the labels as a table in text form: half-open ranges, times where there are some, classes."""
    import pandas as pd

    ranges, names = session.labels()
    table = pd.DataFrame({"start": ranges[:, 0], "end": ranges[:, 1], "label": names})
    if session.viewed.times is not None:
        for at, side in ((2, "start"), (3, "end")):
            table.insert(at, f"{side}_time", [session.viewed.label(k, 6) for k in table[side]])
    return table.to_csv(index=False, lineterminator="\n")


def fitted(session):
    """Return the estimator that finds what the session shows, with its threshold."""
    value, (_, _, estimator, _) = session.threshold, session.found_by()
    if isinstance(estimator, QuerySearcher):
        if len(estimator._queries) > 1:
            return limited(estimator, None, [unit * value for unit in units(estimator._thresholds)])
        estimator = limited(estimator, None)
    return estimator.set_params(threshold=value)


def script(session):
    """Return a script that finds the same."""
    (_, task, _, relearned), estimator = session.found_by(), fitted(session)
    channels, gap = f"[:, {task.channels}]", session.viewed.max_gap is not None
    if relearned:  # what the answers taught
        made = f"joblib.load({export(session, 'model')['path']!r})"
    else:
        pieces = [f"X[{start}:{end}]{channels}" for start, end in task.queries or [(0, NEAR)]]
        times = [f"times[{start}:{end}]" if gap else "None" for start, end in task.queries or [(0, NEAR)]]
        query, times = (one[0] if len(one) == 1 else f"[{', '.join(one)}]" for one in (pieces, times))
        made = f"{estimator!r}.fit({query}, times={times if gap else None})"
    is_search = isinstance(estimator, QuerySearcher)
    parts = {"call": "search" if is_search else "segment", "times": "times" if gap else None, "channels": channels}
    parts["overlaps"] = OVERLAPS if is_search and len(estimator._queries) > 1 else ""
    return SCRIPT.format(code=session.code or copied(session), estimator=made, **parts)


def copied(session):
    """Write a copy of the recording next to the session, and return lines that read it."""
    path, times = beside(session, ".npz"), session.viewed.times
    np.savez(path, X=session.viewed.values, **({} if times is None else {"times": np.asarray(times)}))
    code = f"stored = np.load({str(path)!r})\nX = stored['X'].reshape(len(stored['X']), -1)"
    return f"{code}\ntimes = stored.get('times')"
