"""Models in files: what is saved, what is loaded, and what is refused."""

import json
import os
import zipfile
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from command_runs import ECG, Y, printed, table

from sktslib import QuerySearcher, QuerySegmenter, load_model
from sktslib._models import save
from sktslib.distances import CallableMetric, get_metric, metric_names, register_metric
from sktslib.metrics import labels_from_events
from sktslib.search import FalseDiscoveryRate

EVENTS = np.column_stack([ECG.beats - 12, ECG.beats + 18]).clip(0)[ECG.beats < len(ECG.sequence) - 20] // 4
OWN = "The 'path' parameter of load_model must name a file that `sktslib learn` saved. Got "
SAVED = "--model must name a file that `sktslib learn` saved. Got "


@pytest.fixture
def files(files):
    few = ECG.sequence[::4]
    labels = labels_from_events(EVENTS, n_samples=len(few))
    frame = pd.DataFrame({"time": ECG.ts[::4], "mV": few, "late": np.roll(few, 1), "beat": labels})
    frame.to_csv("rec.csv", index=False)
    frame["time"] = pd.Timestamp("2024-05-01") + pd.to_timedelta(frame["time"], unit="s")
    frame.rename(columns={"time": "date"}).to_csv("dates.csv", index=False)
    return files


def write_schema(path, text):
    """Write what skops would, but for the objects."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("schema.json", text)


@pytest.fixture
def skops():
    return pytest.importorskip("skops.io")


# ---------------------------------------------------------------------------------------------------- saved and loaded
LEARN = [
    "segment rec.csv",
    "segment rec.csv --n-templates 2",
    "segment rec.csv --self-train 2 --labeled 0-200 --partial --lengths 4,40 --background 0.3",
    "segment dates.csv --max-gap 1s --polarity any --threshold 2.5",
    "segment rec.csv --metric auto",
    "segment dates.csv --metric twed",
    "search rec.csv",
    "search rec.csv --metric auto",
    "search dates.csv --metric twed --max-gap 1s",
    "search rec.csv --normalize zscore --scale-limits 0.5,2 --offset-limit 3",
    "search rec.csv --candidates windows --scales 0.8,1.25 --metric mahalanobis",
    "search rec.csv --min-length 4 --max-length 30 --nan-policy omit --threshold conformal:0.2",
    "search rec.csv --channel-lag 0,1 --channel-tolerance 1 --channel-min-votes 1 --polarity channels",
    "search dates.csv --channel-lag 0s,0.04s --threshold percentile:1",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", LEARN)
def test_a_model_finds_the_same_whichever_way_it_was_saved(files, capsys, skops, line):
    task, recording, *more = line.split()
    columns = "mV,late" if "channel" in line else "mV"
    for name in ("m.skops", "m.joblib"):
        out = printed(
            capsys, f"learn {recording} --labels beat --columns {columns} --task {task}", "--output", name, *more
        ).out
        trust = " --trust; a file of another's making" if name == "m.joblib" else ")"
        assert f"model: {name} (sktslib {task} RECORDING --model {name}{trust}" in out
    frame, _ = table(capsys, f"{task} {recording} --model m.skops")
    same, _ = table(capsys, f"{task} {recording} --model m.joblib --trust")
    pd.testing.assert_frame_equal(frame, same, check_exact=True)
    assert len(frame)


@pytest.mark.filterwarnings("ignore:The class .* cannot be told from")
def test_classes_and_rates_are_saved(tmp_path, skops):
    few = ECG.sequence[::4, np.newaxis]
    kinds = labels_from_events(EVENTS, np.arange(len(EVENTS)) % 2 + 1, n_samples=len(few))
    rate = FalseDiscoveryRate(0.5, random_state=0)
    for model in (
        QuerySegmenter().fit(few, kinds),
        QuerySearcher("dtw", threshold=rate).fit(ECG.query).fit_threshold(Y),
    ):
        save(model, tmp_path / "m.skops")
        loaded = load_model(tmp_path / "m.skops")
        got, want = (getattr(one, "segment", None) or one.search for one in (loaded, model))
        pd.testing.assert_frame_equal(got(Y).to_frame(), want(Y).to_frame(), check_exact=True)


def test_each_metric_is_known(tmp_path, skops):
    for metric in map(get_metric, metric_names()):
        save(metric, tmp_path / "m.skops")
        assert load_model(tmp_path / "m.skops", trust=False) == metric


# ------------------------------------------------------------------------------------------------------ refused to save
def area(x, y):
    return abs(x.sum() - y.sum())


def test_a_metric_of_one_s_own_is_refused_by_name_before_the_work(files, capsys, skops):
    register_metric("area", area)
    argv = "learn rec.csv --labels beat --columns mV --task search --metric area --output"
    err = printed(capsys, argv.replace("rec.csv", "missing.csv"), "m.skops", code=2).err
    assert "--output: a .skops file must hold only types of sktslib and scikit-learn. Got test_models.Area. " in err
    assert not os.path.exists("m.skops")
    printed(capsys, argv, "m.joblib")
    assert len(table(capsys, "search rec.csv --columns mV --model m.joblib --trust")[0]) > 3
    for metric, name in ((CallableMetric(area), "area"), (CallableMetric(lambda x, y: 0.0), "<lambda>")):
        with pytest.raises(ValueError, match=rf"Got .*CallableMetric, test_models\.{name}\."):
            save(QuerySearcher(metric).fit(ECG.query), "m.skops")
    assert not os.path.exists("m.skops")


@pytest.mark.parametrize("name", ["model", "m.pkl", "m.skops.zip"])
def test_the_ending_says_how_a_model_is_saved(files, capsys, name):
    err = printed(capsys, f"learn missing.csv --labels beat --output {name}", code=2).err
    assert f"--output must end in .skops or, to be saved by joblib, in .joblib. Got '{name}'" in err


def test_without_skops_the_line_that_installs_it(files, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skops", None)
    write_schema("m.skops", "{}")
    install = 'the package skops is needed, which is not installed. Install it (pip install "sktslib[models]")'
    err = printed(capsys, "learn missing.csv --labels beat --output n.skops", code=2).err
    assert f"error: --output: {install}, or end the name in .joblib.\n" in err
    assert f"error: --model: {install}.\n" in printed(capsys, "search rec.csv --model m.skops", code=2).err


# ------------------------------------------------------------------------------------------------------ refused to load
class Harm:
    """An object whose pickle makes a folder when it is loaded."""

    def __reduce__(self):
        return os.mkdir, ("harm",)


@pytest.mark.parametrize("compress", [0, 3])
def test_joblib_runs_nothing_unless_it_is_trusted(files, capsys, compress):
    joblib.dump(Harm(), "m.joblib", compress=compress)
    err = printed(capsys, "search rec.csv --model m.joblib", code=2).err
    assert f"{SAVED}'m.joblib', which skops did not save. If joblib did, load it with --trust: this runs what" in err
    assert not os.path.exists("harm")
    err = printed(capsys, "search rec.csv --model m.joblib --trust", code=2).err
    assert "--model must be learned with --task search. Got 'm.joblib', a NoneType." in err
    assert os.path.exists("harm")


NO_MODELS = {
    "parquet": b"PAR1\x15\x04\x15\x10" + bytes(40) + b"PAR1",
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "csv_with_x": b"x,y\n1,2\n",
    "csv": b"time,mV\n0,1\n",
    "csv_with_(": b"(a),b\n1,2\n",
    "empty": b"",
    "one_byte": b"P",
    "gzip": b"\x1f\x8b\x08\0cut",
    "pickle": b"\x80\x04cut",
    "lzma": b"\xfd7zXZ\0cut",
}


@pytest.mark.parametrize("trust", ["", "--trust"])
@pytest.mark.parametrize("content", NO_MODELS.values(), ids=NO_MODELS)
def test_a_wrong_file_is_one_line(files, capsys, content, trust):
    (files / "m").write_bytes(content)
    out, err = printed(capsys, f"search rec.csv --model m {trust}", code=2)
    assert out == "" and err.startswith(f"sktslib: error: {SAVED}'m'") and err.count("\n") == 1
    assert ("which skops did not save" in err) is (not trust)


def test_what_cannot_be_opened(files, capsys):
    (files / "folder").mkdir()
    for name, reason in {"folder": "Is a directory", "missing": "No such file or directory"}.items():
        for trust in ("", "--trust"):
            err = printed(capsys, f"search rec.csv --model {name} {trust}", code=2).err
            assert err.startswith(f"sktslib: error: {SAVED}'{name}': ") and (reason in err or os.name == "nt")


def test_files_cut_and_damaged(files, capsys, skops):
    searcher = QuerySearcher("euclidean", n_matches=3).fit(pd.DataFrame({"mV": ECG.query}))
    save(searcher, "m.skops")
    joblib.dump(searcher, "m.joblib")
    want, rng = table(capsys, "search rec.csv --model m.skops")[0], np.random.default_rng(0)
    for name, trust in {"m.skops": False, "m.joblib": True}.items():
        whole = (files / name).read_bytes()
        for end in rng.integers(0, len(whole), 40):
            (files / "cut").write_bytes(whole[:end])
            with pytest.raises(ValueError, match=OWN) as error:
                load_model("cut", trust)
            assert "\n" not in str(error.value)
    whole, unread = (files / "m.skops").read_bytes(), 0
    for place in rng.integers(0, len(whole), 300):
        (files / "m").write_bytes(whole[:place] + bytes([whole[place] ^ 1 << rng.integers(8)]) + whole[place + 1 :])
        try:
            loaded = load_model("m", False)
        except ValueError as error:
            unread += str(error).startswith(OWN) and "\n" not in str(error)
        else:
            np.testing.assert_array_equal(loaded.query_, ECG.query[:, None])
            unread += 1
    assert unread == 300 and len(want) == 3


def test_other_zip_files(files, capsys, skops):
    np.savez("m.npz", a=Y)
    os.replace("m.npz", "m.skops")
    for schema in (None, "{", "[]", '{"protocol": 2}'):
        if schema is not None:
            write_schema("m.skops", schema)
        err = printed(capsys, "search rec.csv --model m.skops", code=2).err
        assert err.startswith(f"sktslib: error: {SAVED}'m.skops': ") and err.count("\n") == 1


def test_types_that_are_not_known_are_not_built(files, capsys, skops):
    skops.dump({"model": partial(os.mkdir, "harm")}, "m.skops")
    err = printed(capsys, "search rec.csv --model m.skops", code=2).err
    assert f"{SAVED}'m.skops', which holds types that are not loaded: functools.partial, posix.mkdir." in err or (
        os.name == "nt" and "which holds types that are not loaded: functools.partial" in err
    )
    assert not os.path.exists("harm")


@pytest.mark.parametrize(
    ("module", "name"), [("sktslib.io._library", "import_module"), ("sktslib.io._library", "library")]
)
def test_what_our_modules_hold_is_not_called(files, capsys, skops, module, name):
    skops.dump(pd.Timedelta("1s").to_pytimedelta(), "m.skops")  # which is known, and made by a call
    with zipfile.ZipFile("m.skops") as file:
        schema = json.loads(file.read("schema.json"))
    assert (schema["__module__"], schema["__class__"]) == ("datetime", "timedelta")
    schema |= {"__module__": module, "__class__": name}
    write_schema("m.skops", json.dumps(schema))
    err = printed(capsys, "search rec.csv --model m.skops", code=2).err
    assert f"which holds types that are not loaded: {module}.{name}." in err


@pytest.mark.parametrize("way", ["skops", "joblib"])
def test_objects_that_are_no_models(files, capsys, request, way):
    if way == "skops":
        request.getfixturevalue("skops")
    line = f"segment rec.csv --columns mV --model m.{way} --trust"
    for model, said in {
        "a dict": ({"a": 1}, f"--model must be learned with --task segment. Got 'm.{way}', a dict."),
        "a searcher": (QuerySearcher().fit(Y[:9]), f"Got 'm.{way}', which is for `sktslib search`."),
        "not fitted": (QuerySegmenter(), f"--model must be fitted, as `sktslib learn` saves it. Got 'm.{way}'"),
    }.values():
        save(model, f"m.{way}")
        assert said in printed(capsys, line, code=2).err
    segmenter = QuerySegmenter().fit(Y[40:105])
    del segmenter._rules  # as of a version that had another name for it
    save(segmenter, f"m.{way}")
    err = printed(capsys, line, code=2).err
    assert f"--model must be learned by this version of sktslib. Got 'm.{way}', in which something is missing" in err
