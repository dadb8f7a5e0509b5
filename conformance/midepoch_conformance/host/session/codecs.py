"""States to bytes and back, by a loader's codecs (standard library; others inside functions)."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from midepoch_conformance.case.adapter import Offer

__all__ = ["Codecs", "ElsewhereError", "decode", "digest", "encode"]

T = TypeVar("T")


class ElsewhereError(Exception):
    """An error that came while a codec ran, and did not come again; it is the cause of this one.

    A handler of signals raised it: torch's does when a worker dies, whatever code runs then.
    """


def _once_more(code: Callable[[], T]) -> T:
    try:
        return code()
    except Exception as error:
        try:
            code()
        except Exception:
            raise error from None
        raise ElsewhereError from error


def encode(codec: str, state: Any, canonical: bool) -> bytes:
    """Return ``state`` as bytes; ``canonical``: whether JSON is that of midepoch's own format."""
    if codec == "pickle":
        return pickle.dumps(state, protocol=4)
    if codec == "torch":
        file = io.BytesIO()
        importlib.import_module("torch").save(state, file)
        return file.getvalue()
    if codec == "json":
        if canonical:
            return bytes(importlib.import_module("midepoch").state_to_json(state))
        return json.dumps(state).encode()
    if codec == "bytes":
        if not isinstance(state, (bytes, bytearray)):
            raise TypeError(f"the offer's codec is bytes, but the state is {type(state).__name__}")
        return bytes(state)
    raise ValueError(f"unknown codec {codec!r}: pickle, torch, json or bytes")


def decode(codec: str, data: bytes, canonical: bool) -> Any:
    """Return the state that ``data`` holds; ``canonical`` as for :func:`encode`."""
    if codec == "pickle":
        return pickle.loads(data)
    if codec == "torch":
        return importlib.import_module("torch").load(io.BytesIO(data), weights_only=True)
    if codec == "json":
        if canonical:
            return importlib.import_module("midepoch").state_from_json(data)
        return json.loads(data)
    if codec == "bytes":
        return data
    raise ValueError(f"unknown codec {codec!r}: pickle, torch, json or bytes")


class Codecs:
    """The codecs of one loader.

    For loaders that implement midepoch's own format, ``json`` is its canonical JSON. For others it
    is plain ``json.dumps`` and ``json.loads``.
    """

    def __init__(self, offer: Offer) -> None:
        self.default = offer.codecs[0] if offer.codecs else "pickle"
        self.canonical = "midepoch" in offer.formats

    def encode(self, codec: str, state: Any) -> bytes:
        """Return ``state`` as bytes; errors of the codec are not caught.

        Raises:
            ElsewhereError: an error came that is not the codec's.
        """
        return _once_more(lambda: encode(codec, state, self.canonical))

    def decode(self, codec: str, data: bytes) -> Any:
        """Return the state that ``data`` holds; errors of the codec are not caught.

        Raises:
            ElsewhereError: an error came that is not the codec's.
        """
        return _once_more(lambda: decode(codec, data, self.canonical))

    def document(self, state: Any) -> Any:
        """Return the state as the JSON types of its canonical form; None without the format.

        A state that has no canonical form gives ``{"unreadable": why}``, which no schema
        allows.
        """
        if not self.canonical:
            return None
        try:
            return json.loads(importlib.import_module("midepoch").state_to_json(state))
        except Exception as error:
            return {"unreadable": f"{type(error).__name__}: {error}"}


def digest(data: bytes) -> str:
    """Return the hash that tells encodings apart."""
    return hashlib.sha256(data).hexdigest()
