"""Resumes those readers alone that have not ended, and numbers them anew.

A restart late in an epoch of uneven shares reads on in another reader's share.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "BASIS-3")


class Epoch(readers.Epoch):
    def __next__(self) -> Any:
        loader = self.loader
        if self.readers is None:
            made: dict[int, Any] = {}
            live = [i for i, entry in enumerate(loader.entries) if not entry["ended"]]
            for place, number in enumerate(live):
                made[number] = loader.reader(loader, place, loader.entries[number])
            self.readers = [made.get(i) for i in range(loader.count)]  # type: ignore[misc]  # None: has ended
        return super().__next__()


class Loader(readers.Loader):
    def __iter__(self) -> readers.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", stream="hollow", n=13, batch_size=2, workers=3)
    whole = plan.whole()[0]
    rests = []
    for taken in range(1, len(whole)):
        life = plan.open()
        life.take(taken)
        rests.append(plan.open(life.state()).rest())
    return rests, [whole[taken:] for taken in range(1, len(whole))]


Adapter = readers.mutant(loader=Loader)
