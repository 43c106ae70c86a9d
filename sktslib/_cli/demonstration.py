"""The command demo: several distances side by side, on the packaged ECG or on files of one's own."""

from dataclasses import dataclass, replace
from textwrap import fill

import numpy as np

from ..utils._jobs import progress
from ..utils.validation import as_series
from .options import DISTANCES, ECG_EPS, EPS_SHARE, errors_of, is_terminal, reading_of, value_of
from .output import (
    Drawn,
    DrawnQuery,
    check_picture,
    check_writable,
    counted,
    decimals_between,
    draw,
    drawn,
    drawn_query,
    lines_of,
    note,
    ranges_frame,
    tell_notes,
    write_times,
)
from .recordings import Files, compared

BEATS = "R peak (s), kind"  # column


@dataclass
class Job:
    """Queries and sequence of a demonstration as the user gave them, with their names in tables and in the picture."""

    query: DrawnQuery
    sequence: Drawn
    eps: float
    columns: str  # which are compared
    beats: list | None = None  # time and class of each marked beat
    n_matches: int = 10


def read_job(options):
    """Return the packaged example, or the user's files."""
    if options.query is None and options.sequence is None:
        for name in ("time_column", "weight_column", "columns"):
            given = getattr(options, name)
            if given is not None:
                raise ValueError(
                    f"--{name.replace('_', '-')} needs --query and --sequence. Got {given!r} without them."
                )
        from ..datasets import load_ecg_example

        ecg = load_ecg_example()
        times = write_times(ecg.ts[ecg.beats], decimals_between(ecg.ts))
        return Job(
            DrawnQuery("query", ecg.query, ecg.tq, ecg.weight, "time (s)"),
            Drawn(ecg.sequence, ecg.ts, "time (s)", ["mV"], (ecg.beats, ecg.beat_kinds.tolist())),
            eps=ECG_EPS,
            columns="the packaged electrocardiogram, in mV and s",
            beats=[f"{time} {kind}" for time, kind in zip(times, ecg.beat_kinds, strict=True)],
            n_matches=12,
        )
    for name, other in (("query", "sequence"), ("sequence", "query")):
        if getattr(options, name) is None:
            raise ValueError(f"--{name} must be given with --{other}. Got --{other} {getattr(options, other)!r} alone.")
    files = Files(reading_of(options))
    query = files.read(options.query, "--query", weighted=True)
    (query,), sequence, line = compared([query], files.read(options.sequence, "--sequence"))
    files.check()
    as_series(query.values, "--query")
    as_series(sequence.values, "--sequence")
    tell_notes([query, sequence])
    return Job(
        drawn_query(query),
        drawn(sequence),
        eps=float(f"{EPS_SHARE * np.std(sequence.values, axis=0).min():.3g}"),
        columns=line,
    )


def metrics_of(options, job):
    """Return the metric objects by name, with the parameters of --set, and the one that segments."""
    from ..distances import get_metric
    from ..distances._metrics.registry import metric_class
    from ..search._plan import resolve_mode

    def resolve(name, option):
        with errors_of(option):
            return metric_class(name, "distance").name

    parameters = {resolve(name, "--distance"): {} for name in options.distance or DISTANCES}
    if "lcss" in parameters:
        parameters["lcss"]["eps"] = job.eps
    for text in options.set:
        target, equals, value = text.partition("=")
        name, dot, key = target.rpartition(".")
        if not (equals and dot and key):
            raise ValueError(f"--set must have the form NAME.KEY=VALUE, such as lcss.eps=0.2. Got {text!r}.")
        name = resolve(name, "--set")
        if name not in parameters:
            raise ValueError(f"--set must name a distance of this search ({', '.join(parameters)}). Got {text!r}.")
        parameters[name][key] = value_of(value)
    metrics = {}
    m, n = len(job.query.values), len(job.sequence.values)
    for name, params in parameters.items():
        with errors_of("--set"):
            metrics[name] = get_metric(name, params)
        with errors_of("--distance"):
            mode = resolve_mode(metrics[name], "auto", None)
        if mode == "windows" and m > n:
            raise ValueError(
                f"--query must not be longer than --sequence for {name}, which compares pieces of the query's length. "
                f"Got {m} and {n} samples. Choose elastic distances with --distance."
            )
    by = "twed" if "twed" in metrics else next(iter(metrics))
    if options.segment_by is not None:
        by = resolve(options.segment_by, "--segment-by")
        if by not in metrics:
            raise ValueError(f"--segment-by must be a distance of this search ({', '.join(metrics)}). Got {by!r}.")
    return metrics, by


def find(job, metrics, by, n_matches, threshold):
    """Return occurrences by each distance, and the segmentation by one of them."""
    from ..search import QuerySearcher, QuerySegmenter

    query, sequence, verbose = job.query, job.sequence, int(is_terminal())
    timed = query.times is not None and sequence.times is not None
    fit = {"weight": query.weight, "times": query.times if timed else None}
    times, searches = sequence.times if timed else None, {}
    with progress(len(metrics), verbose, "search", "distance") as count:
        for name, metric in metrics.items():
            with errors_of(f"--distance {name}"):
                searcher = QuerySearcher(metric, n_matches=n_matches, threshold=threshold).fit(query.values, **fit)
                searches[name] = replace(searcher.search(sequence.values, times=times), times=sequence.times)
            count()
    segmenter = QuerySegmenter(metrics[by], verbose=verbose).fit(query.values, **fit)
    return searches, replace(segmenter.segment(sequence.values, times=times), times=sequence.times)


def run(options):
    """Do what the options say and print it."""
    job = read_job(options)
    metrics, by = metrics_of(options, job)
    if not options.no_picture:
        check_picture(options.output, "--output")
    check_writable(options.csv, "--csv")
    usual = job.n_matches if options.threshold is None else None
    n_matches = {None: usual, "all": None}.get(options.n_matches, options.n_matches)
    note(job.columns)
    note("searching; the first run compiles kernels (once), which takes some seconds ...")
    timed = [name for name, metric in metrics.items() if metric.uses_times]
    if timed and (job.query.times is None) != (job.sequence.times is None):
        note(f"only one of the files has times, so {', '.join(timed)} counts samples")
    searches, segments = find(job, metrics, by, n_matches, options.threshold)
    text = summary(job, searches, segments, by)
    tables = [
        (f"{metrics[name].full_name}, {metrics[name]!r}: {counted(found, 'occurrence')}, best first", found)
        for name, found in searches.items()
    ]
    tables.append((f"Segmentation by {by}: {counted(segments, 'repetition')} in order of time", segments))
    frames = [frame_of(job, found) for _, found in tables]

    # Files first: who reads only the head of the tables gets them all the same.
    if options.csv is not None:
        write_tables(frames, [*searches, by], options.csv)
    if not options.no_picture:
        panels = {f"{name}: {metrics[name].full_name}": found for name, found in searches.items()}
        panels[f"segmentation by {by}"] = segments
        query = job.query._replace(title="query and the weights of its points")
        draw([query], job.sequence, panels, text).savefig(options.output)
    for (title, _), frame in zip(tables, frames, strict=True):
        print(title, *lines_of(frame, job.sequence.times), "", sep="\n")
    print("\n".join(fill(line, 120) for line in text))
    if options.csv is not None:
        print(f"table: {options.csv}")
    if not options.no_picture:
        print(f"picture: {options.output}")
    return 0


def frame_of(job, found):
    """Return a table of `Matches` or `Segments`, with the known beats in each range."""
    frame = ranges_frame(found).drop(columns=["label", "stretch", "duration"], errors="ignore")
    return frame if job.beats is None else frame.assign(**{BEATS: beats_in(job, found)})


def write_tables(frames, names, path):
    """Write all tables into one file, a row for each occurrence, and behind them for each repetition."""
    import pandas as pd

    kinds = ["occurrence"] * (len(frames) - 1) + ["repetition"]
    table = pd.concat(
        frame.rename(columns={"cost": "distance", "number": "rank", BEATS: "beats"}).assign(kind=kind, metric=name)
        for frame, kind, name in zip(frames, kinds, names, strict=True)
    )
    first = ["kind", "metric"]
    table[[*first, *table.columns.drop(first)]].to_csv(path, index=False)


def beats_in(job, found):
    """Return for each range the known beats whose R peak is in it, as text."""
    at, texts = job.sequence.marks[0], np.array(job.beats)
    return [", ".join(texts[(at >= s) & (at < e)]) or "-" for s, e in zip(found.start, found.end, strict=True)]


def summary(job, searches, segments, by):
    """Say in a few lines what the tables and the picture show."""
    colors = (
        "Colored: the occurrences, numbered from the best, which has the smallest distance. Shaded: the repetitions."
    )
    if job.beats is None:
        return [colors]
    held = []
    for name, found in [*searches.items(), (f"segmentation by {by}", segments)]:
        kinds = [beat[-1] for beat in beats_in(job, found)]
        counts = [f"{kinds.count(key)} {key.replace('-', 'without a beat')}" for key in "NFV-" if key in kinds]
        held.append(f"{name} {', '.join(counts) or 'none'}")
    return [
        colors,
        f"Beats: N normal, like the query; V wide and ectopic; F in between. Found: {'; '.join(held)}.",
        "The normal beats at 3.633 s and 4.158 s lie closer together than the query is long: an occurrence of full "
        "length at one leaves no room for one at the other.",
    ]
