"""Filters and running statistics, a sample at a time; NaN are missing."""

import math

import numpy as np

from .scoring import runs


def window(y, t, width, causal):
    """The values that are there of the window that ends at sample t, or lies about it."""
    ahead = 0 if causal else (width - 1) // 2
    values = [y[k] for k in range(t - width + 1 + ahead, t + ahead + 1) if 0 <= k < len(y)]
    return [v for v in values if not math.isnan(v)]


def running(y, width, causal, statistic):
    """A statistic of the window of each sample; NaN where none of its values is there."""
    values = [window(y, t, width, causal) for t in range(len(y))]
    return np.array([statistic(some) if some else math.nan for some in values])


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def filtered(sos, y):
    """A causal filter that begins as if the first sample of each run had been there forever."""
    out, state = [], None
    for value in y:
        if math.isnan(value):
            state = None
            out.append(math.nan)
            continue
        if state is None:
            state, x = [], value
            for b0, b1, b2, _, a1, a2 in sos:
                rest = x * (b0 + b1 + b2) / (1 + a1 + a2)
                state.append([x, x, rest, rest])
                x = rest
        x = value
        for (b0, b1, b2, _, a1, a2), past in zip(sos, state, strict=True):
            x1, x2, y1, y2 = past
            new = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
            past[:] = [x, x1, new, y1]
            x = new
        out.append(x)
    return np.array(out)


def events_of(y):
    """Start, end and label of each run of a label other than the empty text."""
    return [run for run in runs(y) if run[2]]


def best_band(frequencies, events, noise):
    """The edges between which (sum S)^2 / sum(N^2 + S N) of one channel is largest, every pair of them tried."""
    best, band = 0.0, None
    for first in range(1, len(frequencies)):
        for last in range(first, len(frequencies)):
            gain = sum(events[first : last + 1])
            pairs = zip(events[first : last + 1], noise[first : last + 1], strict=True)
            spread = sum(n * n + max(s, 0) * n for s, n in pairs)
            if gain > 0 and gain**2 / spread > best:
                best, band = gain**2 / spread, (first, last)
    half = frequencies[1] / 2
    low = None if band[0] == 1 else frequencies[band[0]] - half
    return low, None if band[1] == len(frequencies) - 1 else frequencies[band[1]] + half


def place_of(y, start, part, reach):
    """The start, by up to `reach` away, at which a part correlates best with a recording (channels, n)."""
    places = [k for k in range(start - reach, start + reach + 1) if 0 <= k <= len(y[0]) - len(part[0])]

    def common(k):
        return sum(row[k + i] * x[i] for row, x in zip(y, part, strict=True) for i in range(len(x)))

    return max(places, key=common)


def gains(y, starts, length, first, last):
    """What the median of the events outside of a block explains of those in it, and where it explains most beside."""
    held_out = [s for s in starts if first <= s + length / 2 < last]
    rest = [s for s in starts if s not in held_out]
    typical = [[median([row[s + k] for s in rest]) for k in range(length)] for row in y]
    power = sum(x * x for row in typical for x in row)
    gain = {}
    for place in range(first, last - length + 1):
        left = before = 0.0
        for row, part in zip(y, typical, strict=True):
            left += sum((row[place + k] - part[k]) ** 2 for k in range(length))
            before += sum(row[place + k] ** 2 for k in range(length))
        gain[place] = (before - left) / power
    events = [max(gain.get(s + k, -math.inf) for k in range(-(length // 3), length // 3 + 1)) for s in held_out]
    half = length // 2
    free = {p: g for p, g in gain.items() if not any(s - half <= p < s + half for s in held_out)}
    others = []
    peaks = [p for p, g in free.items() if free.get(p - 1, -math.inf) < g > free.get(p + 1, -math.inf)]
    for place in sorted(peaks, key=free.get, reverse=True):
        if all(abs(place - other) >= half for other in others):
            others.append(place)
    return events, [free[p] for p in sorted(others)]


def recurring(y, starts, length):
    """Where else the median of events of one channel recurs, and how often mirrored; y varies by 1."""
    pieces = [[v - sum(y[s : s + length]) / length for v in y[s : s + length]] for s in starts]
    typical = [median([piece[k] for piece in pieces]) for k in range(length)]
    left = {}
    for place in range(len(y) - length + 1):
        power = sum(v * v for v in y[place : place + length])
        left[place] = [sum((y[place + k] - sign * typical[k]) ** 2 for k in range(length)) / power for sign in (1, -1)]
    k, worst = len(starts), max(left[s][0] for s in starts)
    limit = min((k * worst * (k + 1) / max(k - 1, 1) + 0.75) / (k + 3), 0.5)
    least, found = {place: min(pair) for place, pair in left.items()}, []
    near = [p for p, v in least.items() if v <= limit and least.get(p - 1, -1) > v < least.get(p + 1, -1)]
    for place in sorted(near, key=least.get):
        if all(abs(place - other) >= length for other in found):
            found.append(place)
    free = [
        p for p in sorted(found) if sum(s <= p + k < s + length for s in starts for k in range(length)) <= length / 2
    ]
    return [p for p in free if left[p][0] < left[p][1]], [p for p in free if left[p][0] >= left[p][1]]
