"""Models in files: by skops, which builds known types alone, or by joblib, which runs what a file holds."""

from datetime import timedelta
from pathlib import Path
from zipfile import ZIP_DEFLATED

from ..io._library import library
from .output import check_writable


def known_types():
    """Return the names of the types that a model may consist of, besides those that skops knows itself.

    They are listed one by one: what a module of this package has imported must not be called by a file.
    """
    from .. import distances, search
    from ..metrics import EventReport
    from ..search._channels import ByChannel
    from ..search._learning.choice import Candidate
    from ..search._limits import ScaleLimits
    from ..search._plan import QueryPlan
    from ..search._segments.optimal import Background, Rules
    from ..utils._parameters import Parameters

    public = [*vars(distances).values(), *vars(search).values()]
    types = {one for one in public if isinstance(one, type) and issubclass(one, Parameters)}
    types -= {distances.CallableMetric}  # whose function is code
    types |= {Background, ByChannel, Candidate, EventReport, QueryPlan, Rules, ScaleLimits, timedelta}
    return {f"{one.__module__}.{one.__name__}" for one in types}


def check_output(path, metric=None):
    """Refuse at once what could not be saved after the work: a file, or a metric (None: one to be chosen)."""
    check_writable(path, "--output")
    if Path(path).suffix not in (".skops", ".joblib"):
        raise ValueError(
            f"--output must end in .skops or, to be saved by joblib, in .joblib. Got {path!r}; write for example "
            "model.skops."
        )
    if Path(path).suffix == ".skops":
        _packed(metric)


def save(model, path):
    """Save a model by what the ending names."""
    if Path(path).suffix == ".skops":
        Path(path).write_bytes(_packed(model))
    else:
        import joblib

        joblib.dump(model, path)


def _packed(model):
    """Return a model as skops saves it."""
    skops = _skops("--output", ", or end the name in .joblib")
    try:
        data = skops.dumps(model, compression=ZIP_DEFLATED)
        unknown = set(skops.get_untrusted_types(data=data)) - known_types()
    except Exception as error:  # of any kind, for objects say themselves how they are saved
        unknown = {f"what skops cannot save ({_line(error)})"}
    if unknown:
        raise ValueError(
            f"--output: a .skops file must hold types of sktslib and scikit-learn alone. Got {_listed(unknown)}. "
            "End the name in .joblib, and load it with --trust."
        )
    return data


def load(path, trust):
    """Return what a file holds; by joblib only if it is trusted."""
    got = f"--model must name a file that `sktslib learn` saved. Got {path!r}"
    try:
        with open(path, "rb") as file:
            packed = file.read(4) == b"PK\x03\x04"  # as files of skops begin
        if packed:
            return _unpacked(path, got)
        if trust:
            import joblib

            return joblib.load(path)
    except _Refused:
        raise
    except Exception as error:  # of any kind, for a pickle may call anything
        raise ValueError(f"{got}: {_line(error)}.") from None
    raise ValueError(
        f"{got}, which skops did not save. If joblib did, load it with --trust: this runs what is in the file."
    )


class _Refused(ValueError):
    """Error that says all."""


def _unpacked(path, got):
    skops, known = _skops("--model"), known_types()
    if unknown := set(skops.get_untrusted_types(file=path)) - known:
        raise _Refused(f"{got}, which holds types that are not loaded: {_listed(unknown)}.")
    return skops.load(path, trusted=sorted(known))


def _skops(option, way_out=""):
    try:
        library("skops", "models")
    except ImportError as error:
        raise _Refused(f"{option}: {str(error).removesuffix('.')}{way_out}.") from None
    import skops.io

    return skops.io


def _listed(names):
    return ", ".join(sorted(names)[:5])


def _line(error):
    """Return an error on one line, at most 120 characters."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return text[:120].removesuffix(".")
