"""Options of the commands, in tables that a test compares with the parameters of what the commands call.

The commands share the parser, the options for reading files and for output, and error messages in the words of their
options. Nothing else of the package is imported until it is needed, so that help and errors of options come at once.
"""

import argparse
import ast
import difflib
import re
import sys
import warnings
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

FORMATS = ("table", "csv", "json")
WARNING = "a file of another's making can run any code when it is loaded"
SCALE = "scale the columns: --scale zscore"
WORDS = {"none": None, "all": None, "true": True, "false": False}
# What is said of Python's types, in the words of the command line.
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


class Parameter(NamedTuple):
    """A parameter of a class or function as an option.

    Its `form` says how a text is read: "value", "flag", "array" (the name of a file), "duration", "lag", "bounds" or
    "tolerance".
    """

    name: str
    text: str
    default: object = None
    form: str = "value"
    key: str = ""  # of `set_params`, for a parameter of an object that the estimator holds: "normalize__scale_limits"

    @property
    def own_name(self):
        """Name of the parameter in messages."""
        return self.key.rpartition("__")[2] or self.name

    @property
    def option(self):
        return f"--{self.name.replace('_', '-')}"


POLARITY = Parameter(
    "polarity",
    "same: the signs of the query; any: also mirrored; channels: each of at most 8 channels with a sign of its own",
    "same",
)
MAX_GAP = Parameter(
    "max_gap",
    "the largest step of the times, in their unit or a duration such as 1.5s, that is no gap; nothing found spans one",
    form="duration",
)
N_JOBS = Parameter("n_jobs", "the number of threads; -1: all processors. No result depends on it", "one")
VERBOSE = Parameter("verbose", "0: show no progress bar; 1: show one on the standard error", "1 on a terminal, else 0")

SEARCH = [
    Parameter(
        "candidates",
        "windows of the query's length, or of its multiples, see --scales; subsequence: ranges of any length, for "
        "elastic distances; auto: these, unless --normalize or an option of channels is given",
        "auto",
    ),
    Parameter(
        "scales",
        "LEAST,LARGEST or a list [0.5,1,2]: windows of these multiples of the query's length, the best counts",
        "the query's length alone",
        key="candidates__scales",
    ),
    Parameter(
        "min_length", "the shortest match in samples; none: no bound", "half of the query", key="candidates__min_length"
    ),
    Parameter(
        "max_length",
        "the longest match in samples",
        "no bound; with --normalize twice the query",
        key="candidates__max_length",
    ),
    Parameter(
        "normalize", "mean, zscore, minmax or robust, of the query and each candidate, channel by channel", "none"
    ),
    Parameter(
        "scale_limits",
        "LEAST,LARGEST: standard deviations of a candidate over those of the query, in every channel, such as 0.7,1.4",
        "any",
        key="normalize__scale_limits",
    ),
    Parameter(
        "offset_limit",
        "how far the mean of a candidate may be from the query's, in the unit of the data: one, or a list by channel",
        "any",
        key="normalize__offset_limit",
    ),
    Parameter("n_matches", "the largest number of matches; all: as many as fit", "10, all with a threshold"),
    Parameter(
        "threshold",
        "the largest distance of a match, or a rule: fdr:0.05 (false discoveries), percentile:1 (of the distances), "
        "conformal:0.1 (with labels: the share that is missed)",
        "learned from labels, else no bound",
    ),
    Parameter("max_overlap", "the share of the shorter of two matches that they may have in common, from 0 to 1", 0.0),
    Parameter(
        "channel_lag",
        "samples, or a duration, from the start of a match to that of each channel's query: one, or a list",
        "channels are compared together",
        "lag",
        "channels__lag",
    ),
    Parameter(
        "channel_tolerance",
        "samples, or a duration, by which a channel may start earlier or later",
        0,
        "tolerance",
        "channels__tolerance",
    ),
    Parameter("channel_weight", "a list with a factor of each channel's distance", "1 each", key="channels__weight"),
    Parameter(
        "channel_min_votes", "how many channels count: those with the least distances", "all", key="channels__min_votes"
    ),
    POLARITY,
    Parameter(
        "nan_policy", "raise: refuse missing values; omit: compare windows by what is observed, at least half", "raise"
    ),
    MAX_GAP,
    N_JOBS,
    VERBOSE,
]
SEGMENT = [
    Parameter(
        "background",
        "the cost of a sample of background; auto: that of the query against a constant signal, or learned from labels",
        "auto",
    ),
    Parameter(
        "transitions",
        "a file with the costs of one label following another, k + 1 rows and columns for k queries, background first",
        "no cost",
        "array",
    ),
    Parameter(
        "n_templates",
        "how many templates are learned for each class; auto: one for each clear group of occurrences, up to 4",
        "auto",
        key="learning__n_templates",
    ),
    Parameter(
        "refine",
        "how often the repetitions found are averaged, and the recording cut again by the averages",
        0,
        key="learning__refine",
    ),
    Parameter(
        "self_train",
        "how often at most learning goes on from its own sure answers in the part without labels",
        0,
        key="learning__self_train",
    ),
    Parameter(
        "class_weight",
        "balanced: all classes of --labels count alike, however rare they are",
        "what is of a rare class must be clear",
        key="learning__class_weight",
    ),
    Parameter(
        "partial",
        "whether an end of the recording may cut off a repetition, of which half is observed; auto: with --query auto",
        "auto",
        "flag",
    ),
    Parameter(
        "threshold",
        "the largest cost of a repetition per point of its query, or a rule: fdr:0.05, conformal:0.1 or margin:0.5",
        "no bound",
    ),
    Parameter(
        "lengths",
        "SHORTEST,LONGEST: bounds of the length of a repetition in samples, or durations such as 500ms,2s, for elastic "
        "distances; none: no bound",
        "no bound; with labels 2/3 of the shortest and 3/2 of the longest occurrence",
        "bounds",
    ),
    POLARITY,
    Parameter("nan_policy", "raise: refuse missing values; omit: let no repetition cross one", "raise"),
    MAX_GAP,
    N_JOBS,
    VERBOSE,
]
DISTANCE = [Parameter("cutoff", "a distance above it is given as infinity", "no cutoff")]
PAIRWISE = [
    Parameter("times", "a list of the sample times of each series, for distances that use them", "samples are counted"),
    Parameter(
        "nan_policy", "raise: refuse missing values; omit: leave out their points, for lockstep distances", "raise"
    ),
    N_JOBS,
    Parameter("max_memory", "bytes that the work may use besides the result, or 500MB", "some 10 MB a job"),
    VERBOSE,
    Parameter("channels_first", "true: the channels come before time in arrays of series", "false"),
]
METRICS = [
    Parameter("family", "only the distances of a family: elastic, lockstep or time", "all"),
    Parameter("multivariate", "true: only those that take several channels; false: only the others", "all"),
    Parameter("metric", "true: only metrics; false: only the others", "all"),
    Parameter("symmetric", "true: only symmetric distances; false: only the others", "all"),
]
EVALUATE = [
    Parameter("min_iou", "the least intersection over union of ranges that agree", 0.5),
    Parameter(
        "tolerance",
        "in place of --min-iou: samples, or a duration such as 0.1s, by which their starts and ends may differ",
        "none",
        "tolerance",
    ),
]
ON_OVERLAP = Parameter("on_overlap", "what to do with ranges that overlap", "error")


def value_of(text):
    """Return the value that a text on the command line stands for: a Python literal, none, or the text itself."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(re.sub(r"(?i)\bnone\b", "None", text))
    except (ValueError, SyntaxError):
        return text


def add_parameters(parser, title, parameters):
    """Add an option for each parameter; those not given are absent from what is parsed."""
    group = parser.add_argument_group(title)
    for one in parameters:
        text = f"{one.text} (default: {one.default})".replace("%", "%%")
        settings = {"dest": one.name, "default": argparse.SUPPRESS, "help": text}
        if one.form == "flag":
            group.add_argument(one.option, action=argparse.BooleanOptionalAction, **settings)
        else:
            group.add_argument(one.option, metavar="VALUE", type=value_of, **settings)
    parser.set_defaults(parameters=parameters)


def given(options, parameters):
    """Return the parameters that were given, by name; a text that stands for an array is the name of a file."""
    values = {one: getattr(options, one.name) for one in parameters if hasattr(options, one.name)}
    return {one.name: FORMS.get(one.form, _value)(value, one) for one, value in values.items()}


# What a duration may be in place of, by the form of the parameter.
DURATIONS = {
    "duration": "a number in the unit of the times (of dates, seconds), or a duration such as 500ms or 1.5s",
    "tolerance": "a number of samples, or a duration such as 500ms or 1.5s",
    "lag": "a number of samples, or a duration such as 500ms or 1.5s, or a list of one for each channel, 0s,0.5s, or a "
    """dict of numbers by channel, '{"B": 10}'""",
    "bounds": "SHORTEST,LONGEST, each none, a number of samples, or a duration such as 500ms or 1.5s",
}


def _durations(text, parameter):
    """Return a duration, such as 1.5s, or as many of them as the parameter may be."""
    from ..io._parts import SECONDS, seconds_of

    if not isinstance(text, str):
        return text
    bounds = parameter.form == "bounds"
    parts = [part.strip() for part in (text.split(",") if bounds or parameter.form == "lag" else [text])]
    seconds = [seconds_of(part) for part in parts]
    given = [value_of(part) if s is None else timedelta(seconds=s) for part, s in zip(parts, seconds, strict=True)]
    no_bounds = len(given) != 2 or any(isinstance(one, str) for one in given)
    if no_bounds if bounds else None in seconds:
        rule = f"{DURATIONS[parameter.form]}; units are {', '.join(SECONDS)}"
        raise ValueError(f"{parameter.option} must be {rule}. Got {text!r}.")
    return tuple(given) if bounds else given[0] if len(given) == 1 else given


def _array(path, parameter):
    from ..io._tables import Reading
    from .recordings import Files

    return Files(Reading()).read(path, parameter.option).values if isinstance(path, str) else path


def _value(value, parameter):
    return value


FORMS = {"array": _array, **dict.fromkeys(DURATIONS, _durations)}  # what reads a text


def parse_metric(text):
    """Return a distance and its parameters, written NAME or NAME:KEY=VALUE,KEY=VALUE.

    Returns
    -------
    tuple of (str, dict)
    """
    name, _, rest = text.partition(":")
    parameters = {}
    # A comma within a value is not followed by a name and an equal sign.
    for pair in re.split(r",(?=\s*\w+=)", rest) if rest else []:
        key, equals, value = pair.partition("=")
        if not (key.strip().isidentifier() and equals):
            rule = "have the form NAME or NAME:KEY=VALUE,KEY=VALUE, such as dtw:alpha=0.7,window=0.1"
            raise argparse.ArgumentTypeError(f"must {rule}. Got {text!r}.")
        parameters[key.strip()] = value_of(value.strip())
    return name.strip(), parameters


def add_metric(parser, default="dtw", **kwargs):
    """Add the option of the distance; further arguments are those of `add_argument`."""
    more = ", may be repeated" if kwargs else ""
    parser.add_argument(
        "--metric",
        metavar="NAME[:KEY=VALUE,...]",
        type=parse_metric,
        help="the distance and its parameters, such as dtw:alpha=0.7,window=0.1; `sktslib metrics` lists them"
        f"{more} (default: {default})",
        **kwargs,
    )


def in_options(message, parameters):
    """Return a message of the library in the words of the command line: options in place of Python's parameters."""
    for one in parameters:
        message = re.sub(rf"\b{one.name}=\(([^ )]*), ([^ )]*)\)", rf"{one.option} \1,\2", message)
        message = re.sub(rf"\b{one.name}='?([\w.]+)'?", rf"{one.option} \1", message)
        own = f"'{one.own_name}'(?: parameter)?(?: of \\w+)?"
        message = re.sub(rf"The {own}(?! of)|{own}(?= must)", one.option, message)
        message = re.sub(rf"\b(set|with) '{one.own_name}'", rf"\1 {one.option}", message, flags=re.I)
    for python, words in PHRASES.items():
        message = re.sub(python, words, message)
    message = message.replace("scale query and sequences, for example with sklearn.preprocessing.StandardScaler", SCALE)
    return re.sub(r",? for example (with|by) numpy\.\w+", "", message).replace("pandas.Timedelta('1s')", "500ms")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are exceptions, and which names the nearest option."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs)

    def error(self, message):
        raise ValueError(f"{message} ({self.prog} --help lists all options)")

    def parse_args(self, args=None, namespace=None):
        options, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            near = difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1, cutoff=0.5)
            near = near if unknown[0].startswith("-") else []
            hint = f". Did you mean {near[0]}?" if near else ""
            if "--query" in known and not near:
                hint = ". The pattern is named with --query FILE"
            if unknown[0].startswith("--self-train") and "--task" in known:
                hint = ". It is an option of --task segment, which alone learns from what is unlabeled"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options


def number(text, convert, low, rule, *, above=False):
    """Return a number at least (or `above`) a bound."""
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not (low < value if above else low <= value) or not value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be {rule}. Got {text!r}.")
    return value


def add_options(parser, title, table):
    """Add a group of options from a table: option -> metavar, help, and what else `add_argument` takes."""
    group = parser.add_argument_group(title)
    for option, (metavar, text, *more) in table.items():
        group.add_argument(option, help=text, **({} if metavar is None else {"metavar": metavar}), **dict(*more))
    return group


def add_scale(parser, of):
    """Add the option of scaling; `of` says whose means and deviations count."""
    parser.add_argument(
        "--scale",
        metavar="VALUE",
        help=f"bring columns to one scale before they are compared. zscore: each less its mean, over its standard "
        f"deviation, both {of}; or what each is divided by, such as 9.81,250. Default: as they are, so that the column "
        "that varies most decides (--normalize is about each window, not about columns)",
    )


MAP = ("QUERY=RECORDING,...", "columns compared under other names, mV=ecg_mV (default: by name, or else in order)")
READING = {
    "--columns": ("A,B", "the columns to compare (default: all that hold numbers and nothing else)"),
    "--time-column": ("NAME", "the column of times, or DATE,TIME; none: count samples (default: found)"),
    "--weight-column": ("NAME", "the column of weights in the query's file (default: the one named weight)"),
    "--time-zone": ("NAME", "the zone of the times, such as Europe/Berlin (default: that of the file, if it says one)"),
    "--time-unit": (
        "UNIT",
        "the unit of times that are numbers: ns, us, ms, s, min, h or d (default: as in the name, time_ms, else s)",
        {"choices": ("ns", "us", "ms", "s", "min", "h", "d")},
    ),
    "--epoch": (
        "UNIT",
        "the times count s, ms, us or ns since 1970, in UTC: they are read as dates",
        {"choices": ("s", "ms", "us", "ns")},
    ),
    "--rate": (
        "HZ",
        "samples per second, for files without times",
        {"type": lambda text: number(text, float, 0, "a number above 0", above=True)},
    ),
    "--separator": ("CHAR", "what separates cells of text files: a character, tab or space (default: found)"),
    "--decimal": ("CHAR", "the decimal mark of text files (default: found)", {"choices": (".", ",")}),
    "--thousands": ("CHAR", "the mark between thousands in text files (default: found where it is certain)"),
    "--header": (
        "LINE",
        "the line with the names of columns, from 1; 0: no names (default: found)",
        {"type": lambda text: number(text, int, 0, "the number of a line, from 1, or 0")},
    ),
    "--missing": (
        "WORD,...",
        "what stands for missing values, --missing=-9999,X (default: empty cells, NaN, NA, ...)",
    ),
    "--sheet": ("NAME", "the sheet of an Excel file, by name or by number from 1 (default: the first)"),
    "--encoding": ("NAME", "the encoding of text files (default: found; UTF-8, UTF-16 or else cp1252)"),
    "--day-first": (
        None,
        "read 02/03/2024 as the second of March (default: as other rows show, else month first)",
        {"action": argparse.BooleanOptionalAction},
    ),
    "--transpose": (None, "the rows of an NPY or NPZ file are its channels", {"action": "store_true"}),
}


def add_reading(parser, without=()):
    """Add the options that say how files are read."""
    add_options(parser, "reading files", {option: row for option, row in READING.items() if option not in without})


def reading_of(options):
    """Return the options that say how to read files, as a `Reading`."""
    from dataclasses import fields

    from ..io._tables import Reading

    return Reading(**{one.name: getattr(options, one.name) for one in fields(Reading) if hasattr(options, one.name)})


def add_output(parser, picture="draw a picture into a file (.png, .svg, .pdf, ...)"):
    """Add the options that say what is written, and return their group."""
    notes = "how results are printed on the standard output; notes go to the standard error (default: table)"
    table = {"--format": (None, notes, {"choices": FORMATS, "default": "table"}), "--picture": ("FILE", picture)}
    return add_options(parser, "output", table)


@contextmanager
def errors_of(where, parameters=(), data=None):
    """Say of an error what it is about, in the words of the command line; `data` is what the library calls X.

    Warnings are notes in the same words.
    """

    def tell(message, category, *args, **kwargs):
        from ..utils._times import ColumnOfTimes
        from .output import note

        if category is not ColumnOfTimes:  # which was told when the columns were chosen
            note(f"warning: {in_options(str(message), parameters)}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = tell
            yield
    except (ValueError, TypeError) as error:
        message = in_options(str(error), parameters)
        if data is not None:
            message = message.replace("'X'", data)
        raise ValueError(f"{where}: {message}" if where and not message.startswith("--") else message) from None


def is_terminal():
    """Return whether somebody may look at a bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def with_bar(values, parameters):
    """Return the values of parameters, with a progress bar if somebody may look at it and nothing else was set."""
    shown = is_terminal() and any(one.name == "verbose" for one in parameters)
    return {"verbose": 1} | values if shown else values
