"""Puts the caller's random streams back only after a sampler that has not raised."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from format_base import mutant

from midepoch.lane import streams

EXPECTED = "SEED-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 3, "samples": 1}
ACTIVE = streams.PrivateStreams.active


@contextmanager
def active(self: streams.PrivateStreams) -> Iterator[None]:
    left = None
    try:
        with ACTIVE(self):
            try:
                yield
            except ValueError:
                left = streams._current()
                raise
    finally:
        if left is not None:
            streams._put(left)


patch.object(streams.PrivateStreams, "active", active).start()

Adapter = mutant()
