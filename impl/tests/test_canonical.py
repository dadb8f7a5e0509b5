"""DOC-5, DOC-15: the canonical encoding, to the byte, and back in value and type."""

from __future__ import annotations

import decimal
import json
import math
import random
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import pytest
import torch
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from typed_values import integers, keys, same, values

from midepoch.encoding.canonical import NESTING_MAX, dumps, loads

thorough = examples(400)


@thorough
@given(values)
def test_values_come_back_in_value_and_type(value: Any) -> None:
    text = dumps(value)
    back = loads(text)
    assert same(back, value)
    assert dumps(back) == text


@thorough
@given(values)
def test_the_text_is_plain_json_in_canonical_layout(value: Any) -> None:
    text = dumps(value)
    tree = json.loads(text.decode("utf-8"), parse_constant=refuse_constant)
    layout = json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert layout.encode("utf-8") == text


def refuse_constant(name: str) -> float:
    raise AssertionError(name)


@thorough
@given(values)
def test_white_space_and_order_of_keys_are_free_for_readers(value: Any) -> None:
    tree = json.loads(dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert same(loads(json.dumps(tree, indent=1)), value)


@thorough
@given(st.dictionaries(keys, integers, max_size=6), st.randoms(use_true_random=False))
def test_equal_mappings_and_sets_give_equal_bytes(
    value: dict[Any, int], shuffler: random.Random
) -> None:
    items = list(value.items())
    shuffler.shuffle(items)
    assert dumps(dict(items)) == dumps(value)
    assert dumps(Counter(dict(items))) == dumps(Counter(value))
    assert dumps({key for key, _ in items}) == dumps(set(value))
    assert loads(dumps(OrderedDict(items))) == OrderedDict(items)


def test_order_counts_where_it_is_part_of_the_type() -> None:
    assert dumps(OrderedDict(a=1, b=2)) != dumps(OrderedDict(b=2, a=1))
    assert dumps({"a": 1, "b": 2}) == dumps({"b": 2, "a": 1})


def tensor_text(dtype: str, shape: list[int], data: str) -> str:
    return f'{{"$tensor":{{"data":"{data}","dtype":"{dtype}","shape":{shape}}}}}'.replace(" ", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e16, "1e+16"),
        (1e-5, "1e-05"),
        (2**53 - 1, "9007199254740991"),
        (2**53, '{"$int":"9007199254740992"}'),
        (-(2**53), '{"$int":"-9007199254740992"}'),
        (math.nan, '{"$float":"nan"}'),
        (math.inf, '{"$float":"inf"}'),
        (-math.inf, '{"$float":"-inf"}'),
        (1j, '{"$complex":[0.0,1.0]}'),
        (complex(-0.0, math.nan), '{"$complex":[-0.0,{"$float":"nan"}]}'),
        ('é\u2028\x7f\n\x1f"\\/', '"é\u2028\x7f\\n\\u001f\\"\\\\/"'),
        ("\ud800", '{"$str":"7aCA"}'),
        (b"", '{"$bytes":""}'),
        (bytearray(b"\xff"), '{"$bytearray":"/w=="}'),
        ((), '{"$tuple":[]}'),
        ((1, [2]), '{"$tuple":[1,[2]]}'),
        ({}, "{}"),
        ({"": 0}, '{"":0}'),
        ({"b": 1, "a": 2, "é": 3, "Z": 4}, '{"Z":4,"a":2,"b":1,"é":3}'),
        ({"$int": "5"}, '{"$dict":[["$int","5"]]}'),
        ({1: "a", "b": 2}, '{"$dict":[["b",2],[1,"a"]]}'),
        ({(1, None): 0}, '{"$dict":[[{"$tuple":[1,null]},0]]}'),
        (OrderedDict(), '{"$odict":[]}'),
        (OrderedDict([("b", 1), ("a", 2)]), '{"$odict":[["b",1],["a",2]]}'),
        (Counter("aab"), '{"$counter":[["a",2],["b",1]]}'),
        ({10, 9}, '{"$set":[10,9]}'),
        (frozenset(["b", "a"]), '{"$frozenset":["a","b"]}'),
        (np.int64(5), '{"$scalar":{"data":"BQAAAAAAAAA=","dtype":"<i8"}}'),
        (np.float64(1), '{"$scalar":{"data":"AAAAAAAA8D8=","dtype":"<f8"}}'),
        (np.True_, '{"$scalar":{"data":"AQ==","dtype":"|b1"}}'),
        (np.str_("a"), '{"$scalar":{"data":"YQ==","dtype":"str"}}'),
        (np.bytes_(b"a\0"), '{"$scalar":{"data":"YQA=","dtype":"bytes"}}'),
        (np.array(1, ">i2"), '{"$array":{"data":"AAE=","dtype":">i2","shape":[]}}'),
        (np.zeros((0, 2)), '{"$array":{"data":"","dtype":"<f8","shape":[0,2]}}'),
        (torch.tensor([1, 2], dtype=torch.int16), tensor_text("int16", [2], "AQACAA==")),
        (torch.tensor(1.0, dtype=torch.bfloat16), tensor_text("bfloat16", [], "gD8=")),
        (torch.tensor([[True], [False]]), tensor_text("bool", [2, 1], "AQA=")),
    ],
)
def test_the_bytes_are_the_written_ones(value: object, text: str) -> None:
    assert dumps(value).decode("utf-8") == text
    assert same(loads(text), value)


def test_integers_beyond_the_interpreters_limit_are_kept() -> None:
    value = -(7**20_000)
    text = dumps(value)
    assert text == b'{"$int":"%s"}' % f"{decimal.Decimal(value):f}".encode()
    assert loads(text) == value


@pytest.mark.parametrize("digits", [3999, 4000, 4001, 4002, 4299, 4300, 4301, 5000])
def test_integers_around_the_limit_are_kept(digits: int) -> None:
    for value in (10**digits, 10**digits - 1):
        assert loads(dumps(value)) == value


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_integers_are_kept(sign: int) -> None:
    value = sign * (10**100_000 - 1)
    assert loads(dumps(value)) == value


def test_decoded_arrays_and_tensors_have_memory_of_their_own() -> None:
    array, tensor = loads(dumps((np.arange(3), torch.arange(3))))
    array[0] = 9
    array.resize(5)
    tensor[0] = 9
    tensor.resize_(5)


def test_views_and_strides_do_not_show() -> None:
    grid = np.arange(12).reshape(3, 4)
    assert dumps(grid.T) == dumps(np.ascontiguousarray(grid.T))
    assert dumps(grid[:, ::-2]) == dumps(grid[:, ::-2].copy())
    tensor = torch.arange(12).reshape(3, 4)
    assert dumps(tensor.T[1:]) == dumps(tensor.T[1:].contiguous())
    assert same(loads(dumps(torch.tensor([1 + 2j]).conj())), torch.tensor([1 - 2j]))
    assert same(loads(dumps(torch.zeros(2).expand(3, 2))), torch.zeros(3, 2))


def test_booleans_of_odd_bytes_are_normalised() -> None:
    assert dumps(np.array([0, 7], "u1").view("?")) == dumps(np.array([False, True]))
    odd = torch.tensor([0, 7], dtype=torch.uint8).view(torch.bool)
    assert dumps(odd) == dumps(torch.tensor([False, True]))


def test_the_default_device_does_not_matter() -> None:
    empty = dumps(torch.empty(0))
    with torch.device("meta"):
        assert loads(empty).device.type == "cpu"


@pytest.mark.parametrize("depth", [1, 100, NESTING_MAX])
def test_nesting_up_to_the_bound_is_kept(depth: int) -> None:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    assert loads(dumps(value)) == value


def test_random_generators_states_survive() -> None:
    state = (
        random.Random(1).getstate(),
        np.random.RandomState(1).get_state(),
        torch.get_rng_state(),
    )
    assert same(loads(dumps(state)), state)
    fresh = np.random.Generator(np.random.PCG64(5)).bit_generator.state
    assert same(loads(dumps(fresh)), fresh)
