"""Takes the numbers of a loaded lane's errors, which count from its snapshot, for ordinals.

The state that a resumed run takes before its next snapshot has lost the error: the next resume
raises it again.
"""

from typing import Any

from edited import edited

FAMILY = "resumes of resumes"
BREAKS = ("FAULT-11", "RESUME-2", "RESUME-7")
EDITS = [
    (
        "lane/progress.py",
        "self._errors = [first + number for number in opening.errors]",
        "self._errors = list(opening.errors)",
    ),
]


class Tally:
    """Rows that count the fetches before them; one of them cannot be read."""

    def __init__(self) -> None:
        self.seen = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        if index == 5:
            raise OSError("unreadable")
        self.seen += 1
        return index, self.seen

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def life(state: Any, count: int) -> Any:
        loader = make(
            Tally(), 1, seed=1, collate_fn=list, snapshot_every_n_steps=4, lifetime="epoch"
        )
        if state is not None:
            loader.load_state_dict(state)
        taken: list[Any] = []
        batches = iter(loader)
        while len(taken) < count:
            try:
                taken.append(next(batches))
            except StopIteration:
                break
            except OSError:
                taken.append("error")
        return loader.state_dict(), taken

    whole = life(None, 99)[1]
    first, _ = life(None, 6)
    second, _ = life(first, 1)
    return life(second, 99)[1], whole[7:]


Adapter = edited(EDITS)
