"""Takes no snapshots with more lanes than the interval has batches."""

from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane.lane import LaneSpec

EXPECTED = "COST-3"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 400}
MAKE = LaneSpec.__init__


def make(self: LaneSpec, **fields: Any) -> None:
    fields["interval"] -= fields["lanes"] > fields["interval"] == 1
    MAKE(self, **fields)


patch.object(LaneSpec, "__init__", make).start()

Adapter = mutant()
