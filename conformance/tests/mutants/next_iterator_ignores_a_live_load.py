"""Documents that a load into a live iterator applies to the next one, which ignores it, too."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-8"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 2}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        self.check(state)
        if self.live is None or self.live.over is not None:
            super().load(state)


Adapter = mutant(Loader, live_load="next")
