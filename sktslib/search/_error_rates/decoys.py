"""Decoy queries: what is searched for in place of a query to learn how near chance comes."""

import numpy as np

from ...utils.validation import as_series
from .._channels.by_channel import parts_of
from .._channels.polarity import with_signs

SAMPLE = 2**16  # values of a long recording that tell its median
SPREAD = np.pi  # phases are shifted by half a turn, give or take half of this: a decoy is never like its query


def phase_shifted(x, center, angle):
    """A query (channels, m) mirrored about a center (channels,), its oscillations shifted by an angle from there.

    All frequencies of all channels are shifted alike, so that amplitude and cross spectra stay, and with them where the
    query moves and where it rests. The values then are the mirrored ones, put in the order of the shifted wave. (Random
    phases of each frequency spread a short event over the whole query: a metric that adds up absolute differences, or
    counts points, then finds the query itself more often by chance than its decoys. And a smooth query's decoys are
    shifted copies of it.)
    """
    mirrored, m = 2.0 * center[:, np.newaxis] - x, x.shape[1]
    spectrum = np.fft.rfft(mirrored) * np.exp(1j * angle)
    order = np.argsort(np.fft.irfft(spectrum, m), axis=1, kind="stable")
    decoy = np.empty_like(x)
    np.put_along_axis(decoy, order, np.sort(mirrored, axis=1), axis=1)
    return decoy


def center_of(source):
    """The median of each channel of a sequence, of a long one that of evenly spaced samples."""
    y = source.sample(SAMPLE)
    with np.errstate(all="ignore"):
        return np.array([np.median(values[~np.isnan(values)]) if len(values) else np.nan for values in y])


class Decoys:
    """The decoys of some queries, one for each draw: the same draws in all sequences of a call.

    Parameters
    ----------
    rule : FalseDiscoveryRate
        Valid.
    n_queries : int
        How many queries there are.
    """

    def __init__(self, rule, n_queries, random_state):
        self.rule, self.count = rule, 1 if rule.null == "negated" else int(rule.n_decoys)
        each = (n_queries, self.count)
        if rule.null == "phase":  # one of each part of the range, so that decoys differ
            self._draws = SPREAD * ((np.arange(self.count) + random_state.uniform(size=each)) / self.count - 0.5)
        else:
            self._draws = random_state.randint(2**31 - 1, size=each)

    def of(self, estimator, queries, center):
        """The decoys of each query in a sequence with a center, as they are compared."""
        found = []
        for how, draws in zip(queries, self._draws.tolist(), strict=True):
            found.append([self._of_query(estimator, how, center, draw) for draw in draws])
        return found

    def _of_query(self, estimator, how, center, draw):
        """A decoy of a query, with one of each of its alternatives, and with its signs."""
        first, *others = [self._of_one(estimator, one, center, draw) for one in how.unsigned.versions]
        return with_signs(first._replace(alternatives=tuple((one.x, one.w) for one in others)), how.signs)

    def _null_of(self, x, center, draw):
        """The decoy of a query (channels, m)."""
        null = self.rule.null
        if null == "phase":
            return phase_shifted(x, center, draw)
        if null == "negated":
            return 2.0 * center[:, np.newaxis] - x
        given = null(x.T.copy(), np.random.RandomState(draw))
        out = as_series(given, "null(query, random_state)", channels=len(x), like="the query").copy()
        if out.shape != x.shape:
            raise ValueError(
                "'null' of FalseDiscoveryRate must return an array of the query's shape, "
                f"{x.shape[::-1]}. Got {out.shape[::-1]}."
            )
        return out

    def _of_one(self, estimator, how, center, draw):
        null = self.rule.null
        if how.by_channel is None:
            x = self._null_of(how.x, center, draw)
        else:
            x = how.x.copy()
            for c, lead, _, one in parts_of(how):
                x[c, lead : lead + one.m] = self._null_of(one.x, center[c : c + 1], draw)[0]
        if np.array_equal(x, how.x):
            raise ValueError(
                "'null' of FalseDiscoveryRate must give decoys that differ from the query. Got the query itself, for "
                f"null={null!r}: it is as near by chance as it is. A constant query at the median of the recording has "
                "no other; set 'threshold' to a number, or pass a function as 'null'."
            )
        try:
            estimator._check_size(x, "A decoy of the query")
        except ValueError as error:
            raise ValueError(f"{error} Or pass a function as 'null' of FalseDiscoveryRate. Got {null!r}.") from None
        return how._replace(x=np.ascontiguousarray(x))
