"""What series cost with centers, computed as far as it tells which centers are the nearest ones.

Centers are queries, and series stand side by side, as in the matrix of all distances, so that what is computed is the
same to the bit. A series whose bound is above its limit is left out, and those side by side are given up together as
soon as all are above theirs. The triangle inequality is not used: few elastic distances obey it.
"""

import numpy as np

from ..distances._blockwise.candidates import Pruned
from ..distances._kernels.compilation import block_size
from ..distances._metrics.elastic import ElasticMetric
from ..distances._pairwise import by_length, counts_alone, distances_between, driver_of
from ..distances._series import spread
from ..utils.validation import shown

FEW_CELLS = block_size(2**19, 1)  # of a center with all series of one length: bounds cost as much as computing them
MOST = np.finfo(float).max  # a limit that excludes infinite costs alone


class Compared:
    """A collection that centers are compared with. What is prepared of it is shared by threads."""

    def __init__(self, metric, w, series, gaps=False):
        self.metric, self.w, self.series, self.gaps, self._prepared = metric, w, series, gaps, {}
        lengths = [y.shape[1] for y in series]
        self._cells = sum(lengths) * max(lengths) / len(set(lengths))
        self._prunes = (
            isinstance(metric, ElasticMetric)
            and metric._has_lanes
            and metric._is_monotone
            and not metric._has_factor
            and not counts_alone(metric, w)
            and not gaps
        )

    def __reduce__(self):
        return Compared, (self.metric, self.w, self.series, self.gaps)

    def _pruned(self, center):
        m = center.shape[1]
        if m not in self._prepared:
            self._prepared[m] = Pruned(self.metric, self.series, center, spread(self.w, m), 1)
        return self._prepared[m]

    def prunes(self):
        """Whether limits save anything."""
        return self._prunes and self._cells >= FEW_CELLS

    def guesses(self, centers):
        """A center for each series, which may be near."""
        least = np.zeros((len(self.series), len(centers)))
        if self.prunes():
            for of in by_length(centers).values():
                some = [centers[c] for c in of]
                least[:, of] = self._pruned(some[0]).at_least(some)[1].T
        return least.argmin(axis=1)

    def __call__(self, centers, limits, asked):
        """What the series cost with centers (n_series, n_centers), and where that is known.

        That is so where it is `asked` and not above the `limits` of the series, and where it costs nothing more.
        """
        if not self.prunes():
            found = costs_between(self.metric, self.w, centers, self.series, self.gaps)
            return found, np.ones(found.shape, bool)
        found = np.full(asked.shape, np.inf)
        for of in by_length(centers).values():
            found[:, of] = self._within([centers[c] for c in of], limits, asked[:, of].T).T
        return found, asked & ((found < np.inf) | (limits == np.inf)[:, np.newaxis])

    def _within(self, centers, limits, asked):
        """Costs of centers of one length, infinite where they are not asked for or above the limits."""
        pruned, limits = self._pruned(centers[0]), np.minimum(limits, MOST)
        found, itself = np.full(asked.shape, np.inf), np.full(len(centers), -1)
        if (limits < MOST).any():
            of_length, bounds = pruned.at_least(centers)
        else:
            of_length, bounds = pruned.queries(centers), np.zeros(asked.shape)
        bounds = np.where(asked, bounds - limits, np.inf)
        offsets, counts = np.repeat(-limits[np.newaxis], len(centers), axis=0), np.zeros(3, int)
        for members in pruned.kinds:
            members = members[asked[:, members].any(axis=0)]
            if len(members):
                n, order = int(pruned.lengths[members].max()), np.repeat(members[np.newaxis], len(centers), axis=0)
                given = order, itself, bounds, offsets, np.zeros(len(centers)), counts
                found[:, members] = pruned.below(of_length(n), n, *given)[:, members]
        return found


class Costs:
    """What series cost with centers: where it is `known` it is one of the `values`, elsewhere above it.

    Parameters
    ----------
    compare : callable
        See `Compared.__call__`.
    centers : list of ndarray of shape (channels, m)
        The centers.
    n : int
        Number of series.
    """

    def __init__(self, compare, centers, n):
        self.compare, self.centers = compare, list(centers)
        self.values, self.known = np.full((n, len(centers)), -np.inf), np.zeros((n, len(centers)), bool)

    def copy(self):
        """The same, to be changed."""
        other = Costs(self.compare, self.centers, 0)
        other.values, other.known = self.values.copy(), self.known.copy()
        return other

    def put(self, c, center, values=-np.inf, known=False):
        """Take another center in place of one, of which some costs may be known."""
        self.centers[c] = center
        self.values[:, c], self.known[:, c] = np.where(known, values, -np.inf), known

    def of(self, members, c):
        """Known costs of some series with a center."""
        return self.values[members, c]

    def ask(self, limits, asked):
        """Find out costs, as far as they are not above the limits of the series."""
        columns = np.flatnonzero(asked.any(axis=0))
        if not len(columns):
            return
        asked = asked[:, columns]
        found, known = self.compare([self.centers[c] for c in columns], limits, asked)
        least = np.where(asked, limits[:, np.newaxis], self.values[:, columns])
        known_before = self.known[:, columns]
        self.values[:, columns] = np.where(known_before, self.values[:, columns], np.where(known, found, least))
        self.known[:, columns] = known | known_before

    def ask_own(self, labels):
        """Find out what the series cost with one center each."""
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


def nearest_centers(metric, w, centers, series, gaps):
    """The cheapest center of each series, of equally cheap ones the first, and what it costs; with gaps NaN may be."""
    compare = Compared(metric, w, series, gaps)
    costs = Costs(compare, centers, len(series))
    if compare.prunes():
        costs.ask_own(compare.guesses(centers))
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


def cost_power(metric):
    """The power of distances that inertia adds up: sums are added without their root."""
    return getattr(metric, "power", None) or 1.0


def costs_between(metric, w, centers, series, gaps=False):
    """What each series adds to the inertia with each center, (n_series, n_centers); with gaps NaN are left out."""
    driver = driver_of(metric, centers, series, w, gaps)
    return distances_between(driver, metric, w, centers, series, False).T ** cost_power(metric)
