"""Hostile states of samplers' generators: their places lie within the generators' buffers."""

from __future__ import annotations

import base64
import struct
from typing import Any

import numpy as np
import pytest
import torch

from midepoch.sampling import generators


def of_twister(left: int, place: int) -> str:
    """Return the state of one of torch's generators that counts its words so."""
    data = bytearray(torch.Generator().manual_seed(1).get_state().numpy().tobytes())
    struct.pack_into("<iiq", data, 8, left, 1, place)
    return base64.b64encode(data).decode()


def of_numpy(bits: Any, *path: str, place: Any) -> Any:
    """Return the state of a bit generator of NumPy's that says another place."""
    state = generators.state_of(np.random.Generator(bits))
    *outer, last = path
    part = state
    for name in outer:
        part = part[name]
    part[last] = place
    return state


PHILOX = np.random.Philox(1)
BEYOND = [
    *(
        (torch.Generator(), of_twister(*c))
        for c in [(624, 624), (624, 0), (3, 3), (1, 625), (2, 0)]
    ),
    *(
        (bits(1), of_numpy(np.random.MT19937(1), "state", "pos", place=place))
        for bits in (lambda n: np.random.Generator(np.random.MT19937(n)), np.random.RandomState)
        for place in (-1, 625, 10**9, 2**63, 1.0, True, None)
    ),
    *(
        (np.random.Generator(np.random.Philox(1)), of_numpy(PHILOX, "buffer_pos", place=place))
        for place in (-1, 5, 10**9)
    ),
    (np.random.default_rng(1), "text"),
    (np.random.default_rng(1), {}),
]


@pytest.mark.parametrize(("generator", "state"), BEYOND)
def test_a_place_beyond_a_generators_buffer_is_refused(generator: Any, state: Any) -> None:
    """NumPy and torch would read from beyond the buffer."""
    before = generators.state_of(generator)
    with pytest.raises(ValueError, match=r"should be|contradict"):
        generators.try_state(generator, state)
    assert generators.state_of(generator) == before


@pytest.mark.parametrize("drawn", [0, 1, 2, 622, 623, 624, 625])
def test_every_place_within_the_buffer_is_accepted(drawn: int) -> None:
    ours = torch.Generator().manual_seed(1)
    for _ in range(drawn):
        torch.randint(10, (), generator=ours)
    theirs = np.random.RandomState(1)
    theirs.random_sample(drawn)
    for generator in (ours, theirs):
        generators.try_state(generator, generators.state_of(generator))
