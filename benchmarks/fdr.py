"""Shares of false matches that a false discovery rate lets through, on patterns planted in colored noise.

    python benchmarks/fdr.py [--recordings 100] [--null phase|negated|independent|reversed|quarter] [--polarity any]

Each recording of 16,000 samples is Gaussian noise (white, 1/f, or a random walk) with 80 occurrences of a pattern, a
heart beat or a single wave, each stretched by up to 10 %. Printed are, for a rate of 0.05 and 0.20: the mean share of
false ones among the matches, the mean share of occurrences found, and that of the oracle, the largest threshold whose
share of false ones, by the truth, is at most the rate. A match is true if it and an occurrence share half of the
shorter one: where exactly it begins and ends is another question. The last column is the processor time of a search
with the rate over that of a search for all that fits.

With the polarity "any" half of the occurrences are mirrored, and matches may be. The phases of the null "quarter" are
shifted by a quarter turn, give or take half of that.
"""

import argparse
import warnings
from time import process_time

import numpy as np

from sktslib import QuerySearcher, load_ecg_example
from sktslib.search import FalseDiscoveryRate
from sktslib.search._thresholds import phase_shifted

LENGTH, COUNT, SLOT = 16_000, 80, 150
ALPHAS = 0.05, 0.2
LEVELS = {"white": 0.2, "1/f": 0.2, "walk": 0.3}  # of the noise's standard deviation, in those of the pattern


def patterns():
    """Patterns whose background is 0."""
    beat = np.asarray(load_ecg_example()["query"]).ravel()
    return {"beat": beat - np.median(beat), "wave": np.exp(-0.5 * (np.linspace(-1, 1, 60) / 0.24) ** 2)}


def independent_phases(query, random_state):
    """A query with the same amplitude spectrum and independent phases."""
    spectrum = np.fft.rfft(query - query.mean(axis=0), axis=0)
    turned = spectrum * np.exp(2j * np.pi * random_state.uniform(size=(len(spectrum), 1)))
    return np.fft.irfft(turned, len(query), axis=0) + query.mean(axis=0)


def reversed_in_time(query, random_state):
    """What the package refuses by name."""
    return query[::-1]


def quarter_turn(query, random_state):
    """A query half way between itself and its mirror image."""
    angle = np.pi / 2 * random_state.choice([-1, 1]) + np.pi / 4 * random_state.uniform(-1, 1)
    return phase_shifted(query.T, np.zeros(query.shape[1]), angle).T


NULLS = {
    "phase": "phase",
    "negated": "negated",
    "independent": independent_phases,
    "reversed": reversed_in_time,
    "quarter": quarter_turn,
}


def searchers(spread):
    """Searchers of all that fits, by the name of what they compare by."""
    return {
        "dtw": QuerySearcher("dtw", n_matches=None),
        "adtw": QuerySearcher("adtw", metric_params={"omega": "auto"}, n_matches=None),
        "euclidean zscore": QuerySearcher("euclidean", normalize="zscore", n_matches=None),
        "manhattan": QuerySearcher("manhattan", n_matches=None),
        "lcss": QuerySearcher("lcss", metric_params={"eps": 0.5 * spread}, n_matches=None),
    }


def noise(rng, color):
    """Noise of standard deviation 1 about 0."""
    white = rng.standard_normal(LENGTH)
    if color == "walk":
        white = np.cumsum(white)
    if color == "1/f":
        spectrum = np.fft.rfft(white)
        white = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), LENGTH)
    return (white - white.mean()) / white.std()


def recording(rng, pattern, color, polarity="same"):
    """A recording and the half-open ranges of its occurrences."""
    y, events = LEVELS[color] * pattern.std() * noise(rng, color), []
    for slot in np.sort(rng.choice(LENGTH // SLOT, COUNT, replace=False)) * SLOT:
        length = int(len(pattern) * rng.uniform(0.9, 1.1))
        start = slot + rng.integers(0, SLOT - length)
        at = np.linspace(0, len(pattern) - 1, length)
        sign = 1 if polarity == "same" else rng.choice([-1, 1])
        y[start : start + length] += sign * np.interp(at, np.arange(len(pattern)), pattern)
        events.append((start, start + length))
    return y, np.array(events)


def hit_by(matches, events):
    """The occurrence that each match lies on, or -1."""
    nearest = np.abs(np.subtract.outer(matches.start + matches.end, events.sum(axis=1))).argmin(axis=1)
    start, end = events[nearest].T
    common = np.minimum(matches.end, end) - np.maximum(matches.start, start)
    return np.where(common >= 0.5 * np.minimum(matches.end - matches.start, end - start), nearest, -1)


def oracle(everything, hit, alpha):
    """The share of occurrences found with the largest threshold that keeps the rate by the truth."""
    last = np.searchsorted(everything.distance, everything.distance, "right")
    false = np.cumsum(hit < 0)[last - 1] / last
    kept = np.flatnonzero(false <= alpha)
    return found_of(hit[: last[kept[-1]]]) if len(kept) else 0.0


def found_of(hit):
    """The share of occurrences that are hit."""
    return len(np.unique(hit[hit >= 0])) / COUNT


def measured(searcher, pattern, color, count, null):
    """Mean share of false ones, of occurrences found, and of the oracle's, for each rate; and how many searches."""
    out, seconds = np.zeros((len(ALPHAS), 3)), np.zeros(2)
    signs = searcher.polarity
    y, _ = recording(np.random.default_rng(0), pattern, color, signs)
    searcher.set_params(threshold=None).fit(pattern).search(y)
    for k in range(count):
        y, events = recording(np.random.default_rng(k), pattern, color, signs)
        begin = process_time()
        everything = searcher.set_params(threshold=None).fit(pattern).search(y)
        seconds[0] += process_time() - begin
        hit = hit_by(everything, events)
        for row, alpha in zip(out, ALPHAS, strict=True):
            searcher.set_params(threshold=FalseDiscoveryRate(alpha, null, random_state=k))
            begin = process_time()
            found = searcher.fit(pattern).search(y)
            seconds[1] += (process_time() - begin) / len(ALPHAS)
            right = hit_by(found, events)
            row += (right < 0).sum() / max(len(found), 1), found_of(right), oracle(everything, hit, alpha)
    return out / count, seconds[1] / seconds[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=100)
    parser.add_argument("--null", default="phase", choices=tuple(NULLS))
    parser.add_argument("--polarity", default="same", choices=("same", "any"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of rates that nothing keeps
    print(
        f"{'pattern':8}{'metric':18}{'noise':7}"
        + "".join(f"{f'{a:g}: false found oracle':24}" for a in ALPHAS)
        + "time"
    )
    for name, pattern in patterns().items():
        for metric, searcher in searchers(pattern.std()).items():
            for color in LEVELS:
                searcher.set_params(polarity=options.polarity)
                rows, time = measured(searcher, pattern, color, options.recordings, NULLS[options.null])
                cells = "".join(f"{'':6}{a:.3f} {b:.3f} {c:.3f} " for a, b, c in rows)
                print(f"{name:8}{metric:18}{color:7}{cells}{time:.1f}", flush=True)


if __name__ == "__main__":
    main()
