"""Takes shared memory back when the view that it has lent is gone, and not with the last view.

A caller who keeps large batches finds the contents of later ones in them.
"""

from typing import Any

from edited import edited

FAMILY = "aliasing"
BREAKS = ("BASIS-6",)
EDITS = [
    (
        "transport/segments.py",
        "        self._lent[number] = weakref.ref(lease, lambda _: self._end(number))\n"
        '        return memoryview(lease).cast("B")\n',
        '        view = memoryview(lease).cast("B")\n'
        "        self._lent[number] = weakref.ref(view, lambda _: self._end(number))\n"
        "        return view\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=40, batch_size=2, width=4096, workers=1)
    life = plan.open().begin()
    assert life.batches is not None
    kept = list(life.batches)
    return [[int(row[0]) for row in batch] for batch in kept], [[i, i + 1] for i in range(0, 40, 2)]


Adapter = edited(EDITS)
