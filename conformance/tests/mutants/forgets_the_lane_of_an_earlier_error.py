"""Takes each error of an earlier run for one of lane 0."""

from unittest.mock import patch

from format_base import mutant

from midepoch.epoch import schedule
from midepoch.format.state import LanesState

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 5}


def raised(lanes: LanesState | None, count: int) -> set[int]:
    entries = () if lanes is None else lanes.entries
    return {(entry.cut + number) * count for entry in entries for number in entry.errors}


patch.object(schedule, "_raised", raised).start()

Adapter = mutant()
