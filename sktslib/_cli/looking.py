"""The commands show and view, for looking at a recording before searching it."""

from collections import Counter

import numpy as np

from .._plots.base import MAX_ROWS
from ..io._columns import no_column
from ..io._parts import as_index, since, slice_of
from ..io._tables import listed, split_names
from ..utils._sampling import LONG, holes
from ..utils._times import EvenTimes
from .commands import reading_of
from .labels import label_column_name, read_labels_of
from .output import check_picture, counted, note, print_frame, tell_notes
from .recordings import CHUNK, Files, searched


def run_show(options):
    """Print the content of a recording; return the exit code."""
    check_picture(options.picture, "--picture")
    files = Files(reading_of(options))
    if options.part is not None:
        slice_of(options.part, "PART")
    given = options.recording if options.part is None else f"{options.recording}:{options.part}"
    recording = files.read(given, "the recording")
    files.check()
    tell_notes([recording])
    times = _timing(recording)
    rate = times["rate"]
    size = f"{recording.title}: {counted(recording, 'sample')} of {counted(recording.channels, 'channel')}"
    note(f"{size}.{recording.turned}" if recording.turned else size)
    if rate is None:
        note("no times are known: --time-column names a column of times, --rate gives the samples per second")
    else:
        pace = f"one every {1 / rate:.6g} s" if rate < 1 else f"{rate:.6g} per second"
        note(f"times {recording.time_name!r} from {times['first']} to {times['last']}, {pace}")
    if times["gaps"]:
        longest = max(times["gaps"], key=lambda gap: gap["seconds"])
        what = f"the longest {longest['seconds']:.6g} s, before sample {longest['sample']}"
        note(f"{counted(times['gaps'], 'gap')} of more than {LONG} usual steps: {what}; --max-gap keeps them apart")
    if len(recording.marks):
        kinds = Counter(recording.marks.label.tolist()).most_common()
        named = listed([f"{name} ({count})" for name, count in kinds], 8)
        note(f"{counted(recording.marks, 'mark')}, which --labels marks learns from: {named}")
    if options.picture is not None:
        from .pictures import draw_recording, save_picture

        if (count := len(recording.channels)) > MAX_ROWS:
            note(f"the picture shows the first {MAX_ROWS} of {count} channels; --columns names others")
        save_picture(draw_recording(recording, MAX_ROWS), options.picture)
    about = {"recording": recording.title, "samples": len(recording), "time_column": recording.time_name, **times}
    print_frame(_channels(recording), options.format, about, "channels")
    return 0


def _channels(recording):
    """Return a table of the channels with the number of missing values, minimum, mean and maximum."""
    import pandas as pd

    found = []  # for each chunk: sum, minimum, maximum and number of values
    for start in range(0, len(recording), CHUNK):
        part = np.array(recording.values[start : start + CHUNK], np.float64)
        part[~np.isfinite(part)] = np.nan
        found.append([np.nansum(part, 0), np.fmin.reduce(part), np.fmax.reduce(part), (~np.isnan(part)).sum(0)])
    total, least, largest, count = (np.array(rows) for rows in zip(*found, strict=True))
    known = count.sum(0)
    mean = np.divide(total.sum(0), known, out=np.full(len(known), np.nan), where=known > 0)
    columns = {"missing": len(recording) - known, "least": np.fmin.reduce(least), "mean": mean}
    return pd.DataFrame({"channel": recording.channels, **columns, "largest": np.fmax.reduce(largest)})


def _timing(recording):
    """Return first and last time, samples per second, and the gaps."""
    times, n = recording.times, len(recording)
    if times is None:
        return {"first": None, "last": None, "rate": None, "gaps": []}
    ends = (as_index(times[:1])[0], as_index(times[n - 1 :])[0])
    first, last = (f"{end:.12g}" if isinstance(end, float) else str(end) for end in ends)
    if isinstance(times, EvenTimes):
        rate, gaps = times.sampling.rate, getattr(times.sampling, "gaps", ())
    else:
        seconds = since(times, times[0]) * recording.unit
        steps = np.diff(seconds)
        most = LONG * np.median(steps) if n > 1 else np.nan
        rate = 1 / steps[steps <= most].mean() if n > 1 else np.nan  # rounding of times cancels in the mean step
        gaps = [(k, float(steps[k - 1])) for k in holes(seconds, most).tolist()]
    gaps = [{"sample": k, "seconds": seconds} for k, seconds in gaps]
    return {"first": first, "last": last, "rate": rate, "gaps": gaps}


# ----------------------------------------------------------------------------------------------------------------- view
READ = """\
from sktslib.io import read

recording = read({arguments}){part}
X, times = np.asarray(recording).reshape(len(recording), -1), recording.times"""


def reading_code(recording, reading, besides):
    """Return lines of Python that read the viewed recording, with the options of the file's reader."""
    rows, is_table = (recording.first, recording.first + len(recording)), recording.others is not None
    names = vars(reading).keys() - {"columns", "missing", "rate"} if is_table else {"transpose"}
    options = {name: value for name, value in vars(reading).items() if name in names and value not in (None, False)}
    if is_table and recording.part is not None:
        options["rows"] = rows
    if reading.columns is not None or besides:
        options["channels"] = recording.channels
    if missing := reading.words if is_table else reading.codes:
        options["missing"] = missing
    arguments = ", ".join([repr(recording.path), *(f"{name}={value!r}" for name, value in options.items())])
    part = "" if recording.part is None or is_table else "[{}:{}]".format(*rows)
    return READ.format(arguments=arguments, part=part)


def session_of(options):
    """Return the session of a file, with the given labels and channels."""
    from ..metrics import events_from_labels
    from ..view._session import Session

    reading, besides = reading_of(options), () if options.labels is None else label_column_name(options.labels)
    files = Files(reading)
    recording = files.read(options.recording, "the recording", besides=besides)
    files.check()
    tell_notes([recording])
    part = "" if recording.part is None else f".{recording.first}-{recording.first + len(recording)}"
    code = reading_code(recording, reading, besides)
    path = options.session or f"{recording.path}{part}.view.json"
    session = Session(searched(recording), path, name=recording.title, code=code)
    names = split_names(options.channels or "")
    for name in (name for name in names if name not in recording.channels):
        raise no_column("--channels", name, {recording.title: recording.channels})
    if names:
        session.settings["channels"] = sorted(map(recording.channels.index, names))
    if options.labels is not None and not session.answers:
        labels, line = read_labels_of(options.labels, recording, files)
        note(line)
        ranges = events_from_labels(labels)
        session.mark(ranges, labels[ranges[:, 0]])
    return session


def run_view(options):
    """Show a recording until Ctrl-C; return the exit code."""
    from ..view._server import serve

    serve(session_of(options), port=options.port, browser=not options.no_browser)
    return 0
