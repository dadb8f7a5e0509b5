"""Arrays, array scalars and tensors in the canonical encoding: data type, shape, bytes.

Only decoding a tensor imports torch, so that states without tensors need no torch.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import numpy as np

from midepoch.encoding.leaves import CodecFault, decode_base64, encode_base64

__all__ = [
    "SCALAR_TYPES",
    "decode_array",
    "decode_scalar",
    "decode_tensor",
    "encode_array",
    "encode_scalar",
    "encode_tensor",
    "is_tensor",
]

_DIMENSIONS_MAX = 32  # every supported NumPy allows them
_BYTES_MAX = 2**53 - 1  # so that every size is a plain integer of JSON

# Bytes of an element, and of one of its words, the unit of the byte order.
_TENSOR_WIDTHS = {
    "bool": (1, 1),
    "uint8": (1, 1),
    "uint16": (2, 2),
    "uint32": (4, 4),
    "uint64": (8, 8),
    "int8": (1, 1),
    "int16": (2, 2),
    "int32": (4, 4),
    "int64": (8, 8),
    "float8_e4m3fn": (1, 1),
    "float8_e4m3fnuz": (1, 1),
    "float8_e5m2": (1, 1),
    "float8_e5m2fnuz": (1, 1),
    "float16": (2, 2),
    "bfloat16": (2, 2),
    "float32": (4, 4),
    "float64": (8, 8),
    "complex64": (8, 4),
    "complex128": (16, 8),
}

# Structured types and objects have no bytes of their own; "long double" differs by platform.
_TIME = r"[mM]8(?:\[(?:[2-9]|[1-9][0-9]{1,8})?(?:[YMWDhms]|[munpfa]s)\])?"
_ARRAY_DTYPE = re.compile(
    r"\|(?:b1|[iu]1|S[1-9][0-9]{0,6})\Z"
    rf"|[<>](?:[iu][248]|f[248]|c8|c16|U[1-9][0-9]{{0,6}}|{_TIME})\Z"
)
# Strings are separate: an array drops their trailing NULs, a scalar does not.
_SCALAR_DTYPE = re.compile(rf"\|(?:b1|[iu]1)\Z|<(?:[iu][248]|f[248]|c8|c16|{_TIME})\Z")

SCALAR_TYPES: tuple[type, ...] = tuple(np.sctypeDict.values())
"""The types of NumPy's own scalars."""


def is_tensor(value: object) -> bool:
    """Tell whether ``value`` is a plain torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is getattr(torch, "Tensor", None)


def encode_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the payload of ``array``: its data type as NumPy writes it, C order."""
    dtype = array.dtype
    if not _ARRAY_DTYPE.match(dtype.str):
        raise CodecFault(f"an array of data type {dtype} has no portable bytes")
    if dtype.kind == "b":
        array = array.view(np.uint8) != 0  # a view may have left other bytes than 0 and 1
    shape = list(array.shape)
    _check_size(shape, dtype.itemsize)
    return {"dtype": dtype.str, "shape": shape, "data": encode_base64(array.tobytes())}


def decode_array(payload: object) -> np.ndarray[Any, Any]:
    """Return the array that ``payload`` describes, writable and with memory of its own."""
    fields = _fields(payload, "dtype", "shape", "data")
    dtype = _array_dtype(fields["dtype"], _ARRAY_DTYPE)
    shape = _shape(fields["shape"], dtype.itemsize)
    raw = _data(fields["data"], shape, dtype.itemsize)
    if not raw:
        return np.empty(shape, dtype)
    _check_elements(raw, dtype)
    array: np.ndarray[Any, Any] = np.frombuffer(raw, dtype).reshape(shape).copy()
    return array


def encode_scalar(value: np.generic) -> dict[str, Any]:
    """Return the payload of a NumPy scalar, little-endian whatever the platform."""
    if isinstance(value, np.str_):
        return {"dtype": "str", "data": encode_base64(value.encode("utf-8", "surrogatepass"))}
    if isinstance(value, np.bytes_):
        return {"dtype": "bytes", "data": encode_base64(bytes(value))}
    array = np.asarray(value)
    array = array.astype(array.dtype.newbyteorder("<"))
    if not _SCALAR_DTYPE.match(array.dtype.str):
        raise CodecFault(f"a scalar of data type {array.dtype} has no portable bytes")
    return {"dtype": array.dtype.str, "data": encode_base64(array.tobytes())}


def decode_scalar(payload: object) -> np.generic:
    """Return the NumPy scalar that ``payload`` describes."""
    fields = _fields(payload, "dtype", "data")
    raw = decode_base64(fields["data"])
    name = fields["dtype"]
    scalar: np.generic
    if name == "bytes":
        scalar = np.bytes_(raw)
        return scalar
    if name == "str":
        try:
            scalar = np.str_(raw.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            raise CodecFault("the data is no UTF-8") from None
        return scalar
    dtype = _array_dtype(name, _SCALAR_DTYPE)
    if len(raw) != dtype.itemsize:
        raise CodecFault(f"expected {dtype.itemsize} bytes of data, got {len(raw)}")
    _check_elements(raw, dtype)
    scalar = np.frombuffer(raw, dtype)[0]
    return scalar


def encode_tensor(tensor: Any) -> dict[str, Any]:
    """Return the payload of a torch tensor: little-endian, C order."""
    torch = sys.modules["torch"]
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _TENSOR_WIDTHS:
        raise CodecFault(f"a tensor of data type {name} is not supported")
    if tensor.layout is not torch.strided or tensor.is_nested:
        raise CodecFault("a tensor that is sparse or nested is not supported; convert it")
    if tensor.device.type != "cpu":
        raise CodecFault(f"a tensor on device {tensor.device}; move it with .cpu()")
    if tensor.requires_grad:
        raise CodecFault("a tensor that requires gradients; take .detach() of it")
    shape = list(tensor.shape)
    width, word = _TENSOR_WIDTHS[name]
    _check_size(shape, width)
    flat = tensor.resolve_conj().resolve_neg().contiguous().reshape(-1)
    if name == "bool":
        flat = flat.view(torch.uint8) != 0  # a view may have left other bytes than 0 and 1
    raw = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    data = encode_base64(little_endian(raw, word, sys.byteorder))
    return {"dtype": name, "shape": shape, "data": data}


def decode_tensor(payload: object) -> Any:
    """Return the torch tensor that ``payload`` describes, with memory of its own."""
    fields = _fields(payload, "dtype", "shape", "data")
    name = fields["dtype"]
    if type(name) is not str or name not in _TENSOR_WIDTHS:
        raise CodecFault("unknown data type of a tensor")
    width, word = _TENSOR_WIDTHS[name]
    shape = _shape(fields["shape"], width)
    raw = _data(fields["data"], shape, width)
    if name == "bool":
        _check_booleans(raw)
    torch = _import_torch()
    dtype = getattr(torch, name)
    if not raw:
        return torch.empty(shape, dtype=dtype, device="cpu")
    flat = torch.frombuffer(bytearray(little_endian(raw, word, sys.byteorder)), dtype=torch.uint8)
    return flat.view(dtype).reshape(shape).clone()


def little_endian(raw: bytes, word: int, byteorder: str) -> bytes:
    """Return ``raw``, made of words in ``byteorder``, with its words little-endian; or back.

    >>> little_endian(bytes([0, 1, 0, 2]), 2, "big").hex()
    '01000200'
    """
    if byteorder == "little" or word == 1:
        return raw
    swapped: bytes = np.frombuffer(raw, f"u{word}").byteswap().tobytes()
    return swapped


def _import_torch() -> Any:
    try:
        import torch
    except ImportError:
        raise CodecFault("the state holds a tensor and torch is not installed") from None
    return torch


def _fields(payload: object, *names: str) -> dict[str, Any]:
    if type(payload) is not dict or set(payload) != set(names):
        raise CodecFault(f"expected an object with exactly the keys {', '.join(names)}")
    return payload


def _array_dtype(name: object, allowed: re.Pattern[str]) -> np.dtype[Any]:
    fault = CodecFault("unknown or unsupported data type")
    if type(name) is not str or not allowed.match(name):
        raise fault
    try:
        dtype: np.dtype[Any] = np.dtype(name)
    except (TypeError, ValueError):
        raise fault from None
    if dtype.str != name:
        raise fault
    return dtype


def _shape(shape: object, width: int) -> tuple[int, ...]:
    if type(shape) is not list or any(type(size) is not int or size < 0 for size in shape):
        raise CodecFault("expected a shape: a list of integers from 0")
    _check_size(shape, width)
    return tuple(shape)


def _check_size(shape: list[int], width: int) -> None:
    if len(shape) > _DIMENSIONS_MAX:
        raise CodecFault(f"more than {_DIMENSIONS_MAX} dimensions")
    # An empty array's other sizes are still multiplied, into strides.
    if math.prod(size or 1 for size in shape) * width > _BYTES_MAX:
        raise CodecFault("the shape is too big")


def _data(payload: object, shape: tuple[int, ...], width: int) -> bytes:
    raw = decode_base64(payload)
    expected = math.prod(shape) * width
    if len(raw) != expected:
        raise CodecFault(f"expected {expected} bytes of data for this shape, got {len(raw)}")
    return raw


def _check_elements(raw: bytes, dtype: np.dtype[Any]) -> None:
    """Refuse bytes that no value of ``dtype`` has: NumPy would fail on them later."""
    if dtype.kind == "b":
        _check_booleans(raw)
    if dtype.kind == "U":
        points = np.frombuffer(raw, dtype.str[0] + "u4")
        if points.max() > sys.maxunicode:
            raise CodecFault("the data holds a number that is no Unicode code point")


def _check_booleans(raw: bytes) -> None:
    if raw.translate(None, b"\x00\x01"):
        raise CodecFault("the data of booleans holds other bytes than 0 and 1")
