"""What a segmenter is fitted to: queries that are given, learned from labels, or taken from the recording itself."""

import numpy as np

from ..utils.validation import as_floats
from ._learning import EXAMPLES, as_comparable, average
from ._profile import Search
from ._tiling import background_cost, tile
from ._tuning import learn_background

FEW = 2  # repetitions of which an average is taken


def check_transitions(transitions, k):
    """Costs of what follows what, as an array (k + 1, k + 1)."""
    if transitions is None:
        return np.zeros((k + 1, k + 1))
    T = np.array(as_floats(transitions, "transitions"))
    if T.shape != (k + 1, k + 1):
        raise ValueError(
            f"'transitions' must have shape ({k + 1}, {k + 1}): a row and a column for background and each of the {k} "
            f"queries. Got shape {T.shape}."
        )
    T[0, 0] = 0.0  # background samples in a row are one stretch
    if not (T >= 0).all():
        raise ValueError(f"'transitions' must not be negative or NaN. Got {np.min(T):g}.")
    return T


def check_partial(metric, mode):
    """Refuse repetitions cut off at an end where there is no path through a part of a query."""
    if mode != "warped" or metric.uses_times:
        raise ValueError(
            "partial=True needs an elastic metric with a warping path that compares no times, such as 'dtw' or 'adtw'. "
            f"Got {metric.full_name}."
        )


def limits_of(given, learned):
    """Bounds of the length of each query's repetitions: those given, else those learned."""
    return tuple(
        tuple(b if a is None else a for a, b in zip(*pair, strict=True)) for pair in zip(given, learned, strict=True)
    )


def fit_background(marked, templates, rules, metric, mode, ty):
    """The background that separates what is marked in a recording from the rest."""
    searches = [Search.of(metric, *t[:2], marked.data, t.tx, ty, mode) for t in templates]

    def ranges(background):
        found = tile(searches, rules._replace(background=background))
        return found.start, found.end

    constant = background_cost(metric, mode, templates)
    return learn_background(marked.ranges, marked.labels.code, marked.data, templates, metric, constant, ranges)


def refined(templates, searches, tiles):
    """The queries as averages of their repetitions in a tiling; one with too few stays as it is."""
    out = []
    for k, (template, search) in enumerate(zip(templates, searches, strict=True)):
        whole = (tiles.query == k) & (np.diff(tiles.shown, axis=1)[:, 0] == template.x.shape[1])
        ranges = np.column_stack([tiles.start, tiles.end])[whole]
        out.append(template if len(ranges) < FEW else template._replace(x=amid(template, search, ranges)))
    return out


def amid(template, search, ranges):
    """The barycenter (channels, m) of ranges of a sequence, of the length of the template."""
    chosen = ranges[np.linspace(0, len(ranges) - 1, min(len(ranges), EXAMPLES)).round().astype(int)]
    pieces = as_comparable([np.ascontiguousarray(search.y[:, s:e]) for s, e in chosen], search.metric)
    return average(pieces, template.x, search.metric, template.w)
