"""The command view."""

from .labels import label_column_name, read_labels_of
from .options import reading_of
from .output import note, tell_notes
from .recordings import Files, no_column, split_names

READ = """\
from sktslib._cli.recordings import Files
from sktslib._cli.tables import Reading

recording = Files({reading!r}).read({path!r}, "the recording", besides={besides!r})
X, times = recording.numbers, recording.times"""


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
    code = READ.format(reading=reading, path=options.recording, besides=besides)
    given = {"times": recording.times, "names": recording.names, "name": recording.title, "code": code}
    session = Session(recording.numbers, options.session or f"{recording.path}{part}.view.json", **given)
    if options.channels is not None:
        names = split_names(options.channels)
        for name in names:
            if name not in recording.names:
                raise no_column("--channels", name, {recording.title: recording.names})
        session.settings["channels"] = sorted(map(recording.names.index, names))
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
