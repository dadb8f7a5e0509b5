"""Never seeds the global random streams, so a resumed run draws other numbers."""

import contextlib
from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "VAMB-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}
FIELD = ("starVLA#351",)


class Loader(simple.Loader):
    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        yield


Adapter = mutant(Loader)
