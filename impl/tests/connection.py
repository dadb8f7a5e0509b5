"""A worker's connection with both ends in one process."""

from __future__ import annotations

import socket
from typing import Any

from midepoch.lane.messages import Batch, Fetch, Reply
from midepoch.transport.channel import Channel
from midepoch.transport.ends import MainEnd, WorkerEnd

__all__ = ["QUESTION", "Connection"]

QUESTION = Fetch(1, 2, 3, 4, 5, [6], False, True)


class Connection:
    """Sends questions and batches across, each at once."""

    def __init__(self) -> None:
        self.ours, self.theirs = map(Channel, socket.socketpair())
        self.taken: list[int] = []
        self.main, self.worker = MainEnd(self.ours, self.taken.append), WorkerEnd(self.theirs)

    def ask(self) -> Any:
        """Send a question, as it arrives."""
        self.ours.send(self.main.encode(QUESTION))
        assert self.theirs.receive()
        return self.worker.next_question()

    def ship(self, data: Any) -> tuple[Reply, Any]:
        """Send a batch; return the reply, and the form in which the batch crossed."""
        batch = Batch(data, 7, last=True)
        packed = self.worker.pack(batch)
        self.worker.ship(Reply(1, 2, batch), packed, 0.0)
        while (answer := self.main.next_answer()) is None:
            assert self.ours.receive()
        assert isinstance(answer, Reply)
        return answer, packed.form

    def cross(self, data: Any) -> tuple[Any, Any]:
        """Send a batch for a question; return the batch taken, and the form in which it crossed."""
        self.ask()
        reply, form = self.ship(data)
        assert isinstance(reply.outcome, Batch)
        return reply.outcome.take(), form

    def close(self) -> None:
        self.main.close()
        self.theirs.close()
