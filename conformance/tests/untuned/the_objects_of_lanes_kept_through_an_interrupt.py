"""Drops the waiting workers at an interrupt, and lets the lanes be restored in new ones.

Without workers there are none to drop: the lanes' objects live in the caller's process, and stay
as the interrupt left them. A lane that has no snapshot yet begins the epoch with an object that has
already read a part of a batch.
"""

from typing import Any

from edited import edited

FAMILY = "interrupts"
BREAKS = ("FAULT-12",)
EDITS = [
    (
        "epoch/opening.py",
        "interrupted=self.pool.resized,",
        "interrupted=self.pool.between.drop,",
    )
]


class Interrupted:
    """A dataset with a state, at whose sample 3 Ctrl-C is pressed once."""

    pressed = False

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int]:
        if index == 3 and not Interrupted.pressed:
            Interrupted.pressed = True
            raise KeyboardInterrupt
        self.reads += 1
        return index, self.reads

    def state_dict(self) -> dict[str, int]:
        return {"reads": self.reads}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.reads = state["reads"]


def shows(play: Any) -> Any:
    import midepoch

    def run() -> list[Any]:
        loader: Any = midepoch.StatefulDataLoader(
            Interrupted(), batch_size=2, collate_fn=list, lanes=2, seed=0
        )
        batches, taken = iter(loader), []
        while True:
            try:
                taken.append(next(batches))
            except StopIteration:
                return taken
            except KeyboardInterrupt:
                pass

    Interrupted.pressed = True
    undisturbed = run()
    Interrupted.pressed = False
    return run(), undisturbed


Adapter = edited(EDITS)
