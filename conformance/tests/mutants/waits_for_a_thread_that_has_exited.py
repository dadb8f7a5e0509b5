"""Hears nothing of a worker thread that leaves by ``sys.exit``, and waits for its batch."""

from unittest.mock import patch

from format_base import mutant

from midepoch.workers import threads

EXPECTED = "FAULT-1"
LARGEST = {"workers": 2, "sessions": 1, "steps": 1, "samples": 13}


class Crash(threads._Crash):
    def __init__(self, error: BaseException) -> None:
        if isinstance(error, SystemExit):
            raise error
        super().__init__(error)


patch.object(threads, "_Crash", Crash).start()

Adapter = mutant()
