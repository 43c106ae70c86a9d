"""benchmarks/fuzz.py keeps working: a case of each area (two in plain Python), and what it does with a difference."""

import sys
from pathlib import Path

import numba
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import fuzz
from fuzz_cases import Case, Nudge

SEED = 6  # of which few cases need kernels that nothing else does


@pytest.mark.slow
@pytest.mark.parametrize("area", fuzz.AREAS)
def test_the_answers_of_an_area_agree(area):
    if numba.config.DISABLE_JIT and area == "long":
        pytest.skip("thousands of samples in plain loops")
    cases = [fuzz.run_case(area, SEED, number) for number in range(2 if numba.config.DISABLE_JIT else 1)]
    assert not any(case.differences for case in cases)
    assert sum(case.count + case.own for case in cases) > 0


def test_what_is_not_close_is_a_difference():
    def wanted(change):
        a = change(values)
        return a[0] - a[1]

    values = np.array([1e8 + 1, 1e8])
    case = Case(np.random.default_rng(0))
    assert case.close("rounded", 1 + 1e-11, 1.0)
    assert case.close("as rounded as its input", 1 + 1e-8, 1.0, wanted)
    assert not case.close("wrong", 1 + 1e-4, 1.0, wanted)
    assert not case.close("infinite", np.inf, 1.0)
    assert not case.close("finite", 1.0, np.inf)
    assert case.close("both infinite", np.inf, np.inf)
    assert not case.close("nothing", np.nan, np.nan)
    assert not case.close("shape", [1.0], 1.0)
    assert not case.equal("other", [1, 2], [1, 3])
    assert case.count == 9
    assert [what for what, *_ in case.differences] == ["wrong", "infinite", "finite", "nothing", "shape", "other"]


def test_a_nudge_keeps_equal_values_equal():
    v = np.array([0.0, 1.5, -3.25, 1.5, 1e300, np.inf])
    got = Nudge(3)(v)
    assert got[0] == 0 and got[1] == got[3] and got[5] == np.inf
    np.testing.assert_allclose(got, v, rtol=1e-15)
    assert (Nudge(4)(v) != got).any()


def test_differences_are_reported_with_the_command_that_repeats_them(monkeypatch, capsys):
    def area(case):
        """One that fails sometimes."""
        case.show(x=case.between(1, 6))
        case.equal("value", 1, 1)
        if case.shown["x"] > 3:
            raise RuntimeError("too large")

    monkeypatch.setitem(fuzz.AREAS, "own", area)
    assert fuzz.main(["--cases", "9", "--only", "own", "--seed", "5"]) == 1
    printed = capsys.readouterr().out
    names = [line.split()[-1] for line in printed.splitlines() if "--repeat" in line]
    assert "DIFFERENCE own RuntimeError: too large (in the case itself)" in printed
    assert names and fuzz.main(["--repeat", names[0]]) == 1
    assert "too large" in capsys.readouterr().out
    assert fuzz.main(["--list"]) == 0
