"""Calls of other packages and ours on the same two heart beats: which numbers are equal.

    python -m pip install aeon stumpy tslearn dtaidistance tssearch
    python benchmarks/coming_from.py [PACKAGE ...]

prints the numbers behind docs/coming_from.rst. A package that is not installed is named and skipped; they need not be
in one environment.
"""

import contextlib
import io
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from sktslib import QuerySearcher, get_distance_dict, load_ecg_example, time_series_search, time_series_segmentation
from sktslib.distances import (
    ADTW,
    DDTW,
    DTW,
    EDR,
    ERP,
    GAK,
    LCSS,
    MSM,
    SBD,
    TWED,
    WDDTW,
    WDTW,
    Euclidean,
    Frechet,
    ShapeDTW,
    SoftDTW,
    barycenter,
    dtw,
    euclidean_distance,
    lcss,
    pairwise_distances,
    tam,
)

ECG = load_ecg_example()
SEQUENCE = ECG.sequence + 1.0
X, Y = ECG.query + 1.0, SEQUENCE[696:761]
FLAT = np.concatenate([SEQUENCE[:300], np.full(100, SEQUENCE[300]), SEQUENCE[300:]])
X2, Y2 = (np.column_stack([a, np.gradient(a)]) for a in (X, Y))  # two channels: the voltage and its slope
BEATS = np.array([SEQUENCE[p - 22 : p + 43] for p in ECG.beats[ECG.beat_kinds == "N"]])


def absolute(a, b):
    """A local cost: the absolute difference."""
    return abs(a - b)


def profile(query, sequence, normalize):
    """Our window profile of the Euclidean distance."""
    return QuerySearcher("euclidean", normalize=normalize).fit(query).profile(sequence).distance


def aeon():
    """Yield what is compared, their number, ours."""
    from aeon import distances as d

    yield "dtw_distance(x, y)", d.dtw_distance(X, Y), DTW()(X, Y)
    yield "dtw_distance(x, y, window=0.1)", d.dtw_distance(X, Y, window=0.1), DTW(window=0.1)(X, Y)
    yield "dtw_distance, unequal lengths, window=0.1", d.dtw_distance(X, Y[:40], window=0.1), DTW(window=0.1)(X, Y[:40])
    yield "dtw_distance, two channels", d.dtw_distance(X2.T, Y2.T), DTW()(X2, Y2)
    yield "adtw_distance(warp_penalty=0.1)", d.adtw_distance(X, Y, warp_penalty=0.1), ADTW(omega=0.1)(X, Y)
    yield "wdtw_distance(g=0.05)", d.wdtw_distance(X, Y, g=0.05), WDTW(g=0.05)(X, Y)
    yield "ddtw_distance", d.ddtw_distance(X, Y), DDTW()(X, Y)
    yield "wddtw_distance(g=0.05)", d.wddtw_distance(X, Y, g=0.05), WDDTW(g=0.05)(X, Y)
    yield "shape_dtw_distance(reach=5)", d.shape_dtw_distance(X, Y, reach=5), ShapeDTW(reach=5)(X, Y)
    yield "lcss_distance(epsilon=0.2)", d.lcss_distance(X, Y, epsilon=0.2), LCSS(eps=0.2)(X, Y)
    yield "edr_distance(epsilon=0.2)", d.edr_distance(X, Y, epsilon=0.2), EDR(eps=0.2)(X, Y)
    yield "erp_distance(g=0)", d.erp_distance(X, Y, g=0.0), ERP(g=0.0)(X, Y)
    yield "erp_distance(g=0), two channels", d.erp_distance(X2.T, Y2.T, g=0.0), ERP(g=0.0)(X2, Y2)
    yield "msm_distance(c=1)", d.msm_distance(X, Y, c=1.0), MSM(c=1.0)(X, Y)
    yield "msm_distance(c=1), two channels", d.msm_distance(X2.T, Y2.T, c=1.0), MSM(c=1.0)(X2, Y2)
    yield "twe_distance", d.twe_distance(X, Y, nu=0.001, lmbda=1.0), TWED(nu=0.001, lmbda=1.0)(X, Y)
    soft = SoftDTW(gamma=1.0, divergence=False)(X, Y)
    yield "soft_dtw_distance(gamma=1)", d.soft_dtw_distance(X, Y, gamma=1.0), soft
    yield "sbd_distance(standardize=False)", d.sbd_distance(X, Y, standardize=False), SBD()(X, Y)
    z = [(a - a.mean()) / a.std() for a in (X, Y)]
    yield "sbd_distance()", d.sbd_distance(X, Y), SBD()(*z)
    yield "euclidean_distance", d.euclidean_distance(X, Y), Euclidean()(X, Y)
    theirs = d.pairwise_distance(BEATS[:, np.newaxis], method="dtw")
    yield "pairwise_distance(method='dtw'), sum", theirs.sum(), pairwise_distances(BEATS, metric="dtw").sum()


def stumpy():
    """Yield what is compared, their number, ours."""
    import stumpy as d

    theirs, ours = d.mass(X, SEQUENCE), profile(X, SEQUENCE, "zscore")
    yield "mass(Q, T), its minimum", theirs.min(), ours.min()
    yield "mass(Q, T), largest difference from 0", abs(theirs - ours).max(), 0.0
    theirs, ours = d.mass(X, SEQUENCE, normalize=False), profile(X, SEQUENCE, None)
    yield "mass(Q, T, normalize=False), largest difference from 0", abs(theirs - ours).max(), 0.0
    theirs, ours = d.mass(X, FLAT), profile(X, FLAT, "zscore")
    yield "mass(Q, T), T with a constant stretch: its values there", theirs[320], ours[320]
    found = d.match(X, SEQUENCE, max_distance=3.0)
    searcher = QuerySearcher("euclidean", normalize="zscore", threshold=3.0, n_matches=None)
    yield "match(Q, T, max_distance=3.0), how many", len(found), len(searcher.fit(X).search(SEQUENCE))
    searcher.set_params(max_overlap=0.74)
    yield "the same with max_overlap=0.74", len(found), len(searcher.fit(X).search(SEQUENCE))


def tslearn():
    """Yield what is compared, their number, ours."""
    from tslearn import barycenters, metrics

    yield "dtw(x, y)", metrics.dtw(X, Y), DTW()(X, Y) ** 0.5
    band = {"global_constraint": "sakoe_chiba", "sakoe_chiba_radius": 6}
    yield "dtw, sakoe_chiba_radius=6", metrics.dtw(X, Y, **band), DTW(window="sakoe-chiba", factor=6)(X, Y) ** 0.5
    longer = SEQUENCE[690:780]
    ours = DTW(window="sakoe-chiba", factor=6)(X, longer) ** 0.5
    yield "dtw, sakoe_chiba_radius=6, unequal lengths", metrics.dtw(X, longer, **band), ours
    itakura = metrics.dtw(X, Y, global_constraint="itakura", itakura_max_slope=2.0)
    yield "dtw, itakura_max_slope=2", itakura, DTW(window="itakura")(X, Y) ** 0.5
    path, cost = metrics.dtw_subsequence_path(X, SEQUENCE)
    found = QuerySearcher("dtw", n_matches=1).fit(X).search(SEQUENCE)
    yield "dtw_subsequence_path, cost", cost, found.distance[0] ** 0.5
    yield "dtw_subsequence_path, start", path[0][1], found.start[0]
    yield "dtw_subsequence_path, last sample + 1", path[-1][1] + 1, found.end[0]
    yield "lcss(eps=0.2)", metrics.lcss(X, Y, eps=0.2), 1.0 - LCSS(eps=0.2)(X, Y)
    yield "frechet", metrics.frechet(X, Y), Frechet()(X, Y)
    yield "soft_dtw(gamma=1)", metrics.soft_dtw(X, Y, gamma=1.0), SoftDTW(gamma=1.0, divergence=False)(X, Y)
    yield "soft_dtw_normalized(gamma=1)", metrics.soft_dtw_normalized(X, Y, gamma=1.0), SoftDTW(gamma=1.0)(X, Y)
    yield "gak(sigma=1)", metrics.gak(X, Y, sigma=1.0), 1.0 - GAK(sigma=1.0)(X, Y)
    center = barycenters.dtw_barycenter_averaging(BEATS, init_barycenter=BEATS.mean(axis=0), max_iter=100).ravel()
    ours = barycenter(BEATS, "dtw", init="mean")
    cost = [np.mean([DTW()(c, beat) for beat in BEATS]) for c in (center, ours)]
    yield "dtw_barycenter_averaging, mean cost", *cost


def dtaidistance():
    """Yield what is compared, their number, ours."""
    from dtaidistance import dtw as d
    from dtaidistance.subsequence.dtw import subsequence_alignment

    yield "dtw.distance(x, y)", d.distance(X, Y), DTW()(X, Y) ** 0.5
    yield "dtw.distance(x, y, window=7)", d.distance(X, Y, window=7), DTW(window="sakoe-chiba", factor=6)(X, Y) ** 0.5
    yield "dtw.distance(x, y, penalty=0.1)", d.distance(X, Y, penalty=0.1), ADTW(omega=0.1**2)(X, Y) ** 0.5
    yield "dtw.distance(x, y, psi=5)", d.distance(X, Y, psi=5), DTW(dtw_type="psi-dtw", tolerance=5)(X, Y) ** 0.5
    yield "dtw.distance(inner_dist='euclidean')", d.distance(X, Y, inner_dist="euclidean"), DTW(dist=absolute)(X, Y)
    for penalty, metric in ((0.1, ADTW(omega=0.1**2)), (0, DTW())):
        theirs = subsequence_alignment(X, SEQUENCE, penalty=penalty, use_c=False).best_match()
        found = QuerySearcher(metric, n_matches=1).fit(X).search(SEQUENCE)
        theirs = [theirs.distance, theirs.segment[0], theirs.segment[1] + 1]
        ours = [found.distance[0] ** 0.5, found.start[0], found.end[0]]
        yield f"subsequence_alignment(penalty={penalty}), best match", np.array(theirs), np.array(ours)


def tssearch():
    """Yield what is compared, their number, ours."""
    import tssearch as d
    from tssearch.distances import elastic_distances, lockstep_distances, time_distances

    t = np.arange(len(X), dtype=float)
    yield "dtw(x, y)", elastic_distances.dtw(X, Y), dtw(X, Y)
    yield "lcss(x, y, eps=0.2)", elastic_distances.lcss(X, Y, eps=0.2, report="distance"), float(lcss(X, Y, eps=0.2))
    ours = lcss(X, Y, eps=0.2, report="similarity")
    yield "the same with our report='similarity'", elastic_distances.lcss(X, Y, eps=0.2, report="distance"), ours
    yield "twed(x, y, tx, ty)", elastic_distances.twed(X, Y, t, t), TWED(nu=0.001, lmbda=1.0)(X, Y)
    yield "tam(x, y)", time_distances.tam(X, Y), tam(X, Y)
    yield "euclidean_distance(x, y)", lockstep_distances.euclidean_distance(X, Y), euclidean_distance(X, Y)
    names = ["Dynamic Time Warping", "Euclidean Distance"]
    theirs = d.time_series_search(d.get_distance_dict(names), X, SEQUENCE, output=("number", 3))
    ours = time_series_search(get_distance_dict(names), X, SEQUENCE, output=("number", 3))
    for name in names:
        for field in ("start", "end", "path_dist"):
            yield f"time_series_search, {name}, {field}", np.array(theirs[name][field]), np.array(ours[name][field])
    theirs = d.time_series_segmentation(d.get_distance_dict(names), X, SEQUENCE)
    ours = time_series_segmentation(get_distance_dict(names), X, SEQUENCE)
    for name in names:
        yield f"time_series_segmentation, {name}, boundaries", len(theirs[name]), len(ours[name])


def shown(value):
    """Numbers with six digits."""
    return np.array2string(np.asarray(value), precision=6, separator=" ")


def main(names):
    """Compare with each package that is there."""
    for compare in (tssearch, stumpy, aeon, tslearn, dtaidistance):
        name = compare.__name__
        if names and name not in names:
            continue
        try:
            print(f"\n{name} {version(name)}")
        except PackageNotFoundError:
            print(f"\n{name}: not installed, skipped")
            continue
        # Progress bars and warnings of theirs are none of ours.
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            rows = list(compare())
        for what, theirs, ours in rows:
            equal = "equal" if np.allclose(theirs, ours, rtol=1e-9, atol=1e-9) else "other"
            print(f"  {equal}  {what:58s} {shown(theirs):>12s}  {shown(ours):>12s}")


if __name__ == "__main__":
    main(sys.argv[1:])
