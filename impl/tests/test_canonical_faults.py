"""DOC-5, DOC-14: what cannot be encoded or decoded is refused by a typed error, whatever it is."""

from __future__ import annotations

import base64
import collections
import decimal
import enum
import json
import subprocess
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from typed_values import values

from midepoch.encoding.canonical import NESTING_MAX, dumps, loads
from midepoch.errors import StateEncodingError, StateFormatError

thorough = examples(400)


class Point(NamedTuple):
    x: int


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


class HostileMeta(type):
    def __hash__(cls) -> int:
        raise RuntimeError("hostile")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("hostile")


def hostile() -> object:
    """A value whose class answers nothing; made here, as a test collector would ask it."""

    class Hostile(metaclass=HostileMeta):
        __class__ = property(lambda self: 1 / 0)

        def __getattr__(self, name: str) -> object:
            raise RuntimeError("hostile")

    return Hostile()


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append({"a": (value,)})
    return value


def deep(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = wrap(value)
    return value


UNENCODABLE: list[tuple[Callable[[], Any], str, str]] = [
    (object, "$", "object"),
    (hostile, "$", "Hostile"),
    (lambda: {"a": [1, {2: object}]}, "$.a[1][2]", "type"),
    (lambda: {"a b": print}, "$['a b']", "builtin_function_or_method"),
    (lambda: Point(1), "$", "Point"),
    (lambda: [Colour.RED], "$[0]", "Colour"),
    (lambda: Text("a"), "$", "Text"),
    (lambda: {Text("a"): 1}, "$[a Text]", "Text"),
    (lambda: defaultdict(int), "$", "defaultdict"),
    (lambda: collections.ChainMap(), "$", "ChainMap"),
    (lambda: deque([1]), "$", "deque"),
    (lambda: range(3), "$", "range"),
    (lambda: decimal.Decimal(1), "$", "Decimal"),
    (lambda: memoryview(b""), "$", "memoryview"),
    (lambda: iter(()), "$", "tuple_iterator"),
    (lambda: np.array([object()]), "$", "ndarray"),
    (lambda: np.zeros(2, [("a", "i4")]), "$", "ndarray"),
    (lambda: np.zeros(2, "V3"), "$", "ndarray"),
    (lambda: np.zeros(2, np.longdouble), "$", "ndarray"),
    (lambda: np.zeros(2, [("a", "U0")])["a"], "$", "ndarray"),
    (lambda: np.zeros((0, 2**40, 2**20), "i1"), "$", "ndarray"),
    (lambda: np.ma.masked_array([1]), "$", "MaskedArray"),
    (lambda: np.longdouble(1), "$", "longdouble"),
    (lambda: np.void(b"ab"), "$", "void"),
    (lambda: np.dtype("f4"), "$", "Float32DType"),
    (lambda: torch.zeros(1, requires_grad=True), "$", "Tensor"),
    (lambda: torch.nn.Parameter(torch.zeros(1)), "$", "Parameter"),
    (lambda: torch.zeros(2).to_sparse(), "$", "Tensor"),
    (lambda: torch.zeros(2, device="meta"), "$", "Tensor"),
    (lambda: torch.float32, "$", "dtype"),
    (lambda: torch.Size([1]), "$", "Size"),
    (lambda: torch.Generator(), "$", "Generator"),
    (lambda: {torch.zeros(1): 1}, "$[a Tensor]", "Tensor"),
    (lambda: {("a", torch.zeros(1))}, "$[a tuple]", "Tensor"),
    (lambda: {float("nan"): 1, -float("nan"): 2, 3: 4}, "$", "dict or set"),
    (lambda: {float("nan"), -float("nan")}, "$", "dict or set"),
    (lambda: OrderedDict([(float("nan"), 1), (-float("nan"), 2)]), "$", "dict or set"),
    (lambda: [10**100_000], "$[0]", "int"),
    (lambda: {"a": -(10**1_000_000)}, "$.a", "int"),
    (cyclic, "$", "list"),
    (lambda: deep(NESTING_MAX + 1, lambda v: [v]), "$", "list"),
    (lambda: deep(NESTING_MAX // 2 + 1, lambda v: (v,)), "$", "tuple"),
    (lambda: deep(NESTING_MAX // 3 + 1, lambda v: {1: v}), "$", "dict"),
    (lambda: [deep(NESTING_MAX, lambda v: {"a": v})], "$", "list"),
    (lambda: deep(100_000, lambda v: [v]), "$", "list"),
]


@pytest.mark.parametrize("case", UNENCODABLE, ids=[str(i) for i in range(len(UNENCODABLE))])
def test_what_has_no_encoding_is_refused_with_path_and_type(
    case: tuple[Callable[[], Any], str, str],
) -> None:
    make, path, kind = case
    with pytest.raises(StateEncodingError) as caught:
        dumps(make())
    assert (caught.value.path, caught.value.type) == (path, kind)
    assert path in str(caught.value)


def test_the_advice_for_tensors_says_what_to_do() -> None:
    with pytest.raises(StateEncodingError, match=r"\.detach\(\)"):
        dumps(torch.zeros(1, requires_grad=True))
    with pytest.raises(StateEncodingError, match=r"\.cpu\(\)"):
        dumps(torch.zeros(1, device="meta"))


# ------------------------------------------------------------------ what cannot be decoded


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def array_text(dtype: object, shape: object, data: object, tag: str = "$array") -> str:
    return json.dumps({tag: {"dtype": dtype, "shape": shape, "data": data}})


def scalar_text(dtype: object, data: object) -> str:
    return json.dumps({"$scalar": {"dtype": dtype, "data": data}})


UNDECODABLE = [
    "",
    "nul",
    "[1,",
    "{'a':1}",
    '{"a":1}{}',
    "[1,]",
    "\ufeff1",
    "NaN",
    "[Infinity]",
    "-Infinity",
    "1e400",
    "-0",
    "9007199254740992",
    "-9007199254740992",
    "1" * 5000,
    '{"a":1,"a":2}',
    '[{"a":1,"\\u0061":2}]',
    '"\\ud800"',
    '{"\\ud800":1}',
    '{"$":1}',
    '{"$nope":1}',
    '{"$import":"os"}',
    '{"$int":"1","a":1}',
    '{"a":1,"$int":"9007199254740992"}',
    '{"$tuple":[],"$set":[]}',
    '{"$int":9007199254740992}',
    '{"$int":"5"}',
    '{"$int":"09007199254740993"}',
    '{"$int":"+9007199254740993"}',
    '{"$int":"9007199254740993 "}',
    '{"$int":"9_007_199_254_740_993"}',
    '{"$int":"٩٠٠٧١٩٩٢٥٤٧٤٠٩٩٣"}',
    '{"$int":"-"}',
    '{"$int":""}',
    '{"$int":null}',
    '{"$int":"' + "0" * 5000 + '1"}',
    '{"$int":"' + "1" * 100_001 + '"}',
    '{"$int":"-' + "1" * 100_001 + '"}',
    '{"$int":"' + "1" * 10_000_000 + '"}',
    '{"$float":"NaN"}',
    '{"$float":"1.0"}',
    '{"$float":1.0}',
    '{"$float":["nan"]}',
    '{"$complex":[1.0]}',
    '{"$complex":[1,2.0]}',
    '{"$complex":[1.0,2.0,3.0]}',
    '{"$complex":[1.0,{"$float":"x"}]}',
    '{"$complex":[1.0,{"$int":"9007199254740993"}]}',
    '{"$complex":1.0}',
    '{"$str":"YQ=="}',
    '{"$str":"/w=="}',
    '{"$str":5}',
    '{"$bytes":"YQ"}',
    '{"$bytes":"YR=="}',
    '{"$bytes":"Y Q=="}',
    '{"$bytes":"_w=="}',
    '{"$bytes":"YQ==YQ=="}',
    '{"$bytes":"é"}',
    '{"$bytes":"\\ud800"}',
    '{"$bytes":null}',
    '{"$bytearray":[1]}',
    '{"$tuple":1}',
    '{"$tuple":{}}',
    '{"$tuple":{"$tuple":[]}}',
    '{"$dict":[]}',
    '{"$dict":[["a",1]]}',
    '{"$dict":[[1,1,1]]}',
    '{"$dict":[1]}',
    '{"$dict":[{"$tuple":[1,2]}]}',
    '{"$dict":{"a":1}}',
    '{"$dict":[[2,0],[1,0]]}',
    '{"$dict":[[1,0],[1,0]]}',
    '{"$dict":[[1,0],[1.0,0]]}',
    '{"$dict":[[1,0],[true,0]]}',
    '{"$dict":[[[],0]]}',
    '{"$dict":[[{"a":1},0]]}',
    '{"$dict":[[{"$tuple":[[]]},0]]}',
    '{"$dict":[[{"$set":[]},0]]}',
    '{"$dict":[[{"$bytearray":""},0]]}',
    '{"$odict":[["a",1],["a",2]]}',
    '{"$odict":[[1,1],[true,2]]}',
    '{"$odict":[[{"$float":"nan"},0],[{"$float":"nan"},1]]}',
    '{"$odict":{}}',
    '{"$counter":[["b",1],["a",1]]}',
    '{"$counter":[["a"]]}',
    '{"$set":[2,1]}',
    '{"$set":[1,1]}',
    '{"$set":[{"$float":"nan"},{"$float":"nan"}]}',
    '{"$dict":[[{"$float":"nan"},0],[{"$float":"nan"},1]]}',
    '{"$set":[1,1.0]}',
    '{"$set":[[1]]}',
    '{"$set":{"a":1}}',
    '{"$frozenset":[{"$set":[]}]}',
    array_text("O", [0], ""),
    array_text("|O", [1], b64(bytes(8))),
    array_text("|O8", [1], b64(bytes(8))),
    array_text("|V4", [1], b64(bytes(4))),
    array_text("<i4,<i4", [1], b64(bytes(8))),
    array_text([["a", "<i4"]], [1], b64(bytes(4))),
    array_text("int32", [1], b64(bytes(4))),
    array_text("i4", [1], b64(bytes(4))),
    array_text("=i4", [1], b64(bytes(4))),
    array_text("<i1", [1], b64(bytes(1))),
    array_text("|i4", [1], b64(bytes(4))),
    array_text("<i3", [1], b64(bytes(3))),
    array_text("<f16", [1], b64(bytes(16))),
    array_text("<U0", [1], ""),
    array_text("<U10000000", [0], ""),
    array_text("<M8[xx]", [1], b64(bytes(8))),
    array_text("<M8[0s]", [1], b64(bytes(8))),
    array_text("<M8[1s]", [1], b64(bytes(8))),
    array_text("<M8[999999999W]", [1], b64(bytes(8))) + "x",
    array_text("<i4\n", [1], b64(bytes(4))),
    array_text(None, [1], b64(bytes(4))),
    array_text("<i4", [1], b64(bytes(3))),
    array_text("<i4", [1], b64(bytes(8))),
    array_text("<i4", [0], b64(bytes(4))),
    array_text("<i4", [-1], b64(bytes(4))),
    array_text("<i4", [True], b64(bytes(4))),
    array_text("<i4", [1.0], b64(bytes(4))),
    array_text("<i4", 1, b64(bytes(4))),
    array_text("<i4", None, b64(bytes(4))),
    array_text("<i4", [1] * 33, b64(bytes(4))),
    array_text("<i4", [0, 2**52], ""),
    array_text("<i4", [2**40], ""),
    array_text("<i4", [1], None),
    array_text("|b1", [1], b64(b"\x02")),
    array_text("<U1", [1], b64(b"\xff\xff\xff\xff")),
    array_text(">U1", [1], b64(b"\x00\x11\x00\x00")),
    '{"$array":{"dtype":"<i4","shape":[0]}}',
    '{"$array":{"dtype":"<i4","shape":[0],"data":"","order":"F"}}',
    '{"$array":[]}',
    scalar_text("<i8", b64(bytes(4))),
    scalar_text(">i8", b64(bytes(8))),
    scalar_text("<U1", b64(bytes(4))),
    scalar_text("|S1", b64(bytes(1))),
    scalar_text("|b1", b64(b"\x02")),
    scalar_text("object", b64(bytes(8))),
    scalar_text("str", b64(b"\xff")),
    scalar_text(["str"], b64(b"a")),
    array_text("float33", [1], b64(bytes(4)), "$tensor"),
    array_text("torch.float32", [1], b64(bytes(4)), "$tensor"),
    array_text("Tensor", [1], b64(bytes(4)), "$tensor"),
    array_text("qint8", [1], b64(bytes(1)), "$tensor"),
    array_text("complex32", [1], b64(bytes(4)), "$tensor"),
    array_text(["float32"], [1], b64(bytes(4)), "$tensor"),
    array_text("float32", [1], b64(bytes(5)), "$tensor"),
    array_text("float32", [2], b64(bytes(4)), "$tensor"),
    array_text("float32", [0, 2**52], "", "$tensor"),
    array_text("float32", [-1], "", "$tensor"),
    array_text("bool", [1], b64(b"\x02"), "$tensor"),
    '{"$tensor":{"dtype":"float32","shape":[0],"data":"","requires_grad":true}}',
    '{"$tensor":null}',
    "[" * (NESTING_MAX + 1) + "]" * (NESTING_MAX + 1),
    '{"a":' * (NESTING_MAX + 1) + "1" + "}" * (NESTING_MAX + 1),
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"$tuple":[' * 150 + "]}" * 150,
]


@pytest.mark.parametrize("text", UNDECODABLE, ids=[text[:40] for text in UNDECODABLE])
def test_what_is_not_of_the_encoding_is_refused(text: str) -> None:
    with pytest.raises(StateFormatError) as caught:
        loads(text)
    assert caught.value.requirement == "DOC-5"
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("data", [b"\xff", b"\xed\xa0\x80", None, 5, ["[]"], object()])
def test_what_is_no_text_is_refused(data: Any) -> None:
    with pytest.raises(StateFormatError):
        loads(data)


def test_a_hostile_object_is_refused() -> None:
    data: Any = hostile()
    with pytest.raises(StateFormatError):
        loads(data)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_bytes_is_read(kind: Callable[[bytes], Any]) -> None:
    assert loads(kind('{"é": 1}'.encode())) == {"é": 1}


def test_the_error_names_the_place() -> None:
    with pytest.raises(StateFormatError) as caught:
        loads('{"a":[0,{"b c":{"$tuple":[{"$bytes":"?"}]}}]}')
    assert caught.value.path == "$.a[1]['b c']['$tuple'][0]['$bytes']"


def one_form(text: str) -> bool:
    """Whether ``text`` is refused, or is read as the value whose one encoding it is."""
    try:
        value = loads(text)
    except StateFormatError:
        return False
    layout = json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert dumps(value).decode("utf-8") == layout
    return True


TAGS = ["$int", "$float", "$complex", "$str", "$bytes", "$bytearray", "$tuple", "$dict"]
TAGS += ["$odict", "$counter", "$set", "$frozenset", "$array", "$scalar", "$tensor", "$other"]
trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=2),
        st.tuples(
            st.sampled_from(TAGS),
            st.one_of(
                inner,
                st.lists(st.tuples(inner, inner).map(list), max_size=3),
                st.sampled_from(["nan", "9007199254740993", "AQ==", "", "7aCA"]),
                st.fixed_dictionaries(
                    {
                        "dtype": st.sampled_from(["|b1", "<f4", ">U1", "<M8[ns]", "bool", "str"]),
                        "data": st.binary(max_size=8).map(b64),
                    },
                    optional={"shape": st.lists(st.integers(0, 2), max_size=3)},
                ),
            ),
        ).map(lambda pair: dict([pair])),
    ),
    max_leaves=6,
)


@examples(1500)
@given(trees)
def test_any_json_is_refused_or_is_the_one_form_of_its_value(tree: Any) -> None:
    one_form(json.dumps(tree))


@thorough
@given(values, st.data())
def test_a_changed_byte_is_refused_or_gives_another_canonical_text(
    value: Any, data: st.DataObject
) -> None:
    text = bytearray(dumps(value))
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        one_form(text.decode("utf-8"))
    except UnicodeDecodeError:
        with pytest.raises(StateFormatError):
            loads(bytes(text))


@thorough
@given(st.binary(max_size=30))
def test_any_bytes_give_a_value_or_a_typed_error(data: bytes) -> None:
    try:
        loads(data)
    except StateFormatError:
        return


def test_a_deep_stack_gives_the_typed_error() -> None:
    text = "[" * 150 + "]" * 150

    def descend(left: int) -> None:
        if left:
            descend(left - 1)
            return
        with pytest.raises(StateFormatError):
            loads(text)
        with pytest.raises(StateEncodingError):
            dumps(deep(150, lambda v: [v]))

    frames = 0
    frame: Any = sys._getframe()
    while frame is not None:
        frame, frames = frame.f_back, frames + 1
    descend(sys.getrecursionlimit() - frames - 100)


SCRIPT = """
import sys, types
package = types.ModuleType("midepoch")
package.__path__ = [sys.argv[1]]
sys.modules["midepoch"] = package  # the package itself would import torch
from midepoch.encoding import canonical
from midepoch.format import permutation, plan, seeds, state
from midepoch.errors import StateFormatError
assert canonical.loads(canonical.dumps({"a": (1, b"x")})) == {"a": (1, b"x")}
assert not {"torch", "multiprocessing"} & set(sys.modules), "imported"
sys.modules["torch"] = None
try:
    canonical.loads('{"$tensor":{"dtype":"bool","shape":[0],"data":""}}')
except StateFormatError as error:
    assert "not installed" in str(error), error
else:
    raise SystemExit("decoded without torch")
"""


def test_states_without_tensors_need_no_torch() -> None:
    import midepoch

    (folder,) = midepoch.__path__
    subprocess.run([sys.executable, "-c", SCRIPT, folder], check=True, timeout=60)
