"""Collating in a segment: what comes out is what torch's own function makes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
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
    segment, descriptor = pool.take(1 << 20)
    os.close(descriptor or -1)
    pool.put_back(segment, usable=True)
    made = Collating(pool)
    made.expect(1 << 20)
    made.begin()
    yield made
    made.drop()


def frames(*shape: int) -> Any:
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape)


SAMPLES: dict[str, list[Any]] = {
    "tensors": [frames(2, 3), frames(2, 3) + 1],
    "arrays": [np.arange(6.0), np.arange(6.0) * 2],
    "scalars": [torch.tensor(1), torch.tensor(2)],
    "one": [frames(4)],
    "empty": [torch.zeros(0, 3), torch.zeros(0, 3)],
    "pairs": [(frames(3), 1, "a"), (frames(3), 2, "b")],
    "dictionaries": [{"x": frames(2), "y": [frames(1)]}, {"x": frames(2), "y": [frames(1)]}],
    "other types": [torch.tensor([1]), torch.tensor([1.5])],
    "wide and narrow": [torch.tensor([1.5], dtype=torch.float16), torch.tensor([1.5])],
    "transposed": [frames(3, 4).t(), frames(3, 4).t()],
    "channels last": [frames(4, 5, 3).permute(2, 0, 1) for _ in range(2)],
    "strided": [frames(8)[::2], frames(8)[1::2]],
    "parameters": [torch.nn.Parameter(frames(3)), torch.nn.Parameter(frames(3))],
    "with gradients": [frames(3).requires_grad_(), frames(3).requires_grad_()],
    "bfloat16": [frames(3).to(torch.bfloat16), frames(3).to(torch.bfloat16)],
    "booleans": [torch.tensor([True]), torch.tensor([False])],
    "complex": [torch.tensor([1j]), torch.tensor([2j])],
    "conjugated": [torch.tensor([1j]).conj(), torch.tensor([2j])],
}


def flat(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [part for key in tree for part in flat(tree[key])]
    return [part for one in tree for part in flat(one)] if isinstance(tree, list) else [tree]


@pytest.mark.parametrize("samples", SAMPLES.values(), ids=list(SAMPLES))
def test_a_batch_is_that_of_torch_and_crosses_as_it_is(room: Collating, samples: Any) -> None:
    expected = flat(default_collate(samples))
    batch = room.collate(samples)
    packed = pack(batch, room.arena())
    assert room.segment is not None
    packed.write(room.segment.view, room.segment.address)
    crossed = unpack(packed.form, packed.places, room.segment.view)
    for made in (flat(batch), flat(crossed)):
        for one, other in zip(made, expected, strict=True):
            assert type(one) is type(other)
            if isinstance(one, torch.Tensor):
                assert (one.dtype, one.shape, one.stride()) == (
                    other.dtype,
                    other.shape,
                    other.stride(),
                )
                assert one.requires_grad == other.requires_grad
                assert torch.equal(one.resolve_conj(), other.resolve_conj())
            else:
                assert one == other


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
