"""The caller's data: never changed, not looked at later, and datetimes and names come back as they were given."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
from inputs import LOCKSTEP, Q2, S2, TS, Q, S, T
from strategies import compiled, unmeant

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib import distances as d
from sktslib.distances.compute_distance import time_series_distance
from sktslib.search.search_utils import elastic_search, lockstep_search, start_sequences_index

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")


# ------------------------------------------------------------------------------------------- the caller's own data
def state(value):
    """A deep copy that can be compared."""
    if isinstance(value, dict):
        return {key: state(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [state(v) for v in value]
    if isinstance(value, d.Metric):
        return type(value), {key: state(v) for key, v in vars(value).items()}
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series | pd.Index):
        return type(value), value.dtype if hasattr(value, "dtype") else None, np.array(value).tolist(), value.shape
    return copy.copy(value)


INPUTS = {
    "array": (Q.copy(), S.copy()),
    "channels": (Q2.copy(), S2.copy()),
    "integers": (np.arange(8), np.arange(30)),
    "float32": (Q.astype(np.float32), S.astype(np.float32)),
    "booleans": (Q > 1, S > 1),
    "objects": (Q.astype(object), S.astype(object)),
    "strided": (np.repeat(Q, 2)[::2], S[::-1]),
    "fortran": (np.asfortranarray(Q2), np.asfortranarray(S2)),
    "lists": (Q.tolist(), S2[:, 0].tolist()),
    "series": (pd.Series(Q, index=range(10, 90, 10)), pd.Series(S)),
    "frame": (pd.DataFrame(Q2, columns=["a", "b"]), pd.DataFrame(S2, columns=["a", "b"])),
    "missing": (np.ma.array(Q), np.ma.array(S)),
}


# For several channels all of it is compiled once more.
KINDS = [pytest.param(kind, marks=[pytest.mark.slow] * (np.ndim(INPUTS[kind][0]) == 2)) for kind in INPUTS]


@unmeant
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_the_caller_s_is_changed(kind, read_only):
    query, sequence = copy.deepcopy(INPUTS[kind])
    weight, times, times_of_sequence = np.linspace(0, 3, 8), T.copy(), TS.copy()
    metrics = [d.DTW(alpha=0.5), d.TWED(nu=0.01), d.Chebyshev()]
    positive = np.asarray(query).min() > 0 and np.asarray(sequence).min() > 0
    lockstep = [name for name in LOCKSTEP if positive or name != "kullback_leibler_distance"]
    names = [name for name in compiled(d.metric_names("lockstep")) if positive or name != "kullback_leibler"]
    dictionary = get_distance_dict(["dtw", "lcss", "twed", "tam", *names])
    dictionary["lockstep"]["own"] = {"function": lambda x, y, weight=None: float(abs(x - y).sum()), "parameters": ""}
    dictionary["elastic"]["object"] = {"function": metrics[0], "parameters": {"do_dist_norm": True}}
    if read_only:
        for a in (query, sequence, weight, times, times_of_sequence):
            if isinstance(a, np.ndarray):
                a.flags.writeable = False
    mine = [query, sequence, weight, times, times_of_sequence, metrics, dictionary]
    before = state(mine)

    same = np.asarray(sequence)[:8].copy()
    for name in lockstep:
        getattr(d, name)(query, same, weight=weight)
    d.dlp(query, same, weight=weight)
    paths = [d.dtw(query, sequence, weight, alpha=0.5).path]
    d.dtw(query, sequence, weight, dist=lambda a, b: float(np.sum(np.abs(a - b))), do_sign_norm=True)
    paths.append(d.lcss(query, sequence, 0.5, weight=weight).path)
    paths.append(d.twed(query, sequence, times, times_of_sequence, weight=weight).path)
    assert all(path.shape[0] == 2 for path in paths)
    d.tam(query, sequence, weight=weight)
    time_series_distance(dictionary, query, same, times, times)
    searched = {**dictionary, "time": {}}
    found = time_series_search(searched, query, sequence, times, times_of_sequence, weight, ("number", None))
    time_series_segmentation(dictionary | {"time": {}}, query, sequence, weight)
    elastic_search({"elastic": {"object": dictionary["elastic"]["object"]}}, query, sequence, weight)
    lockstep_search(dictionary["lockstep"]["own"], query, sequence, weight)
    for metric in metrics:
        metric.distance(query, sequence, weight=weight)
        searcher = QuerySearcher(metric, n_matches=2).fit(query, weight=weight, times=times)
        matches = searcher.search(sequence, times=times_of_sequence)
        matches.path(0)
        matches.to_frame()
        searcher.transform(sequence, times=times_of_sequence)
        searcher.predict(sequence, times=times_of_sequence)
        QuerySearcher(metric, normalize="zscore").fit(query, weight=weight).profile(sequence)
        segmenter = QuerySegmenter(metric).fit(query, weight=weight, times=times)
        segmenter.score(sequence, np.zeros(30), times=times_of_sequence)
    for result in found.values():  # what is handed out is the caller's to change
        result["distance"][:] = result["start"][:] = result["start_time"][:] = 0
    start_sequences_index(times_of_sequence, ("percentile", 50))
    assert state(mine) == before


def test_estimators_are_not_reached_by_later_changes_of_what_they_were_given():
    query, weight, metric = Q.copy(), np.linspace(0, 1, 8), d.DTW(alpha=0.5)
    searcher = QuerySearcher(metric).fit(query, weight=weight)
    want = searcher.profile(S).distance
    query[:], weight[:] = 0, 1
    metric.set_params(alpha=1.0)
    np.testing.assert_array_equal(searcher.profile(S).distance, want)


# ----------------------------------------------------------------------------------------------------------- pandas


def test_channels_by_name():
    query, sequence = pd.DataFrame(Q2, columns=["a", "b"]), pd.DataFrame(S2, columns=["b", "a"])
    said = "The feature names should match those that were passed during fit."
    for other in (sequence, sequence.assign(c=0.0)):
        with pytest.raises(ValueError, match=re.escape(said)) as raised:
            QuerySearcher().fit(query).search(other)
        assert str(raised.value).endswith("in their order, X[list(estimator.feature_names_in_)].")
    want = QuerySearcher().fit(Q2).search(S2).start
    np.testing.assert_array_equal(QuerySearcher().fit(Q2).search(sequence).start, want)
    with pytest.warns(UserWarning, match=r"was fitted with feature names\. Its columns are taken for \['a', 'b'\]"):
        np.testing.assert_array_equal(QuerySearcher().fit(query).search(S2).start, want)
