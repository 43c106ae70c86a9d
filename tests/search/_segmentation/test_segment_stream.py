"""Segmentations that come in chunks against those of the whole recording."""

import itertools
import pickle

import naive
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import refused, segmenter_of
from strategies import channels_of, compiled, long_without_compiler, unmeant

from sktslib.distances import DDTW, DTW, ERP, LCSS, TWED, WDTW, Euclidean

pytestmark = unmeant

METRICS = [DTW(alpha=0.6), LCSS(eps=0.5), TWED(nu=0.1), Euclidean()]


def recording(rng, n, channels, gaps):
    """Two queries, and a recording in which they occur among noise."""
    queries = [rng.normal(size=(length, channels)) for length in (7, 4)]
    y = rng.normal(size=(n, channels)) * 0.7
    for s in rng.integers(0, n - 8, n // 12):
        query = queries[s % 2]
        y[s : s + len(query)] = query + rng.normal(size=query.shape) * 0.2
    if gaps:
        y[rng.integers(0, n, 3)] = np.nan
    return queries, y


def streamed(stream, y, cuts, times=None, pickled=False):
    """What a stream gives for the chunks between the cuts, and how late the repetitions came."""
    found, late = [], 0
    for a, b in zip([0, *cuts], [*cuts, len(y)], strict=True):
        if a == b:
            continue
        found.append(stream.update(y[a:b], None if times is None else times[a:b]))
        assert stream.n_samples_seen == b
        late = max([late, *(b - found[-1].end)])
        if pickled:
            stream = pickle.loads(pickle.dumps(stream))
    return [*found, stream.flush()], late


def joined(found, name):
    return np.concatenate([getattr(part, name) for part in found])


@st.composite
def cases(draw, name="dtw"):
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = draw(st.sampled_from([8, 60, 150]))
    queries, y = recording(rng, n, draw(channels_of(name)), draw(st.booleans()) and n > 8)
    rules = {"background": draw(st.sampled_from(["auto", 0.3, 2.0])), "max_length": draw(st.sampled_from([None, 9]))}
    rules["transitions"] = rng.uniform(size=(3, 3)) if draw(st.booleans()) else None
    rules["polarity"] = draw(st.sampled_from(["same", "any", "channels"]))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=9)))
    return queries, y, rules, cuts


@pytest.mark.parametrize("metric", METRICS)
@given(data=st.data(), pickled=st.booleans())
def test_a_stream_gives_what_the_whole_recording_gives(metric, data, pickled):
    queries, y, rules, cuts = data.draw(cases(metric.name))
    if isinstance(metric, Euclidean):
        rules["max_length"] = None
    segmenter = segmenter_of(metric, nan_policy="omit", **rules).fit(queries)
    want = segmenter.segment(y)
    found, _ = streamed(segmenter.stream(), y, cuts, pickled=pickled)
    for name in ("start", "end", "label"):
        np.testing.assert_array_equal(joined(found, name), getattr(want, name))
    np.testing.assert_array_equal(joined(found, "cost"), want.cost)
    if want.polarity is not None:
        np.testing.assert_array_equal(joined(found, "polarity"), want.polarity)
    paths = [part.path(k) for part in found for k in range(len(part))]
    for k, path in enumerate(paths):
        np.testing.assert_array_equal(path, want.path(k))
    for part in found:
        for q in set(part.query.tolist()):
            matched = [part.path(k).size > 0 for k in np.flatnonzero(part.query == q)]  # no pair: no time base
            assert np.isfinite(part.warped(q)[matched]).all()


@st.composite
def tied(draw):
    """Queries and a recording of few integers, so that costs are equal everywhere, and rules that forbid."""
    k = draw(st.integers(1, 3))
    value = st.integers(-1, 1) if draw(st.booleans()) else st.just(-1)
    queries = [np.array(draw(st.lists(value, min_size=1, max_size=4)), float) for _ in range(k)]
    y = np.array(draw(st.lists(value, min_size=4, max_size=24)), float)
    if draw(st.booleans()):
        y[draw(st.lists(st.integers(1, len(y) - 1), max_size=2))] = np.nan
    gap_cost = st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, 9.0, np.inf])
    rules = {"background": draw(st.sampled_from([0.0, 0.5, 1.0])), "transitions": None}
    if draw(st.booleans()):
        rules["transitions"] = np.array(draw(st.lists(gap_cost, min_size=(k + 1) ** 2, max_size=(k + 1) ** 2)))
        rules["transitions"] = rules["transitions"].reshape(k + 1, k + 1)
        rules["transitions"][0, 0] = 0.0
    one_by_one = draw(st.booleans())
    cuts = range(1, len(y)) if one_by_one else sorted(draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    lengths = draw(st.none() | st.tuples(st.integers(1, 3), st.integers(0, 3)))
    return queries, y, rules, list(cuts), lengths


TIED = compiled([Euclidean(), DTW(), LCSS(eps=0.5), ERP(), DDTW(), WDTW(g=0.5)])


@pytest.mark.slow
@pytest.mark.parametrize("metric", TIED, ids=lambda metric: metric.name)
@example(
    case=(
        [-np.ones(3), -np.ones(1), -np.ones(2)],
        -np.ones(5),
        {"background": 0.5, "transitions": np.array([[0, 0, 0, 1], [3, 3, 1, 9], [0, 0.5, 0, 0], [3, 0, 0, 0.0]])},
        [1, 2, 3, 4],
        None,
    ),
    delay=None,
)
@given(case=tied(), delay=st.none() | st.integers(0, 3) | st.just(50))
def test_ties_are_broken_as_in_the_whole_recording(metric, case, delay):
    queries, y, rules, cuts, lengths = case
    longest = max(map(len, queries))
    if metric.name != "euclidean" and lengths is not None:
        rules = {**rules, "min_length": lengths[0], "max_length": sum(lengths)}
    if metric.name == "euclidean" and len(y) < longest:
        return
    segmenter = segmenter_of(metric, nan_policy="omit", **rules).fit(queries)
    if delay is not None:
        delay += longest + (metric._context if metric.name == "ddtw" else 0)
    got, late = streamed(segmenter.stream(max_delay=delay), y, cuts)
    got = [segment for part in got for segment in part]
    assert all(s < e for s, e, _, _ in got)
    assert all(a.end <= b.start for a, b in itertools.pairwise(got))
    if delay is None or delay >= len(y):
        assert got == list(segmenter.segment(y))
        return
    if len(cuts) == len(y) - 1:
        assert late <= delay
    # Whatever was decided early, what is forbidden never comes.
    assert gap_cost_of(got, y, rules["background"], rules["transitions"]) < np.inf


def gap_cost_of(found, y, background, transitions):
    """What a cut costs, each stretch between gaps by itself."""
    missing = np.isnan(y)
    edges = [-1, *np.flatnonzero(missing), len(y)]
    total = 0.0
    for a, b in itertools.pairwise(edges):
        inside = [(s - a - 1, e - a - 1, label, cost) for s, e, label, cost in found if a < s < b]
        total += naive.cost_of_segmentation(inside, b - a - 1, background, transitions)
    return total


@pytest.mark.slow
@long_without_compiler
@pytest.mark.parametrize("metric", ["lcss", "edr"])
@pytest.mark.parametrize("seed", range(4))
def test_of_equally_cheap_segmentations_a_stream_finds_that_of_the_batch(metric, seed):
    rng = np.random.default_rng(seed)
    query, parts, n = rng.normal(size=33), [], 0
    while n < 20_000:
        noise, rest = [0.3, 0.6, 1.0, 0.6][seed], rng.normal(size=rng.integers(5, 60)) * [1, 0.2][seed % 2]
        parts.append(query + rng.normal(size=33) * noise if rng.random() < 0.6 else rest)
        n += len(parts[-1])
    y, segmenter = np.concatenate(parts), segmenter_of(metric).fit(query)
    found, _ = streamed(segmenter.stream(), y, range(997, len(y), 997))
    want = segmenter.segment(y)
    for name in ("start", "end", "cost"):
        np.testing.assert_array_equal(joined(found, name), getattr(want, name))
    assert segmenter_of(metric, background=0.7).fit(query).background_ == pytest.approx(0.7, abs=2.0**-31)


def gap_cost(found, segmenter, y):
    """What the cut costs, gaps left out; transitions are counted behind a gap anew."""
    missing = np.isnan(y).any(axis=1)
    T = np.zeros((3, 3)) if segmenter.transitions is None else segmenter.transitions
    label = np.zeros(len(y), int)
    number = np.arange(len(y)) * -1  # a part's own number: background samples in a row are one part
    for k, (s, e, q, _) in enumerate([segment for part in found for segment in part], 1):
        label[s:e], number[s:e] = q, k
    total = joined(found, "cost").sum() + segmenter.background_ * ((label == 0) & ~missing).sum()
    for t in range(1, len(y)):
        if not missing[t - 1] and not missing[t] and (label[t] or label[t - 1]) and number[t] != number[t - 1]:
            total += T[label[t - 1], label[t]]
    return total


@pytest.mark.slow
@long_without_compiler
def test_costs_of_long_windows_are_those_of_the_whole_recording():
    rng = np.random.default_rng(1)
    query, y = rng.normal(size=120), rng.normal(size=12_000)  # enough windows for Fourier transforms
    y[np.arange(0, 11_000, 700)[:, np.newaxis] + np.arange(120)] = query + 0.3 * rng.normal(size=(16, 120))
    segmenter = segmenter_of("euclidean").fit(query)
    found, _ = streamed(segmenter.stream(), y, range(500, 12_000, 500))
    want = segmenter.segment(y)
    assert [segment for part in found for segment in part] == list(want)
    assert len(want) == 16
    np.testing.assert_allclose(want.cost, [((query - y[s:e]) ** 2).sum() for s, e, _, _ in want], rtol=1e-13)


def test_a_stream_that_is_misused():
    segmenter = segmenter_of("euclidean").fit([0.0, 1.0, 0.0])
    stream = segmenter.stream()
    found = stream.update([5, 0, 1, 0, 5, 5, 5], times=[0, 1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(found.boundaries, [1, 4])
    np.testing.assert_array_equal(found.start_time, [1])
    refused(found.plot, "cannot be drawn")
    refused(lambda: stream.update([5.0]), "with every chunk or with none")
    refused(lambda: stream.update([5.0], times=[6]), "'times' must be strictly increasing")
    assert len(stream.flush()) == 0
    refused(lambda: stream.update([5.0]), "has been flushed")
    refused(lambda: segmenter.stream(max_delay=0), "The 'max_delay' parameter of stream must be an integer")
    with pytest.raises(ValueError, match=r"must be at least the length of the longest query, \d+ samples.*Got 1\."):
        segmenter.stream(max_delay=1)
    with pytest.raises(ValueError, match=r"longest query, 3 samples and the 2 that the metric looks ahead.*Got 4\."):
        segmenter_of("ddtw").fit([0.0, 1.0, 0.0]).stream(max_delay=4)
