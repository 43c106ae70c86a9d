"""The most memory that a call takes, for the benchmarks beside this file, and for the search of a file.

    python benchmarks/peak_memory.py FILE[:ARRAY] [CHANNEL ...]

The file's samples [1000, 1500) are looked for in all of it by z-normalized Euclidean distance. Memory is that above the
process after its imports; pages of the file itself do not count.
"""

import sys
import threading
import time
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


def search_file(path, *channels):
    """Return the shape of the recording in a file, and the starts of three matches in it."""
    recording = read(path, channels=list(channels) or None)
    query = np.asarray(recording.values[1000:1500])
    searcher = QuerySearcher("euclidean", normalize="zscore", n_matches=3).fit(query)
    return recording.shape, searcher.search(recording).start.tolist()


if __name__ == "__main__":
    import numpy as np

    from sktslib import QuerySearcher
    from sktslib.io import read

    begin = time.perf_counter()
    (shape, starts), megabytes = watched(lambda: search_file(*sys.argv[1:]))
    print(f"{shape}: {time.perf_counter() - begin:.1f} s, {megabytes:.0f} MB, matches at {starts}")
