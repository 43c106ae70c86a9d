"""Settings of the documentation; build with `python -m sphinx -W -b html docs docs/_build/html`."""

import os
import subprocess
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from sktslib.distances import get_metric, metric_names

os.environ.setdefault("MPLBACKEND", "Agg")

project = "sktslib"
author = "the sktslib developers"
copyright = f"2026, {author}"
release = version = installed_version("sktslib")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "formulas.rst"]  # distance_pages.py makes pages of the formulas
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"sktslib {release}"

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types
numpydoc_show_class_members = False  # the template of a class's page does
default_role = "literal"  # `name` in a docstring is code

# The list of metric classes is made from the registry.
LIST = """Metric classes
==============

.. currentmodule:: sktslib.distances

.. autosummary::
   :toctree: generated

"""
names = "".join(f"   {type(get_metric(name)).__name__}\n" for name in metric_names())
Path(__file__).with_name("metric_classes.rst").write_text(LIST + names, encoding="utf-8")

# So are the pages of the distances, in a process of its own, in which nothing is compiled.
subprocess.run(
    [sys.executable, Path(__file__).with_name("distance_pages.py")],
    env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    check=True,
)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"_data\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
}
