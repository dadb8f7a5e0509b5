"""Puts a used dataset back to its beginning under other seeds than those of a beginning."""

import random
from collections.abc import Mapping
from typing import Any

from format_base import mutant

from midepoch.lane.passes import FirstState

EXPECTED = "RESUME-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 2}
APPLY = FirstState.apply


def unseeded(self: FirstState, objects: Mapping[str, Any], *, restoring: bool) -> None:
    if restoring:
        random.random()
    APPLY(self, objects, restoring=restoring)


FirstState.apply = unseeded  # type: ignore[method-assign]

Adapter = mutant()
