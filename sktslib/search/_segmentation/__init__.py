"""Optimal segmentation: the estimator, what it learns, and recordings whole or by chunks."""
