"""A dialogue: which matches to ask about, and searchers that learn from the answers."""

import pickle

import naive.answering
import numpy as np
import pytest
from inputs import refused

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.search import FalseDiscoveryRate, Percentile, Windows
from sktslib.search._learning.dialogue import threshold_of_answers
from sktslib.search._profile import Search
from sktslib.search._results import border_between

PATTERN = np.array([0.0, 2.0, 4.0, 2.0, 0.0, -1.0])
OTHER = np.array([0.0, -2.0, 2.0, -2.0, 2.0, 0.0])


def planted(seed=0, count=6, scale=1.0):
    """A recording with as many occurrences of each of two patterns, and the starts of the first."""
    rng = np.random.default_rng(seed)
    parts, starts, at = [], [], 0
    for k in range(2 * count):
        rest = rng.normal(0, 0.2, 8)
        shape = (OTHER if k % 2 else PATTERN) * rng.uniform(0.8, 1.2) * scale + rng.normal(0, 0.1, 6)
        starts += [] if k % 2 else [at + len(rest)]
        parts += [rest, shape]
        at += len(rest) + len(shape)
    return np.concatenate([*parts, rng.normal(0, 0.2, 8)]), np.array(starts)


def right(matches, starts):
    """Which matches lie on occurrences."""
    return np.array([(np.abs(starts - s) <= 2).any() and e - s <= 9 for s, e in zip(matches.start, matches.end)])  # noqa: B905


@pytest.mark.parametrize("seed", range(20))
def test_border_and_threshold_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, 3)
    sizes[2] += not sizes.any()
    good, bad, others = (rng.integers(0, 12, size) / 2.0 for size in sizes)
    assert threshold_of_answers(good, bad, others) == pytest.approx(naive.answering.threshold(good, bad, others))
    every = np.concatenate([good, bad, others])
    if len(np.unique(every)) == len(every):  # else several borders are as good
        assert border_between(every) == pytest.approx(naive.answering.border(every))


def test_threshold_lies_between_answers_and_beyond_good_ones():
    assert 2 < threshold_of_answers(*map(np.array, ([1.0, 2.0], [5.0, 6.0], [3.0, 4.0]))) < 5
    assert threshold_of_answers(np.array([1.0, 2.0, 3.0]), np.empty(0), np.empty(0)) == 4.0  # d + d / n
    assert 0 <= threshold_of_answers(np.empty(0), np.array([2.0, 3.0]), np.array([1.0])) < 2
    assert threshold_of_answers(np.empty(0), np.array([np.inf]), np.empty(0)) == 0.0
    assert border_between(np.array([3.0])) == 3.0 and border_between(np.empty(0)) == 0.0


def test_uncertain_matches_are_those_of_the_definition():
    y = planted(1)[0]
    searcher = QuerySearcher("euclidean").fit([PATTERN, OTHER])
    matches = searcher.search_all([y[:80], y[80:]])
    borders = [naive.answering.border(matches.distance[matches.query == q]) for q in (0, 1)]
    for k in (1, 3, 8, len(matches), len(matches) + 5):
        expected = naive.answering.uncertain(
            matches.query.tolist(), matches.sequence.tolist(), matches.distance, borders, k
        )
        assert matches.uncertain(k).tolist() == expected
    first = matches.uncertain(8)
    assert {*zip(matches.query[first], matches.sequence[first], strict=True)} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    by_time = matches.sorted()
    assert {*by_time.start[by_time.uncertain(8)]} == {*matches.start[first]}


def test_what_is_known_is_not_asked_again_and_the_threshold_is_the_border():
    y = planted(2)[0]
    searcher = QuerySearcher("euclidean", threshold=3.0).fit(PATTERN)
    matches = searcher.search_all(y)
    assert matches.threshold.tolist() == [3.0] == searcher.search(y).threshold.tolist()
    assert matches.distance.max() > 3.0 > matches.distance.min()
    below, above = np.sort(matches.uncertain(2))
    assert matches.distance[below] <= 3.0 < matches.distance[above] and above == below + 1
    asked = matches[matches.uncertain(2)]
    further = matches.uncertain(len(matches), known=[asked, matches[:1]])
    assert sorted([*further, *matches.uncertain(2), *({0} - {*matches.uncertain(2).tolist()})]) == [
        *range(len(matches))
    ]
    assert matches.uncertain(3, known=matches).tolist() == [] == matches[:0].uncertain(3).tolist()
    found = searcher.search(y)
    assert found.uncertain(1).tolist() == [len(found) - 1]  # below the border alone
    refused(lambda: matches.uncertain(0), "'k'")
    refused(lambda: matches.uncertain(2, known=[1]), "'known' parameter must be None, Matches", error=TypeError)
    refused(lambda: matches.uncertain(2, known=searcher.search_all([y])), "list of sequences on one side only")


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "dtw"},
        {"metric": "euclidean"},
        {"metric": "euclidean", "normalize": "zscore"},
        {"metric": "euclidean", "candidates": Windows([1.0, 1.5])},
    ],
    ids=str,
)
def test_a_dialogue_of_ten_answers_finds_the_occurrences(parameters):
    y, starts = planted(3)
    searcher = QuerySearcher(n_matches=3, **parameters).fit(PATTERN)
    before, asked, now = vars(searcher).copy(), [], searcher
    for _ in range(5):
        matches = now.search_all(y)
        ask = matches.uncertain(2, known=asked)
        good = right(matches, starts)[ask]
        now = now.learn_from_answers(pickle.loads(pickle.dumps(matches)), ask[good], ask[~good])
        asked.append(matches[ask])
    now.set_params(n_matches="auto")
    unseen, true = planted(4)
    found = now.search(unseen)
    assert len(found) == len(true) and right(found, true).all()
    assert vars(searcher) == before and searcher.threshold_ is None
    assert list(pickle.loads(pickle.dumps(now)).search(unseen)) == list(found)
    assert now.query_.shape == searcher.query_.shape and now.weight_.max() == 1.0


def test_relearn_keeps_what_was_given_and_shrinks_towards_it():
    y, _ = planted(5)
    searcher = QuerySearcher("euclidean", threshold=9.0).fit(PATTERN, weight=[1, 2, 3, 2, 1, 1])
    matches = searcher.search(y)
    one, two = searcher.learn_from_answers(matches, good=0), searcher.learn_from_answers(matches, good=[0, 1])
    assert one.threshold is None and one.threshold_ > 0 and searcher.threshold_ == 9.0
    np.testing.assert_array_equal(one.query_, searcher.query_)  # two examples are not averaged
    np.testing.assert_array_equal(two.weight_, searcher.weight_)
    mean = np.mean([PATTERN, *matches[:2].cut()], axis=0)
    np.testing.assert_allclose(two.query_[:, 0], mean)
    again = one.learn_from_answers(matches, good=(1,))  # answers add up
    np.testing.assert_allclose(again.query_, two.query_)
    assert searcher.learn_from_answers(matches, bad=[-1]).threshold_ < matches.distance[-1]
    mask = np.arange(len(matches)) < 2
    assert searcher.learn_from_answers(matches, good=mask).threshold_ == two.threshold_
    two.fit(PATTERN)  # which forgets them
    assert two.threshold_ is None and len(two.search(y)) == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "dtw"},
        {"metric": "dtw", "normalize": "mean", "polarity": "any"},
        {"metric": "euclidean", "normalize": "mean"},
    ],
    ids=str,
)
def test_occurrences_of_two_shapes_are_found_once_each_by_the_nearer_template(parameters):
    rng = np.random.default_rng(9)
    rounded = np.array([0.0, 2.0, 4.0, 5.0, 5.0, 4.0, 2.0, 0.0])
    trough = np.array([0.0, 2.0, 4.0, 5.0, 5.0, 4.0, 2.0, -4.0])
    starts = 6 + 16 * np.arange(12)
    y = rng.normal(0, 0.2, starts[-1] + 20)
    for k, s in enumerate(starts):
        y[s : s + 8] += (trough if k % 2 else rounded) * rng.uniform(0.95, 1.05)
    one = QuerySearcher(**parameters).fit(rounded)
    matches = one.search_all(y)
    good = np.array([(np.abs(starts - m.start) <= 2).any() for m in matches])
    good &= True if matches.polarity is None else matches.polarity == 1
    now = one.learn_from_answers(matches, good, ~good)
    assert one.alternatives_ == [[]]
    (((x, w),),) = now.alternatives_
    assert x.shape == w.shape == now.query_.shape
    if now.metric == "euclidean":  # what warps may begin later and end before what the query has not
        for found, shape in ((now.query_, rounded), (x, trough)):
            np.testing.assert_allclose(found[:, 0], shape - shape.mean(), atol=0.7)
    # Distances of the answers are those from the nearer template: no good one is beyond the threshold.
    found = now.search(y)
    middle = (found.start + found.end) / 2
    assert [(np.abs(middle - s - 4) <= 2).sum() for s in starts] == [1] * len(starts) == [1] * len(found)
    assert list(pickle.loads(pickle.dumps(now)).search(y)) == list(found)
    stream = now.stream()
    parts = [*stream.update(y[:50, None]), *stream.update(y[50:, None]), *stream.flush()]
    assert sorted((m.start, m.end) for m in parts) == sorted((m.start, m.end) for m in found)
    again = now.learn_from_answers(found, good=range(len(found)))  # answers about matches of either template add up
    assert len(again.alternatives_[0]) == 1


def test_the_nearest_version_is_what_answers_are_far_from():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(1, 20))
    for metric, mode in (("euclidean", "windows"), ("dtw", "subsequence")):
        how = QuerySearcher(metric, candidates=mode).fit(PATTERN)._searches[0][0]
        how = how._replace(limits=(None, None))
        both = how._replace(alternatives=((OTHER[np.newaxis], None),))
        each = [Search(one, y).nearest() for one in (how, how._replace(x=OTHER[np.newaxis]))]
        assert Search(both, y).nearest() == min(each) and each[0] != each[1]


def test_a_query_without_answers_keeps_a_limit():
    y, _ = planted(6)
    y = np.concatenate([y] * 3)
    rule = FalseDiscoveryRate(0.5, n_decoys=1, random_state=0)
    for parameters in ({"threshold": rule}, {"threshold": Percentile(5.0)}):
        searcher = QuerySearcher("euclidean", **parameters).fit([PATTERN, OTHER])
        matches = searcher.search(y)
        new = searcher.learn_from_answers(matches, good=np.flatnonzero(matches.query == 1)[:1])
        if parameters["threshold"] is rule:
            assert new.threshold_[0] == matches.threshold[0]
        found = new.search(y)
        assert (found.query == 0).sum() <= (matches.query == 0).sum() > 0
        assert np.isfinite(new.threshold_).all()


def test_relearn_of_several_queries_of_labels_and_of_streams():
    y, _ = planted(6)
    searcher = QuerySearcher("euclidean").fit({"a": PATTERN, "b": OTHER})
    matches = searcher.search_all([y[:90], y[90:]])
    own = np.flatnonzero(matches.label == "a")
    new = searcher.learn_from_answers(matches, own[:4], own[-4:])
    assert new.threshold_[0] is not None and new.threshold_[1] is None and new.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(new.query_[1], searcher.query_[1])
    labels = np.zeros(len(y), int)
    for s in planted(6)[1]:
        labels[s : s + 6] = 1
    learned = QuerySearcher("euclidean").fit(y[:, None], labels)
    found = learned.search_all(y)
    more = learned.learn_from_answers(found, good=[0, 1], bad=[-1])
    np.testing.assert_array_equal(more.weight_, learned.weight_)
    expected = (6 * learned.query_ + sum(piece[:, None] for piece in found[:2].cut())) / 8
    np.testing.assert_allclose(more.query_, expected)  # six occurrences and two
    stream = new.learn_from_answers(matches, bad=np.flatnonzero(matches.label == "b")[-1:]).stream()
    parts = stream.update(y[:, None]), stream.flush()
    assert parts[0].threshold is not None
    assert new.learn_from_answers(parts[0], good=[0]).threshold_[0] > 0


def test_relearn_says_what_is_wrong():
    y, _ = planted(7)
    searcher = QuerySearcher("euclidean").fit(PATTERN)
    matches = searcher.search_all(y)
    wrong = [
        (ValueError, "'good' and 'bad' must have no match in common", {"good": [0, 1], "bad": [1]}),
        (ValueError, "'good' or 'bad' must hold the number of a match", {}),
        (IndexError, "In 'bad': The index must be the number of a match", {"bad": [len(matches)]}),
        (IndexError, "In 'good': A mask of matches", {"good": [True]}),
        (TypeError, "In 'good': The index of matches", {"good": "first"}),
    ]
    for error, message, answers in wrong:
        with pytest.raises(error, match=message):
            searcher.learn_from_answers(matches, **answers)
    with pytest.raises(TypeError, match="'matches' parameter of learn_from_answers must be Matches"):
        searcher.learn_from_answers([(0, 6)], good=[0])
    with pytest.raises(TypeError, match="'matches' parameter of learn_from_answers must be Matches"):
        searcher.learn_from_answers(QuerySegmenter().fit(PATTERN).segment(y), good=[0])
    others = QuerySearcher("euclidean").fit([PATTERN, OTHER]).search_all(y)
    refused(lambda: searcher.learn_from_answers(others, good=[0]), "of queries (1). Got matches of 1 and 2")
    wide = QuerySearcher("euclidean").fit(np.column_stack([PATTERN] * 2)).search_all(np.column_stack([y] * 2))
    refused(lambda: searcher.learn_from_answers(wide, good=[0]), "Got matches of 2 and 1")


def test_pieces_with_gaps_count_for_the_threshold_alone():
    y, starts = planted(8)
    y[starts[1] + 1] = np.nan
    searcher = QuerySearcher("euclidean", nan_policy="omit").fit(PATTERN)
    matches = searcher.search_all(y)
    good = right(matches, starts)
    new = searcher.learn_from_answers(matches, good, ~good)
    assert np.isfinite(new.query_).all()
    assert right(new.search(y), starts).sum() == len(starts)
