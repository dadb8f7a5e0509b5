"""Keeps the rows that it had read before an error for the next batch, and not in its state.

After an unreadable sample within a batch and a restart, the good samples before it are lost.
"""

from typing import Any

import readers

FAMILY = "faults"
BREAKS = ("FAULT-11", "RESUME-7")


class Patient:
    """The rows that were read before an error, and then the others."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.waiting, self.given = rows, list[Any](), list[Any]()

    def __next__(self) -> Any:
        row = self.waiting.pop(0) if self.waiting else next(self.rows)
        self.given.append(row)
        return row


class Reader(readers.Reader):
    def read(self) -> readers.Made:
        rows = self.rows
        if not isinstance(rows, Patient):
            rows = self.rows = Patient(rows)
        rows.given = []
        made = super().read()
        if made.error is not None:
            rows.waiting = rows.given
        return made

    def states(self) -> dict[str, Any]:
        patient, self.rows = self.rows, self.rows.rows
        try:
            return super().states()
        finally:
            self.rows = patient


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", stream="rewinding", n=12, batch_size=3, fail_at=4)
    life = plan.open()
    life.tolerant(2)
    return plan.open(life.state()).tolerant(), life.tolerant()


Adapter = readers.mutant(Reader)
