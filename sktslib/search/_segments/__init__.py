"""Segmentation of sequences into repetitions of a query and background."""
