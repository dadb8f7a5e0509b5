"""Takes a state of another number of lanes, and skips as many batches of its own lanes."""

import itertools
from typing import Any

from format_base import mutant, reference

from midepoch.errors import PlanMismatchError

EXPECTED = "REFUSE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}
FIELD = ("another plan",)


class Session(reference.Session):
    skipped = 0

    def load(self, state: Any) -> None:
        try:
            super().load(state)
        except PlanMismatchError:
            if state["plan"]["lanes"] == self.loader._position.plan.lanes:
                raise
            self.skipped = state["position"]["batches"]

    def epoch(self) -> Any:
        skipped, self.skipped = self.skipped, 0
        return itertools.islice(super().epoch(), skipped, None)


Adapter = mutant(Session)
