"""Beats learned from few labels, and from labels that are wrong: F1 of R peaks within 150 ms in the 25 minutes behind.

    python benchmarks/few_labels.py FOLDER

FOLDER and the scores are those of `beats.py`. Rows, all of a recording's first five minutes:

- `first k`: `fit` gets the recording up to the end of its k-th beat, in which every beat is marked;
- `k of 5 min`: `fit` gets five minutes in which k beats are marked, the others stand in the background;
- `part unmarked`: a fifth of the marks is left out, drawn at random;
- `shifted`: both borders of each mark are off by up to 40 ms;
- `all`: every beat of the five minutes is marked; behind a running median, too, which removes the baseline.
"""
