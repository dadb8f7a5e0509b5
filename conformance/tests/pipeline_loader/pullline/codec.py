"""Users' values as JSON values, and back with the same types.  Also the seal of a state."""
import base64
import collections
import hashlib
import json
import math

import numpy
import torch

TAG = "~"


def _b64(data):
    return base64.b64encode(data).decode("ascii")


def freeze(value, depth=0):
    """A JSON value for ``value`` that shares nothing with it."""
    kind = type(value)
    if depth > 150:
        raise TypeError("a state is nested too deeply")

    def sub(v):
        return freeze(v, depth + 1)

    def tag(name, v):
        return {TAG: name, "v": v}

    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else tag("float", repr(value))
    if kind is str:
        if any("\ud800" <= c <= "\udfff" for c in value):
            return tag("str", [ord(c) for c in value])
        return value
    if kind is list:
        return [sub(v) for v in value]
    if kind is dict:
        if TAG not in value and all(type(k) is str and k == freeze(k) for k in value):
            return {k: sub(v) for k, v in value.items()}
        return tag("dict", [[sub(k), sub(v)] for k, v in value.items()])
    if kind is tuple:
        return tag("tuple", [sub(v) for v in value])
    if kind is collections.OrderedDict:
        return tag("odict", [[sub(k), sub(v)] for k, v in value.items()])
    if kind is collections.Counter:
        return tag("counter", [[sub(k), sub(v)] for k, v in value.items()])
    if kind is set or kind is frozenset:
        return tag(kind.__name__, sorted((sub(v) for v in value), key=canonical))
    if kind is bytes or kind is bytearray:
        return tag(kind.__name__, _b64(value))
    if kind is complex:
        return tag("complex", [sub(value.real), sub(value.imag)])
    if kind is numpy.ndarray and not value.dtype.hasobject:
        if value.dtype.names:
            raise TypeError("arrays with fields cannot be kept in a state")
        return tag("array", [value.dtype.str, list(value.shape), _b64(value.tobytes())])
    if isinstance(value, numpy.generic) and not value.dtype.hasobject and not value.dtype.names:
        return tag("scalar", [value.dtype.str, _b64(value.tobytes())])
    if kind is torch.Tensor and value.layout == torch.strided and value.device.type == "cpu":
        plain = value.detach().contiguous()
        raw = plain.reshape(-1).view(torch.uint8) if plain.numel() else plain.new_empty(0, dtype=torch.uint8)
        return tag("tensor", [str(value.dtype)[6:], list(value.shape), _b64(raw.numpy().tobytes())])
    raise TypeError(f"a {kind.__module__}.{kind.__qualname__} cannot be kept in a state")


def thaw(value):
    """The value that ``freeze`` got; everything in it is new."""
    if isinstance(value, list):
        return [thaw(v) for v in value]
    if not isinstance(value, dict):
        return value
    if TAG not in value:
        return {k: thaw(v) for k, v in value.items()}
    name, v = value[TAG], value["v"]
    if name == "float":
        return float(v)
    if name == "str":
        return "".join(map(chr, v))
    if name in ("dict", "odict"):
        return (dict if name == "dict" else collections.OrderedDict)([(thaw(a), thaw(b)) for a, b in v])
    if name == "counter":
        out = collections.Counter()
        for a, b in v:
            out[thaw(a)] = thaw(b)
        return out
    if name in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[name](thaw(x) for x in v)
    if name in ("bytes", "bytearray"):
        return {"bytes": bytes, "bytearray": bytearray}[name](base64.b64decode(v))
    if name == "complex":
        return complex(thaw(v[0]), thaw(v[1]))
    if name == "array":
        return numpy.frombuffer(base64.b64decode(v[2]), dtype=v[0]).reshape(v[1]).copy()
    if name == "scalar":
        return numpy.frombuffer(base64.b64decode(v[1]), dtype=v[0])[0]
    if name == "tensor":
        raw = bytearray(base64.b64decode(v[2]))
        dtype = getattr(torch, v[0])
        return (torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)).reshape(v[1])
    raise ValueError(f"unknown tag {name!r} in a state")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def copy(value):
    """A copy of a JSON value."""
    return json.loads(json.dumps(value, allow_nan=False))


def seal(doc):
    """A checksum over everything in a state but itself."""
    return hashlib.sha256(canonical({k: v for k, v in doc.items() if k != "seal"}).encode()).hexdigest()
