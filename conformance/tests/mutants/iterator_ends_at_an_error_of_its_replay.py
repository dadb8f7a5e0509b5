"""Ends an iterator in silence, if it is asked again after an error that only its replay met."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "FAULT-13"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 2}


class Loader(simple.Loader):
    failed: simple.Epoch | None = None

    def fetches(self) -> Iterator[simple.Answer]:
        if self.failed is not None and self.live is self.failed:
            return iter(())
        try:
            return super().fetches()
        except Exception:
            self.failed = self.live
            raise


Adapter = mutant(Loader)
