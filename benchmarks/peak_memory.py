"""The most memory that a call takes, for the benchmarks beside this file."""

import threading
from pathlib import Path


def anonymous():
    """Bytes of memory of this process that no file holds."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) * 1024


def watched(call, every=0.005):
    """The result of a call, and the most memory in megabytes that it took; looked at every so many seconds."""
    before, done = anonymous(), threading.Event()
    most = [before]

    def look():
        while not done.wait(every):
            most[0] = max(most[0], anonymous())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        result = call()
    finally:
        done.set()
        watcher.join()
    return result, (most[0] - before) / 1e6
