"""
Search and compare on a cluster
===============================

What takes ``n_jobs`` runs where joblib is told to: in threads, in processes of this machine, or on a
dask cluster. Here two worker processes on this machine are the cluster; ``Client("address:8786")``
connects to one on other machines. An array of dask is searched where its chunks lie. No result
depends on where it is computed.

It needs ``pip install "sktslib[dask]"``.
"""

import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster
from joblib import parallel_config

from sktslib import QuerySearcher, load_ecg_example
from sktslib.distances import pairwise_distances


def main():
    ecg = load_ecg_example()
    recordings = [ecg["sequence"], ecg["sequence"][::-1].copy(), 2 * ecg["sequence"]]
    searcher = QuerySearcher("dtw", n_matches=3).fit(ecg["query"])
    here = searcher.search(recordings)
    beats = [ecg["sequence"][a : a + 60] for a in range(0, 1140, 60)]
    distances = pairwise_distances(beats)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        parallel_config("dask"),
    ):
        there = searcher.search(recordings)
        print("matches:", [(int(k), int(a)) for k, a in zip(there.sequence, there.start, strict=True)])
        print("equal:", np.array_equal(there.distance, here.distance))
        print("equal:", np.array_equal(pairwise_distances(beats), distances))
        array = dask.array.from_array(np.tile(ecg["sequence"], 200), chunks=60_000)  # or from_zarr
        found = searcher.search(array)
        print("equal:", np.array_equal(found.start, searcher.search(array.compute()).start))


# Worker processes import this file: what is not for them stands behind this line.
if __name__ == "__main__":
    main()
