"""Lists every delivered batch in its state."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 24, "samples": 1840}
FIELD = ("data#1317", "VeOmni#822", "datasets#8393")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "delivered": list(range(self.batches * self.batch_size))}


Adapter = mutant(Loader)
