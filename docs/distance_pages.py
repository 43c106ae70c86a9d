"""Pages of the distances, made from the registry.

`python docs/distance_pages.py` writes `docs/distances/`: a page and a picture of each distance, and the table that
`distances.rst` includes. conf.py runs it, without the compiler, because a few short pairs are not worth the wait for
it. Definition and formula stand in formulas.rst, parameters in the docstring of the class, papers in definitions.rst,
and facts on the class; none of them is written twice.
"""

import inspect
import re
import sys
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sktslib import load_ecg_example
from sktslib.distances import elastic_distances, get_metric, lockstep_distances, metric_names, time_distances
from sktslib.distances._kernels.dispatch import bounds_of

DOCS = Path(__file__).resolve().parent
OUT = DOCS / "distances"
FAMILIES = {
    "elastic": "Elastic: series may be stretched in time, and have different lengths",
    "lockstep": "Lockstep: point *i* is compared with point *i*",
    "time": "Time: how far one series runs ahead or behind",
}
# Values of parameters that suit the pair of the pictures, where the defaults know nothing of the data.
SUITED = {"adtw": {"omega": 0.1}, "edr": {"eps": 0.2}, "lcss": {"eps": 0.2}, "soft_dtw": {"gamma": 0.1}}
NO, YES = "no", "yes"


class Entry(NamedTuple):
    """A section of formulas.rst."""

    text: str
    papers: tuple  # first authors and year, such as "Sakoe & Chiba 1978"


def entries():
    """Sections of formulas.rst by the names of the distances."""
    parts = re.split(r"^(\w+)\n~+\n", (DOCS / "formulas.rst").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        text, _, papers = text.partition(":Papers:")
        found[name] = Entry(text.strip(), tuple(p.strip() for p in papers.split(";") if p.strip()))
    return found


def references():
    """The list at the end of definitions.rst, one line each."""
    text = (DOCS / "definitions.rst").read_text(encoding="utf-8").partition("\nReferences\n")[2]
    return [" ".join(item.split()) for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]


def reference(paper):
    """The one reference whose first author and year are those of `paper`."""
    author, year = re.match(r"([^ ,]+).* (\d{4})$", paper).groups()
    found = [r for r in references() if r.startswith(f"{author} ") and re.search(rf"\b{year}\b", r)]
    # Of an author with two papers in a year, the second author decides.
    second = re.search(r"& (\w+)", paper)
    found = [r for r in found if second is None or second[1] in r]
    if len(found) != 1:
        raise ValueError(f"{paper!r} must be one reference of definitions.rst. Got {len(found)}.")
    return found[0]


# -------------------------------------------------------------------------------------------------------------- facts
def segments(metric):
    """Whether a segmentation with the metric is not refused."""
    try:
        metric._check_search("segmentation")
    except ValueError:
        return NO
    return NO if metric.family == "time" else YES


def bounded(metric):
    """Whether lower bounds spare computations."""
    if metric.family != "elastic" or not metric._has_path:
        return NO
    return YES if bounds_of(metric._query(np.zeros((1, 4)), None, 4).record) else NO


def lengths(metric):
    """What becomes of series of unequal lengths."""
    if metric.family != "lockstep":
        return "compared as they are"
    try:
        metric([1.0, 2.0, 4.0], [1.0, 2.0])
    except ValueError:
        return "an error"
    return "the longer one is interpolated to the length of the shorter"


def function_of(metric):
    """The public function, as a link; a dash where there is none."""
    cls = type(metric)
    for module in (elastic_distances, lockstep_distances, time_distances):
        for name in (cls.name, f"{cls.name}_distance"):
            if name in module.__all__:
                return f":func:`~{module.__name__}.{name}`"
    return "none"


def facts(metric):
    """Rows of the table of a page."""
    cls = type(metric)
    names = [cls.name, cls.full_name, *cls.aliases]
    return {
        "Names": ", ".join(f'``"{name}"``' for name in names),
        "Class": f":class:`~sktslib.distances.{cls.__name__}`",
        "Function": function_of(metric),
        "Symmetric": YES if metric.is_symmetric else NO,
        "Metric": YES if metric.is_metric else NO,
        "Compares times": YES if cls.uses_times else NO,
        "Several channels": YES if cls.multivariate else NO,
        "Unequal lengths": lengths(metric),
        "Band (``window``)": YES if "window" in metric.get_params() else NO,
        "Search by windows": NO if cls.family == "time" else YES,
        "Subsequence search": YES if cls.family == "elastic" and cls._has_path else NO,
        "Segmentation": segments(metric),
        "Lower bounds": bounded(metric),
    }


# -------------------------------------------------------------------------------------------------------------- pages
def list_table(rows, widths, header=()):
    """Lines of a list-table."""
    lines = [".. list-table::", f"   :widths: {widths}", *header, ""]
    for row in rows:
        lines += [f"   {'*' if not k else ' '} - {cell}" for k, cell in enumerate(row)]
    return [*lines, ""]


def parameters(metric):
    """The parameters as the class describes them."""
    from numpydoc.docscrape import NumpyDocString  # of the documentation's tools, which tests do without

    lines = []
    for parameter in NumpyDocString(inspect.getdoc(type(metric)))["Parameters"]:
        kind = parameter.type.replace("*", r"\*")
        lines += [f"``{parameter.name}`` : {kind}", *(f"   {line}" for line in parameter.desc), ""]
    return ["Parameters", "----------", "", *lines] if lines else []


def page(metric, entry):
    """The page of a distance."""
    cls = type(metric)
    title = f"{cls.full_name} (``{cls.name}``)"
    sources = [f"- {reference(paper)}" for paper in entry.papers]
    return "\n".join(
        [
            ".. default-role:: literal",
            "",
            title,
            "=" * len(title),
            "",
            entry.text,
            "",
            f".. image:: {cls.name}.png",
            f"   :alt: Two heart beats as {cls.name} aligns them",
            "",
            f"Two heart beats, raised by 1 mV so that every distance is defined; the same pair on each of these pages, "
            f"compared by ``{suited(metric)}``.",
            "",
            *parameters(metric),
            "Facts",
            "-----",
            "",
            "With the default parameters, unweighted:",
            "",
            *list_table(facts(metric).items(), "30 70"),
            *(["Papers", "------", "", *sources, ""] if sources else []),
            "Rules that distances share (weights, channels, bands, unequal lengths) are in :doc:`/definitions` and "
            ":doc:`/definitions_distances`.",
            "",
        ]
    )


def table(metrics, texts):
    """The table of all distances, and the list of their pages."""
    lines = []
    for family, title in FAMILIES.items():
        members = [metric for metric in metrics if metric.family == family]
        rows = [("distance", "what it does", "symmetric", "metric", "times", "bounds")]
        for metric in members:
            name = type(metric).name
            first = re.match(r".*?[.:](?=\s|$)", texts[name].text, flags=re.DOTALL)[0]
            marks = (metric.is_symmetric, metric.is_metric, metric.uses_times, bounded(metric) == YES)
            what = re.sub(r":doc:`(\w+) <\w+>`", r"``\1``", " ".join(first[:-1].split()))
            rows.append((f":doc:`{name} </distances/{name}>`", what, *("yes" if mark else "" for mark in marks)))
        lines += [f"**{title}**", "", *list_table(rows, "17 51 9 8 7 8", ["   :header-rows: 1"])]
    listed = [f"   /distances/{type(metric).name}" for metric in metrics]
    return "\n".join([*lines, ".. toctree::", "   :hidden:", "", *listed, ""])


# ----------------------------------------------------------------------------------------------------------- pictures
def suited(metric):
    """The metric with parameters that suit the pair."""
    return get_metric(metric, SUITED.get(metric.name)) if metric.name in SUITED else metric


def pair():
    """Two beats of one length, in mV raised by 1: the query, and one whose R peak is six samples earlier."""
    ecg = load_ecg_example()
    return ecg.query + 1.0, ecg.sequence[696 : 696 + len(ecg.query)] + 1.0


def pairs_of(metric, x, y):
    """Pairs of points that meet (2, K), how much each counts, and what is known of all cells (None: nothing)."""
    together = np.tile(np.arange(len(x)), (2, 1))
    if metric.family == "lockstep":
        return together, np.ones(len(x)), None
    if metric.name == "sbd":
        shift = int(np.correlate(y, x, "full").argmax()) - (len(x) - 1)
        met = np.stack([together[0], together[1] + shift])
        met = met[:, (met[1] >= 0) & (met[1] < len(y))]
        return met, np.ones(met.shape[1]), None
    if metric.family == "time":
        alignment = get_metric("dtw").distance(x, y)
    elif not metric._has_path:
        share = metric.expected_alignment(x, y)
        met = np.array(np.nonzero(share > 0.02))
        return met, share[tuple(met)], share
    else:
        alignment = metric.distance(x, y)
    return alignment.path, np.ones(alignment.path.shape[1]), alignment.cost_matrix


def draw(metric, file):
    """The alignment of the pair, and its cost matrix where there is one."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    x, y = pair()
    met, share, matrix = pairs_of(metric, x, y)
    figure = Figure(figsize=(8, 3) if matrix is not None else (5, 3), layout="constrained")
    axes = figure.subplots(1, 2, width_ratios=(5, 3), squeeze=False)[0] if matrix is not None else [figure.subplots()]
    ax, above = axes[0], 2.2
    lines = [[(i, x[i] + above), (j, y[j])] for i, j in met.T]
    ax.add_collection(LineCollection(lines, colors=[(0.45, 0.45, 0.45, 0.9 * s) for s in share], linewidths=0.8))
    ax.plot(x + above, color="C0", label="query")
    ax.plot(y, color="C1", label="other beat")
    ax.set(xlabel="sample", yticks=[], title=f"{suited(metric)}: {metric(x, y):.4g}")
    ax.legend(loc="upper right", fontsize="small", frameon=False)
    ax.margins(y=0.08)
    if matrix is not None:
        finite = np.where(np.isfinite(matrix), matrix, np.nan)
        axes[1].imshow(finite.T, origin="lower", cmap="Blues", aspect="equal", interpolation="nearest")
        if metric._has_path:
            axes[1].plot(*met, color="C3", linewidth=1.2)
        what = "accumulated cost and path" if metric._has_path else "share of each pair"
        axes[1].set(xlabel="query", ylabel="other beat", title=what)
    figure.savefig(file, dpi=100)


def main(pictures=True):
    """Write all files; those that say what they said stay as they are, so that Sphinx does not read them again."""
    texts = entries()
    metrics = [get_metric(name) for family in FAMILIES for name in metric_names(family)]
    OUT.mkdir(exist_ok=True)
    pages = {f"{metric.name}.rst": page(metric, texts[metric.name]) for metric in metrics}
    pages["table.txt"] = table(metrics, texts)
    for file in set(chain(OUT.glob("*.rst"), OUT.glob("*.png"))):
        if file.stem not in texts:
            file.unlink()
    for name, text in pages.items():
        file = OUT / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    if pictures:
        for metric in metrics:
            draw(suited(metric), OUT / f"{metric.name}.png")


if __name__ == "__main__":
    main(pictures="--without-pictures" not in sys.argv)
