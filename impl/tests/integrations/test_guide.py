"""The programs of the guide about trainers: a killed run goes on when it is started again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "trainers.md"

BEFORE = """
import os, sys
import torch

seen = []


def see(batch):
    seen.append(batch.flatten().int().tolist())
    if len(seen) == int(sys.argv[1]):
        print(seen)
        sys.stdout.flush()
        os._exit(0)


torch.manual_seed(0)
"""

LIGHTNING = """
import lightning.pytorch


class Model(lightning.pytorch.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, number):
        see(batch)
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-3)


dataset, model = [torch.tensor([float(i)]) for i in range(40)], Model()
"""

TRANSFORMERS = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x):
        see(x)
        return {"loss": self.layer(x).mean()}


dataset, model = [{"x": torch.tensor([float(i)])} for i in range(40)], Model()
"""

AFTER = "\nprint(seen)\n"


def program(heading: str, before: str, **changed: str) -> str:
    """Return the program below a heading of the guide, with a model and a dataset."""
    text = GUIDE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    code = found[1]
    for old, new in changed.items():
        pattern = re.compile(rf"\b{old}=[^,)]+")
        assert pattern.search(code), f"the guide has no {old}="
        code = pattern.sub(new, code)
    return BEFORE + before + code + AFTER


def run(folder: Path, code: str, steps: int) -> list[list[int]]:
    """Run a program in a folder, and return the batches of its steps, which end after so many."""
    (folder / "train.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "train.py", str(steps)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    last = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("[["))
    return [
        [int(sample) for sample in batch.split(",")] for batch in re.findall(r"\[([\d, ]+)\]", last)
    ]


def goes_on(folder: Path, code: str) -> None:
    """Check that a run which is killed at its fourth step goes on after the second."""
    for name in ("whole", "killed"):
        (folder / name).mkdir()
    whole = run(folder / "whole", code, 99)
    assert len(whole) == 10
    assert run(folder / "killed", code, 4) == whole[:4]
    assert run(folder / "killed", code, 99) == whole[2:]


def test_a_run_with_lightning_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("lightning.pytorch")
    code = program(
        "Lightning",
        LIGHTNING,
        every_n_train_steps="every_n_train_steps=2",
        devices="devices=1, accelerator='cpu', max_epochs=2, enable_progress_bar=False",
        strategy="strategy='auto'",
    )
    goes_on(tmp_path, code)


def test_a_run_with_transformers_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    code = program(
        "transformers",
        TRANSFORMERS,
        save_steps="save_steps=2, num_train_epochs=2, report_to=[], use_cpu=True",
    )
    goes_on(tmp_path, code)
