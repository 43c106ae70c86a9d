"""Warnings of look-alikes within a false discovery rate."""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from inputs import searcher_of
from strategies import long_without_compiler

from sktslib import QuerySearcher, load_ecg_example
from sktslib.__main__ import main
from sktslib.search import FalseDiscoveryRate

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
from warned import drawn, search_of, warned

sys.path.pop(0)

RULE = FalseDiscoveryRate(0.05, random_state=0)
ZSCORE = {"metric": "euclidean", "normalize": "zscore"}


def told_of(find, *data, **rest):
    """What a call finds, and its warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = find(*data, **rest)
    assert len(caught) <= 1
    return found, str(caught[0].message) if caught else ""


def named(message):
    """The parameter that a message says to set, and its value."""
    name, value = re.search(r"set (\w+)=(\([^)]*\)|[\d.e-]+)", message).groups()
    return {name: tuple(map(float, value[1:-1].split(","))) if value[0] == "(" else float(value)}


def heart(beats=80, seed=0, size=1.0):
    """An electrocardiogram with T waves, its R peaks, and a query about one of them that is as wide as a T wave."""
    rng, t = np.random.default_rng(seed), np.arange(-100, 125) / 250
    waves = ((1.0, 0, 0.012), (-0.12, -0.03, 0.01), (-0.2, 0.03, 0.01), (0.12, -0.17, 0.025), (0.3, 0.27, 0.05))
    beat = sum(a * np.exp(-(((t - m) / s) ** 2) / 2) for a, m, s in waves)
    peaks = 150 + 225 * np.arange(beats) + rng.integers(0, 20, beats)
    y = 0.01 * rng.standard_normal(peaks[-1] + 200)
    for peak in peaks:
        y[peak - 100 : peak + 125] += (1 + 0.1 * rng.standard_normal()) * beat
    return size * y, peaks, beat[75:125]


@long_without_compiler
def test_t_waves_are_told_of_and_limits_of_scale_leave_them_out():
    y, peaks, query = heart()
    found, message = told_of(QuerySearcher(**ZSCORE, threshold=RULE).fit(query).search, y)
    false = len(found) - len(peaks)
    assert message.startswith(f"{false} of {len(found)} matches within a false discovery rate of 0.05 are far from the")
    assert "in scale (" in message and false > 60
    found, message = told_of(searcher_of(**ZSCORE, threshold=RULE, **named(message)).fit(query).search, y)
    assert message == ""
    np.testing.assert_allclose(np.sort(found.start) + 25, peaks, atol=2)


def smoothed(seed=0):
    """A recording with thirty beats, then thirty smoothed ones, and the beat."""
    rng, beat = np.random.default_rng(seed), load_ecg_example().query
    beat = beat - np.median(beat)
    y, starts = 0.06 * rng.standard_normal(6000), 100 * np.arange(30) + rng.integers(0, 30, 30)
    for start in starts:
        y[start : start + len(beat)] += beat
        y[3000 + start : 3000 + start + len(beat)] += np.convolve(beat, np.ones(9) / 9, "same")
    return y, beat


def test_groups_of_distances_are_told_of_and_a_threshold_leaves_the_farther_one_out():
    y, beat = smoothed()
    fitted = QuerySearcher("euclidean", threshold=RULE).fit(beat)
    found, message = told_of(fitted.search, y)
    assert len(found) == 60 and message.startswith("30 of 60 matches") and "in distance (" in message
    found, nothing = told_of(QuerySearcher("euclidean", n_matches=None, **named(message)).fit(beat).search, y)
    assert nothing == "" and len(found) == 30 and (found.start < 3000).all()
    assert told_of(fitted.fit_threshold, y)[1] == message  # streams do not know all matches
    assert told_of(fitted.stream().update, y)[1] == ""


def test_it_is_said_of_which_query_and_of_which_sequence():
    y, beat = smoothed()
    queries = {"wave": np.sin(np.linspace(0, 6, 30)), "beat": beat}
    flat = 0.06 * np.random.default_rng(1).standard_normal(400)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        QuerySearcher("euclidean", threshold=RULE).fit(queries).search([flat, y])
    told = [str(one.message) for one in caught if "look-alikes" in str(one.message)]
    assert len(told) == 1 and "30 of 60 matches of query 'beat' in X[1] within" in told[0]


@long_without_compiler
def test_scales_of_several_channels_are_limited_by_the_least_or_the_largest():
    y, peaks, query = heart()
    rng = np.random.default_rng(1)
    both = np.column_stack([y, y + 0.01 * rng.standard_normal(len(y))])
    fitted = QuerySearcher(**ZSCORE, threshold=RULE).fit(np.column_stack([query, query]))
    _, message = told_of(fitted.search, both)
    found, _ = told_of(
        fitted.set_params(normalize__scale_limits=named(message)["scale_limits"])
        .fit(np.column_stack([query, query]))
        .search,
        both,
    )
    assert len(found) == len(peaks)


@long_without_compiler
def test_it_is_the_same_by_chunks_and_with_jobs(tmp_path):
    y, _, query = heart()
    searcher = QuerySearcher(**ZSCORE, threshold=RULE).fit(query)
    message = told_of(searcher.search, y)[1]
    np.save(tmp_path / "y.npy", y)
    assert told_of(searcher.search, np.load(tmp_path / "y.npy", mmap_mode="r"))[1] == message != ""
    assert told_of(searcher.set_params(n_jobs=2).search, y)[1] == message


@long_without_compiler
@pytest.mark.filterwarnings("always")
def test_the_command_line_names_limits_of_scale(tmp_path, capsys):
    y, peaks, query = heart(40)
    for name, values in (("y", y), ("q", query)):
        pd.DataFrame({"mV": values}).to_csv(tmp_path / f"{name}.csv", index=False)
    argv = ["search", str(tmp_path / "y.csv"), "--query", str(tmp_path / "q.csv"), "--threshold", "fdr:0.05"]
    argv += ["--metric", "euclidean", "--normalize", "zscore"]
    assert main(argv) == 0
    told = re.search(r"warning: .* set --scale-limits (\S+) to leave", capsys.readouterr().err)
    assert main([*argv, "--scale-limits", told[1]]) == 0
    assert f"{len(peaks)} matches by" in (err := capsys.readouterr().err) and "warning" not in err


# -------------------------------------------------------------------------------------------------------------- silence
@pytest.mark.slow
@long_without_compiler
@pytest.mark.parametrize("first", [0, 12])
def test_recordings_of_one_shape_are_silent(first):
    for seed in range(first, first + 12):  # of 1,000 in benchmarks/warned.py
        rng = np.random.default_rng(seed)
        y, x, ranges = drawn(rng)
        assert not warned(search_of(rng, x), y, ranges)[0], seed
