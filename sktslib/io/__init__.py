"""Recordings: values with times, names, units and marks, from files and from objects of other packages."""

from ._annotations import read_annotations
from ._read import read
from ._recording import Recording

__all__ = ["Recording", "read", "read_annotations"]
