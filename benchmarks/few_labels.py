"""Beats learned from few labels, and from labels that are wrong: F1 of R peaks within 150 ms in 25 minutes.

    python benchmarks/few_labels.py FOLDER

FOLDER, the pipeline from raw signal to R peaks and the scores are those of `beats.py`, the metric is the default one.
All labels are of a record's first five minutes, the scores of what is behind them:

- `first k`: `fit` gets the record up to the end of its k-th beat, and every beat in it is marked;
- `k of 5 min`: `fit` gets five minutes in which k beats are marked, and the others stand in the background;
- `1/5 unmarked`, `1/2 unmarked`: of the marks of five minutes so many are left out, drawn at random;
- `k, trained`: as `first k`, and with the rest of the five minutes unlabeled, in three rounds of self-training;
- `k, auto`: the same with ``metric="auto"``;
- `shifted`: both borders of every mark are off by up to 40 ms, drawn at random;
- `all`: every beat of the five minutes is marked; behind a running median instead of `AutoFilter`, too.
"""

import sys
from pathlib import Path

import numpy as np
from beats import AFTER, BEFORE, LEARNED, RATE, RECORDS, f1_of, found_by, labeled, read
from sklearn.pipeline import make_pipeline

from sktslib import QuerySegmenter
from sktslib.metrics import events_from_labels, labels_from_events
from sktslib.preprocessing import AutoFilter, RunningBaseline
from sktslib.search import Learning

SHIFT = int(0.04 * RATE)
BASELINE = int(0.6 * RATE)  # samples of the running median: the window of 600 ms that is usual for electrocardiograms


def learned():
    """The pipeline that is learned from raw signal and labels."""
    return make_pipeline(AutoFilter(RATE), QuerySegmenter())


def behind_median():
    """The default segmenter, the baseline removed by a running median."""
    return make_pipeline(RunningBaseline(BASELINE), QuerySegmenter())


def first(k):
    """Learn from the record up to the end of its k-th beat."""
    return lambda signal, peaks: found_by(learned(), signal, peaks, peaks[k - 1] + AFTER)


def trained(k, **how):
    """The same with the rest of the five minutes unlabeled."""

    def found(signal, peaks):
        stop = peaks[k - 1] + AFTER
        y = np.full(LEARNED, -1)
        y[:stop] = labeled(peaks[:k], stop)
        pipe = make_pipeline(AutoFilter(RATE), QuerySegmenter(**how, learning=Learning(self_train=3)))
        learn = pipe.fit
        pipe.fit = lambda X, _: learn(X, y)
        return found_by(pipe, signal, peaks)

    return found


def of_five_minutes(choose):
    """Learn from five minutes, in which some beats are marked; `choose` says which of so many."""

    def found(signal, peaks):
        known = peaks < LEARNED
        return found_by(learned(), signal, np.concatenate([peaks[known][choose(known.sum())], peaks[~known]]))

    return found


def without(share):
    """Which beats are marked where a share is left out."""
    return lambda k: np.random.default_rng(0).random(k) >= share


def shifted(signal, peaks):
    """Learn from five minutes in which both borders of every mark are off."""
    pipe = learned()
    learn, drawn = pipe.fit, np.random.default_rng(0)

    def fit(X, y):
        events = events_from_labels(y)
        events += drawn.integers(-SHIFT, SHIFT + 1, events.shape)
        return learn(X, labels_from_events(np.clip(events, 0, len(X)), n_samples=len(X), on_overlap="cut"))

    pipe.fit = fit
    return found_by(pipe, signal, peaks)


ROWS = {f"first {k}": first(k) for k in (1, 2, 5, 20)}
ROWS |= {f"{k}, trained": trained(k) for k in (1, 2, 5, 20)}
ROWS |= {f"{k}, auto": trained(k, metric="auto") for k in (2, 5, 20)}
ROWS |= {f"{k} of 5 min": of_five_minutes(lambda n, k=k: np.arange(n) < k) for k in (1, 2, 5, 20)}
ROWS |= {"1/5 unmarked": of_five_minutes(without(0.2)), "1/2 unmarked": of_five_minutes(without(0.5))}
ROWS["shifted"] = shifted
ROWS["all"] = lambda signal, peaks: found_by(learned(), signal, peaks)
ROWS["all, median"] = lambda signal, peaks: found_by(behind_median(), signal, peaks)


def main(folder):
    records = {record: read(Path(folder) / f"ecg_mitbih{record}_annotated_360hz.npz") for record in RECORDS}
    print(f"{'':13}", *(f"{record:>6}" for record in RECORDS), "  mean   learn s, at most")
    learned().fit(*_warm())  # loads compiled code
    for name, find in ROWS.items():
        scores, seconds = [], []
        for signal, peaks in records.values():
            found, took, _ = find(signal, peaks)
            scores.append(f1_of(peaks[peaks >= LEARNED], found))
            seconds.append(took)
        print(f"{name:13}", *(f"{score:6.4f}" for score in scores), f"{np.mean(scores):6.4f} {max(seconds):8.2f}")


def _warm():
    """A short recording with two events."""
    rng, at = np.random.default_rng(0), np.array([[500, 500 + BEFORE], [900, 900 + BEFORE]])
    return rng.normal(size=(1500, 1)), labels_from_events(at, n_samples=1500)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
