"""Collating in a segment: what comes out is what torch's own function makes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from crossing_values import SAMPLES
from pictures import picture
from torch.utils.data import default_collate

import midepoch
from midepoch.transport import collating
from midepoch.transport.collating import WORTH, Collating
from midepoch.transport.packing import pack, unpack
from midepoch.transport.segments import Pool

COUNT = WORTH // 4


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collating]:
    """Yield one that has a segment for each batch, of whatever size."""
    monkeypatch.setattr(collating, "WORTH", 1)
    pool = Pool()
    segment, descriptor = pool.take(1 << 21)
    os.close(descriptor or -1)
    pool.put_back(segment, usable=True)
    made = Collating(pool)
    made.expect(1 << 21)
    made.begin()
    yield made
    made.drop()


def frames(*shape: int) -> Any:
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "sparse"])  # torch refuses
def test_a_batch_is_that_of_torch_and_crosses_as_it_is(room: Collating, name: str) -> None:
    samples = [SAMPLES[name](index) for index in (8, 9)]
    expected = picture(default_collate(samples))
    batch = room.collate(samples)
    assert picture(batch) == expected
    packed = pack(batch, room.arena())
    assert room.segment is not None
    packed.write(room.segment.view, room.segment.address)
    assert picture(unpack(packed.form, packed.places, room.segment.view)) == expected


def test_large_tensors_are_stacked_in_the_segment_and_not_copied(room: Collating) -> None:
    batch = room.collate([frames(COUNT), frames(COUNT)])
    assert room.segment is not None
    assert batch.data_ptr() == room.segment.address
    packed = pack(batch, room.arena())
    assert packed.places == [(0, 2 * WORTH)]
    packed.write(memoryview(b""), 0)  # there is nothing left to write


def test_errors_are_those_of_torch(room: Collating) -> None:
    for samples in ([frames(2), frames(3)], [object()], [frames(2).to_sparse()]):
        with pytest.raises((RuntimeError, TypeError)) as expected:
            default_collate(samples)
        with pytest.raises(type(expected.value)) as got:
            room.collate(samples)
        assert str(got.value) == str(expected.value)


def test_what_this_process_still_sees_is_told(room: Collating) -> None:
    batch = room.collate([frames(COUNT)])
    kept = batch[0, 3:5]
    del batch
    segment, seen = room.give_up()
    assert segment is not None
    assert seen
    assert kept.tolist() == [3.0, 4.0]


class Kept(dict[str, Any]):
    """What a batch of these is made of stays in this process too."""

    latest: Any = None

    def __copy__(self) -> Kept:
        return Kept(self)

    def update(self, *parts: Any, **more: Any) -> None:
        super().update(*parts, **more)
        if isinstance(self.get("x"), torch.Tensor):
            Kept.latest, before = self["x"], Kept.latest
            self["before"] = None if before is None else float(before.double().sum())


class Keeping(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return Kept(x=torch.full((COUNT,), float(index)))


def test_a_batch_that_the_worker_keeps_stays_its_own() -> None:
    loader = midepoch.StatefulDataLoader(Keeping(12), batch_size=2, num_workers=1)
    sums: list[Any] = [None]
    for batch in loader:
        assert batch["before"] == sums[-1]
        sums.append(float(batch["x"].double().sum()))
        batch["x"].zero_()  # the consumer's own


def test_batches_that_grow_and_shrink_are_right_whatever_was_expected() -> None:
    sizes = [10, COUNT, COUNT, 3 * COUNT, 3 * COUNT, 5, COUNT, 40 * COUNT, COUNT, COUNT, 0, COUNT]

    class Varied(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            return torch.full((sizes[index // 2],), index), torch.full((sizes[index // 2],), 0.5)

    loader = midepoch.StatefulDataLoader(Varied(2 * len(sizes)), batch_size=2, num_workers=1)
    for number, (first, second) in enumerate(loader):
        assert first.shape == second.shape == (2, sizes[number])
        assert (first == torch.tensor([[2 * number], [2 * number + 1]])).all()
        assert (second == 0.5).all()
