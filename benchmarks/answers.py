"""Beats of electrocardiograms from one beat and ten answers, beside all labels of five minutes; F1 within 150 ms.

    python benchmarks/answers.py FOLDER

FOLDER holds the records that `beats.py` reads. Behind a band-pass of 5 to 20 Hz one labeled beat is the query. Five
times the two matches of the first five minutes of which `Matches.uncertain` is least certain are answered from the
annotations, and `learn_from_answers` takes the answers: ten of them, each of which says "a beat" or "none". The
searcher then finds the beats of the other 25 minutes. Beside it stand the searcher that knows of one match alone that
it is a beat, the query itself, and the one that learned from all labels of the five minutes. A match is a beat if it
has a third of the union in common with a marked one. So with each of twelve beats; lines on stderr say what was
answered.
"""

import sys
from pathlib import Path

import numpy as np
from beats import AFTER, BEFORE, LEARNED, RATE, f1_of, labeled, read

from sktslib import QuerySearcher
from sktslib.metrics import events_from_labels
from sktslib.preprocessing import BandPass

RECORDS = (100, 108, 116)
QUERIES = range(5, 245, 20)  # which beats are the query, one at a time
ROUNDS, EACH = 5, 2


def peaks_of(matches, signal):
    """The R peak of each match: where the filtered signal is largest in absolute value."""
    size = np.abs(signal[:, 0])
    return np.array([s + np.argmax(size[s:e]) for s, e in zip(matches.start, matches.end, strict=True)], int)


def agreeing(beats, matches):
    """Numbers of the matches that have at least a third of the union in common with one of the marked beats."""
    order = np.searchsorted(beats.mean(axis=1), (matches.start + matches.end) / 2)
    near = beats[np.clip(order[:, None] + [-1, 0], 0, len(beats) - 1)]
    common = np.minimum(near[..., 1], matches.end[:, None]) - np.maximum(near[..., 0], matches.start[:, None])
    union = np.diff(near)[..., 0] + (matches.end - matches.start)[:, None] - common
    return np.flatnonzero((common / union).max(axis=1) >= 1 / 3)


def answered(searcher, signal, peaks):
    """The searcher after ten answers about a part with known peaks, and the answers."""
    beats = events_from_labels(labeled(peaks, len(signal)))
    asked, said = [], ""
    for _ in range(ROUNDS):
        matches = searcher.search_all(signal)
        ask = matches.uncertain(EACH, known=asked)
        right = np.isin(ask, agreeing(beats, matches))
        searcher = searcher.learn_from_answers(matches, good=ask[right], bad=ask[~right])
        asked.append(matches[ask])
        said += "".join("+" if one else "-" for one in right)
    return searcher, said


def main(folder, metric):
    print(f"{metric}\nrecord  one beat  ten answers  all labels  mean share  least  under .95")
    for record in RECORDS:
        signal, peaks = read(Path(folder) / f"ecg_mitbih{record}_annotated_360hz.npz")
        signal = BandPass(5, 20, sampling_rate=RATE).fit_transform(signal[:, None])
        known, rest = signal[:LEARNED], signal[LEARNED:]
        true, unseen = peaks[peaks < LEARNED - AFTER], peaks[peaks >= LEARNED] - LEARNED

        def score(searcher, rest=rest, unseen=unseen):
            return f1_of(unseen, peaks_of(searcher.search(rest), rest))

        whole, scores = score(QuerySearcher(metric).fit(known, labeled(true, LEARNED))), []
        for number in QUERIES:
            one = QuerySearcher(metric).fit(known[true[number] - BEFORE : true[number] + AFTER])
            searcher, said = answered(one, known, true)
            scores.append((score(one.learn_from_answers(one.search_all(known), good=[0])), score(searcher)))
            print(f"{record:6}  beat {number:3}: {scores[-1][1]:.4f} {said}", file=sys.stderr, flush=True)
        one, ten = np.mean(scores, axis=0)
        shares = np.array(scores)[:, 1] / whole
        rest = f"{shares.mean():12.3f}{shares.min():7.3f}{(shares < 0.95).sum():11}"
        print(f"{record:6}{one:10.4f}{ten:13.4f}{whole:12.4f}{rest}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *sys.argv[2:] or ["dtw"])
