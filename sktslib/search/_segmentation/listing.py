"""The costs of segments that are listed: those of their ranges, each by itself."""

import numpy as np

from ...distances._kernels.one_pass import INF, LANES, range_costs

ALONE = np.full((2, 2), INF)  # nothing may follow a repetition
ANY_LENGTH = np.ones(1), np.full(1, 2.0**62)
SLACK_FROM = 2**40  # a number of windows that no recording has


def depends_on_path(how, rules):
    """Whether the cost that a segment's path carries may be another than that of its range."""
    return how.metric._depends_on_start or any(longest is not None for _, longest in rules.limits)


def listed_costs(readers, rules, segments):
    """The cost of each segment's query against its range, which the reader of that query knows.

    The path behind a segment is the cheapest one of its range, unless the best move into a cell depends on the
    path so far: on its start, or on others that were longer than allowed and dropped. The distances of many long
    windows may come from Fourier transforms; those listed never do, so that a stream lists the same.
    """
    how = readers[0].how
    if how.mode == "windows":
        return _listed_windows(readers, segments)
    if not depends_on_path(how, rules):
        return segments.cost
    rows = zip(
        *(column.tolist() for column in (segments.query, segments.start, segments.end, segments.shown)), strict=True
    )
    return np.array([readers[q].search(s, e).cost(s, e, shown) for q, s, e, shown in rows])


def _listed_windows(readers, segments):
    cost = segments.cost.copy()
    for q, reader in enumerate(readers):
        how, own = reader.how, segments.query == q
        if own.any() and how.metric._slack(how.x, how.w, SLACK_FROM, None):
            cost[own] = how.metric._segment_cost(reader.distances(segments.start[own], segments.end[own]), how.m)
    return cost


def costs_of_ranges(queries, series, start, end, query):
    """The same of ranges [start, end) of one series under an elastic metric, LANES of them side by side.

    `series` (channels, n + 1) are features of samples, and in front one that no range holds.
    """
    out = np.empty(len(start))
    for q in np.unique(query):
        one, own = queries.one(q), np.flatnonzero(query == q)
        own = own[np.argsort(end[own] - start[own], kind="stable")]
        found = np.empty(len(own))
        range_costs(one, series, start[own], (end - start)[own], ALONE, ANY_LENGTH, one.state(LANES), found)
        out[own] = found
    return out
