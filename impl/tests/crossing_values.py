"""Values that a batch may hold: by name, and by chance."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st
from torch.utils.data import Dataset
from typed_values import TENSOR_DTYPES, arrays, integers, scalars, tensors, texts

from midepoch.transport import layouts

__all__ = [
    "BY_NUMBER",
    "CATALOGUE",
    "GRID",
    "LARGE",
    "REFUSED_BY_BOTH",
    "SAMPLES",
    "Built",
    "Listed",
    "Measured",
    "OutOfBand",
    "Pair",
    "Record",
    "Slotted",
    "Table",
    "Tagged",
    "batches",
    "tensor",
]


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Record:
    image: Any
    label: Any = None


@dataclasses.dataclass(frozen=True)
class FrozenRecord:
    image: Any


class Slotted:
    __slots__ = ("image",)

    def __init__(self, image: Any) -> None:
        self.image = image


class Row(list[Any]):
    pass


class Text(str):
    __slots__ = ()


class Colour(enum.Enum):
    RED = "red"


class Table(OrderedDict[str, Any]):
    """A mapping with more than its items."""

    title = ""


class Tagged(torch.Tensor):
    """A subclass, with attributes."""

    tag: Any


class Measured(np.ndarray[Any, Any]):
    """The same of NumPy's; its attribute crosses by its own reduction."""

    unit = ""

    def __array_finalize__(self, obj: Any) -> None:
        self.unit = getattr(obj, "unit", "")

    def __reduce__(self) -> Any:
        return _measured, (np.asarray(self), self.unit)


def _measured(values: Any, unit: str) -> Measured:
    made = values.view(Measured)
    made.unit = unit
    return made  # type: ignore[no-any-return]  # NumPy's views are of any type


class OutOfBand:
    """Gives its memory to the pickler as it is, and keeps what it is given back."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer

    def __reduce_ex__(self, protocol: Any) -> Any:
        raw = memoryview(self.buffer)
        return OutOfBand, (pickle.PickleBuffer(raw) if protocol >= 5 else bytes(raw),)


# Values by name


def _tagged() -> Tagged:
    made = torch.arange(3.0).as_subclass(Tagged)
    made.tag = ["mine", torch.ones(2)]
    return made


def _titled() -> Table:
    made = Table(x=torch.ones(2))
    made.title = "mine"
    return made


def _loop() -> Any:
    made: list[Any] = [torch.arange(3)]
    made.append(made)
    return made


def _with_cycle() -> Any:
    made: dict[str, Any] = {"x": np.arange(3)}
    made["self"] = [made]
    return made


def _views() -> Any:
    base = torch.arange(12).reshape(3, 4)
    return [base[1], base, base.t(), base[:, 2], base.reshape(-1)[5:]]


def _with_array(size: int) -> Any:
    tensor = torch.arange(size)
    return [tensor, tensor.numpy(), tensor.numpy()[1:]]


def _array_views() -> Any:
    base = np.arange(6).reshape(2, 3)
    return [base, base[1:], base.T]


def _read_only() -> Any:
    made = np.arange(4)
    made.flags.writeable = False
    return made


def _objects() -> Any:
    made = np.empty(3, dtype=object)
    made[:] = ["a", None, torch.arange(2)]
    return made


def _quantized(channels: bool) -> torch.Tensor:
    values = torch.tensor([[0.1, 0.2], [0.3, 0.5]])
    if not channels:
        return torch.quantize_per_tensor(values, 0.1, 2, torch.qint8)
    scales, zeros = torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([1, 2])
    return torch.quantize_per_channel(values, scales, zeros, 0, torch.quint8)


def _nested(layout: Any) -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)], layout=layout)


def _structured() -> Any:
    kind = np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", "S3")], align=True)
    made = np.zeros(3, kind)
    made["a"], made["c"] = [1, 2, 3], b"xyz"
    return made


def _mapped() -> Any:
    path = pathlib.Path(__file__)
    return np.memmap(path, mode="r", shape=(100,))


def _raw(dtype: torch.dtype) -> torch.Tensor:
    size = torch.empty(0, dtype=dtype).element_size()
    modulus = 2 if dtype is torch.bool else 251
    return (torch.arange(6 * size) % modulus).to(torch.uint8).view(dtype).reshape(2, 3)


Build = Callable[[], Any]

GRID = torch.arange(12.0).reshape(3, 4)

DTYPES = [
    *TENSOR_DTYPES,
    *(
        getattr(torch, name)
        for name in ("float4_e2m1fn_x2", "float8_e8m0fnu")
        if hasattr(torch, name)
    ),
]

_TENSORS: dict[str, Build] = {
    "0-dimensional": lambda: torch.tensor(1.5),
    "empty": lambda: torch.zeros(0, 3),
    "empty, 3 dimensions": lambda: torch.zeros(2, 0, 5, dtype=torch.int8),
    "nothing": lambda: torch.empty(0),
    "not contiguous": lambda: torch.arange(24).reshape(2, 3, 4)[:, ::2, 1:],
    "expanded": lambda: torch.arange(3).expand(4, 3),
    "expanded scalar": lambda: torch.tensor(2.5).expand(1000, 1000),
    "transposed": lambda: torch.arange(12).reshape(3, 4).t(),
    "permuted": lambda: torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "channels last, 3d": lambda: torch.randn(1, 2, 3, 4, 5).to(
        memory_format=torch.channels_last_3d
    ),
    "one channel": lambda: torch.randn(2, 1, 4, 5).to(memory_format=torch.channels_last),
    "a view of more": lambda: torch.arange(1000)[10:14],
    "overlapping": lambda: torch.arange(10).unfold(0, 4, 2),
    "coo": lambda: torch.eye(3).to_sparse(),
    "coo, not coalesced": lambda: torch.sparse_coo_tensor(
        torch.tensor([[0, 0, 1]]), torch.tensor([1.0, 2.0, 3.0]), (3,), check_invariants=True
    ),
    "coo, hybrid and empty": lambda: torch.zeros(3, 2).to_sparse(1),
    "csr": lambda: torch.eye(4).to_sparse_csr(),
    "csc": lambda: torch.eye(4).to_sparse_csc(),
    "bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "bsc": lambda: torch.eye(4).to_sparse_bsc((2, 2)),
    "nested": lambda: _nested(torch.strided),
    "jagged": lambda: _nested(torch.jagged),
    "quantized": lambda: _quantized(channels=False),
    "quantized by channel": lambda: _quantized(channels=True),
    "meta": lambda: torch.empty(3, 4, device="meta").t(),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "frozen parameter": lambda: torch.nn.Parameter(torch.ones(2), requires_grad=False),
    "buffer": lambda: torch.nn.Buffer(torch.ones(2)),
    "subclass": _tagged,
    "requires grad": lambda: torch.ones(2, 3, requires_grad=True),
    "requires grad, empty": lambda: torch.ones(0, requires_grad=True),
    "not a leaf": lambda: torch.ones(2, requires_grad=True) * 2,
    "detached": lambda: (torch.ones(2, requires_grad=True) * 2).detach(),
    "made in inference mode": lambda: torch.inference_mode()(lambda: torch.ones(2))(),
    "conjugate": lambda: torch.tensor([1 + 2j, 3j]).conj(),
    "negative": lambda: torch.tensor([1 + 2j, 3j]).conj().imag,
    "real part": lambda: torch.tensor([1 + 2j, 3j]).real,
    "transposed conjugate": lambda: torch.tensor([[1 + 2j, 3j]]).mH,
    "opaque": lambda: torch.ones(2, 2).to_mkldnn(),
    "of an array": lambda: torch.from_numpy(np.arange(6)[1:4]),
    "a storage": lambda: torch.arange(5).untyped_storage(),
    "a packed sequence": lambda: torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)]),
    "shape": lambda: torch.ones(2, 3).shape,
    "a dtype and a device": lambda: (torch.bfloat16, torch.device("cpu")),
}
_ARRAYS: dict[str, Build] = {
    "objects": _objects,
    "object of arrays": lambda: np.array([np.arange(2), np.arange(3), None], dtype=object),
    "strings": lambda: np.array(["a", "bcd", ""]),
    "variable strings": lambda: np.array(["a", "b" * 99]).astype(
        getattr(getattr(np, "dtypes", None), "StringDType", lambda: "U99")()
    ),
    "bytes": lambda: np.array([b"a", b"bcd"]),
    "datetimes": lambda: np.array(["2020-01-01", "NaT"], dtype="M8[ns]"),
    "timedeltas": lambda: np.array([1, 2], dtype="m8[us]"),
    "structured": _structured,
    "structured, a field of it": lambda: _structured()["b"],
    "structured with objects": lambda: np.array([(1, "x")], dtype=[("a", "i4"), ("b", "O")]),
    "void": lambda: np.zeros(2, "V5"),
    "big-endian": lambda: np.arange(4, dtype=">i4"),
    "half": lambda: np.arange(4, dtype="f2"),
    "long double": lambda: np.arange(4, dtype="g"),
    "Fortran order": lambda: np.asfortranarray(np.arange(12).reshape(3, 4)),
    "negative strides": lambda: np.arange(12).reshape(3, 4)[::-1, ::-2],
    "broadcast": lambda: np.broadcast_to(np.arange(3), (4, 3)),
    "not contiguous": lambda: np.arange(24).reshape(2, 3, 4)[:, ::2, 1:],
    "0-dimensional": lambda: np.array(1.5),
    "0-dimensional object": lambda: np.array({"a": 1}, dtype=object),
    "empty": lambda: np.zeros((0, 3)),
    "read-only": _read_only,
    "of bytes": lambda: np.frombuffer(b"0123456789", dtype=np.uint8),
    "scalars": lambda: [
        np.float32(1.5),
        np.int8(-3),
        np.bool_(True),
        np.str_("a"),
        np.bytes_(b"b"),
    ],
    "a record": lambda: _structured()[1],
    "masked": lambda: np.ma.masked_array([1, 2, 3], [False, True, False], fill_value=9),
    "records": lambda: _structured().view(np.recarray),
    "subclass": lambda: _measured(np.arange(3.0), "mm"),
    "memory-mapped": _mapped,
    "a dtype": lambda: np.dtype([("a", "i4")]),
}
_OTHERS: dict[str, Build] = {
    "nothing": lambda: None,
    "numbers": lambda: [True, 1, 1.0, -0.0, float("nan"), 1j, 2**80, -(2**80)],
    "texts": lambda: ["", "é𝄞\x00", "\ud834", "x" * 70_000],
    "bytes": lambda: [b"", b"\x00\xff", b"x" * 70_000, b"y" * 3_000_000],
    "bytearrays": lambda: [bytearray(), bytearray(b"ab"), bytearray(b"z" * 3_000_000)],
    "an array": lambda: array.array("d", range(20_000)),
    "mappings": lambda: [OrderedDict(b=1, a=2), Counter("abca"), defaultdict(list, a=[1])],
    "a mapping with more": _titled,
    "keys": lambda: {1: "a", (1, 2): "b", None: "c", 2.5: "d", b"x": "e", frozenset([1]): "f"},
    "sets": lambda: [{1, 2}, frozenset("ab"), set()],
    "a bounded deque": lambda: deque([torch.ones(1), 2], maxlen=3),
    "named tuple": lambda: Pair(torch.ones(2), Pair("text", None)),
    "dataclasses": lambda: [Record(torch.ones(2), "a"), FrozenRecord(np.arange(2)), Slotted([1])],
    "others": lambda: [
        Colour.RED,
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 3),
        datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc),
        pathlib.PurePosixPath("a/b"),
        range(3),
        slice(1, 2),
        ...,
        NotImplemented,
        int,
        len,
    ],
    "a list in itself": _loop,
    "a dict in itself": _with_cycle,
    "a tensor twice": lambda: [torch.arange(3)] * 2,
    "views of one storage": _views,
    "large views of one storage": lambda: list(torch.arange(300_000).chunk(4)),
    "a tensor and its array": lambda: _with_array(9),
    "a large one and its array": lambda: _with_array(90_000),
    "an array twice": lambda: [np.arange(3)] * 2,
    "views of one array": _array_views,
    "a mutable twice": lambda: [bytearray(b"ab")] * 2 + [[1]] * 2,
    "a parameter twice": lambda: [torch.nn.Parameter(torch.ones(3))] * 2,
    "parts of one storage": lambda: list(torch.ones(4).chunk(2)),
    "out of band": lambda: [OutOfBand(bytearray(b"abc")), OutOfBand(b"x" * 100_000)],
    "out of band, nothing": lambda: OutOfBand(b""),
    "a memory view": lambda: memoryview(b"abc"),
    "a function in a function": lambda: lambda: 1,
    "a generator": lambda: (number for number in [1]),
    "nested deeply": lambda: {"a": [{"b": (Pair({"c": [torch.ones(1)]}, np.ones(1)),)}]},
    "many": lambda: [torch.full((3,), i) for i in range(200)],
    "many arrays": lambda: {str(i): np.full(i, i) for i in range(200)},
}
_BY_NUMBER: dict[str, Build] = {
    "a list": lambda: [GRID.clone(), torch.ones(2, dtype=torch.int64)],
    "containers within containers": lambda: {
        "a": [(GRID.clone(),), torch.tensor(True)],
        "b": torch.ones(1),
    },
    "odd strides of one": lambda: torch.ones(1, 3).as_strided((1, 3), (7, 1)),
    "huge strides of one": lambda: torch.ones(1, 3).as_strided((1, 3), (2**61, 1)),
    "more dimensions than NumPy's": lambda: torch.ones([1] * 70),
    "as many as there may be": lambda: [torch.ones(1) for _ in range(layouts.TENSORS)],
}
_MORE: dict[str, Build] = {
    "too many": lambda: [torch.ones(1) for _ in range(layouts.TENSORS + 1)],
    "too many in all": lambda: [
        [torch.ones(1) for _ in range(9)] for _ in range(layouts.TENSORS // 8)
    ],
    "one list many times": lambda: [[torch.ones(1) for _ in range(30)]] * 200,
    "too deep": lambda: functools.reduce(
        lambda inner, _: [inner], range(layouts.DEPTH + 1), torch.ones(2)
    ),
    "a number beside": lambda: [GRID.clone(), 1],
    "a text beside": lambda: {"x": GRID.clone(), "name": "a"},
    "none beside": lambda: (GRID.clone(), None),
    "an empty list beside": lambda: [GRID.clone(), []],
    "an empty dictionary": dict,
    "keys of numbers": lambda: {1: GRID.clone()},
    "keys of a subclass": lambda: {Text("x"): GRID.clone()},
    "a named tuple": lambda: Pair(GRID.clone(), torch.ones(1)),
    "a list of a subclass": lambda: Row([GRID.clone()]),
    "an ordered dictionary": lambda: OrderedDict(x=GRID.clone()),
}
CATALOGUE: dict[str, Build] = {
    **{str(dtype): functools.partial(_raw, dtype) for dtype in DTYPES},
    **{f"by number: {name}": build for name, build in _BY_NUMBER.items()},
    **{f"more than tensors: {name}": build for name, build in _MORE.items()},
    **{f"tensor: {name}": build for name, build in _TENSORS.items()},
    **{f"array: {name}": build for name, build in _ARRAYS.items()},
    **{f"other: {name}": build for name, build in _OTHERS.items()},
}
"""Each value's name and how it is made; made where it is wanted, since not all can be sent."""

BY_NUMBER = {
    *map(str, DTYPES),
    *(f"by number: {name}" for name in _BY_NUMBER),
    "tensor: 0-dimensional",
    "tensor: one channel",
    "tensor: a view of more",
    "tensor: buffer",
    "tensor: detached",
    "tensor: made in inference mode",
    "tensor: of an array",
    "other: large views of one storage",
    "other: parts of one storage",
    "other: many",
}
"""The values of which only tensors cross, and the number of their layout."""

REFUSED_BY_BOTH = {
    "tensor: opaque",
    "other: a memory view",
    "other: a function in a function",
    "other: a generator",
}
"""The values that neither PyTorch nor midepoch sends to another process."""


# Samples, of which a loader collates batches

LARGE = 22_500
"""Elements of a sample: four of these are a batch that is worth a way of its own."""


def tensor(index: int, size: int = LARGE) -> torch.Tensor:
    return torch.arange(index, index + size, dtype=torch.float32)


SAMPLES: dict[str, Callable[[int], Any]] = {
    "tensor": tensor,
    "array": lambda i: tensor(i).numpy(),
    "several": lambda i: {"x": tensor(i), "y": i, "z": (tensor(-i), str(i)), "a": tensor(2 * i)},
    "named": lambda i: Pair(tensor(i), Pair(tensor(i, 3), 1.5 * i)),
    "transposed": lambda i: tensor(i).reshape(150, 150).t(),
    "channels last": lambda i: (
        tensor(i).reshape(1, 3, 100, 75).to(memory_format=torch.channels_last)[0]
    ),
    "a part": lambda i: tensor(0, 2 * LARGE)[i : i + LARGE],
    "expanded": lambda i: torch.full((1,), float(i)).expand(LARGE),
    "half": lambda i: tensor(i, 4 * LARGE).to(torch.bfloat16),
    "truth": lambda i: tensor(i, 4 * LARGE) % 3 == 0,
    "complex": lambda i: torch.complex(tensor(i), tensor(-i)),
    "conjugate": lambda i: torch.complex(tensor(i), tensor(-i)).conj(),
    "negative": lambda i: torch.complex(tensor(i), tensor(-i)).conj().imag,
    "two dtypes": lambda i: tensor(i) if i % 2 else tensor(i).to(torch.float64),
    "dtypes of batches": lambda i: tensor(i) if i // 4 % 2 else tensor(i).to(torch.int32),
    "sizes of batches": lambda i: tensor(i, [LARGE, 10, 4 * LARGE, 0, 3, 2 * LARGE][i // 4 % 6]),
    "shapes of batches": lambda i: tensor(i).reshape([(-1,), (150, -1), (1, -1)][i // 4 % 3]),
    "numbers of tensors": lambda i: [tensor(i + k) for k in range(i // 4 % 4)] or i,
    "one tensor, twice": lambda i: (lambda t: (t, t))(tensor(i)),
    "requires grad": lambda i: tensor(i).requires_grad_(),
    "parameter": lambda i: torch.nn.Parameter(tensor(i), requires_grad=False),
    "0-dimensional": lambda i: torch.tensor(float(i)),
    "empty": lambda i: torch.zeros(0, i // 4),
    "every other": lambda i: tensor(i, 2 * LARGE)[::2],
    "numbers": lambda i: i,
    "sparse": lambda i: torch.eye(150).mul(i + 1).to_sparse(),
}
"""How each sample is made, by its index."""


# Values by chance


def _aliased(tensor: torch.Tensor) -> list[Any]:
    flat = tensor.reshape(-1)
    return [tensor, tensor, flat[len(flat) // 2 :], tensor.expand(2, *tensor.shape)]


def _sized(size: int) -> torch.Tensor:
    return torch.arange(size, dtype=torch.int32).view(torch.uint8)


large = st.sampled_from([0, 1, 1000, 17_000, 70_000, 300_000]).map(_sized)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    integers,
    st.floats(),
    texts,
    st.binary(max_size=20),
    st.binary(max_size=20).map(bytearray),
    st.builds(bytearray, st.sampled_from([1000, 70_000])),
    scalars,
    arrays,
    arrays.map(np.asfortranarray),
    arrays.filter(lambda values: values.ndim > 0).map(lambda values: values[::-1]),
    tensors(),
    tensors().map(_aliased),
    large,
    large.map(lambda tensor: tensor.reshape(-1, 4).t()),
    large.map(lambda tensor: tensor.numpy().view("i4")),
    st.text(max_size=5).map(Counter),
)
batches = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inner, max_size=4),
        st.dictionaries(st.text(max_size=3), inner, max_size=3).map(OrderedDict),
        st.lists(inner, max_size=3).map(deque),
        st.builds(Pair, inner, inner),
        st.builds(Record, inner, inner),
        st.builds(Slotted, inner),
        inner.map(lambda value: [value, value]),
    ),
    max_leaves=8,
)


# Datasets


class Listed(Dataset[Any]):
    """Holds its values, and does not show them."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]


class Built(Dataset[Any]):
    """Makes the values of the catalogue, each when it is asked for."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Any:
        torch.manual_seed(index)
        return CATALOGUE[self.names[index]]()
