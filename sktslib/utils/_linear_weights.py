"""Weights under which some distances are short and others long.

With the alignments fixed, a distance is linear in the weights, and the objective is convex. It is minimized, and then
the alignments are found again. See `docs/definitions_learning.rst`, "Learned weights".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

# That "auto" chooses among: equal weights, a pull as strong as the loss that equal weights have about, and a tenth and
# a hundredth of it.
ALPHAS = (np.inf, 1.0, 0.1, 0.01)
# A step to the minimum for held alignments may be too long once they are found again: then half of it, and so on.
STEPS = (1.0, 0.5, 0.25, 0.125)
TOLERANCE = 1e-3  # of the objective: a smaller relative fall ends the iterations


class Comparisons(NamedTuple):
    """Pairs of a distance that is to be short and one that is to be long, and what both are of parameters."""

    rows: np.ndarray  # (comparisons, n_parameters): the short one less the long one, in units of the margin
    share: np.ndarray  # of each in the objective; they add up to 1


class Learned(NamedTuple):
    """Weights, and how they were found."""

    weights: np.ndarray  # (channels, length or 1), mean 1
    objective: list  # with equal weights, and after each iteration


def basis_of(kind, n_channels, length, n_knots):
    """Return the weights that each parameter stands for (n_parameters, channels, length or 1).

    With all parameters 1 all weights are 1.
    """
    channels = np.eye(n_channels)[:, :, np.newaxis]
    if kind == "channels":
        return channels
    at = np.linspace(0, length - 1, min(n_knots, length))
    hats = np.array([np.interp(np.arange(length), at, row) for row in np.eye(len(at))])
    if kind == "points":
        return np.repeat(hats[:, np.newaxis], n_channels, axis=1)
    return (channels[:, np.newaxis] * hats[:, np.newaxis]).reshape(-1, n_channels, length)


def weights_of(v, basis):
    """Return the weights (channels, length or 1) of parameters."""
    return np.tensordot(v, basis, 1)


def by_parameter(terms, basis):
    """Return the factors of the parameters in a sum, from those of the weights (channels, length)."""
    terms = terms if basis.shape[2] > 1 else terms.sum(axis=1, keepdims=True)
    return basis.reshape(len(basis), -1) @ terms.ravel()


def objective(v, basis, compared, alpha):
    """Return the objective and its gradient by the parameters, with alignments and neighbors held."""
    rows, share = compared
    short = np.maximum(1.0 + rows @ v, 0.0)
    apart = weights_of(v, basis) - 1.0
    value = share @ short**2 + alpha * np.mean(apart**2)
    pull = 2.0 * alpha / apart.size * np.tensordot(basis, apart, 2)
    return value, 2.0 * (share * short) @ rows + pull


def learned(first, basis, alpha, max_iter, count, before=1.0):
    """Return the weights for a strength of the pull to equal ones; infinite means equal.

    `first` are the comparisons with parameters that are ones, and a function that gives those with the alignments that
    are the best with some parameters; None where there is nothing to learn from. `count` counts iterations. The weights
    are factors of those `before`.
    """
    if first is None or alpha == np.inf:
        return Learned(np.ones(basis.shape[1:]), [])
    v, (compared, compare) = np.ones(len(basis)), first
    values = [float(objective(v, basis, compared, alpha)[0])]
    for _ in range(max_iter):
        arguments, bounds = (basis, compared, alpha), [(0.0, None)] * len(v)
        goal = minimize(objective, v, args=arguments, jac=True, bounds=bounds, method="L-BFGS-B").x
        for step in STEPS:
            new = v + step * (goal - v)
            if not (before * weights_of(new, basis)).any():  # nothing tells them apart
                continue
            aligned = compare(new)
            value = float(objective(new, basis, aligned, alpha)[0])
            if value < values[-1]:
                break
        else:
            break
        v, compared = new, aligned
        values.append(value)
        count(1, f"objective {value:.6g}")
        if values[-2] - value <= TOLERANCE * values[-2]:
            break
    w = weights_of(v, basis)
    return Learned(w / w.mean(), values)
