"""Any object at all in place of a document, or within it: a typed error (DOC-14)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state_documents import (
    ALL_PLACES,
    BASES,
    MAP,
    accepts,
    altered,
    documents,
    places,
    scalars,
    state,
    thorough,
)

from midepoch.errors import StateError, StateFormatError
from midepoch.format.state import (
    SAMPLER_SLOTS,
    Document,
)


class Text(str):
    __slots__ = ()


class Hostile:
    """A value whose every method raises."""

    def _raise(self, *args: object) -> Any:
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = _raise
    __getitem__ = __contains__ = __lt__ = __int__ = __index__ = __format__ = _raise
    __class__ = property(_raise)


class HostileDict(dict[str, Any]):
    def _raise(self, *args: object) -> Any:
        raise RuntimeError("hostile")

    keys = values = items = get = __iter__ = __getitem__ = __contains__ = __len__ = _raise


class HostileKey(str):
    __slots__ = ()

    def __hash__(self) -> int:
        return 5

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hostile")


def nested(depth: int) -> list[Any]:
    tree: list[Any] = []
    for _ in range(depth):
        tree = [tree]
    return tree


class IntSubclass(int):
    pass


ODD: list[Callable[[], object]] = [
    Hostile,
    lambda: HostileDict(state(MAP)),
    lambda: OrderedDict(state(MAP)),
    lambda: IntSubclass(1),
    lambda: 10**5000,
    lambda: float("nan"),
    lambda: -0.0,
    lambda: "\ud800",
    lambda: nested(3_000),
    lambda: {HostileKey("a"): 1},
    lambda: {1: 2},
    lambda: [Hostile()],
    lambda: object,
    lambda: {"format": Hostile(), "version": Hostile()},
    lambda: ["dataset", Hostile()],
]


@pytest.mark.parametrize("value", [None, {}, [], "", b"", 0, True, object(), [("format", 1)]])
def test_what_is_no_state_is_refused(value: object) -> None:
    with pytest.raises(StateFormatError, match="not a midepoch state") as caught:
        Document.from_dict(value)
    assert caught.value.requirement == "REFUSE-1"


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_as_a_whole_are_refused(odd: Callable[[], object]) -> None:
    with pytest.raises(StateError):
        Document.from_dict(odd())


USER_ROOTS = ("state", "dataset", "iterator", *SAMPLER_SLOTS)


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_anywhere_in_the_own_part_are_refused(odd: Callable[[], object]) -> None:
    for base, where in ALL_PLACES:
        if where[-1] in USER_ROOTS and len(where) > 2:
            continue
        tree = altered(base, where, odd())
        with pytest.raises(StateError):
            Document.from_dict(tree)


@pytest.mark.parametrize("base", BASES)
def test_odd_keys_are_refused(base: str) -> None:
    keys = [HostileKey("a"), HostileKey("plan"), Text("x-a"), 1, None, ("plan",), b"plan"]
    for key in keys:
        tree: dict[Any, Any] = {**state(BASES[base]), key: 1}
        with pytest.raises(StateFormatError):
            Document.from_dict(tree)


@pytest.mark.parametrize("name", ["format", "version", "plan", "lanes"])
def test_a_key_of_a_subclass_is_not_the_key(name: str) -> None:
    tree = {Text(key) if key == name else key: value for key, value in state(MAP).items()}
    assert tree == state(MAP)
    with pytest.raises(StateFormatError):
        Document.from_dict(tree)


anything = st.recursive(
    st.one_of(
        scalars,
        st.floats(),
        st.binary(max_size=3),
        st.sampled_from(["format", "version", "plan", "midepoch.state", "map", "x-"]),
        st.builds(Hostile),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(
            st.one_of(st.sampled_from(["format", "version", "plan", "position"]), st.integers()),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@thorough
@given(anything)
def test_any_object_is_refused_by_a_typed_error(value: object) -> None:
    assert not accepts(value)


@thorough
@given(st.data(), documents(), anything)
def test_any_change_gives_a_document_or_a_typed_error(
    data: st.DataObject, document: Document, value: object
) -> None:
    tree = document.to_dict()
    where = data.draw(st.sampled_from(places(tree)))
    node: Any = tree
    for step in where[:-1]:
        node = node[step]
    node[where[-1]] = value
    if accepts(tree):
        again = Document.from_dict(tree).to_dict()
        assert again.keys() == document.to_dict().keys()
