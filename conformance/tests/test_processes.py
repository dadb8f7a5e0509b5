"""Ending what others left running."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from midepoch_conformance.host.processes import end_group, living


def children() -> set[int]:
    return set(living(os.getpid()) or ())


@pytest.mark.parametrize(("works", "may"), [(0.3, 10.0), (60, 0.2), (60, 0.0)])
def test_a_group_may_tidy_up_but_not_stay(works: float, may: float, tmp_path: Path) -> None:
    untidy = tmp_path / "untidy"
    untidy.touch()
    before = children()
    leader = subprocess.Popen(
        ["sh", "-c", f"(sleep {works}; rm {untidy}) &"], start_new_session=True
    )
    leader.wait()
    began = time.monotonic()
    end_group(leader.pid, may)
    assert untidy.exists() is (works > may)
    assert time.monotonic() - began < 5
    until = time.monotonic() + 5
    while children() - before and time.monotonic() < until:
        time.sleep(0.01)
    assert not children() - before
