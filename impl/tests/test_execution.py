"""How a loader's arguments decide its execution: the whole table of ``resolve``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sources

from midepoch.arguments import Options
from midepoch.epoch.execution import lifetime_of, resolve
from midepoch.format.plan import Plan


def plan(dataset: Any = "map", lanes: int = 0, lifetime: Any = "epoch") -> Plan:
    sampler: Any = "sequential" if dataset == "map" else "none"
    length = 9 if dataset == "map" else None
    return Plan(dataset, length, sampler, None, 7, 2, "keep", lanes, lifetime)


def loader(**arguments: Any) -> Any:
    defaults = {
        "num_workers": 2,
        "prefetch_factor": 3,
        "persistent_workers": False,
        "in_order": True,
        "worker_init_fn": None,
        "snapshot_every_n_steps": 4,
    }
    return SimpleNamespace(**{**defaults, **arguments})


@pytest.mark.parametrize("stateful", [False, True])
@pytest.mark.parametrize("in_order", [True, False])
def test_without_workers(stateful: bool, in_order: bool) -> None:
    arguments = loader(num_workers=0, prefetch_factor=None, in_order=in_order)
    made = resolve(arguments, Options(), plan(lifetime="run"), stateful=stateful)
    assert (made.kind, made.workers, made.depth) == ("inline", 1, 1)
    assert (made.order, made.between_epochs) == ("plan", "close")
    assert made.objects == ("shared" if stateful else "own")


@pytest.mark.parametrize(
    ("dataset", "stateful", "changes", "routing", "order"),
    [
        ("map", False, {}, "free", "plan"),
        ("map", False, {"in_order": False}, "anywhere", "ready"),
        ("map", False, {"in_order": False, "worker_init_fn": print}, "free", "ready"),
        ("map", True, {"in_order": False}, "lane", "plan"),
        ("iterable", False, {"in_order": False}, "lane", "ready"),
        ("iterable", True, {}, "lane", "plan"),
    ],
)
def test_routing_and_order(
    dataset: str, stateful: bool, changes: dict[str, Any], routing: str, order: str
) -> None:
    made = resolve(loader(**changes), Options(), plan(dataset, 2), stateful=stateful)
    assert (made.routing, made.order, made.objects) == (routing, order, "own")


def test_a_shared_data_pipe_keeps_its_tasks_at_their_lanes() -> None:
    made = resolve(loader(in_order=False), Options(), plan(), stateful=False, piped=True)
    assert (made.routing, made.order) == ("lane", "ready")


@pytest.mark.parametrize(
    ("lifetime", "changes", "between"),
    [
        ("run", {}, "keep"),
        ("epoch", {}, "close"),
        ("epoch", {"persistent_workers": True}, "keep"),
        ("epoch", {"persistent_workers": True, "worker_init_fn": print}, "close"),
    ],
)
def test_between_epochs(lifetime: str, changes: dict[str, Any], between: str) -> None:
    made = resolve(loader(**changes), Options(), plan(lifetime=lifetime), stateful=False)
    assert made.between_epochs == between


@pytest.mark.parametrize(
    ("dataset", "stateful", "lanes", "workers"),
    [("map", False, 1, 4), ("map", True, 3, 3), ("iterable", False, 0, 1), ("map", True, 9, 4)],
)
def test_a_lane_stays_at_one_worker(dataset: str, stateful: bool, lanes: int, workers: int) -> None:
    made = resolve(loader(num_workers=4), Options(), plan(dataset, lanes), stateful=stateful)
    assert made.workers == workers


def test_options_are_taken_over() -> None:
    options = Options(worker_type="thread", prefetch=5)
    made = resolve(loader(snapshot_every_n_steps=None), options, plan(), stateful=False)
    assert (made.kind, made.prefetch, made.depth, made.interval) == ("thread", 5, 3, 0)


def test_lifetimes() -> None:
    assert lifetime_of(loader(num_workers=0, dataset=[])) == "run"
    assert lifetime_of(loader(dataset=[])) == "epoch"
    assert lifetime_of(loader(persistent_workers=True, dataset=[])) == "run"
    stream = sources.Resuming(3)
    assert lifetime_of(loader(num_workers=0, dataset=stream)) == "epoch"
    assert lifetime_of(loader(persistent_workers=True, dataset=stream)) == "epoch"
    assert lifetime_of(loader(dataset=stream), given="run") == "run"
    assert lifetime_of(loader(num_workers=0, dataset=sources.Counting(3))) == "run"
