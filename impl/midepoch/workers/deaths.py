"""What is said of a worker that died."""

from __future__ import annotations

from midepoch.errors import WorkerDiedError
from midepoch.workers.process import ProcessWorker

__all__ = ["GRACE", "bury", "obituary"]

GRACE = 5.0
"""Seconds that a worker has to leave by itself."""

_CAUSES = {
    -7: "it is possible that the workers are out of shared memory; try to raise its limit",
    -9: "usually the system ran out of memory; use fewer workers or smaller batches",
    -11: "a compiled library crashed; run with num_workers=0 to see where",
}


def obituary(worker: ProcessWorker, remedy: str = "") -> WorkerDiedError:
    """Return the error that names a dead worker, how it died, what it was doing, and a remedy."""
    worker.ended(GRACE)
    code = worker.process.exitcode
    deed = worker.ledger.deed()
    hints = [
        "it was idle" if deed is None else f"it was {deed}",
        worker.trouble or _CAUSES.get(code or 0, "its own messages are above"),
        remedy,
    ]
    return WorkerDiedError(worker.number, worker.process.pid, code, "; ".join(filter(None, hints)))


def bury(worker: ProcessWorker) -> None:
    """Release what is left of a dead worker."""
    worker.disconnect()
    worker.end(GRACE)
