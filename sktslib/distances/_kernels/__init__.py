"""Compiled code: the recurrences of the elastic distances, the terms of the lockstep ones, and their drivers.

A distance is a parameter record and a few functions of it (`recurrence`, `lockstep`); `dispatch` finds them by
the type of the record. A driver is written once and compiled for each record. "Bit for bit" means: results are
identical to those of `scalar`.

Which driver runs when:

========================================== ================ ====================================================
task                                       driver           exactness
========================================== ================ ====================================================
two series with times; cost matrices       `scalar`         the recurrence as it is written
two series without times; warping paths    `strips`         bit for bit
averages along warping paths, elastic      `batch`          paths bit for bit, with or without limits
collections and windows, elastic           `batch`          bit for bit
LCSS and EDR without weights or band       `recurrence`     bit-parallel counts: bit for bit
nearest neighbors                          `batch`          bit for bit (`scan`); `bounds` exclude candidates
subsequences, whole or by chunks           `strips`         bit for bit
subsequences, few samples or with times    `scalar`         bit for bit
a few of many elastic windows              `bounds`         bit for bit for each window that is returned
lockstep distances                         `lockstep`       sums in the order of the points
long windows: squares and products         `mass`           profile within 1e-5; matches as `lockstep`
`soft_dtw`, `gak`                          `soft`           sums in the order of the cells
subsequences normalized each by itself     `bounds`         bounds; what they do not exclude as `batch`
segmentation, elastic                      `segmentation`   sums in order; long recordings up to an offset
pairs of z-normalized windows              `matrix_profile` bounds; what they do not exclude as `lockstep`
========================================== ================ ====================================================

Vector sizes depend on the processor that kernels are compiled for. `simd` chooses them; no result depends on them:

===================== ==================== ============================ =======================================
processor             registers            series in a batch            rows of a strip (pairs, searches)
===================== ==================== ============================ =======================================
AVX-512               32 of 8 floats       16: two registers per value  32: four registers per value
AVX, AVX2             16 of 4              8: two                       16: four
SSE2                  16 of 2              4: two                       16: eight
others (ARM)          32 of 2              8: four                      16: eight
===================== ==================== ============================ =======================================

A batch processes four query points per sweep on all processors. Where all moves cost the same, a search computes the
registers of a strip one after another, because costs and starts alone fill 16 registers.

In `mass`, one code path serves unweighted queries that are normalized by mean or by mean and deviation, and, for
squared differences, queries that are not normalized. Every code path uses `load_rows` and `dot_rows`, on the Fourier
transforms of `fft`.

`compile` compiles kernels and calls them in pieces, and `cache` stores them on disk. `simd` provides vectors of floats;
`strips` describes the memory layout of strips; `moments` normalizes windows. In `batch`, a cell is computed by
`_accumulate` (rows of four query points), `_span` (the band), `_sweep` (along the series) and `_cell`.
`scalar` also traces segmentations back, and `selection` chooses matches.
"""
