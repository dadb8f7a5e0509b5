"""The content of a batch: the numbers of its rows; of a user's own, words or a fingerprint.

Standard library only; arrays and tensors are recognised by their attributes. Two batches have the
same words only if they have the same content and type.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import struct
from collections.abc import Mapping
from typing import Any

from midepoch_conformance.case.data.trees import spelled
from midepoch_conformance.case.tampering import ADDED
from midepoch_conformance.case.trace import Batch
from midepoch_conformance.case.workload import WIDE

__all__ = [
    "BatchError", "SharedBatchError", "content", "in_arrays", "in_numbers", "in_words", "shown",
]  # fmt: skip

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_USUAL = ("int64", "float32", "bool", "torch.int64", "torch.float32", "torch.bool")
"""The types of elements that are not named."""
_ELEMENTS, _TEXT, _WORDS = 24, 60, 160
"""The most elements, characters of a value and characters of a batch that are shown in full."""


class _Words:
    """Writes a value in words, and notes whether they leave anything out."""

    def __init__(self) -> None:
        self.whole = True

    def of(self, value: Any, above: tuple[int, ...] = ()) -> str:
        kind = type(value)
        if kind in _PLAIN:
            return self._short(repr(value))
        if id(value) in above:
            return self._part("...")
        inside = (*above, id(value))
        if kind in (list, tuple):
            words = ", ".join(self.of(item, inside) for item in value[:_ELEMENTS])
            more = self._part(f", ... {len(value)} in all") if len(value) > _ELEMENTS else ""
            end = "," if kind is tuple and len(value) == 1 else ""
            return f"[{words}{more}]" if kind is list else f"({words}{more}{end})"
        if kind is dict:
            return f"{{{self._pairs(value, inside)}}}"
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return self._array(value)
        return self._other(value, kind.__name__, inside)

    def _other(self, value: Any, name: str, inside: tuple[int, ...]) -> str:
        if isinstance(value, Mapping):
            return f"{name}({{{self._pairs(value, inside)}}})"
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            given = zip(value._fields, value, strict=False)
            return f"{name}({', '.join(f'{k}={self.of(v, inside)}' for k, v in given)})"
        fields = getattr(value, "__dict__", None)
        if not fields or isinstance(value, (list, *_PLAIN[1:])):
            return self._part(name)
        words = ", ".join(f"{k}={self.of(v, inside)}" for k, v in [*fields.items()][:_ELEMENTS])
        more = self._part(", ...") if len(fields) > _ELEMENTS else ""
        return f"{name}({words}{more})"

    def _pairs(self, pairs: Mapping[Any, Any], inside: tuple[int, ...]) -> str:
        found = [
            f"{self.of(k, inside)}: {self.of(v, inside)}" for k, v in [*pairs.items()][:_ELEMENTS]
        ]
        more = self._part(f", ... {len(pairs)} in all") if len(pairs) > _ELEMENTS else ""
        # The order of a mapping does not count.
        return ", ".join(sorted(found)) + more

    def _array(self, value: Any) -> str:
        name, dtype = type(value).__name__.lower(), str(value.dtype)
        name = "array" if name == "ndarray" else name
        shape = tuple(map(int, value.shape))
        size = 1
        for length in shape:
            size *= length
        kind = "" if dtype in _USUAL else f", {dtype.removeprefix('torch.')}"
        if 0 < size <= _ELEMENTS:
            with contextlib.suppress(Exception):
                single = dtype.endswith("float32")
                return self._short(
                    f"{name}({self._elements(value.tolist(), single)}{kind})", _WORDS
                )
        if size:
            self.whole = False
        return f"{name}({'x'.join(map(str, shape))}{kind or f', {dtype}'})"

    def _elements(self, value: Any, single: bool) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self._elements(item, single) for item in value)}]"
        return _shortest(value) if single else repr(value)

    def _short(self, text: str, most: int = _TEXT) -> str:
        return text if len(text) <= most else self._part(f"{text[: most - 3]}...")

    def _part(self, text: str) -> str:
        self.whole = False
        return text


def _shortest(value: float) -> str:
    """Return the fewest digits that tell a 32-bit float from all others."""
    for digits in range(1, 9):
        near = float(f"{value:.{digits}g}")
        with contextlib.suppress(OverflowError):
            if struct.pack("f", near) == struct.pack("f", value):
                return repr(near)
    return repr(value)


def shown(batch: Any) -> str:
    """Return a batch in words, with its fingerprint if the words leave anything out.

    Example:
        >>> shown({"id": [3, 4], "name": "cat"}), shown([0] * 99)[-35:-12]
        ("{'id': [3, 4], 'name': 'cat'}", ' 0, 0, ... 99 in all] #')
    """
    words = _Words()
    text = words.of(batch)
    if words.whole and len(text) <= _WORDS:
        return text
    text = text if len(text) <= _WORDS else f"{text[: _WORDS - 3]}..."
    return f"{text} #{content(batch):012x}"


def content(batch: Any) -> int:
    """Return a number that tells batches of different content or type apart.

    The number is the same in every process, with any hash seed. Order counts everywhere but in
    mappings and sets. The number has 48 bits, so a float can hold it.
    """
    return int.from_bytes(_digest(batch, ())[:6], "big")


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    if id(value) in above:
        return b"a cycle"
    inside = (*above, id(value))
    name = type(value).__qualname__
    if isinstance(value, Mapping):
        pairs = (_digest(k, inside) + _digest(v, inside) for k, v in value.items())
        return _hash(name, *sorted(pairs))
    if isinstance(value, (set, frozenset)):
        return _hash(name, *sorted(_digest(item, inside) for item in value))
    if isinstance(value, (list, tuple)):
        return _hash(name, *(_digest(item, inside) for item in value))
    if isinstance(value, (bytes, bytearray)):
        return _hash(name, bytes(value))
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return _hash(name, repr(value).encode())
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _hash(name, str(value.dtype).encode(), str(tuple(value.shape)).encode(), _raw(value))
    if getattr(value, "__dict__", None):
        return _hash(name, _digest(vars(value), inside))
    return _hash(name, pickle.dumps(value, protocol=4))


def _raw(array: Any) -> bytes:
    """Return the elements of a tensor or an array."""
    with contextlib.suppress(TypeError, RuntimeError):
        array = array.detach().cpu().numpy() if hasattr(array, "detach") else array
        if array.dtype.kind != "O":
            return bytes(array.tobytes())
    # Objects, and types that NumPy does not have.
    return _digest(array.tolist(), ())


def _hash(name: str, *parts: bytes) -> bytes:
    whole = hashlib.sha256(name.encode())
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()


class BatchError(TypeError):
    """An adapter delivered an object that is no batch of rows."""


class SharedBatchError(ValueError):
    """The loader delivered what the suite had written into a state."""


def in_words(rows: Any) -> Batch:
    """Return a batch of a user's own loader: one row with its content in words."""
    return [[*row] for row in rows]


def in_numbers(rows: Any) -> Batch:
    """Return a batch as lists of numbers.

    Raises:
        BatchError: it is something else; the adapter must make rows.
        SharedBatchError: the suite wrote it into a state, of which the loader keeps a part.
    """
    try:
        return [_row(row) for row in rows]
    except (TypeError, ValueError) as error:
        if ADDED in repr(rows):
            raise SharedBatchError(
                f"a batch has what was written into a state: {rows!r:.200}"
            ) from error
        raise BatchError(
            f"a batch is a list of rows, a row a list of numbers; got {rows!r:.200}"
        ) from error


def in_arrays(rows: Any) -> Batch:
    """Return the numbers of a batch of arrays: of the loader's own, which a copy would hide.

    Raises:
        BatchError: it holds lists of numbers.
    """
    if isinstance(rows, (list, tuple)) and rows and not any(hasattr(r, "dtype") for r in rows):
        raise BatchError(
            "where w.width is more than 1, a batch is the loader's own array or tensor, or a list "
            f"of them, and no copy of its numbers; got {rows!r:.100}"
        )
    return in_numbers(rows)


def _row(row: Any) -> list[float]:
    """Return a row's numbers; a wide row repeats its id and gives each number once.

    A payload counts as one number that tells its values and types.
    """
    values = row.tolist() if hasattr(row, "tolist") else [*row]
    return [*map(_number, values if len(values) <= WIDE else dict.fromkeys(values))]


def _number(value: Any) -> float:
    if isinstance(value, dict):
        return int.from_bytes(
            _hash("payload", spelled(value).encode("utf-8", "surrogatepass"))[:6], "big"
        )
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]  # narrowed by the line above
    whole = getattr(value, "__index__", None)
    return int(value) if whole is not None else float(value)
