"""Sets ``sampler.epoch`` at a load once the plans are found equal, before the parts are checked.

A state that is then refused, because it holds a dataset's state that nothing here can load, leaves
the sampler at the refused state's epoch, and the next epoch has its order.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset
from torch.utils.data.distributed import DistributedSampler

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "DOC-13")
EDITS = [
    (
        "epoch/position.py",
        """\
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        self.chain = chain
""",
        "        self.chain = chain\n",
    ),
    (
        "epoch/position.py",
        "        check_loadable(document, chain, stateful=self.stateful)\n",
        """\
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        check_loadable(document, chain, stateful=self.stateful)
""",
    ),
]


class Numbers(Dataset[int]):
    """The dataset as it is now."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        return index


class Counted(Numbers):
    """The dataset as it was: with a state."""

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def shows(play: Any) -> Any:
    import midepoch
    from midepoch.errors import StateFormatError

    make: Any = midepoch.StatefulDataLoader

    def loader(dataset: Any) -> Any:
        sampler: Any = DistributedSampler(dataset, 1, 0, seed=3)
        return make(dataset, 3, sampler=sampler, seed=1, collate_fn=list)

    saving = loader(Counted())
    saving.sampler.set_epoch(2)
    next(iter(saving))
    refusing = loader(Numbers())
    try:
        refusing.load_state_dict(saving.state_dict())
    except StateFormatError:
        return list(refusing), list(loader(Numbers()))
    return "not refused", "refused"


Adapter = edited(EDITS)
