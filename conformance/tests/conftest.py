"""What holds for every test of the suite: nothing of it is left when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from nothing_left import nothing_left

__all__ = ["fakes", "nothing_left"]

FAKES = Path(__file__).parent / "fakes"


@pytest.fixture
def fakes() -> Path:
    """Return the folder of the fake loaders."""
    return FAKES
