"""The command view."""

from .labels import label_column_name, read_labels_of
from .options import reading_of
from .output import note, tell_notes
from .recordings import Files, no_column, split_names

READ = """\
from sktslib.io import read

recording = read({arguments}){part}
X, times = np.asarray(recording).reshape(len(recording), -1), recording.times"""


def reading_code(recording, reading, besides):
    """Return lines that read what is viewed, by what the reader of the file takes; a rate finds nothing else."""
    options = {name: value for name, value in vars(reading).items() if value not in (None, False)}
    options = {name: value for name, value in options.items() if name not in ("columns", "missing", "rate")}
    rows, is_table = (recording.first, recording.first + len(recording)), recording.others is not None
    if not is_table:
        options = {name: value for name, value in options.items() if name == "transpose"}
    elif recording.part is not None:
        options["rows"] = rows
    if reading.columns is not None or besides:
        options["channels"] = recording.channels
    if missing := reading.words if is_table else reading.codes:
        options["missing"] = missing
    arguments = ", ".join([repr(recording.path), *(f"{name}={value!r}" for name, value in options.items())])
    part = "" if recording.part is None or is_table else "[{}:{}]".format(*rows)
    return READ.format(arguments=arguments, part=part)


def session_of(options):
    """Return the session of a file, with the labels and the channels that were given."""
    from ..metrics import events_from_labels
    from ..view._session import Session

    reading, besides = reading_of(options), () if options.labels is None else label_column_name(options.labels)
    files = Files(reading)
    recording = files.read(options.recording, "the recording", besides=besides)
    files.check()
    tell_notes([recording])
    part = "" if recording.part is None else f".{recording.first}-{recording.first + len(recording)}"
    code = reading_code(recording, reading, besides)
    given = {"times": recording.times, "names": recording.channels, "name": recording.title, "code": code}
    session = Session(recording.values, options.session or f"{recording.path}{part}.view.json", **given)
    if options.channels is not None:
        names = split_names(options.channels)
        for name in names:
            if name not in recording.channels:
                raise no_column("--channels", name, {recording.title: recording.channels})
        session.settings["channels"] = sorted(map(recording.channels.index, names))
    if options.labels is not None and not session.answers:
        labels, line = read_labels_of(options.labels, recording, files)
        note(line)
        ranges = events_from_labels(labels)
        session.mark(ranges, labels[ranges[:, 0]])
    return session


def run(options):
    """Show a recording until Ctrl-C; returns the exit code."""
    from ..view._server import serve

    serve(session_of(options), port=options.port, browser=not options.no_browser)
    return 0
