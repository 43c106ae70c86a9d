"""Long recordings in memory: validated once, and searched by chunks where that needs less memory."""

import tracemalloc

import numba
import numpy as np
import pandas as pd
import pytest
from inputs import Slices, identical, searcher_of
from test_parts import ecg

from sktslib.search import _chunks, _run, _sources


def kinds(n):
    rng = np.random.default_rng(1)
    return {
        "waves": np.sin(np.arange(n) / 7.0) + rng.normal(size=n) / 9,
        "constant": np.ones(n),
        "ever better": np.linspace(9.0, 0.0, n),
        "bad begin": np.r_[np.full(n // 8, 50.0), rng.normal(size=n - n // 8)],
    }


@pytest.mark.slow
@pytest.mark.parametrize("rule", [{}, {"mode": "windows"}, {"metric": "euclidean"}], ids=["ends", "dtw", "euclidean"])
@pytest.mark.parametrize("kind", kinds(8))
def test_the_best_matches_need_little_memory(kind, rule, tmp_path, monkeypatch):
    compiled = not numba.config.DISABLE_JIT
    n = 200_000 if compiled else 600
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=n)
    y[:] = kinds(n)[kind]
    x = np.sin(np.arange(20) / 7.0)
    monkeypatch.setattr(_sources, "CHUNK", 2000 if compiled else 50)
    searcher = searcher_of(**{"metric": "dtw", "n_matches": 4, **rule}).fit(x)
    held = np.array(y)
    identical(searcher.search(y), searcher.search(held))
    monkeypatch.setattr(_run, "LONG", n)
    identical(searcher.search(y), searcher.search(held))
    if compiled:
        assert peak_of(searcher.search, y) < y.nbytes
        if not rule:  # matches keep a copy of the recording
            assert peak_of(searcher.search, held) < 2 * y.nbytes


def peak_of(call, *given):
    """The most memory that a call takes, in bytes."""
    tracemalloc.start()
    call(*given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(("channels", "most"), [(1, 90), (2, 80), (16, 10)])
def test_chunks_of_several_channels_have_fewer_samples(channels, most, monkeypatch):
    monkeypatch.setattr(_sources, "CHUNK", 90)
    monkeypatch.setattr(_sources, "VALUES", 160)
    y = np.random.default_rng(3).normal(size=(500, channels))
    searcher, slices = searcher_of("euclidean", n_matches=3).fit(y[100:110]), Slices(y)
    identical(searcher.search(slices), searcher.search(y))
    assert slices.most == most


@pytest.mark.parametrize("few", [True, False], ids=["few", "many"])
def test_a_bar_counts_the_chunks_of_a_long_recording_in_memory(few, capsys, monkeypatch):
    y, x = ecg()
    for module, name, size in ((_run, "LONG", 1000), (_sources, "CHUNK", 100), (_run, "RARE", 6)):
        monkeypatch.setattr(module, name, size)
    searcher = searcher_of(n_matches=2 if few else 20, verbose=1).fit(x)
    searcher.search(y)
    assert ("12/12" if few else "1/1") in capsys.readouterr().err
    searcher.search(y[:999])
    assert "1/1" in capsys.readouterr().err


def test_a_sequence_is_validated_once(monkeypatch):
    y, x = ecg()
    times = pd.date_range("2020-01-01", periods=len(y), freq="10ms", tz="CET")
    counts = {"as_times": 0, "as_series": 0, "times_of": 0}

    def counted(name, call):
        def count(*given, **named):
            counts[name] += 1
            return call(*given, **named)

        return count

    searcher = searcher_of("dtw").fit([x, x[::-1], x[5:]])
    for name in counts:
        module = _chunks if name == "times_of" else _chunks.validation
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    for call in (searcher.search, searcher.profile, searcher.transform):
        call(y, times)
        assert counts == {"as_times": 1, "as_series": 1, "times_of": 1}
        counts.update(dict.fromkeys(counts, 0))
