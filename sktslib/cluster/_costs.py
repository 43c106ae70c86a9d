"""What series cost with centers, computed as far as it tells which centers are the nearest ones.

Centers are queries, and series stand side by side, as in the matrix of all distances, so that what is computed is the
same to the bit. A series whose bound is above its limit is left out, and those side by side are given up together as
soon as all are above theirs. The triangle inequality is not used: few elastic distances obey it.
"""

from copy import copy

import numpy as np
from joblib import delayed

from ..distances._blockwise.candidates import Pruned
from ..distances._kernels.compilation import block_size
from ..distances._metrics.elastic import ElasticMetric
from ..distances._pairwise import by_length, counts_alone, distances_between, driver_of
from ..distances._series import spread
from ..utils._jobs import in_jobs
from ..utils.validation import shown

# Measured with DTW and MSM, with and without a band: below these, bounds cost as much as computing what they exclude.
PAIR_CELLS = block_size(2**10, 1)  # of a center with a series
FEW_CELLS = block_size(2**22, 1)  # of a center with all series, divided by the number of their lengths
ONCE = 5  # times as many of all centers together, where what is prepared serves only once
MOST = np.finfo(float).max  # a limit that excludes infinite costs alone


class Compared:
    """A collection that centers are compared with: costs are distances to a power. With `gaps` NaN are left out."""

    def __init__(self, metric, w, series, power, gaps=False, few=1.0):
        self.metric, self.w, self.series, self.power, self.gaps, self.few = metric, w, series, power, gaps, few
        self._prepared = {}  # of each length of centers
        lengths = [y.shape[1] for y in series]
        self._pair_cells, self._cells = max(lengths) ** 2, sum(lengths) * max(lengths) / len(set(lengths))
        self._prunes = (
            isinstance(metric, ElasticMetric)
            and metric._has_lanes
            and metric._is_monotone
            and not metric._has_factor
            and not counts_alone(metric, w)
            and not gaps
        )

    def __reduce__(self):
        return Compared, (self.metric, self.w, self.series, self.power, self.gaps, self.few)

    def _pruned(self, center):
        m = center.shape[1]
        if m not in self._prepared:
            self._prepared[m] = Pruned(self.metric, self.series, center, spread(self.w, m), 1)
        return self._prepared[m]

    def prunes(self):
        """Whether limits save anything."""
        return self._prunes and self._pair_cells >= PAIR_CELLS and self._cells >= FEW_CELLS * self.few

    def bounds(self, centers):
        """Numbers (n_series, n_centers) that costs are above."""
        least = np.full((len(self.series), len(centers)), -np.inf)
        if self.prunes():
            for of in by_length(centers).values():
                some = [centers[c] for c in of]
                least[:, of] = np.nextafter(self._pruned(some[0]).at_least(some)[1].T, -np.inf)
        return least

    def costs(self, centers, limits, asked):
        """What the series cost with centers (n_series, n_centers), and where that is known.

        That is so where it is `asked` and not above the `limits` of the series, and where it costs nothing more.
        """
        if not self.prunes():
            found = costs_between(self.metric, self.w, centers, self.series, self.power, self.gaps)
            return found, np.ones(found.shape, bool)
        found = np.full(asked.shape, np.inf)
        for of in by_length(centers).values():
            found[:, of] = self._within([centers[c] for c in of], limits, asked[:, of].T).T
        return found, asked & ((found < np.inf) | (limits == np.inf)[:, np.newaxis])

    def _within(self, centers, limits, asked):
        """Costs of centers of one length, infinite where they are not asked for or above the limits."""
        pruned, limits = self._pruned(centers[0]), np.minimum(limits, MOST)
        found, itself = np.full(asked.shape, np.inf), np.full(len(centers), -1)
        of_length, bounds = pruned.queries(centers), np.where(asked, -limits, np.inf)  # `Costs` knows of others
        offsets, counts = np.repeat(-limits[np.newaxis], len(centers), axis=0), np.zeros(3, int)
        for members in pruned.kinds:
            members = members[asked[:, members].any(axis=0)]
            if len(members):
                n, order = int(pruned.lengths[members].max()), np.repeat(members[np.newaxis], len(centers), axis=0)
                given = order, itself, bounds, offsets, np.zeros(len(centers)), counts
                found[:, members] = pruned.below(of_length(n), n, *given)[:, members]
        return found


class Parts:
    """The same for parts of a collection, one for each job, which the calls of joblib share out."""

    def __init__(self, parts, n_jobs):
        self.parts, self.n_jobs = parts, n_jobs  # positions of series, and these as they are compared

    def bounds(self, centers):
        """See `Compared`."""
        if len(self.parts) == 1:  # what jobs take besides is longer than a small comparison
            return self.parts[0][1].bounds(centers)
        return np.concatenate(self._each([delayed(part.bounds)(centers) for _, part in self.parts]))

    def costs(self, centers, limits, asked):
        """See `Compared`."""
        if len(self.parts) == 1:
            return self.parts[0][1].costs(centers, limits, asked)
        calls = [delayed(part.costs)(centers, limits[of], asked[of]) for of, part in self.parts]
        return [np.concatenate(found) for found in zip(*self._each(calls), strict=True)]

    def _each(self, calls):
        return in_jobs(calls, self.n_jobs, 0, "clusters", "part")


class Costs:
    """What series cost with centers: where it is `known` it is one of the `values`, elsewhere above it.

    Parameters
    ----------
    compared : Compared or Parts
        The series.
    centers : list of ndarray of shape (channels, m)
        The centers.
    """

    def __init__(self, compared, centers):
        self.compared, self.centers = compared, list(centers)
        self.values = compared.bounds(self.centers)
        self.known = np.zeros(self.values.shape, bool)

    def copy(self):
        """The same, to be changed."""
        other = copy(self)
        other.centers, other.values, other.known = list(self.centers), self.values.copy(), self.known.copy()
        return other

    def put(self, c, center, values=0.0, known=False):
        """Take another center in place of one, of which some costs may be known."""
        self.centers[c] = center
        self.values[:, c] = np.where(known, values, self.compared.bounds([center])[:, 0])
        self.known[:, c] = known

    def of(self, members, c):
        """Known costs of some series with a center."""
        return self.values[members, c]

    def ask(self, limits, asked):
        """Find out costs, as far as they are not above the limits of the series."""
        columns = np.flatnonzero(asked.any(axis=0))
        if not len(columns):
            return
        asked = asked[:, columns]
        found, known = self.compared.costs([self.centers[c] for c in columns], limits, asked)
        least = np.where(asked, limits[:, np.newaxis], self.values[:, columns])
        known_before = self.known[:, columns]
        self.values[:, columns] = np.where(known_before, self.values[:, columns], np.where(known, found, least))
        self.known[:, columns] = known | known_before

    def ask_own(self, labels=None):
        """Find out what the series cost with one center each, which seems to be near if none is given."""
        if labels is None:
            if self.values.max() == -np.inf:
                return
            labels = self.values.argmin(axis=1)
        own = np.zeros_like(self.known)
        own[np.arange(len(labels)), labels] = True
        self.ask(np.full(len(labels), np.inf), own & ~self.known)

    def nearest(self, count=1):
        """The costs that are known, infinite elsewhere, and among them so many that are the least of each series."""
        while True:
            seen = np.where(self.known, self.values, np.inf)
            limits = seen.min(axis=1) if count == 1 else np.partition(seen, count - 1, axis=1)[:, count - 1]
            doubtful = ~self.known & (self.values < limits[:, np.newaxis])
            if not doubtful.any():
                return seen
            self.ask(limits, doubtful)

    def labels(self):
        """The cheapest center of each series, of equally cheap ones the first."""
        return assigned(self.nearest())


def nearest_centers(metric, w, centers, series, power, gaps):
    """The cheapest center of each series, of equally cheap ones the first, and what it costs."""
    costs = Costs(Compared(metric, w, series, power, gaps, ONCE / len(centers)), centers)
    costs.ask_own()
    labels = costs.labels()
    return labels, costs.of(np.arange(len(labels)), labels)


def assigned(costs):
    """The cheapest center of each series (n_series, n_clusters), of equally cheap ones the first."""
    labels = costs.argmin(axis=1)
    far = np.flatnonzero(costs[np.arange(len(costs)), labels] == np.inf)
    if len(far):
        raise ValueError(
            f"Each series must have a finite distance from some center. Got none for series {shown(far.tolist())}, as "
            "it is where a band is narrower than lengths differ. Widen the band, or take more clusters."
        )
    return labels


def costs_between(metric, w, centers, series, power, gaps=False):
    """What each series costs with each center, (n_series, n_centers)."""
    driver = driver_of(metric, centers, series, w, gaps)
    return distances_between(driver, metric, w, centers, series, False).T ** power
