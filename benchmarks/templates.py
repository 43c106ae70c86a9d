"""Many templates of several channels in an hour of recording, beside obspy's `correlate_template`.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/templates.py [--seconds 3600] [--channels 30] [--templates 100]

Both sides run in one process on one core, seconds are of the processor. Every template is planted a few times at the
given signal-to-noise ratio, the standard deviation of its samples over that of the noise, each channel with a lag of
its own of up to the length of a template (`--joint`: none); what each side finds of them is counted. obspy's side is
the correlation coefficient of each channel, summed over the channels at their lags; of the sum of each template the
samples above a threshold are kept. It takes `--of-obspy` templates, and its seconds are scaled up to all. This side is
one `QuerySearcher.search` with `threshold`, of the recording in memory or, with `--file`, of one on the disk that is
read by chunks. Memory is the most that the call takes above what the process holds before.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from peak_memory import watched

from sktslib import QuerySearcher
from sktslib.search import ChannelPlan


def measured(call):
    """The result of a call, its seconds of the processor, and the most memory that it took, in megabytes."""
    begin = time.process_time()
    result, megabytes = watched(call, every=0.02)
    return result, time.process_time() - begin, megabytes


# -------------------------------------------------------------------------------------------------------- the recording
def templates_of(rng, given, m):
    """Wave packets, (n_templates, m, channels): another frequency, phase and size of each channel."""
    t = np.arange(m) / given.rate
    shape = given.templates, 1, given.channels
    frequency, phase = rng.uniform(1.0, 10.0, shape), rng.uniform(0.0, 2.0 * np.pi, shape)
    decay = np.exp(-t / rng.uniform(0.5, 2.0, (given.templates, 1)))[:, :, np.newaxis]
    X = decay * np.sin(2.0 * np.pi * frequency * t[np.newaxis, :, np.newaxis] + phase)
    return X / X.std(axis=1, keepdims=True)


def plant(rng, given, X, lags, n):
    """Where each event begins and which template it is, no two of which overlap."""
    m = X.shape[1] + int(lags.max())
    room = n // (2 * m)
    count = min(given.events * len(X), room)
    start = 2 * m * np.sort(rng.choice(room, count, replace=False)) + rng.integers(0, m, count)
    return np.minimum(start, n - m), rng.permutation(np.arange(count) % len(X))


def record(out, given, rng, X, lags, start, which):
    """Noise with the events in it, written piece by piece."""
    m, piece = X.shape[1], 2**18
    for first in range(0, len(out), piece):
        out[first : first + piece] = rng.standard_normal((min(piece, len(out) - first), out.shape[1]))
    for s, k in zip(start, which, strict=True):
        for c, lag in enumerate(lags):
            out[s + lag : s + lag + m, c] += given.ratio * X[k, :, c]


# ---------------------------------------------------------------------------------------------------------- both sides
def of_obspy(Y, X, lags, threshold):
    """Where the mean correlation of each template is at least 1 - threshold."""
    from obspy.signal.cross_correlation import correlate_template

    found, channels = [], np.ascontiguousarray(Y.T)
    for x in X:
        total = np.zeros(len(Y) - len(x) + 1 - lags.max())
        for channel, of_channel, lag in zip(channels, np.ascontiguousarray(x.T), lags.tolist(), strict=True):
            found_here = correlate_template(channel, of_channel, candidates="valid", normalize="full", method="fft")
            total += found_here[lag : lag + len(total)]
        found.append(np.flatnonzero(total >= (1.0 - threshold) * X.shape[2]))
    return found


def recovered(start, which, found_start, found_which, near=2):
    """How many events were found, and how many matches are of no event."""
    hit = np.zeros(len(start), bool)
    false = 0
    for s, k in zip(found_start.tolist(), found_which.tolist(), strict=True):
        own = (np.abs(start - s) <= near) & (which == k)
        hit |= own
        false += not own.any()
    return int(hit.sum()), false


def main(given):
    rng = np.random.default_rng(given.seed)
    n, m = round(given.seconds * given.rate), round(given.length * given.rate)
    X = templates_of(rng, given, m)
    lags = np.zeros(given.channels, int) if given.joint else rng.integers(0, m, given.channels)
    start, which = plant(rng, given, X, lags, n)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        if given.file:
            Y = np.lib.format.open_memmap(Path(folder) / "recording.npy", "w+", float, (n, given.channels))
        else:
            Y = np.empty((n, given.channels))
        record(Y, given, rng, X, lags, start, which)
        threshold = 1.0 - given.correlation
        if given.joint:
            # The sum of the channels' squared distances of z-scored windows is 2 m (channels - sum of correlations).
            limit = np.sqrt(2.0 * m * given.channels * threshold)
            searcher = QuerySearcher("euclidean", normalize="zscore", threshold=limit, n_matches=None)
        else:
            limit = threshold * given.channels
            searcher = QuerySearcher(
                "correlation", threshold=limit, channels=ChannelPlan(lag=lags.tolist()), n_matches=None
            )
        searcher.fit(list(X))
        searcher.search(np.array(Y[: min(n, 20 * m)]))  # loads the kernels
        found, seconds, megabytes = measured(lambda: searcher.search(Y))
        print(f"{n} samples, {given.channels} channels, {given.templates} templates of {m} samples")
        query = np.zeros(len(found), int) if found.query is None else found.query
        hits, false = recovered(start, which, found.start, query)
        print(f"sktslib: {seconds:.1f} s, {megabytes:.0f} MB, {hits} of {len(start)} events, {false} false matches")
        if given.of_obspy:
            some = X[: given.of_obspy]
            obspy, theirs, megabytes = measured(lambda: of_obspy(np.asarray(Y), some, lags, threshold))
            theirs *= len(X) / len(some)
            rows = [(int(s), k) for k, one in enumerate(obspy) for s in one]
            own = which < len(some)
            hits, _ = recovered(start[own], which[own], *np.array(rows, int).reshape(-1, 2).T, near=0)
            print(f"obspy: {theirs:.1f} s, {megabytes:.0f} MB, {hits} of {own.sum()} events of {len(some)} templates")
            print(f"ratio: {theirs / seconds:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--rate", type=float, default=100.0, help="samples a second")
    parser.add_argument("--channels", type=int, default=30)
    parser.add_argument("--templates", type=int, default=100)
    parser.add_argument("--length", type=float, default=4.0, help="of a template, in seconds")
    parser.add_argument("--events", type=int, default=3, help="of each template")
    parser.add_argument("--ratio", type=float, default=0.5, help="signal to noise")
    parser.add_argument("--correlation", type=float, default=0.2, help="mean correlation of a match, at least")
    parser.add_argument("--of-obspy", type=int, default=10, help="templates that obspy searches for; 0: none")
    parser.add_argument("--joint", action="store_true", help="no lags: windows of all channels, z-scored")
    parser.add_argument("--file", action="store_true", help="put the recording into a file and read it by chunks")
    parser.add_argument("--folder", help="where that file is put")
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
