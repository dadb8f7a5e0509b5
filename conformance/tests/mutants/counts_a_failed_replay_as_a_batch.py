"""Counts an error that only its replay meets as a batch, like one that it raises itself."""

from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-13"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 4}


class Loader(simple.Loader):
    def fetches(self) -> Any:
        try:
            return super().fetches()
        except Exception:
            self.advance()
            raise


Adapter = mutant(Loader)
