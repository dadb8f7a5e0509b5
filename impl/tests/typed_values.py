"""Values of every type that the canonical encoding has, and equality in value and type."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from midepoch.encoding.canonical import INTEGER_MAX

__all__ = ["integers", "keys", "same", "values"]


def same(a: Any, b: Any) -> bool:
    """Equal in value and type, all the way down; not-a-number equals itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        bits = [t.contiguous().reshape(-1).view(torch.uint8) for t in (a, b) if t.numel()]
        return (a.dtype, a.shape) == (b.dtype, b.shape) and (not bits or torch.equal(*bits))
    if isinstance(a, np.ndarray):
        return (a.dtype.str, a.shape) == (b.dtype.str, b.shape) and a.tobytes() == b.tobytes()
    if isinstance(a, np.str_ | np.bytes_):
        return bool(a == b)
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype) and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, OrderedDict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, dict):
        return same_members(a, b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, set | frozenset):
        return same_members(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def same_members(a: Any, b: Any) -> bool:
    others = {member: member for member in b}
    return len(a) == len(b) and all(m in others and same(m, others[m]) for m in a)


# ------------------------------------------------------------------ values

integers = st.one_of(
    st.integers(),
    st.integers(-3, 3),
    st.sampled_from([INTEGER_MAX, INTEGER_MAX + 1, -INTEGER_MAX, -INTEGER_MAX - 1, 2**64]),
)
texts = st.one_of(
    st.text(max_size=5),
    st.text(st.characters(categories=["Cs", "Lu"]), max_size=4),
    st.sampled_from(
        ["$", "$int", "$tuple", "", "\x00", '"\\/', "\u2028", "é", "𝄞", "\ud834\udd1e"]
    ),
)
scalar_dtypes = st.sampled_from(["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
scalars = st.one_of(
    scalar_dtypes.flatmap(lambda code: st_numpy.from_dtype(np.dtype(code))),
    st_numpy.from_dtype(np.dtype("M8[ns]")),
    st.text(max_size=3).map(np.str_),
    st.binary(max_size=3).map(np.bytes_),
)
keys = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        integers,
        st.floats(allow_nan=False),
        texts,
        st.binary(max_size=3),
        st.complex_numbers(allow_nan=False),
        scalars.filter(lambda scalar: bool(scalar == scalar)),  # not-a-number finds no key
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(tuple), st.frozensets(inner, max_size=2)
    ),
    max_leaves=3,
)
dtypes = st.one_of(
    st_numpy.boolean_dtypes(),
    st_numpy.integer_dtypes(endianness="?"),
    st_numpy.unsigned_integer_dtypes(endianness="?"),
    st_numpy.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    st_numpy.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    st_numpy.unicode_string_dtypes(endianness="?", min_len=1, max_len=4),
    st_numpy.byte_string_dtypes(min_len=1, max_len=4),
    st_numpy.datetime64_dtypes(endianness="?"),
    st_numpy.timedelta64_dtypes(endianness="?"),
)
arrays = dtypes.flatmap(
    lambda dtype: st_numpy.arrays(dtype, st_numpy.array_shapes(min_dims=0, min_side=0, max_side=3))
)
TENSOR_DTYPES = [
    torch.bool,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
]


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    dtype = draw(st.sampled_from(TENSOR_DTYPES))
    shape = draw(st_numpy.array_shapes(min_dims=0, min_side=0, max_side=3))
    width = torch.empty(0, dtype=dtype).element_size()
    size = math.prod(shape) * width
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype is torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    tensor = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype).reshape(shape)
    return tensor.mT if draw(st.booleans()) and tensor.dim() > 1 else tensor


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        integers,
        st.floats(),
        texts,
        st.complex_numbers(),
        st.binary(max_size=5),
        st.binary(max_size=5).map(bytearray),
        scalars,
        arrays,
        tensors(),
        st.sets(keys, max_size=3),
        st.frozensets(keys, max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(texts, inner, max_size=3),
        st.dictionaries(keys, inner, max_size=3),
        st.dictionaries(keys, inner, max_size=3).map(OrderedDict),
        st.dictionaries(keys, inner, max_size=3).map(Counter),
    ),
    max_leaves=8,
)
