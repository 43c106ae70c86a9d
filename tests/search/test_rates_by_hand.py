"""Decoys and held-out occurrences of normalized ranges and of queries compared by channel: searches one by one."""

import naive
import numpy as np
import pytest
from strategies import long_without_compiler

from sktslib import QuerySearcher
from sktslib.metrics import labels_from_events
from sktslib.search import ChannelPlan, Conformal, FalseDiscoveryRate, Subsequences

Q, START = np.array([0.0, 1.0, 4.0, 2.0, -1.0, 0.0]), 16 * np.arange(12) + np.random.default_rng(0).integers(0, 8, 12)
Y, EVENTS = 0.3 * np.random.default_rng(1).standard_normal(192), START[:, np.newaxis] + [0, len(Q)]
Y[START[:, np.newaxis] + np.arange(len(Q))] += Q
RATE = FalseDiscoveryRate(0.2, n_decoys=2, random_state=0)
TWO, LAGGED = np.column_stack([Q, Q + 1.0]), np.column_stack([Y, np.roll(Y, 3) - 2.0])
HOW = {
    "ranges": (
        Q[:, np.newaxis],
        Y[:, np.newaxis],
        {"metric": "dtw", "candidates": Subsequences(max_length=8), "normalize": "zscore"},
    ),
    "lags": (TWO, LAGGED, {"metric": "euclidean", "channels": ChannelPlan(lag=[0, 3])}),
    "tolerance": (
        TWO,
        LAGGED,
        {"metric": "dtw", "candidates": "windows", "channels": ChannelPlan(lag=[0, 2], tolerance=1, min_votes=1)},
    ),
    "learned": (TWO, LAGGED, {"metric": "euclidean", "channels": ChannelPlan(tolerance=2, weight=[1.0, 2.0])}),
}


@long_without_compiler
@pytest.mark.parametrize("kind", HOW)
def test_ranges_and_channels_have_decoys_that_are_searched_for_alike(kind):
    x, y, parameters = HOW[kind]
    angles = np.pi * ((np.arange(2) + np.random.RandomState(0).uniform(size=2)) / 2 - 0.5)
    center = np.median(y, axis=0)
    each = [x]
    for angle in angles:
        columns = [naive.shifted_decoy(x[:, c].tolist(), center[c], angle) for c in range(x.shape[1])]
        each.append(np.column_stack(columns))
    matches, *decoys = (QuerySearcher(**parameters, n_matches=None).fit(one).search(y).distance for one in each)
    decoys = np.concatenate(decoys)
    t = naive.rate_threshold(matches.tolist(), decoys.tolist(), 2, 0.2)
    found = QuerySearcher(**parameters, threshold=RATE).fit(x).search(y)
    assert len(found) == (matches <= t).sum() >= 10
    np.testing.assert_allclose(found.distance, matches[matches <= t])
    want = [naive.q_value(matches.tolist(), decoys.tolist(), 2, d) for d in found.distance]
    np.testing.assert_allclose(found.qvalue, want)


@pytest.mark.parametrize("kind", ["ranges", "learned"])
def test_occurrences_held_out_of_ranges_and_channels(kind):
    _, X, parameters = HOW[kind]
    fitted = QuerySearcher(**parameters, threshold=Conformal(0.25)).fit(X, labels_from_events(EVENTS, n_samples=len(X)))
    scores = np.full(len(EVENTS), np.inf)
    for held in np.array_split(np.arange(len(EVENTS)), 5):
        rest = labels_from_events(np.delete(EVENTS, held, axis=0), n_samples=len(X))
        found = QuerySearcher(**parameters, threshold=1e9).fit(X, rest).search(X)
        for event in held:
            start, end = EVENTS[event]
            common = np.minimum(found.end, end) - np.maximum(found.start, start)
            union = np.maximum(found.end, end) - np.minimum(found.start, start)
            scores[event] = found.distance[common / union >= 1 / 3].min(initial=np.inf)
    assert fitted.threshold_ == pytest.approx(naive.conformal_threshold(scores.tolist(), 0.25))
