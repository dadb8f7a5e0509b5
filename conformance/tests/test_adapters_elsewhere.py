"""The adapters of loaders that have environments of their own.

Where a loader is absent, only what its adapter says without it is tested.
"""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.workload import KINDS, Workload
from midepoch_conformance.host.loading import ELSEWHERE, load

pytestmark = [
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ADAPTERS = Path(importlib.import_module("midepoch_conformance.adapters").__file__ or "").parent
ENVIRONMENTS = Path(__file__).parents[1] / "environments"
NEEDS = {
    "nodes": "torchdata",
    "grain-loader": "grain",
    "grain-elastic": "grain",
    "datasets-midepoch": "datasets",
    "accelerate-midepoch": "accelerate",
    "lightning-midepoch": "lightning",
    "energon": "megatron.energon",
    "dali": "nvidia.dali",
    "lhotse-dynamic": "lhotse",
}
"""The packages that adapters import, where their names are not the loaders'."""


def source(name: str) -> str:
    module = ELSEWHERE[name].partition(":")[0].replace(".", "/")
    return (ADAPTERS / f"{module}.py").read_text(encoding="utf-8")


def adapter(name: str) -> Any:
    pytest.importorskip(NEEDS.get(name, name))
    return load(name).adapter


def workload(name: str, kind: str, **fields: Any) -> Workload:
    return Workload(kind=kind, tail=Offer(**adapter(name).offer()).tails[0], **fields)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_adapter_is_short_and_imports_nothing_of_the_suite_but_torch_data(name: str) -> None:
    text = source(name)
    assert len(text.splitlines()) < 130
    found = [n.module or "" for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom)]
    suite = {module for module in found if module.startswith(("midepoch_", "."))}
    assert suite <= {"midepoch_conformance.adapters"}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_offer_names_itself_and_gives_reasons(name: str) -> None:
    offer = Offer(**adapter(name).offer())
    assert offer.name == name
    for missing in (set(KINDS) - set(offer.kinds)) | ({"own"} - set(offer.draws)):
        assert offer.reasons.get(missing), f"{name} does not say why it lacks {missing}"


def rows(batch: Any) -> list[list[float]]:
    return [list(row) for row in batch]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_each_epoch_has_each_sample_once(name: str, tmp_path: Path) -> None:
    for kind in Offer(**adapter(name).offer()).kinds:
        w = workload(name, kind, n=12, batch_size=3)
        adapter(name).prepare(w, str(tmp_path))
        session = adapter(name).open(w, Execution(), str(tmp_path))
        for _ in range(2):
            epoch = [row[0] for batch in session.epoch() for row in rows(batch)]
            assert sorted(epoch) == list(range(12))
        session.close()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_epochs_rest_comes_after_a_resume(name: str, tmp_path: Path) -> None:
    offer = Offer(**adapter(name).offer())
    if not offer.saves:
        assert offer.reasons.get("saves"), f"{name} does not say why it has no state"
        return
    for kind in offer.kinds:
        w = workload(name, kind, n=12, batch_size=3)
        adapter(name).prepare(w, str(tmp_path))
        first = adapter(name).open(w, Execution(), str(tmp_path))
        whole = [rows(batch) for batch in first.epoch()]
        first.close()
        interrupted = adapter(name).open(w, Execution(), str(tmp_path))
        batches = iter(interrupted.epoch())
        before = [rows(next(batches)), rows(next(batches))]
        state = pickle.loads(pickle.dumps(interrupted.state()))
        resumed = adapter(name).open(w, Execution(), str(tmp_path))
        resumed.load(state)
        assert before + [rows(batch) for batch in resumed.epoch()] == whole
        interrupted.close()
        resumed.close()


@pytest.mark.parametrize("name", ["accelerate-midepoch", "lightning-midepoch"])
def test_ranks_of_a_trainer_share_the_batches_and_go_on_as_another_number(name: str) -> None:
    w = Workload(n=14, batch_size=4, shuffle=True, seed=3, ranks="shared")

    def rest(rank: int, world: int, state: Any = None) -> list[list[list[float]]]:
        session = adapter(name).open(w, Execution(rank=rank, world=world), "")
        if state is not None:
            session.load(state)
        found = [rows(batch) for batch in session.epoch()]
        session.close()
        return found

    alone = rest(0, 1)
    saving = adapter(name).open(w, Execution(rank=1, world=2), "")
    assert rows(next(saving.epoch())) == alone[0][2:]
    state = saving.state()
    saving.close()
    for world, steps, saved in ((2, alone, None), (4, alone[1:], state)):
        shares = [rest(rank, world, saved) for rank in range(world)]
        for step, batch in enumerate(steps):
            together = [row for share in shares for row in share[step]]
            assert together[: len(batch)] == batch


def test_an_iterator_of_lhotses_begins_before_anything_is_asked_of_it(tmp_path: Path) -> None:
    w = workload("lhotse", "map", n=6, batch_size=3)
    first, second = (adapter("lhotse").open(w, Execution(), str(tmp_path)) for _ in range(2))
    next(iter(first.epoch()))
    live = iter(second.epoch())
    second.load(first.state())  # documented to be for the next iterator
    assert rows(next(live)) == [[0], [1], [2]]
    assert [rows(batch) for batch in second.epoch()] == [[[3], [4], [5]]]


def test_a_dali_pipeline_of_other_batches_goes_on_at_the_next_sample(tmp_path: Path) -> None:
    saving, loading = (workload("dali", "map", n=12, batch_size=size) for size in (4, 3))
    adapter("dali").prepare(saving, str(tmp_path))
    first = adapter("dali").open(saving, Execution(), str(tmp_path))
    next(iter(first.epoch()))
    second = adapter("dali").open(loading, Execution(), str(tmp_path))
    second.load(first.state())
    rest = [[row[0] for row in rows(batch)] for batch in second.epoch()]
    assert rest == [[4, 5, 6], [7, 8, 9], [10, 11]]


def test_an_absent_loader_is_named_by_the_error() -> None:
    asked = "import sys; sys.modules['torchdata'] = None; sys.modules['torchdata.nodes'] = None\n"
    asked += "from midepoch_conformance.host.loading import load; load('nodes')"
    ended = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert ended.returncode != 0
    assert "torchdata" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("lock", sorted(ENVIRONMENTS.glob("*.txt")), ids=lambda lock: lock.stem)
def test_a_lock_pins_each_package_and_names_no_host(lock: Path) -> None:
    lines = [li for li in lock.read_text().splitlines() if li and not li.startswith("#")]
    assert lines
    for line in lines:
        name, _, version = line.partition("==")
        assert version, f"{line} is not pinned"
        assert "://" not in line
        assert not name.startswith("nvidia-cu"), "CUDA's libraries come with no CPU loader"
