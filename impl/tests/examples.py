"""How many examples a property is tested with, and how many combinations."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import HealthCheck, settings

T = TypeVar("T")

SHARE = int(os.environ.get("MIDEPOCH_PROPERTIES_TEST_ONE_EXAMPLE_IN", "5"))
"""Of so many examples one is tested here; `.ci/nightly` tests all."""


def examples(count: int) -> settings:
    """Return the settings of a property that `.ci/nightly` tests with ``count`` examples."""
    # How long the drawing takes depends on what else the machine does.
    return settings(
        max_examples=count // SHARE,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def share(combinations: Iterable[T]) -> list[T]:
    """Return some of the combinations, evenly spread; `.ci/nightly` gets all."""
    return list(combinations)[::SHARE]
