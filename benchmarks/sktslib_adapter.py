"""This project's side of a side-by-side benchmark: `job(workload, data, threads, Job)` for each kind of workload.

A Job holds the call to be timed and how its result becomes one number that must agree among the tools compared.
"""

import numpy as np

from sktslib import QuerySearcher
from sktslib.distances import get_metric, nearest_neighbors, pairwise_distances

NAMES = {"euclid": "euclidean", "dtw10": "dtw", "ed": "euclidean", "zed": "euclidean"}
PARAMETERS = {
    "dtw10": lambda p: {"window": "sakoe-chiba", "factor": p["length"] // 10},
    "lcss": lambda p: {"eps": p["eps"]},
    "edr": lambda p: {"eps": p["eps"]},
    "twed": lambda p: {"nu": p["nu"], "lmbda": p["lmbda"]},
    "erp": lambda p: {"g": p["g_erp"]},
    "msm": lambda p: {"c": p["c"]},
    "wdtw": lambda p: {"g": p["g"]},
    "adtw": lambda p: {"omega": p["penalty"]},
}


def _metric(p):
    name = p.get("metric", "dtw")
    return get_metric(NAMES.get(name, name), PARAMETERS.get(name, lambda p: {})(p))


def _pairwise(p, data, threads, Job):
    X, Y = data["X"], data["Y"]
    if p.get("channels"):  # the workload has channels first
        X, Y = (np.ascontiguousarray(a.transpose(0, 2, 1)) for a in (X, Y))
    metric = _metric(p)
    return Job(lambda: pairwise_distances(X, Y, metric, n_jobs=threads), lambda r: np.mean(r[:4, :4]))


def _pair(p, data, threads, Job):
    return Job(lambda: get_metric("dtw")(data["x"], data["y"]))


def _path(p, data, threads, Job):
    def run():
        d = get_metric("dtw").distance(data["x"], data["y"])
        return float(d), d.path

    return Job(run, lambda r: r[0])


def _subseq(p, data, threads, Job):
    def run():
        matches = QuerySearcher(_metric(p), n_jobs=threads).fit(data["Q"]).search(data["T"])
        return matches.distance[0], matches.path(0)

    return Job(run, lambda r: r[0], note="1 best + path")


def _profile(p, data, threads, Job):
    normalize = "zscore" if p["metric"] == "zed" else None
    searcher = QuerySearcher(_metric(p), normalize=normalize, n_jobs=threads).fit(data["Q"])
    return Job(lambda: searcher.profile(data["T"]).distance, np.min)


def _zdtw(p, data, threads, Job):
    band = {"window": p["r"]}
    searcher = QuerySearcher("dtw", metric_params=band, normalize="zscore", n_jobs=threads).fit(data["Q"])
    return Job(lambda: searcher.search(data["T"]), lambda r: np.sqrt(r.distance[0]), note="best match")


def _knn(p, data, threads, Job):
    metric = get_metric("dtw", {"window": p["window"] if p["window"] < 1 else None})

    def run():
        return data["y"][nearest_neighbors(data["Z"], data["X"], metric, n_jobs=threads).indices[:, 0]]

    return Job(run, lambda r: np.mean(r == data["z"]))


KINDS = {"pairwise": _pairwise, "pair": _pair, "path": _path, "subseq": _subseq, "profile": _profile}
KINDS |= {"zdtw": _zdtw, "knn": _knn}


def job(workload, data, threads, Job):
    """The call for one workload, or None where the package has no such function."""
    make = KINDS.get(workload.kind)
    return make and make(workload.p, data, threads, Job)
