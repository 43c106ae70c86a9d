"""Recordings as people have them: values with times, names, units and marks, from files and other packages' objects."""

from ._annotations import read_annotations
from ._read import read
from ._recording import Recording

__all__ = ["Recording", "read", "read_annotations"]
