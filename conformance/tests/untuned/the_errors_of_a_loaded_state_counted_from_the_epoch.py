"""Keeps the errors that a loaded state lists, to write them into the next state.

The state numbers them from the lane's snapshot, and the lane's progress from the epoch's beginning.
After a resume from a snapshot within the epoch they are taken over without the difference. The next
state, saved before another snapshot, lists none of them, and its resume meets an error that it
takes for a new one.
"""

from typing import Any

from edited import edited

FAMILY = "several resumes after an error"
BREAKS = ("RESUME-2", "RESUME-3", "FAULT-11", "DOC-6")
EDITS = [
    (
        "lane/progress.py",
        """        first = opening.cut - opening.left
        self._errors = [first + number for number in opening.errors]
""",
        """        self._errors = list(opening.errors)
""",
    )
]


class Counted:
    """A dataset that counts its reads, and cannot read sample 5."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.reads += 1
        if index == 5:
            raise ValueError("sample 5")
        return index, self.reads

    def state_dict(self) -> dict[str, int]:
        return {"reads": self.reads}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.reads = state["reads"]


def shows(play: Any) -> Any:
    import midepoch

    def loader(state: Any = None) -> Any:
        made: Any = midepoch.StatefulDataLoader(
            Counted(), batch_size=None, collate_fn=tuple, snapshot_every_n_steps=4, seed=3
        )
        if state is not None:
            made.load_state_dict(state)
        return made

    def take(batches: Any, count: int) -> list[Any]:
        taken: list[Any] = []
        while len(taken) < count:
            try:
                taken.append(next(batches))
            except StopIteration:
                break
            except ValueError as error:
                taken.append(str(error))
        return taken

    whole = take(iter(loader()), 99)
    first = loader()
    take(iter(first), 6)
    second = loader(first.state_dict())
    batches = iter(second)
    got = take(batches, 1)
    got += take(iter(loader(second.state_dict())), 9)
    return got, whole[6:]


Adapter = edited(EDITS)
