"""Occurrences that are mirrored, turned the way that most of their class have."""

import numpy as np

from ...distances._pairwise import pairwise_distances


def aligned(pieces, signs, metric):
    """Pieces (channels, n) times the signs with which the medoid fits them best, turned as most of them were.

    Their average would be one of opposite ones. The medoid is that of the pieces turned like the first.
    """
    if signs is None or len(pieces) < 2:
        return pieces
    signs = signs.reshape(len(signs), -1, 1)
    turned, _ = _turned(pieces, pieces[0], signs, metric)
    far = pairwise_distances(turned, metric=metric, channels_first=True)
    turned, which = _turned(pieces, pieces[int(np.argmin(far.sum(axis=1)))], signs, metric)
    most = signs[np.argmax(np.bincount(which))]
    return [piece * most for piece in turned]


def _turned(pieces, middle, signs, metric):
    """The pieces turned so that `middle` fits them, and the number of the signs of each."""
    far = pairwise_distances([middle * sign for sign in signs], pieces, metric=metric, channels_first=True)
    which = np.argmin(far, axis=0)
    return [piece * signs[k] for piece, k in zip(pieces, which, strict=True)], which
