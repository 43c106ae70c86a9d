"""Splits of recordings for scikit-learn's searches and cross-validation."""

from ._splits import BlockedSeriesSplit, query_split

__all__ = ["BlockedSeriesSplit", "query_split"]
