"""The shape of the package: its size, what a call passes, what the classes have, and beside each number its limit.

    python benchmarks/house.py [--root CHECKOUT] [--times]

Lines and tokens of code are those without docstrings, comments and blank lines. The functions and files of a call are
those of the package that one warm call enters, comprehensions left out. Names are counted where one file imports them
from another, within functions, too.
"""

import argparse
import ast
import inspect
import io
import json
import subprocess
import sys
import time
import tokenize
from pathlib import Path

import numpy as np

NO_CODE = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}
# Openings of a docstring that refer to what the reader has yet to find.
ANAPHORS = {"What", "That", "Those", "This", "These", "It", "Its", "They", "Their", "As", "Of", "So", "Such", "Both"}


class Source:
    """One file: its tree, and its tokens of code."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(text)
        documented = [node for node in ast.walk(self.tree) if isinstance(node, DOCUMENTED)]
        self.docs = [doc for node in documented if (doc := ast.get_docstring(node))]
        within = set()
        for node in documented:
            if ast.get_docstring(node) is not None:
                within.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        found = tokenize.generate_tokens(io.StringIO(text).readline)
        self.tokens = [t for t in found if t.type not in NO_CODE and t.start[0] not in within]

    @property
    def lines(self):
        """How many lines hold code."""
        return len({line for t in self.tokens for line in range(t.start[0], t.end[0] + 1)})

    @property
    def imported(self):
        """How many names come from other files of the package."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        return sum(len(n.names) for n in nodes if n.level or (n.module or "").split(".")[0] == "sktslib")


def sources(folder):
    return [Source(path) for path in sorted(folder.rglob("*.py"))]


def is_anaphor(doc):
    """Whether a docstring opens with a word that stands for another one."""
    first, second, *_ = [*doc.split(), "", ""]
    return first.strip(",.:'`") in ANAPHORS or (first, second) == ("The", "same")


def complex_functions(root):
    """How many functions ruff calls too complex, and how many too long; None without ruff."""
    limits = ["lint.mccabe.max-complexity=15", "lint.pylint.max-statements=60"]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--preview", "--exit-zero"]
    command += ["--select", "C901,PLR0915", "--output-format", "json"]
    command += [word for limit in limits for word in ("--config", limit)]
    done = subprocess.run([*command, str(root / "sktslib")], capture_output=True, text=True, check=False)
    if done.returncode:
        return None, None
    codes = [found["code"] for found in json.loads(done.stdout)]
    return codes.count("C901"), codes.count("PLR0915")


def shape(root):
    """Rows of what is counted in the files."""
    package, tests = sources(root / "sktslib"), sources(root / "tests")
    complexity, statements = complex_functions(root)
    yield "lines of code", sum(s.lines for s in package), 22_500
    yield "tokens of code", sum(len(s.tokens) for s in package), None
    yield "files", len(package), 130
    yield "lines of code of the tests", sum(s.lines for s in tests), 19_000
    yield "names imported from each other", sum(s.imported for s in package), None
    yield "docstrings that open with an anaphor", sum(is_anaphor(doc) for s in package for doc in s.docs), 0
    yield "identifiers named 'how'", sum(t.string == "how" for s in package for t in s.tokens), 0
    yield "functions of a complexity above 15", complexity, None
    yield "functions of more than 60 statements", statements, None


def passed(call, package):
    """How many functions of the package a warm call enters, and of how many files."""
    seen = set()

    def enter(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name not in COMPREHENSIONS:
            seen.add((code.co_filename, code.co_qualname))

    call()
    call()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def labeled(rng):
    """A recording of 3,000 samples with 14 repetitions, and its labels."""
    recording, labels = rng.normal(size=(3000, 1)) / 10, np.zeros(3000, int)
    for k in range(14):
        at = slice(100 + 200 * k, 180 + 201 * k)
        recording[at, 0] += 3 * np.sin(np.linspace(0, 2 * np.pi, at.stop - at.start))
        labels[at] = 1
    return recording, labels


def calls(package):
    """Rows of what calls pass."""
    from sktslib import QuerySearcher, QuerySegmenter, dtw
    from sktslib.distances import pairwise_distances

    rng = np.random.default_rng(0)
    (x, y), series = rng.normal(size=(2, 100)), rng.normal(size=(20, 50))
    sequence, (recording, labels) = rng.normal(size=6000).cumsum(), labeled(rng)
    searcher = QuerySearcher("dtw", normalize="zscore").fit(sequence[100:200])
    for name, call, limits in (
        ("dtw of 100 points", lambda: dtw(x, y), (22, 7)),
        ("pairwise_distances of 20 series", lambda: pairwise_distances(series, metric="dtw"), (45, 10)),
        ("a z-normalized search", lambda: searcher.search(sequence), (80, 14)),
        ("fit of a segmenter with labels", lambda: QuerySegmenter().fit(recording, labels), (150, 25)),
    ):
        now = passed(call, package)
        yield f"{name}: functions", now[0], limits[0]
        yield f"{name}: files", now[1], limits[1]


def classes():
    """Rows of what the estimators have."""
    from sktslib import QuerySearcher, QuerySegmenter

    ours = [cls for cls in QuerySearcher.__mro__ if cls.__module__.startswith("sktslib.")]
    names = {name for cls in ours for name in vars(cls) if not name.startswith("__")}
    yield "classes above QuerySearcher", len(ours) - 1, 4
    yield "attributes of QuerySearcher", len(names), 70
    for estimator in (QuerySearcher, QuerySegmenter):
        yield f"parameters of {estimator.__name__}", len(inspect.signature(estimator).parameters), 15


def microseconds(call, seconds=1.0):
    """The median time of a warm call."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 20 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return round(1e6 * float(np.median(times)))


def small_calls():
    """Rows of how long small calls take."""
    from sktslib import QuerySearcher, QuerySegmenter, dtw, load_ecg_example

    rng, ecg = np.random.default_rng(0), load_ecg_example()
    (x, y), sequence = rng.normal(size=(2, 100)), rng.normal(size=10_000).cumsum()
    plain = QuerySearcher("dtw").fit(sequence[500:600])
    beats = QuerySearcher("dtw", n_matches=12).fit(ecg["query"], weight=ecg["weight"])
    euclid = QuerySearcher("euclidean", normalize="zscore", n_matches=5).fit(ecg["query"], weight=ecg["weight"])
    segmenter = QuerySegmenter("twed").fit(ecg["query"], weight=ecg["weight"])
    yield "us: dtw of 100 points", microseconds(lambda: dtw(x, y)), 10
    yield "us: dtw search of 10,000 samples", microseconds(lambda: plain.search(sequence)), 350
    yield "us: 12 matches by dtw, ECG", microseconds(lambda: beats.search(ecg["sequence"])), 180
    yield "us: 5 matches by z-normalized Euclid, ECG", microseconds(lambda: euclid.search(ecg["sequence"])), 170
    yield "us: segments by twed, ECG", microseconds(lambda: segmenter.segment(ecg["sequence"])), 700


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], metavar="CHECKOUT")
    parser.add_argument("--times", action="store_true", help="how long small calls take, too")
    options = parser.parse_args()
    root = options.root.resolve()
    sys.path.insert(0, str(root))
    rows = [*shape(root), *calls(str(root / "sktslib")), *classes(), *(small_calls() if options.times else ())]
    print(f"{'what':44}{'now':>10}{'limit':>10}")
    for what, now, limit in rows:
        over = "" if None in (now, limit) or now <= limit else "  over"
        print(f"{what:44}{'-' if now is None else f'{now:,}':>10}{'' if limit is None else f'{limit:,}':>10}{over}")


if __name__ == "__main__":
    main()
