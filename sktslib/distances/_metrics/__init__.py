"""Metric objects: distances with their parameters, one module a family, and the registry of their names."""

# Imports define the order of registration, and so that of `get_distance_dict`, whichever module is imported first.
from . import edit, dtw, soft, lockstep  # isort: skip  # noqa: F401
