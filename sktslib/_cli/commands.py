"""The commands and their options, in tables that a test compares with the parameters of the functions they call.

The code that runs a command, and the rest of the package, is imported after the options have been read, so that help
and errors of options appear at once. Commands share the parser, the options for reading files and for output, and error
messages in terms of their options.
"""

import argparse
import ast
import difflib
import re
import sys
import warnings
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from importlib import import_module
from math import ulp
from pathlib import Path
from typing import NamedTuple

from .. import __version__
from . import PART

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

FORMATS = ("table", "csv", "json")
WARNING = "a file of another's making can run any code when it is loaded"
WORDS = {"none": None, "all": None, "true": True, "false": False}
# Names of Python's types in messages of the command line.
PHRASES = {
    r"an instance of FalseDiscoveryRate, an instance of Conformal": "fdr:ALPHA, conformal:ALPHA",
    r", an instance of Percentile": ", percentile:Q",
    r", an instance of Margin": ", margin:LEAST",
    r", an instance of 'str'": "",
    r", an instance of (?:Windows|Subsequences|Normalization|ChannelPlan|Learning)\b": "",
    r"or a rule, as an object or as a text such as '(\S+)' or '\S+'": r"fdr:ALPHA or conformal:ALPHA, as \1",
    r"\ban array-like\b": "numbers, such as 1,2",
    r"The '(?:events|kinds)' parameter": "--labels",
    r" of (?:Normalization|Windows|Subsequences|ChannelPlan|Learning)\b": "",
    r"The 'alpha' parameter of (?:FalseDiscoveryRate|Conformal)": "--threshold: ALPHA",
    r"The 'least' parameter of Margin": "--threshold: LEAST",
    r"\ba str among\b": "one of",
    r"\ban int(?:eger)? in\b": "a whole number in",
    r"\ba float in\b": "a number in",
    r"The 'path' parameter of load_model": "--model",
    r"with trust=True": "with --trust",
    r"a larger 'alpha'": "a larger ALPHA",
}


# ------------------------------------------------------------------------------------------------ options of parameters
class Parameter(NamedTuple):
    """A parameter of a class or function as an option."""

    name: str
    text: str  # help text, which ends with the default
    key: str  # key for `set_params`, if an object of the estimator holds the parameter: "normalize__scale_limits"
    own_name: str  # name in the library's messages
    option: str


def parameters(table):
    """Return the parameters in a table that maps keys to help texts."""
    found = []
    for key, text in table.items():
        owner, _, own = key.rpartition("__")
        name = f"channel_{own}" if owner == "channels" else own
        found.append(Parameter(name, text, owner and key, own, f"--{name.replace('_', '-')}"))
    return found


POLARITY = "same: the signs of the query; any: also mirrored; channels: each of at most 8 its own (default: same)"
COMMON = {
    "max_gap": "the largest step of the times, in their unit or a duration such as 1.5s, that is not a gap; no result "
    "spans one (default: None)",
    "n_jobs": "the number of threads; -1: all processors. No result depends on it (default: one)",
    "verbose": "0: show no progress bar; 1: show one on the standard error (default: 1 on a terminal, else 0)",
}
SEARCH = {
    "candidates": "windows of the query's length, or of its multiples, see --scales; subsequence: ranges of any "
    "length, for elastic distances; auto: these, unless --normalize or an option of channels is given (default: auto)",
    "candidates__scales": "LEAST,LARGEST or a list [0.5,1,2]: windows of these multiples of the query's length, the "
    "best counts (default: the query's length alone)",
    "candidates__min_length": "the shortest match in samples; none: no bound (default: half of the query)",
    "candidates__max_length": "the longest match in samples (default: no bound; with --normalize twice the query)",
    "normalize": "mean, zscore, minmax or robust, of the query and each candidate, channel by channel (default: none)",
    "normalize__scale_limits": "LEAST,LARGEST: standard deviations of a candidate over those of the query, in every "
    "channel, such as 0.7,1.4 (default: any)",
    "normalize__offset_limit": "how far the mean of a candidate may be from the query's, in the unit of the data: one, "
    "or a list by channel (default: any)",
    "n_matches": "the largest number of matches; all: as many as fit (default: 10, all with a threshold)",
    "threshold": "the largest distance of a match, or a rule: fdr:0.05 (false discoveries), percentile:1 (of the "
    "distances), conformal:0.1 (with labels: the share that is missed) (default: learned from labels, else no bound)",
    "max_overlap": "the share of the shorter of two matches that they may have in common, from 0 to 1 (default: 0.0)",
    "channels__lag": "samples, or a duration, from the start of a match to that of each channel's query: one, or a "
    "list (default: channels are compared together)",
    "channels__tolerance": "samples, or a duration, by which a channel may start earlier or later (default: 0)",
    "channels__weight": "a list with a factor of each channel's distance (default: 1 each)",
    "channels__min_votes": "how many channels count: those with the least distances (default: all)",
    "polarity": POLARITY,
    "nan_policy": "raise: refuse missing values; omit: compare windows by what is observed, at least half (default: "
    "raise)",
    **COMMON,
}
SEGMENT = {
    "background": "the cost of a sample of background; auto: that of the query against a constant signal, or learned "
    "from labels (default: auto)",
    "transitions": "the costs of one label following another, [[0,0],[0,2.5]], k + 1 rows and columns for k queries, "
    "background first (default: no cost)",
    "learning__n_templates": "how many templates are learned for each class; auto: one for each clear group of "
    "occurrences, up to 4 (default: auto)",
    "learning__refine": "how often the repetitions found are averaged, and the recording cut again by the averages "
    "(default: 0)",
    "learning__self_train": "the largest number of rounds that learn from certain repetitions without labels, too "
    "(default: 0)",
    "learning__class_weight": "balanced: all classes of --labels count alike, however rare (default: only "
    "clear repetitions get a rare class)",
    "partial": "whether an end of the recording may cut off a repetition, of which half is observed; auto: with "
    "--query auto (default: auto)",
    "threshold": "the largest cost of a repetition per point of its query, or a rule: fdr:0.05, conformal:0.1 or "
    "margin:0.5 (default: no bound)",
    "lengths": "SHORTEST,LONGEST: bounds of the length of a repetition in samples, or durations such as 500ms,2s, for "
    "elastic distances; none: no bound (default: no bound; with labels 2/3 of the shortest and 3/2 of the longest "
    "occurrence)",
    "polarity": POLARITY,
    "nan_policy": "raise: refuse missing values; omit: let no repetition cross one (default: raise)",
    **COMMON,
}
DISTANCE = {"cutoff": "a distance above it is given as infinity (default: no cutoff)"}
EVALUATE = {
    "min_iou": "the least intersection over union of ranges that agree (default: 0.5)",
    "tolerance": "in place of --min-iou: samples, or a duration such as 0.1s, by which their starts and ends may "
    "differ (default: none)",
}
ON_OVERLAP = parameters({"on_overlap": "what to do with ranges that overlap (default: error)"})
# Words for the number that a duration may replace, by the name of the parameter.
DURATIONS = {
    "max_gap": "a number in the unit of the times (of dates, seconds), or a duration such as 500ms or 1.5s",
    **dict.fromkeys(("channel_tolerance", "tolerance"), "a number of samples, or a duration such as 500ms or 1.5s"),
    "channel_lag": "a number of samples, or a duration such as 500ms or 1.5s, or a list of one for each channel, "
    "0s,0.5s, or a dict of numbers by channel, '{\"B\": 10}'",
    "lengths": "SHORTEST,LONGEST, each none, a number of samples, or a duration such as 500ms or 1.5s",
}


def value_of(text):
    """Convert a text on the command line to a value: a Python literal, none, or the text itself."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(re.sub(r"(?i)\bnone\b", "None", text))
    except (ValueError, SyntaxError):
        return text


def add_parameters(parser, title, table):
    """Add an option for each parameter of a table; parameters that are not given are absent from the parsed options."""
    group, found = parser.add_argument_group(title), parameters(table)
    for one in found:
        style = {"metavar": "VALUE", "type": value_of}
        style = {"action": argparse.BooleanOptionalAction} if one.name == "partial" else style
        text = one.text.replace("%", "%%")
        group.add_argument(one.option, dest=one.name, default=argparse.SUPPRESS, help=text, **style)
    parser.set_defaults(parameters=found)


def is_terminal():
    """Return whether the error output is a terminal, where a progress bar can be seen."""
    return sys.stderr is not None and sys.stderr.isatty()


def given(options, parameters):
    """Return the given parameters, by name; at a terminal a progress bar is turned on unless set otherwise."""
    found = {"verbose": 1} if is_terminal() and any(one.name == "verbose" for one in parameters) else {}
    for one in (one for one in parameters if hasattr(options, one.name)):
        value = found[one.name] = getattr(options, one.name)
        if isinstance(value, str) and one.name in DURATIONS:
            found[one.name] = _durations(value, one)
    return found


def _durations(text, parameter):
    """Return a duration such as 1.5s, or several of them if the parameter takes several."""
    from ..io._parts import SECONDS, seconds_of

    bounds = parameter.name == "lengths"
    parts = [part.strip() for part in (text.split(",") if bounds or parameter.name == "channel_lag" else [text])]
    seconds = [seconds_of(part) for part in parts]
    given = [value_of(part) if s is None else timedelta(seconds=s) for part, s in zip(parts, seconds, strict=True)]
    no_bounds = len(given) != 2 or any(isinstance(one, str) for one in given)
    if no_bounds if bounds else None in seconds:
        rule = f"{DURATIONS[parameter.name]}; units are {', '.join(SECONDS)}"
        raise ValueError(f"{parameter.option} must be {rule}. Got {text!r}.")
    return tuple(given) if bounds else given[0] if len(given) == 1 else given


def parse_metric(text):
    """Return a distance and its parameters from NAME or NAME:KEY=VALUE,KEY=VALUE.

    Returns
    -------
    tuple of (str, dict)
    """
    name, _, rest = text.partition(":")
    parameters = {}
    # A comma belongs to the value, unless a name and an equal sign follow it.
    for pair in re.split(r",(?=\s*\w+=)", rest) if rest else []:
        key, equals, value = pair.partition("=")
        if not (key.strip().isidentifier() and equals):
            rule = "have the form NAME or NAME:KEY=VALUE,KEY=VALUE, such as dtw:alpha=0.7,window=0.1"
            raise argparse.ArgumentTypeError(f"must {rule}. Got {text!r}.")
        parameters[key.strip()] = value_of(value.strip())
    return name.strip(), parameters


def add_metric(parser, default="dtw", **kwargs):
    """Add the option --metric; further arguments are those of `add_argument`."""
    more = ", may be repeated" if kwargs else ""
    text = f"the distance, such as dtw:alpha=0.7,window=0.1; `sktslib metrics` lists them{more} (default: {default})"
    parser.add_argument("--metric", metavar="NAME[:KEY=VALUE,...]", type=parse_metric, help=text, **kwargs)


def in_options(message, parameters):
    """Return a message of the library with options instead of Python's parameters."""
    for one in parameters:
        message = re.sub(rf"\b{one.name}=\(([^ )]*), ([^ )]*)\)", rf"{one.option} \1,\2", message)
        message = re.sub(rf"\b{one.name}=(?:True|\.\.\.)", one.option, message)
        message = re.sub(rf"\b{one.name}=False", f"--no-{one.option[2:]}", message)
        message = re.sub(rf"\b{one.name}=('?)([-\w.]*)\1", rf"{one.option} \2", message)
        own = f"'{one.own_name}'(?: parameter)?(?: of \\w+)?"
        message = re.sub(rf"[Tt]he {own}(?! of)|{own}(?= must)", one.option, message)
        message = re.sub(rf"\b(set|with) '{one.own_name}'", rf"\1 {one.option}", message, flags=re.I)
    for python, words in PHRASES.items():
        message = re.sub(python, words, message)
    return re.sub(r",? for example (with|by) numpy\.\w+", "", message).replace("pandas.Timedelta('1s')", "500ms")


# -------------------------------------------------------------------------------------------------- options of commands
class Parser(argparse.ArgumentParser):
    """A parser that raises its errors as exceptions, and suggests the nearest option."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs)

    def error(self, message):
        raise ValueError(f"{message} ({self.prog} --help lists all options)")

    def parse_args(self, args=None, namespace=None):
        options, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            name = unknown[0].partition("=")[0].replace("--channels", "--columns")
            # Without the dashes, by which all are alike.
            near = difflib.get_close_matches(name.lstrip("-"), [one.lstrip("-") for one in known], n=1, cutoff=0.5)
            what = f"model is named with --model {name}" if name.endswith((".skops", ".joblib")) else None
            hint = f". The {what or 'pattern is named with --query FILE'}" if "--query" in known else ""
            hint = f". Did you mean --{near[0]}?" if near and unknown[0].startswith("-") else hint
            if unknown[0].startswith("--self-train") and "--task" in known:
                hint = ". It is an option of --task segment, the only one that learns from unlabeled samples"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options


FLAG = {"action": "store_true"}


def number(text, convert, low, rule):
    """Return a text as a finite number of at least `low`."""
    with suppress(ValueError):
        if low <= (value := convert(text)) < float("inf"):
            return value
    raise argparse.ArgumentTypeError(f"must be {rule}. Got {text!r}.")


# Further arguments of `add_argument`, by the names of options.
SETTINGS = {
    "--scale": {"choices": ("zscore",)},
    "part": {"nargs": "?"},
    "name": {"nargs": "?"},
    "--query": {"action": "append"},
    "--format": {"choices": FORMATS, "default": "table"},
    "--task": {"choices": ("search", "segment"), "default": "segment"},
    "--time-unit": {"choices": ("ns", "us", "ms", "s", "min", "h", "d")},
    "--epoch": {"choices": ("s", "ms", "us", "ns")},
    "--decimal": {"choices": (".", ",")},
    "--day-first": {"action": argparse.BooleanOptionalAction},
    "--rate": {"type": partial(number, convert=float, low=ulp(0.0), rule="a number above 0")},
    "--header": {"type": partial(number, convert=int, low=0, rule="the number of a line, from 1, or 0")},
    "--port": {"type": partial(number, convert=int, low=0, rule="a number of at least 0"), "default": 0},
}


def add_options(parser, title, table, **more):
    """Add a group of options from a table that maps "name METAVAR" (without metavar a flag) to help texts.

    Without a title they are positional arguments. `more` holds further settings by the names of options.
    """
    group = parser if title is None else parser.add_argument_group(title)
    for key, text in table.items():
        name, _, metavar = key.partition(" ")
        style = {"metavar": metavar} if metavar else {} if name in SETTINGS else FLAG
        group.add_argument(name, help=text, **style, **SETTINGS.get(name, {}), **more.get(name.strip("-"), {}))


READING = {
    "--columns A,B": "the columns to compare (default: all that hold numbers and nothing else)",
    "--time-column NAME": "the column of times, or DATE,TIME; none: count samples (default: found)",
    "--weight-column NAME": "the column of weights in the query's file (default: the one named weight)",
    "--time-zone NAME": "the zone of the times, such as Europe/Berlin (default: that of the file, if it says one)",
    "--time-unit UNIT": "the unit of times that are numbers: ns, us, ms, s, min, h or d (default: as in the name, "
    "time_ms, else s)",
    "--epoch UNIT": "the times count s, ms, us or ns since 1970, in UTC: they are read as dates",
    "--rate HZ": "samples per second, for files without times",
    "--separator CHAR": "what separates cells of text files: a character, tab or space (default: found)",
    "--decimal CHAR": "the decimal mark of text files (default: found)",
    "--thousands CHAR": "the mark between thousands in text files (default: found where it is certain)",
    "--header LINE": "the line with the names of columns, from 1; 0: no names (default: found)",
    "--missing WORD,...": "the codes of missing values, --missing=-9999,X (default: empty cells, NaN, NA, ...)",
    "--sheet NAME": "the sheet of an Excel file, by name or by number from 1 (default: the first)",
    "--encoding NAME": "the encoding of text files (default: found; UTF-8, UTF-16 or else cp1252)",
    "--day-first": "read 02/03/2024 as the second of March (default: as other rows show, else month first)",
    "--transpose": "the rows of an NPY or NPZ file are its channels",
}


def add_reading(parser, weighted=True):
    """Add the options for reading files."""
    add_options(parser, "reading files", {k: text for k, text in READING.items() if weighted or "weight" not in k})


def reading_of(options):
    """Return the options for reading files as a `Reading`."""
    from dataclasses import fields

    from ..io._tables import Reading

    return Reading(**{one.name: getattr(options, one.name) for one in fields(Reading) if hasattr(options, one.name)})


OUTPUT = {
    "--format": "how results are printed on the standard output; notes go to the standard error (default: table)",
    "--picture FILE": "draw a picture into a file (.png, .svg, .pdf, ...)",
}


@contextmanager
def errors_of(where, parameters=(), data=None):
    """Name the place in errors raised in the block, and translate them to options; `data` replaces the library's X.

    Warnings are printed as notes, translated in the same way.
    """
    from ..utils._times import ColumnOfTimes
    from .output import note

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnOfTimes)  # a note said so when the columns were chosen
            warnings.showwarning = lambda text, *rest: note(f"warning: {in_options(str(text), parameters)}")
            yield
    except (ValueError, TypeError) as error:
        message = in_options(str(error), parameters)
        if data is not None:
            message = message.replace("'X'", data)
        raise ValueError(f"{where}: {message}" if where and not message.startswith("--") else message) from None


# ------------------------------------------------------------------------------------------------------------ commands
# Name, default metric and parameters of each estimator.
TASKS = {"search": ("QuerySearcher", "dtw", SEARCH), "segment": ("QuerySegmenter", "adtw", SEGMENT)}


def add_estimator(parser, task, more=""):
    """Add the metric and every parameter of the task's estimator."""
    name, metric, table = TASKS[task]
    add_parameters(parser, f"parameters of {name}; a VALUE is a Python literal, none or a word", table)
    add_metric(parser, f"{metric}{more}")


def add_task(parser, argv, name="segment", counts=False):
    """Add the arguments of search, segment or count."""
    searches = name == "search"
    text = f"the file to {'search in' if searches else 'segment'}, or a part of it, FILE:START-STOP"
    add_options(parser, None, {"recording RECORDING": text})
    if counts:
        parser.set_defaults(query=["auto"], model=None, map=None, trust=False)
    else:
        more = "" if searches else "; auto: one period of the recording"
        table = {
            "--query FILE": f"the pattern, a file or a part of one, {PART}, and of the recording itself "
            f":START-STOP{more}. May be repeated",
            "--model FILE": "in place of queries an estimator that `sktslib learn` saved; a .skops file needs skops, "
            "others --trust",
            "--trust": f"load a --model that joblib saved: {WARNING}",
            "--map QUERY=RECORDING,...": "columns of other names, mV=ecg_mV (default: by name, else in order)",
            "--one-per-place": "of matches of several queries that overlap, more than --max-overlap allows, keep the "
            "nearest",
        }
        add_options(parser, "what to look for", dict(list(table.items())[: None if searches else -1]))
    add_estimator(parser, name)
    text = "zscore: compare columns less their means, over their standard deviations in the recording "
    add_options(parser, None, {"--scale": text + "(default: as they are; the one that varies most decides)"})
    profile = {"--profile": "draw the distances of all candidates, however long they take (default: up to a second)"}
    text = "the part of the recording that the picture shows, written like a part of a file (default: all)"
    add_options(parser, "output", OUTPUT | (profile if searches else {}) | {"--time-range START-STOP": text})
    add_reading(parser)
    parser.set_defaults(task=name, counts=counts)


RECORDING = {"recording RECORDING": "the file with the recording, or a part of it"}


def add_show(parser, argv):
    """Add the arguments of show."""
    part = "the part, such as 12.5s-13.1s (default: the whole)"
    add_options(parser, None, {"recording FILE": RECORDING["recording RECORDING"], "part PART": part})
    add_options(parser, "output", OUTPUT)
    add_reading(parser, weighted=False)


LEARNING = {
    "--labels NAME|FILE": "a column of the recording with the class of each row (0 or empty: background); a file of "
    "ranges: columns start and end in samples, or start_time and end_time, half-open, and label unless there is one "
    "class; or marks, the annotations in the recording's own file",
    "--where COLUMN=VALUE": "the ranges that count: those with this value in a column, such as foot=left or "
    "label=spindle (default: all)",
    "--labeled START-STOP": "the part that was looked through for labels; --self-train learns from the rest, and from "
    "samples labeled -1 (default: all)",
    "--around BEFORE,AFTER": "the labels are instants, such as R peaks: the range around each, in samples (12,18) or "
    "durations (0.1s,0.15s)",
    "--on-overlap WAY": "of ranges that overlap: first keeps those listed first, merge joins a class, cut halves "
    "(default: error)",
    "--task": "what the estimator is for (default: segment)",
    "--output FILE": "where to save the estimator: model.skops, or model.joblib, which runs code when it is loaded",
}
REQUIRED = {"required": True}


def add_learn(parser, argv):
    """Add the arguments of learn, including the parameters of the estimator of its task."""
    add_options(parser, None, RECORDING)
    add_options(parser, "what to learn", LEARNING, labels=REQUIRED, output=REQUIRED)
    tasks = re.findall(r"(?m)^--task[=\n](.*)$", "\n".join(argv))
    add_estimator(parser, "search" if tasks[-1:] == ["search"] else "segment", "; auto: chosen by the labels")
    add_reading(parser)


def add_evaluate(parser, argv):
    """Add the arguments of evaluate."""
    add_options(parser, None, {**RECORDING, "found FOUND": "the ranges that were found, as --format csv prints them"})
    known = {key: LEARNING[key] for key in ("--labels NAME|FILE", "--where COLUMN=VALUE", "--around BEFORE,AFTER")}
    add_options(parser, "what is known", known, labels=REQUIRED)
    add_parameters(parser, "what agrees", EVALUATE)
    add_options(parser, "output", {"--format": OUTPUT["--format"]})
    add_reading(parser, weighted=False)


def add_distance(parser, argv):
    """Add the arguments of distance."""
    first = f"the first series, to which weights belong: a file, or {PART}"
    add_options(parser, None, {"first FIRST": first, "second SECOND": "the second series"})
    add_metric(parser, action="append")
    add_parameters(parser, "parameters", DISTANCE)
    add_options(parser, "output", OUTPUT | {"--picture FILE": "draw the alignment by the first distance that has one"})
    add_reading(parser)


def add_metrics(parser, argv):
    """Add the arguments of metrics."""
    table = {"name NAME": "a distance, to explain it and its parameters", "--format": OUTPUT["--format"]}
    add_options(parser, None, table)


def add_demo(parser, argv):
    """Add the arguments of demo."""
    table = {"--output FILE": "the picture (default: sktslib.png)", "--no-picture": "draw nothing"}
    add_options(parser, "output", table, output={"default": "sktslib.png"})


VIEW = {
    "--channels A,B": "the columns that are searched at first (default: all that are shown)",
    "--labels NAME|FILE": LEARNING["--labels NAME|FILE"] + ". They are answers of a new session",
    "--session FILE": "where the session is saved and opened again (default: RECORDING.view.json)",
    "--port NUMBER": "the port of the page on this machine (default: a free one)",
    "--no-browser": "print the address and open no browser",
}


def add_view(parser, argv):
    """Add the arguments of view."""
    add_options(parser, None, {"recording RECORDING": f"the file to look at, or {PART.partition(' ')[0]}"})
    add_options(parser, "the page", VIEW)
    add_reading(parser, weighted=False)


# For each command its purpose, the function that adds its arguments, and the one that runs it, as FILE.FUNCTION.
COMMANDS = {
    "show": ("look at a recording: channels, times, rate, gaps", add_show, "looking.run_show"),
    "search": ("find where a pattern occurs", partial(add_task, name="search"), "searching.run"),
    "segment": ("cut a recording into repetitions", add_task, "searching.run"),
    "count": ("count the repetitions of a recording", partial(add_task, counts=True), "searching.run"),
    "learn": ("learn from labels, save the estimator", add_learn, "searching.run_learn"),
    "view": ("look at a recording in the browser, mark, search, learn", add_view, "looking.run_view"),
    "evaluate": ("compare what was found with labels: F1, misses", add_evaluate, "labels.run_evaluate"),
    "distance": ("distances of two series", add_distance, "comparing.run_distance"),
    "metrics": ("list the distances and their parameters", add_metrics, "comparing.run_metrics"),
    "demo": ("several distances side by side, on an electrocardiogram", add_demo, "demonstration.run"),
}


def overview():
    """Return the parser that explains the commands."""
    commands = "\n".join(f"  {name:10}{text}" for name, (text, *_) in COMMANDS.items())
    return Parser(
        prog="sktslib",
        usage="sktslib COMMAND ...",
        description="Find a short pattern in long recordings, cut recordings into repetitions, compare series.\n\n"
        f"commands (sktslib COMMAND --help lists the options):\n{commands}\n",
        epilog=EXAMPLES,
    )


def _version():
    """Return the version, and whether compiled kernels are shipped and used."""
    text = "No compiled kernels came with the package for this processor: first calls compile them."
    if any(Path(__file__).parents[1].glob("distances/_kernels/packs/*.pack")):
        from ..distances._kernels.cache import pack

        text = pack().text
    return f"sktslib {__version__}\n{text}"


def parse(argv):
    """Return the function that runs the command named by the arguments, and its options; without a command, demo.

    Parameters
    ----------
    argv : list of str
        The arguments.

    Returns
    -------
    tuple of (callable, Namespace)
        The function, and the options that it takes.
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
    (text, add, command), rest = COMMANDS[name], argv[1:] if argv and argv[0] == name else argv
    parser = Parser(prog=f"sktslib {name}", description=f"{text[0].upper()}{text[1:]}.")
    add(parser, rest)
    options = parser.parse_args(rest)
    file, _, function = command.partition(".")
    return getattr(import_module(f".{file}", __package__), function), options


def run(argv):
    """Run the command that the arguments name; return the exit code."""
    command, options = parse(argv)
    return command(options)
