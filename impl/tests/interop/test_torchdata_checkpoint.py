"""A training run that began under torchdata's loader goes on under this one."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DistributedSampler

from midepoch import StatefulDataLoader, StatefulDistributedSampler

torchdata = pytest.importorskip("torchdata.stateful_dataloader")
torchdata_samplers = pytest.importorskip("torchdata.stateful_dataloader.sampler")

pytestmark = pytest.mark.filterwarnings(
    "ignore:'set_vital' is deprecated", "ignore:This DataLoader will create"
)

SAMPLES = 40


class Squares(torch.utils.data.Dataset[Any]):
    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> dict[str, int]:
        return {"index": index, "square": index * index}


def make(loader: Any, **execution: Any) -> Any:
    """The program: only the loader's class differs."""
    torch.manual_seed(1)
    return loader(
        Squares(),
        batch_size=4,
        shuffle=True,
        generator=torch.Generator().manual_seed(11),
        **execution,
    )


def train(loader: Any) -> list[list[int]]:
    return [batch["index"].tolist() for batch in loader]


@pytest.mark.usefixtures("classic")
def test_a_shuffled_run_of_three_workers_goes_on_in_its_second_epoch(
    tmp_path: Path,
) -> None:
    whole = make(torchdata.StatefulDataLoader, num_workers=3)
    expected = [train(whole) for _ in range(4)]

    interrupted = make(torchdata.StatefulDataLoader, num_workers=3)
    assert train(interrupted) == expected[0]
    seen = [batch["index"].tolist() for batch in islice(interrupted, 4)]
    assert seen == expected[1][:4]
    torch.save({"loader": interrupted.state_dict()}, tmp_path / "checkpoint.pt")

    checkpoint = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    loader = make(StatefulDataLoader, num_workers=3)
    loader.load_state_dict(checkpoint["loader"])
    assert train(loader) == expected[1][4:]
    assert [batch["index"].tolist() for batch in islice(loader, 3)] == expected[2][:3]

    # From here on, the checkpoints are this loader's own.
    torch.save({"loader": loader.state_dict()}, tmp_path / "checkpoint.pt")
    checkpoint = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    again = make(StatefulDataLoader)
    again.load_state_dict(checkpoint["loader"])
    assert train(again) == expected[2][3:]
    assert train(again) == expected[3]


def test_an_epoch_that_was_broken_off_is_followed_by_the_same_epochs() -> None:
    whole = make(torchdata.StatefulDataLoader)
    list(islice(whole, 2))
    seen = [batch["index"].tolist() for batch in islice(whole, 2)]
    state = whole.state_dict()
    rest = [batch["index"].tolist() for batch in islice(whole._iterator, 100)]
    expected = [rest, train(whole), train(whole)]
    loader = make(StatefulDataLoader)
    loader.load_state_dict(state)
    assert [train(loader) for _ in range(3)] == expected
    assert sorted(i for batch in seen + rest for i in batch) == list(range(SAMPLES))


def test_the_samplers_show_the_order_in_which_a_checkpoint_goes_on() -> None:
    whole = make(torchdata.StatefulDataLoader)
    iterator = iter(whole)
    list(islice(iterator, 2))
    loader = make(StatefulDataLoader)
    loader.load_state_dict(whole.state_dict())
    before = loader.state_dict()
    for _ in range(2):
        batches, indices = list(loader.batch_sampler), list(loader.sampler)
        assert loader.state_dict() == before
        assert batches == train(loader)
        assert indices == [index for batch in batches for index in batch]
        before = loader.state_dict()


def sampler(kind: Any, epoch: int) -> Any:
    made = kind(Squares(), num_replicas=2, rank=1)
    made.set_epoch(epoch)
    return made


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("taken", [0, 2, 5], ids=lambda taken: f"after-{taken}")
@pytest.mark.parametrize("name", ["torch's", "torchdata's", "ours"])
@pytest.mark.usefixtures("classic")
def test_a_rank_goes_on_with_its_share(name: str, taken: int, workers: int) -> None:
    stateful = torchdata_samplers.StatefulDistributedSampler
    before, after = {
        "torch's": (DistributedSampler, DistributedSampler),
        "torchdata's": (stateful, stateful),
        "ours": (stateful, StatefulDistributedSampler),
    }[name]
    whole = torchdata.StatefulDataLoader(
        Squares(), batch_size=4, sampler=sampler(before, 3), num_workers=workers
    )
    iterator = iter(whole)
    list(islice(iterator, taken))
    state = whole.state_dict()
    rest = [batch["index"].tolist() for batch in iterator]
    finished = whole.state_dict()
    whole.sampler.set_epoch(4)
    following = train(whole)

    loader = StatefulDataLoader(Squares(), batch_size=4, sampler=sampler(after, 3))
    loader.load_state_dict(state)
    assert train(loader) == rest
    loader.sampler.set_epoch(4)
    assert train(loader) == following

    loader = StatefulDataLoader(Squares(), batch_size=4, sampler=sampler(after, 3))
    loader.load_state_dict(finished)
    loader.sampler.set_epoch(4)
    assert train(loader) == following
