"""Makes the settings of the lanes once for each way of executing an epoch, and keeps them.

They hold the root seed, which a loaded state may replace. A loader that was used before goes on
with the samples of the state, and seeds them from the root that it had drawn itself.
"""

from typing import Any

import torch
from edited import edited

FAMILY = "loads into a used loader"
BREAKS = ("RESUME-6", "VAMB-1", "SEED-5")
EDITS = [
    (
        "epoch/pool.py",
        """        self._first_state = FirstState()
        self._pipes""",
        """        self._first_state = FirstState()
        self._specs: dict[Execution, LaneSpec] = {}
        self._pipes""",
    ),
    (
        "epoch/pool.py",
        """        workers = self._new(loader, self._spec(loader, plan, execution, share), execution)
""",  # noqa: E501
        """        spec = self._specs.get(execution)
        if spec is None:
            spec = self._specs[execution] = self._spec(loader, plan, execution, share)
        workers = self._new(loader, spec, execution)
""",
    ),
]


class Noisy:
    """Samples with a random number each."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, float]:
        return index, torch.rand(()).item()


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        return midepoch.StatefulDataLoader(Noisy(), batch_size=2, shuffle=True, collate_fn=list)

    one, used = loader(), loader()
    list(used)
    batches = iter(one)
    next(batches)
    used.load_state_dict(one.state_dict())
    return list(used), list(batches)


Adapter = edited(EDITS)
