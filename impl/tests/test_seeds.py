"""SEED-1 to SEED-3: the derivation, to the bit."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from midepoch.format.seeds import ROOT_MAX, BatchSeeds, derive, derive_words

roots = st.integers(0, ROOT_MAX)
purposes = st.sampled_from(["order", "order.round", "batch.map", "batch.iterable", "lane"])
numbers = st.lists(st.integers(0, 2**63 - 1), max_size=3)
exhaustive = examples(200)


@pytest.mark.parametrize(
    ("root", "purpose", "rest", "text"),
    [
        (0, "order", (0,), b"midepoch/1/order/0/0"),
        (7, "worker", (2, 3), b"midepoch/1/worker/7/2/3"),
        (ROOT_MAX, "sampler", (), b"midepoch/1/sampler/18446744073709551615"),
    ],
)
def test_the_hashed_text_is_the_written_one(
    root: int, purpose: str, rest: tuple[int, ...], text: bytes
) -> None:
    digest = hashlib.sha256(text).digest()
    assert derive(root, purpose, *rest) == int.from_bytes(digest[:8], "big")


def test_known_values_never_move() -> None:
    assert derive(0, "order", 0) == 6192645256972319759
    assert derive_words(1, "batch.map", 2, 3) == BatchSeeds(
        1253717943391639620 // 2, 7179782781765490850, 3251587352, 5818104186263325429 // 2
    )


@exhaustive
@given(roots, purposes, numbers)
def test_the_words_are_the_digest_cut_in_four(root: int, purpose: str, rest: list[int]) -> None:
    seeds = derive_words(root, purpose, *rest)
    text = "/".join(["midepoch", "1", purpose, str(root), *map(str, rest)])
    digest = hashlib.sha256(text.encode()).digest()
    cut = (digest[:8], digest[8:16], digest[16:20], digest[24:])  # NumPy's: half of the third
    first, second, third, fourth = (int.from_bytes(part, "big") for part in cut)
    assert seeds == (first >> 1, second, third, fourth >> 1)
    assert first == derive(root, purpose, *rest)


@exhaustive
@given(roots, purposes, numbers, purposes, numbers)
def test_different_purposes_and_numbers_give_different_seeds(
    root: int, purpose: str, rest: list[int], other: str, others: list[int]
) -> None:
    same = (purpose, rest) == (other, others)
    assert (derive(root, purpose, *rest) == derive(root, other, *others)) is same


def test_numpy_integers_count_as_their_value() -> None:
    assert derive(5, "batch.map", np.int64(1), np.int64(2)) == derive(5, "batch.map", 1, 2)


def test_the_numpy_word_is_a_seed_that_numpy_takes() -> None:
    for number in range(50):
        np.random.RandomState(derive_words(3, "batch.map", 0, number).numpy)
