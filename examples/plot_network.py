"""
A network of stations
=====================

A wave reaches one station after the other, and some stations are dead. Each channel of the query is compared at its own
lag, and a match is where enough channels fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktslib import QuerySearcher
from sktslib.search import ChannelPlan

# %%
# Eight stations, five minutes at 50 Hz, and one small earthquake that comes again and again: four more times, weaker
# than at first, in noise as large as the waves. Meanwhile stations fail.

rng = np.random.default_rng(2)
rate, stations = 50, 8
t = np.arange(4 * rate) / rate
phases = rng.uniform(0, 6.3, (2, stations))
waves = np.sin(2 * np.pi * 4 * t[:, np.newaxis] + phases[0]) + np.sin(2 * np.pi * 7 * t[:, np.newaxis] + phases[1])
waves *= (np.exp(-t / 0.9) * np.minimum(t / 0.2, 1))[:, np.newaxis]
lags = np.round(rate * np.linspace(0, 2.6, stations) ** 1.2).astype(int)  # samples behind the first arrival

events, amplitudes = np.array([1000, 4200, 7300, 10100, 13000]), [3.0, 1.0, 0.8, 1.2, 2.0]
network = 0.35 * rng.normal(size=(300 * rate, stations))
for start, amplitude in zip(events, amplitudes, strict=True):
    for c, lag in enumerate(lags):
        network[start + lag : start + lag + len(t), c] += amplitude * waves[:, c]
network[3800:, 2] = 0.0  # no signal from here on
network[7000:, 5] = 0.35 * rng.normal(size=len(network) - 7000)  # noise alone
network[12000:, 6] = np.sign(network[12000:, 6])  # clipped

# %%
# The query is the largest event, each channel cut at its arrival. ``metric="correlation"`` is the template matching of
# seismology. ``ChannelPlan`` compares each station by itself, at its lag. With ``min_votes=5`` the distance is the sum
# over the five stations that fit best: 0 where these are like the query, 5 where nothing is. Arrivals may be three
# samples early or late.

query = np.column_stack([network[events[0] + lag : events[0] + lag + len(t), c] for c, lag in enumerate(lags)])
best_five = ChannelPlan(lag=lags.tolist(), tolerance=3, min_votes=5)
searcher = QuerySearcher("correlation", channels=best_five, threshold=3.0).fit(query)
matches = searcher.search(network).sorted()
print("found:", matches.start.tolist())
print("lie at:", events.tolist())

# %%
# Where all eight stations must fit, each dead one adds 1 to the distance of an event, and a threshold would depend on
# how many there are.

all_stations = ChannelPlan(lag=lags.tolist(), tolerance=3)
everywhere = QuerySearcher("correlation", channels=all_stations, threshold=3.0).fit(query)
fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, one, title in zip(axes, (everywhere, searcher), ("all eight stations", "the best five"), strict=True):
    profile = one.profile(network)
    ax.plot(profile.start / rate, profile.distance, lw=0.5)
    ax.plot(events / rate, profile.distance[events], "v", color="C3", label="events")
    ax.set(title=title, ylabel="distance")
axes[1].axhline(searcher.threshold, color="0.5", ls="--")
axes[1].set(xlabel="seconds")
axes[0].legend(loc="lower right")

# %%
# ``votes`` says which stations a match rests on, ``lag`` where each arrival is. The last two events:

fig, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True, layout="constrained")
for ax, match, votes, lag in zip(axes, matches[-2:], matches.votes[-2:], matches.lag[-2:], strict=True):
    shown = slice(match.start - rate, match.end + rate)
    for c in range(stations):
        ax.plot(np.arange(shown.start, shown.stop) / rate, network[shown, c] / 4 + c, color="0.6", lw=0.6)
        if votes[c]:
            arrival = match.start + lag[c]
            own = slice(arrival, arrival + len(t))
            ax.plot(np.arange(own.start, own.stop) / rate, network[own, c] / 4 + c, color="C0", lw=0.8)
    ax.set(xlabel="seconds", title=f"{votes.sum()} stations, distance {match.distance:.2f}")
axes[0].set(ylabel="station", yticks=range(stations))
plt.show()
