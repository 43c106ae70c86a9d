"""Learned queries: their scores against plain loops, their places, and that they tell classes apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.clustering import information_gain

from sktslib.neighbors import ShapeletTransform, _shapelets

RNG = np.random.default_rng(4)
Y = np.array(["a", "b", "c"] * 5)
BUMPS = {"a": [0, 3, 3, 0, 0.0], "b": [0, 3, 0, 3, 0.0], "c": [0, -2, 2, -2, 0.0]}
X = 0.3 * RNG.normal(size=(15, 20))
for row, label, at in zip(X, Y, RNG.integers(0, 15, 15), strict=True):
    row[at : at + 5] += BUMPS[label]
X = X.round(2)
RAGGED = [np.column_stack([x[: 14 + k % 7], x[::-1][: 14 + k % 7]]) for k, x in enumerate(X)]
PARAMS = {"metric": "euclidean", "n_queries": 4, "n_candidates": 60, "query_lengths": (4, 7), "random_state": 0}


@st.composite
def tables(draw):
    n = draw(st.integers(2, 12))
    distances = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), float)
    labels = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return distances, labels


@given(table=tables())
def test_scores(table):
    distances, labels = table
    own = labels == labels[0]
    gain = _shapelets.information_gain(distances, own)
    assert gain == pytest.approx(information_gain(distances.tolist(), own.tolist()), abs=1e-12)


@pytest.mark.parametrize("params", [{}, {"normalize": "zscore"}, {"metric": "dtw"}], ids=str)
@pytest.mark.parametrize("series", [X, RAGGED], ids=["matrix", "ragged"])
def test_shapelets_are_pieces_with_these_scores(series, params):
    model = ShapeletTransform(**{**PARAMS, "n_candidates": 30, **params}).fit(series, Y)
    table = model.transform(series)
    assert len(model.shapelets_) == len(model.queries_) == table.shape[1] == 4
    classes = []
    for (k, start, length, score, label), query, column in zip(model.shapelets_, model.queries_, table.T, strict=True):
        piece = np.asarray(series[k])[start : start + length]
        np.testing.assert_array_equal(query, piece.reshape(length, -1))
        assert 4 <= length <= 7
        assert score == pytest.approx(information_gain(column.tolist(), (Y == Y[k]).tolist()), abs=1e-9)
        assert label == Y[k]
        classes.append(label)
    assert classes == ["a", "b", "c", "a"]
    for j in range(4):
        for i in range(j):
            if classes[i] == classes[j]:
                assert np.corrcoef(table[:, i], table[:, j])[0, 1] < _shapelets.ALIKE + 1e-9


def test_all_pieces_are_compared_where_there_are_few():
    model = ShapeletTransform(**{**PARAMS, "n_candidates": 10**6, "query_lengths": (5, 5), "n_queries": 3}).fit(X, Y)
    for shapelet in model.shapelets_:
        own = [
            information_gain(
                [min(np.sqrt(((y[t : t + 5] - X[k, s : s + 5]) ** 2).sum()) for t in range(16)) for y in X],
                (Y == shapelet.label).tolist(),
            )
            for k in np.flatnonzero(Y == shapelet.label)[:2]
            for s in range(16)
        ]
        assert shapelet.score >= max(own) - 1e-9


def test_jobs_bounds_and_seeds(monkeypatch):
    model = ShapeletTransform(**PARAMS).fit(X, Y)
    assert ShapeletTransform(**PARAMS, n_jobs=2).fit(X, Y).shapelets_ == model.shapelets_
    assert ShapeletTransform(**PARAMS | {"random_state": 1}).fit(X, Y).shapelets_ != model.shapelets_
    monkeypatch.setattr(_shapelets, "BLOCK", 7)
    few = ShapeletTransform(**PARAMS | {"n_queries": 3}).fit(X, Y).shapelets_
    assert ShapeletTransform(**PARAMS | {"n_queries": 3}, n_jobs=2).fit(X, Y).shapelets_ == few
    given = ShapeletTransform("euclidean").fit(X, Y)
    assert not hasattr(given, "shapelets_")
    np.testing.assert_array_equal(np.array(given.queries_)[..., 0], X)


@pytest.mark.parametrize(
    ("params", "series", "y", "message"),
    [
        ({"queries": [[0.0, 1]]}, X, Y, "takes no 'queries'"),
        ({"weight": np.ones(5)}, X, Y, "takes no 'weight'"),
        ({}, X, None, "Pass one class per series"),
        ({}, X, ["a"] * 15, "at least two classes"),
        ({}, X, Y[:3], "inconsistent numbers of samples"),
        ({"query_lengths": (5, 30)}, X, Y, r"length of the shortest series, 20. Got \(5, 30\)"),
        ({"query_lengths": 5}, X, Y, "'query_lengths' parameter"),
        ({"nan_policy": "omit"}, np.where(X > 5, np.nan, X) * [[np.nan] + [1] * 19], Y, "without missing values"),
    ],
)
def test_errors_say_what_is_wrong(params, series, y, message):
    with pytest.raises(ValueError, match=message):
        ShapeletTransform(**{**PARAMS, **params}).fit(series, y)


def test_a_warning_tells_where_there_are_too_few():
    with pytest.warns(UserWarning, match="'n_queries' asks for 500 pieces that are not alike"):
        model = ShapeletTransform(**{**PARAMS, "n_queries": 500}).fit(X, Y)
    assert len(model.shapelets_) == len(model.queries_) < 60
