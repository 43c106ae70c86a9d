"""Example data that comes with the package."""

from ._ecg import load_ecg_example

__all__ = ["load_ecg_example"]
