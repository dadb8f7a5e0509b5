"""Finds a sampler's generators in its public attributes alone."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.sampling.chain import SamplerChain

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}
FOUND = SamplerChain._generators


def public(self: SamplerChain) -> Iterator[tuple[str, Any]]:
    return (found for found in FOUND(self) if "._" not in found[0])


patch.object(SamplerChain, "_generators", public).start()

Adapter = mutant()
