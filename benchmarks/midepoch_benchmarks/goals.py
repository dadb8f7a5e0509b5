"""Goals, and the verdicts on measured figures (pure)."""

from __future__ import annotations

import dataclasses

__all__ = ["COST", "HOPED", "MET", "MISSED", "RATIO", "REPORTED", "VALUE", "Goal", "verdict"]

RATIO, COST, VALUE = "ratio", "cost", "value"
HOPED, MET, MISSED, REPORTED = "hoped for", "met", "missed", "reported"


@dataclasses.dataclass(frozen=True)
class Goal:
    """The goal of a case."""

    of: str = RATIO
    """``"ratio"``: the peer's time over the loader's, larger is better; ``"cost"``: the share by
    which the loader's time exceeds the peer's, smaller is better; ``"value"``: the loader's own
    figure, smaller is better."""
    required: float | None = None
    """The bound that must be kept; None: the case is only reported."""
    hoped: float | None = None
    """The bound that is hoped for, or None."""

    @property
    def larger_is_better(self) -> bool:
        """Whether the figure must reach the bound from above."""
        return self.of == RATIO

    @property
    def parity(self) -> bool:
        """Whether the loader must only not be slower than the peer."""
        return self.of == RATIO and self.required == 1.0


def verdict(goal: Goal, figure: float, low: float, high: float) -> str:
    """Return ``"hoped for"``, ``"met"``, ``"missed"`` or ``"reported"`` (no goal).

    ``low`` and ``high`` are the ends of the figure's confidence interval. They count if the
    loader must only not be slower: it misses that goal if the whole interval is slower.

    >>> verdict(Goal(RATIO, 15, 40), 22.0, 20.0, 24.0)
    'met'
    >>> verdict(Goal(VALUE, 100e-6, 20e-6), 140e-6, 130e-6, 150e-6)
    'missed'
    >>> verdict(Goal(RATIO, 1.0, 2.0), 0.99, 0.97, 1.01)
    'met'
    """
    if goal.required is None:
        return REPORTED
    sign = 1.0 if goal.larger_is_better else -1.0
    if goal.hoped is not None and sign * figure >= sign * goal.hoped:
        return HOPED
    reached = high if goal.parity else figure
    return MET if sign * reached >= sign * goal.required else MISSED
