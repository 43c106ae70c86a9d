"""Compiled code: the recurrences of the elastic distances, the terms of the lockstep ones, and their drivers.

A distance is a parameter record and a few functions of it (`recurrence`, `lockstep`); `dispatch` finds them by
the type of the record. A driver is written once and compiled for each record. "To the bit" means: as `scalar` does.

Which driver runs when:

========================================== ================ ====================================================
what is asked for                          driver           how exact
========================================== ================ ====================================================
two series, elastic                        `scalar`         the recurrence as it is written
the same without times; paths              `strips`         to the bit
averages along paths, elastic              `batch`          paths to the bit, within limits or not; points summed
collections and windows, elastic           `batch`          to the bit
the same, LCSS and EDR, no weights or band `recurrence`     counts by bits: to the bit
nearest neighbors                          `batch`          to the bit (`scan`); `bounds` leave out candidates
subsequences, whole or by chunks           `strips`         to the bit
the same, few samples or with times        `scalar`         to the bit
a few of many elastic windows              `bounds`         to the bit where a window is listed
lockstep distances                         `lockstep`       sums in the order of the points
long windows, squares and products         `mass`           a profile to 1e-5; matches as `lockstep`
`soft_dtw`, `gak`                          `soft`           sums in the order of the cells
ranges, each normalized by itself          `bounds`         bounds; the ranges they leave as `batch`
segmentation, elastic                      `segmentation`   sums in order; of long recordings less an offset
pairs of z-normalized windows              `matrix_profile` bounds; the pairs they leave as `lockstep`
========================================== ================ ====================================================

How vectors are cut, by the processor that kernels are compiled for; `simd` decides, no result depends on it:

===================== ==================== ========================= ==========================================
processor             registers            series side by side       rows of a strip (pairs, searches)
===================== ==================== ========================= ==========================================
AVX-512               32 of eight floats   16: two registers a value 32: four registers a value
AVX, AVX2             16 of four           8: two                    16: four
SSE2                  16 of two            4: two                    16: eight
others (ARM)          32 of two            8: four                   16: eight
===================== ==================== ========================= ==========================================

A matrix goes along four query points at a time on all of them. Where all moves cost the same, a search computes one
register of a strip after the other: costs and starts alone fill 16 registers.

In `mass`, one part serves queries that have no weights and are normalized by mean, by mean and deviation, or, of
squares, not at all; all of it uses `load_rows` and `dot_rows`, on the Fourier transforms of `fft`.

`compile` says how kernels are compiled and called in pieces, `cache` how they are kept on disk. `simd` is vectors of
floats; `strips` says how strips lie in memory; `moments` normalizes windows; in `batch` a cell is found by
`_accumulate` (rows of four query points), `_span` (the band), `_sweep` (along the series) and `_cell`;
`scalar` follows a segmentation back as well; `selection` chooses matches.
"""
