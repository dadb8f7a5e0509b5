"""Tries a stream again after an error, and drops the batch that shows that the stream goes on."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "FAULT-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 8}


class Loader(simple.Loader):
    def stream(self, done: int) -> Iterator[simple.Answer]:
        source = super().stream(done)
        for error, batch in source:
            yield error, batch
            if error is not None:
                next(source, None)


Adapter = mutant(Loader)
