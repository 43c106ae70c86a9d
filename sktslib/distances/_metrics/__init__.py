"""Metric objects: distances with their parameters, one module a family, and the registry of their names."""
