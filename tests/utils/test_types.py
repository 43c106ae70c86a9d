"""Annotations: all that is public has some; `user_code.py` is read by a type checker."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import sktslib

MODULES = "distances search neighbors cluster metrics model_selection datasets utils.visualisation".split()
FACE = {
    f"{m}.{name}": getattr(import_module(f"sktslib.{m}"), name)
    for m in MODULES
    for name in dir(import_module(f"sktslib.{m}"))
    if inspect.isclass(getattr(import_module(f"sktslib.{m}"), name)) or name in import_module(f"sktslib.{m}").__all__
} | {name: getattr(sktslib, name) for name in sktslib.__all__}


def functions(entry):
    """A public function, or the public methods and properties of a class."""
    if not inspect.isclass(entry):
        return [entry] if inspect.isfunction(entry) else []
    members = [vars(cls).get(name) for cls in entry.__mro__ for name in vars(cls) if own(name)]
    members = [getattr(member, "fget", getattr(member, "__func__", member)) for member in members]
    return [one for one in members if inspect.isfunction(one) and one.__module__.startswith("sktslib.")]


def own(name):
    return not name.startswith("_") or name in ("__init__", "__call__", "__iter__", "__len__")


def test_what_is_public_has_annotations():
    for function in {function for entry in FACE.values() for function in functions(entry)}:
        if "<locals>" in function.__qualname__ or not Path(inspect.getfile(function)).exists():
            continue
        signature = inspect.signature(function)
        bare = [
            p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
        ]
        assert not bare, f"{function.__qualname__}: {bare}"
        assert signature.return_annotation is not signature.empty, function.__qualname__


def test_type_checkers_read_the_names_that_are_loaded_when_asked_for():
    tree = ast.parse(Path(sktslib.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    read = {alias.name: one.module for one in block.body for alias in one.names}
    assert read == {**sktslib._HOMES, **dict.fromkeys(sktslib._MODULES)}


def test_the_package_says_that_it_is_typed():
    assert (Path(sktslib.__file__).parent / "py.typed").exists()
