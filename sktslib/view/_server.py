"""The page of a session, served by a local web server or in a notebook.

Both pass the messages of the page to ``session.handle`` and return its answers, as JSON. The server listens on
127.0.0.1 only. Other users of the machine do not have the token in the address; requests from pages of other sites are
refused by their Host and Origin.
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
FILES = {  # all served files, by path
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",  # because the address contains the token
    "X-Content-Type-Options": "nosniff",
}


def serve(session, *, port=0, browser=True):
    """Show a session in a browser until Ctrl-C ends it.

    Prints the address of the page and opens it. Nothing is opened with ``browser=False``, over SSH and where there is
    no screen.

    Parameters
    ----------
    session : Session
        The session that answers the page's messages.
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
        # Without a screen, `webbrowser` would start a text browser, which Ctrl-C would end instead of the server.
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
        The session that answers the page's messages.

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
    """The listening socket and the state that its requests share; `address` contains the token.

    `http.server`'s own class would look up the name of this machine in the network, which can take seconds.
    """

    daemon_threads = True  # Ctrl-C does not wait for answers
    allow_reuse_address = sys.platform != "win32"  # on Windows two programs could then listen on one port

    def __init__(self, session, port=0):
        self.session, self.token = session, secrets.token_urlsafe(24)
        # Other users can see the address that a browser is started with, so its token is valid only once.
        self.once = secrets.token_urlsafe(24)
        try:
            super().__init__((HERE, port), _Request)
        except (OSError, OverflowError) as error:
            rule = "free and from 1024 to 65535, or 0 for any that is free"
            raise ValueError(f"'port' must be {rule}. Got {port}: {str(error).rstrip('.')}.") from None
        self.server_port = self.server_address[1]
        self.address = f"http://{HERE}:{self.server_port}/?token={self.token}"

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # the page may have been closed before its answer
            super().handle_error(request, client_address)


class _Request(BaseHTTPRequestHandler):
    """Answers to the requests of one connection."""

    protocol_version = "HTTP/1.1"  # keeps the connection open, because each frame sends a message
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
        """Refuse requests for another host name, which may point here, and requests from pages of other sites."""
        if not super().parse_request():
            return False
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        # Any port is allowed, because a tunnel may use another one.
        if foreign := host.partition(":")[0] not in (HERE, "localhost") or origin not in (None, f"http://{host}"):
            self._reply(403, f"Only pages of {HERE} are answered.")
        return not foreign

    def _is_token(self, text):
        return secrets.compare_digest(text.encode(), self.server.token.encode())

    def _reply(self, status, content, kind="text/plain; charset=utf-8", **headers):
        content = content.encode()
        headers |= {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}
        if status != 200:  # close the connection, because the rest of the request has not been read
            headers["Connection"] = "close"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass
