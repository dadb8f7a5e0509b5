"""Any batch that PyTorch's loader delivers comes from any kind of worker, and is the same."""

from __future__ import annotations

import copy
import functools
import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import pytest
import torch
from crossing_values import (
    CATALOGUE,
    REFUSED_BY_BOTH,
    Built,
    Listed,
    OutOfBand,
    Pair,
    Record,
    batches,
)
from histories import keep
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pictures import contents, picture, storage_sizes
from torch.utils.data import DataLoader, Dataset

import midepoch
from midepoch.errors import WorkerDiedError

pytestmark = [
    pytest.mark.usefixtures("classic"),
    # Of making and reading such values, in torch itself.
    pytest.mark.filterwarnings("ignore:Sparse:UserWarning"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning"),
]


@dataclass
class Refused:
    """In place of a value that did not arrive."""

    why: str


def checked(value: Any) -> Any:
    """Leave a value as it is (a collate function), unless PyTorch cannot send it: it would hang."""
    try:
        ForkingPickler.dumps(value)
    except Exception as error:
        return Refused(f"{type(error).__name__}: {error}")
    return value


def by_torch(dataset: Dataset[Any], collate: Any = keep) -> list[Any]:
    made = DataLoader(
        dataset,
        batch_size=None,
        num_workers=1,
        collate_fn=collate,
        multiprocessing_context="fork",
        timeout=60,
    )
    return list(made)


ROUTES: dict[str, dict[str, Any]] = {
    "inline": {"num_workers": 0},
    "thread": {"worker_type": "thread"},
    **{method: {"multiprocessing_context": method} for method in ("fork", "spawn", "forkserver")},
}


def by_us(dataset: Dataset[Any], route: str, **arguments: Any) -> list[Any]:
    chosen = {"num_workers": 1, **ROUTES[route], **arguments}
    made: Any = midepoch.StatefulDataLoader(dataset, batch_size=None, collate_fn=keep, **chosen)
    got: list[Any] = []
    iterator = iter(made)
    while True:
        try:
            got.append(next(iterator))
        except StopIteration:
            return got
        except WorkerDiedError:
            raise
        except Exception as error:
            got.append(Refused(f"{type(error).__name__}: {error}"))


def first_difference(a: Any, b: Any) -> str:
    """Say where two pictures differ."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
        where, one, other = next((k, x, y) for k, (x, y) in enumerate(zip(a, b)) if x != y)  # noqa: B905 -- of one length
        return f"[{where}]{first_difference(one, other)}"
    return f": {a!r:.200} is not {b!r:.200}"


COPIES: dict[str, Any] = {
    "deepcopy": copy.deepcopy,
    "pickle 2": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "pickle 5": lambda value: pickle.loads(pickle.dumps(value, protocol=5)),
}


def copied(how: str, value: Any) -> Any:
    """Return the contents of a copy; ``None``: PyTorch or NumPy make none in this way."""
    try:
        return contents(COPIES[how](value))
    except Exception:
        return None


def writable(value: Any) -> bool | None:
    """Tell whether a tensor or an array lets its first element be written, by doing so."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided:
        plain = value.detach()
        if plain.is_nested or plain.is_meta or plain.is_quantized or not plain.numel():
            return None
        try:
            plain.reshape(-1)[0:1].copy_(plain.reshape(-1)[0:1])
            return True
        except RuntimeError:
            return False
    if isinstance(value, np.ndarray) and value.size:
        return bool(value.flags.writeable)
    return None


@dataclass
class Seen:
    """A value that arrived, as plain data: values that PyTorch shares hold files."""

    refused: str = ""
    contents: Any = None
    picture: Any = None
    sizes: Sequence[int] = ()
    writable: bool | None = None
    copies: Sequence[Any] = ()
    """The contents of a copy for each way to make one."""

    @classmethod
    def of(cls, value: Any, *, copies: bool = False) -> Seen:
        if isinstance(value, Refused):
            return cls(refused=value.why)
        return cls(
            contents=contents(value),
            picture=picture(value),
            sizes=storage_sizes(value),
            writable=writable(value),
            copies=[copied(how, value) for how in COPIES] if copies else (),
        )


def difference(original: Seen, theirs: Seen, ours: Seen) -> str:
    """Say how a value that we delivered is worse than PyTorch's; "" if it is not."""
    if ours.refused:
        return "" if theirs.refused else f"refused: {ours.refused[-300:]}"
    if ours.contents != original.contents:
        return f"other contents: {first_difference(ours.contents, original.contents)}"
    for how, copy_of_ours, copy_made in zip(COPIES, ours.copies, original.copies, strict=False):
        if copy_made is not None and copy_of_ours != copy_made:
            return f"another copy by {how}"
    if theirs.refused:
        return ""
    if ours.writable != theirs.writable:
        return f"writable: {ours.writable}"
    if theirs.contents != original.contents:
        return ""  # PyTorch sends it wrong
    if ours.picture != theirs.picture:
        return f"another form: {first_difference(ours.picture, theirs.picture)}"
    if any(a > b for a, b in zip(ours.sizes, theirs.sizes, strict=True)):
        return f"more memory behind: {ours.sizes} for {theirs.sizes}"
    return ""


NAMES = list(CATALOGUE)


@functools.cache
def references() -> list[tuple[Seen, Seen]]:
    """Return each value of the catalogue, and the value that arrives by PyTorch."""
    dataset = Built(NAMES)
    made = [Seen.of(dataset[index], copies=True) for index in range(len(NAMES))]
    return list(zip(made, map(Seen.of, by_torch(dataset, checked)), strict=True))


@pytest.mark.filterwarnings("ignore")  # of torch's copies, about values that it can hardly save
@pytest.mark.parametrize("route", ROUTES)
def test_the_catalogue_crosses_as_by_torch(route: str, helpers: None) -> None:
    handed_over = route in ("inline", "thread")
    found = {}
    for name, (original, theirs), value in zip(
        NAMES, references(), by_us(Built(NAMES), route), strict=True
    ):
        ours = Seen.of(value, copies=True)
        if ours.refused and (handed_over or name not in REFUSED_BY_BOTH):
            found[name] = f"refused: {ours.refused[-300:]}"
        elif name not in REFUSED_BY_BOTH:  # their text names an address
            found[name] = difference(original, original if handed_over else theirs, ours)
    del value
    assert {name: why for name, why in found.items() if why} == {}


@settings(
    derandomize=True,
    max_examples=12,
    deadline=None,
    database=None,
    # An example is many values, hence large and slow. Each is judged alone, so none is shrunk.
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(values=st.lists(batches, min_size=25, max_size=40))
def test_any_batch_crosses_as_by_torch(values: list[Any]) -> None:
    # Three in a row: pickled, with its layout, and by the number of its layout.
    dataset = Listed([value for value in values for _ in range(3)])
    before = [picture(value) for value in dataset.values]
    assert compared(dataset) == []
    assert [picture(value) for value in dataset.values] == before


def compared(dataset: Listed) -> list[str]:
    """Say what differs of what arrives."""
    ours = by_us(dataset, "fork")
    # Its worker leaves the values as they were, but PyTorch's gives them other memory.
    theirs = by_torch(dataset)
    values = (map(Seen.of, some) for some in (dataset.values, theirs, ours))
    return [why for why in map(difference, *values) if why]


class Twins(Dataset[Any]):
    """Batches that differ by little: what remembers the last one's layout must see it."""

    kinds = 26

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> Any:
        return self.make(self.order[index], index)

    @staticmethod
    def make(kind: int, index: int) -> Any:
        x = torch.full((6, 4), index, dtype=torch.int32)
        square = torch.full((40, 40), float(index))
        made: list[Callable[[], Any]] = [
            lambda: {"x": x, "name": "a"},
            lambda: {"x": x, "name": "b"},
            lambda: {"name": "a", "x": x},
            lambda: {"x": x.view(torch.float32), "name": "a"},
            lambda: {"x": x.reshape(4, 6), "name": "a"},
            lambda: {"x": x.numpy(), "name": "a"},
            lambda: {1: x},
            lambda: {True: x},
            lambda: {1.0: x},
            lambda: {0.0: x},
            lambda: {-0.0: x},
            lambda: [x, 0],
            lambda: (x, 0),
            lambda: Pair(x, 0),
            lambda: Record(x, 0),
            lambda: [x, False],
            lambda: [x, x],
            lambda: [x, x.clone()],
            lambda: [x, x[0]],
            lambda: [x, x[0].clone()],
            lambda: square,
            lambda: square.t().contiguous().t(),
            lambda: square.clone().requires_grad_(),
            lambda: torch.nn.Parameter(square.clone()),
            lambda: {"x": x, "index": index},
            lambda: {"x": x, "more": torch.full((index,), 1.5)},
        ]
        return made[kind]()


def same(got: Any, wanted: Any) -> bool:
    return bool(picture(got) == picture(wanted))


@pytest.mark.parametrize("arguments", [{}, {"num_workers": 2, "prefetch_factor": 5}], ids=str)
def test_batches_that_differ_by_little_are_told_apart(arguments: dict[str, Any]) -> None:
    draw = random.Random(5)
    order = [kind for kind in range(Twins.kinds) for _ in range(4)]
    order += [draw.randrange(Twins.kinds) for _ in range(150)]
    got = by_us(Twins(order), "fork", **arguments)
    for index, kind in enumerate(order):
        assert same(got[index], Twins.make(kind, index)), kind


@pytest.mark.parametrize("dealing", [{}, {"prefetch_next_epoch": True}, {"in_order": False}])
def test_epochs_broken_off_anywhere_leave_no_layout_behind(dealing: dict[str, Any]) -> None:
    """Answers that nobody reads any more may have told what later ones rely on."""
    draw = random.Random(6)
    order = [draw.randrange(Twins.kinds) for _ in range(60)]
    made: Any = midepoch.StatefulDataLoader(
        Twins(order),
        batch_size=None,
        collate_fn=lambda value: [value],
        num_workers=2,
        persistent_workers=True,
        prefetch_factor=4,
        shuffle=True,
        seed=3,
        **dealing,
    )
    keys: Any = midepoch.StatefulDataLoader(range(60), batch_size=None, shuffle=True, seed=3)  # type: ignore[arg-type]  # a list is a dataset
    for _ in range(12):
        turn = [int(key) for key in keys]
        take = draw.randrange(60)
        got = [batch for batch, _ in zip(made, range(take), strict=False)]
        wanted = [picture([Twins.make(order[key], key)]) for key in turn]
        for at, batch in enumerate(got):
            if "in_order" in dealing:
                assert picture(batch) in wanted
            else:
                assert picture(batch) == wanted[at]


class Sized(Dataset[Any]):
    """Batches of ``count`` tensors and ``size`` bytes in all."""

    def __init__(self, sizes: list[tuple[int, int]]) -> None:
        self.sizes = sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: int) -> Any:
        size, count = self.sizes[index]
        values = np.arange(size // count // 8) + index
        return {number: torch.from_numpy(values + number) for number in range(count)}


def test_batches_grow_and_shrink() -> None:
    sizes = [0, 1, 100, 4_000, 16_000, 33_000, 64_000, 70_000, 1 << 20, 3 << 20, 32 << 20]
    small = [size for size in sizes if size <= 1 << 20]
    draw = random.Random(7)
    plan = [(size, 1) for size in (*sizes, *reversed(sizes))]
    plan += [(draw.choice(small), draw.choice([1, 2, 10, 50])) for _ in range(150)]
    plan += [(32 << 20, 7), (0, 1), (9 << 20, 3), (100, 1), (31 << 20, 1), (33 << 20, 1)]
    dataset = Sized(plan)
    made: Any = midepoch.StatefulDataLoader(
        dataset, batch_size=None, collate_fn=keep, num_workers=1
    )
    delivered = 0
    for index, batch in enumerate(made):
        wanted = dataset[index]
        assert batch.keys() == wanted.keys()
        assert all(torch.equal(batch[number], wanted[number]) for number in wanted)
        delivered += 1
    assert delivered == len(plan)


class Reusing(Dataset[Any]):
    """Returns the same memory each time, written over: as readers of frames do."""

    def __init__(self, size: int) -> None:
        self.frame = torch.zeros(size)
        self.rows = np.zeros(size)
        self.raw = bytearray(size)

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> Any:
        self.frame.fill_(index)
        self.rows[:] = index
        self.raw[:] = bytes([index]) * len(self.raw)
        return self.frame, self.rows, self.frame[1:], self.frame.numpy(), OutOfBand(self.raw)


@pytest.mark.parametrize("size", [10, 50_000])
def test_a_dataset_may_write_over_what_it_returned(size: int) -> None:
    for index, batch in enumerate(by_us(Reusing(size), "fork")):
        frame, rows, rest, alias, raw = batch
        assert all(bool((part == index).all()) for part in (frame, rows, rest, alias))
        assert bytes(raw.buffer) == bytes([index]) * size
