"""Ending what others left running."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from midepoch_conformance.host.system.processes import end_group


def lives(group: int) -> bool:
    """Return whether a process of the group exists, if only as one that nobody waited for."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


@pytest.mark.parametrize(("works", "may"), [(0.3, 10.0), (60, 0.2), (60, 0.0)])
def test_a_group_may_tidy_up_but_not_stay(works: float, may: float, tmp_path: Path) -> None:
    untidy = tmp_path / "untidy"
    untidy.touch()
    leader = subprocess.Popen(
        ["sh", "-c", f"(sleep {works}; rm {untidy}) &"], start_new_session=True
    )
    leader.wait()
    began = time.monotonic()
    end_group(leader.pid, may)
    assert untidy.exists() is (works > may)
    assert time.monotonic() - began < 5
    until = time.monotonic() + 5
    while lives(leader.pid) and time.monotonic() < until:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-leader.pid, os.WNOHANG)
        time.sleep(0.01)
    assert not lives(leader.pid)
