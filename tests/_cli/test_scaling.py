"""Columns brought to one scale, by their means and deviations in the recording."""

import numpy as np
import pandas as pd
import pytest
from command_runs import printed, table
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter
from sktslib._cli import recordings

RNG = np.random.default_rng(0)
X = np.cumsum(RNG.normal(size=(300, 2)), axis=0) * [1.0, 50.0] + [3.0, -200.0]
Z = StandardScaler().fit_transform(X)


@pytest.mark.parametrize("recording", ["rec.csv", "rec.npy"])
def test_columns_are_less_their_means_over_their_deviations(recording, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recordings, "CHUNK", 128)  # two and a half
    pd.DataFrame(X, columns=["acc", "gyr"]).to_csv("rec.csv", index=False)
    np.save("rec.npy", X)
    X_query, queried = X[40:60], f"{recording} --query :40-60 --metric euclidean --scale zscore".split()
    want = QuerySearcher("euclidean", n_matches=10).fit(Z[40:60]).search(Z)
    assert want.start.tolist() != QuerySearcher("euclidean", n_matches=10).fit(X_query).search(X).start.tolist()
    frame, err = table(capsys, "search", *queried)
    np.testing.assert_array_equal(frame["start"], want.start)
    np.testing.assert_allclose(frame["distance"], want.distance, rtol=1e-9)
    assert f"columns scaled: {'acc' if recording == 'rec.csv' else '1'} less {X[:, 0].mean():.4g} over " in err
    np.save("half.npy", X.astype(np.float16))
    assert table(capsys, "search half.npy --query :40-60 --metric euclidean --scale zscore")[0]["distance"][0] == 0
    frame, _ = table(capsys, "segment", *queried)
    want = QuerySegmenter("euclidean").fit(Z[40:60]).segment(Z)
    np.testing.assert_array_equal(frame[["start", "end"]], np.column_stack([want.start, want.end]))
    np.save("inf.npy", np.where(np.arange(20)[:, None] == 7, np.inf, X[40:60]))
    _, err = printed(capsys, "search rec.npy --query inf.npy --scale zscore", code=2)
    assert "--query: the query must be finite" in err
    _, err = printed(capsys, "segment", recording, "--model", "m.skops", "--scale", "zscore", code=2)
    assert "--scale must be left out with --model" in err
