"""The values whose canonical encodings are published, and the texts that are refused."""

from __future__ import annotations

import ast
import math
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import torch

from midepoch.encoding import canonical

__all__ = ["REFUSED", "VALUES", "literal"]

_TENSOR_TYPES = [
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int32",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float32",
    "complex128",
]


def _nest(kind: type, depth: int) -> Any:
    value = kind()
    for _ in range(depth - 1):
        value = {"a": value} if kind is dict else kind([value])
    return value


VALUES: dict[str, tuple[str, list[Any]]] = {
    "plain": (
        "values that JSON has",
        [
            None,
            True,
            False,
            [],
            {},
            [[], [[]]],
            {"b": 1, "a": 2, "B": 3, "": 4, "ä": 5, "\U0001f600": 6, "\uffff": 7},
            {"nested": {"list": [None, True, {"x": []}]}},
            [1, True, 0, False],
        ],
    ),
    "integers": (
        "integers, tagged beyond 53 bits",
        [
            0,
            1,
            -1,
            2**31,
            2**53 - 1,
            2**53,
            2**53 + 1,
            -(2**53 - 1),
            -(2**53),
            2**64 - 1,
            -(2**63),
            10**40,
            -(10**40),
            10**5000,
        ],
    ),
    "floats": (
        "floats: the shortest digits, positional or exponential",
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            1 / 3,
            100.0,
            1e15,
            1234567890123456.0,
            9007199254740993.0,
            1e16,
            1e17,
            1.5e16,
            123456789012345680.0,
            1e22,
            1e23,
            1e100,
            0.001,
            0.0001,
            0.00012345,
            0.00001,
            1.5e-7,
            5e-324,
            2.2250738585072014e-308,
            1.7976931348623157e308,
            math.inf,
            -math.inf,
            math.nan,
        ],
    ),
    "strings": (
        "strings and their escapes; surrogates are tagged",
        [
            "",
            "abc",
            '"\\/',
            "\b\t\n\f\r",
            "\x00\x01\x1f\x7f",
            "äöü €",
            "\U0001f600",
            "\u2028\u2029",
            "$int",
            "\ud800",
            "a\udfffb",
            "\ud83d\ude00",
            {"\ud83d\ude00": 1, "a": 2},
        ],
    ),
    "bytes": (
        "byte strings",
        [b"", b"\x00", b"midepoch", bytes(range(256)), bytearray(b"\xff\xfe"), bytearray()],
    ),
    "containers": (
        "containers that JSON does not have",
        [
            (),
            (1,),
            (1, [2, (3, None)]),
            {1: "a", "1": "b"},
            {True: 1},
            {None: 1, False: 2},
            {(1, "x"): [1], b"k": {}},
            {"$int": "5"},
            {"$": 1, "a": 2},
            {3: None, "a": (1, 2.0)},
            {1.5: 1, 10: 2, 9: 3, -1: 4},
            {2**60: 0, 5: 1},
            {frozenset((1, 2)): 1},
            OrderedDict([("b", 1), ("a", 2)]),
            OrderedDict([(2, "x"), (1, "y")]),
            OrderedDict(),
            Counter({"x": 3, "a": 1}),
            Counter(),
            set(),
            {3, 1, 2},
            {"b", "a"},
            {10, 9, "9", None},
            frozenset({(1, 2), (0,)}),
            {1j: complex(0.0, -1.5)},
            complex(math.inf, math.nan),
            complex(-0.0, 2.0),
            OrderedDict([((1, frozenset((2, 3))), Counter({"x": None})), (b"k", [])]),
            Counter({"x": "any", "y": -1.5}),
            {-0.0, 1, 0.5},
            {((None, (True, "x")),): 0},
        ],
    ),
    "arrays": (
        "NumPy arrays and scalars",
        [
            np.array([], dtype=np.float32),
            np.arange(6, dtype="<i4").reshape(2, 3),
            np.arange(6, dtype="<i4").reshape(2, 3).T,
            np.array([1.5, -2.0], dtype=">f8"),
            np.array(3, dtype="<u8"),
            np.zeros((0, 3), dtype="|u1"),
            np.array([True, False]),
            np.array(["ab", "ä"], dtype="<U2"),
            np.array([b"ab", b"c"], dtype="|S2"),
            np.array([1 + 2j], dtype="<c16"),
            np.array(["2024-02-29"], dtype="<M8[D]"),
            np.array([7], dtype="<m8[ns]"),
            np.float16(1.5),
            np.float32(0.1),
            np.int64(-1),
            np.uint8(255),
            np.bool_(True),
            np.complex64(1 - 1j),
            np.str_("ä"),
            np.bytes_(b"x\x00"),
            np.datetime64("2024-02-29T12:00", "s"),
            *(
                np.array([1, 2], dtype=dtype)
                for dtype in ["|i1", ">i2", ">i4", ">i8", "<u2", ">u4", "<f2", ">f4", "<c8", ">c16"]
            ),
            np.array(["ab", "\U0001f600"], dtype=">U2"),
            np.array([9], dtype="<M8[25s]"),
            np.array([-9, 9], dtype=">m8[7D]"),
            np.array(["NaT"], dtype="<M8"),
            np.zeros((1,) * 32, dtype="|u1"),
            np.timedelta64(3, "2W"),
            np.float64("nan"),
            np.str_("\ud800"),
            {np.uint8(1): "one", np.str_("a"): 2, np.float32(0.1): 3, 0.1: 4},
            {np.bytes_(b"a"), np.complex64(1j), np.int64(2**60), np.bool_(False)},
        ],
    ),
    "tensors": (
        "torch tensors",
        [
            torch.tensor([1.0, -2.5]),
            torch.tensor([[1, 2], [3, 4]]),
            torch.tensor([[1, 2], [3, 4]]).T,
            torch.tensor(7, dtype=torch.uint8),
            torch.tensor([], dtype=torch.float64),
            torch.zeros((2, 0, 3), dtype=torch.int16),
            torch.tensor([True, False, True]),
            torch.tensor([1.0, 0.5], dtype=torch.bfloat16),
            torch.tensor([1.0], dtype=torch.float16),
            torch.tensor([1 + 2j], dtype=torch.complex64),
            torch.tensor([0.5], dtype=torch.float8_e4m3fn),
            *(torch.tensor([0, 1, 2]).to(getattr(torch, name)) for name in _TENSOR_TYPES),
            torch.zeros((1,) * 32, dtype=torch.int8),
        ],
    ),
    "nesting": (
        "as deep as an encoding can be",
        [_nest(list, 200), _nest(dict, 200), _nest(tuple, 100)],
    ),
}

_ONES = ",".join("1" * 33)

REFUSED: dict[str, str | bytes] = {
    "no text at all": "",
    "no JSON": "{",
    "two texts": "1 2",
    "no UTF-8": b'"\xff"',
    "NaN as a literal": "NaN",
    "infinity as a literal": "[-Infinity]",
    "a comment": "1 // one",
    "a trailing comma": "[1,]",
    "single quotes": "['a']",
    "a key twice": '{"a":1,"a":1}',
    "minus zero as an integer": "-0",
    "a leading zero": "01",
    "a large integer without its tag": "9007199254740992",
    "a negative large integer without its tag": "-9007199254740992",
    "a number beyond every float": "1e400",
    "a lone surrogate without its tag": '"\\ud800"',
    "an unknown tag": '{"$date":"2024-02-29"}',
    "an empty tag": '{"$":1}',
    "a tag beside another key": '{"$tuple":[],"a":1}',
    "two tags": '{"$set":[],"$tuple":[]}',
    "a small integer tagged": '{"$int":"5"}',
    "an integer tag with a number": '{"$int":9007199254740992}',
    "an integer tag with a leading zero": '{"$int":"09007199254740992"}',
    "an integer tag with a plus sign": '{"$int":"+9007199254740992"}',
    "an integer tag with white space": '{"$int":" 9007199254740992"}',
    "an integer tag with an underscore": '{"$int":"9_007_199_254_740_992"}',
    "an integer tag in other digits": '{"$int":"\u0669\u0660\u0660\u0667\u0661\u0669\u0669\u0662'
    '\u0665\u0664\u0667\u0664\u0660\u0669\u0669\u0662"}',
    "a finite float tagged": '{"$float":"1.5"}',
    "a float tag of another spelling": '{"$float":"Infinity"}',
    "a float tag with a number": '{"$float":1}',
    "a complex number of three parts": '{"$complex":[1.0,2.0,3.0]}',
    "a complex number of integers": '{"$complex":[1,2]}',
    "a plain string tagged": '{"$str":"YWJj"}',
    "base64 without padding": '{"$bytes":"eA"}',
    "base64 with unused bits set": '{"$bytes":"eB=="}',
    "base64 with white space": '{"$bytes":"eA== "}',
    "base64 of the other alphabet": '{"$bytes":"__4="}',
    "bytes as a list": '{"$bytes":[120]}',
    "a tuple of no list": '{"$tuple":{}}',
    "a plain mapping tagged": '{"$dict":[["a",1]]}',
    "an empty mapping tagged": '{"$dict":[]}',
    "a pair of three": '{"$dict":[[1,2,3]]}',
    "pairs that are not sorted": '{"$dict":[[2,0],[1,0]]}',
    "pairs sorted by value instead of text": '{"$dict":[[9,0],[10,0]]}',
    "a key of a mapping twice": '{"$dict":[[1,0],[1,0]]}',
    "two keys that are equal": '{"$dict":[[1,0],[1.0,0]]}',
    "a number and an equal complex number as keys": '{"$dict":[[1,0],[{"$complex":[1.0,0.0]},0]]}',
    "two equal keys in an ordered mapping": '{"$odict":[[1,0],[true,0]]}',
    "two equal keys in a counter": '{"$counter":[[0,1],[false,1]]}',
    "NaN twice in an ordered mapping": '{"$odict":[[{"$float":"nan"},0],[{"$float":"nan"},1]]}',
    "NaN twice in a set": '{"$set":[{"$float":"nan"},{"$float":"nan"}]}',
    "zero beside negative zero in a set": '{"$set":[-0.0,0.0]}',
    "tuples of equal numbers in a set": '{"$set":[{"$tuple":[1]},{"$tuple":[true]}]}',
    "a number beside an equal NumPy scalar": '{"$set":[1,'
    '{"$scalar":{"data":"AQ==","dtype":"|u1"}}]}',
    "NumPy scalars that are equal": '{"$set":[{"$scalar":{"data":"AADAPw==","dtype":"<f4"}},'
    '{"$scalar":{"data":"AD4=","dtype":"<f2"}}]}',
    "a string beside equal NumPy text": '{"$set":["a",{"$scalar":{"data":"YQ==","dtype":"str"}}]}',
    "a key twice in an ordered mapping": '{"$odict":[["a",0],["a",1]]}',
    "a list as a key": '{"$dict":[[[1],0]]}',
    "a counter that is not sorted": '{"$counter":[["b",1],["a",1]]}',
    "a set that is not sorted": '{"$set":[2,1]}',
    "a member of a set twice": '{"$set":[1,1]}',
    "two members that are equal": '{"$set":[1,true]}',
    "a list in a set": '{"$set":[[]]}',
    "an immutable set that is not sorted": '{"$frozenset":["b","a"]}',
    "an array without a shape": '{"$array":{"data":"","dtype":"<f4"}}',
    "an array with another key": '{"$array":{"data":"","dtype":"<f4","order":"C","shape":[0]}}',
    "an array of objects": '{"$array":{"data":"gASVAA==","dtype":"|O","shape":[1]}}',
    "an array of a structured type": '{"$array":{"data":"AA==","dtype":"|V1","shape":[1]}}',
    "an array in native byte order": '{"$array":{"data":"AAAAAA==","dtype":"=f4","shape":[1]}}',
    "an array type without byte order": '{"$array":{"data":"AAAAAA==","dtype":"float32",'
    '"shape":[1]}}',
    "an array of too little data": '{"$array":{"data":"AAAAAA==","dtype":"<f4","shape":[2]}}',
    "an array of too much data": '{"$array":{"data":"AAAAAA==","dtype":"<f4","shape":[]}}'.replace(
        "AAAAAA==", "AAAAAAAAAAA="
    ),
    "an array of a negative size": '{"$array":{"data":"","dtype":"<f4","shape":[-1]}}',
    "an array of a huge size": '{"$array":{"data":"","dtype":"<f4","shape":[0,1125899906842624,'
    "8192]}}",
    "an array of 33 dimensions": '{"$array":{"data":"AA==","dtype":"|u1","shape":[%s]}}'.replace(
        "%s", _ONES
    ),
    "an array of a boolean size": '{"$array":{"data":"AAAAAA==","dtype":"<f4","shape":[true]}}',
    "a boolean array of twos": '{"$array":{"data":"Ag==","dtype":"|b1","shape":[1]}}',
    "text beyond Unicode in a big-endian array": '{"$array":{"data":"ABEAAA==","dtype":">U1",'
    '"shape":[1]}}',
    "text beyond Unicode in an array": '{"$array":{"data":"////fw==","dtype":"<U1","shape":[1]}}',
    "a scalar in the other byte order": '{"$scalar":{"data":"AAAAAA==","dtype":">f4"}}',
    "a scalar of too little data": '{"$scalar":{"data":"AAA=","dtype":"<f4"}}',
    "a tensor of an unknown type": '{"$tensor":{"data":"AAAAAA==","dtype":"qint32","shape":[1]}}',
    "a tensor with a device": '{"$tensor":{"data":"AAAAAA==","device":"cuda","dtype":"float32",'
    '"shape":[1]}}',
    "a tensor of a huge size": '{"$tensor":{"data":"","dtype":"float32",'
    '"shape":[0,1125899906842624,8192]}}',
    "a tensor of 33 dimensions": '{"$tensor":{"data":"AA==","dtype":"uint8","shape":[%s]}}'.replace(
        "%s", _ONES
    ),
    "a boolean tensor of twos": '{"$tensor":{"data":"Ag==","dtype":"bool","shape":[1]}}',
    "a tensor of too little data": '{"$tensor":{"data":"","dtype":"float32","shape":[1]}}',
    "nested beyond the bound": "[" * 201 + "]" * 201,
    "objects beyond the bound": '{"a":' * 201 + "1" + "}" * 201,
}


def literal(value: Any) -> str | None:
    """Return the Python literal of a value, or None where it has none that reads back."""
    if len(canonical.dumps(value)) > 1000:
        return None  # Python has bounds of its own on digits and brackets
    if isinstance(value, set) and value:
        text = "{" + ", ".join(sorted(map(repr, value))) + "}"  # repr's order follows hashes
    else:
        text = repr(value)
    try:
        back = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    if type(back) is not type(value) or canonical.dumps(back) != canonical.dumps(value):
        return None  # as of a complex number with a negative zero
    return text
