"""
How two series are aligned
==========================

Dynamic time warping pairs the points of two series so that the squared differences of the pairs add up to as little
as possible. The pairs are the warping path; the sums up to each pair are the cost matrix.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import load_ecg_example
from sktslib.distances import dtw
from sktslib.utils.visualisation import CostMatrixDisplay, plot_alignment, plot_costmatrix

ecg = load_ecg_example()
query, piece = ecg.query, ecg.sequence[200:300]

# %%
# One normal beat is the query, and the piece holds another one with a bit of the recording around it. The result is a
# number that also unpacks.

distance, cost_matrix, path = dtw(query, piece)
print(f"distance {distance:.4f}, cost matrix {cost_matrix.shape}, path of {path.shape[1]} pairs")

# %%
# The function divides by the number of query points; the squared differences of the pairs add up to the rest.

print(np.isclose(distance, ((query[path[0]] - piece[path[1]]) ** 2).sum() / len(query)))
plot_alignment(query, piece, path)

# %%
# Spike met spike, and the wave after it met its like. But both ends had to meet as well, so the samples of the piece
# that are too many, before the spike and at the end, crowd at a few points of the query.
#
# The path through the cost matrix, with both series beside it: where it runs level or upright, one of them waits.

CostMatrixDisplay.from_predictions(dtw(query, piece), query, piece)

# %%
# The type of the warping says which ends may be left out. With an open end (``oe-dtw``) the piece's last samples may
# be, with open begin and end (``obe-dtw``; ``sub-dtw`` is another name) those at both sides, and ``psi-dtw`` lets up
# to ``tolerance`` points go at each end of both series.

types = {"dtw": {}, "oe-dtw": {}, "obe-dtw": {}, "psi-dtw": {"tolerance": 15}}
alignments = {name: dtw(query, piece, dtw_type=name, **options) for name, options in types.items()}

figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for ax, (name, alignment) in zip(axes.flat, alignments.items(), strict=True):
    plot_costmatrix(alignment.cost_matrix, alignment.path, ax=ax)
    ax.set_title(f"{name}: {float(alignment):.4f}", loc="left")
    first, last = alignment.path[1, [0, -1]]
    print(f"{name:8s} distance {alignment:.4f}, samples {first} to {last} of the piece")

# %%
# The more may be left out, the shorter the path and the smaller the distance. With open begin and end (lower left) a
# path may start anywhere along the lower edge and end anywhere along the upper one, so the recording around the beat
# costs nothing. That is what a search does.

alignment = alignments["obe-dtw"]
plot_alignment(query, piece, alignment.path)
plt.show()
