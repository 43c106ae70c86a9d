"""The server of the page: who is answered, what is served, and that messages reach the session and come back."""

import http.client
import json
import re
import socket
import sys
import threading
import webbrowser
from contextlib import closing
from importlib.resources import files

import pytest
from inputs import refused

from sktslib.view import _server
from sktslib.view._server import FILES, Server, serve


def page_of(name):
    """A file of the page."""
    return files("sktslib.view").joinpath(name).read_text(encoding="utf-8")


class Session:
    """What it was asked is what it answers."""

    def __init__(self):
        self.asked = []

    def handle(self, message):
        self.asked.append(message)
        return {"echo": message, "thread": threading.get_ident()}


@pytest.fixture
def server():
    with Server(Session()) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def connected(server):
    return closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10))


def request(server, method, path, headers=(), body=None, host=None):
    """Status, headers and text of the answer to one request on a connection of its own."""
    headers = {"Host": host or f"127.0.0.1:{server.server_port}", **dict(headers)}
    with connected(server) as connection:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()


def page(server):
    return server.address.partition(str(server.server_port))[2]


def send(server, message, **headers):
    return request(server, "POST", "/message", {"X-Token": server.token, **headers}, json.dumps(message))


def test_messages_reach_the_session_and_come_back(server):
    message = {"type": "view", "first": 0.5, "last": 1e9, "name": "Größe"}
    status, headers, text = send(server, message)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(text)["echo"] == message
    assert server.session.asked == [message]


def test_messages_are_answered_side_by_side(server):
    """A view is answered while a search is; on one connection there may be several messages."""
    with connected(server) as connection:
        for number in range(3):
            connection.request("POST", "/message", json.dumps({"type": str(number)}), {"X-Token": server.token})
            answer = json.loads(connection.getresponse().read())
            assert answer["echo"]["type"] == str(number)
        other = json.loads(send(server, {"type": "view"})[2])
        assert other["thread"] != answer["thread"] != threading.get_ident()


def test_the_page_and_its_files_are_served(server):
    for path, (name, kind) in FILES.items():
        status, headers, text = request(server, "GET", page(server) if path == "/" else path)
        assert (status, headers["Content-Type"]) == (200, kind)
        assert text == page_of(name)
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
    # What the page loads is served, and nothing comes from elsewhere.
    text = "".join(page_of(name) for name, _ in FILES.values())
    loaded = re.findall(r"""(?:src|href)="([^"]*)"|url\(|@import|\bimport\b""", text)
    assert set(loaded) == {"page.css", "page.js", "data:,"}
    assert not re.search(r"https?://", text)


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?other=1"])
def test_no_page_without_the_token(server, path):
    status, _, text = request(server, "GET", path)
    assert status == 403
    assert "ends in the token" in text


@pytest.mark.parametrize("headers", [{}, {"X-Token": ""}, {"X-Token": "wrong"}, {"X-Token": "é"}])
def test_no_answer_without_the_token(server, headers):
    assert request(server, "POST", "/message", headers, '{"type": "open"}')[0] == 403
    assert request(server, "POST", page(server).replace("/", "/message"), headers, '{"type": "open"}')[0] == 404
    assert server.session.asked == []


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "10.0.0.1"])
def test_another_host_is_refused(server, host):
    """A site whose name leads to this machine would else be a page of the server's own."""
    assert request(server, "GET", page(server), host=host)[0] == 403
    assert request(server, "GET", "/page.js", host=host)[0] == 403
    headers = {"X-Token": server.token, "Origin": f"http://{host}"}
    assert request(server, "POST", "/message", headers, '{"type": "open"}', host=host)[0] == 403
    assert server.session.asked == []


def test_another_origin_is_refused(server):
    own = f"http://127.0.0.1:{server.server_port}"
    for origin in ("http://example.org", "null", "https://127.0.0.1", f"{own}0", own.replace("127.0.0.1", "localhost")):
        assert send(server, {"type": "open"}, Origin=origin)[0] == 403
    assert server.session.asked == []
    assert send(server, {"type": "open"}, Origin=own)[0] == 200


def test_a_tunnel_may_end_at_another_port(server):
    assert request(server, "GET", page(server), host="localhost:9999")[0] == 200


@pytest.mark.parametrize(
    "path", ["/_server.py", "/page.html", "/../_server.py", "/%2e%2e/_server.py", "//etc/passwd", "/message"]
)
def test_nothing_else_is_served(server, path):
    assert request(server, "GET", path)[0] == 404
    assert path == "/message" or request(server, "POST", path, {"X-Token": server.token}, "{}")[0] == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD"])
def test_no_other_method_is_known(server, method):
    assert request(server, method, page(server))[0] == 501


def test_the_address_a_browser_is_started_with_is_good_once(server):
    """Other users of the machine see how a process was started."""
    once = page(server).replace(server.token, server.once)
    status, headers, _ = request(server, "GET", once)
    assert (status, headers["Location"]) == (303, server.address)
    assert request(server, "GET", once)[0] == 403
    assert request(server, "POST", "/message", {"X-Token": once.partition("=")[2]}, "{}")[0] == 403


def test_a_page_that_is_closed_meanwhile_is_no_fault(server, capsys):
    for fault in (BrokenPipeError(32, "gone"), ConnectionResetError(104, "gone"), RuntimeError("a fault")):
        try:
            raise fault
        except type(fault):
            server.handle_error(None, ("127.0.0.1", 1))
    errors = capsys.readouterr().err
    assert "gone" not in errors
    assert "a fault" in errors


def test_a_busy_port_is_named(server):
    with pytest.raises(ValueError, match=rf"'port' must be free .*, or 0 .* Got {server.server_port}: .* in use"):
        Server(Session(), server.server_port)
    refused(lambda: Server(Session(), 70_000), "'port' must be free and from 1024 to 65535, ", "Got 70000:")


def test_it_listens_on_this_machine_alone(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.fixture
def opened(monkeypatch):
    """Addresses that a browser was started with; Ctrl-C comes at once."""
    found = []
    monkeypatch.setattr(webbrowser, "open", lambda address: found.append(address) or True)
    monkeypatch.setattr(_server.Server, "serve_forever", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    for name in ("SSH_CONNECTION", "SSH_TTY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_the_address_is_printed_and_opened(opened, capsys):
    port = free_port()
    serve(Session(), port=port)
    printed = capsys.readouterr().out
    assert re.match(rf"http://127\.0\.0\.1:{port}/\?token=[-\w]{{32}}\nCtrl-C ends it\.\n\nended\n$", printed)
    assert len(opened) == 1
    assert opened[0] != printed.splitlines()[0]  # it is good once
    Server(Session(), port).server_close()  # the port is free again


@pytest.mark.parametrize("without", ["browser=False", "SSH", "no screen"])
def test_no_browser_is_opened(opened, capsys, monkeypatch, without):
    if without == "SSH":
        monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    if without == "no screen":
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.delenv("DISPLAY")
    serve(Session(), browser=without != "browser=False")
    assert opened == []
    assert re.search(r"ssh -L (\d+):127\.0\.0\.1:\1 ", capsys.readouterr().out)


def test_the_widget_of_notebooks_answers_messages():
    pytest.importorskip("anywidget")
    widget = _server.widget(Session())
    sent = []
    widget.send = lambda content, buffers=None: sent.append(content)
    widget._handle_custom_msg({"id": "a 1", "message": '{"type": "open"}'}, [])
    widget._handle_custom_msg({"id": "a 2", "message": '{"type": "view"}'}, [])
    assert [one["id"] for one in sent] == ["a 1", "a 2"]
    assert json.loads(sent[0]["answer"])["echo"] == {"type": "open"}
    assert json.loads(sent[1]["answer"])["echo"] == {"type": "view"}
    assert widget._esm == page_of("page.js")
    widget.close()


def test_a_notebook_without_anywidget_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    refused(lambda: _server.widget(Session()), 'pip install "sktslib[view]"', error=ImportError)
