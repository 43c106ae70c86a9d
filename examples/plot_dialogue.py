"""
Ask, and learn from the answers
===============================

From one beat to a searcher, by a few answers to the question: is this one, too?
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher, load_ecg_example
from sktslib.metrics import event_report
from sktslib.utils.visualisation import EventsDisplay

ecg = load_ecg_example()
normal = ecg.beats[ecg.beat_kinds == "N"]
true = np.column_stack([normal - 22, normal + 43]).clip(0)

# %%
# One beat of another part of the recording is the query. Everything that fits is a candidate; which of them are normal
# beats, the query alone does not tell.

searcher = QuerySearcher("euclidean", normalize="zscore", max_overlap=0.1).fit(ecg.query)
matches = searcher.search_all(ecg.sequence, times=ecg.ts)
print(matches)

# %%
# `uncertain` gives those nearest to where occurrences seem to end. Here the annotation answers; else you would look at
# their pictures.


def is_normal(match):
    """The answer of someone who looks at a match."""
    return bool(((normal >= match.start) & (normal < match.end)).any())


ask = matches.uncertain(4)
figure, axes = plt.subplots(1, len(ask), figsize=(9, 2), sharey=True, layout="constrained")
for ax, k, piece in zip(axes, ask, matches[ask].cut(), strict=True):
    ax.plot(piece)
    ax.set_title(f"distance {matches[k].distance:.1f}: {'yes' if is_normal(matches[k]) else 'no'}")
    ax.set_xlabel("sample")
axes[0].set_ylabel("mV")

# %%
# `learn_from_answers` makes a new searcher of the answers: the query is averaged with the good ones, its points are
# weighted, and the threshold lies between good and bad. Three rounds of two questions each; what was asked is not asked
# again.

asked = []
for _ in range(3):
    matches = searcher.search_all(ecg.sequence, times=ecg.ts)
    ask = matches.uncertain(2, known=asked)
    good = np.array([is_normal(matches[k]) for k in ask], bool)
    searcher = searcher.learn_from_answers(matches, good=ask[good], bad=ask[~good])
    asked.append(matches[ask])
    print(f"threshold {searcher.threshold_:.2f}, {len(searcher.search(ecg.sequence))} matches")

# %%
# The report lists hits, misses and false ones, with the errors of their borders, and the causes.

found = searcher.search(ecg.sequence, times=ecg.ts)
report = event_report(true, found)
print(report)
print(report.to_frame()[["kind", "cause", "found_start", "start_error", "distance"]])
EventsDisplay.from_predictions(true, found, ecg.sequence, ecg.ts, title="after six answers")
plt.show()
