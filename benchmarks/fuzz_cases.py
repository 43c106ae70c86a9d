"""What the areas of `fuzz.py` share: a case that draws and compares, and the parameters of each metric."""

import warnings

import naive as slow
import numpy as np

from sktslib.distances import get_metric

AT_BORDERS = [k + d for k in (4, 8, 16, 32, 64) for d in (-1, 0, 1)]
KINDS = ["quarters", "quarters", "symbols", "normal", "normal", "rounded", "walk", "constant", "offset", "scaled"]
SHARES = [0.1, 0.29, 0.5, 1.0]
ROUNDING = 1e-15  # of what is subtracted from 1; the tolerance is 100 times that


class _Quiet:
    """The functions of `naive`, whose own warnings do not matter."""

    def __getattr__(self, name):
        function = getattr(slow, name)
        if not callable(function):
            return function

        def call(*args, **kwargs):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return function(*args, **kwargs)

        return call


naive = _Quiet()


LOCKSTEP = slow.names(kind="lockstep", is_positive=False)  # of any values
COUNTS = slow.names(kind="warped", is_ratio=True)
SUMMED = [name for name in slow.names(kind="warped", is_sum=True) if name != "cid_dtw"]  # its factor is of the whole
FREE = slow.names(kind="warped", is_sum=True, has_lags=False)  # costs do not depend on the start


def uses_times(name):
    return get_metric(name).uses_times


def same(v):
    """The values as they are."""
    return v


def again(name, wanted, *, sure=False, unit=0.0):
    """What `close` takes: the wanted answer of changed values; `sure` says that roundings decide nothing.

    `unit` is the size of what is subtracted to get the answer.
    """
    # What weights leave of the squares under sbd is a difference of sums, inexact where it is a millionth of them.
    size = ROUNDING * (unit + slow.TABLE[name].is_ratio + 20 * (name == "sbd"))
    return lambda change: wanted(same if sure else change) + size


class Nudge:
    """Changes each value by up to two units in the last place; equal values stay equal, and zeros zero."""

    def __init__(self, seed):
        self.key = np.uint64((2 * seed + 1) * 0x9E3779B97F4A7C15 % 2**64)

    def __call__(self, v):
        if v is None:
            return None
        v = np.array(v, dtype=float)
        with np.errstate(all="ignore"):
            bits = (v.view(np.uint64) ^ self.key) * np.uint64(0xD6E8FEB86659FD93)
            bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        return v * (1 + (bits / 2.0**63 - 1) * 2.0**-52)


class Case:
    """Draws from its own generator, compares, and keeps what differs."""

    def __init__(self, rng):
        self.rng, self.count, self.own, self.differences, self.shown = rng, 0, 0, [], {}
        self.exact = False  # whether sums and products of what was drawn are exact, and ties are ties

    # ------------------------------------------------------------------------------------------------------ comparing
    def show(self, **values):
        """Keep what was drawn, for those who repeat the case."""
        self.shown.update(values)

    def differ(self, what, text, details=""):
        self.differences.append((what, text, details))

    def counted(self, own):
        """One comparison more; `own` where the wanted answer is the package's too."""
        self.own += own
        self.count += not own

    def equal(self, what, got, want, *, own=False):
        """One comparison of numbers or arrays that must be equal."""
        self.counted(own)
        a, b = np.asarray(got), np.asarray(want)
        if a.shape != b.shape or not np.array_equal(a, b):
            self.differ(what, _short(a, b), f"got  {a!r}\nwant {b!r}")
            return False
        return True

    def close(self, what, got, want, again=None, rtol=1e-10, *, own=False):
        """One comparison of numbers or arrays that may differ by roundings, those of subnormal numbers included.

        Beyond the relative tolerance the difference may be as large as what the definition itself makes of changes in
        the last place of the input: `again` computes the wanted answer of values changed by a function.
        """
        self.counted(own)
        a, b = np.asarray(got, float), np.asarray(want, float)
        if a.shape != b.shape:
            self.differ(what, f"shapes {a.shape} and {b.shape}")
            return False
        with np.errstate(all="ignore"):
            wrong = ~((a == b) | (np.isfinite(b) & (np.abs(a - b) <= rtol * np.abs(b) + 1e-305)))
            if wrong.any() and again is not None:
                margin = np.zeros(b.shape)
                for seed in range(6):
                    other = np.asarray(again(Nudge(seed)), float)
                    margin = np.maximum(margin, np.where(other == b, 0.0, np.abs(other - b)))
                wrong &= ~(np.abs(a - b) <= 100 * margin)
        if wrong.any():
            self.differ(what, _short(a, b, wrong), f"got  {a!r}\nwant {b!r}")
        return not wrong.any()

    def refused(self, what, call, error=ValueError):
        """One comparison: both refuse."""
        self.count += 1
        try:
            got = call()
        except error:
            return
        self.differ(what, f"no {error.__name__}, but {got!r}")

    # -------------------------------------------------------------------------------------------------------- drawing
    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p):
        return bool(self.rng.random() < p)

    def between(self, low, high):
        """An integer, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def length(self, low=1, high=70):
        """A length: mostly short, sometimes beside a multiple of the lanes."""
        near = [n for n in AT_BORDERS if low <= n <= high]
        if near and self.chance(0.15):
            return self.pick(near)
        return self.between(low, min(high, 12)) if self.chance(0.85) else self.between(low, high)

    def values(self, shape, kind):
        rng = self.rng
        if kind in ("quarters", "constant"):
            v = rng.integers(-12, 13, shape) / 4
            return v if kind == "quarters" else np.broadcast_to(v[:1], shape).copy()
        if kind == "symbols":
            return rng.integers(0, 3, shape).astype(float)
        v = rng.normal(size=shape)
        if kind == "rounded":
            return v.round(1)
        if kind == "walk":
            return v.cumsum(axis=0)
        if kind == "offset":
            return v + self.offset
        return v * self.scale

    def begin(self, kinds=KINDS, channels=(1, 1, 2, 3)):
        """Draw what all series of the case have in common."""
        self.kind, self.channels = self.pick(kinds), self.pick(channels)
        self.offset = self.pick([-1, 1]) * 10.0 ** self.between(1, 8)
        self.scale = 10.0 ** self.between(-6, 6) if self.kind == "scaled" else 1.0
        if self.kind == "extreme":
            self.scale = 10.0 ** self.pick([-150, -100, 100, 150])
        self.flat = self.channels == 1 and self.chance(0.5)  # (length,) instead of (length, 1)
        self.exact = self.kind in ("quarters", "symbols", "constant")

    def series(self, length, like=None):
        """A series; `like` another one, it may be a part or a stretched copy of it."""
        shape = (length, self.channels)
        v = self.values(shape, self.kind)
        if self.exact and self.kind == "constant" and self.chance(0.5):
            v = self.values(shape, "quarters")
        if like is not None and self.chance(0.25):
            at = np.sort(self.rng.integers(0, len(like), length))
            v = like.reshape(len(like), -1)[at].copy()
        return v[:, 0].copy() if self.flat else v

    def weights(self, m):
        """None, one weight a point, or one a point and channel; some are 0, at least one is above."""
        if self.chance(0.4):
            return None
        shape = (m,) if self.chance(0.6) else (m, self.channels)
        if self.exact:
            w = self.rng.choice([0.0, 0.25, 0.5, 1.0, 1.0, 2.0], size=shape)
        else:
            w = self.rng.random(shape) * self.rng.choice([0, 1, 1, 1], size=shape)
        w.flat[self.between(0, w.size - 1)] = 2.0  # a power of two: to divide by it is exact
        return w

    def times(self, n):
        steps = self.rng.integers(1, 13, n) / 4 if self.exact else self.rng.uniform(0.1, 2, n)
        return steps.cumsum() + self.pick([0.0, 0.0, 50.0])

    # -------------------------------------------------------------------------------------------------------- metrics
    def band(self):
        """Parameters of a metric's band, and those of `naive`."""
        kind = self.pick(["none", "none", "none", "float", "samples", "default", "itakura"])
        if kind == "none":
            return {}, {}
        if kind == "itakura":
            return {"window": "itakura"}, {"band_kind": "itakura"}
        if kind == "float":
            share = self.pick(SHARES)
            here, radius = {"window": share}, lambda a, b: int(share * min(a, b) + 1e-9)
        elif kind == "default":
            here, radius = {"window": "sakoe-chiba"}, lambda a, b: min(a, b) // 2
        else:
            r = self.between(0, 6)
            here, radius = {"window": "sakoe-chiba", "factor": r}, lambda a, b: r
        return here, {"band_kind": "sakoe-chiba", "r": radius}

    def parameters(self, name):
        p = {key: self.pick(values) for key, values in slow.TABLE[name].values.items()}
        if name == "soft_dtw" and self.scale != 1:
            p["gamma"] *= self.scale**2
        if name in COUNTS and not self.exact:
            p["eps"] += 1e-7  # else a norm over channels may be equal to it but for its rounding
        return p

    def elastic(self, names, m, n, *, plain=False, bands=True):
        """A metric object, its name, and the parameters of `naive`; `plain` leaves out what a search refuses."""
        name = self.pick(names)
        p = self.parameters(name)
        here, other = self.band() if bands and name != "sbd" else ({}, {})
        if not plain:
            p |= {key: self.pick(values) for key, values in slow.TABLE[name].values_of_pairs.items()}
        if p.get("dtw_type") == "psi-dtw":
            p["tolerance"] = self.between(0, min(m, n) - 1)
        metric = get_metric(name, {**p, **here})
        if name == "gak" and p["sigma"] is None:
            p = {**p, "sigma": 1.0}
        self.show(metric=metric)
        return metric, name, {**p, **other}

    def ties(self, name, p):
        """Whether sums are exact for a metric, so that its path is known where moves cost the same."""
        return self.exact and slow.has_exact_sums(name, p, self.channels)


def _short(a, b, wrong=None):
    """The first of the values that differ."""
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    wrong = np.asarray(a != b if wrong is None else wrong)
    if a.ndim == 0:
        return f"got {a}, want {b}"
    at = tuple(int(k[0]) for k in np.nonzero(wrong))
    return f"got {a[at]}, want {b[at]} at {at}, {int(wrong.sum())} of {a.size} differ"
