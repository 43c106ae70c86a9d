"""Self-training of the segmenter: labels of a part only, and what is sure in the rest."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import long_without_compiler

from sktslib import QuerySegmenter
from sktslib.metrics import event_f1_score, labels_from_events
from sktslib.search import Conformal, Learning
from sktslib.search._learning.labels import learnable, sure_ones
from sktslib.search._plan import QueryPlan
from sktslib.search._query import Annotation, Labels
from sktslib.search._segments.optimal import SegmentTable, segment
from sktslib.search._sources import ArraySource

UP, DOWN = np.sin(np.linspace(0, np.pi, 12)) ** 2, -np.sin(np.linspace(0, 2 * np.pi, 12))


def drifting(kinds=1, known=4, n=24, seed=0):
    """A recording of occurrences that fade and turn, their ranges and kinds, and the labels of the first ones."""
    rng = np.random.default_rng(seed)
    at = 8 + np.cumsum(rng.integers(16, 24, n))
    X, kind = 0.08 * rng.standard_normal(at[-1] + 24), 1 + np.arange(n) % kinds
    for k, s in enumerate(at):
        shape, share = (UP, DOWN)[kind[k] - 1], k / n
        X[s : s + 12] += (1 - 0.5 * share) * ((1 - share) * shape + share * np.roll(shape, 2))
    ranges = np.column_stack([at, at + 12])
    cut = at[known] - 3
    y = np.full(len(X), -1)
    y[:cut] = labels_from_events(ranges[:known], kind[:known], n_samples=len(X))[:cut]
    return X[:, np.newaxis], y, ranges, kind


def ranges_of(found):
    return np.column_stack([found.start, found.end])


@given(st.data())
def test_what_is_sure_is_that_of_the_definition(data):
    n = data.draw(st.integers(2, 8))
    lengths = data.draw(st.lists(st.integers(3, 8), min_size=n, max_size=n))
    start = 10 * np.arange(n)
    found = [
        (int(s), int(s) + length, data.draw(st.integers(1, 2)), data.draw(st.floats(0, 8)))
        for s, length in zip(start, lengths, strict=True)
    ]
    known = data.draw(st.integers(1, n))
    marks = [(s, e, label) for s, e, label, _ in found[:known] if data.draw(st.booleans())]
    labels = np.where(np.arange(10 * n) < 10 * known - data.draw(st.integers(0, 5)), 0, -1)
    marks = [(s, e, label) for s, e, label in marks if (labels[s:e] == 0).all()]
    for s, e, label in marks:
        labels[s:e] = label
    y = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=10 * n, max_size=10 * n)), float)
    ranges = np.array([mark[:2] for mark in marks], np.int64).reshape(-1, 2)
    code = np.array([mark[2] for mark in marks], np.int64)
    marked = Annotation(y[np.newaxis], Labels(np.maximum(labels, 0), np.arange(1, 3), 0), ranges, code, labels == -1)
    s, e, label, cost = map(np.array, zip(*found, strict=True))
    how = QueryPlan(QuerySegmenter("euclidean").fit(UP).metric_, UP[np.newaxis])
    got = sure_ones(marked, [how, how], np.array([1, 2]), SegmentTable(s, e, label - 1, cost, None))
    want = naive.sure(y.tolist(), labels.tolist(), marks, found)
    assert got.ranges.tolist() == [list(found[j][:2]) for j in want]
    assert got.code.tolist() == [found[j][2] for j in want]
    more = learnable(marked, got)
    assert (np.isnan(more.data[0]) == (more.labels.code == -1)).all()
    assert len(more.ranges) == len(marks) + len(want)
    assert not np.isnan(marked.data).any()


@pytest.mark.parametrize("metric", ["euclidean", "dtw", "adtw", "lcss"])
def test_samples_that_learning_leaves_out_part_the_recording(metric):
    """They are missing to its segmentations, also where a recording may have no missing values."""
    y = drifting()[0][:, 0]
    y[[30, 31, 97]] = np.nan
    y[150:170] = np.nan
    strict, lenient = (QuerySegmenter(metric, nan_policy=policy).fit(UP) for policy in ("raise", "omit"))
    found, want = segment(strict._queries, strict._rules, ArraySource(y[np.newaxis])), lenient.segment(y)
    assert len(want) > 5
    for column in ("start", "end"):
        assert getattr(found, column).tolist() == getattr(want, column).tolist()
    assert not any(np.isnan(y[s:e]).any() for s, e in zip(found.start, found.end, strict=True))


def test_one_round_from_the_definition():
    X, y, ranges, _ = drifting()
    labeled = y != -1
    before = QuerySegmenter("euclidean").fit(X[labeled], y[labeled])
    found = [(int(s), int(e), 1, 0.0) for s, e in ranges_of(before.segment(X))]
    w = before.weight_[:, 0]
    q, level = before.query_[:, 0], np.median(np.delete(X[:, 0], np.r_[tuple(slice(s, e) for s, e, *_ in found)]))
    # A weight for all samples of the background: costs by it, as if there were none.
    found = [(s, e, 1, float(w @ (X[s:e, 0] - q) ** 2 / w.mean())) for s, e, *_ in found]
    taken = naive.sure(X[:, 0].tolist(), y.tolist(), [(s, e, 1) for s, e in ranges[:4].tolist()], found)
    after = QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(X, y)
    assert after.self_training_.tolist() == [[len(taken)]]
    assert 0 < len(taken) < 20
    pieces = [X[s:e, 0] for s, e in [*ranges[:4], *(found[j][:2] for j in taken)]]
    np.testing.assert_allclose(after.query_[:, 0], np.mean(pieces, axis=0), rtol=1e-12)
    assert after._rules.background.offset[0, 0] == pytest.approx(level)


@long_without_compiler
@pytest.mark.parametrize("kinds", [1, 2])
def test_drift_is_followed(kinds):
    X, y, ranges, kind = drifting(kinds, known=4 * kinds, n=20 * kinds)
    labeled = y != -1
    X = np.column_stack([X, 0.5 * X + 0.03 * np.random.default_rng(1).standard_normal(X.shape)])
    plain = QuerySegmenter("euclidean").fit(X[labeled], y[labeled])
    trained = QuerySegmenter("euclidean", learning=Learning(self_train=2**62)).fit(X, y)
    apart = [np.abs(one.query_ - plain.query_).max() for one in (plain, trained)]
    assert apart[1] > 0.02
    scores = [event_f1_score(ranges, ranges_of(one.segment(X))) for one in (plain, trained)]
    assert scores[1] >= scores[0]
    assert trained.self_training_.shape[1] == kinds
    assert (trained.self_training_[-1] >= trained.self_training_[0]).all()
    assert trained.classes_.tolist() == [*range(1, kinds + 1)]
    segments = trained.segment(X)
    for s, e, label, _ in segments:
        assert kind[np.argmin(np.abs(ranges.mean(axis=1) - (s + e) / 2))] == label
    # Of the unlabeled part nothing is known, so nothing there is wrong.
    assert trained.score(X, y) == event_f1_score(np.where(labeled, y, 0), ranges_of(segments[labeled[segments.end]]))


def test_gaps_holes_and_a_chosen_metric(capsys):
    X, y, ranges, _ = drifting(known=8)
    gone, times = ranges[15, 0] + 5, np.arange(float(len(X)))
    times[ranges[12, 0] + 6 :] += 50.0
    X[gone] = np.nan
    segmenter = QuerySegmenter("euclidean", learning=Learning(self_train=2), nan_policy="omit", max_gap=2.0, verbose=1)
    fitted = segmenter.fit(X, y, times=times)
    assert "self-train" in capsys.readouterr().err
    found = ranges_of(fitted.segment(X, times=times))
    for k in (12, 15):
        assert not ((found[:, 0] < ranges[k, 1] - 4) & (found[:, 1] > ranges[k, 0] + 4)).any()
    with pytest.raises(ValueError, match="NaN"):
        clone(segmenter).set_params(nan_policy="raise").fit(X, y, times=times)
    X, y = (a[::2] for a in drifting(known=6, n=10)[:2])
    before = y.copy()
    chosen = QuerySegmenter("auto", threshold=Conformal(0.3), learning=Learning(self_train=1)).fit(X, y)
    assert chosen.best_index_ is not None
    assert chosen.self_training_.sum()
    assert np.min(chosen.threshold_) > 0
    np.testing.assert_array_equal(y, before)


def test_labels_that_leave_nothing_to_train_by():
    X, y, _, _ = drifting(n=8)
    trained = QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(X, y)
    assert trained.set_params(learning=Learning(self_train=0)).fit(X, y).classes_.tolist() == [
        -1,
        1,
    ]  # a class as any other
    assert not hasattr(trained, "self_training_")
    all_known = np.maximum(y, 0)
    names = np.where(all_known > 0, "-1", "")
    for labels in (all_known, names):
        with pytest.warns(UserWarning, match="'y' should have labels -1 where self_train is above 0"):
            fitted = QuerySegmenter("euclidean", learning=Learning(self_train=3)).fit(X, labels)
        assert fitted.self_training_.shape == (0, 1)
        np.testing.assert_array_equal(fitted.query_, QuerySegmenter("euclidean").fit(X, labels).query_)
    for rest, message in (
        ((UP, None), "'self_train' of Learning must be 0 where no occ"),
        ((X, np.full_like(y, -1)), "two distinct labels.* Got -1 for all"),
        ((X, np.minimum(y, 0)), "two distinct"),
    ):
        with pytest.raises(ValueError, match=message):
            QuerySegmenter("euclidean", learning=Learning(self_train=1)).fit(*rest)
