"""Numbers, strings and bytes in the canonical encoding: payloads of the tags that JSON lacks.

Each pair of functions converts between a value and the payload of its tag. ``codecs`` has the
table that says which pair a tag uses.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

__all__ = [
    "INTEGER_MAX",
    "NO_PLAIN",
    "PLAIN_FLOAT",
    "PLAIN_INT",
    "PLAIN_STR",
    "CodecFault",
    "Plain",
    "decode_base64",
    "decode_bytearray",
    "decode_complex",
    "decode_float",
    "decode_int",
    "decode_str",
    "encode_base64",
    "encode_complex",
    "encode_int",
    "encode_str",
    "is_text",
]

INTEGER_MAX = 2**53 - 1
"""The largest integer that every JSON reader keeps; larger ones are tagged."""

DIGITS_MAX = 100_000
"""Decimal digits of an integer; more would take long to convert."""

DIGITS_KEPT = 4000
"""Decimal digits that ``str`` and ``int`` convert under any limit that a program can set."""


class CodecFault(ValueError):  # noqa: N818 -- caught by ``codecs``, never shown
    """A value or a payload that the encoding does not allow; the text says why.

    ``type`` and ``step``: the type and the place of the part at fault, if it is not the whole.
    """

    def __init__(self, reason: str, *, type: str = "", step: str = "") -> None:  # noqa: A002 -- the word that fits
        super().__init__(reason)
        self.type = type
        self.step = step


class Plain(NamedTuple):
    """The values of a type that JSON has itself; they must not be tagged."""

    has: Callable[[Any], bool]
    words: str


def is_text(value: str) -> bool:
    """Tell whether UTF-8 has the string: a lone surrogate is in no Unicode text."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


NO_PLAIN = Plain(lambda value: False, "")
PLAIN_INT = Plain(lambda value: abs(value) <= INTEGER_MAX, "an integer within 2**53 - 1")
PLAIN_FLOAT = Plain(math.isfinite, "a finite float")
PLAIN_STR = Plain(is_text, "a string without a lone surrogate")


def encode_int(value: int) -> str:
    """Return the decimal digits of ``value``."""
    # A decimal digit takes more than three bits, and less than four.
    if value.bit_length() < 3 * DIGITS_KEPT:
        return str(value)
    digits = f"{Decimal(value):f}" if value.bit_length() < 4 * DIGITS_MAX else ""
    if not 0 < len(digits.removeprefix("-")) <= DIGITS_MAX:
        raise CodecFault(f"it has more than {DIGITS_MAX} decimal digits")
    return digits


def decode_int(payload: object) -> int:
    """Return the integer with these decimal digits."""
    digits = payload.removeprefix("-") if type(payload) is str else ""
    if not (digits.isascii() and digits.isdigit()) or digits.startswith("0"):
        raise CodecFault("expected the decimal digits of an integer, in a string")
    text = str(payload)
    if len(digits) > DIGITS_MAX:
        raise CodecFault(f"an integer of more than {DIGITS_MAX} decimal digits")
    return -_integer(digits) if text.startswith("-") else _integer(digits)


def _integer(digits: str) -> int:
    """Return the integer with these digits, in less time than their square."""
    if len(digits) <= DIGITS_KEPT:
        return int(digits)
    half = len(digits) // 2
    return int(_integer(digits[:-half]) * 10**half) + _integer(digits[-half:])


def decode_float(payload: object) -> float:
    """Return the float that JSON has no number for."""
    if type(payload) is not str or payload not in ("nan", "inf", "-inf"):
        raise CodecFault('expected "nan", "inf" or "-inf"')
    return float(payload)


def encode_complex(value: complex) -> list[Any]:
    """Return the two parts, each as a float is written by itself."""
    parts = value.real, value.imag
    return [part if math.isfinite(part) else {"$float": repr(part)} for part in parts]


def decode_complex(payload: object) -> complex:
    """Return the complex number that has these two parts."""
    if type(payload) is not list or len(payload) != 2:
        raise CodecFault("expected two floats in an array")
    return complex(*map(_decode_part, payload))


def _decode_part(part: Any) -> float:
    if type(part) is dict and list(part) == ["$float"]:
        return decode_float(part["$float"])
    if type(part) is not float:
        raise CodecFault("expected two floats in an array")
    return part


def encode_str(value: str) -> str:
    """Return the base64 of a string with lone surrogates."""
    return encode_base64(value.encode("utf-8", "surrogatepass"))


def decode_str(payload: object) -> str:
    """Return the string with lone surrogates."""
    try:
        return decode_base64(payload).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise CodecFault("the data is no UTF-8, lone surrogates allowed") from None


def encode_base64(raw: bytes | bytearray) -> str:
    """Return ``raw`` in base64 of the standard alphabet, padded."""
    return base64.b64encode(raw).decode("ascii")


def decode_base64(payload: object) -> bytes:
    """Return the bytes that ``payload`` stands for; only the one canonical text is accepted."""
    if type(payload) is not str:
        raise CodecFault("expected a base64 string")
    try:
        raw = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        raise CodecFault("malformed base64") from None
    if encode_base64(raw) != payload:
        raise CodecFault("malformed base64: unused bits are not zero")
    return raw


def decode_bytearray(payload: object) -> bytearray:
    """Return the bytes that ``payload`` stands for, to be changed."""
    return bytearray(decode_base64(payload))
