"""Motifs and discords without a query, beside stumpy where it is installed; seconds of one thread.

    python benchmarks/motifs.py FILE

FILE is a record of the MIT-BIH Arrhythmia Database as `.npz` with its `signal`. The first call of each, which compiles,
is not counted.
"""

import sys
from time import perf_counter

import numpy as np

from sktslib.search import discords, motifs

LENGTH = 200
BAND = {"metric": "dtw", "metric_params": {"window": 0.1}}


def timed(name, call, small):
    """Seconds of a call, and what it found."""
    call(small)
    begin = perf_counter()
    found = call(None)
    print(f"{name:44} {perf_counter() - begin:8.2f} s  {found}", flush=True)


def main(file):
    signal = np.load(file)["signal"][0].astype(float)
    hundred, twenty = signal[:100_000], signal[:20_000]

    def ours(call, recording, length, **options):
        def run(small):
            found = call(recording if small is None else small, length, **options)
            return f"{found.start.tolist()} {found.distance[0]:.9g}"

        return run

    timed("motif, 100,000, z-normalized Euclid", ours(motifs, hundred, LENGTH), signal[:3000])
    timed("discord, 100,000, z-normalized Euclid", ours(discords, hundred, LENGTH), signal[:3000])
    timed("motif, 20,000, DTW, band 10 %", ours(motifs, twenty, 100, **BAND), signal[:3000])
    timed("discord, 20,000, DTW, band 10 %", ours(discords, twenty, 100, **BAND), signal[:3000])
    try:
        import numba
        import stumpy
    except ImportError:
        print("stumpy is not installed")
        return
    numba.set_num_threads(1)
    stumpy.config.STUMPY_EXCL_ZONE_DENOM = 1.0  # windows that do not overlap, as ours

    def theirs(small):
        profile = stumpy.stump(hundred if small is None else small, LENGTH)
        distance = profile[:, 0].astype(float)
        return f"motif {np.argmin(distance)} {distance.min():.9g}, discord {np.argmax(distance)} {distance.max():.9g}"

    timed("stumpy.stump, 100,000", theirs, signal[:3000])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
