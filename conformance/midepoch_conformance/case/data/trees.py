"""The trees that a Stateful dataset adds to its state, and their strict comparison.

Standard library alone; numpy and torch are imported only for the trees that hold their values.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "BARE",
    "CODECS",
    "HELD",
    "MAKERS",
    "NOT_CANONICAL",
    "TREES",
    "altered",
    "change",
    "spelled",
    "tree_at",
    "write",
]

TREES = ("plain", "containers", "arrays", "tensors", "growing", "shrinking", "mutated", "values",
         "objects")  # fmt: skip
"""The names of the trees that are drawn."""

CODECS: dict[str, tuple[str, ...]] = {
    "containers": ("pickle", "torch", "bytes"),
    "arrays": ("pickle", "bytes"),
    "tensors": ("pickle", "torch", "bytes"),
    "objects": ("pickle", "bytes"),
    "private torch": ("pickle", "torch", "bytes"),
}
"""The codecs that carry the types of a tree or of a private generator, if not all codecs do.

Plain JSON has no tuples, and torch's safe loading no arrays of numpy's. The canonical JSON of
midepoch's format has all of them but :data:`NOT_CANONICAL`.
"""

NOT_CANONICAL = ("objects",)
"""The trees with types that no format but pickle has."""


def tree_at(kind: str, position: int) -> Any:
    """Return the tree of a kind at a position: equal ones for equal positions.

    Example:
        >>> tree_at("shrinking", 37)
        {'left': [37, 38, 39], 'of': {'37': None, '38': None, '39': None}}
    """
    return MAKERS[kind](position)


def _plain(position: int) -> dict[str, Any]:
    return {
        "big": 2**70 + position,
        "empty": {"dict": {}, "list": [], "text": ""},
        "flags": [True, 1, False, 0, 1.0],
        "nested": [{"pairs": [[1, "a"], [2, "b"]], "position": position}],
        "none": None,
    }


def _containers(position: int) -> dict[str, Any]:
    keys = ["b", "a", "c"]
    turn = position % 3
    return {
        "buffer": bytearray(b"\x80\x00") * (1 + position % 3),
        "bytes": b"\x00\xff" * (1 + position % 3),
        "counter": collections.Counter({"seen": position, "none": 0, 3: -1}),
        "empty": (collections.OrderedDict(), collections.Counter(), set(), ()),
        "keyed": {(0, "a"): position, (0, ("b", None)): -1, 0.5: "half", b"\x00": None},
        "numbered": {0: "zero", 1: position, -1: None},
        "ordered": collections.OrderedDict((key, position) for key in keys[turn:] + keys[:turn]),
        "set": {position, position + 1, "text"},
        "tuple": (position, (True, 1), [(None,)]),
        "turned": [complex(position, float("-inf")), complex(-0.0, 1.5)],
    }


def _arrays(position: int) -> dict[str, Any]:
    import numpy

    return {
        "big end first": numpy.arange(3, dtype=">i4") + position,
        "bits": numpy.array([True, position % 2 == 0]),
        "columns": numpy.arange(6, dtype=numpy.int64).reshape(2, 3).T * (1 + position),
        "empty": numpy.zeros((0, 3), dtype=numpy.float32),
        "point": numpy.array(position, dtype=numpy.int16),
        "scalars": [numpy.int64(position), numpy.float32(0.5), numpy.bool_(True), position],
        "texts": [numpy.array(["", "größe", str(position)]), numpy.str_("ü"), numpy.bytes_(b"x")],
        "turned": numpy.array([1 + 2j, complex(position, float("nan"))], dtype=numpy.complex64),
        "wide": {"inner": numpy.arange(6, dtype=numpy.uint8).reshape(2, 3) + position},
    }


def _tensors(position: int) -> dict[str, Any]:
    import torch

    return {
        "bits": torch.tensor([True, position % 2 == 0]),
        "columns": torch.arange(6).reshape(2, 3).T * (1 + position),
        "empty": torch.zeros((0, 3), dtype=torch.float64),
        "half": [torch.tensor([0.5, -1.0], dtype=torch.bfloat16), position],
        "point": torch.tensor(position, dtype=torch.int16),
        "wide": {"inner": torch.arange(6, dtype=torch.uint8).reshape(2, 3) + position},
    }


def _growing(position: int) -> dict[str, Any]:
    return {
        "seen": list(range(position)),
        "of": {str(i): {"nested": i} if i % 2 else {} for i in range(position)},
        **({f"part {position}": {"deep": [position]}} if position else {}),
    }


def _shrinking(position: int) -> dict[str, Any]:
    left = range(position, _MOST)
    return {"left": list(left), "of": {str(i): None for i in left}}


def _values(position: int) -> dict[str, Any]:
    return {
        "": {"$int": "5", "$": None, "nested": [[[[[[position]]]]]]},
        "bounds": [2**53 - 1, 2**53, -(2**53), 2**63, -(2**64), 10**60 + position],
        "floats": [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324, 1e16, 0.1],
        "größe 尺寸 🙂": "naïve ünïcødé \u2028 \x7f \x00 " + "é" * (position % 3),
        "alone": "\udcff",
        "Zu\u0308rich": "cafe\u0301",  # looks like another text
        "number": float(position) + 0.5,
    }


class Point(NamedTuple):
    """A named tuple."""

    x: int
    y: float


def _objects(position: int) -> dict[str, Any]:
    return {
        "date": datetime.datetime(2020, 2, 29, 12, 0, position % 60),
        "decimal": decimal.Decimal("0.10") + position,
        "default": collections.defaultdict(list, {"seen": [position]}),
        "fraction": fractions.Fraction(1 + position, 3),
        "frozen": frozenset({position, None}),
        "point": Point(position, -0.0),
        "queue": collections.deque([position, Point(0, float("inf"))], maxlen=3),
        "range": range(position, 100),
        "turned": complex(position, float("-inf")),
    }


def _large(position: int) -> dict[str, Any]:
    # More than a pipe or a socket takes at once.
    return {"text": f"{position:05} " * 50_000}


_MOST = 40
"""More than any position at which a tree is asked for."""

MAKERS: dict[str, Callable[[int], Any]] = {
    "plain": _plain,
    "containers": _containers,
    "arrays": _arrays,
    "tensors": _tensors,
    "growing": _growing,
    "shrinking": _shrinking,
    # Here the whole state is the same object each time: see Rows.dataset_state.
    "mutated": _growing,
    "flat": _plain,
    "values": _values,
    "objects": _objects,
    "large": _large,
}
"""The functions that make the trees."""

HELD = ("mutated", "flat")
"""The trees with which the whole state is one object, which goes on changing."""

BARE = ("", "flat")
"""The trees that leave the state as it is: the position alone."""


def change(tree: Any, into: Any) -> None:
    """Change a tree in place until it equals another: its mappings and lists stay the same objects.

    Example:
        >>> tree = {"seen": [1], "gone": None}
        >>> seen = tree["seen"]
        >>> change(tree, {"seen": [1, 2]})
        >>> tree, tree["seen"] is seen
        ({'seen': [1, 2]}, True)
    """
    if isinstance(tree, list):
        tree[:] = into
        return
    for key in [key for key in tree if key not in into]:
        del tree[key]
    for key, value in into.items():
        if type(value) in (dict, list) and type(tree.get(key)) is type(value):
            change(tree[key], value)
        else:
            tree[key] = value


def write(tree: Any) -> None:
    """Write into each array of a tree what it holds, as a dataset does that goes on in it."""
    if isinstance(tree, dict):
        tree = [*tree.values()]
    if isinstance(tree, list):
        for part in tree:
            write(part)
    elif hasattr(tree, "flags") and tree.shape:
        tree[...] = tree


def altered(before: str, now: str) -> str | None:
    """Return how two trees differ that are :func:`spelled`; None if they do not.

    Example:
        >>> altered(spelled({"epoch": 0}), spelled({"epoch": 1}))
        'dict(str "epoch": int 1) in place of dict(str "epoch": int 0)'
    """
    if now == before:
        return None
    pairs = enumerate(zip(before, now, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(before), len(now)))
    begin = max(0, at - 40)
    return f"{now[begin : at + 40]} in place of {before[begin : at + 40]}"


def spelled(tree: Any) -> str:
    """Return a tree with its types in full: equal texts, equal values and types.

    The order of keys counts in an ``OrderedDict`` alone. The element types and shapes of arrays and
    tensors are spelled as well.

    Example:
        >>> spelled({"a": [True, 1]})
        'dict(str "a": list(bool True, int 1))'
        >>> spelled({"b": 1, "a": 2}) == spelled({"a": 2, "b": 1})
        True
    """
    name = type(tree).__name__
    if isinstance(tree, dict):
        items = [f"{spelled(key)}: {spelled(value)}" for key, value in tree.items()]
        ordered = isinstance(tree, collections.OrderedDict)
        return f"{name}({', '.join(items if ordered else sorted(items))})"
    if isinstance(tree, (list, tuple)):
        return f"{name}({', '.join(map(spelled, tree))})"
    if isinstance(tree, (set, frozenset)):
        return f"{name}({', '.join(sorted(map(spelled, tree)))})"
    if isinstance(tree, collections.deque):
        return f"{name}({', '.join(map(spelled, tree))}; {tree.maxlen})"
    if hasattr(tree, "dtype") and hasattr(tree, "tolist"):
        return f"{name} {tree.dtype} {tuple(tree.shape)} {tree.tolist()!r}"
    if "object at 0x" in repr(tree) and hasattr(tree, "__dict__"):
        return f"{name} of {spelled(vars(tree))}"
    return f'{name} "{tree}"' if type(tree) is str else f"{name} {tree!r}"
