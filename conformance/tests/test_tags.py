"""The tags of the canonical encoding, as the judge of DOC-5 reads them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from midepoch_conformance.verdict.format.tags import uncanonical

FOLDER = resources.files("midepoch_spec") / "vectors" / "canonical"
VALUES = [
    value["canonical"]
    for file in FOLDER.iterdir()
    for value in json.loads(file.read_text("utf-8")).get("values", ())
    if "canonical" in value
]


def test_every_published_encoding_is_canonical() -> None:
    assert len(VALUES) > 100
    assert [text[:80] for text in VALUES if uncanonical(json.loads(text))] == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (2**53, "an integer of this size has a tag"),
        ("\ud83d", "a string with a surrogate has a tag"),
        ({"$int": "5"}, "this integer has no tag"),
        ({"$int": "09007199254740993"}, "no decimal integer"),
        ({"$float": "1.0"}, "this float has no tag"),
        ({"$str": "YQ=="}, "a string without a surrogate has no tag"),
        ({"$bytes": "YR=="}, "no base64"),
        ({"$bytes": 1}, "no text"),
        ({"$complex": [1, 2.0]}, "not two floats"),
        ({"$set": [2, 1]}, "not sorted"),
        ({"$frozenset": [1, 1]}, "not sorted"),
        ({"$counter": [["b", 1], ["a", 1]]}, "not sorted"),
        ({"$dict": [[2, 0], [1, 0]]}, "not sorted"),
        ({"$dict": [["a", 0]]}, "a mapping with these keys has no tag"),
        ({"$odict": [[1]]}, "not an array of pairs"),
        ({"$array": {"data": ""}}, "has not the keys data, dtype, shape"),
        ({"$tensor": {"data": "=", "dtype": "bool", "shape": []}}, "no base64"),
        ({"$list": []}, "there is no such tag"),
        ({"$tuple": [], "a": 1}, "more keys than the tag"),
        ({"$tuple": [{"$tuple": {}}]}, "its value is no array"),
    ],
)
def test_what_an_encoding_does_not_have(value: Any, words: str) -> None:
    assert words in uncanonical({"a": [value]})
    assert uncanonical({"a": [value]}).startswith("$.a[0]")
