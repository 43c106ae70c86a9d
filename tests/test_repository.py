"""What the repository says elsewhere must agree with the package: pages, README, version."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

import sktslib
from sktslib import distances
from sktslib.distances import get_metric, metric_names

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("sktslib", "tests", "examples", "benchmarks")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def code_blocks(markdown):
    return re.findall(r"^```\w*\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL)


def test_readme_opens_with_the_two_commands():
    readme = read("README.md")
    assert readme.startswith("# sktslib\n")
    assert code_blocks(readme)[:2] == [
        "python -m pip install -e . && python -m sktslib\n",
        'python -m pip install -e ".[test]" && python -m pytest\n',
    ]


def test_the_installed_version_is_the_package_s():
    assert version("sktslib") == sktslib.__version__


def test_the_hooks_use_the_ruff_that_the_tests_use():
    hook = re.search(r"ruff-pre-commit\n +rev: v(\d+\.\d+)\.", read(".pre-commit-config.yaml"))
    pinned = re.search(r'"ruff==(\d+\.\d+)\.', read("pyproject.toml"))
    assert hook[1] == pinned[1]


CLASSES = {type(get_metric(name)).__name__ for name in metric_names()}  # whose list is made from the registry


def test_the_reference_lists_what_is_public():
    assert {*distances.__all__} - CLASSES - {"Metric"} <= {line.strip() for line in read("docs/api.rst").splitlines()}


# Phrases that are not said in English, in docstrings, comments and messages of the package.
PHRASES = re.compile(r"\b(is none|are none|anew|the same of|so many as|what travels|there is none|there are none)\b")


def test_the_package_speaks_plain_english():
    for path in sorted((ROOT / "sktslib").rglob("*.py")):
        found = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if PHRASES.search(line)]
        assert not found, f"{path.name}: {found}"


BRITISH = re.compile(
    r"(?<![a-z])((un)?labelled|(un)?labelling|neighbour\w*|centred?|behaviour\w*|colour\w*|favour\w*|licence"
    r"|(re|un)?(normal|standard|minim|maxim|penal|optim|initial|general|special|summar|vector|organ|recogn)is"
    r"(e[drs]?|ing|ations?))(?![a-z])",
    flags=re.IGNORECASE,
)
AS_WRITTEN = {"test_repository.py", "_names.py"}  # which hold the forms themselves, to know them
TITLES = re.compile("On the generalised distance in statistics")  # of papers, which are cited as they are


@pytest.mark.parametrize("where", ["*.md", "docs/*.rst", *(f"{d}/**/*.py" for d in FOLDERS)])
def test_files_are_spelled_the_american_way(where):
    pages = [page for page in ROOT.glob(where) if page.name not in AS_WRITTEN]
    assert pages
    for page in pages:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            found = BRITISH.search(TITLES.sub("", line))
            assert found is None, f"{page.relative_to(ROOT)}, line {number}: {found[0]}"
