"""The page in a browser, which `.ci/run` drives: ``python -m pytest -n0 tests/browser/in_chromium.py``.

Not among the tests of ``python -m pytest``, because it needs Playwright and Chromium. CHROMIUM names the browser,
SCREENSHOTS a folder for pictures.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sktslib import Sampling, load_ecg_example
from sktslib.io import Recording, read_annotations
from sktslib.view._server import Server
from sktslib.view._session import Session

# Doctests are looked for in this file, too, where Playwright may be missing.
playwright = pytest.importorskip("playwright.sync_api")
expect, sync_playwright = playwright.expect, playwright.sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SLOW = 300_000  # ms for what compiles first


@pytest.fixture(scope="module")
def chromium():
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path)
        yield browser
        browser.close()


class Window:
    """A page, and what a user does there; whatever the browser complains of is kept."""

    def __init__(self, chromium, address, name):
        self.page, self.name, self.faults = chromium.new_page(viewport={"width": 1280, "height": 800}), name, []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.goto(address)
        self.painted()

    def part(self, name):
        return self.page.locator(f"[data-is={name}]")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def painted(self):
        root = self.page.locator("#sktslib-view")
        expect(root).to_have_attribute("data-painted", "true")
        return float(root.get_attribute("data-first")), float(root.get_attribute("data-last"))

    def place(self, sample):
        """Where a sample is drawn in the detail."""
        first, last = self.painted()
        box = self.part("detail").bounding_box()
        left = box["x"] + 74
        return left + (sample - first) * (box["x"] + box["width"] - left) / (last - first), box["y"] + 150

    def wheel(self, sample, *steps):
        self.page.mouse.move(*self.place(sample))
        for step in steps:
            self.page.mouse.wheel(0, step)
            self.page.wait_for_timeout(60)

    def drag(self, start, end, key=None):
        if key:
            self.page.keyboard.down(key)
        (x, y), (last_x, last_y) = self.place(start), self.place(end)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(last_x, last_y, steps=5)
        self.page.mouse.up()
        if key:
            self.page.keyboard.up(key)

    def runs(self, name):
        """Press a button and wait until what it starts is done."""
        self.click(name)
        expect(self.part("status")).to_have_text(re.compile(f"{name.lower()} done: [0-9,]+ match"), timeout=SLOW)

    def current(self):
        """The first and the end of the samples of the current match."""
        card = self.page.locator(".card.current")
        return tuple(map(int, card.get_attribute("data-id").split("-")))

    def steps(self, key):
        """Press a key that makes another match the current one."""
        card = self.page.locator(".card.current")
        before = card.get_attribute("data-id")
        self.press(key)
        expect(card).not_to_have_attribute("data-id", before)

    def writes(self, what):
        self.click(what)
        expect(self.part("status")).to_have_text(re.compile("^Written: "), timeout=60_000)
        path = Path(self.part("status").inner_text().removeprefix("Written: "))
        self.page.evaluate("document.querySelector('[data-is=status]').textContent = ''")
        return path

    def shot(self, step):
        if folder := os.environ.get("SCREENSHOTS"):
            self.page.wait_for_timeout(200)
            self.page.screenshot(path=Path(folder) / f"{self.name}_{step}.png")

    def close(self, *known):
        """End; of the faults only the known ones may have come."""
        assert self.page.locator(".errors > div").count() == 0, self.part("errors").inner_text()
        assert self.faults == list(known)
        self.page.close()


@pytest.fixture
def served(tmp_path):
    """A function that serves a session and returns it with its address."""
    servers = []

    def serve(values, name="recording", **given):
        session = Session(Recording(values, **given), tmp_path / "recording.view.json", name=name)
        server = Server(session)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return session, server.address

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def electrocardiogram():
    """The packaged ten seconds; each event is a normal beat."""
    ecg = load_ecg_example()
    normal = ecg.beats[ecg.beat_kinds == "N"]
    return (
        ecg.sequence,
        {"times": Sampling(120), "names": ["ecg"], "units": ["mV"]},
        np.column_stack([normal - 20, normal + 40]),
    )


def day():
    """A day at 1 Hz with two gaps, and three channels of which the first has events."""
    rng = np.random.default_rng(0)
    X = 0.15 * rng.normal(size=(86_400, 3)).cumsum(axis=0) / 10
    X += 0.05 * rng.normal(size=X.shape)
    starts = np.arange(900, 85_000, 1700) + rng.integers(0, 600, 50)
    shape = np.interp(np.linspace(0, 6, 120), np.arange(7), [0, 2, 5, 1, 4, 2, 0])
    for start in starts.tolist():
        X[start : start + 120, 0] += shape * rng.uniform(0.8, 1.2)
    seconds = np.arange(86_400)
    kept = ~(((seconds > 20_000) & (seconds < 27_200)) | ((seconds > 50_000) & (seconds < 50_900)))
    X[60_000:60_600] = np.nan  # missing values, which have times
    times = np.datetime64("2024-05-01T00:00:00") + seconds[kept].astype("timedelta64[s]")
    position = np.cumsum(kept) - 1
    whole = [s for s in starts.tolist() if kept[s : s + 120].all() and not np.isnan(X[s : s + 120, 0]).any()]
    events = np.array([[position[s], position[s] + 120] for s in whole])
    return X[kept], {"times": times, "names": ["load", "room", "roof"], "units": ["kW", "°C", "°C"]}, events


def gait():
    """Two walks with a rest between them, six channels of a sensor on a foot; strides differ in length and strength."""
    rng = np.random.default_rng(1)
    knots = np.array([[0, -250, 400, 60, -80, 0], [0, 3, -6, 9, -2, 0], [0, 40, -20, 10, 30, 0]])
    pieces, events, at = [rng.normal(size=(300, 6))], [], 300
    for k in range(24):
        length = int(rng.integers(190, 250))
        own = np.array([np.interp(np.linspace(0, 5, length), np.arange(6), row) for row in knots]).T
        pieces.append(np.repeat(own, 2, axis=1) * rng.uniform(0.85, 1.15) + rng.normal(size=(length, 6)))
        events.append([at, at + length])
        at += length
        if k == 11:
            pieces.append(rng.normal(size=(500, 6)))
            at += 500
    names = ["gyr_y", "gyr_x", "acc_x", "acc_y", "gyr_z", "acc_z"]
    units = ["deg/s", "deg/s", "m/s^2", "m/s^2", "deg/s", "m/s^2"]
    return (
        np.concatenate([*pieces, pieces[0]]),
        {"times": Sampling(204.8), "names": names, "units": units},
        np.array(events),
    )


@pytest.mark.parametrize(
    ("make", "others", "metric", "normalize"),
    [
        (electrocardiogram, [], "euclidean", "zscore"),
        (gait, ["gyr_x", "acc_x", "acc_y", "gyr_z", "acc_z"], "dtw", ""),
        (day, ["room", "roof"], "euclidean", "zscore"),
    ],
)
def test_the_whole_way(chromium, served, tmp_path, make, others, metric, normalize):
    """Open, drag, search, answer ten, learn again, export, run the script: it finds the same matches."""
    values, given, events = make()
    session, address = served(values, name=f"{make.__name__}.csv", **given)
    window = Window(chromium, address, make.__name__)
    window.shot("opened")
    start, end = events[2].tolist()
    while np.diff(window.painted())[0] > 8 * (end - start):
        window.wheel(start, -250)
    window.drag(start, end, "Shift")
    expect(window.part("queryLabel")).to_contain_text("samples)")
    query = [int(window.part(part).input_value()) for part in ("from", "to")]
    assert np.abs(np.array(query) - [start, end]).max() <= 0.02 * (end - start) + 2
    for channel in others:
        window.page.get_by_label(channel, exact=True).uncheck()
    window.part("metric").select_option(metric)
    window.part("normalize").select_option(normalize)
    window.runs("Search")
    window.shot("searched")
    assert int(window.part("counts").inner_text().split()[0].replace(",", "")) >= 2

    window.press("a")
    for number in range(1, 11):
        expect(window.page.locator(".card.current")).to_have_count(1)  # none is while it goes to the next one
        expect(window.part("status")).to_contain_text("Is this one?")
        first, last = window.current()
        common = np.minimum(events[:, 1], last) - np.maximum(events[:, 0], first)
        window.press("y" if common.max() > (end - start) / 2 else "n")
        expect(window.part("precision")).to_contain_text(re.compile(rf"^{number} answers?\."))
    expect(window.page.locator(".card.current")).to_have_count(1)
    assert "asked at random" in window.part("precision").inner_text()
    window.shot("answered")

    window.runs("Relearn")
    window.shot("relearned")
    paths = {what: window.writes(what) for what in ("Labels", "Model", "Script")}
    assert all(path.parent == tmp_path for path in paths.values())
    window.shot("exported")

    run = subprocess.run([sys.executable, paths["Script"]], capture_output=True, text=True, check=True)
    found = pd.read_csv(io.StringIO(run.stdout))
    rows = session.handle({"type": "matches", "order": "time", "offset": 0, "limit": 10**6})["rows"]
    assert len(rows) > 2
    assert found[["start", "end"]].to_numpy().tolist() == [[row["start"], row["end"]] for row in rows]
    labels = pd.read_csv(paths["Labels"])
    refused = {(row["start"], row["end"]) for row in rows if row["answer"] is False}
    assert {*zip(found["start"], found["end"], strict=True)} - refused <= {*zip(labels.start, labels.end, strict=True)}
    # Nearly all events, and little else.
    middle = labels[["start", "end"]].mean(axis=1).to_numpy()
    hit = (events[:, :1] <= middle) & (middle < events[:, 1:])
    assert hit.any(axis=1).mean() > 0.7
    assert hit.any(axis=0).mean() > 0.7
    window.close()

    again, address = served(values, name=f"{make.__name__}.csv", **given)  # the session goes on by itself
    window = Window(chromium, address, f"{make.__name__}_again")
    expect(window.part("status")).to_have_text(re.compile("relearn done: [0-9,]+ match"), timeout=SLOW)
    assert len(again.answers) == 10
    expect(window.page.locator(".card").first).to_be_visible()
    for form, reader in {"audacity": read_annotations, "csv": lambda path, rate: pd.read_csv(path)}.items():
        window.part("format").select_option(form)
        assert len(reader(window.writes("Labels"), 1.0)) == (again.marks[:, 3] != 0).sum()
    window.close()


def test_hints_before_the_first_search(chromium, served):
    _, address = served(np.arange(100.0))
    window = Window(chromium, address, "new")
    for key in "jkay":
        window.page.evaluate("document.querySelector('[data-is=status]').textContent = ''")
        window.press(key)
        expect(window.part("status")).to_contain_text(re.compile("Hold shift|Choose a match first"))
    window.click("Model")
    error = window.page.locator(".errors > div")
    expect(error).to_contain_text("Nothing has been searched for yet")
    window.part("format").select_option("edf")
    window.click("Labels")
    expect(error.last).to_contain_text("--rate HZ")
    for _ in range(2):
        window.page.get_by_role("button", name="Close this message").first.click()
    window.close()


@pytest.fixture
def window(chromium, served):
    """A page of the day, in which something was searched."""
    values, given, events = day()
    session, address = served(values, name="day.csv", **given)
    session.handle({"type": "query", "start": int(events[0, 0]), "end": int(events[0, 1])})
    job = session.handle({"type": "search", "metric": "euclidean", "normalize": "zscore", "channels": [0]})["job"]
    session._jobs[job].join()
    window = Window(chromium, address, "day")
    window.session, window.address, window.chromium = session, address, chromium
    expect(window.page.locator(".card").first).to_be_visible()  # the matches come after the samples
    return window


def test_moving_and_zooming(window):
    n = window.session.viewed.n
    assert window.painted() == (0, n)
    window.wheel(n // 2, *[-250] * 6)
    first, last = window.painted()
    assert first < n // 2 < last
    assert last - first == pytest.approx(n * np.exp(-0.5) ** 6)
    window.drag(first + 1000, first + 500)
    assert window.painted() == pytest.approx((first + 500, last + 500), abs=20)
    first, last = window.painted()
    window.press("ArrowLeft")
    assert window.painted() == pytest.approx((first - (last - first) / 4, last - (last - first) / 4))
    window.press("ArrowRight", "+")
    assert np.diff(window.painted()) == pytest.approx((last - first) / 2)
    window.press("Home")
    assert window.painted()[0] == 0
    window.press("End")
    assert window.painted()[1] == pytest.approx(n)
    for _ in range(30):
        window.press("+")
    window.shot("single samples")
    assert np.diff(window.painted()) == pytest.approx(8)
    window.click("All")
    assert window.painted() == (0, n)
    # In the overview the box is put where one presses, and dragged from there.
    window.click("Zoom in")
    box = window.part("overview").bounding_box()
    window.page.mouse.move(box["x"] + 74 + 0.5 * (box["width"] - 74), box["y"] + 20)
    window.page.mouse.down()
    window.page.mouse.move(box["x"] + 74 + 0.6 * (box["width"] - 74), box["y"] + 20, steps=4)
    window.page.mouse.up()
    assert np.mean(window.painted()) == pytest.approx(0.6 * n, rel=0.01)
    window.close()


def test_matches_one_by_one(window):
    window.press("j")
    first = window.current()
    window.press("j", "j")
    expect(window.page.locator(".card.current")).to_have_attribute(
        "data-id", window.page.locator(".card").nth(2).get_attribute("data-id")
    )
    for _ in range(8):  # over the end of the page of the strip
        window.steps("j")
    expect(window.part("place")).to_have_text(re.compile("^7.12 of "))
    for _ in range(10):
        window.steps("k")
    assert window.current() == first
    window.press("y")
    expect(window.part("precision")).to_contain_text("1 answer.")
    assert window.session.handle({"type": "matches"})["rows"][0]["answer"] is True
    window.press("u")
    expect(window.part("precision")).to_contain_text("0 answers")
    expect(window.page.locator(".card.current")).to_have_attribute("data-id", f"{first[0]}-{first[1]}")
    assert window.session.handle({"type": "matches"})["rows"][0]["answer"] is None
    window.part("order").select_option("time")
    label = window.session.handle({"type": "matches", "order": "time"})["rows"][0]["label"]
    expect(window.page.locator(".card b").first).to_have_text(label.removeprefix("2024-").removesuffix(".000"))
    window.close()


def test_what_is_asked_is_seen_and_answered_once(window):
    """Also a candidate that is no mark, and in order of time; of the next one nothing was seen yet."""
    window.part("order").select_option("time")
    for _ in range(4):
        window.page.evaluate("document.querySelector('[data-is=status]').textContent = ''")
        window.press("a")
        expect(window.part("status")).to_contain_text("Is this one?")
        window.painted()
    expect(window.part("place")).not_to_have_text(re.compile("^none"))
    asked = window.session._asked[-1]
    assert window.page.evaluate("document.querySelectorAll('.card').length") > 0
    keys = """() => ["y", "n"].forEach((key) => document.getElementById("sktslib-view")
        .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    window.page.evaluate(keys)
    expect(window.part("precision")).to_contain_text("1 answer.")
    window.page.wait_for_timeout(300)
    assert [yes for *_, yes in window.session.answers] == [True]
    assert window.session.answers[0][0] == window.session.finds.start[asked]
    window.close()


def test_a_threshold_counts_at_once(window):
    window.part("slider").focus()
    before = window.part("counts").inner_text()
    window.press(*["ArrowLeft"] * 200)
    expect(window.part("counts")).not_to_have_text(before)
    window.page.wait_for_timeout(300)
    answer = window.session.handle({"type": "threshold"})
    assert float(window.part("exact").input_value()) == pytest.approx(answer["value"], rel=1e-4)
    assert window.part("counts").inner_text().startswith(f"{answer['n']} match{'es' * (answer['n'] != 1)},")
    window.part("exact").fill("")
    window.part("exact").blur()
    expect(window.part("counts")).to_have_text(before)
    window.close()


def test_classes_have_names_and_colors(window):
    window.click("+ class")
    expect(window.page.get_by_label("Name of class 2")).to_have_value("class 2")
    window.page.get_by_label("Name of class 2").fill("rare")
    window.page.get_by_label("Name of class 2").blur()
    expect(window.page.get_by_label("Answer as rare (2)")).to_be_visible()
    window.page.get_by_label("Color of rare").fill("#123456")
    window.page.get_by_label("Color of rare").blur()
    window.part("detail").click(position={"x": 300, "y": 300})
    window.press("2", "j", "y")
    expect(window.part("precision")).to_contain_text("1 answer.")
    classes = window.session.handle({"type": "open"})["classes"]
    assert (classes[1]["name"], classes[1]["color"]) == ("rare", "#123456")
    assert window.session.handle({"type": "matches"})["rows"][0]["class"] == 1
    window.click("All")
    window.drag(30_000, 31_000, "Shift")  # a query of this class, while the other keeps its own
    expect(window.part("status")).to_contain_text("Press Search")
    assert window.session.queries.keys() == {0, 1}
    assert window.session.queries[1] == pytest.approx([30_000, 31_000], abs=100)
    window.part("detail").click(position={"x": 300, "y": 300})
    window.runs("Search")  # for the class that is chosen, the query of which is shown
    assert window.session.found_by().task.queries.keys() == {1}
    for key, (start, _) in zip("12", window.session.queries.values(), strict=True):
        window.press(key)
        expect(window.part("from")).to_have_value(str(start))
    window.close()


def test_two_windows_lose_no_answer(window):
    other = Window(window.chromium, window.address, "other")
    window.part("to").fill(str(int(window.part("to").input_value()) + 5))
    window.part("to").blur()
    expect(window.part("queryLabel")).to_contain_text("125 samples")
    other.page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(other.part("queryLabel")).to_contain_text("125 samples")
    window.part("detail").click(position={"x": 300, "y": 300})
    window.press("j", "y")
    expect(window.part("precision")).to_contain_text("1 answer.")
    other.press("j", "j", "n")
    expect(other.part("precision")).to_contain_text("2 answers")
    answers = [row["answer"] for row in window.session.handle({"type": "matches"})["rows"]]
    assert answers[:3] == [True, False, None]
    other.close()
    window.close()


COLORED = """canvas => {
  const y = canvas.height - 3, { data } = canvas.getContext("2d").getImageData(75, y, canvas.width - 75, 1);
  let count = 0; // of pixels of the strip of marks that are rather blue, the color of the first class
  for (let i = 0; i < data.length; i += 4) count += data[i] < 170 && data[i + 2] - data[i] > 40;
  return count;
}"""


@pytest.mark.parametrize(("count", "low", "high"), [(1, 2, 3), (30, 60, 90), (6000, 700, 10_000)])
def test_marks_are_seen_and_never_nodes(chromium, served, count, low, high):
    """One of ten samples is two pixels wide; where there are more than columns, their density is drawn."""
    n = 1_000_000
    session, address = served(np.random.default_rng(0).normal(size=n), times=Sampling(100))
    starts = np.linspace(1000, n - 1000, count).astype(int)
    session.mark(np.column_stack([starts, starts + 10 if count < 100 else starts + 80]), ["event"] * count)
    window = Window(chromium, address, f"{count}_marks")
    session.pyramid.wait()
    window.page.wait_for_timeout(500)
    window.page.mouse.move(2, 2)
    answer = session.handle({"type": "view", "first": 0, "last": n, "columns": 878})
    assert ("density" in answer) == (count > 878)
    assert low <= window.part("overview").evaluate(COLORED) <= high
    assert window.page.evaluate("document.querySelectorAll('*').length") < 250
    window.shot("seen")
    window.close()


IN_A_NOTEBOOK = """async (token) => {
  const heard = new Set(), root = document.createElement("div");
  document.body.append(root);
  const model = {
    on: (name, hear) => heard.add(hear),
    off: (name, hear) => heard.delete(hear),
    send: async ({ id, message }) => {
      const answer = await fetch("message", { method: "POST", headers: { "X-Token": token }, body: message });
      const text = await answer.text();
      for (const hear of heard) hear({ id, answer: text });
    },
  };
  const { default: widget } = await import("/page.js");
  const [one, two] = [widget.render({ model, el: root }), widget.render({ model, el: root })];
  while ([...root.children].filter((each) => each.dataset.painted === "true").length < 2)
    await new Promise(requestAnimationFrame);
  const titles = [...root.querySelectorAll("h1")].map((each) => each.textContent);
  one();
  two();
  return [titles, heard.size];
}"""


def test_two_views_of_a_widget(window):
    """As a notebook has it, but for the kernel: `tests/view` tests that side."""
    titles, left = window.page.evaluate(IN_A_NOTEBOOK, window.address.partition("token=")[2])
    assert titles == ["day.csv", "day.csv"]
    assert left == 0
    window.close()


def test_a_search_is_cancelled_and_the_server_may_end(chromium, served):
    rng = np.random.default_rng(0)
    _, address = served(rng.normal(size=400_000), times=Sampling(100))
    window = Window(chromium, address, "noise")
    window.part("from").fill("1000")
    window.part("to").fill("1400")
    window.part("to").blur()
    expect(window.part("queryLabel")).to_contain_text("400 samples")
    window.part("metric").select_option("twed")
    window.click("Search")
    expect(window.part("working")).to_be_visible(timeout=5000)
    window.shot("searching")
    window.click("Cancel")
    expect(window.part("status")).to_have_text("search cancelled", timeout=SLOW)
    expect(window.part("working")).to_be_hidden()
    window.close()
