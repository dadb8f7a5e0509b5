"""Medians, spread and ratios of the figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["ratio", "spread"]

_DRAWS = 4000
_INSIDE = 0.95


def spread(rounds: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, the lower and the upper quartile.

    >>> spread([1.0, 2.0, 3.0, 4.0, 5.0])
    (3.0, 2.0, 4.0)
    """
    median, low, high = np.quantile(np.asarray(rounds, float), [0.5, 0.25, 0.75])
    return float(median), float(low), float(high)


def ratio(over: Sequence[float], under: Sequence[float]) -> tuple[float, float, float]:
    """Return the ratio of the medians and its 95% confidence interval.

    The interval is a bootstrap's: rounds are drawn again with replacement, those of one round
    together, since they ran beside each other. The draws are the same at every call.

    >>> ratio([4.0, 4.0, 4.0], [2.0, 2.0, 2.0])
    (2.0, 2.0, 2.0)
    """
    pairs = np.array([over, under], float)
    count = pairs.shape[1]
    drawn = np.random.default_rng(0).integers(0, count, (_DRAWS, count))
    above, below = np.median(pairs[:, drawn], axis=2)
    rest = (1 - _INSIDE) / 2
    low, high = np.quantile(above / below, [rest, 1 - rest])
    median = np.median(pairs, axis=1)
    return float(median[0] / median[1]), float(low), float(high)
