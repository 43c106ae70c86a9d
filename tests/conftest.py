"""Settings that must stand before numba and matplotlib are imported, and Hypothesis profiles."""

import gc
import getpass
import math
import os
import tempfile
from functools import update_wrapper
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings


def cache_folder() -> Path:
    """A folder for compiled kernels, which are distinguished by all that they are made of (`cache`)."""
    # A container's user may have a number and no name.
    user = getattr(os, "getuid", getpass.getuser)()
    return Path(tempfile.gettempdir()) / f"sktslib-tests-{user}"


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
os.environ.setdefault("MPLBACKEND", "Agg")


def unwritten(shape, dtype=float, *args, _empty=np.empty, **rest):
    """``numpy.empty`` with memory that no result survives when it is read before it is written."""
    out = _empty(shape, dtype, *args, **rest)
    if out.dtype.kind == "f" and out.dtype.itemsize > 4:
        out.fill(-math.inf)
    elif out.dtype.kind in "iu" and out.dtype.itemsize == 1:  # memory that becomes floats
        flat = out.reshape(-1, order="A")
        flat[: flat.size // 8 * 8].view(float).fill(-math.inf)
    elif out.dtype.kind in "iu":
        out.fill(np.iinfo(out.dtype).max)
    return out


# Compiled kernels have memory of their own; what they leave unwritten shows where the same code runs as plain Python.
if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
    np.empty = update_wrapper(unwritten, np.empty)

# Compiling may take seconds while an example is drawn.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
SHORT = {"derandomize": True, "phases": [Phase.explicit, Phase.generate], **COMMON}
settings.register_profile("default", derandomize=True, max_examples=10, **COMMON)
settings.register_profile("more", derandomize=True, max_examples=15, **COMMON)
settings.register_profile("few", max_examples=2, **SHORT)
settings.register_profile("thorough", max_examples=320, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without searching for garbage, of which there is little, and leave them out of later searches."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


# Arrays that must not be written, and recurrences that examples in docstrings alone need, are kernels of their own.
SLOW = "check_estimators_pickle(readonly_memmap=True)]", ".recurrence", ".ERP", ".Frechet", ".MSM", ".WDDTW", ".WDTW"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests that no mark can stand at: examples, and scikit-learn's checks."""
    for item in items:
        if item.name.endswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _the_package_s_metrics_alone():
    """Forget the metrics that a doctest or another test has registered."""
    _forget()
    yield
    _forget()


def _forget():
    from sktslib.distances._metrics import registry

    for name, cls in list(registry._REGISTRY.items()):
        if issubclass(cls, registry._Registered):
            del registry._REGISTRY[name]
            for alias in [alias for alias, of in registry._ALIASES.items() if of == name]:
                del registry._ALIASES[alias]


@pytest.fixture
def _plain_kernels_may_overflow():
    """Compiled kernels do not warn."""
    import numba

    with np.errstate(all="ignore" if numba.config.DISABLE_JIT else None):
        yield


@pytest.fixture
def _nothing_is_printed(capfd):
    yield
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def _closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def dask_client():
    """A cluster of two worker processes, which gives a task up when two have died of it."""
    distributed, config = pytest.importorskip("distributed"), pytest.importorskip("dask").config
    with config.set({"distributed.scheduler.allowed-failures": 1}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The electrocardiogram written in several ways into a folder, in which commands are tried."""
    import pandas as pd
    from command_runs import ECG, TS, Y

    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"time": TS, "mV": Y}).to_csv("rec.csv", index=False)
    pd.DataFrame({"time": TS, "mV": Y, "double": 2 * Y}).to_csv("two.csv", index=False)
    pd.DataFrame({"time": ECG.tq, "mV": ECG.query, "weight": ECG.weight}).to_csv("beat.csv", index=False)
    return tmp_path
