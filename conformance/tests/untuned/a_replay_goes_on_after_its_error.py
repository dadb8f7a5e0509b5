"""Leaves an error of a replay at that, and makes the next batch without restoring the lanes.

A dataset that could not read a file for a moment, while a resume made delivered batches again,
has missed the fetches of that batch: its state is another one from there on.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-13", "RESUME-7")
EDITS = [
    (
        "epoch/iterator.py",
        "        if isinstance(outcome, Failure):\n"
        "            self._stop()\n"
        "            raise outcome",
        "        if isinstance(outcome, Failure):\n            raise outcome",
    ),
]


class Flaky:
    """Rows that count the fetches before them; a resume may find one unreadable, once."""

    def __init__(self, fails: bool) -> None:
        self.seen, self.fails = 0, fails

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> tuple[int, int]:
        if index == 5 and self.fails:
            self.fails = False
            raise OSError("not now")
        self.seen += 1
        return index, self.seen

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(fails: bool) -> Any:
        return make(
            Flaky(fails), 2, seed=1, collate_fn=list, snapshot_every_n_steps=5, lifetime="run"
        )

    saving, resumed = loader(False), loader(True)
    batches = iter(saving)
    for _ in range(4):
        next(batches)
    resumed.load_state_dict(saving.state_dict())
    rest = iter(resumed)
    try:
        next(rest)
    except OSError:
        return list(rest), list(batches)
    return "no error", list(batches)


Adapter = edited(EDITS)
