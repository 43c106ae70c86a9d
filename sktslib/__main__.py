"""The command line: ``sktslib`` and ``python -m sktslib``."""

import errno
import os
import sys

from ._cli.commands import run

WINDOWS = sys.platform == "win32"


def _reader_is_gone(error):
    """Return whether an error means that the reader of the output, such as head, has ended."""
    # Windows reports this as an invalid argument, but also a wrong file name.
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
        0 when something was found or done, 1 when nothing was found, 2 after a wrong option or file, which one line on
        the standard error stream explains.
    """
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not support a character in a column's name
    try:
        code = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (ValueError, TypeError, OSError) as error:
        if _reader_is_gone(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            error = f"The results could not be written: {error.strerror}. Free some space, or write elsewhere."
        print(f"sktslib: error: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
