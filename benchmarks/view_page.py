"""How long the page of `sktslib view` takes in Chromium: ``python benchmarks/view_page.py [--samples 1e8]``.

A server in a process of its own shows a memory map of float32. Times are taken in the page, from the key or the start
of the navigation to the task after the frame that shows all samples in view. Needs Playwright and Chromium.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SERVE = """
import sys
import numpy as np
from sktslib import Sampling
from sktslib.io import Recording
from sktslib.view._server import Server
from sktslib.view._session import Session
session = Session(Recording(np.load(sys.argv[1], mmap_mode="r"), Sampling(100)))
if int(sys.argv[2]):
    starts = np.linspace(0, session.viewed.n - 60, int(sys.argv[2])).astype(int)
    session.mark(np.column_stack([starts, starts + 50]), ["event"] * len(starts))
server = Server(session)
print(server.address, flush=True)
server.serve_forever()
"""
IN_PAGE = """
window.frame = () => new Promise(requestAnimationFrame);
window.after = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(0);
});
window.root = document.getElementById("sktslib-view");
window.painted = async () => {
  do await frame(); while (root.dataset.painted !== "true");
  await after();
};
window.part = (name) => root.querySelector(`[data-is=${name}]`);
window.key = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
window.until = async (holds) => {
  while (!holds()) await frame();
  await after();
};
"""
MOVES = """async (keys) => {
  const times = [];
  for (const each of keys) {
    const start = performance.now();
    key(each);
    await painted();
    times.push(performance.now() - start);
  }
  return times;
}"""
SEARCH = """async ([start, end]) => {
  const set = (name, value) => { part(name).value = value; part(name).dispatchEvent(new Event("change")); };
  set("from", start);
  set("to", end);
  await until(() => part("queryLabel").textContent.includes("samples)"));
  part("metric").value = "euclidean";
  part("normalize").value = "zscore";
  part("status").textContent = "";
  part("film").replaceChildren();
  const begin = performance.now();
  root.querySelector("[data-do=search]").click();
  await until(() => part("film").children.length > 0);
  const first = performance.now() - begin;
  while (!part("status").textContent.startsWith("search done")) await new Promise((done) => setTimeout(done, 20));
  return [first, performance.now() - begin];
}"""
SLIDES = """async (count) => {
  const times = [];
  for (let i = 0; i < count; i++) {
    const before = part("exact").value, start = performance.now();
    part("slider").value = 20 + ((i * 37) % 900);
    part("slider").dispatchEvent(new Event("input"));
    await until(() => part("exact").value !== before);
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 150));
  }
  return times;
}"""
FRAMES = """async (count) => {
  const times = [];
  let last = await frame();
  for (let i = 0; i < count; i++) {
    key(i % 20 < 10 ? "ArrowRight" : "ArrowLeft");
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}"""
NEXT = """async (count) => {
  const times = [];
  for (let i = 0; i < count; i++) {
    const before = root.querySelector(".card.current")?.dataset.id, start = performance.now();
    key("a");
    await until(() => root.querySelector(".card.current") && root.querySelector(".card.current").dataset.id !== before);
    await painted();
    times.push(performance.now() - start);
    key("n");
    await new Promise((done) => setTimeout(done, 300));
  }
  return times;
}"""


def made(folder, n, channels):
    """A recording, written a million samples at a time: slow waves, noise, and a beat each 500 samples."""
    path = Path(folder) / f"view_{n}_{channels}.npy"
    if not path.exists():
        values = np.lib.format.open_memmap(path, "w+", np.float32, (n, channels))
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(2_000_000, channels)).astype(np.float32) * 0.1
        beat = np.sin(np.linspace(0, 2 * np.pi, 50)) * np.hanning(50) * 5
        for start in range(0, n, 1_000_000):
            end, at = min(start + 1_000_000, n), int(rng.integers(0, 1_000_000))
            t = np.arange(start, end)[:, None]
            values[start:end] = noise[at : at + end - start] + np.sin(t * (np.arange(channels) + 1) / 1e5)
            for place in range(100, end - start - 50, 500):
                values[start + place : start + place + 50, 0] += beat
        values.flush()
    return path


def shown(name, times):
    times = np.asarray(times)
    print(f"{name:42} median {np.median(times):7.1f} ms  95th {np.percentile(times, 95):7.1f} ms", flush=True)


def main():
    """Print the times."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=float, default=1e8)
    parser.add_argument("--channels", type=int, default=6)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--search", action="store_true", help="search, move the slider, ask")
    parser.add_argument("--marks", type=int, default=0)
    given = parser.parse_args()
    path = made(given.folder, int(given.samples), given.channels)
    command = [sys.executable, "-c", SERVE, str(path), str(given.marks)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=browser_path)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.evaluate(f"() => {{ {IN_PAGE} }}")
            page.evaluate("async () => await painted()")
            print(f"page painted {page.evaluate('performance.now()'):.0f} ms after the navigation", flush=True)
            page.wait_for_timeout(10_000)  # the pyramid is built meanwhile
            keys = ["+"] * 3 + ["ArrowRight", "+", "ArrowRight", "ArrowLeft", "-"] * 20 + ["ArrowRight"]
            shown("pan or zoom to painted", page.evaluate(MOVES, keys)[3:103])
            for _ in range(5):
                page.evaluate("key('+')")
            shown("pan, a tenth of that in view", page.evaluate(MOVES, ["ArrowRight", "ArrowLeft"] * 50))
            page.evaluate("root.querySelector('[data-do=all]').click()")
            shown("zoom and back from all", page.evaluate(MOVES, ["+", "-"] * 50))
            shown("frame while moving", page.evaluate(FRAMES, 200))
            if given.search:
                first, done = page.evaluate(SEARCH, [100, 150])
                print(f"first matches after {first:.0f} ms, all after {done:.0f} ms (the first call compiles)")
                page.wait_for_timeout(2000)
                first, done = page.evaluate(SEARCH, [600, 650])
                print(f"first matches after {first:.0f} ms, all after {done:.0f} ms")
                shown("slider to new counts", page.evaluate(SLIDES, 40))
                shown("key to the next candidate", page.evaluate(NEXT, 30))
            browser.close()
    finally:
        server.kill()


if __name__ == "__main__":
    main()
