"""The command evaluate: found ranges against those that are known."""

from types import SimpleNamespace

import numpy as np

from .labels import are_ranges, around_of, confusions, label_column_name, ranges_of, read_labels_of
from .options import errors_of, given, reading_of
from .output import note, print_frame, tell_notes
from .recordings import Files


def run(options):
    """Compare ranges with labels; returns the exit code."""
    from ..metrics import event_report
    from ..search._query import occurrences, read_labels

    files = Files(reading_of(options))
    recording = files.read(options.recording, "the recording", besides=label_column_name(options.labels))
    files.check()
    tell_notes([recording])
    if are_ranges(options.labels, recording):
        instants = options.around is not None
        chosen = {"where": options.where, "instants": instants}
        true, kinds, described, _ = ranges_of(options.labels, recording, files, **chosen)
        if instants:
            before, after = around_of(options.around, recording)
            true = np.column_stack([np.maximum(true - before, 0), np.minimum(true + after, len(recording))])
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
        note(f"only the {'found ranges' if kinds is None else 'labels'} have classes, which do not count therefore")
        kinds = labels = None
    if kinds is not None:
        kinds, labels = np.asarray(kinds).astype(str), np.asarray(labels).astype(str)
    limits = given(options, options.parameters)
    if "tolerance" in limits:
        limits["tolerance"] = recording.count(limits["tolerance"], "--tolerance")
    ranges = SimpleNamespace(start=found[:, 0], end=found[:, 1], label=labels)
    with errors_of("", options.parameters):
        report = event_report(true, ranges, kinds=kinds, times=recording.times, **limits)
    scores = f"F1 {report.f1:.3f}, precision {report.precision:.3f}, recall {report.recall:.3f}"
    counts = f"{report.n_hit} hits, {report.n_missed} missed, {report.n_false} false"
    note(f"whatever the class: {scores}: {counts}")
    if kinds is not None and options.format == "table":
        print("what each class was found as, and its F1:", *confusions(report), "", sep="\n")
    about = {"recording": recording.title, "f1": report.f1, "precision": report.precision, "recall": report.recall}
    print_frame(_events(report), options.format, about, "events")
    return 0 if report.n_hit else 1


def _events(report):
    """Return a row for each hit, miss and false event, with the samples of both and what went wrong."""
    frame = report.to_frame()
    names = ["kind", "cause", "true_start", "true_end", "found_start", "found_end", "iou", "true_label", "label"]
    iou, frame = frame["iou"], frame[[name for name in names if name in frame]].astype(object)
    return frame.where(frame.notna(), "").assign(iou=iou)
