"""Which matches to ask about: those nearest to where occurrences end and other candidates begin."""

import numpy as np

from ...utils.validation import check_count, shown

HALF = 0.5  # share of the shorter of two ranges that they have in common where they are of one event


def uncertain(matches, k, known=None):
    """Numbers of the matches nearest to the decision borders, see `Matches.uncertain`."""
    k = check_count(k, "k")
    open_ = np.flatnonzero(~_are_known(matches, known))
    query, sequence = (np.zeros(len(matches), int) if a is None else a for a in (matches.query, matches.sequence))
    distance = matches.distance
    rank, far = np.zeros(len(matches), int), np.zeros(len(matches))
    for q in np.unique(query):
        own = query == q
        limit = np.nan if matches.threshold is None else matches.threshold[q]
        border = border_between(distance[own]) if np.isnan(limit) else limit
        far[own] = np.abs(distance[own] - border) / (border or 1.0)
        for s in np.unique(sequence[own]):
            for above in (False, True):
                group = open_[(own & (sequence == s) & ((distance > border) == above))[open_]]
                rank[group[np.lexsort((group, far[group]))]] = np.arange(len(group))
    return open_[np.lexsort((open_, far[open_], rank[open_]))][:k]


def border_between(distance):
    """Where some distances divide into two groups of the least squared deviations from their means, midway."""
    values = np.sort(distance[np.isfinite(distance)])
    if len(values) < 2:
        return float(values[0]) if len(values) else 0.0
    count, total = np.arange(1, len(values)), np.cumsum(values)
    rest = len(values) - count
    apart = (total[-1] - total[:-1]) / rest - total[:-1] / count
    at = int(np.argmax(count * rest * apart**2))
    return float(values[at] + (values[at + 1] - values[at]) / 2)


def _are_known(matches, known):
    """Which matches lie on ranges that were answered: on half of the shorter one at least, in the same sequence."""
    out = np.zeros(len(matches), bool)
    for one in [] if known is None else known if isinstance(known, list | tuple) else [known]:
        if not isinstance(one, type(matches)):
            raise TypeError(
                "The 'known' parameter must be None, Matches that were answered, or a list of such. Got "
                f"{shown(one)}. Select them by their numbers, matches[numbers]."
            )
        if (one.sequence is None) != (matches.sequence is None):
            raise ValueError(
                "The 'known' parameter must hold matches in the same sequences. Got matches of a list of sequences "
                "on one side only. Search for both in the same way."
            )
        for number in range(len(one)):
            start, end = one.start[number], one.end[number]
            common = np.minimum(matches.end, end) - np.maximum(matches.start, start)
            same = common >= HALF * np.minimum(matches.end - matches.start, end - start)
            if one.query is not None and matches.query is not None:
                same &= matches.query == one.query[number]
            out |= same if one.sequence is None else same & (matches.sequence == one.sequence[number])
    return out
