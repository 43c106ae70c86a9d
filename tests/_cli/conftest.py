"""What the commands are tried on."""

import pandas as pd
import pytest
from command_runs import ECG, TS, Y


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The electrocardiogram written in several ways into a folder, in which the test stands."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"time": TS, "mV": Y}).to_csv("rec.csv", index=False)
    pd.DataFrame({"time": TS, "mV": Y, "double": 2 * Y}).to_csv("two.csv", index=False)
    pd.DataFrame({"time": ECG.tq, "mV": ECG.query, "weight": ECG.weight}).to_csv("beat.csv", index=False)
    return tmp_path
