"""A page in the browser on which recordings are looked at, marked and searched."""

import sys

__all__ = ["show"]


def show(recording, path=None, *, port=0, browser=True, **given):
    """Show a recording on a page: drag over a pattern, see all that is like it, answer, learn, take away.

    In a notebook the page is the value of the call, and its messages go through the kernel. Elsewhere a server on
    127.0.0.1 shows it in the browser until Ctrl-C.

    Parameters
    ----------
    recording : str, path-like, Recording, object or array-like of shape (n,) or (n, channels)
        A file or an object that `sktslib.io.read` takes, a `Recording`, a table, an array, a memory map or what else
        can be sliced.
    path : str or Path, optional
        A file, such as ``"day.view.json"``. The session is saved there after each answer, and goes on where it was when
        it is shown again. What is taken away is written next to it.
    port : int, default=0
        The port of the server; 0: a free one.
    browser : bool, default=True
        Whether a browser is opened. The address is printed in any case.
    **given
        In place of the recording's own `times` of its samples or `rate`, samples per second; `names` and `units` of its
        channels; `name` of the recording; `seed` of the matches that are drawn at random.

    Returns
    -------
    object or None
        In a notebook the widget.

    Raises
    ------
    ValueError
        If times, names or units do not fit the recording.

    Examples
    --------
    >>> from sktslib import load_ecg_example
    >>> from sktslib.view import show
    >>> ecg = load_ecg_example()
    >>> show(ecg.sequence, "ecg.view.json", times=ecg.ts)  # doctest: +SKIP
    """
    from . import _server
    from ._session import Session

    session = Session(recording, path, **given)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _server.widget(session)
    return _server.serve(session, port=port, browser=browser)
