"""The pinning stage: each batch once, in order, with its own errors; on an accelerator too."""

from __future__ import annotations

import gc
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest
import sources
import torch
from histories import keep

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError

N = 11


class Pair(NamedTuple):
    x: Any
    y: Any


class Custom:
    """A batch of a user's own type."""

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values
        self.pinned = False

    def pin_memory(self) -> Custom:
        other = Custom(self.values.pin_memory())
        other.pinned = True
        return other


class Table(OrderedDict[str, Any]):
    """A mapping with more than its items."""

    title = ""


def loader(dataset: Any = None, **arguments: Any) -> Any:
    given: Any = dataset if dataset is not None else list(torch.arange(N))
    return StatefulDataLoader(given, **{"batch_size": 2, "pin_memory": True, **arguments})


class Pinned:
    """A stand-in for an accelerator: counts the tensors that were pinned, and copies them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[Any] = []
        self.devices: list[int] = []
        self.device = 0
        self.refuse: int | None = None
        accelerator = torch.accelerator
        monkeypatch.setattr(accelerator, "is_available", lambda: True)
        monkeypatch.setattr(accelerator, "current_accelerator", lambda: torch.device("cuda"))
        monkeypatch.setattr(accelerator, "device_count", lambda: 3)
        monkeypatch.setattr(accelerator, "current_device_index", lambda: self.device)
        monkeypatch.setattr(accelerator, "set_device_index", self._set)
        monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: self._pin(tensor))

    def _set(self, index: int) -> None:
        self.device = index

    def _pin(self, tensor: torch.Tensor) -> torch.Tensor:
        if self.refuse is not None and self.refuse in tensor.tolist():
            raise MemoryError("no pinned memory left")
        self.seen.append(tensor.tolist())
        self.devices.append(self.device)
        return tensor.clone()


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Pinned:
    return Pinned(monkeypatch)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_each_batch_is_pinned_once_in_each_epoch(
    workers: int, persistent: bool, pinned: Pinned
) -> None:
    made = loader(num_workers=workers, persistent_workers=persistent and workers > 0)
    batches = [batch.tolist() for batch in made]
    assert batches == [batch.tolist() for batch in loader(pin_memory=False)]
    assert sorted(pinned.seen) == batches
    list(made)
    assert sorted(pinned.seen) == sorted(batches * 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_break_and_a_resume_keep_their_places(workers: int, pinned: Pinned) -> None:
    made = loader(num_workers=workers, persistent_workers=workers > 0)
    whole = [batch.tolist() for batch in made]
    batches = iter(made)
    assert [next(batches).tolist() for _ in range(2)] == whole[:2]
    state = made.state_dict()
    assert state["position"]["batches"] == 2
    assert [batch.tolist() for batch in made] == whole  # left, and begun anew
    resumed = loader(num_workers=workers, lanes=state["plan"]["lanes"])
    resumed.load_state_dict(state)
    assert [batch.tolist() for batch in resumed] == whole[2:]


def nested(samples: list[torch.Tensor]) -> Any:
    values = torch.stack(samples)
    table = Table(a=values)
    table.title = "numbers"
    return {
        "pair": Pair(values, "text"),
        "tuple": (values, b"bytes", 3),
        "list": [values, None],
        "custom": Custom(values),
        "table": table,
    }


@pytest.mark.parametrize("workers", [0, 1])
def test_nested_batches_keep_their_types(workers: int, pinned: Pinned) -> None:
    batch = next(iter(loader(collate_fn=nested, num_workers=workers)))
    assert type(batch["pair"]) is Pair
    assert batch["pair"].y == "text"
    assert batch["tuple"][1:] == (b"bytes", 3)
    assert batch["list"][1] is None
    assert batch["custom"].pinned
    assert (type(batch["table"]), batch["table"].title) == (Table, "numbers")
    assert pinned.seen[:5] == [[0, 1]] * 5


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_in_pinning_has_its_place_and_the_next_batch_follows(
    workers: int, stream: bool, pinned: Pinned
) -> None:
    def make() -> Any:
        if stream:
            return loader(sources.Stream(N), num_workers=workers, lanes=1, collate_fn=firsts)
        return loader(num_workers=workers)

    pinned.refuse = 4
    made = make()
    batches = iter(made)
    assert [next(batches).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(MemoryError, match="no pinned memory left"):
        next(batches)
    state = made.state_dict()
    assert state["position"]["batches"] == 3
    rest = [batch.tolist() for batch in batches]
    assert rest == [[6, 7], [8, 9], [10]]
    resumed = make()
    resumed.load_state_dict(state)
    if stream:
        with pytest.warns(UserWarning, match="produced again"):
            assert [batch.tolist() for batch in resumed] == rest
    else:
        assert [batch.tolist() for batch in resumed] == rest


def firsts(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor([int(row[0]) for row in rows])


@pytest.mark.parametrize(
    ("device", "index"), [("", 0), ("cuda", 0), ("cuda:2", 2), (1, 1), (torch.device("cuda:1"), 1)]
)
def test_a_device_by_name_or_index_is_current_while_pinning(
    device: Any, index: int, pinned: Pinned
) -> None:
    made = loader(pin_memory_device=device)
    assert made.pin_memory_device == device
    list(made)
    assert set(pinned.devices) == {index}
    assert pinned.device == 0


def test_devices_that_are_not_here(pinned: Pinned) -> None:
    with pytest.warns(UserWarning, match="'xpu' is ignored: the accelerator here is cuda"):
        list(loader(pin_memory_device="xpu"))
    assert set(pinned.devices) == {0}
    for device in (3, "cuda:7"):
        with pytest.raises(ArgumentError, match="but there are 3 cuda devices"):
            iter(loader(pin_memory_device=device, num_workers=1))
    for wrong in (-1, True, 1.0, None):
        with pytest.raises(ArgumentError, match="pin_memory_device should be"):
            loader(pin_memory_device=wrong)


def test_without_an_accelerator_it_is_torchs_warning() -> None:
    if torch.accelerator.is_available():
        pytest.skip("an accelerator is here")
    with pytest.warns(UserWarning, match="no accelerator is found") as caught:
        assert len(list(loader())) == 6
    assert caught[0].filename == __file__


# With an accelerator


def needs_an_accelerator(test: Any) -> Any:
    there = torch.accelerator.is_available()
    return pytest.mark.gpu(pytest.mark.skipif(not there, reason="no accelerator is here")(test))


@needs_an_accelerator
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_pinned(workers: int) -> None:
    for batch in loader(collate_fn=nested, num_workers=workers):
        for tensor in (batch["pair"].x, batch["custom"].values, batch["table"]["a"]):
            assert tensor.is_pinned()


@needs_an_accelerator
def test_a_copy_under_way_is_not_overwritten() -> None:
    rows = [torch.full((1 << 20,), float(i)) for i in range(32)]
    device = torch.accelerator.current_accelerator()
    busy = torch.ones(4096, 4096, device=device)
    copies = []
    for batch in loader(rows, batch_size=1, num_workers=2):
        for _ in range(8):
            busy = busy @ busy  # the copy waits behind this
            busy = busy / busy.norm()
        copies.append(batch.to(device, non_blocking=True))
        del batch
        gc.collect()
    torch.accelerator.synchronize()
    for i, copy in enumerate(copies):
        assert bool((copy == float(i)).all()), i


@needs_an_accelerator
def test_rows_of_any_kind_come_through() -> None:
    assert list(loader(sources.Plain(N), collate_fn=keep, seed=1)) == list(
        loader(sources.Plain(N), collate_fn=keep, seed=1, pin_memory=False)
    )
