"""The commands search, segment and learn."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from .._models import check_ending, load_model, save
from ..io._parts import slice_of
from ..io._tables import listed
from . import PART, output
from .commands import TASKS, WARNING, errors_of, given, reading_of
from .labels import label_column_name, lines_of_report, read_labels_of
from .recordings import FileRecording, Files, compared, mapped, scaled, searched

APART = ("metric", "metric_params", "query", "weight")  # have options of their own kind
NO_MATTER = ("n_jobs", "verbose")  # do not affect results, so they apply to saved estimators, too
DEFAULT_MATCHES = 10  # enough to see what a pattern finds
CHEAP = 2**31  # cells of all alignments up to which a picture shows the profile by default: at most a second
LONG = 3  # query lengths from which a repetition probably holds several


def estimator_of(options, learns=False):
    """Return the estimator with the given parameters, and with a progress bar at a terminal."""
    from .. import search
    from ..distances import get_metric

    values = given(options, options.parameters)
    if options.task == "search":
        values.setdefault("n_matches", None if learns or "threshold" in values else DEFAULT_MATCHES)
    of_objects = {one.key: values.pop(one.name) for one in options.parameters if one.key and one.name in values}
    if str(values.get("threshold")).lower().startswith("fdr"):  # a fixed seed makes decoys and p-values reproducible
        of_objects["threshold__random_state"] = 0
    if options.metric is not None:
        name, parameters = options.metric
        with errors_of("--metric"):
            if name.lower() != "auto":
                get_metric(name, parameters)
            elif not learns:
                raise ValueError("'auto' is chosen by labels: `sktslib learn` takes it, and saves what --model takes.")
        values |= {"metric": name, "metric_params": parameters or None}
    with errors_of("", options.parameters):
        return getattr(search, TASKS[options.task][0])(**values).set_params(**of_objects)


def count_durations(estimator, recording):
    """Convert durations in the estimator's parameters to the unit of the recording's times, or to samples.

    The unit is the second if the times are not numbers.
    """
    gap, lengths, channels = (getattr(estimator, name, None) for name in ("max_gap", "lengths", "channels"))

    def whole(value, option, least=0):
        if isinstance(value, tuple | list):
            return tuple(whole(one, option, least) for one in value)
        if not isinstance(value, timedelta) or (least and value <= timedelta(0)):  # the estimator refuses the latter
            return value
        return max(round(recording.count(value, option)), least)

    if isinstance(gap, timedelta) and recording.times is not None:
        estimator.set_params(max_gap=gap.total_seconds() / recording.unit)
    if lengths is not None:
        estimator.set_params(lengths=whole(lengths, "--lengths", 1))
    for name in ("lag", "tolerance") if channels is not None and not recording.is_dated else ():
        estimator.set_params(**{f"channels__{name}": whole(getattr(channels, name), f"--channel-{name}")})


def described(estimator):
    """Return the Python expression of the estimator on one line."""
    defaults, own = (one.get_params(deep=False) for one in (type(estimator)(), estimator))
    texts = {name: repr(value) for name, value in own.items() if name not in (*APART, *NO_MATTER)}
    changed = [f"{name}={' '.join(text.split())}" for name, text in texts.items() if text != repr(defaults[name])]
    return f"{type(estimator).__name__}({', '.join([f'metric={estimator.metric_!r}', *changed])})"


def hints(estimator, segments):
    """Yield hints on options that may improve the result of a segmentation."""
    longest = None if estimator.lengths is None else estimator.lengths[1]
    if not len(segments):
        what = f"{longest}, the longest, is in samples, and the query has more than twice as many"
        short = isinstance(longest, int) and 2 * longest < min(map(len, estimator.queries_))
        higher = "a higher --background accepts repetitions that cost more"
        yield f"--lengths: {what}: raise it, or leave it out" if short else higher
        return
    if segments.stretch.max() > LONG:
        what = f"repetitions are up to {segments.stretch.max():.1f} times as long as the query"
        yield f"{what}: bound them with --lengths SHORTEST,LONGEST, or use --metric adtw"


NOUNS = {"search": ("match", "matches"), "segment": ("repetition", "repetitions")}


def run(options):
    """Search or segment; return the exit code."""
    output.check_picture(options.picture, "--picture")
    shown = None if options.time_range is None else slice_of(options.time_range, "--time-range")
    to_draw = "of which it is the part that is shown. To search a part, write RECORDING:START-STOP"
    needs = ("time_range", "picture", to_draw), ("trust", "model", "which it is about")
    needs += (("profile", "picture", "into which it draws the distances of all candidates"),)
    for one, other, why in needs:
        if getattr(options, one, None) and getattr(options, other) is None:
            raise ValueError(f"--{one.replace('_', '-')} needs --{other}, {why}.")
    if (options.query is None) == (options.model is None):
        got = "neither" if options.query is None else "both"
        rule = f"one of --query and --model must be given. Got {got}"
        raise ValueError(f"{rule}. A query may be a part of a file: {PART}.")
    files = Files(reading_of(options))
    find = _by_model if options.query is None else _by_query
    estimator, recording, queries, found = find(options, files)
    if getattr(options, "one_per_place", False):
        count, found = len(found), found.without_overlaps(max_overlap=estimator.max_overlap)
        output.note(f"{count - len(found)} of {count} overlap a nearer one and are left out, as --one-per-place says")
    shown = None if shown is None else recording.samples(shown, "--time-range")
    titles = [query.title for query in queries]
    frame = _count(found) if options.counts else output.ranges_frame(found, titles)
    name = NOUNS[options.task][len(found) != 1]
    unit = "" if recording.time_name is None else f"; times as in {recording.time_name!r}"
    if "duration" in frame and (recording.times is None or recording.is_dated):
        unit += f"; durations in {'samples' if recording.times is None else 'seconds'}"
    output.note(f"{len(found)} {name} by {described(estimator)}; ranges are half-open, [start, end) in samples{unit}")
    if options.task == "segment" and not options.counts and (len(found) or options.model is None):
        for text in hints(estimator, found):
            output.note(text)
    about = {"recording": recording.title, "queries": titles, "estimator": described(estimator)}
    about |= {"columns": recording.channels, "samples": len(recording), "time_column": recording.time_name}
    if options.picture is not None:
        from . import pictures

        count, where = output.counted(found, NOUNS[options.task][0]), output.shortened(recording.short_title, 40)
        title = f"{count} in {where}: {estimator.metric_.full_name}"
        more = {"shown": shown, "periods": getattr(estimator, "periods_", None)}
        if options.task == "search" and (options.profile or _cells(estimator, len(recording)) <= CHEAP):
            more |= {"profile": estimator.profile(searched(recording)), "threshold": estimator.threshold_}
        elif options.task == "search":
            output.note("the picture leaves out the distances of all candidates, which take long to compute: --profile")
        pictures.save_picture(pictures.draw(queries, recording, {title: found}, **more), options.picture)
    if len(found) or options.format != "table":
        output.print_frame(frame, options.format, about, NOUNS[options.task][1], recording.times)
    return 0 if len(found) else 1


def _cells(estimator, n):
    """Return the number of cells in the alignments of all candidates in n samples; windows are aligned one by one."""
    from ..distances._metrics.elastic import ElasticMetric

    plans = [one for plan, _ in estimator._searches for one in plan.versions]
    apart = [isinstance(one.metric, ElasticMetric) and (one.mode == "windows" or one.by_range) for one in plans]
    return sum(n * one.x.size * (one.m if alone else 1) for one, alone in zip(plans, apart, strict=True))


def _count(found):
    """Return a table with one row: the number of repetitions, its interval, and the median duration."""
    import pandas as pd

    least, most = found.count_interval or (None, None)
    middle = float(np.median(found.duration)) if len(found) else None
    return pd.DataFrame({"count": [len(found)], "least": [least], "most": [most], "median_duration": [middle]})


def _by_query(options, files):
    estimator = estimator_of(options)
    recording = files.read(options.recording, "the recording", names=mapped(options.map))
    count_durations(estimator, recording)
    if options.query == ["auto"]:
        queries = []
        output.tell_notes([recording])
        line = f"columns compared: {listed(recording.channels)}"
    else:
        named = [recording.path + text if text.startswith(":") else text for text in options.query]
        queries = [files.read(text, "--query", weighted=True) for text in named]
        output.tell_notes([*queries, recording])
        queries, recording, line = compared(queries, recording, options.map)
    files.check()
    output.note(line)
    if options.scale:
        with errors_of(recording.title, (), "the recording"):
            *queries, recording = scaled([*queries, recording], recording)
    timed = recording.times is not None and all(query.times is not None for query in queries)
    if not queries:
        with errors_of(recording.title, options.parameters, "the recording"):
            estimator.set_params(query="auto").fit(searched(recording))
    else:
        # Without names if the recording's columns have none, because they would be missing there.
        inputs = [searched(one, timed, recording.names is not None) for one in queries]
        weights = None if all(query.weight is None for query in queries) else [query.weight for query in queries]
        several = len(queries) > 1
        with errors_of("--query", options.parameters, "the query"):
            estimator.fit(inputs if several else inputs[0], weight=weights if several else queries[0].weight)
    found = _found(options, estimator, recording, timed)
    return estimator, recording, queries or _learned(estimator), found


def _found(options, estimator, recording, timed):
    """Return the estimator's results for the recording."""
    if estimator.metric_.uses_times and recording.times is not None and not timed:
        output.note(f"only the recording has times, so {estimator.metric_.full_name} counts samples")
    with errors_of(recording.title, options.parameters, "the recording"):
        found = getattr(estimator, options.task)(searched(recording))
        return replace(found, channels=recording.channels)  # also where these are numbers


def _learned(estimator):
    """Return learned queries in the form that is drawn."""
    names = ("queries_", "weights_") if hasattr(estimator, "queries_") else ("query_", "weight_")
    queries, weights = (getattr(estimator, name) for name in names)
    queries, weights = (queries, weights) if isinstance(queries, list) else ([queries], [weights])
    classes = list(getattr(estimator, "classes_", ()))
    own = len(classes) == len(queries) and not isinstance(getattr(estimator, "query", None), str)
    titles = [f"class {name}" for name in classes] if own else [f"template {k + 1}" for k in range(len(queries))]
    more = {"names": getattr(estimator, "feature_names_in_", None)}
    made = zip(queries, titles, weights, strict=True)
    return [FileRecording(x, path=title, weight=weight, **more) for x, title, weight in made]


# ------------------------------------------------------------------------------------------------------------- models
def _by_model(options, files):
    from ..search import QuerySearcher, QuerySegmenter

    values = given(options, options.parameters)
    refused = [one.option for one in options.parameters if one.name in values and one.name not in NO_MATTER]
    refused += [f"--{name}" for name in ("metric", "scale") if getattr(options, name, None) is not None]
    if refused:
        rule = "left out with --model, whose parameters are those it was learned with"
        raise ValueError(f"{refused[0]} must be {rule}. Learn again with `sktslib learn`.")
    with errors_of(""):
        estimator = load_model(options.model, options.trust)
    task = {QuerySearcher: "search", QuerySegmenter: "segment"}.get(type(estimator))
    if task != options.task:
        other = f"which is for `sktslib {task}`" if task else f"a {type(estimator).__name__}"
        raise ValueError(f"--model must be learned with --task {options.task}. Got {options.model!r}, {other}.")
    if not hasattr(estimator, "n_features_in_"):
        raise ValueError(f"--model must be fitted, as `sktslib learn` saves it. Got {options.model!r}, which is not.")
    estimator.set_params(**values)
    recording = files.read(options.recording, "the recording", names=mapped(options.map))
    output.tell_notes([recording])
    files.check()
    try:
        queries, recording, line = compared(_learned(estimator), recording, options.map, ("model", "sequence"))
        output.note(line)
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None and recording.names is not None:
            recording = recording.take(recording.channels, list(names))
        elif names is not None:  # a note has said in which order
            del estimator.feature_names_in_
        return estimator, recording, queries, _found(options, estimator, recording, recording.times is not None)
    except AttributeError as error:
        got = f"{options.model!r}, in which something is missing ({error})"
        raise ValueError(f"--model must be learned by this version of sktslib. Got {got}. Learn again.") from None


def run_learn(options):
    """Learn from labels and save the estimator."""
    from ..distances import get_metric

    estimator = estimator_of(options, learns=True)  # a learned threshold limits the number of matches
    chosen = str(estimator.metric).lower() == "auto"
    output.check_writable(options.output, "--output")
    check_ending(options.output, None if chosen else get_metric(estimator.metric, estimator.metric_params))
    files = Files(reading_of(options))
    recording = files.read(options.recording, "the recording", besides=label_column_name(options.labels))
    files.check()
    trains = bool(getattr(options, "self_train", 0))
    given = {name: getattr(options, name) for name in ("labeled", "on_overlap", "where", "around")}
    labels, line = read_labels_of(options.labels, recording, files, self_train=trains, **given)
    output.tell_notes([recording])
    output.note(f"columns compared: {listed(recording.channels)}")
    output.note(line)
    count_durations(estimator, recording)
    with errors_of(recording.title, options.parameters, "the recording"):
        X = searched(recording)
        estimator.fit(X, labels)
        lines = list(lines_of_report(estimator, X, labels, trains))
    if not hasattr(options, "verbose"):
        estimator.set_params(verbose=0)  # the saved model must not show bars elsewhere
    save(estimator, options.output)
    if hasattr(estimator, "cv_results_"):  # a metric was chosen
        why = "chosen by the labels" if estimator.cv_results_ else "by default, for there are too few ranges"
        rest = f", normalize={estimator.normalize_!r}" if options.task == "search" else ""
        output.note(f"metric {why}: {estimator.metric_!r}{rest}")
    for k, counts in enumerate(getattr(estimator, "self_training_", ()), 1):
        taken = (f"{count} of {name}" for name, count in zip(estimator.classes_, counts, strict=True))
        output.note(f"self-training, round {k}: {', '.join(taken)} in unlabeled samples")
    queries = _learned(estimator)
    lengths = ", ".join(f"{query.title}: {len(query.values)} samples" for query in queries)
    output.note(f"learned {output.counted(queries, 'template')}: {lengths}")
    trust = f" --trust; {WARNING}" if options.output.endswith(".joblib") else ""
    model = f"model: {options.output} (sktslib {options.task} RECORDING --model {options.output}{trust})"
    print(*lines, model, sep="\n")
    return 0
