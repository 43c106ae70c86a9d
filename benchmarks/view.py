"""What a page of `sktslib view` waits for, and F1 of beats after ten answers of a session beside all labels.

    python benchmarks/view.py times [N]
    python benchmarks/view.py answers FOLDER [METRIC]

"times" makes a recording of N samples (default: 1e7) of float32 and says how long the pyramid takes, then how long
views take (median and 95th of 100, of parts of all sizes), the first matches of a z-normalized Euclidean search and all
of them, a new threshold, the next to ask about, and learning from answers in a recording of 1e6 samples. Then the
memory above that after the imports while a memory map of N samples of six channels is built and looked at: what is
private to the process, and what it holds at most with the pages of the file.

"answers" reads the records 100, 108 and 116 that `beats.py` describes. Behind a band-pass of 5 to 20 Hz one labeled
beat of the first five minutes is dragged over, and the session's ten questions are answered from the annotations, two
at a time, each time followed by a search with what was learned. The exported model then finds the beats of the other 25
minutes. Beside its F1 is that of the searcher that learned from all labels of the five minutes.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from answers import RECORDS, agreeing, peaks_of
from beats import AFTER, LEARNED, RATE, f1_of, labeled, read

from sktslib import QuerySearcher, Sampling, load_model
from sktslib.io import Recording
from sktslib.metrics import events_from_labels
from sktslib.preprocessing import BandPass
from sktslib.view._session import Session

M, COLUMNS = 200, 1500
EVERY = 500  # events
QUERIES = range(5, 245, 20)  # which beats are the query, one at a time


def say(session, kind, **fields):
    answer = session.handle({"type": kind, **fields})
    if answer.get("error"):
        raise RuntimeError(answer["error"])
    return answer


def done(session, kind, **fields):
    """Seconds until a job had its first matches, and until it ended."""
    before, begin = session.finds, time.perf_counter()
    job, first = say(session, kind, **fields)["job"], None
    while say(session, "progress", job=job)["state"] == "running":
        if first is None and session.finds is not before:
            first = time.perf_counter() - begin
        time.sleep(0.002)
    end = time.perf_counter() - begin
    return first or end, end


def timed(call, *args, **kwargs):
    begin = time.perf_counter()
    call(*args, **kwargs)
    return time.perf_counter() - begin


def recording(n, channels=1):
    rng = np.random.default_rng(0)
    y = np.empty((n, channels), np.float32)
    for start in range(0, n, 2**20):
        y[start : start + 2**20] = rng.standard_normal((min(2**20, n - start), channels), np.float32)
    shape = np.sin(np.linspace(0, 4 * np.pi, M)).astype(np.float32)
    for start in np.linspace(1000, n - 1000, EVERY).astype(int).tolist():
        y[start : start + M] += 3 * shape[:, np.newaxis]
    return y


def memory():
    """Private megabytes of the process, and the most that it ever held."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "VmHWM"))


def views(session, n):
    """Milliseconds of 100 views of parts of all sizes: median and 95th."""
    rng, took = np.random.default_rng(1), []
    for width in np.exp(rng.uniform(np.log(1000), np.log(n), 100)):
        first = rng.uniform(0, n - width)
        took.append(timed(say, session, "view", first=first, last=first + width, columns=COLUMNS))
    return 1e3 * np.percentile(took, [50, 95])


def times(n):
    y = recording(n)
    begin = time.perf_counter()
    session = Session(y)
    first = timed(say, session, "view", first=0, last=n, columns=COLUMNS)
    session.pyramid.wait()
    print(f"pyramid of {n:.0e} samples: {time.perf_counter() - begin:.2f} s; first view {1e3 * first:.0f} ms")
    print("views: median {:.2f} ms, 95th {:.2f} ms".format(*views(session, n)))
    warm = Session(y[:20_000])
    say(warm, "query", start=1000, end=1000 + M)
    done(warm, "search", metric="euclidean", normalize="zscore")
    start = int(np.linspace(1000, n - 1000, EVERY).astype(int)[EVERY // 2])
    say(session, "query", start=start, end=start + M)
    found = done(session, "search", metric="euclidean", normalize="zscore")
    print("search: first matches {:.2f} s, all and q-values {:.1f} s".format(*found))
    value = say(session, "threshold", value=None)["value"]
    took = [timed(say, session, "threshold", value=value * share) for share in np.linspace(0.5, 2, 50)]
    print(f"threshold: {1e3 * np.median(took):.1f} ms of {len(session.finds.start)} matches")
    took = []
    for _ in range(20):
        begin = time.perf_counter()
        asked = say(session, "next")
        say(session, "answer", id=asked["id"], yes=True)
        took.append(time.perf_counter() - begin)
    print(f"answer and next: median {1e3 * np.median(took):.1f} ms")
    job = say(session, "search", metric="euclidean", normalize="zscore")["job"]
    time.sleep(0.3)
    say(session, "cancel", job=job)
    print(f"cancel: {1e3 * timed(session.job.join):.0f} ms ({session.job.state})")
    for metric, normalize in (("euclidean", "zscore"), ("auto", None)):
        short = Session(recording(10**6))
        say(short, "query", start=1000, end=1000 + M)
        done(short, "search", metric=metric, normalize=normalize)
        for _ in range(2):
            for _ in range(5):
                asked = say(short, "next")
                start = int(asked["id"].split("-")[0])
                near = np.abs(np.linspace(1000, 10**6 - 1000, EVERY).astype(int) - start).min() < M / 2
                say(short, "answer", id=asked["id"], yes=bool(near))
            found = done(short, "relearn")
        print("relearn at 1e6, {}: first matches {:.2f} s, all and q-values {:.1f} s".format(metric, *found))
    del y, session
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "y.npy"
        out = np.lib.format.open_memmap(path, "w+", np.float32, (n, 6))
        for start in range(0, n, 2**20):
            out[start : start + 2**20] = np.random.default_rng(start).standard_normal(
                (len(out[start : start + 2**20]), 6)
            )
        del out
        size = path.stat().st_size / 2**20
        code = f"import view; view.mapped({str(path)!r})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)
        print(f"(the file has {size:.0f} MB)")


def mapped(path):
    """Memory of a process that looks at a memory map."""
    before = memory()
    begin = time.perf_counter()
    session = Session(np.load(path, mmap_mode="r"))
    session.pyramid.wait()
    built = time.perf_counter() - begin
    took = views(session, session.viewed.n)
    private, most = (after - was for after, was in zip(memory(), before, strict=True))
    print(
        f"memory map: built in {built:.1f} s, views {took[0]:.1f} and {took[1]:.1f} ms; {private:.0f} MB private, ",
        end="",
    )
    print(f"{most:.0f} MB at most with pages of the file")


def answered(signal, beats, number, metric):
    """The F1's searcher after ten answers of a session about the first minutes, and what was said."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Recording(signal, Sampling(RATE)), Path(folder) / "rec.view.json", seed=number)
        start, end = beats[number]
        say(session, "query", start=int(start), end=int(end))
        done(session, "search", metric=metric, normalize=None)
        said = ""
        for k in range(10):
            asked = say(session, "next")
            row = asked["row"]
            yes = len(agreeing(beats, SimpleNamespace(start=np.array([row["start"]]), end=np.array([row["end"]])))) == 1
            say(session, "answer", id=asked["id"], yes=yes)
            said += ("+" if yes else "-") if asked["why"] == "uncertain" else ("1" if yes else "0")
            if k % 2:
                done(session, "relearn")
        return load_model(say(session, "export", what="model")["path"], trust=True), said


def answers(folder, metric="auto"):
    print(f"{metric}\nrecord  ten answers  all labels  mean share  least  under .95")
    for record in RECORDS:
        signal, peaks = read(Path(folder) / f"ecg_mitbih{record}_annotated_360hz.npz")
        signal = BandPass(5, 20, sampling_rate=RATE).fit_transform(signal[:, None])
        known, rest = signal[:LEARNED], signal[LEARNED:]
        true, unseen = peaks[peaks < LEARNED - AFTER], peaks[peaks >= LEARNED] - LEARNED
        beats = events_from_labels(labeled(true, LEARNED))
        whole = f1_of(unseen, peaks_of(QuerySearcher(metric).fit(known, labeled(true, LEARNED)).search(rest), rest))
        scores = []
        for number in QUERIES:
            model, said = answered(known, beats, number, metric)
            scores.append(f1_of(unseen, peaks_of(model.search(rest), rest)))
            print(f"{record:6}  beat {number:3}: {scores[-1]:.4f} {said}", file=sys.stderr, flush=True)
        shares = np.array(scores) / whole
        print(
            f"{record:6}{np.mean(scores):13.4f}{whole:12.4f}{shares.mean():12.3f}{shares.min():7.3f}"
            f"{(shares < 0.95).sum():11}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["times"]:
        times(int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**7)
    elif sys.argv[1:2] == ["answers"] and len(sys.argv) in (3, 4):
        answers(*sys.argv[2:])
    else:
        sys.exit(__doc__)
