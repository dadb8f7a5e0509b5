"""Leaves the request that found a pass's end out of what a resume makes again."""

from unittest.mock import patch

from format_base import mutant

from midepoch.format.state import LaneEntry
from midepoch.lane.progress import LaneProgress

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 8}
LEFT_AFTER = LaneProgress._left_after


def unasked(self: LaneProgress, base: LaneEntry) -> LaneEntry:
    self._end_asked = False
    return LEFT_AFTER(self, base)


patch.object(LaneProgress, "_left_after", unasked).start()

Adapter = mutant()
