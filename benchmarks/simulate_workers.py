"""A search of 1e9 to 1e12 points by many workers, simulated from the times that parts of it take here.

    python benchmarks/simulate_workers.py [--workers 1000] [--points 1e12] [--seed 0]

Measured on this machine: a search of each of some parts of a recording in memory (DTW, query of 200, best 10), what it
takes to send one part's result (its pickle), and what it takes to join two parts. Simulated: parts are handed out in
order to whichever worker is free; reading is limited by `--bandwidth` for each worker and `--storage` for all. A share
of the workers (`--slow`) takes three times as long for everything, one part in `--stall` takes ten times as long, and
one worker in `--die` is lost within the hour: its part is handed out again half a minute later. With `--again` workers
that find no part left take one that has been on its way for three times as long as usual, and the first of both results
counts. The client joins parts from left to right. Prints the time that the ideal takes and the time simulated.
"""

import argparse
import heapq
import pickle
import time

import numpy as np

from sktslib import QuerySearcher

SIZE = 2**22  # samples of a part
NOTICED = 30.0  # seconds until a lost worker is noticed


def measured(parts=12, seed=0):
    """Seconds of single parts, of a join, and the bytes of a result."""
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(SIZE)
    searcher = QuerySearcher("dtw", n_matches=10).fit(y[1000:1200])
    searcher.search(y[:100_000])
    seconds = []
    for _ in range(parts):
        begin = time.perf_counter()
        found = searcher.search(y)
        seconds.append(time.perf_counter() - begin)
    sent = pickle.dumps((found.start, found.end, found.distance))
    state = 2 * 8 * 201  # costs and starts of a column
    begin = time.perf_counter()
    for _ in range(100):
        pickle.loads(sent)
        np.array_equal(y[:201], y[:201]), np.array_equal(y[:201], y[:201])
    return np.array(seconds), (time.perf_counter() - begin) / 100, len(sent) + 2 * state


def simulate(seconds, join, rng, points, options):
    """The time at which the last part is known, and that at which all are joined."""
    count, workers = -(-int(points) // SIZE), options.workers
    reading = max(8.0 * SIZE / options.bandwidth, 8.0 * SIZE * min(workers, count) / options.storage)
    usual = np.median(seconds) + reading
    slow = np.where(rng.random(workers) < options.slow, 3.0, 1.0)
    lost = rng.exponential(3600.0 * options.die, workers)  # when each worker is lost
    free = [(0.0, worker) for worker in range(workers)]
    began, done, due = np.zeros(count), np.full(count, np.inf), [(0.0, part) for part in range(count)]
    while free:
        now, worker = heapq.heappop(free)
        if due:
            ready, part = heapq.heappop(due)
            now = max(now, ready)
            began[part] = now
        else:
            late = np.flatnonzero((done > now) & (began < now - 3.0 * usual)) if options.again else ()
            if not len(late):
                if options.again and (done > now).any():  # look again when another part may be late
                    heapq.heappush(free, (now + usual, worker))
                continue
            part = late[np.argmin(began[late])]
            began[part] = now
        took = (rng.choice(seconds) + reading) * slow[worker] * (10.0 if rng.random() < 1.0 / options.stall else 1.0)
        if now + took < lost[worker]:
            done[part] = min(done[part], now + took)
            heapq.heappush(free, (now + took, worker))
            continue
        if np.isinf(done[part]):
            heapq.heappush(due, (lost[worker] + NOTICED, part))
        heapq.heappush(free, (lost[worker] + NOTICED, worker))  # another one takes its place
        lost[worker] += NOTICED + rng.exponential(3600.0 * options.die)
    joined = 0.0
    for at in done:
        joined = max(joined, at) + join
    return done.max(), joined, count * (seconds.mean() + reading) / workers


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--points", type=float, nargs="+", default=[1e9, 1e12])
    parser.add_argument("--bandwidth", type=float, default=5e8, help="bytes a second that a worker can read")
    parser.add_argument("--storage", type=float, default=1e11, help="bytes a second that all can read together")
    parser.add_argument("--slow", type=float, default=0.02)
    parser.add_argument("--stall", type=float, default=1000.0)
    parser.add_argument("--die", type=float, default=100.0, help="one worker in so many is lost in an hour")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seconds, join, sent = measured()
    print(f"a part of {SIZE} samples: {np.median(seconds):.2f} s; a join {1e6 * join:.0f} us; a result {sent} bytes")
    print("| points | parts | ideal s | last part s | joined s |\n| --- | --- | --- | --- | --- |")
    for points in options.points:
        last, joined, ideal = simulate(seconds, join, np.random.default_rng(options.seed), points, options)
        print(f"| {points:.0e} | {-(-int(points) // SIZE)} | {ideal:.1f} | {last:.1f} | {joined:.1f} |")


if __name__ == "__main__":
    main()
