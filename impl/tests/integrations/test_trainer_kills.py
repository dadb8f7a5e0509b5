"""Trainings that are killed in an epoch, on its last step and between two, and go on exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples import share
from trained import EPOCHS, KILLED, PACKAGES, STEPS, loader_of

PROGRAM = Path(__file__).with_name("trained.py")

TRAINERS = ["transformers", "lightning", "fabric", "accelerate"]

RESUMED = [
    (trainer, data, processes)
    for data in ("map", "stream", "sized")
    for processes in (1, 2)
    for trainer in TRAINERS
    if (trainer, data) != ("lightning", "sized")  # refused, as the last test says
]

ON_OTHER_NUMBERS = share((data, trainer) for data in ("map", "stream") for trainer in TRAINERS)


def run(folder: Path, trainer: str, data: str, *processes: int) -> Any:
    """Return what the uninterrupted training told, and what the killed ones and the last told."""
    pytest.importorskip(PACKAGES.get(trainer, trainer))
    command = [sys.executable, str(PROGRAM), trainer, str(folder), data, *map(str, processes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("trainer", "data", "processes"), share(RESUMED))
def test_a_killed_training_goes_on(tmp_path: Path, trainer: str, data: str, processes: int) -> None:
    wholes, runs = run(tmp_path, trainer, data, processes)
    names = [str(step) for step in range(1, EPOCHS * STEPS + 1)]
    for epoch in (3, 2, 1):
        names.insert(STEPS * epoch, f"end {epoch}")
    for rank, whole in enumerate(wholes):
        parts = [run[rank] for run in runs]
        assert [name for name, _ in whole] == names
        assert [part[-1][0] for part in parts] == [*KILLED, "end 3"]
        told = [line for part in parts for line in part]
        # After a kill on an epoch's last step, a training may tell that epoch's end or not.
        assert [line for line in told if line[1]] == [line for line in whole if line[1]]
    assert len(wholes) == processes


def steps_of(ranks: list[Any]) -> list[Any]:
    """Return the name and the samples of each step, of all processes together."""
    told = [[line for line in rank if line[1]] for rank in ranks]
    found = []
    for lines in zip(*told, strict=True):
        (name,) = {name for name, _ in lines}
        found.append([name, [sample for _, (batch, _) in lines for sample in batch]])
    return found


@pytest.mark.parametrize("trainer", [one for data, one in ON_OTHER_NUMBERS if data == "map"])
def test_a_killed_training_goes_on_on_another_number_of_processes(
    tmp_path: Path, trainer: str
) -> None:
    numbers = (2, 1, 3, 2)
    whole, runs = run(tmp_path, trainer, "map", 1, *numbers)
    assert [len(ranks) for ranks in runs] == list(numbers)
    wanted = steps_of(whole)
    assert [name for name, _ in wanted] == [str(step) for step in range(1, EPOCHS * STEPS + 1)]
    assert [step for ranks in runs for step in steps_of(ranks)] == wanted


@pytest.mark.parametrize("trainer", [one for data, one in ON_OTHER_NUMBERS if data == "stream"])
def test_a_killed_stream_goes_on_on_another_number_of_processes(
    tmp_path: Path, trainer: str
) -> None:
    numbers = (2, 1, 2, 1)
    _, runs = run(tmp_path, trainer, "stream", 1, *numbers)
    assert [len(ranks) for ranks in runs] == list(numbers)
    # Two processes take two lanes' batches at each step, and one process takes one.
    got = [sample for ranks in runs for _, batch in steps_of(ranks) for sample in batch]
    loader = loader_of("stream", 1, 2)
    epochs = [[row for batch in loader for row in batch["x"].tolist()] for _ in range(EPOCHS)]
    assert len(got) > 2 * len(epochs[0])
    wanted = [row for epoch in epochs for row in epoch]
    assert got == wanted[: len(got)]


@pytest.mark.parametrize("processes", [1, 2])
def test_lightning_refuses_a_stream_with_a_length(tmp_path: Path, processes: int) -> None:
    pytest.importorskip("lightning")
    command = [sys.executable, str(PROGRAM), "lightning", str(tmp_path), "sized", str(processes)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode
    refusals = done.stderr.count("ArgumentError: LoaderCheckpoint cannot tell where")
    assert refusals == processes
