"""Runs the tasks since a snapshot again on a worker's replacement without saying which had raised.

An error of the dataset that the caller has caught long ago comes again in the replacement, which
then counts as one that cannot be restored.
"""

import os
import tempfile
from typing import Any

from edited import edited

FAMILY = "dead workers"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        """\
                raised = isinstance(answer.outcome, Failure) and answer.outcome.fetching
                self._since[lane].append(replace(question, raises=question.raises or raised))
""",
        """\
                self._since[lane].append(question)
""",
    ),
]


class Rows:
    def __init__(self, marker: str) -> None:
        self.marker = marker
        self.total = 0

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        if index == 2:
            raise ValueError("unreadable")
        if index == 5 and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os._exit(3)
        self.total += index
        return index, self.total

    def state_dict(self) -> Any:
        return {"total": self.total}

    def load_state_dict(self, state: Any) -> None:
        self.total = state["total"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    with tempfile.TemporaryDirectory() as folder:
        loader = make(
            Rows(os.path.join(folder, "died")),
            1,
            num_workers=1,
            worker_restarts=2,
            seed=1,
            collate_fn=list,
            snapshot_every_n_steps=8,
            prefetch=1,
        )
        seen: list[Any] = []
        batches = iter(loader)
        while True:
            try:
                seen.append(next(batches)[0])
            except ValueError:
                seen.append("error")
            except StopIteration:
                break
            except midepoch.errors.WorkerDiedError:
                seen.append("died")
                break
    total, right = 0, []
    for index in range(10):
        total += 0 if index == 2 else index
        right.append("error" if index == 2 else (index, total))
    return seen, right


Adapter = edited(EDITS)
