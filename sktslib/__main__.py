"""The command line: search and segment the packaged ECG, or one's own CSV files."""

import argparse
import ast
import errno
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import fill

import numpy as np

from ._cli.files import EPS_SHARE, Job, read_job

DISTANCES = ("dtw", "lcss", "twed", "euclidean")
# Of the points of the example's normal beats, laid over the query by their R peaks, 97 % lie within 0.3 mV of it but
# only 67 % within 0.1 mV: the baseline drifts. The R peak is 1.7 mV high, so 0.3 mV cannot take another wave for it.
ECG_EPS = 0.3
WINDOWS = sys.platform == "win32"

DESCRIPTION = """\
Find where a short pattern (the query) occurs in a long recording (the sequence), by several distances, and cut the
recording at each repetition. Without --query and --sequence it shows this on ten seconds of a real electrocardiogram.
"""
EPILOG = """\
A CSV file has one row per sample, with or without a header. A column named time... or t holds times (numbers or
ISO 8601 dates), a column named weight in the query's file holds weights, all others are channels. Without a header the
columns are numbered from 1. Example:

  python -m sktslib --query beat.csv --sequence day.csv --distance dtw --distance lcss --set lcss.eps=0.2
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)


def _number(text, convert, low, rule):
    try:
        if low <= convert(text) < np.inf:
            return convert(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"must be {rule}. Got {text!r}.")


def _number_of_matches(text):
    return text if text == "all" else _number(text, int, 1, "an integer of at least 1, or all")


def _threshold(text):
    return _number(text, float, 0, "a number in the range [0, inf)")


@contextmanager
def _errors_of(option):
    """Say of which option an error is."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"{option}: {error}") from None


def _parser():
    parser = _Parser(
        prog="python -m sktslib",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    files = parser.add_argument_group("your own files")
    files.add_argument("--query", metavar="FILE", help="CSV file of the pattern")
    files.add_argument("--sequence", metavar="FILE", help="CSV file of the recording")
    files.add_argument("--time-column", metavar="NAME", help="the column of times")
    files.add_argument("--weight-column", metavar="NAME", help="the column of weights in the query's file")
    files.add_argument("--columns", metavar="A,B", help="the columns to compare")
    search = parser.add_argument_group("search")
    search.add_argument(
        "--distance",
        metavar="NAME",
        action="append",
        help=f"a distance, may be repeated (default: {', '.join(DISTANCES)})",
    )
    search.add_argument(
        "--set",
        metavar="NAME.KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of a distance, may be repeated: --set dtw.alpha=0.7 (default: those of the library; eps of "
        f"lcss is {ECG_EPS} mV in the demonstration and {EPS_SHARE} standard deviations of the sequence elsewhere)",
    )
    search.add_argument(
        "--n-matches",
        metavar="K",
        type=_number_of_matches,
        help="how many occurrences at most, or all that fit (default: all with --threshold, else 12 in the "
        "demonstration and 10 elsewhere)",
    )
    search.add_argument(
        "--threshold",
        metavar="T",
        type=_threshold,
        help="the largest distance of an occurrence, for every distance alike",
    )
    search.add_argument(
        "--segment-by",
        metavar="NAME",
        help="the distance that cuts the recording (default: twed if used, else the first)",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE", default="sktslib.png", help="the picture (default: sktslib.png)")
    output.add_argument("--no-picture", action="store_true", help="draw nothing")
    output.add_argument("--csv", metavar="FILE", help="write all tables into one CSV file too")
    return parser


def _job(options):
    """The packaged example, or the user's files."""
    if options.query is None and options.sequence is None:
        for name in ("time_column", "weight_column", "columns"):
            given = getattr(options, name)
            if given is not None:
                raise ValueError(
                    f"--{name.replace('_', '-')} needs --query and --sequence. Got {given!r} without them."
                )
        from .datasets import load_ecg_example

        ecg = load_ecg_example()
        marks = (ecg.beats, ecg.beat_kinds.tolist())
        return Job(
            ecg.query,
            ecg.sequence,
            ecg.weight,
            ecg.tq,
            ecg.ts,
            query_label="time (s)",
            time_label="time (s)",
            value_label="mV",
            unit="s",
            eps=ECG_EPS,
            marks=marks,
            n_matches=12,
        )
    for name, other in (("query", "sequence"), ("sequence", "query")):
        if getattr(options, name) is None:
            raise ValueError(f"--{name} must be given with --{other}. Got --{other} {getattr(options, other)!r} alone.")
    columns = None if options.columns is None else [name.strip() for name in options.columns.split(",") if name.strip()]
    return read_job(
        options.query,
        options.sequence,
        time_column=options.time_column,
        weight_column=options.weight_column,
        columns=columns,
    )


def _metrics(options, job):
    """The metric objects by name, with the parameters of --set."""
    from .distances import get_metric
    from .distances._metrics.registry import metric_class
    from .search._comparison import resolve_mode

    def resolve(name, option):
        with _errors_of(option):
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
        try:
            parameters[name][key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[name][key] = value
    metrics = {}
    for name, params in parameters.items():
        with _errors_of("--set"):
            metrics[name] = get_metric(name, params)
        with _errors_of("--distance"):
            mode = resolve_mode(metrics[name], "auto", None)
        if mode == "windows" and len(job.query) > len(job.sequence):
            raise ValueError(
                f"--query must not be longer than --sequence for {name}, which compares pieces of the query's length. "
                f"Got {len(job.query)} and {len(job.sequence)} samples. Choose elastic distances with --distance."
            )
    by = "twed" if "twed" in metrics else next(iter(metrics))
    if options.segment_by is not None:
        by = resolve(options.segment_by, "--segment-by")
        if by not in metrics:
            raise ValueError(f"--segment-by must be a distance of this search ({', '.join(metrics)}). Got {by!r}.")
    return metrics, by


def _check_outputs(options):
    """Refuse at once what could not be written after the work."""
    from matplotlib.backend_bases import FigureCanvasBase

    if not options.no_picture:
        formats = FigureCanvasBase.get_supported_filetypes()
        if Path(options.output).suffix.lstrip(".").lower() not in formats:
            raise ValueError(f"--output must end in one of .{', .'.join(sorted(formats))}. Got {options.output!r}.")
    for name in ("csv",) if options.no_picture else ("output", "csv"):
        path = getattr(options, name)
        if path is not None and (not Path(path).absolute().parent.is_dir() or Path(path).is_dir()):
            raise ValueError(f"--{name} must name a file in a folder that exists. Got {path!r}.")


def _run(job, metrics, by, n_matches, threshold):
    """Occurrences by each distance, and the segmentation by one of them."""
    from .search import QuerySearcher, QuerySegmenter

    both = job.tq is not None and job.ts is not None
    tq, ts = (job.tq, job.ts) if both else (None, None)
    searches = {}
    for name, metric in metrics.items():
        with _errors_of(f"--distance {name}"):
            searcher = QuerySearcher(metric, n_matches=n_matches, threshold=threshold)
            searches[name] = searcher.fit(job.query, weight=job.weight, times=tq).search(job.sequence, times=ts)
    segments = QuerySegmenter(metrics[by]).fit(job.query, weight=job.weight, times=tq).segment(job.sequence, times=ts)
    return {name: replace(found, times=job.ts) for name, found in searches.items()}, replace(segments, times=job.ts)


def _report(options):
    """Do what the options say and print it."""
    from ._cli import report

    job = _job(options)
    metrics, by = _metrics(options, job)
    _check_outputs(options)
    usual = job.n_matches if options.threshold is None else None
    n_matches = {None: usual, "all": None}.get(options.n_matches, options.n_matches)
    print("searching; the first run compiles kernels (once), which takes some seconds ...", file=sys.stderr)
    timed = [name for name, metric in metrics.items() if metric.uses_times]
    if timed and (job.tq is None) != (job.ts is None):
        print(f"only one of the files has times, so {', '.join(timed)} counts samples", file=sys.stderr)
    searches, segments = _run(job, metrics, by, n_matches, options.threshold)
    text = report.summary(job, searches, segments, by)

    # Files first: who reads only the head of the tables gets them all the same.
    if options.csv is not None:
        report.frame_of(job, searches, segments, by).to_csv(options.csv, index=False)
    if not options.no_picture:
        titles = {f"{name}: {metrics[name].full_name}": found for name, found in searches.items()}
        report.draw(job, titles, segments, f"segmentation by {by}", text).savefig(options.output)
    for name, matches in searches.items():
        print(f"{metrics[name].full_name}, {metrics[name]!r}: {report.counted(matches, 'occurrence')}, best first")
        print("\n".join(report.table_of(job, matches, "distance")), end="\n\n")
    print(f"Segmentation by {by}: {report.counted(segments, 'repetition')} in order of time")
    print("\n".join(report.table_of(job, segments, "cost")), end="\n\n")
    print("\n".join(fill(line, 120) for line in text))
    if options.csv is not None:
        print(f"table: {options.csv}")
    if not options.no_picture:
        print(f"picture: {options.output}")


def _reader_is_gone(error):
    """Whether an error means that the reader of the output, such as head, has seen enough."""
    # Windows calls that an invalid argument, and a wrong file name too.
    invalid = WINDOWS and isinstance(error, OSError) and error.errno == errno.EINVAL and error.filename is None
    return invalid or isinstance(error, BrokenPipeError)


def main(argv=None):
    """Run the command line.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0, or 2 after a wrong option, which one line on the standard error stream explains.
    """
    try:
        _report(_parser().parse_args(argv))
        sys.stdout.flush()
    except (ValueError, OSError) as error:
        if _reader_is_gone(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"sktslib: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
