"""Validation, pictures and helpers that all parts of the package share."""
