"""Options of a command from the signature and the docstring of what it calls, so that no list is kept twice."""

import argparse
import ast
import inspect
import re
import textwrap
from datetime import timedelta
from typing import NamedTuple

SCALE = "scale the columns: --scale zscore"
LONG = 3  # lengths of the query; a repetition that is longer holds several
WORDS = {"none": None, "all": None, "true": True, "false": False}
# What is said of Python's types, in the words of the command line.
PHRASES = {
    r"an instance of FalseDiscoveryRate, an instance of Conformal, an instance of 'str'": "fdr:ALPHA, conformal:ALPHA",
    r"a FalseDiscoveryRate or a Conformal, or a text such as '(\S+)' or '\S+'": r"fdr:ALPHA or conformal:ALPHA, as \1",
    r"The '(?:events|kinds)' parameter": "--labels",
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

    @property
    def option(self):
        return f"--{self.name.replace('_', '-')}"


def parameters_of(callee):
    """The keyword parameters of a class or function, with what its numpydoc docstring says of them.

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
    for name, one in inspect.signature(callee).parameters.items():
        if one.default is not inspect.Parameter.empty:
            found.append(Parameter(name, one.default, *described.get(name, ("", ""))))
    return found


def described_parameters(docstring):
    """Type and description of each parameter in a numpydoc docstring."""
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
    """The value that a text on the command line stands for: a Python literal, none, or the text itself."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
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
    default = "none" if parameter.default is None else parameter.default
    return f"{kind}. {text} (default: {default})".replace("%", "%%")


def given(options, parameters):
    """The parameters that were given, by name; what is described as an array may be the name of a file."""
    values = {one.name: getattr(options, one.name) for one in parameters if hasattr(options, one.name)}
    for one in parameters:
        if one.type.startswith("array-like") and isinstance(values.get(one.name), str):
            values[one.name] = _array(values[one.name], one.option)
        if "timedelta" in one.type and isinstance(values.get(one.name), str):
            values[one.name] = _durations(values[one.name], one)
    return values


def _durations(text, parameter):
    """A duration, such as 1.5s, or a list of them where the parameter may be one."""
    from .slices import SECONDS, seconds_of

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
    """A distance and its parameters, written NAME or NAME:KEY=VALUE,KEY=VALUE.

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


def in_options(message, parameters):
    """A message of the library in the words of the command line: options in place of Python's parameters."""
    for one in parameters:
        message = re.sub(rf"\b{one.name}=\(([^ )]*), ([^ )]*)\)", rf"{one.option} \1,\2", message)
        message = re.sub(rf"\b{one.name}='?([\w.]+)'?", rf"{one.option} \1", message)
        message = re.sub(rf"The '{one.name}' parameter(?: of \w+)?|'{one.name}'(?= must)", one.option, message)
        message = re.sub(rf"\b(set|with) '{one.name}'", rf"\1 {one.option}", message)
    for python, words in PHRASES.items():
        message = re.sub(python, words, message)
    message = message.replace("scale query and sequences, for example with sklearn.preprocessing.StandardScaler", SCALE)
    return re.sub(r",? for example (with|by) numpy\.\w+", "", message).replace("pandas.Timedelta('1s')", "500ms")


def hints(estimator, segments):
    """What a segmentation leaves to be said: which options give another."""
    from .output import write_numbers

    longest = estimator.max_length
    if not len(segments):
        short = isinstance(longest, int) and 2 * longest < min(map(len, estimator.queries_))
        yield (
            f"--max-length {longest} is in samples, and the query has more than twice as many: raise it, or leave it "
            "out"
            if short
            else "a higher --background takes what costs more for repetitions, too"
        )
        return
    if estimator.background == "auto":
        yield (
            f"a sample of background costs {write_numbers([estimator.background_])[0]}; a repetition that costs far "
            "more than the others may be none: a lower --background leaves it out"
        )
    if segments.stretch.max() > LONG:
        yield (
            f"repetitions are up to {segments.stretch.max():.1f} times as long as the query: bound them with "
            "--max-length, or take a metric whose cost of stretching is in the unit of the values (--metric adtw)"
        )
