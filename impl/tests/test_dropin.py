"""A drop-in for torch's loader: the same behaviour where state is not concerned."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import DataLoader, TensorDataset

import midepoch
from midepoch import StatefulDataLoader

pytestmark = pytest.mark.usefixtures("classic")

N = 11


def test_the_signature_begins_as_torchs() -> None:
    ours = inspect.signature(StatefulDataLoader.__init__).parameters
    theirs = inspect.signature(DataLoader.__init__).parameters
    assert [name for name in ours if name in theirs] == list(theirs)
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert (ours[name].kind, ours[name].default) == (parameter.kind, parameter.default)


def test_every_argument_is_documented_once() -> None:
    text = inspect.getdoc(StatefulDataLoader) or ""
    told = re.findall(r"^ {4}(\w+): ", text.partition("Args:")[2].partition("Raises:")[0], re.M)
    assert sorted(told) == sorted(inspect.signature(StatefulDataLoader).parameters)


def test_it_is_a_dataloader() -> None:
    made = StatefulDataLoader(sources.Plain(N))
    assert isinstance(made, DataLoader)
    assert len(made) == N


def data() -> TensorDataset:
    return TensorDataset(torch.arange(N), torch.arange(N) * 1.5)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"batch_size": 4},
        {"batch_size": 4, "drop_last": True},
        {"batch_size": None},
        {"sampler": [3, 1, 2], "batch_size": 2},
        {"batch_sampler": [[0, 1], [5]]},
        {"collate_fn": keep, "batch_size": 3},
    ],
)
def test_batches_are_torchs(arguments: dict[str, Any], workers: int) -> None:
    ours = list(StatefulDataLoader(data(), num_workers=workers, **arguments))
    theirs = list(DataLoader(data(), num_workers=workers, **arguments))
    _same(ours, theirs)


def test_streams_are_torchs_too() -> None:
    class Numbers(sources.Stream):
        def __iter__(self) -> Any:
            yield from ({"a": i, "b": np.float64(i)} for i in sources.shard(self.n))

    for arguments in ({}, {"batch_size": 4}, {"batch_size": 3, "num_workers": 2}):
        for more in ({}, {"batch_size": None}, {"drop_last": True}):
            both: dict[str, Any] = {**arguments, **more}
            ours = list(StatefulDataLoader(Numbers(N), **both))
            _same(ours, list(DataLoader(Numbers(N), **both)))


def _same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)
    elif isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        _same(list(ours.values()), list(theirs.values()))
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            _same(one, other)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", ["batch_size", "sampler", "drop_last", "dataset"])
def test_reassigning_raises_as_torchs_does(name: str) -> None:
    with pytest.raises(ValueError, match="should not be set after StatefulDataLoader is"):
        setattr(StatefulDataLoader(data()), name, None)


def test_shuffling_is_random_by_default_and_fixed_by_torchs_seed() -> None:
    def order(seed: int) -> list[int]:
        torch.manual_seed(seed)
        return [batch[0].item() for batch in StatefulDataLoader(data(), shuffle=True)]

    assert order(1) == order(1) != order(2)
    assert sorted(order(3)) == list(range(N))


def test_seeding_after_a_loader_is_made_changes_nothing() -> None:
    torch.manual_seed(1)
    made = StatefulDataLoader(data(), shuffle=True)
    expected = StatefulDataLoader(data(), shuffle=True, seed=made.seed)
    assert StatefulDataLoader(data(), shuffle=True).seed != made.seed
    torch.manual_seed(5)
    _same(list(made), list(expected))


def test_pinning_without_an_accelerator_is_torchs_warning() -> None:
    if torch.accelerator.is_available():
        pytest.skip("an accelerator is here")
    made = StatefulDataLoader(data(), pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert len(list(made)) == N


def test_in_order_false_and_a_timeout_are_taken() -> None:
    made = StatefulDataLoader(data(), in_order=False, timeout=3)
    assert len(list(made)) == N


def test_a_loader_is_used_inside_another_loaders_worker() -> None:
    class Outer(sources.Plain):
        def __getitem__(self, index: int) -> int:
            return len(list(StatefulDataLoader(sources.Stream(4), batch_size=None)))

    made = StatefulDataLoader(Outer(2), num_workers=1, collate_fn=keep)
    assert list(made) == [[4], [4]]


@pytest.mark.parametrize("arguments", [{}, {"num_workers": 1, "persistent_workers": True}])
def test_loops_in_loops_and_two_at_a_time(arguments: dict[str, Any]) -> None:
    numbers: Any = range(3)
    made: Any = StatefulDataLoader(numbers, batch_size=None, **arguments)
    assert [(x, y) for x in made for y in made] == [(x, y) for x in range(3) for y in range(3)]
    assert list(zip(made, made, strict=True)) == [(x, x) for x in range(3)]


def test_torchs_own_program_of_epochs_and_breaks_runs() -> None:
    made: Any = StatefulDataLoader(data(), batch_size=4, shuffle=True, num_workers=1)
    seen = 0
    for _ in range(3):
        for step, (x, y) in enumerate(made):
            assert torch.equal(y, x * 1.5)
            seen += len(x)
            if step == 1:
                break
    assert seen == 24
    assert midepoch.StatefulDataLoader.__doc__
