"""What a learned model says of itself: a report on the blocks that were held out, by class."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from strategies import long_without_compiler

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.__main__ import main
from sktslib.metrics import event_report, labels_from_events
from sktslib.search import Conformal, Learning

UP, DOWN = np.array([0.0, 2, 3, 3, 1, 0]), np.array([0.0, -1, -3, 2, 1, 0])


def recording(events=24, kinds="ab", noise=0.2, seed=0, alike=False):
    """A recording of two shapes in turn, which may be `alike` but for noise; the events and their classes."""
    rng = np.random.default_rng(seed)
    start = 8 + 16 * np.arange(events) + rng.integers(0, 6, events)
    kind = np.array(list(kinds))[np.arange(events) % len(kinds)]
    X = noise * rng.standard_normal((16 * events + 16, 1))
    for s, name in zip(start, kind, strict=True):
        X[s : s + 6, 0] += UP if name == "a" or alike else DOWN
    return X, np.column_stack([start, start + 6]), kind


ESTIMATORS = {
    "segment auto": QuerySegmenter("auto"),
    "search auto": QuerySearcher("auto"),
    "segment": QuerySegmenter("euclidean", threshold=Conformal(0.2)),
    "search": QuerySearcher("euclidean", threshold=Conformal(0.2)),
}
LONG = [long_without_compiler, pytest.mark.slow]
NAMES = [pytest.param("segment auto", marks=LONG), "search auto", "segment", "search"]


@pytest.mark.parametrize("name", NAMES)
def test_a_learned_model_says_how_good_it_is(name):
    X, events, kind = recording()
    fitted = clone(ESTIMATORS[name]).fit(X, labels_from_events(events, kind, n_samples=len(X)))
    report = fitted.report_
    true = report.true >= 0
    np.testing.assert_array_equal(np.column_stack([report.true_start, report.true_end])[true], events)
    assert report.true_label[true].tolist() == kind.tolist()
    table = report.by_class()
    assert table.index.tolist() == ["a", "b"] and (table["true"] == 12).all()
    assert (table["f1"] > 0.8).all() and report.confusion().loc["a", "b"] == 0
    again = pickle.loads(pickle.dumps(fitted)).report_
    pd.testing.assert_frame_equal(again.confusion(), report.confusion())
    fitted.set_params(metric="euclidean", threshold=None).fit(UP)  # without labels
    assert not hasattr(fitted, "report_")


@pytest.mark.filterwarnings("ignore:At most", "ignore:The class")
@pytest.mark.parametrize("name", NAMES)
def test_classes_that_cannot_be_told_apart_show_in_blocks_that_were_held_out(name):
    X, events, kind = recording(alike=True)
    report = clone(ESTIMATORS[name]).fit(X, labels_from_events(events, kind, n_samples=len(X))).report_
    table = report.confusion()
    assert report.by_class()["f1"].max() < 0.8
    assert table.loc["a", "b"] + table.loc["b", "a"] >= 5
    assert table.to_numpy().sum() == len(report)


def test_it_is_what_others_find_in_each_block():
    X, events, _ = recording(20, "a", noise=0.8)
    y = labels_from_events(events, n_samples=len(X))
    fitted = QuerySearcher("euclidean", threshold=Conformal(0.2)).fit(X, y)
    found = []
    for held in np.array_split(np.arange(20), 5):
        rest = labels_from_events(np.delete(events, held, axis=0), n_samples=len(X))
        one = QuerySearcher("euclidean", threshold=fitted.threshold_).fit(X, rest).search(X)
        ranges = np.column_stack([one.start, one.end])
        nearest = np.abs(ranges.sum(axis=1)[:, np.newaxis] - events.sum(axis=1)).argmin(axis=1)
        found.extend(ranges[np.isin(nearest, held)].tolist())
    want = event_report(y, sorted(found))
    assert want.n_false and want.n_missed
    for side in ("kind", "true_start", "found_start", "found_end"):
        np.testing.assert_array_equal(getattr(fitted.report_, side), getattr(want, side))


@long_without_compiler
def test_the_choice_of_the_metric_is_reported_as_it_was_scored():
    X, events, kind = recording(30, noise=1.2)
    fitted = QuerySegmenter("auto").fit(X, labels_from_events(events, kind, n_samples=len(X)))
    report, row = fitted.report_, fitted.best_index_
    scores = [fitted.cv_results_[f"split{k}_test_score"][row] for k in range(3)]
    assert report.n_missed or report.n_false
    again = event_report(
        events, np.column_stack([report.found_start, report.found_end])[report.found >= 0], min_iou=1 / 3
    )
    assert min(scores) <= again.f1 <= max(scores)


def test_there_is_none_where_no_block_was_held_out():
    X, events, kind = recording(4)
    y = labels_from_events(events, kind, n_samples=len(X))
    for estimator in (QuerySegmenter(), QuerySearcher(), QuerySegmenter("auto")):  # the last has too few
        assert estimator.fit(X, y).report_ is None


@pytest.mark.slow
@long_without_compiler
def test_what_is_unlabeled_is_not_in_it():
    X, events, kind = recording(40)
    y = labels_from_events(events, kind, n_samples=len(X)).astype(object)
    y[330:] = -1
    report = QuerySegmenter("auto", learning=Learning(self_train=1)).fit(X, y).report_
    assert report.n_hit > 15 and report.n_false == 0 and report.found_end.max() < 340


# --------------------------------------------------------------------------------------------------------------- tables
def test_tables_of_classes():
    report = event_report(list("aa0bb0aa0cc000"), list("aa0aa0000cc0cc"))
    table = report.confusion()
    assert table.index.tolist() == table.columns.tolist() == ["a", "b", "c", "background"]
    assert table.index.name == "true" and table.columns.name == "found"
    assert table.to_numpy().tolist() == [[1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
    scores = report.by_class()
    assert scores.loc["a"].tolist() == [2, 2, 1, 0.5, 0.5, 0.5]
    assert scores.loc["b"].tolist() == [1, 0, 0, 0, 0, 0]
    assert scores.loc["c"].tolist() == [1, 2, 1, 0.5, 1, pytest.approx(2 / 3)]
    assert event_report([1, 1, 0, 2, 2], [2, 2, 0, 2, 2]).confusion().loc[1, 2] == 1
    found = SimpleNamespace(start=np.array([0, 3]), end=np.array([2, 5]), label=np.array([1, "x"], object))
    mixed = event_report([(0, 2), (3, 5)], found, kinds=np.array(["x", "x"], object))
    assert mixed.confusion().loc["x"].tolist() == [1, 1, 0]  # numbers and texts


def test_classes_that_are_not_known_are_an_error_that_says_what_to_give():
    with pytest.raises(ValueError, match=r"Got none of the true events\. Give event_report .* or kinds\."):
        event_report([(0, 2)], [1, 1, 0]).by_class()
    assert event_report([(0, 2)], [1, 1, 0], kinds=[1]).by_class()["f1"].tolist() == [1.0]
    with pytest.raises(ValueError, match=r"Got none of the found events\. Give event_report labels of the time points"):
        event_report([1, 1, 0], [(0, 2)]).confusion()
    assert event_report([1, 1, 0], [1, 1, 0]).confusion().loc[1, 1] == 1


# --------------------------------------------------------------------------------------------------------- command line
@pytest.mark.parametrize(
    ("more", "where"),
    [
        pytest.param(["--metric", "auto"], "in blocks that were held out", marks=LONG),
        (["--task", "search", "--threshold", "conformal:0.2"], "in blocks that were held out"),
        ([], "on the labels that it learned from (--metric auto holds out blocks)"),
        (["--task", "search"], "on the labels that it learned from (--metric auto holds out blocks)"),
    ],
)
def test_the_command_line_prints_it(more, where, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, events, kind = recording()
    pd.DataFrame({"mV": X[:, 0], "kind": labels_from_events(events, kind, n_samples=len(X))}).to_csv("rec.csv")
    assert main(["learn", "rec.csv", "--labels", "kind", "--columns", "mV", "--output", "m.joblib", *more]) == 0
    first, *table, model = capsys.readouterr().out.splitlines()
    assert first.startswith("F1 ") and f"whatever the class, {where}; what each class was found as" in first
    assert table[0].split() == ["true", "as", "a", "as", "b", "missed", "F1"]
    (a, *of_a), (b, *of_b), (none, *counts) = (line.split() for line in table[1:])
    assert (a, b, none) == ("a", "b", "background") and float(of_a[-1]) > 0.8 and float(of_b[-1]) > 0.8
    assert sum(map(int, of_a[:-1])) == sum(map(int, of_b[:-1])) == 12 and len(counts) == 3
    assert model.startswith("model: m.joblib")
