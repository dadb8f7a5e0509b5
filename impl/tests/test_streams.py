"""The caller's random streams, the cached Gaussian included, and the switches about them."""

from __future__ import annotations

import random
import sys
import threading
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep

import midepoch
from midepoch.format.seeds import derive_words
from midepoch.lane import streams

N = 4


def draws() -> tuple[Any, ...]:
    return (
        np.random.standard_normal(),
        random.gauss(0, 1),
        torch.randn(()).item(),
        np.random.random_sample(),
        random.random(),
    )


@pytest.fixture
def seeded() -> tuple[Any, ...]:
    """Seed the streams, leave a Gaussian cached in each, and return what they give next."""
    for _ in range(2):
        random.seed(1)
        np.random.seed(2)
        torch.manual_seed(3)
        draws()
        expected = draws()
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    draws()
    return expected


class Gaussian(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return draws()


def loader(dataset: Any, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(dataset, **chosen)


def test_a_cached_gaussian_of_the_callers_stays_with_the_caller(seeded: tuple[Any, ...]) -> None:
    bits: Any = np.random.get_bit_generator()  # type: ignore[attr-defined]  # not in the stubs
    rows = list(loader(Gaussian(N)))
    assert draws() == seeded
    assert np.random.get_bit_generator() is bits  # type: ignore[attr-defined]
    assert rows == list(loader(Gaussian(N), num_workers=1, lanes=0))


def test_a_cached_gaussian_of_a_batch_stays_with_the_batch() -> None:
    np.random.seed(3)
    with streams.isolated():
        streams.seed(derive_words(5, "batch.map", 0, 0))
        first = np.random.standard_normal()
    assert np.random.standard_normal() == np.random.RandomState(3).standard_normal()
    with streams.isolated():  # the caller's is cached now
        streams.seed(derive_words(5, "batch.map", 0, 0))
        assert np.random.standard_normal() == first


def test_isolation_nests(seeded: tuple[Any, ...]) -> None:
    with streams.isolated():
        streams.seed(derive_words(5, "batch.map", 0, 0))
        outer = [draws(), draws()]
        streams.seed(derive_words(5, "batch.map", 0, 0))
        assert draws() == outer[0]
        with streams.isolated():
            streams.seed(derive_words(5, "batch.map", 0, 1))
            assert draws() not in outer
        assert draws() == outer[1]
    assert draws() == seeded


def test_private_streams_go_on_where_they_were(seeded: tuple[Any, ...]) -> None:
    seeds = derive_words(5, "sampler", 0)
    with streams.isolated():
        streams.seed(seeds)
        expected = [draws() for _ in range(4)]
    private = streams.PrivateStreams(seeds)
    for i in range(4):
        with private.active():
            assert draws() == expected[i]
        with streams.isolated():
            streams.seed(derive_words(6, "sampler", i))
            draws()
    private.reseed(seeds)
    with private.active():
        assert draws() == expected[0]
    assert draws() == seeded


def test_isolation_can_be_switched_off(seeded: tuple[Any, ...]) -> None:
    rows = list(loader(Gaussian(N), isolate_streams=False))
    streams.seed(derive_words(5, "batch.map", 0, N - 1))
    draws()
    expected = draws()
    assert rows == list(loader(Gaussian(N)))
    list(loader(Gaussian(N), isolate_streams=False))
    assert draws() == expected != seeded


def test_a_caller_may_draw_from_any_bit_generator() -> None:
    numpy: Any = np.random  # its stubs leave out the two functions
    before, own = numpy.get_bit_generator(), np.random.PCG64(1)
    numpy.set_bit_generator(own)
    try:
        expected = np.random.RandomState(np.random.PCG64(1))
        assert np.random.standard_normal() == expected.standard_normal()
        list(loader(Gaussian(N)))
        assert numpy.get_bit_generator() is own
        assert np.random.standard_normal() == expected.standard_normal()
        assert np.random.random_sample() == expected.random_sample()
    finally:
        numpy.set_bit_generator(before)


class Threads(sources.Plain):
    def __getitem__(self, index: int) -> int:
        return torch.get_num_threads()


@pytest.mark.parametrize("workers", [0, 1])
def test_one_intra_op_thread_can_be_switched_off(workers: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert list(loader(Threads(1), num_workers=workers)) == [[1]]
        assert list(loader(Threads(1), num_workers=workers, single_thread=False)) == [[3]]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_loaders_in_several_threads_leave_the_streams_in_order() -> None:
    def run() -> None:
        done.append(sum(len(batch) for batch in loader(sources.Plain(300))))

    before = sys.getswitchinterval()
    done: list[int] = []
    running = [threading.Thread(target=run) for _ in range(3)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert done == [300] * 3
    np.random.seed(2)
    expected = np.random.RandomState(2).random_sample(2).tolist()
    drawn = [np.random.random_sample()]
    list(loader(Gaussian(2)))
    assert [*drawn, np.random.random_sample()] == expected
