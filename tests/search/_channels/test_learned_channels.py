"""Queries compared by channel that are learned: from labels, with lags, with a metric that is chosen, from answers."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import identical, searcher_of
from strategies import quarters, slow, unmeant

from sktslib.distances import Mixed
from sktslib.search._learning.choice import elastic_candidates, left_over
from sktslib.search._results import Found
from sktslib.search._sources import ArraySource, CandidateReader

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

LAGS, M, EVERY = [0, 5, 2], 16, 50
STARTS = np.arange(20, 360, EVERY)


def recording(seed=0, noise=0.3, lags=LAGS):
    """A pattern, a recording that repeats it with lags, and the labels of the whole occurrences."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(M, len(lags))).cumsum(axis=0), noise * rng.normal(size=(400, len(lags)))
    labels = np.zeros(len(y), int)
    for start in STARTS:
        labels[start : start + M + max(lags)] = 1
        for c, lag in enumerate(lags):
            y[start + lag : start + lag + M, c] += x[:, c]
    return x, y, labels


def aligned(y, lags=LAGS):
    """A recording whose channels are earlier by their lags."""
    n = len(y) - max(lags)
    return np.column_stack([y[lag : lag + n, c] for c, lag in enumerate(lags)])


def shortened(labels, by):
    """Labels each of whose occurrences ends earlier."""
    return np.where(np.append(labels[by:], [0] * by) > 0, labels, 0)[: len(labels) - by]


# ------------------------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    "metric", ["euclidean", "correlation", "dtw", Mixed({0: "dtw", 1: "euclidean", 2: "correlation"})]
)
@pytest.mark.parametrize("rest", [{}, {"min_channels": 2, "channel_weight": [1, 2, 0.5]}])
def test_lags_with_labels_are_those_of_a_recording_without_lags(metric, rest):
    _, y, labels = recording()
    lagged = searcher_of(metric, channel_lag=LAGS, **rest).fit(y, labels)
    plain = searcher_of(metric, channel_lag=0, **rest).fit(aligned(y), shortened(labels, max(LAGS)))
    identical(lagged, plain, ("query_", "weight_"))
    found, want = lagged.search(y), plain.search(aligned(y))
    np.testing.assert_array_equal([found.start, found.distance], [want.start, want.distance])
    assert found.distance[-1] < lagged.threshold_ < lagged.search_all(y).distance[len(STARTS)]
    assert (found.end - want.end == max(LAGS)).all()
    assert lagged.score(y, labels) == 1.0
    again = searcher_of(metric, channel_lag=LAGS, **rest).fit(y, lagged.predict(y))
    np.testing.assert_allclose(again.query_, lagged.query_, atol=0.5)


@given(data=st.data())
def test_the_query_of_each_channel_is_the_mean_of_what_lies_at_its_lag(data):
    lags = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    channels, m, count = len(lags), data.draw(st.integers(2, 4)), data.draw(st.integers(3, 4))
    weight = [data.draw(st.sampled_from([0.0 if c else 1.0, 1.0, 2.0])) for c in range(channels)]
    longest = max(lag for lag, w in zip(lags, weight, strict=True) if w > 0)
    gaps = [data.draw(st.integers(1, 3)) for _ in range(count)]
    n = sum(gap + m + longest for gap in gaps) + data.draw(st.integers(0, 2))
    y = np.array([data.draw(st.lists(quarters, min_size=n, max_size=n)) for _ in range(channels)]).T
    labels, starts, at = np.zeros(n, int), [], 0
    for gap in gaps:
        starts, at = [*starts, at + gap], at + gap + m + longest
        labels[starts[-1] : at] = 1
    searcher = searcher_of("euclidean", channel_lag=lags, channel_weight=weight).fit(y, labels)
    want = np.full((m, channels), np.nan)
    for c, lag in enumerate(lags):
        if weight[c] > 0:
            want[:, c] = np.mean([y[s + lag : s + lag + m, c] for s in starts], axis=0)
    np.testing.assert_allclose(searcher.query_, want, atol=1e-12)


@pytest.fixture
def _few_candidates(monkeypatch):
    """Without the compiler each takes its time."""
    if numba.config.DISABLE_JIT:
        few = lambda *of: elastic_candidates(*of)[-3:]  # noqa: E731
        monkeypatch.setattr("sktslib.search._learning.choice.elastic_candidates", few)


def test_labels_are_of_whole_occurrences():
    _, y, labels = recording()
    words = r"'lag' .* less than .* each label.*a lag of 21 .* from 20 to 41\. Label up to the end"
    with pytest.raises(ValueError, match=words):
        searcher_of("correlation", channel_lag=[0, 21, 0]).fit(y, labels)
    left_out = {"channel_lag": [0, 21, 0], "channel_weight": [1, 0, 1]}
    assert searcher_of("correlation", **left_out).fit(y, labels).query_.shape == (M + max(LAGS), 3)


# ------------------------------------------------------------------------------------------------------ metric="auto"
@pytest.mark.usefixtures("_few_candidates")
def test_a_metric_that_is_chosen_of_one_channel_is_that_of_windows():
    _, y, labels = recording(noise=1.5, lags=[0])
    one = searcher_of("auto", channel_lag=0).fit(y, labels)
    want = searcher_of("auto", mode="windows").fit(y, labels)
    assert one.best_index_ == want.best_index_ and one.threshold_ == pytest.approx(want.threshold_)
    for name in ("mean_test_score", "mean_margin", "rank_test_score"):
        np.testing.assert_allclose(one.cv_results_[name], want.cv_results_[name], rtol=1e-9)
    assert len(np.unique(one.cv_results_["mean_margin"])) > 1
    for limits in (None, (0.1, 9)):  # within which no constant is
        limited = searcher_of("auto", mode="windows", scale_limits=limits).fit(y, labels).cv_results_
        assert (limited["mean_margin"] > -2).all() and len(np.unique(limited["mean_margin"])) > 1


@pytest.mark.parametrize("metric", ["euclidean", *slow("sqeuclidean"), "dtw", "correlation"])
def test_what_matches_leave_over_is_that_of_the_channels_that_vote(metric):
    x, y, _ = recording(noise=1.0)
    weight = [1.0, 2.0, 0.5]
    searcher = searcher_of(metric, channel_lag=LAGS, channel_weight=weight, min_channels=2, n_matches=None).fit(x)
    matches = searcher.search(y)
    (how,), none = searcher._queries, np.zeros(len(matches), int)
    reader = CandidateReader(how, ArraySource(np.ascontiguousarray(y.T), None))
    found = Found(matches.start, matches.end, matches.distance, reader, none)
    power = 2 if metric == "euclidean" else 1
    constant = [
        searcher_of(metric, mode="windows").fit(a).search(np.full(M, a.mean())).distance[0] ** power for a in x.T
    ]
    for k, share in enumerate(left_over(how, found)):
        voters = np.flatnonzero(matches.votes[k])
        cost = sum(weight[c] * matches.channel_distance[k, c] ** power for c in voters)
        assert share == pytest.approx(cost / sum(weight[c] * constant[c] for c in voters))


# ------------------------------------------------------------------------------------------------------------ answers
def test_answers_about_matches_with_lags_are_refused():
    x, y, _ = recording()
    short = np.where(np.arange(M)[:, np.newaxis] < [9, M, M], x, np.nan)
    for lags, query in ((0, short), (LAGS, x)):
        searcher = searcher_of("correlation", channel_lag=lags, n_matches=2).fit([query])
        with pytest.raises(ValueError, match=r"'learn_from_answers' .* no lags and equal lengths\. Got .* Cut"):
            searcher.learn_from_answers(searcher.search(y), good=[0])
    plain = searcher_of("correlation", n_matches=2).fit(x)
    lagged = searcher_of("correlation", channel_lag=LAGS, n_matches=2).fit(x)
    with pytest.raises(ValueError, match=r"'matches' parameter of learn_from_answers .* with lags of channels"):
        plain.learn_from_answers(lagged.search(y), good=[0])
