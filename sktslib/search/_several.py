"""Several queries and several sequences: one search each, one table of matches."""

from contextlib import contextmanager

import numpy as np
from joblib import Parallel, delayed

from ..utils.validation import check_jobs
from ._buffer import SparseTimes
from ._results import Matches
from ._sources import hold


def several(X):
    """The parts of a list with an array in it, which is a list of series; None for anything else."""
    if not isinstance(X, list | tuple):
        return None
    arrays = [len(getattr(part, "shape", ())) > 0 for part in X]
    # What is neither array nor list is refused as the series that it should be, by its place.
    mixed = any(arrays) and not any(isinstance(part, tuple) for part in X)
    return list(X) if mixed else None


@contextmanager
def entry(name, k):
    """Say of an error which entry of a list of series it is about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"In {name}[{k}]: {error}") from error


def refuse_several(X):
    """Profiles, labels and segments belong to one sequence."""
    if several(X) is not None:
        raise ValueError(
            f"'X' must be one sequence here. Got a list of {len(X)} arrays, which is a list of sequences: call with "
            "each of them, or pass numpy.asarray of it if its arrays are the time points of one sequence."
        )


def one_each(values, count, name, what):
    """A list with an entry for each of several series."""
    if values is None:
        return [None] * count
    if not isinstance(values, list | tuple) or len(values) != count:
        got = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
        raise ValueError(f"{name!r} must be a list with one entry for each of the {count} {what}. Got {got}.")
    return list(values)


def in_jobs(n_jobs, calls):
    """The results of calls that know nothing of each other."""
    return Parallel(n_jobs=check_jobs(n_jobs), prefer="threads")(
        delayed(call)(*arguments) for call, *arguments in calls
    )


def merge(found, names, many_queries, many_sequences, n_matches, times=None):
    """One table of the matches of several searches.

    Parameters
    ----------
    found : list of Matches
    names : list of (query, sequence)
        Their numbers.
    n_matches : int or None
        How many of each query count.
    """
    which = np.repeat(np.arange(len(found)), [len(matches) for matches in found])
    start, end, distance = (np.concatenate([getattr(m, a) for m in found]) for a in ("start", "end", "distance"))
    query, sequence = (np.array([name[k] for name in names], dtype=np.int64)[which] for k in (0, 1))
    order = np.lexsort((start, sequence, query, distance))
    if n_matches is not None:
        rank = np.empty(len(order), np.int64)  # of each among those of its query
        for q in np.unique(query):
            own = order[query[order] == q]
            rank[own] = np.arange(len(own))
        order = order[rank[order] < n_matches]
    return Matches(
        start[order],
        end[order],
        distance[order],
        query[order] if many_queries else None,
        sequence[order] if many_sequences else None,
        times,
        _Several([matches._source for matches in found], [name[1] for name in names], which[order]),
    )


class _Several:
    """What the matches of several searches were found in."""

    def __init__(self, readers, sequences, which):
        self.readers, self.sequences, self.which = readers, sequences, which  # the search of each match

    def source_of(self, k):
        return self.readers[self.which[k]]

    @property
    def sequence(self):
        return self.readers[0].sequence

    def kept(self, start, end):
        """The same of the samples alone that the matches depend on, those of one sequence together."""
        readers = list(self.readers)
        for sequence in set(self.sequences):
            own = [k for k, s in enumerate(self.sequences) if s == sequence]
            some = np.flatnonzero(np.isin(self.which, own))
            held = hold([readers[k] for k in own], np.searchsorted(own, self.which[some]), start[some], end[some])
            for k, reader in zip(own, held, strict=True):
                readers[k] = reader
        return _Several(readers, self.sequences, self.which)


class Streams:
    """Streams of several queries, fed together; see `Stream`."""

    def __init__(self, streams, kinds=None):
        self._streams, self._kinds, self._nothing = streams, kinds, None

    @property
    def n_samples_seen(self):
        """Samples so far."""
        return self._streams[0].n_samples_seen

    def update(self, X, times=None):
        """Take the next samples; see `Stream.update`."""
        found = [stream.update(X, times) for stream in self._streams]
        if any(map(len, found)):
            return self._merged(found)
        if self._nothing is None or (self._nothing.times is None) != (found[0].times is None):
            self._nothing = self._merged(found)  # made once: it is the answer to most chunks
        return self._nothing

    def flush(self):
        """End the streams; see `Stream.flush`."""
        return self._merged([stream.flush() for stream in self._streams])

    def _merged(self, found):
        times = [part.times for part in found]
        if times[0] is not None:
            times = [SparseTimes.of(times)]
        return merge(found, [(k, 0) for k in range(len(found))], True, False, None, times[0])._named(self._kinds)
