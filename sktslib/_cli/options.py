"""Options of a command, made from the signature and the docstring of what it calls, so that no list is kept twice.

The commands share the parser, the options for reading files and for output, and error messages in the words of their
options.
"""

import argparse
import ast
import difflib
import inspect
import re
import sys
import textwrap
import warnings
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

SCALE = "scale the columns: --scale zscore"
OBJECTS = {"channels": "channel_", "learning": ""}  # parameters without a short form, and prefixes of their options
WORDS = {"none": None, "all": None, "true": True, "false": False}
# What is said of Python's types, in the words of the command line.
PHRASES = {
    r"an instance of FalseDiscoveryRate, an instance of Conformal": "fdr:ALPHA, conformal:ALPHA",
    r", an instance of Percentile": ", percentile:Q",
    r", an instance of 'str'": "",
    r", an instance of (?:Windows|Subsequences|Normalization|ChannelPlan|Learning)\b": "",
    r"or a rule, as an object or as a text such as '(\S+)' or '\S+'": r"fdr:ALPHA or conformal:ALPHA, as \1",
    r"\ban array-like\b": "numbers, such as 1,2",
    r"The '(?:events|kinds)' parameter": "--labels",
    r" of (?:Normalization|Windows|Subsequences|ChannelPlan|Learning)\b": "",
    r"The 'alpha' parameter of (?:FalseDiscoveryRate|Conformal)": "--threshold: ALPHA",
    r"\ba str among\b": "one of",
    r"\ban int(?:eger)? in\b": "a whole number in",
    r"\ba float in\b": "a number in",
}


class Parameter(NamedTuple):
    """A parameter of a class or function."""

    name: str
    default: object
    type: str  # as the docstring says
    text: str
    key: str = (
        ""  # what `set_params` calls a parameter of an object that the estimator holds, "normalize__scale_limits"
    )

    @property
    def own_name(self):
        """Name of the parameter in messages."""
        return self.key.rpartition("__")[2] or self.name

    @property
    def option(self):
        return f"--{self.name.replace('_', '-')}"


def parameters_of(callee):
    """Return the keyword parameters of a class or function, with what its numpydoc docstring says of them.

    Parameters
    ----------
    callee : type or callable
        A class whose constructor's parameters are meant, or a function.

    Returns
    -------
    list of Parameter
    """
    described = described_parameters(inspect.getdoc(callee) or "")
    found = []
    held = getattr(callee, "_parameter_objects", {})
    for name, one in inspect.signature(callee).parameters.items():
        if one.default is inspect.Parameter.empty:
            continue
        if name not in OBJECTS:
            found.append(Parameter(name, one.default, *described.get(name, ("", ""))))
        if name in held and name != "threshold":  # which has texts for its objects
            own = [each for cls in held[name] for each in parameters_of(cls) if each.name != "method"]
            prefix = OBJECTS.get(name, "")
            found += [each._replace(name=prefix + each.name, key=f"{name}__{each.name}") for each in own]
    return found


def described_parameters(docstring):
    """Return the type and description of each parameter in a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", docstring, re.M | re.S)
    if section is None:
        return {}
    found = {}
    for head, body in re.findall(r"^(\S[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)*)", section[1], re.M):
        names, _, kind = head.partition(" : ")
        text = " ".join(textwrap.dedent(body).split())
        found |= {name.strip().lstrip("*"): (kind.strip(), text) for name in names.split(",")}
    return found


def value_of(text):
    """Return the value that a text on the command line stands for: a Python literal, none, or the text itself."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(re.sub(r"(?i)\bnone\b", "None", text))
    except (ValueError, SyntaxError):
        return text


def add_parameters(parser, title, callee, without=()):
    """Add an option for each parameter; those not given are absent from what is parsed.

    Returns
    -------
    list of Parameter
    """
    group = parser.add_argument_group(title)
    parameters = [one for one in parameters_of(callee) if one.name not in without]
    for one in parameters:
        settings = {"dest": one.name, "default": argparse.SUPPRESS, "help": _help(one)}
        if isinstance(one.default, bool):
            group.add_argument(one.option, action=argparse.BooleanOptionalAction, **settings)
        else:
            group.add_argument(one.option, metavar="VALUE", type=value_of, **settings)
    return parameters


def _help(parameter):
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", parameter.text).replace("`", "")
    kind = re.sub(r",? ?(default=[^,]*|optional)$", "", parameter.type)
    kind = re.sub(r"(?:,| or|, or) [A-Z][a-z]\w+", "", kind)  # classes are not written on a command line
    default = "none" if parameter.default is None else parameter.default
    return f"{kind}. {text} (default: {default})".replace("%", "%%")


def given(options, parameters):
    """Return the parameters that were given, by name; what is described as an array may be the name of a file."""
    values = {}
    for one in parameters:
        if hasattr(options, one.name):
            value = getattr(options, one.name)
            if isinstance(value, str) and one.type.startswith("array-like"):
                value = _array(value, one.option)
            elif isinstance(value, str) and "timedelta" in one.type:
                value = _durations(value, one)
            values[one.name] = value
    return values


def _durations(text, parameter):
    """Return a duration, such as 1.5s, or a list of them where the parameter may be one."""
    from .recordings import SECONDS, seconds_of

    many = "list" in parameter.type
    seconds = [seconds_of(part.strip()) for part in (text.split(",") if many else [text])]
    if None in seconds:
        samples = parameter.type.startswith("int")
        rule = "a number of samples" if samples else "a number in the unit of the times (of dates, seconds)"
        lists = ", or a list of one for each channel, 0s,0.5s" if many else ""
        names = """, or a dict of numbers by channel, '{"B": 10}'""" if "dict" in parameter.type else ""
        raise ValueError(
            f"{parameter.option} must be {rule}, or a duration such as 500ms or 1.5s{lists}{names}; units are "
            f"{', '.join(SECONDS)}. Got {text!r}."
        )
    given = [timedelta(seconds=each) for each in seconds]
    return given[0] if len(given) == 1 else given


def _array(path, option):
    from .recordings import Files
    from .tables import Reading

    return Files(Reading()).read(path, option).numbers


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
            raise argparse.ArgumentTypeError(
                f"must have the form NAME or NAME:KEY=VALUE,KEY=VALUE, such as dtw:alpha=0.7,window=0.1. Got {text!r}."
            )
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
        options, unknown = self.parse_known_args(args, namespace)
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


READING = {
    "--columns": ("A,B", "the columns to compare (default: all that hold numbers and nothing else)"),
    "--time-column": (
        "NAME",
        "the column of times, or two, of dates and of clock times: DATE,TIME; none: count samples (default: "
        "found by name and content)",
    ),
    "--weight-column": ("NAME", "the column of weights in the query's file (default: the one named weight)"),
    "--time-zone": ("NAME", "the zone of the times, such as Europe/Berlin (default: that of the file, if it says one)"),
    "--epoch": (
        "UNIT",
        "the column of times counts s, ms, us or ns since 1970, in UTC: they are read as dates",
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
        "the line with the names of columns, from 1; 0: there is none (default: found)",
        {"type": lambda text: number(text, int, 0, "the number of a line, from 1, or 0")},
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

    from .tables import Reading

    return Reading(**{one.name: getattr(options, one.name) for one in fields(Reading) if hasattr(options, one.name)})


def add_output(parser, picture="draw a picture into a file (.png, .svg, .pdf, ...)"):
    """Add the options that say what is written, and return their group."""
    from .output import FORMATS

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
