"""Estimators of the commands search, segment and learn: options of their parameters, and estimators made of these."""

from datetime import timedelta

from .options import add_metric, add_parameters, errors_of, given, with_bar
from .output import write_numbers
from .recordings import unit_of

APART = ("metric", "metric_params", "query", "weight")  # given in a way of their own
NO_MATTER = ("n_jobs", "verbose")  # to results: a saved estimator takes them, too
DEFAULT_MATCHES = 10  # enough to see what a pattern finds
LONG = 3  # lengths of the query; a repetition that is longer holds several


def estimator_class(task):
    """Return the estimator that does what a command is for."""
    from ..search import QuerySearcher, QuerySegmenter

    return {"search": QuerySearcher, "segment": QuerySegmenter}[task]


def add_estimator(parser, task, more=""):
    """Add the metric and every parameter of the task's estimator."""
    cls = estimator_class(task)
    parameters = add_parameters(
        parser, f"parameters of {cls.__name__}; a VALUE is a Python literal, none or a word", cls, APART
    )
    if task == "search" and not more:
        for action in parser._actions:
            if action.dest == "n_matches":
                action.help += f" On the command line {DEFAULT_MATCHES}, and none with a threshold."
    add_metric(parser, f"{cls().metric}{more}")
    return parameters


def estimator_of(options, learns=False):
    """Return the estimator with the parameters that were given, and a bar if somebody may look at it."""
    from ..distances import get_metric

    values = with_bar(given(options, options.parameters), options.parameters)
    if options.task == "search":
        values.setdefault("n_matches", None if learns or "threshold" in values else DEFAULT_MATCHES)
    of_objects = {one.key: values.pop(one.name) for one in options.parameters if one.key and one.name in values}
    if options.metric is not None:
        name, parameters = options.metric
        with errors_of("--metric"):
            if name.lower() != "auto":
                get_metric(name, parameters)
            elif not learns:
                raise ValueError("'auto' is chosen by labels: `sktslib learn` takes it, and saves what --model takes.")
        values |= {"metric": name, "metric_params": parameters or None}
    with errors_of("", options.parameters):
        return estimator_class(options.task)(**values).set_params(**of_objects)


def count_gap(estimator, recording):
    """Count a duration in the unit of the recording's times, which is the second where these are no numbers."""
    gap = getattr(estimator, "max_gap", None)
    if isinstance(gap, timedelta) and recording.times is not None:
        unit = unit_of(recording.time_name) if recording.times.dtype.kind == "f" else 1.0
        estimator.set_params(max_gap=gap.total_seconds() / unit)


def described(estimator):
    """Return the estimator as Python writes it, on one line."""
    shown = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_MATTER}
    defaults = type(estimator)().get_params(deep=False)
    changed = [f"metric={estimator.metric_!r}"]
    changed += [
        f"{name}={' '.join(repr(value).split())}"
        for name, value in shown.items()
        if name not in APART and repr(value) != repr(defaults[name])
    ]
    return f"{type(estimator).__name__}({', '.join(changed)})"


def hints(estimator, segments):
    """Yield hints on the result of a segmentation: the options that would give another one."""
    longest = None if estimator.lengths is None else estimator.lengths[1]
    if not len(segments):
        short = isinstance(longest, int) and 2 * longest < min(map(len, estimator.queries_))
        yield (
            f"--lengths: {longest}, the longest, is in samples, and the query has more than twice as many: raise it, "
            "or leave it out"
            if short
            else "a higher --background takes what costs more for repetitions, too"
        )
        return
    if estimator.background == "auto":
        yield (
            f"a sample of background costs {write_numbers([estimator.background_])[0]}; a repetition that costs far "
            "more than the others may be none: a lower --background leaves it out"
        )
    if segments.stretch.max() > LONG:
        yield (
            f"repetitions are up to {segments.stretch.max():.1f} times as long as the query: bound them with "
            "--lengths SHORTEST,LONGEST, or take a metric whose cost of stretching is in the unit of the values "
            "(--metric adtw)"
        )
