"""Takes an error of ``collate_fn`` for one that the dataset raised while it was read.

A replay reads the samples and does not collate them, so it meets no error. After such an error was
caught, and before the next snapshot, the run's states cannot be resumed.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "faults"
BREAKS = ("RESUME-7", "FAULT-11", "INTERVAL-1")
EDITS = [
    (
        "lane/lane.py",
        "            return Batch(_guarded(collate, samples), 0)\n"
        "        except Exception as error:\n"
        "            return Failure(error)\n",
        "            return Batch(_guarded(collate, samples), 0)\n"
        "        except Exception as error:\n"
        "            return Failure(error, fetching=True)\n",
    ),
]


class Counting:
    """Rows that are numbered by how many were read before."""

    def __init__(self) -> None:
        self.read = 0

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.read += 1
        return index, self.read

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


def collate(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if any(index == 3 for index, _ in rows):
        raise ValueError("row 3 has another shape")
    return rows


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Counting(), 2, collate_fn=collate, snapshot_every_n_steps=100, seed=1)

    saving = loader()
    batches = iter(saving)
    for _ in range(3):
        outcome(lambda: next(batches))
    resumed = loader()
    resumed.load_state_dict(saving.state_dict())
    return outcome(lambda: list(resumed)), list(batches)


Adapter = edited(EDITS)
