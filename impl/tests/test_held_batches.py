"""A batch never changes while the program can still see any of it.

The short form takes seconds; ``MIDEPOCH_STRESS=n`` plays ``n`` times as many rounds.
"""

from __future__ import annotations

import copy
import gc
import io
import os
import pickle
import queue
import random
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from crossing_values import OutOfBand
from held_views import (
    ARRAY_VIEWS,
    RAW_VIEWS,
    TENSOR_VIEWS,
    Held,
    read_array,
    read_tensor,
    some_view,
)
from histories import keep
from torch.utils.data import Dataset

import midepoch

ROUNDS = int(os.environ.get("MIDEPOCH_STRESS", "1"))

pytestmark = [
    pytest.mark.timeout(180 * ROUNDS),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
]

SIZES = [0, 3, 100, 2_000, 9_000, 20_000, 70_000, 130_000, 270_000]
"""Elements of four bytes: of batches in the message, and in segments of several sizes."""


def values(index: int, size: int) -> np.ndarray[Any, Any]:
    """Return ``size`` numbers of which no two batches have the same."""
    return np.arange(index * 7, index * 7 + size, dtype=np.int32)


class Batches(Dataset[Any]):
    """Batches of several forms and of sizes that change."""

    def __init__(self, n: int, sizes: list[int] | None = None, seed: int = 0) -> None:
        self.n = n
        self.sizes = sizes or SIZES
        self.seed = seed

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        draw = random.Random(f"{self.seed} {index}")
        size = draw.choice(self.sizes)
        some, few = values(index, size), values(-index, min(size, 12))
        kind = draw.randrange(4)
        if kind == 0:
            return {"x": torch.from_numpy(some), "a": few, "index": index}
        if kind == 1:
            tensor = torch.from_numpy(some)
            rest = tensor[size // 2 :]
            return {"index": index, "x": tensor, "a": some[::2], "rest": rest, "again": tensor}
        if kind == 2:
            column, raw = some.reshape(-1, 1), OutOfBand(few)
            return {"index": index, "x": torch.from_numpy(some), "a": column, "raw": raw}
        few_ones, raw = torch.from_numpy(few), OutOfBand(bytearray(some))
        return {"index": index, "x": few_ones, "a": some, "raw": raw}


def loader(dataset: Dataset[Any], **arguments: Any) -> Any:
    chosen = {"batch_size": None, "collate_fn": keep, "num_workers": 1, "seed": 5, **arguments}
    return midepoch.StatefulDataLoader(dataset, **chosen)


def right(batch: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Tell whether a batch is what the dataset gives."""
    return batch.keys() == wanted.keys() and all(equal(batch[key], wanted[key]) for key in wanted)


def equal(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, torch.Tensor):
        return torch.equal(got, wanted)
    if isinstance(wanted, int):
        return bool(got == wanted)
    if isinstance(wanted, OutOfBand):
        return bytes(memoryview(got.buffer)) == bytes(memoryview(wanted.buffer))
    return bool(np.array_equal(got, wanted))


# While the pool turns over

EXECUTIONS: list[dict[str, Any]] = [
    {"prefetch_factor": 2},
    {"num_workers": 2, "prefetch_factor": 5, "in_order": False},
    {"num_workers": 2, "persistent_workers": True, "prefetch_next_epoch": True},
]


@pytest.mark.parametrize("execution", EXECUTIONS, ids=str)
def test_views_of_batches_do_not_change_while_others_are_delivered(
    execution: dict[str, Any],
) -> None:
    for turn in range(ROUNDS):
        assert changed(f"{execution} {turn}", turn, execution) == []


def changed(seed: str, turn: int, execution: dict[str, Any]) -> list[str]:
    """Hold random views over several epochs; return those that changed, and false batches."""
    draw = random.Random(seed)
    dataset = Batches(120, seed=turn)
    made = loader(dataset, shuffle=True, **execution)
    found: list[str] = []
    held: list[Held] = []
    for epoch in range(3):
        for batch in made:
            if not right(batch, dataset[batch["index"]]):
                found.append(f"batch {batch['index']} of epoch {epoch} is not right")
            for _ in range(draw.choice([0, 0, 1, 3])):
                held.append(some_view(draw, batch))
            if draw.random() < 0.15:
                found += [one.name for one in held if not one.same()]
                draw.shuffle(held)
                del held[draw.randrange(len(held) + 1) :]
            if epoch == 1 and draw.random() < 0.01:
                break
    del batch, made
    gc.collect()
    return found + [f"{one.name}, the loader gone" for one in held if not one.same()]


@pytest.mark.parametrize("size", [300, 50_000])
def test_each_kind_of_view_keeps_what_it_views(size: int) -> None:
    """One view at a time: all memory but that is used again."""
    kinds: list[tuple[str, str, Any]] = [
        (part, name, view)
        for part, views in (("x", TENSOR_VIEWS), ("a", ARRAY_VIEWS), ("raw", RAW_VIEWS))
        for name, view in views.items()
    ]
    batches = iter(loader(Alike(size, 10 * len(kinds))))
    found = []
    for part, name, view in kinds:
        held = Held.of(name, view(next(batches)[part]))
        for _ in range(9):
            next(batches)
        if not held.same():
            found.append(f"{part}: {name}")
    assert found == []


class Alike(Dataset[Any]):
    """Batches of one form and size."""

    def __init__(self, size: int, n: int = 100) -> None:
        self.size = size
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        some = values(index + 1, self.size)
        return {"x": torch.from_numpy(some), "a": some.copy(), "raw": OutOfBand(bytearray(some))}


def test_all_batches_may_be_kept() -> None:
    dataset = Batches(200)
    kept = list(loader(dataset, num_workers=2))
    assert all(right(kept[index], dataset[index]) for index in range(len(dataset)))


# Writing

LARGE_AND_SMALL = [300, 50_000]


class Same(Dataset[Any]):
    """The same objects again and again, out of a table that the dataset keeps."""

    def __init__(self, size: int) -> None:
        self.x = torch.from_numpy(values(0, size))
        self.a = values(1, size)
        self.raw = bytearray(values(2, size))

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        part = self.x[len(self.x) // 2 :]
        return {"x": self.x, "part": part, "a": self.a, "raw": OutOfBand(self.raw)}


@pytest.mark.parametrize("size", LARGE_AND_SMALL)
def test_what_the_holder_writes_is_seen_by_nobody_else(size: int) -> None:
    dataset = Same(size)
    made = loader(dataset, num_workers=2, persistent_workers=True, prefetch_factor=4)
    kept: list[Any] = []
    written = 0
    for _ in range(3):
        for batch in made:
            written += 1
            wanted = dataset[0]
            assert right(batch, wanted)
            batch["part"].zero_()
            assert not batch["x"][size // 2 :].any()  # it is a part of this
            batch["x"].fill_(written)
            batch["a"][:] = written
            memoryview(batch["raw"].buffer).cast("B")[:3] = b"abc"
            kept = [*kept[-5:], batch]
            assert len({int(one["a"][0]) for one in kept}) == len(kept)
    assert torch.equal(dataset.x, torch.from_numpy(values(0, size)))


@pytest.mark.parametrize("size", LARGE_AND_SMALL)
def test_a_write_goes_to_all_that_views_the_same_memory(size: int) -> None:
    for batch in loader(Same(size)):
        alias, view = batch["x"].numpy(), batch["x"][1:]
        batch["x"].fill_(7)
        assert (alias == 7).all()
        assert bool((view == 7).all())
        assert bool((batch["part"] == 7).all())


# Copies, other threads, other processes


@pytest.mark.parametrize("size", LARGE_AND_SMALL)
def test_copies_are_whole(size: int) -> None:
    batches = iter(loader(Alike(size)))
    first = next(batches)
    wanted = Alike(size)[0]
    buffers: list[pickle.PickleBuffer] = []
    plain = {"x": first["x"], "a": first["a"]}
    outside = pickle.dumps(plain, protocol=5, buffer_callback=buffers.append)
    saved = io.BytesIO()
    torch.save(first["x"], saved)
    assert saved.tell() < 4 * size + 10_000  # and not the memory around it
    copies = [copy.deepcopy(plain), pickle.loads(pickle.dumps(plain)), copy.copy(plain)]
    clones = first["x"].clone(), first["a"].copy()
    del first, plain
    for _ in range(20):
        next(batches)
    copies.append(pickle.loads(outside, buffers=buffers))
    saved.seek(0)
    for one in copies:
        assert torch.equal(one["x"], wanted["x"])
        assert np.array_equal(one["a"], wanted["a"])
    assert torch.equal(torch.load(saved, weights_only=True), wanted["x"])
    assert torch.equal(clones[0], wanted["x"])
    assert np.array_equal(clones[1], wanted["a"])


def test_batches_are_held_and_dropped_in_other_threads() -> None:
    dataset = Batches(120)
    held: queue.Queue[Any] = queue.Queue(maxsize=20)
    found: list[Any] = []

    def work(number: int) -> None:
        draw = random.Random(number)
        mine: list[Any] = []
        while (batch := held.get()) is not None:
            view = some_view(draw, batch)
            loop: list[Any] = [batch]
            loop.append(loop)  # dropped when the collector runs, in whichever thread
            mine.append(view)
            del batch, loop
            if len(mine) > 10:
                found.extend(one.name for one in mine if not one.same())
                del mine[: draw.randrange(10)]
        found.extend(one.name for one in mine if not one.same())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(ROUNDS):
            for index, batch in enumerate(loader(dataset, num_workers=2)):
                if not right(batch, dataset[index]):
                    found.append(index)
                held.put(batch)
    finally:
        for _ in threads:
            held.put(None)
        for thread in threads:
            thread.join(60)
    del batch
    gc.collect()
    assert found == []


@pytest.fixture
def eager_collector() -> Iterator[None]:
    """Let the collector of cycles run wherever anything is allocated."""
    before = gc.get_threshold()
    gc.freeze()  # what the interpreter holds already is not looked at each time
    gc.set_threshold(1, 1, 1)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.usefixtures("eager_collector")
def test_batches_in_cycles_may_go_at_any_moment() -> None:
    """Also amid the transport's own work, which may not notice."""
    dataset = Batches(120)
    for index, batch in enumerate(loader(dataset, num_workers=2)):
        assert right(batch, dataset[index])
        loop: list[Any] = [batch, batch["x"]]
        loop.append(loop)


@pytest.mark.parametrize("size", LARGE_AND_SMALL)
def test_parent_and_child_of_a_fork_both_keep_what_they_hold(size: int) -> None:
    """The child looks when the parent has dropped its batches and delivered many more."""
    batches = iter(loader(Alike(size)))
    held = {name: next(batches) for name in ("both", "parent", "child")}
    views = {name: Held.of(name, read_array(batch["a"][1:])) for name, batch in held.items()}
    tensors = {name: Held.of(name, read_tensor(batch["x"])) for name, batch in held.items()}
    del held
    go, told = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            del views["parent"], tensors["parent"]
            gc.collect()
            os.write(told[1], b"dropped")
            os.read(go[0], 1)
            same = [one.same() for one in (*views.values(), *tensors.values())]
            status = 0 if all(same) else 2
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    try:
        os.read(told[0], 7)
        del views["child"], tensors["child"]
        for _ in range(30):
            next(batches)
        same = [one.same() for one in (*views.values(), *tensors.values())]
        views.clear()
        tensors.clear()
        gc.collect()
        for _ in range(30):
            next(batches)
    finally:
        os.write(go[1], b"g")
        status = os.waitpid(child, 0)[1]
        for end in (*go, *told):
            os.close(end)
    assert all(same)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(list(batches)) == 100 - 63


def _echo(received: Any, answers: Any) -> None:
    """Answer with the sum of each batch, looked at when all have come."""
    torch.set_num_threads(1)  # a fork has none of its parent's
    batches = []
    while (batch := received.get()) is not None:
        batches.append(batch)
    answers.put([int(batch["x"].sum()) + int(batch["a"].sum()) for batch in batches])


@pytest.mark.usefixtures("classic")
@pytest.mark.parametrize("size", LARGE_AND_SMALL)
def test_batches_are_sent_on_by_a_queue_of_torch(size: int) -> None:
    context: Any = torch.multiprocessing.get_context("fork")
    there, back = context.Queue(), context.Queue()
    process = context.Process(target=_echo, args=(there, back))
    process.start()
    wanted = []
    for index, batch in enumerate(loader(Alike(size, 30))):
        wanted.append(2 * int(values(index + 1, size).sum(dtype=np.int64)))
        there.put({"x": batch["x"], "a": batch["a"]})
    there.put(None)
    assert back.get(timeout=60) == wanted
    process.join(60)
    process.close()
    for one in (there, back):
        one.close()
        one.join_thread()
    del batch
    _stop_sharing()


def _stop_sharing() -> None:
    """End the thread that passes descriptors to other processes."""
    from multiprocessing import resource_sharer

    resource_sharer.stop(timeout=60)


def test_where_nothing_can_be_pinned_batches_are_right() -> None:
    dataset = Batches(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # there is no accelerator
        kept = list(loader(dataset, pin_memory=not torch.accelerator.is_available()))
    assert all(
        equal(batch[key], wanted[key])
        for batch, wanted in zip(kept, map(dataset.__getitem__, range(40)), strict=True)
        for key in ("x", "a")
    )


def test_a_pinned_copy_is_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment must not be used again under a copy to a device that is still under way."""
    pinned: list[int] = []

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        pinned.append(tensor.data_ptr())
        return tensor.clone()

    accelerator = torch.accelerator
    monkeypatch.setattr(accelerator, "is_available", lambda: True)
    monkeypatch.setattr(accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(accelerator, "device_count", lambda: 1)
    monkeypatch.setattr(accelerator, "current_device_index", lambda: 0)
    monkeypatch.setattr(accelerator, "set_device_index", lambda index: None)
    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)
    dataset = Alike(50_000, 30)
    kept = [batch["x"] for batch in loader(dataset, pin_memory=True)]
    assert not {tensor.data_ptr() for tensor in kept} & set(pinned)
    assert all(torch.equal(kept[index], dataset[index]["x"]) for index in range(30))
