"""Counts an epoch each time that its iterator reports the end, and not the first time alone.

Code that asks an iterator which has ended once more (``next(batches, None)`` in a loop, a
prefetcher, ``zip``) skips an epoch: the next one has the order of the one after it.
"""

from typing import Any

import ground
from ground import simple

FAMILY = "epochs"
BREAKS = ("RESUME-7", "EPOCH-1", "EPOCH-2", "EPOCH-4")


class Epoch(simple.Epoch):
    def __next__(self) -> simple.Batch:
        if self.over is not None:
            raise self.over
        if self.source is None:
            self.source = self.loader.fetches()
        try:
            error, batch = next(self.source)
        except StopIteration:
            self.loader.next_epoch()
            raise
        except Exception as stopped:
            self.over = stopped
            raise
        except KeyboardInterrupt:
            self.interrupted()
            raise
        if error is not None:
            self.loader.raised.append(self.loader.batches)
        self.loader.advance()
        if error is not None:
            raise error
        return list(batch)


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        if self.moved:
            self.next_epoch()
        self.stop()
        self.live = Epoch(self)
        return self.live


def shows(play: Any) -> Any:
    game = play(kind="map", n=12, batch_size=2, shuffle=True)
    whole = game.whole(2)
    life = game.open()
    batches = iter(life.session.epoch())
    first = [[list(row) for row in next(batches)] for _ in range(6)]
    assert next(batches, None) is None
    assert next(batches, None) is None
    return [first, life.rest()], whole


Adapter = ground.mutant(Loader)
