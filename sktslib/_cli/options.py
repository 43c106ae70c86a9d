"""What several commands share: the parser, options of reading files and of output, and errors in their words."""

import argparse
import difflib
import sys
import warnings
from contextlib import contextmanager

from .estimator_options import in_options

READING = {
    "--columns": ("A,B", "the columns to compare (default: all that hold numbers and nothing else)"),
    "--time-column": (
        "NAME",
        "the column of times, or two, of dates and of clock times: DATE,TIME; none: count samples (default: "
        "found by name and content)",
    ),
    "--weight-column": ("NAME", "the column of weights in the query's file (default: the one named weight)"),
    "--time-zone": ("NAME", "the zone of the times, such as Europe/Berlin (default: that of the file, if it says one)"),
    "--epoch": ("UNIT", "the column of times counts s, ms, us or ns since 1970, in UTC: they are read as dates"),
    "--rate": ("HZ", "samples per second, for files without times"),
    "--separator": ("CHAR", "what separates cells of text files: a character, tab or space (default: found)"),
    "--decimal": ("CHAR", "the decimal mark of text files (default: found)"),
    "--thousands": ("CHAR", "the mark between thousands in text files (default: found where it is certain)"),
    "--header": ("LINE", "the line with the names of columns, from 1; 0: there is none (default: found)"),
    "--sheet": ("NAME", "the sheet of an Excel file, by name or by number from 1 (default: the first)"),
    "--encoding": ("NAME", "the encoding of text files (default: found; UTF-8, UTF-16 or else cp1252)"),
}
DECIMALS = (".", ",")
EPOCHS = ("s", "ms", "us", "ns")
DEFAULT_MATCHES = 10  # enough to see what a pattern finds


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
            near = (
                []
                if not unknown[0].startswith("-")
                else difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1, cutoff=0.5)
            )
            hint = f". Did you mean {near[0]}?" if near else ""
            if "--query" in known and not near:
                hint = ". The pattern is named with --query FILE"
            if unknown[0].startswith("--self-train") and "--task" in known:
                hint = ". It is an option of --task segment, which alone learns from what is unlabeled"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options


def number(text, convert, low, rule, *, above=False):
    """A number at least (or `above`) a bound."""
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not (low < value if above else low <= value) or not value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be {rule}. Got {text!r}.")
    return value


def add_reading(parser, without=()):
    """Add the options that say how files are read."""
    group = parser.add_argument_group("reading files")
    special = {
        "--rate": {"type": lambda text: number(text, float, 0, "a number above 0", above=True)},
        "--header": {"type": lambda text: number(text, int, 0, "the number of a line, from 1, or 0")},
        "--decimal": {"choices": DECIMALS},
        "--epoch": {"choices": EPOCHS},
    }
    for option, (metavar, text) in READING.items():
        if option not in without:
            group.add_argument(option, metavar=metavar, help=text, **special.get(option, {}))
    order = "read 02/03/2024 as the second of March (default: as other rows show, else month first)"
    group.add_argument("--day-first", action=argparse.BooleanOptionalAction, help=order)
    group.add_argument("--transpose", action="store_true", help="the rows of an NPY or NPZ file are its channels")


def reading_of(options):
    """How the options say that files are read."""
    from dataclasses import fields

    from .tables import Reading

    return Reading(**{one.name: getattr(options, one.name) for one in fields(Reading) if hasattr(options, one.name)})


def add_output(parser, picture="draw a picture into a file (.png, .svg, .pdf, ...)"):
    """Add the options that say what is written, and return their group."""
    from .output import FORMATS

    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        help="how results are printed on the standard output; notes go to the standard error (default: table)",
    )
    group.add_argument("--picture", metavar="FILE", help=picture)
    return group


@contextmanager
def errors_of(where, parameters=(), data=None):
    """Say of an error what it is about, in the words of the command line; `data` is what the library calls X.

    Warnings are notes in the same words.
    """

    def tell(message, category, *args, **kwargs):
        from ..utils._given_times import ColumnOfTimes
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
    """Whether somebody may look at a bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def with_bar(values, parameters):
    """Values of parameters, and bars of those that have some if somebody may look at them and nothing else was said."""
    shown = is_terminal() and any(one.name == "verbose" for one in parameters)
    return {"verbose": 1} | values if shown else values
