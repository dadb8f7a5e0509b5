"""Puts the caller's random streams back only if the sampler has not raised.

After an error of a sampler the caller draws from the sampler's own streams.
"""

import contextlib
import random
from typing import Any

from edited import edited

FAMILY = "streams"
BREAKS = ("SEED-6",)
EDITS = [
    (
        "lane/streams.py",
        """\
        caller = _current()
        try:
            if self._own is None:
                numpy_stream.put(numpy_stream.spare())
            else:
                _put(self._own)
            if self._seeds is not None:
                seed(self._seeds)
                self._seeds = None
            yield
        finally:
            self._own = _current()
            _put(caller)
""",
        """\
        caller = _current()
        if self._own is None:
            numpy_stream.put(numpy_stream.spare())
        else:
            _put(self._own)
        if self._seeds is not None:
            seed(self._seeds)
            self._seeds = None
        yield
        self._own = _current()
        _put(caller)
""",
    ),
]


class Order:
    def __len__(self) -> int:
        return 8

    def __iter__(self) -> Any:
        return Steps()


class Steps:
    def __init__(self) -> None:
        self.given = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        self.given += 1
        if self.given == 4:
            raise ValueError("no index")
        if self.given > 8:
            raise StopIteration
        return self.given - 1


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    batches = iter(make(list(range(8)), 2, sampler=Order(), seed=1, collate_fn=list))
    random.seed(5)
    drawn = []
    for _ in range(3):
        with contextlib.suppress(ValueError):
            next(batches)
        drawn.append(random.random())
    random.seed(5)
    return drawn, [random.random() for _ in range(3)]


Adapter = edited(EDITS)
