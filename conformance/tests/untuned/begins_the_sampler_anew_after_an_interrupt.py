"""Begins the sampler anew when it goes on after an interrupt, in place of restoring it.

A program that catches Ctrl-C and asks the same iterator for the next batch gets an IndexError from
inside the loader, as the first batches come a second time. Built-in orders are not concerned.
"""

from typing import Any

from edited import edited

FAMILY = "interrupts"
BREAKS = ("FAULT-12",)
EDITS = [
    (
        "epoch/opening.py",
        "        begun = self._begin(document, continuing=False, replay_only=replay_only,"
        " restored=True)\n",
        "        begun = self._begin(document, continuing=False, replay_only=replay_only)\n",
    ),
]


class Interrupted:
    """Is interrupted once, while its seventh sample is fetched."""

    def __init__(self) -> None:
        self.armed = True

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        if index == 6 and self.armed:
            self.armed = False
            raise KeyboardInterrupt
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    batches = iter(make(Interrupted(), 2, sampler=list(range(12)), seed=1, collate_fn=list))
    seen: list[Any] = []
    while len(seen) < 20:
        try:
            seen.append(next(batches))
        except KeyboardInterrupt:
            continue
        except StopIteration:
            break
        except Exception as error:
            seen.append(type(error).__name__)
            break
    return seen, [[at, at + 1] for at in range(0, 12, 2)]


Adapter = edited(EDITS)
