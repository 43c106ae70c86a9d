"""The commands, and the parser of the one that is meant; nothing else is imported until then."""

from importlib import import_module
from typing import NamedTuple

from .. import __version__
from .options import Parser

EXAMPLES = """\
examples:
  sktslib                                                      the demonstration, on a real electrocardiogram
  sktslib search day.csv --query beat.csv --picture found.png  where beat.csv occurs in day.csv
  sktslib search day.csv --query :12.5s-13.1s --n-matches 20   where that part of day.csv occurs again
  sktslib segment walk.csv --query :475-690 --format csv       cut the recording into repetitions
  sktslib learn walk.csv --labels strides.csv --output model.joblib && sktslib segment next.csv --model model.joblib
  sktslib distance a.csv b.csv --metric dtw:window=0.1 --metric euclidean

exit code: 0 something was found or done, 1 nothing was found, 2 an option or a file is wrong
"""


class Command(NamedTuple):
    """A command: what it is for, and where its code is."""

    text: str
    module: str
    add: str
    run: str
    arguments: tuple = ()  # of `add`


COMMANDS = {
    "search": Command("find where a pattern occurs", "searching", "add_arguments", "run", ("search",)),
    "segment": Command("cut a recording into repetitions", "searching", "add_arguments", "run", ("segment",)),
    "learn": Command("learn from labels, save the estimator", "searching", "add_learn_arguments", "run_learn"),
    "distance": Command("distances of two series", "comparing", "add_distance_arguments", "run_distance"),
    "pairwise": Command("distances of all pairs of series", "comparing", "add_pairwise_arguments", "run_pairwise"),
    "metrics": Command("list the distances and their parameters", "comparing", "add_metrics_arguments", "run_metrics"),
    "demo": Command(
        "several distances side by side, on an electrocardiogram or on files", "demonstration", "add_arguments", "run"
    ),
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
        parser.add_argument("--version", action="version", version=f"sktslib {__version__}")
        parser.parse_args(["--help" if argv[0] == "help" else argv[0]])
    name = "demo" if not argv or argv[0].startswith("-") else argv[0]
    if name not in COMMANDS:
        from ..utils.validation import unknown_name

        raise unknown_name("command", name, COMMANDS)
    command, rest = COMMANDS[name], argv[1:] if argv and argv[0] == name else argv
    module = import_module(f".{command.module}", __package__)
    parser = Parser(prog=f"sktslib {name}", description=f"{command.text[0].upper()}{command.text[1:]}.")
    getattr(module, command.add)(parser, *command.arguments, rest)
    return getattr(module, command.run), parser.parse_args(rest)


def run(argv):
    """Run the command that the arguments begin with; returns the exit code."""
    command, options = parse(argv)
    return command(options)
