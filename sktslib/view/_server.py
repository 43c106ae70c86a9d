"""The page of a session, from a local web server or in a notebook.

Both send the messages of the page to ``session.handle`` and its answers back, as JSON. The server listens on 127.0.0.1
alone. Other users of the machine lack the token in the address; pages of other sites are refused by Host and Origin.
"""

import json
import os
import secrets
import sys
import webbrowser
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from urllib.parse import parse_qs, urlsplit

from ..io._library import library

HERE = "127.0.0.1"
FILES = {  # all that is served, by path
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
}


def serve(session, *, port=0, browser=True):
    """Show a session in a browser until Ctrl-C ends it.

    Prints the address of the page and opens it. Nothing is opened with ``browser=False``, over SSH and where there is
    no screen.

    Parameters
    ----------
    session : Session
        What answers the page's messages.
    port : int, default=0
        The port of 127.0.0.1 to listen on; 0 takes a free one.
    browser : bool, default=True
        Whether to open the page in a browser.

    Raises
    ------
    ValueError
        When the port is in use, or may not be used.
    """
    with Server(session, port) as server:
        print(f"{server.address}\nCtrl-C ends it.", flush=True)
        # Without a screen `webbrowser` starts a browser in the terminal, which Ctrl-C then ends in place of the server.
        has_screen = sys.platform in ("win32", "darwin") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        is_seen = browser and has_screen and not {"SSH_CONNECTION", "SSH_TTY"} & os.environ.keys()
        if not (is_seen and webbrowser.open(server.address.replace(server.token, server.once))):
            print("Open this address in a browser. Over SSH, first run on your own machine, with the name of this one:")
            print(f"ssh -L {server.server_port}:{HERE}:{server.server_port} NAME", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nended")


def widget(session):
    """Return a session's page as a widget for notebooks, whose messages go through the kernel.

    Parameters
    ----------
    session : Session
        What answers the page's messages.

    Returns
    -------
    anywidget.AnyWidget
        The widget; a notebook shows it where it is the last value of a cell.

    Raises
    ------
    ImportError
        When anywidget is not installed.
    """
    anywidget = library("anywidget", "view")

    class View(anywidget.AnyWidget):
        _esm, _css = ((Path(__file__).parent / name).read_text(encoding="utf-8") for name in ("page.js", "page.css"))

    view = View()
    view.on_msg(lambda _, asked, buffers: view.send({"id": asked["id"], "answer": _answer(session, asked["message"])}))
    return view


def _answer(session, text):
    return json.dumps(session.handle(json.loads(text)), allow_nan=False)


class Server(ThreadingTCPServer):
    """The listening socket, and what its requests share; `address` has the token.

    The server of `http.server` asks the network for the name of this machine, which can take seconds.
    """

    daemon_threads = True  # Ctrl-C waits for no answer
    allow_reuse_address = sys.platform != "win32"  # where it would let two programs listen on one port

    def __init__(self, session, port=0):
        self.session, self.token = session, secrets.token_urlsafe(24)
        # Other users see with which address a browser was started, so that this one is worth nothing afterwards.
        self.once = secrets.token_urlsafe(24)
        try:
            super().__init__((HERE, port), _Request)
        except (OSError, OverflowError) as error:
            rule = "free and from 1024 to 65535, or 0 for any that is free"
            raise ValueError(f"'port' must be {rule}. Got {port}: {str(error).rstrip('.')}.") from None
        self.server_port = self.server_address[1]
        self.address = f"http://{HERE}:{self.server_port}/?token={self.token}"

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # as of a page that was closed before it had its answer
            super().handle_error(request, client_address)


class _Request(BaseHTTPRequestHandler):
    """Answers to the requests of one connection."""

    protocol_version = "HTTP/1.1"  # keeps the connection, for a message each frame
    disable_nagle_algorithm = True

    def do_GET(self):
        where = urlsplit(self.path)
        token = parse_qs(where.query).get("token", [""])[0]
        if where.path not in FILES:
            self._reply(404, "Not found.")
        elif where.path != "/" or self._is_token(token):
            name, kind = FILES[where.path]
            self._reply(200, (Path(__file__).parent / name).read_text(encoding="utf-8"), kind)
        elif token == self.server.once:
            self.server.once = None
            self._reply(303, "", Location=self.server.address)
        else:
            self._reply(403, "Open the whole address that the terminal shows: it ends in the token.")

    def do_POST(self):
        if self.path != "/message":
            self._reply(404, "Not found.")
        elif not self._is_token(self.headers.get("X-Token", "")):
            self._reply(403, "The token is wrong. Open the address that the terminal shows.")
        else:
            message = self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(200, _answer(self.server.session, message), "application/json")

    def parse_request(self):
        """Refuse what was sent to another name, as by a site whose name leads here, or by a page of another site."""
        if not super().parse_request():
            return False
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        # Any port, because a tunnel may end at another.
        if foreign := host.partition(":")[0] not in (HERE, "localhost") or origin not in (None, f"http://{host}"):
            self._reply(403, f"Only pages of {HERE} are answered.")
        return not foreign

    def _is_token(self, text):
        return secrets.compare_digest(text.encode(), self.server.token.encode())

    def _reply(self, status, content, kind="text/plain; charset=utf-8", **headers):
        content = content.encode()
        headers |= {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}
        if status != 200:  # what is left of the request is not read
            headers["Connection"] = "close"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass
