"""Matches that fall into groups far apart: a false discovery rate counts what chance finds, and no look-alikes."""

import numpy as np

from ..utils._names import warn

# Between groups lies what 5 % of either at that end do not count for: at least as much as the wider group covers,
# twice as much of distances, which lie in groups by themselves where some occurrences have the query's length.
CLEAR_SCALE, CLEAR_DISTANCE, EDGE = 1.0, 2.0, 0.05
FAR = 1.5  # factor between what lies on both sides of the gap
CHANCE = 4.0  # standard deviations of the number of false matches by which a group must exceed it
TINY = np.finfo(float).tiny


def gap_between(values, least, clear):
    """Return the two ends of the gap between two groups of values, or None where it is not clear.

    Each group has `least` or more values. The groups are those with the least variance within. A gap is clear if it is
    more than `clear` times as wide as the wider group.
    """
    values, n = np.sort(values), len(values)
    if n < 2 * least or not np.isfinite(values[[0, -1]]).all():
        return None
    # Outliers would make groups of their own, and squares of large values leave float64.
    inner = np.clip(values, *np.quantile(values, [EDGE, 1 - EDGE]))
    count, total = np.arange(least, n - least + 1), np.cumsum(inner / max(np.abs(inner[[0, -1]]).max(), TINY))
    between = (total[count - 1] - total[-1] * (count / n)) ** 2 / (count * (n - count))
    cut = count[np.argmax(between)]
    (first, low), (high, last) = (np.quantile(part, [EDGE, 1 - EDGE]) for part in (values[:cut], values[cut:]))
    return (low, high) if high - low > clear * max(low - first, last - high) else None


def warn_of_look_alikes(alpha, distance, scale=None, found="matches", measure="distance"):
    """Warn of matches within a false discovery rate that are far from the others in scale or distance.

    Parameters
    ----------
    alpha : float
        The rate.
    distance : ndarray of shape (n,)
        Distances of the matches of one query in one recording.
    scale : ndarray of shape (n,) or (n, channels), optional
        Their scales.
    found : str
        What the matches are called.
    measure : str
        What their distance is called.
    """
    n = len(distance)
    false = alpha * n
    least = int(np.ceil(false + CHANCE * np.sqrt(false))) + 1
    table = np.empty((n, 0)) if scale is None else scale.reshape(n, -1)
    for side, most in ((-1, np.fmin), (1, np.fmax)) if table.size else ():
        sizes = np.maximum(most.reduce(table, axis=1), TINY)
        gap = None if np.isnan(sizes).any() else gap_between(np.log(sizes), least, CLEAR_SCALE)
        if gap is None or gap[1] - gap[0] < np.log(FAR):
            continue
        border = float(f"{np.exp(np.mean(gap)):.2g}")
        far = sizes < border if side < 0 else sizes > border
        if np.median(distance[far]) > np.median(distance[~far]):
            ends = float(f"{np.nanmin(table[~far]) / FAR:.2g}"), float(f"{np.nanmax(table[~far]) * FAR:.2g}")
            limits = (border, ends[1]) if side < 0 else (ends[0], border)
            _tell(alpha, far, found, "scale", sizes, f"scale_limits={limits} of Normalization")
            return
    gap = gap_between(distance, least, CLEAR_DISTANCE)
    if gap is not None and gap[1] >= FAR * gap[0]:
        border = float(f"{np.mean(gap):.3g}")
        _tell(alpha, distance > border, found, measure, distance, f"threshold={border}")


def warn_of_groups(alpha, matches, names):
    """Warn where the matches of a query in a sequence fall into groups; `names` are those of the queries, or None."""
    queries, sequences = (np.zeros(len(matches), int) if k is None else k for k in (matches.query, matches.sequence))
    for query, sequence in sorted(set(zip(queries.tolist(), sequences.tolist(), strict=True))):
        own = (queries == query) & (sequences == sequence)
        of = "" if matches.query is None else f" of query {query if names is None else names.tolist()[query]!r}"
        of += "" if matches.sequence is None else f" in X[{sequence}]"
        scale = matches.scale
        warn_of_look_alikes(alpha, matches.distance[own], None if scale is None else scale[own], f"matches{of}")


def _tell(alpha, far, found, name, values, way):
    ends = [f"{values[which].min():.3g} to {values[which].max():.3g}" for which in (far, ~far)]
    warn(
        f"{far.sum()} of {len(far)} {found} within a false discovery rate of {alpha:g} are far from the others in "
        f"{name} ({ends[0]}, and {ends[1]}): they may be look-alikes, which the rate does not count. If they are, set "
        f"{way} to leave them out."
    )
