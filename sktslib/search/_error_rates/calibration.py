"""What the matches of a query and of its decoys tell about a distance."""

from typing import NamedTuple

import numpy as np


class Calibration(NamedTuple):
    """Distances of the matches of a query and of its decoys, found in the same recording in the same way."""

    matches: np.ndarray  # ascending
    decoys: np.ndarray  # ascending, of all decoys together
    n_decoys: int
    hours: float  # of the recording

    @classmethod
    def of(cls, matches, decoys, hours):
        """The same of distances in any order, those of each decoy in a list."""
        return cls(np.sort(matches), np.sort(np.concatenate(decoys)), len(decoys), hours)

    @classmethod
    def together(cls, several):
        """That of several recordings in which the same query was searched for by the same decoys."""
        matches, decoys = (np.sort(np.concatenate([one[k] for one in several])) for k in range(2))
        return cls(matches, decoys, several[0].n_decoys, sum(one.hours for one in several))

    def _nearer(self, distance):
        """How many matches of decoys are at most so far."""
        return np.searchsorted(self.decoys, distance, "right")

    @property
    def shares(self):
        """The estimated share of false ones among all matches up to each one's distance."""
        false = 1.0 + self._nearer(self.matches) / self.n_decoys
        return false / np.searchsorted(self.matches, self.matches, "right")

    def threshold(self, alpha):
        """The largest distance up to which the estimated share is at most `alpha`; -inf where there is none."""
        within = np.flatnonzero(self.shares <= alpha)
        return float(self.matches[within[-1]]) if len(within) else -np.inf

    def rates(self, distance):
        """q-values, p-values and false matches per hour of matches at some distances, an array (3, n)."""
        least = np.minimum.accumulate(np.append(self.shares, np.inf)[::-1])[::-1]
        q = np.minimum(least[np.searchsorted(self.matches, distance, "left")], 1.0)
        nearer = self._nearer(distance)
        return np.array([q, (1.0 + nearer) / (1.0 + len(self.decoys)), nearer / self.n_decoys / self.hours])
