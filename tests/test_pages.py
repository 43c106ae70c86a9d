"""Code on the pages runs as pasted, a page from its top to its end, and prints what the page shows below it."""

import ast
import re
import textwrap
from pathlib import Path

import pytest
import sklearn

from sktslib.distances import get_metric, metric_names

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = {"metric_classes.rst", "sg_execution_times.rst"}  # when the documentation is built
PAGES = sorted(page for page in DOCS.glob("*.rst") if page.name not in MADE)
IN_MARKDOWN = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
IN_RST = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:(?: {3}.*)?\n)+)", flags=re.MULTILINE)


def blocks_of(page):
    """Language, code and line of each block of a page."""
    text = page.read_text(encoding="utf-8")
    for found in (IN_MARKDOWN if page.suffix == ".md" else IN_RST).finditer(text):
        yield found[1], textwrap.dedent(found[2]).strip("\n"), text.count("\n", 0, found.start(2)) + 1


WITH_CODE = [
    page for page in [ROOT / "README.md", *PAGES] if any(language == "python" for language, *_ in blocks_of(page))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
@pytest.mark.usefixtures("_closed_figures")
def test_code_runs_as_pasted(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # for files that it writes
    names = {"__name__": "__main__"}
    with sklearn.config_context():
        for language, code, line in blocks_of(page):
            if language == "python":
                capsys.readouterr()
                exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
            elif language == "output":
                assert capsys.readouterr().out.rstrip().splitlines() == code.splitlines(), f"{page.name}, line {line}"


def test_pages_have_code():
    names = {page.name for page in WITH_CODE}
    assert names >= {
        "README.md",
        "find_a_pattern.rst",
        "cut_repetitions.rst",
        "learn_from_labels.rst",
        "compare_series.rst",
    }


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md")]), ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert re.match(r"https?://|mailto:", target) or (page.parent / target).exists(), target


# Phrases that are no idiomatic English, or none of the field's words (a hole in time is a gap), and what is fine.
UNIDIOMATIC = re.compile(
    r"\b(is none|are none|anew|[Tt]he same (of|holds of)|so many as|so few as|[Ww]hat travels|numbers more|as ever"
    r"|(that|which) (is|are) no|will do|all else|holes?|[Bb]eside|more far|by turns|[Tt]ells? of|(a|the|its) begin"
    r"|begins|began|begun|[Nn]o (result|neighbor|match) depends|(work|it) has come|to begin with|told otherwise|lies?"
    r"|[Ww]hat else|[Nn]obody|[Ff]orth and back|that are there|takes? along|of least (distance|cost|mean|inertia|sum)"
    r"|(rows?|columns?|series|samples|MB) a (channel|row|series|job|second))\b|\b[Aa]s (of|those of|that of) [`:]"
)
FINE = re.compile(r"\bthere (is|are) none\b")


def prose_of(page):
    """Text of a page without its blocks of code, on one line."""
    return " ".join((IN_MARKDOWN if page.suffix == ".md" else IN_RST).sub("", page.read_text(encoding="utf-8")).split())


def docstrings():
    """Docstrings of what the reference lists, and of the public methods of its classes."""
    listed = {*re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), flags=re.MULTILINE)}
    listed |= {type(get_metric(name)).__name__ for name in metric_names()}
    for path in sorted((ROOT / "sktslib").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in listed:
                for one in (node, *node.body):
                    if isinstance(one, (ast.ClassDef, ast.FunctionDef)) and not one.name.startswith("_"):
                        text = (ast.get_docstring(one) or "").partition("Examples\n---")[0]
                        yield f"{path.stem}: {node.name}{'' if one is node else '.' + one.name}", " ".join(text.split())


PLACES = {page.name: prose_of(page) for page in [ROOT / "README.md", *PAGES]} | dict(docstrings())


@pytest.mark.parametrize("place", PLACES)
def test_prose_is_idiomatic(place):
    text = FINE.sub("", PLACES[place])
    found = [text[max(hit.start() - 40, 0) : hit.end() + 40] for hit in UNIDIOMATIC.finditer(text)]
    assert not found, f"{place}: say it with the words of the field. Got {found}."


def test_every_distance_has_a_page(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    from distance_pages import bounded, entries, facts, reference, table

    metrics, texts = [get_metric(name) for name in metric_names()], entries()
    assert set(texts) == set(metric_names())
    assert all(".. math::" in entry.text for entry in texts.values())
    listed = table(metrics, texts)
    for metric in metrics:
        assert f":doc:`{metric.name} </distances/{metric.name}>`" in listed
        assert facts(metric)["Metric"] == ("yes" if metric.is_metric else "no")
        assert all(reference(paper).endswith(f"{paper[-4:]}.") for paper in texts[metric.name].papers)
    assert facts(get_metric("short_time_series"))["Unequal lengths"] == "an error"
    assert facts(get_metric("frechet"))["Segmentation"] == facts(get_metric("sbd"))["Subsequence search"] == "no"
    assert [bounded(get_metric(name)) for name in ("dtw", "soft_dtw", "euclidean")] == ["yes", "no", "no"]
