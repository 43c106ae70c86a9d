"""The commands and their arguments; what runs a command is imported once its options have been read."""

import argparse
import difflib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NamedTuple

from .. import __version__
from . import PART
from .options import (
    DISTANCE,
    EVALUATE,
    FORMATS,
    MAP,
    METRICS,
    PAIRWISE,
    SEARCH,
    SEGMENT,
    WARNING,
    Parser,
    add_metric,
    add_options,
    add_output,
    add_parameters,
    add_reading,
    add_scale,
    number,
)

EXAMPLES = """\
examples:
  sktslib                                                      the demonstration, on a real electrocardiogram
  sktslib show day.csv --picture day.png                       what day.csv holds
  sktslib search day.csv --query beat.csv --picture found.png  where beat.csv occurs in day.csv
  sktslib search day.csv --query :12.5s-13.1s --n-matches 20   where that part of day.csv occurs again
  sktslib segment walk.csv --query :475-690 --format csv       cut the recording into repetitions
  sktslib count exercise.csv --picture why.png                 how many repetitions, and where each of them is
  sktslib learn walk.csv --labels strides.csv --output model.skops && sktslib segment next.csv --model model.skops
  sktslib view walk.csv                                        look at it, drag over a pattern, answer, take it away
  sktslib distance a.csv b.csv --metric dtw:window=0.1 --metric euclidean

exit code: 0 something was found or done, 1 nothing was found, 2 an option or a file is wrong
"""


class Task(NamedTuple):
    """Name of the estimator of a command, its default metric, the verb of its help, and its parameters."""

    estimator: str
    metric: str
    finds: str
    parameters: list


TASKS = {
    "search": Task("QuerySearcher", "dtw", "search in", SEARCH),
    "segment": Task("QuerySegmenter", "adtw", "segment", SEGMENT),
}


def add_estimator(parser, task, more=""):
    """Add the metric and every parameter of the task's estimator."""
    title = f"parameters of {task.estimator}; a VALUE is a Python literal, none or a word"
    add_parameters(parser, title, task.parameters)
    add_metric(parser, f"{task.metric}{more}")


def add_task(parser, argv, name="segment", counts=False):
    """Add the arguments of search, segment or count."""
    task = TASKS[name]
    parser.add_argument(
        "recording", metavar="RECORDING", help=f"the file to {task.finds}, or a part of it, FILE:START-STOP"
    )
    more = "; auto: one period of the recording" if name == "segment" else ""
    query = (
        f"the pattern, a file or a part of one, {PART}, and of the recording itself :START-STOP{more}. May be repeated"
    )
    model = "in place of queries an estimator that `sktslib learn` saved; a .skops file needs skops, others --trust"
    trust = f"load a --model that joblib saved: {WARNING}"
    if counts:
        parser.set_defaults(query=["auto"], model=None, map=None, trust=False)
    else:
        what = {"--query": ("FILE", query, {"action": "append"}), "--model": ("FILE", model)}
        what |= {"--trust": (None, trust, {"action": "store_true"}), "--map": MAP}
        what |= ONE_PER_PLACE if name == "search" else {}
        add_options(parser, "what to look for", what)
    add_estimator(parser, task)
    add_scale(parser, "of the recording")
    output = add_output(parser)
    if name == "search":
        text = "draw the distances of all candidates, too, however long they take (default: if that is a second)"
        output.add_argument("--profile", action="store_true", help=text)
    output.add_argument(
        "--time-range",
        metavar="START-STOP",
        help="the part of the recording that the picture shows, written like a part of a file; the whole is "
        f"{'searched' if name == 'search' else 'cut'}, unless RECORDING is a part",
    )
    add_reading(parser)
    parser.set_defaults(task=name, counts=counts)


ONE_PER_PLACE = {
    "--one-per-place": (
        None,
        "of matches of several queries that overlap, more than --max-overlap allows, keep the nearest",
        {"action": "store_true"},
    )
}
LABELS = (
    "NAME|FILE",
    "a column of the recording with the class of each row (0 or empty: background); a file of ranges: columns start "
    "and end in samples, or start_time and end_time, half-open, and label unless there is one class; or marks, the "
    "annotations in the recording's own file",
)


def add_show(parser, argv):
    """Add the arguments of show."""
    parser.add_argument("recording", metavar="FILE", help="the file with the recording, or a part of it")
    parser.add_argument("part", metavar="PART", nargs="?", help="the part, such as 12.5s-13.1s (default: the whole)")
    add_output(parser, "draw the channels into a file (.png, .svg, .pdf, ...)")
    add_reading(parser, without=("--weight-column",))


LEARNING = {
    "--labels": (*LABELS, {"required": True}),
    "--where": (
        "COLUMN=VALUE",
        "the ranges that count: those with this value in a column, such as foot=left or label=spindle (default: all)",
    ),
    "--labeled": (
        "START-STOP",
        "the part that was looked through for labels; --self-train learns from the rest, and what is -1 (default: all)",
    ),
    "--around": (
        "BEFORE,AFTER",
        "the labels are instants, such as R peaks: what they label, in samples (12,18) or durations (0.1s,0.15s)",
    ),
    "--on-overlap": (
        "WAY",
        "of ranges that overlap: first keeps those listed first, merge joins a class, cut halves (default: error)",
    ),
    "--task": (None, "what the estimator is for (default: segment)", {"choices": tuple(TASKS), "default": "segment"}),
    "--output": (
        "FILE",
        "where to save the estimator: model.skops, which runs no code when it is loaded, or model.joblib, which does",
        {"required": True},
    ),
}


def add_learn(parser, argv):
    """Add the arguments of learn, among them the parameters of what the task's estimator has."""
    parser.add_argument("recording", metavar="RECORDING", help="the file with the recording, or a part of it")
    add_options(parser, "what to learn", LEARNING)
    pre = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    pre.add_argument("--task", default="segment")
    task = pre.parse_known_args(argv)[0].task
    add_estimator(parser, TASKS.get(task, TASKS["segment"]), "; auto: chosen by the labels")
    add_scale(parser, "of the recording, which the model keeps")
    add_reading(parser)


def add_evaluate(parser, argv):
    """Add the arguments of evaluate."""
    parser.add_argument("recording", metavar="RECORDING", help="the file with the recording, or a part of it")
    parser.add_argument("found", metavar="FOUND", help="the ranges that were found, as --format csv prints them")
    add_options(parser, "what is known", {name: LEARNING[name] for name in ("--labels", "--where", "--around")})
    add_parameters(parser, "what agrees", EVALUATE)
    notes = "how events are printed (default: table)"
    add_options(parser, "output", {"--format": (None, notes, {"choices": FORMATS, "default": "table"})})
    add_reading(parser, without=("--weight-column",))


def add_distance(parser, argv):
    """Add the arguments of distance."""
    parser.add_argument("first", metavar="FIRST", help=f"the first series, to which weights belong: a file, or {PART}")
    parser.add_argument("second", metavar="SECOND", help="the second series")
    add_metric(parser, action="append")
    add_parameters(parser, "parameters", DISTANCE)
    add_scale(parser, "of both files together")
    add_output(parser, "draw the alignment by the first distance that has one into a file (.png, .svg, ...)")
    add_reading(parser)


def add_pairwise(parser, argv):
    """Add the arguments of pairwise."""
    text = "a file or a part of one for each series, or one file, of which each column is a series"
    parser.add_argument("series", metavar="FILE", nargs="+", help=text)
    add_metric(parser)
    add_parameters(parser, "parameters", PAIRWISE)
    add_scale(parser, "of all series together (of one file: of the column itself)")
    add_output(parser, "draw the distances as colors into a file (.png, .svg, ...)")
    add_reading(parser, without=("--weight-column",))


def add_metrics(parser, argv):
    """Add the arguments of metrics."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="a distance, to list its parameters")
    add_parameters(parser, "parameters", METRICS)
    parser.add_argument("--format", choices=FORMATS, default="table", help="how it is printed (default: table)")


DEMO_OUTPUT = {
    "--output": ("FILE", "the picture (default: sktslib.png)", {"default": "sktslib.png"}),
    "--no-picture": (None, "draw nothing", {"action": "store_true"}),
}


def add_demo(parser, argv):
    """Add the arguments of demo."""
    add_options(parser, "output", DEMO_OUTPUT)


VIEW = {
    "--channels": ("A,B", "the columns that are searched at first (default: all that are shown)"),
    "--labels": (LABELS[0], LABELS[1] + ". They are answers of a new session"),
    "--session": ("FILE", "where the session is saved and opened again (default: RECORDING.view.json)"),
    "--port": (
        "NUMBER",
        "the port of the page on this machine (default: a free one)",
        {"type": lambda text: number(text, int, 0, "a number of at least 0"), "default": 0},
    ),
    "--no-browser": (None, "print the address and open no browser", {"action": "store_true"}),
}


def add_view(parser, argv):
    """Add the arguments of view."""
    parser.add_argument("recording", metavar="RECORDING", help=f"the file to look at, or {PART.partition(' ')[0]}")
    add_options(parser, "the page", VIEW)
    add_reading(parser, without=("--weight-column",))


class Command(NamedTuple):
    """A command: what it is for, what adds its arguments, and where the code that runs it is."""

    text: str
    add: Callable
    module: str
    run: str


COMMANDS = {
    "show": Command("look at a recording: channels, times, rate, gaps", add_show, "showing", "run"),
    "search": Command("find where a pattern occurs", partial(add_task, name="search"), "searching", "run"),
    "segment": Command("cut a recording into repetitions", add_task, "searching", "run"),
    "count": Command("count the repetitions of a recording", partial(add_task, counts=True), "searching", "run"),
    "learn": Command("learn from labels, save the estimator", add_learn, "searching", "run_learn"),
    "view": Command("look at a recording in the browser, mark, search, learn", add_view, "viewing", "run"),
    "evaluate": Command("compare what was found with labels: F1, misses", add_evaluate, "evaluating", "run"),
    "distance": Command("distances of two series", add_distance, "comparing", "run_distance"),
    "pairwise": Command("distances of all pairs of series", add_pairwise, "comparing", "run_pairwise"),
    "metrics": Command("list the distances and their parameters", add_metrics, "comparing", "run_metrics"),
    "demo": Command("several distances side by side, on an electrocardiogram", add_demo, "demonstration", "run"),
}


def overview():
    """Return the parser that explains the commands."""
    commands = "\n".join(f"  {name:10}{command.text}" for name, command in COMMANDS.items())
    return Parser(
        prog="sktslib",
        usage="sktslib COMMAND ...",
        description="Find a short pattern in long recordings, cut recordings into repetitions, compare series.\n\n"
        f"commands (sktslib COMMAND --help lists the options):\n{commands}\n",
        epilog=EXAMPLES,
    )


def _version():
    from ..distances._kernels.cache import pack  # which takes numba

    return f"sktslib {__version__}\n{pack().text}"


def parse(argv):
    """Return the command that the arguments begin with, without one the demonstration, and its options.

    Parameters
    ----------
    argv : list of str
        The arguments.

    Returns
    -------
    tuple of (callable, Namespace)
        What runs the command, and what it takes.
    """
    if argv and argv[0] in ("--help", "-h", "--version", "help"):
        parser = overview()
        parser.add_argument("--version", action="version", version=_version() if argv[0] == "--version" else "")
        parser.parse_args(["--help" if argv[0] == "help" else argv[0]])
    name = "demo" if not argv or argv[0].startswith("-") else argv[0]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"Unknown command {name!r}.{hint} Valid are: {', '.join(COMMANDS)}.")
    command, rest = COMMANDS[name], argv[1:] if argv and argv[0] == name else argv
    parser = Parser(prog=f"sktslib {name}", description=f"{command.text[0].upper()}{command.text[1:]}.")
    command.add(parser, rest)
    options = parser.parse_args(rest)
    return getattr(import_module(f".{command.module}", __package__), command.run), options


def run(argv):
    """Run the command that the arguments begin with; returns the exit code."""
    command, options = parse(argv)
    return command(options)
