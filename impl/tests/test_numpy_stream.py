"""NumPy's stream by the short way and by the public one, under the NumPy that is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy_stream_holds
import pytest

from midepoch.lane import numpy_stream


def test_this_numpy_has_the_short_way() -> None:
    assert numpy_stream.SHORT


# Python 3.12 and later warn of a fork beside threads, which is what this is about.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("check", numpy_stream_holds.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("short", [True, False], ids=["short way", "public way"])
def test_it_holds(
    check: Callable[[Any], None], short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_stream, "SHORT", short)
    check(numpy_stream)
