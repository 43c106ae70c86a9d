"""Validation, plots and the helpers shared by every part of the package."""
