"""Versions of the queries, such as mirrored ones, which a segmentation takes for queries of their own."""

from typing import NamedTuple

import numpy as np

from .._sources import CandidateReader


class Segmented(NamedTuple):
    """Segments in temporal order, and the query and the version of it that each of them repeats."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points
    version: np.ndarray  # from 0


class Versions:
    """All versions of some queries, those of a query one after the other.

    Attributes
    ----------
    queries : list of Comparison
        Each version by itself.
    query, version : ndarray of int
        Which version of which query each of them is.
    """

    def __init__(self, queries):
        self.queries = [one for how in queries for one in how.versions]
        counts = [how.n_versions for how in queries]
        self.query = np.repeat(np.arange(len(queries)), counts)
        self.version = np.concatenate([np.arange(count) for count in counts])

    def rules(self, rules):
        """The rules of the queries as those of their versions."""
        label = np.concatenate([[0], self.query + 1])
        limits = tuple(rules.limits[q] for q in self.query)
        return rules._replace(transitions=rules.transitions[np.ix_(label, label)], limits=limits)

    def readers(self, source):
        """What reads the samples of each version's segments."""
        return [CandidateReader(how, source) for how in self.queries]

    def of(self, found):
        """Segments of versions as those of their queries."""
        query, version = self.query[found.query], self.version[found.query]
        return Segmented(found.start, found.end, query, found.cost, found.shown, version)
