"""Goes on with the digest of a ``replay_check`` after a snapshot, in place of a new one."""

from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane.lane import Lane

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}
FETCH = Lane._fetch_iterable


def fetched(self: Lane, task: Any) -> Any:
    reply = FETCH(self, task)
    self._content = reply.content or self._content
    return reply


patch.object(Lane, "_fetch_iterable", fetched).start()

Adapter = mutant()
