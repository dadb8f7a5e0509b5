"""Trainings that are killed in an epoch, on its last step and between two, and go on exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trained import KILLED

PROGRAM = Path(__file__).with_name("trained.py")


@pytest.mark.parametrize("data", ["map", "stream"])
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("trainer", ["transformers", "lightning", "accelerate"])
def test_a_killed_training_goes_on(tmp_path: Path, trainer: str, processes: int, data: str) -> None:
    pytest.importorskip(trainer)
    command = [sys.executable, str(PROGRAM), trainer, str(tmp_path), str(processes), data]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    wholes, runs = json.loads(done.stdout.splitlines()[-1])
    names = [str(step) for step in range(1, 13)]
    for epoch in (3, 2, 1):
        names.insert(4 * epoch, f"end {epoch}")
    for rank, whole in enumerate(wholes):
        parts = [run[rank] for run in runs]
        assert [name for name, _ in whole] == names
        assert [part[-1][0] for part in parts] == [*KILLED, "end 3"]
        told = [line for part in parts for line in part]
        # After a kill on an epoch's last step, a training may tell that epoch's end or not.
        assert [line for line in told if line[1]] == [line for line in whole if line[1]]
    assert len(wholes) == processes
