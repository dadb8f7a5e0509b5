"""ORDER-1 to ORDER-5, against a second implementation in plain integers."""

from __future__ import annotations

import hashlib
import itertools
import math
import tracemalloc

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from midepoch.format.permutation import BLOCK, FISHER_YATES_MAX, ROUNDS, Permutation, mix64
from midepoch.sampling.batches import BuiltInOrder

MASK = 2**64 - 1
N_MAX = 2**63 - 1
BIG = [
    4097,
    4098,
    4225,  # 65 * 65: no cycle is walked
    4226,  # one more than a square: the most is walked
    65536,
    2**32 - 1,
    2**32,
    2**32 + 1,
    10**12 + 39,
    3037000499**2,  # the largest square
    3037000499**2 + 1,
    N_MAX,
]
keys = st.integers(0, MASK)
sizes = st.one_of(
    st.integers(0, 300),
    st.integers(FISHER_YATES_MAX - 3, FISHER_YATES_MAX + 300),
    st.integers(FISHER_YATES_MAX + 1, N_MAX),
    st.sampled_from(BIG),
)
thorough = examples(300)


class Scalar:
    """The permutation as the specification words it, one index at a time."""

    def __init__(self, n: int, key: int) -> None:
        self.n = n
        self.key = key
        self.a = math.isqrt(n)
        self.a += self.a * self.a < n
        self.b = (n + self.a - 1) // self.a if n else 0
        self.round_keys = [self._round_key(r) for r in range(8)]

    def _round_key(self, r: int) -> int:
        text = f"midepoch/1/order.round/{self.key}/{r}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def mix(self, value: int) -> int:
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) % 2**64
        return value ^ (value >> 31)

    def table(self) -> list[int]:
        table = list(range(self.n))
        counter = self.key
        for i in reversed(range(1, self.n)):
            counter = (counter + 0x9E3779B97F4A7C15) % 2**64
            j = self.mix(counter) * (i + 1) // 2**64
            table[i], table[j] = table[j], table[i]
        return table

    def at(self, position: int) -> int:
        x = self._forward(position)
        while x >= self.n:
            x = self._forward(x)
        return x

    def position_of(self, index: int) -> int:
        x = self._backward(index)
        while x >= self.n:
            x = self._backward(x)
        return x

    def _forward(self, x: int) -> int:
        left, right = divmod(x, self.b)
        for r in range(8):
            if r % 2 == 0:
                left = (left + self._draw(r, right, self.a)) % self.a
            else:
                right = (right + self._draw(r, left, self.b)) % self.b
        return left * self.b + right

    def _backward(self, x: int) -> int:
        left, right = divmod(x, self.b)
        for r in reversed(range(8)):
            if r % 2 == 0:
                left = (left - self._draw(r, right, self.a)) % self.a
            else:
                right = (right - self._draw(r, left, self.b)) % self.b
        return left * self.b + right

    def _draw(self, r: int, half: int, m: int) -> int:
        return self.mix((half + self.round_keys[r]) % 2**64) * m // 2**64


@pytest.mark.parametrize("key", [0, 1, 0xDEADBEEF, MASK])
@pytest.mark.parametrize("n", [*range(20), 63, 64, 1000, 4095, 4096])
def test_small_domains_are_the_fisher_yates_shuffle(n: int, key: int) -> None:
    assert Permutation(n, key).indices(0, n) == Scalar(n, key).table()


def test_rounds_are_as_written() -> None:
    assert ROUNDS == 8


@thorough
@given(keys)
def test_mix64_is_as_written(value: int) -> None:
    assert mix64(value) == Scalar(1, 0).mix(value)


@pytest.mark.parametrize("n", [*range(65), 4095, 4096, 4097, 4160, 4161, 4225, 4226, 5000, 40000])
def test_every_index_comes_exactly_once(n: int) -> None:
    for key in (0, 12345, MASK):
        assert sorted(Permutation(n, key).indices(0, n)) == list(range(n))


@pytest.mark.parametrize("n", BIG)
def test_large_domains_equal_the_scalar_network(n: int) -> None:
    for key in (0, 77, MASK):
        permutation, scalar = Permutation(n, key), Scalar(n, key)
        for start in (0, n // 2, n - 40):
            expected = [scalar.at(position) for position in range(start, start + 40)]
            assert permutation.indices(start, start + 40) == expected


@thorough
@given(st.data(), st.integers(FISHER_YATES_MAX + 1, N_MAX), keys)
def test_large_domains_are_bijections(data: st.DataObject, n: int, key: int) -> None:
    position = data.draw(st.integers(0, n - 1))
    (index,) = Permutation(n, key).indices(position, position + 1)
    assert 0 <= index < n
    assert index == Scalar(n, key).at(position)
    assert Scalar(n, key).position_of(index) == position


@thorough
@given(st.data(), sizes, keys)
def test_seeking_equals_slicing(data: st.DataObject, n: int, key: int) -> None:
    low = data.draw(st.integers(0, n))
    high = min(n, low + data.draw(st.integers(0, 200)))
    middle = data.draw(st.integers(low, high))
    permutation = Permutation(n, key)
    whole = permutation.indices(low, high)
    assert whole == permutation.indices(low, middle) + permutation.indices(middle, high)
    assert (
        list(itertools.islice(permutation.iterate(middle), high - middle)) == whole[middle - low :]
    )
    assert all(type(index) is int for index in whole)


def test_blocks_join_without_a_seam() -> None:
    n = 2 * BLOCK + 5
    permutation = Permutation(n, 3)
    whole = permutation.indices(0, n)
    assert sorted(whole) == list(range(n))
    assert list(permutation.iterate()) == whole
    assert permutation.indices(BLOCK - 1, BLOCK + 1) == whole[BLOCK - 1 : BLOCK + 1]


@pytest.mark.parametrize("start", [0, 1, 40, 900])
def test_an_epoch_gives_the_permutation_wherever_it_starts(start: int) -> None:
    n, size = 3 * BLOCK + 5, 7  # more than the ever larger blocks that begin an epoch
    order = BuiltInOrder(n, 3, batch_size=size, tail="keep", start=start)
    steps = list(iter(order.draw, None))
    assert [step.index for step in steps] == list(range(start, -(-n // size)))
    keys = [key for step in steps for key in step.keys]
    assert keys == Permutation(n, 3).indices(start * size, n)


def test_memory_and_seek_do_not_grow_with_the_domain() -> None:
    Permutation(10_000, 1).indices(0, 1000)  # whatever is allocated once

    def peak(n: int) -> int:
        tracemalloc.start()
        try:
            Permutation(n, 1).indices(n - 1000, n)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(N_MAX) < 2 * peak(10_000) < 1_000_000


def test_iterating_holds_one_block_at_a_time() -> None:
    tracemalloc.start()
    try:
        for _ in itertools.islice(Permutation(N_MAX, 1).iterate(), 4 * BLOCK):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_tiny_domains_are_uniform() -> None:
    counts: dict[tuple[int, ...], int] = dict.fromkeys(itertools.permutations(range(4)), 0)
    draws = 12_000
    for epoch in range(draws):
        counts[tuple(Permutation(4, mix64(epoch)).indices(0, 4))] += 1
    expected = draws / len(counts)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 49.7  # 23 degrees of freedom: one in a thousand is above


def test_each_place_of_a_large_domain_gets_every_part_of_it() -> None:
    n, parts, draws = 10_007, 16, 4_000
    counts = [0] * parts
    for epoch in range(draws):
        (index,) = Permutation(n, mix64(epoch)).indices(5000, 5001)
        counts[index * parts // n] += 1
    expected = draws / parts
    assert sum((count - expected) ** 2 / expected for count in counts) < 37.7  # 15, 1 in 1000


@pytest.mark.parametrize("n", [-1, N_MAX + 1])
def test_impossible_sizes_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="0 <= n"):
        Permutation(n, 0)


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (2, 1), (0, 11), (11, 11)])
def test_positions_outside_are_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        Permutation(10, 0).indices(start, stop)
