"""Models in files: by skops, which only creates known types, or by joblib, which executes the content of a file."""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from .io._library import library, on_one_line


def known_types():
    """Return the names of the types that a model may contain, besides those that skops allows itself.

    They are listed one by one, so that a file cannot call functions that a module of this package imports.
    """
    from . import distances, search
    from .metrics import EventReport
    from .search._channels import ByChannel
    from .search._learning.choice import Candidate
    from .search._learning.dialogue import Answers
    from .search._limits import ScaleLimits
    from .search._plan import QueryPlan
    from .search._segments.optimal import Background, Classes, Rules
    from .search._thresholds import Calibration
    from .utils._parameters import Parameters

    public = [*vars(distances).values(), *vars(search).values()]
    types = {one for one in public if isinstance(one, type) and issubclass(one, Parameters)}
    types -= {distances.CallableMetric}  # because its function is code
    types |= {Answers, Background, ByChannel, Calibration, Candidate, Classes, EventReport, QueryPlan}
    types |= {Rules, ScaleLimits, timedelta}
    return {f"{one.__module__}.{one.__name__}" for one in types}


def check_ending(path, metric=None):
    """Refuse a model file that could not be saved, before the work is done; None stands for a metric to be chosen."""
    if Path(path).suffix not in (".skops", ".joblib"):
        rule = "end in .skops or, to be saved by joblib, in .joblib"
        raise ValueError(f"--output must {rule}. Got {path!r}; write for example model.skops.")
    if Path(path).suffix == ".skops":
        _packed(metric)


def save(model, path):
    """Save a model in the format of the file's suffix."""
    if Path(path).suffix == ".skops":
        Path(path).write_bytes(_packed(model))
    else:
        import joblib

        joblib.dump(model, path)


def _packed(model):
    """Return a model as skops serializes it."""
    skops = _skops("--output", ", or end the name in .joblib")
    try:
        data = skops.dumps(model, compression=ZIP_DEFLATED)
        unknown = set(skops.get_untrusted_types(data=data)) - known_types()
    except Exception as error:  # of any kind, because objects control how they are saved
        unknown = {f"what skops cannot save ({on_one_line(error, 120)})"}
    if unknown:
        rule = f"hold only types of sktslib and scikit-learn. Got {_listed(unknown)}"
        raise ValueError(f"--output: a .skops file must {rule}. End the name in .joblib, and load it with --trust.")
    return data


def load_model(path: str | os.PathLike[str], trust: bool = False) -> Any:
    """Load an estimator saved by `sktslib learn`, skops or joblib.

    Parameters
    ----------
    path : str or path-like
        The file. A skops file is loaded only if all its types are trusted by skops, such as scikit-learn's estimators
        and numpy's arrays, or belong to sktslib: no code of the file runs.
    trust : bool, default=False
        Whether to load a file that is not of skops by joblib, which runs any code in it.

    Returns
    -------
    estimator
        A `QuerySearcher`, a `QuerySegmenter`, or a pipeline that ends with one.

    Raises
    ------
    ValueError
        If the file does not exist, holds no model or other types, or is not of skops and not trusted.

    Examples
    --------
    >>> import joblib
    >>> from sktslib import QuerySearcher, load_model
    >>> path = getfixture("tmp_path") / "model.joblib"
    >>> _ = joblib.dump(QuerySearcher("dtw", n_matches=1).fit([0, 2, 0]), path)
    >>> load_model(path, trust=True).search([5, 5, 0, 2, 0, 5]).start
    array([2])
    """
    got = f"The 'path' parameter of load_model must name a file that `sktslib learn` saved. Got {os.fspath(path)!r}"
    try:
        with open(path, "rb") as file:
            packed = file.read(4) == b"PK\x03\x04"  # the start of files by skops
    except OSError as error:
        raise ValueError(f"{got}: {on_one_line(error, 120)}.") from None
    if not packed and not trust:
        way_out = "If joblib did, load it with trust=True: this runs what is in the file."
        raise ValueError(f"{got}, which skops did not save. {way_out}")
    loader, known = _skops("The 'path' parameter of load_model") if packed else import_module("joblib"), known_types()
    try:
        unknown = set(loader.get_untrusted_types(file=path)) - known if packed else ()
        if not unknown:
            return loader.load(path, **({"trusted": sorted(known)} if packed else {}))
    except Exception as error:  # of any kind, because a pickle may call anything
        raise ValueError(f"{got}: {on_one_line(error, 120)}.") from None
    raise ValueError(f"{got}, which holds types that are not loaded: {_listed(unknown)}.")


def _skops(option, way_out=""):
    try:
        library("skops", "models")
    except ImportError as error:
        raise ValueError(f"{option}: {on_one_line(error)}{way_out}.") from None
    return import_module("skops.io")


def _listed(names):
    return ", ".join(sorted(names)[:5])
