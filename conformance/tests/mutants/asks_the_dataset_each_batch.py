"""Asks the dataset for its state at every batch, whatever the interval."""

from base import mutant, simple

EXPECTED = "COST-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1840}
FIELD = ("data#1268", "data#1317", "VeOmni#822", "datasets#8393")


class Loader(simple.Loader):
    def advance(self) -> None:
        super().advance()
        self.capture()


Adapter = mutant(Loader)
