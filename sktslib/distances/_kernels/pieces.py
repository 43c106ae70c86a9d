"""Long kernels in pieces: between two of them Python looks whether it was interrupted.

No result depends on where the cuts are.
"""

from time import perf_counter

from .compilation import block_size

CELLS = block_size(2**22, 300)  # of the first piece: a millisecond or a few
SECONDS = 0.03  # that a piece should take


def budgets():
    """How many cells to compute before the next look, without end: more while that is fast."""
    size = CELLS
    while True:
        started = perf_counter()
        yield size
        took = perf_counter() - started
        size = max(1, size // 2) if took > 2 * SECONDS else size * 2 if took < SECONDS / 2 else size


def pieces(count, cells):
    """Half-open ranges that make up range(count), of items with so many cells each."""
    return ((0, count),) if count * cells <= CELLS else _cut(count, cells)


def _cut(count, cells):
    begin = 0
    for budget in budgets():
        end = min(begin + max(1, int(budget // cells)), count)
        yield begin, end
        if end == count:
            return
        begin = end
