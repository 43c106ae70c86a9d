"""A page in the browser for looking at recordings, marking patterns and searching."""

import sys

__all__ = ["show"]


def show(recording, path=None, *, name="recording", seed=0, port=0, browser=True):
    """Show a recording on a page in the browser, to mark a pattern, search for it, answer, learn and save the results.

    In a notebook the page is the value of the call and works through the kernel. Elsewhere a server on 127.0.0.1 shows
    it in the browser until Ctrl-C.

    Parameters
    ----------
    recording : str, path-like, Recording, object or array-like of shape (n,) or (n, channels)
        A file or an object that `sktslib.io.read` takes, a table, an array, a memory map or anything else that can be
        sliced; a `Recording` of any of these says its times, or its rate, and names and units of its channels.
    path : str or Path, optional
        A file, such as ``"day.view.json"``, in which the session is saved after each answer, and from which it is
        resumed. Labels, model and script are written next to it; without one, to the working directory, where they
        replace no file of others.
    name : str, default="recording"
        Name of the recording on the page and of what is exported.
    seed : int, default=0
        Seed of the matches drawn at random.
    port : int, default=0
        The port of the server; 0: a free one.
    browser : bool, default=True
        Whether to open a browser. The address is printed in any case.

    Returns
    -------
    object or None
        The widget in a notebook, otherwise None.

    Raises
    ------
    ValueError
        If the recording holds no numbers, the file does not hold a session, or the port is not free.

    Examples
    --------
    >>> from sktslib import load_ecg_example
    >>> from sktslib.io import Recording
    >>> from sktslib.view import show
    >>> ecg = load_ecg_example()
    >>> show(Recording(ecg.sequence, ecg.ts, ["MLII"], ["mV"]), "ecg.view.json")  # doctest: +SKIP
    """
    from . import _server
    from ._session import Session

    session = Session(recording, path, name=name, seed=seed)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _server.widget(session)
    return _server.serve(session, port=port, browser=browser)
