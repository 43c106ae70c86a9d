"""Labels to learn from, given as a column of the recording or a table of ranges; and the command evaluate."""

import os
from datetime import timedelta
from types import SimpleNamespace

import numpy as np

from ..io._columns import kind_of_column, no_column, times_of_columns
from ..io._parts import as_index, first_samples, seconds_of, since, slice_of
from ..io._tables import listed, split_names
from .commands import ON_OVERLAP, errors_of, given, reading_of
from .output import align, note, print_frame, tell_notes
from .recordings import Files, said_of_files

EDGES = (("start_time", "end_time"), ("start", "end"), ("onset", "duration"))
INSTANTS = ("sample", "peak", "time", "onset", "start_time", "start")
TIMED = ("start_time", "time", "onset")  # names of columns that hold times
CLASSES = ("label", "class", "kind", "type", "event")
MARKS = "marks"  # value of --labels for the annotations in the recording's own file


def label_column_name(given):
    """Return the columns of a recording that hold labels, and so are not channels."""
    return () if os.path.exists(given) else (given,)


def are_ranges(given, recording):
    """Return whether labels are ranges, from a file or the recording's marks, and not a column."""
    return os.path.exists(given) or (given == MARKS and len(recording.marks) > 0)


def read_labels_of(given, recording, files, *, labeled=None, self_train=False, **ranges):
    """Return a label for each sample of a recording.

    Parameters
    ----------
    given : str
        A column of the recording, or a file of ranges.
    recording : Recording
        The recording.
    files : Files
        How files are read.
    labeled : str, optional
        The part that was looked through, START-STOP; the rest is unlabeled.
    self_train : bool
        Whether the label -1 means unlabeled.
    **ranges
        The values of --on-overlap, --where and --around, which apply only to files of ranges.

    Returns
    -------
    tuple of (ndarray of shape (n,), str)
        The labels, and a line about them.
    """
    from ..search._query import known_labels, occurrences, read_labels

    if are_ranges(given, recording):
        labels, described = _of_ranges(given, recording, files, **ranges)
    elif wrong := [name for name, value in ranges.items() if value is not None]:
        option = f"--{wrong[0].replace('_', '-')}"
        raise ValueError(f"{option} needs --labels to name a file of ranges. Got the column {given!r}. Leave it out.")
    else:
        labels, described = _of_column(given, recording)
    if self_train:
        labels = _with_unlabeled(labels, labeled, recording)
    elif labeled is not None:
        needs = "--self-train, such as --self-train 3, by which --task segment learns from unlabeled samples, too"
        way_out = "To learn from the labeled part alone, write RECORDING:START-STOP."
        raise ValueError(f"--labeled needs {needs}. Got {labeled!r}. {way_out}")
    known, unlabeled = known_labels(labels, self_train)
    read = read_labels(known)
    ranges, _ = occurrences(read.code)
    line = f"labels: {len(ranges)} ranges of {listed(read.classes)}, {described}"
    if unlabeled.any():
        line += f"; {unlabeled.sum()} of {len(labels)} samples unlabeled"
    elif any(str(name) == "-1" for name in read.classes):
        line += "; -1 is one of the classes: with --task segment --self-train 3 it means unlabeled"
    if not len(ranges) or (not (read.code == 0).any() and len(read.classes) < 2):
        rule = "at least one range of two samples or more, and the background between ranges by 0 or nothing"
        outside = "" if labeled is None else f" Samples outside of --labeled {labeled} do not count."
        raise ValueError(f"--labels must mark {rule}. Got {line}.{outside}")
    return labels, line


def _with_unlabeled(labels, labeled, recording):
    """Return labels with the number -1 for unlabeled samples, even if the other labels are texts."""
    out = np.where(labels == "-1", -1, labels.astype(object)) if labels.dtype.kind == "U" else labels
    if labeled is None:
        return out
    (start, stop), at = recording.samples(slice_of(labeled, "--labeled"), "--labeled"), np.arange(len(out))
    return np.where((start <= at) & (at < stop), out, -1)


def _of_column(name, recording):
    if recording.others is None or name not in recording.others:
        there = [] if recording.others is None else recording.others.columns
        own = ", or marks, those of the recording" * (len(recording.marks) > 0)
        raise no_column("--labels", name, {recording.option: there}, f"a file of ranges that exists{own}, or a column")
    column = recording.others[name]
    if column.dtype.kind in "biuf":
        values = column.fillna(0).to_numpy()
        return (values.astype(np.int64) if (values == np.round(values)).all() else values), f"column {name!r}"
    # As an array of texts, because objects would be compared one by one.
    return column.fillna("").astype(str).str.strip().to_numpy().astype("U"), f"column {name!r}"


def _of_ranges(path, recording, files, on_overlap=None, where=None, around=None):
    from ..metrics import labels_from_events

    ranges, kinds, described, way_out = ranges_of(path, recording, files, where=where, around=around)
    rules = {"n_samples": len(recording), "on_overlap": on_overlap or "error"}
    try:
        with errors_of("--labels", ON_OVERLAP):
            return labels_from_events(ranges, kinds, **rules), described
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}{way_out}.") from None


def around_of(text, recording):
    """Return the numbers of samples before and after an instant that --around gives."""
    found = [number if (s := seconds_of(number)) is None else timedelta(seconds=s) for number in split_names(text)]
    found = [int(one) if str(one).isdigit() else recording.count(one, "--around") for one in found]
    if len(found) != 2 or any(isinstance(one, str) or one < 0 for one in found):
        rule = "BEFORE,AFTER in samples (12,18) or as durations (0.1s,0.15s)"
        raise ValueError(f"--around must be {rule}. Got {text!r}.")
    return [round(one) for one in found]


def ranges_of(path, recording, files, option="--labels", where=None, around=None):
    """Return ranges from a table.

    Parameters
    ----------
    path : str
        The file.
    recording : Recording
        The recording that the ranges mark.
    files : Files
        How files are read.
    option : str
        The option that names the file.
    where : str, optional
        COLUMN=VALUE of the ranges that count.
    around : str, optional
        BEFORE,AFTER: how far ranges extend around single samples, such as R peaks.

    Returns
    -------
    tuple of (ndarray of shape (n_ranges, 2), ndarray or None, str, str)
        The ranges in samples, their classes, how they were read, and a way out where they overlap.
    """
    instants = around is not None
    try:
        are_marks = path == MARKS and not os.path.exists(path)
        source = files.source(recording.path if are_marks else path, option)[0]
        frame = _chosen(source.marks.to_frame() if are_marks else getattr(source, "frame", None), where, path)
    except ValueError as error:
        raise ValueError(said_of_files(str(error))) from None
    by_name = {name.lower().strip(): name for name in getattr(frame, "columns", ())}
    edges = next(((by_name[a], by_name[b]) for a, b in EDGES if {a, b} <= by_name.keys()), None)
    if instants:
        edges = [by_name[name] for name in (*INSTANTS, *list(by_name)[: len(by_name) == 1]) if name in by_name][:1]
    timed = bool(edges) and edges[0].lower().strip() in TIMED
    if timed and recording.times is None and {"start", "end"} <= by_name.keys() and not instants:
        edges, timed = (by_name["start"], by_name["end"]), False
    if not edges:
        what = "a column of the recording, or " if option == "--labels" else ""
        rule = "the columns start and end (samples), or start_time and end_time, or onset and duration"
        rule = f"a column {' or '.join(INSTANTS[:3])}" if instants else rule
        got = f"{path!r} with {listed(by_name.values())}. Instants, such as R peaks, need --around 0.1s,0.15s"
        raise ValueError(f"{option} must name {what}a file with {rule}. Got {got}.")
    columns = [frame[name] for name in edges]
    if len(edges) == 2 and edges[1].lower().strip() == "duration":
        if any(kind_of_column(column) != "number" for column in columns):
            raise ValueError(f"{option}: onset and duration must be seconds. Got {columns[0].iloc[0]!r} in {path!r}.")
        columns[1] = columns[0] + columns[1]
    numbers = all(kind_of_column(column) == "number" for column in columns)
    timed = timed or not numbers or any((column != column.round()).any() for column in columns)
    if timed:
        found = [_samples_at(column, recording, files.reading, option) for column in columns]
        samples, what = np.column_stack([at for at, _ in found]), found[0][1]
    else:
        what = "samples"
        samples = np.column_stack([column.to_numpy() for column in columns]).astype(np.int64) - recording.first
    ends = samples[:, -1] + instants
    whole = (samples[:, 0] >= 0) & (ends <= len(recording)) & (ends > samples[:, 0])
    read = f"{' to '.join(map(repr, edges))} read as {what}"
    if not whole.any():
        where = f"in the recording of {len(recording)} samples"
        raise ValueError(f"{option}: none of the {len(samples)} ranges is {where}. Got {read}.{recording.turned}")
    classes = next((by_name[name] for name in CLASSES if name in by_name), None)
    kinds = None if classes is None else frame[classes].to_numpy()[whole]
    if kinds is not None and kinds.dtype.kind not in "biu":
        kinds = kinds.astype(str)
    others = (name for name in frame if name not in (*edges, classes))
    other = next((name for name in others if 1 < frame[name].nunique() <= len(frame) / 2), None)
    way_out = "" if other is None else f", or --where {other}={frame[other].iloc[0]} to learn from some of them"
    left = "" if whole.all() else f", {len(whole) - whole.sum()} ranges that are not whole in the recording left out"
    samples = samples[whole]
    if instants:
        before, after = around_of(around, recording)
        samples = np.clip(samples + np.array([-before, after]), 0, len(recording))
    return samples, kinds, f"{read}{left}", way_out


def _chosen(frame, where, path):
    """Return the rows of a table that --where selects by the value of a column."""
    if where is None:
        return frame
    name, equals, value = where.partition("=")
    if frame is None or not equals or name not in frame:
        raise no_column("--where", name, {path: [] if frame is None else list(frame)}, "COLUMN=VALUE with a column")
    texts = frame[name].astype(str).str.strip()
    if not (texts == value).any():
        raise ValueError(f"--where must name a value of {name!r}. Got {value!r}; there are {listed(texts.unique())}.")
    return frame[texts == value]


def _samples_at(column, recording, reading, option):
    """Return the first samples at or after given times, and how the times were read.

    In a recording with dates or clock times, numbers count as seconds from its first time.
    """
    times, what = recording.times, "times"
    if times is None:
        way_out = "Name its column, --time-column, or its samples per second, --rate, or give samples."
        raise ValueError(f"{option}: the column {column.name!r} holds times, and the recording has none. {way_out}")
    wanted = times_of_columns([column], option, reading)[0]
    head = as_index(times[:1])
    begin, kinds = head[0] if recording.begin is None else recording.begin, (head.dtype.kind, wanted.dtype.kind)
    if kinds[0] in "Mm" and kinds[1] == "f":
        what = f"seconds from {begin}, where the recording begins"
    elif kinds[0] != kinds[1] and not {*kinds} <= {*"fiu"}:
        rule = f"hold times like those of the recording, from {head[0]}"
        raise ValueError(f"{option}: the column {column.name!r} must {rule}. Got {wanted[0]}.")
    elif kinds[0] == "M" and (head.tz is None) != (wanted.tz is None):
        wanted = wanted.tz_localize(head.tz if wanted.tz is None else None)
    return first_samples(times, since(wanted, begin), begin), what


def lines_of_report(estimator, X, labels, trains=False):
    """Yield the lines of a report on what was learned: its F1, and a table of true and found classes."""
    from ..metrics import event_report
    from ..search._query import known_labels, occurrences, read_labels

    if not hasattr(estimator, "report_"):  # nothing was learned, and the report says so
        return
    report, where = estimator.report_, "in blocks that were held out"
    if report is None:
        where = "on the labels that it learned from (--metric auto holds out blocks)"
        known, unlabeled = known_labels(labels, trains)
        found = estimator.search(X) if hasattr(estimator, "search") else estimator.segment(X)
        found = found.without_overlaps() if hasattr(found, "distance") else found  # classes are searched for one by one
        found = found[~unlabeled[(found.start + found.end) // 2]]
        read = read_labels(known)
        ranges, code = occurrences(read.code)
        found = SimpleNamespace(start=found.start, end=found.end, label=found.label)
        report = event_report(ranges, found, kinds=read.classes[code - 1])
    yield f"F1 {report.f1:.3f} whatever the class, {where}; what each class was found as, and its F1:"
    yield from confusions(report)


def confusions(report):
    """Return the lines of a table of which class each true event was found as, with the F1 per class."""
    table = report.confusion()
    columns = {f"as {name}": [str(count) for count in counts] for name, counts in table.iloc[:, :-1].items()}
    columns = {"true": list(map(str, table.index)), **columns, "missed": list(map(str, table.iloc[:, -1]))}
    return align(columns | {"F1": [*(f"{f1:.3f}" for f1 in report.by_class()["f1"]), ""]})


# ------------------------------------------------------------------------------------------------------------- evaluate
def run_evaluate(options):
    """Compare ranges with labels; returns the exit code."""
    from ..metrics import event_report
    from ..search._query import occurrences, read_labels

    files = Files(reading_of(options))
    recording = files.read(options.recording, "the recording", besides=label_column_name(options.labels))
    files.check()
    tell_notes([recording])
    if are_ranges(options.labels, recording):
        chosen = {"where": options.where, "around": options.around}
        true, kinds, described, _ = ranges_of(options.labels, recording, files, **chosen)
        note(f"labels: {len(true)} ranges, {described}")
    else:
        labels, line = read_labels_of(options.labels, recording, files, where=options.where, around=options.around)
        read = read_labels(labels)
        true, code = occurrences(read.code)
        kinds = read.classes[code - 1]
        note(line)
    found, labels, described, _ = ranges_of(options.found, recording, files, "FOUND")
    note(f"found: {len(found)} ranges, {described}")
    if (kinds is None) != (labels is None):
        note(f"only the {'found ranges' if kinds is None else 'labels'} have classes, which therefore do not count")
        kinds = labels = None
    if kinds is not None:
        kinds, labels = np.asarray(kinds).astype(str), np.asarray(labels).astype(str)
    limits = given(options, options.parameters)
    if "tolerance" in limits:
        limits["tolerance"] = recording.count(limits["tolerance"], "--tolerance")
    ranges = SimpleNamespace(start=found[:, 0], end=found[:, 1], label=labels)
    with errors_of("", options.parameters):
        report = event_report(true, ranges, kinds=kinds, times=recording.times, **limits)
    about = {name: getattr(report, name) for name in ("f1", "precision", "recall")}
    scores = ", ".join(f"{name.replace('f', 'F')} {score:.3f}" for name, score in about.items())
    note(f"whatever the class: {scores}: {report.n_hit} hits, {report.n_missed} missed, {report.n_false} false")
    if kinds is not None and options.format == "table":
        print("what each class was found as, and its F1:", *confusions(report), "", sep="\n")
    frame = report.to_frame()
    names = ["kind", "cause", "true_start", "true_end", "found_start", "found_end", "iou", "true_label", "label"]
    iou, frame = frame["iou"], frame[[name for name in names if name in frame]].astype(object)
    frame = frame.where(frame.notna(), "").assign(iou=iou)
    print_frame(frame, options.format, {"recording": recording.title, **about}, "events")
    return 0 if report.n_hit else 1
