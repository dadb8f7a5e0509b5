"""Strikes the newest task off a worker's list when an answer comes, and not the oldest.

``list.pop()`` takes the last one. Nothing shows until a worker dies: its replacement is then asked
for batches that were delivered, and not for those that are missing.
"""

from typing import Any

import ground
from ground import simple

FAMILY = "workers"
BREAKS = ("FAULT-8", "RESUME-7", "BASIS-3", "FAULT-1")


class Pool(simple.Pool):
    def receive(self, worker: int) -> simple.Answer:
        try:
            error, batch = self.pipes[worker].recv()
        except (EOFError, ConnectionResetError):
            process = self.processes[worker]
            process.join()
            if not self.restarts:
                raise RuntimeError(
                    f"worker {worker} (pid {process.pid}) died: exit code {process.exitcode}"
                ) from None
            self.restarts -= 1
            self.replace(worker)
            return self.receive(worker)
        self.asked[worker].pop()
        return error, batch


class Loader(simple.Loader):
    def pool(self) -> simple.Pool:
        return Pool(self, self.workers)


def shows(play: Any) -> Any:
    fields = {"kind": "map", "n": 24, "batch_size": 2}
    whole = play(**fields).whole()
    dying = play(**fields, workers=2, restarts=2, die_at=13, die_once=True, logged=True)
    return dying.whole(), whole


Adapter = ground.mutant(Loader)
