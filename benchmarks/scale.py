"""Long recordings with one and several workers: seconds, processor time, page faults, and memory above that before.

    python benchmarks/scale.py --ecg PATH/ecg_mitbih100_annotated_360hz.npz [--points 100000000] [--rows search ...]

Each row runs in a process of its own. The recordings are record 100 of the MIT-BIH Arrhythmia Database, lead MLII, over
and over, with noise of a hundredth of a millivolt, as float64 in files (`--folder`); they are read once before, so that
the disk is not what is measured. A call on a hundredth of the recording loads the kernels first. Memory is the largest
`RssAnon` in the call less that before it: pages of the file itself, which the system takes back when it needs them, do
not count. Workers of dask count for themselves; their figures are of the client. They read from zarr, and in row
"dask-map" from the file that threads read.

`--rows limits` tells what two threads reach on this machine: how many times as fast they read, copy, and multiply what
lies in the caches of different levels and in memory, as one does with half of it. No recording is needed.

`--rows bench-threads --bench PATH/run.py [--workloads 'pw128_*' ...] [--turns 5]` runs this package's side of a
side-by-side benchmark, see `sktslib_adapter.py`, with one thread and with two, each workload in processes of its own,
and prints how many times as fast two are, of those that take one 50 ms or more. A machine whose speed drifts is told by
the least of several turns.

`--rows soak --points 1000000000` sends so many points through a stream; they are made as they are sent.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from numba import njit
from peak_memory import anonymous, watched

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.metrics import labels_from_events

FS, BEST, PIECE = 360.0, 10, 2**22
DASK = ("dask", "dask-map", "killed")  # rows of two worker processes
LEAST = 0.05  # seconds of a row of the side-by-side benchmark that two threads are to make faster
HALF = 54  # samples from the R peak to either border of a marked beat


def measured(call):
    """The result of a call, its seconds, the processor's, page faults, and the megabytes that a call before it took."""
    _, megabytes = watched(call)
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    result, seconds = call(), time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    processor = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    return result, seconds, processor, after.ru_minflt - before.ru_minflt, megabytes


# ------------------------------------------------------------------------------------------------------------ the rows
def tiled(signal, n, seed=0):
    """Pieces of the recording: the signal over and over, with noise."""
    rng = np.random.default_rng(seed)
    for first in range(0, n, PIECE):
        at = np.arange(first, min(first + PIECE, n)) % len(signal)
        yield signal[at] + 0.01 * rng.standard_normal(len(at))


def searcher(name, jobs):
    """The searcher of a row, fitted to one stretch of the record."""
    signal = np.load(given.ecg)["signal"][0].astype(float)
    if name == "windows":
        return QuerySearcher("euclidean", normalize="zscore", n_matches=BEST, n_jobs=jobs).fit(signal[5000:6000])
    return QuerySearcher("dtw", n_matches=BEST, n_jobs=jobs).fit(signal[5000:5200])


def segmenter(jobs):
    """A segmenter that learned from the beats of the first five minutes."""
    data = np.load(given.ecg)
    signal, beats, symbols = data["signal"][0].astype(float), data["beat_samples"], data["beat_symbols"].astype(str)
    some = (beats > HALF) & (beats < 300 * FS - HALF)
    ranges = np.column_stack([beats[some] - HALF, beats[some] + HALF])
    n = int(300 * FS)
    labels = labels_from_events(ranges, symbols[some], n_samples=n)
    return QuerySegmenter(n_jobs=jobs).fit(signal[:n, np.newaxis], labels)


def listed(found):
    """What must be equal whoever found it."""
    values = found.distance if hasattr(found, "distance") else found.cost
    columns = found.start, found.end, values
    return [
        len(found),
        *(float(np.sum(column[:1000])) for column in columns),
        [v.hex() for v in values[:BEST].tolist()],
    ]


def run(row, file, jobs):
    """One row: what it found, seconds and megabytes."""
    X = np.load(file, mmap_mode="r")
    if row == "segmentation":
        estimator = segmenter(jobs)
        call = estimator.segment
    else:
        estimator = searcher(row, jobs)
        call = estimator.search
    call(X[: max(len(X) // 100, 20_000)])
    return measured(lambda: call(X))


def blocks_of_map(file):
    """The file as an array of dask whose blocks are copies of a memory map's: what the workers take without zarr."""
    import dask.array

    def read(block_info=None):
        return np.array(np.load(file, mmap_mode="r")[slice(*block_info[None]["array-location"][0])])

    shape = np.load(file, mmap_mode="r").shape
    return dask.array.map_blocks(read, chunks=dask.array.core.normalize_chunks(PIECE, shape), dtype=float)


def run_dask(file, killed):
    """The search on two dask workers, from zarr or numpy's file; with `killed` one is killed in the midst of it."""
    import dask.array
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        X = blocks_of_map(file) if Path(file).suffix == ".npy" else dask.array.from_zarr(str(file))
        one = searcher("search", None)
        one.search(X[: 4 * X.chunks[0][0]])
        if killed:
            process = client.run(os.getpid)
            timer = threading.Timer(0.7, os.kill, (next(iter(process.values())), signal.SIGKILL))
            timer.start()
            begin = time.perf_counter()
            return one.search(X), time.perf_counter() - begin, np.nan, np.nan, np.nan
        return measured(lambda: one.search(X))


def run_soak(n):
    """Points sent through a stream: the first and the last memory of the process."""
    stream = QuerySearcher("dtw", threshold=0.05).fit(np.load(given.ecg)["signal"][0, 5000:5200].astype(float)).stream()
    signal, found, memory = np.load(given.ecg)["signal"][0].astype(float), 0, []
    begin = time.perf_counter()
    for k, piece in enumerate(tiled(signal, n)):
        found += len(stream.update(piece))
        if k in (4, n // PIECE - 1):
            memory.append(anonymous() / 1e6)
    return found, time.perf_counter() - begin, memory


# ---------------------------------------------------------------------------------------------------------- the limits
@njit(nogil=True, fastmath=True)
def read(a, b, times):
    """Read an array so many times."""
    for _ in range(times):
        total = 0.0
        for k in range(len(a)):
            total += a[k]
        b[0] += total


@njit(nogil=True)
def scaled(a, b, times):
    """Write its multiple."""
    for _ in range(times):
        for k in range(len(a)):
            b[k] = 1.5 * a[k]


@njit(nogil=True)
def computed(a, b, times):
    """Multiply eight numbers, which stay in registers."""
    for _ in range(times):
        for _ in range(len(a)):
            for j in range(8):
                b[j] = b[j] * 0.999 + 0.001


def print_limits():
    """How many times as fast two threads are as one, of several that are the best of each."""
    print("| work | KB a thread | one, GB/s | two against one |\n| --- | --- | --- | --- |")
    for work, size in [(computed, 2), *((f, k) for f in (read, scaled) for k in (16, 256, 2048, 65536))]:
        n = size * 128
        times = max(2**24 // n, 1) * (8 if size < 65536 and work is not computed else 1)
        arrays = [(np.ones(n), np.ones(n), times) for _ in range(2)]
        work(*arrays[0][:2], 1)
        seconds = {1: [], 2: []}
        for count in [1, 2] * 7:
            threads = [threading.Thread(target=work, args=arrays[k]) for k in range(count)]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds[count].append(time.perf_counter() - begin)
        one, two = min(seconds[1]), min(seconds[2])
        speed = "" if work is computed else f"{8 * n * times / one / 1e9:.0f}"
        print(f"| {work.__name__} | {size} | {speed} | {2 * one / two:.2f} |", flush=True)


def print_bench_threads():
    """How many times as fast two threads are, by a side-by-side benchmark's own program."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        options = ["--peers", "sktslib", "--threads", ",".join(["1,2"] * given.turns), "--out", str(out)]
        here = dict(os.environ, SKTSLIB_BENCH=str(Path(__file__).parent), SKTSLIB_PYTHON=sys.executable)
        subprocess.run(
            [sys.executable, given.bench, *given.workloads, *options], check=True, env=here, stdout=sys.stderr
        )
        rows = json.loads(out.read_text())["rows"]
    seconds = {}
    for row in rows:
        if "min_s" in row:
            key = row["workload"], row["threads"]
            seconds[key] = min(row["min_s"], seconds.get(key, row["min_s"]))
    print("| workload | one, s | two, s | two against one |\n| --- | --- | --- | --- |")
    for (name, threads), one in seconds.items():
        if threads == 1 and one >= LEAST and (name, 2) in seconds:
            two = seconds[name, 2]
            print(f"| {name} | {one:.4f} | {two:.4f} | {one / two:.2f} |")


# ----------------------------------------------------------------------------------------------------------- the table
def files(folder, n):
    """The recording as a file for numpy and, where zarr is installed, as one for zarr."""
    signal = np.load(given.ecg)["signal"][0].astype(float)
    plain, packed = folder / "recording.npy", folder / "recording.zarr"
    out = np.lib.format.open_memmap(plain, "w+", np.float64, (n,))
    store = None
    if "dask" in given.rows or "killed" in given.rows:
        import zarr

        store = zarr.create_array(str(packed), shape=(n,), chunks=(PIECE,), dtype="float64", compressors=None)
    for k, piece in enumerate(tiled(signal, n)):
        part = slice(k * PIECE, k * PIECE + len(piece))
        out[part] = piece
        if store is not None:
            store[part] = piece
    out.flush()
    return plain, packed


def line(row, workers, seconds, processor, faults, memory, same):
    """A line of the table."""
    return f"| {row} | {workers} | {seconds:.2f} | {processor:.2f} | {faults:.0f} | {memory:.0f} | {same} |"


def child(row, file, jobs):
    """A row in a process of its own."""
    command = [sys.executable, __file__, "--ecg", given.ecg, "--points", str(given.points), "--row", row]
    done = subprocess.run([*command, "--file", str(file), "--jobs", str(jobs)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Print the table, or as a child the figures of one row."""
    if given.row:
        if given.row in DASK:
            found, *figures = run_dask(given.file, given.row == "killed")
        else:
            found, *figures = run(given.row, given.file, given.jobs)
        print(json.dumps([listed(found), *figures]))
        return
    if given.rows == ["limits"]:
        print_limits()
        return
    if given.rows == ["bench-threads"]:
        if given.bench is None:
            raise SystemExit("--bench: the benchmark's program is needed. Got none.")
        print_bench_threads()
        return
    if given.ecg is None:
        raise SystemExit("--ecg: the recording is needed. Got none.")
    if given.rows == ["soak"]:
        found, seconds, memory = run_soak(given.points)
        print(f"{given.points} points in {seconds:.0f} s, {found} matches, {memory[0]:.0f} MB then {memory[-1]:.0f} MB")
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        plain, packed = files(Path(folder), given.points)
        print("| work | workers | s | processor s | page faults | MB | equal to one thread |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        alone = child("search", plain, 1)[0] if {*DASK} & {*given.rows} else None
        for row in given.rows:
            if row in DASK:
                found, *figures = child(row, plain if row == "dask-map" else packed, 2)
                print(line(row, "2 processes", *figures, found == alone), flush=True)
                continue
            results = [(jobs, *child(row, plain, jobs)) for jobs in (1, 2)]
            for jobs, found, *figures in results:
                print(line(row, jobs, *figures, found == results[0][1]), flush=True)
            print(f"| {row} | 2 against 1 | {results[0][2] / results[1][2]:.2f} times | | | | |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ecg", metavar="FILE")
    parser.add_argument("--points", type=int, default=100_000_000)
    parser.add_argument("--folder", help="where the recordings are written")
    rows = ["search", "windows", "segmentation", *DASK, "limits", "bench-threads", "soak"]
    parser.add_argument("--rows", nargs="+", choices=rows, default=rows[:-3])
    parser.add_argument("--bench", metavar="FILE", help="the program of a side-by-side benchmark")
    parser.add_argument("--workloads", nargs="+", default=["*"], help="those of them")
    parser.add_argument("--turns", type=int, default=1, help="how often they are run by one and by two, in turn")
    for name in ("--row", "--file"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    main()
