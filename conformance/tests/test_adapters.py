"""The suite's own adapters, driven by hand and through a runner.

What is expected of the loaders here was found with scripts that use the loader alone.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import io
import json
import pickle
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warm_hosts import TORCH, WarmHosts

from midepoch_conformance import adapters
from midepoch_conformance.adapters import torch_data
from midepoch_conformance.case.adapter import EXTRAS, Execution, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.trace import Trace
from midepoch_conformance.case.uninterrupted import usual_lengths
from midepoch_conformance.case.workload import AMBIENT_DRAWS, KINDS, Workload, WorkloadError
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.families.unusual.aspects import UNUSUAL
from midepoch_conformance.host.loading import BUILT_IN
from midepoch_conformance.host.system.processes import adopt_orphans
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.scripts.source.source_tree import SHARED

# torchdata 0.11.0 calls what newer torch releases have deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")

FOLDER = Path(adapters.__file__).parent
LOADERS = Path(__file__).parent / "loaders"
TORCH_LIKE = ("reference", "torchdata", "torch")


def adapter(name: str) -> Any:
    return importlib.import_module(f"midepoch_conformance.adapters.{name}").Adapter()


def offer(name: str) -> Offer:
    return Offer(**adapter(name).offer())


def epochs(name: str, w: Workload, x: Execution) -> list[Any]:
    session = adapter(name).open(w, x, "")
    delivered = [list(session.epoch()) for _ in range(w.epochs)]
    session.close()
    return delivered


def ids(batches: list[Any]) -> list[int]:
    return [int(row[0]) for batch in batches for row in batch]


@pytest.fixture(scope="module", params=BUILT_IN)
def runner(request: pytest.FixtureRequest, warm_processes: WarmHosts) -> Iterator[Runner]:
    with Runner(request.param) as opened:
        # Both hosts start here, and what Python keeps for spawned workers: no test leaves them.
        session = (Execution(workers=1), (Step("take", 1), Step("close")))
        adopt_orphans()
        with pytest.MonkeyPatch.context() as patch:
            warm_processes.lend(patch, TORCH)
            played(opened, Workload(), session, session)
        yield opened


def played(runner: Runner, w: Workload, *sessions: tuple[Execution, tuple[Step, ...]]) -> Trace:
    plans = (SessionPlan(x, steps, 1 + i, "ab"[i % 2]) for i, (x, steps) in enumerate(sessions))
    return runner.play(Case("test", w, tuple(plans)))


# What an adapter is


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_adapter_imports_nothing_of_the_suite_but_what_adapters_share(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    found = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    froms = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    found += [f"{n.module or ''}.{a.name}" for n in froms for a in n.names]
    suite = {module for module in found if module.startswith(("midepoch_", "."))}
    assert suite <= {f"midepoch_conformance.adapters.{shared}" for shared in SHARED}


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_offer_speaks_the_protocols_words(name: str) -> None:
    o = offer(name)
    assert o.name == name
    assert set(o.kinds) <= set(KINDS)
    assert set(o.draws) <= {*AMBIENT_DRAWS, *GENERATORS, "own"}
    assert set(o.extras) <= set(EXTRAS)
    assert set(o.codecs) <= {"pickle", "torch", "json", "bytes"}
    assert set(o.saves) <= {"start", "mid", "end"}
    assert set(o.fixed_plan) <= set(o.kinds)
    assert o.boundary in ("epochs", "stream", "infinite")
    for missing in (set(KINDS) - set(o.kinds)) | ({*AMBIENT_DRAWS, "own"} - set(o.draws)):
        assert o.reasons.get(missing), f"{name} does not say why it does not offer {missing}"


def test_the_shortest_adapter_takes_under_forty_lines() -> None:
    source = (LOADERS / "torchdata_map.py").read_text(encoding="utf-8")
    code = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
    }
    assert len(code) < 40


@pytest.mark.parametrize("name", TORCH_LIKE)
def test_what_torch_refuses_to_build_is_declined(name: str) -> None:
    declines = adapter(name).declines
    assert declines(Workload(n=0, shuffle=True), Execution())
    assert declines(Workload(kind="iterable", shuffle=True), Execution())
    assert declines(Workload(), Execution(prefetch=2))
    assert declines(Workload(), Execution(persistent=True))
    assert declines(Workload(shuffle=True), Execution(workers=2, prefetch=2)) is None


@pytest.mark.usefixtures("warm_torch")
@pytest.mark.parametrize("spec", ["torchdata_map.py:Adapter", "training.py:make_loader"])
def test_the_short_ways_to_a_loader_play(spec: str) -> None:
    first = (Execution(), (Step("take", 2), Step("save", state="s")))
    second = (Execution(), (Step("load", state="s"), Step("drain")))
    whole = (Execution(), (Step("drain"),))
    with Runner(str(LOADERS / spec)) as short:
        trace = played(short, Workload(n=22), first, second, whole)
    before, after, through = ([b for e in s.events for b in e.batches] for s in trace.sessions)
    assert len(through) == 6
    assert before + after == through


# What it delivers


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_epoch_is_delivered_whole(name: str) -> None:
    for kind in offer(name).kinds:
        for n, size in ((13, 4), (12, 3), (1, 4)):
            w = Workload(kind=kind, n=n, batch_size=size, epochs=3)
            for epoch in epochs(name, w, Execution()):
                assert [len(batch) for batch in epoch[:-1]] == [size] * (len(epoch) - 1)
                assert ids(epoch) == list(range(n))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_tail_is_dropped_where_that_is_asked_for(name: str) -> None:
    (epoch,) = epochs(name, Workload(tail="drop", epochs=1), Execution())
    assert ids(epoch) == list(range(12))


@pytest.mark.parametrize("name", BUILT_IN)
def test_shuffling_follows_the_seed(name: str) -> None:
    first, second = epochs(name, Workload(shuffle=True, seed=5), Execution())
    assert sorted(ids(first)) == sorted(ids(second)) == list(range(13))
    assert ids(first) != ids(second)
    assert ids(epochs(name, Workload(shuffle=True, seed=5), Execution())[0]) == ids(first)
    assert ids(epochs(name, Workload(shuffle=True, seed=6), Execution())[0]) != ids(first)


@pytest.mark.parametrize("name", ["reference", "grain"])
def test_own_values_follow_the_seed_and_differ(name: str) -> None:
    def values(seed: int) -> list[float]:
        w = Workload(draws=("own",), seed=seed)
        return [row[1] for e in epochs(name, w, Execution()) for batch in e for row in batch]

    assert values(5) == values(5)
    assert not set(values(5)) & set(values(6))
    assert len(set(values(5))) == 26


def test_an_iterable_dataset_is_shared_among_workers(runner: Runner) -> None:
    for kind in set(runner.info.offer.kinds) & {"iterable", "stateful_iterable"}:
        w = Workload(kind=kind, n=12, batch_size=3, epochs=1)
        (drained,) = played(runner, w, (Execution(workers=2), (Step("drain"),))).sessions[0].events
        assert sorted(ids(drained.batches)) == list(range(12))
        assert ids(drained.batches[:1]) == [0, 2, 4]


def test_a_fixed_plan_is_the_same_with_workers(runner: Runner) -> None:
    # torchdata deals a shuffled epoch anew with workers: a finding of its own, below.
    shuffles = runner.info.offer.name != "torchdata"
    for kind in runner.info.offer.fixed_plan:
        draws = tuple(d for d in runner.info.offer.draws if d == "own")
        w = Workload(kind=kind, shuffle=shuffles and kind == "map", draws=draws)
        # What a dataset's history shows in later epochs follows its lifetime, and that the workers.
        steps = (Step("drain"),) * (1 if kind == "stateful_map" else 2)
        inline, workers = (
            played(runner, w, (Execution(workers=count, lanes=2), steps)).sessions[0]
            for count in (0, 2)
        )
        assert [e.batches for e in inline.events] == [e.batches for e in workers.events]


# Its state


def test_a_resume_goes_on_with_the_rest(runner: Runner) -> None:
    o = runner.info.offer
    if not o.saves:
        pytest.skip("it has no state")
    for kind in o.kinds:
        for codec in o.codecs:
            w = Workload(kind=kind, tree="plain" if kind.startswith("stateful") else "")
            first = (Step("take", 2), Step("save", state="s", codec=codec))
            rest = (Step("load", state="s"), Step("drain"), Step("drain"))
            trace = played(runner, w, (Execution(), first), (Execution(), rest))
            assert [s.first_fault() for s in trace.sessions] == [None, None]
            _, ended, whole = trace.sessions[1].events
            assert ids(ended.batches) == list(range(8, 13))
            assert ids(whole.batches) == list(range(13))


def test_a_loader_that_is_closed_leaves_no_process(runner: Runner) -> None:
    steps = (Step("take", 1), Step("close"))
    trace = played(runner, Workload(), (Execution(workers=2), steps))
    assert trace.sessions[0].events[-1].left == 0


def test_a_dead_worker_is_an_error(runner: Runner) -> None:
    trace = played(runner, Workload(die_at=9), (Execution(workers=2), (Step("drain"),)))
    fault = trace.sessions[0].first_fault()
    assert fault is not None
    assert (fault.kind, fault.type) in {("raised", "RuntimeError"), ("raised", "WorkerDiedError")}


def test_the_ranks_of_a_group_end_with_one_that_dies(runner: Runner) -> None:
    if "process group" not in runner.info.offer.extras:
        pytest.skip("its ranks are in no process group")
    w = Workload(n=12, ranks="shared", die_at=9)
    x = Execution(world=2, together=True)
    (session,) = played(runner, w, (x, (Step("drain", tolerate=True), Step("close")))).sessions
    drain, close = session.events
    assert ids(drain.batches) == list(range(8))
    assert drain.fault is not None
    assert (drain.fault.kind, drain.fault.type) == ("raised", "EOFError")
    assert close.left == 0


def test_a_refusal_of_a_group_is_the_loaders(runner: Runner) -> None:
    if "process group" not in runner.info.offer.extras:
        pytest.skip("its ranks are in no process group")
    x = Execution(world=2, together=True)
    steps = (Step("take", 1), Step("save", state="s"))
    loads = (Step("load", state="s"), Step("take", 1))
    plans = [SessionPlan(x, steps), SessionPlan(x, loads, 2, "b", (("n", 16),))]
    trace = runner.play(Case("test", Workload(n=12, ranks="shared"), tuple(plans)))
    fault = trace.sessions[1].first_fault()
    assert fault is not None
    assert (fault.kind, fault.type) == ("raised", "PlanMismatchError")


def test_a_value_that_is_no_state_reaches_the_loader_as_it_is(runner: Runner) -> None:
    if not runner.info.offer.saves:
        pytest.skip("it has no state")
    for value in ("none", "empty", "number", "foreign"):
        steps = (Step("load_bogus", value=value), Step("take", 1))
        fault = played(runner, Workload(), (Execution(), steps)).sessions[0].first_fault()
        assert fault is None or fault.kind == "raised", "the adapter itself may not trip over it"


def test_two_passes_of_a_plain_stream_may_be_live() -> None:
    stream = torch_data.Stream(Workload(n=3, tree="plain"))
    older = iter(stream)
    next(older)
    newer = iter(stream)
    assert [int(next(rows)[0]) for rows in (newer, older, newer)] == [0, 1, 1]


def test_a_stateful_stream_continues_once_and_then_starts_over() -> None:
    stream = torch_data.StatefulStream(Workload(n=5, tree="plain"))
    rows = iter(stream)
    next(rows)
    state = pickle.loads(pickle.dumps(stream.state_dict()))
    other = torch_data.StatefulStream(Workload(n=5, tree="plain"))
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert [int(row[0]) for row in other] == [1, 2, 3, 4]
    assert [int(row[0]) for row in other] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("lack", ["position", "tree"])
def test_a_stateful_stream_refuses_a_state_with_a_part_removed(lack: str) -> None:
    stream = torch_data.StatefulStream(Workload(tree="plain"))
    state = stream.state_dict()
    del state[lack]
    with pytest.raises(WorkloadError, match="incomplete"):
        stream.load_state_dict(state)


# Unusual workloads


def unusual_cells(*names: str) -> Any:
    """Return the cells of loaders and unusual workloads that they offer."""
    cells = (
        pytest.param(name, work, kind, id=f"{name}-{work}-{kind}")
        for name in names
        for work in UNUSUAL
        for kind in UNUSUAL[work].kinds
        if _offers(name, unusual(work, kind))
    )
    return pytest.mark.parametrize(("name", "work", "kind"), list(cells))


def _offers(name: str, w: Workload) -> bool:
    case = Case("plain", w, (SessionPlan(Execution(), ()),))
    return reason_not_offered(case, offer(name)) is None


def unusual(name: str, kind: str, **fields: Any) -> Workload:
    fields = {"kind": kind, "batch_size": 2, **dict(UNUSUAL[name].fields), **fields}
    return Workload(**(fields | ({"epochs": 1} if name == "oneshot" else {})))


@unusual_cells(*TORCH_LIKE)
def test_each_unusual_epoch_has_its_length_and_its_samples(name: str, work: str, kind: str) -> None:
    w = unusual(work, kind)
    delivered = epochs(name, w, Execution())
    assert [len(epoch) for epoch in delivered] == usual_lengths(w, Execution())
    for number, epoch in enumerate(delivered):
        if w.whole:
            assert sorted(ids(epoch)) == list(range(w.length(number)))


# A plain stream is replayed, and midepoch's loader says so.
@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")
@unusual_cells("reference", "torchdata")
def test_the_rest_of_an_unusual_epoch_comes_after_a_resume(name: str, work: str, kind: str) -> None:
    w = unusual(work, kind, epochs=1)
    (whole,) = epochs(name, w, Execution())
    first = adapter(name).open(w, Execution(), "")
    batches = first.epoch()
    before = [next(batches), next(batches)]
    state = pickle.loads(pickle.dumps(first.state()))
    second = adapter(name).open(w, Execution(), "")
    second.load(state)
    # torchdata makes a sampler's iterator twice: see below.
    assert (before + list(second.epoch()) == whole) is ((name, work) != ("torchdata", "custom"))


def test_ranks_share_the_samples() -> None:
    for name in TORCH_LIKE:
        w = Workload(n=12, sampler="distributed", epochs=1)
        shares = [ids(epochs(name, w, Execution(rank=rank, world=3))[0]) for rank in range(3)]
        assert sorted(i for share in shares for i in share) == list(range(12))
        assert [len(share) for share in shares] == [4, 4, 4]


@pytest.mark.parametrize("name", ["reference", "torchdata"])
@pytest.mark.parametrize("fields", [{"sampler": "distributed", "shuffle": True}, {"grow": 3}])
def test_an_epoch_set_from_outside_is_kept_beside_the_state(
    name: str, fields: dict[str, Any]
) -> None:
    w = Workload(epochs=3, **fields)
    whole = epochs(name, w, Execution())
    first = adapter(name).open(w, Execution(), "")
    list(first.epoch())
    later = first.epoch()
    next(later)
    state = first.state()
    assert state["epoch"] == 1
    second = adapter(name).open(w, Execution(), "")
    second.load(state)
    assert [list(second.epoch()), list(second.epoch())] == [whole[1][1:], whole[2]]
    list(later)
    assert first.state()["epoch"] == 2


@pytest.mark.parametrize("name", TORCH_LIKE)
def test_an_epoch_that_is_broken_off_is_followed_by_the_next(name: str) -> None:
    w = Workload(epochs=3, sampler="distributed", shuffle=True)
    whole = epochs(name, w, Execution())
    session = adapter(name).open(w, Execution(), "")
    session.epoch()  # nothing is asked of it
    assert next(session.epoch()) == whole[0][0]
    assert list(session.epoch()) == whole[1]


# Facts about loaders that the adapters must not hide


def resumed(name: str, w: Workload, takes: tuple[int, ...]) -> list[int]:
    """Return the samples of one epoch that is saved and resumed after each of ``takes``."""
    got: list[int] = []
    state: bytes | None = None
    for count in (*takes, 99):
        session = adapter(name).open(w, Execution(), "")
        if state is not None:
            session.load(pickle.loads(state))
        batches = iter(session.epoch())
        got += ids([batch for _, batch in zip(range(count), batches, strict=False)])
        state = pickle.dumps(session.state())
        session.close()
    return got


def test_torchdata_loses_batches_of_a_plain_stream_in_its_second_resume() -> None:
    plain = Workload(kind="iterable", n=20, batch_size=2)
    assert resumed("torchdata", plain, (2,)) == list(range(20))
    assert resumed("torchdata", plain, (2, 1)) == [0, 1, 2, 3, 4, 5, *range(10, 20)]
    stateful = dataclasses.replace(plain, kind="stateful_iterable")
    assert resumed("torchdata", stateful, (2, 1)) == list(range(20))


@pytest.mark.usefixtures("warm_torch")
def test_torchdata_shuffles_otherwise_with_workers() -> None:
    w, steps = Workload(shuffle=True), (Step("drain"),)
    with Runner("torchdata") as runner:
        inline, workers = (
            ids(played(runner, w, (Execution(workers=n), steps)).sessions[0].events[0].batches)
            for n in (0, 2)
        )
    assert sorted(inline) == sorted(workers)
    assert inline != workers


def test_torchdata_makes_a_samplers_iterator_twice() -> None:
    w = Workload(sampler="custom", batch_size=2)
    assert resumed("reference", w, (2,)) == ids(epochs("reference", w, Execution())[0])
    assert resumed("torchdata", w, (2,)) != ids(epochs("torchdata", w, Execution())[0])


def test_torchdata_takes_none_for_a_state() -> None:
    session = adapter("torchdata").open(Workload(), Execution(), "")
    session.load(None)
    assert ids(list(session.epoch())) == list(range(13))


def test_grain_ends_silently_where_a_sample_raises_stop_iteration() -> None:
    (epoch,) = epochs("grain", Workload(stop_at=6, epochs=1), Execution())
    assert ids(epoch) == [0, 1, 2, 3]


def test_grain_loads_a_state_of_another_plan() -> None:
    session = adapter("grain").open(Workload(), Execution(), "")
    next(session.epoch())
    state = json.loads(json.dumps(session.state()))
    other = adapter("grain").open(Workload(batch_size=2), Execution(), "")
    other.load(state)
    assert ids(list(other.epoch())) == list(range(2, 13))


def test_torch_has_no_state() -> None:
    session = adapter("torch").open(Workload(), Execution(), "")
    with pytest.raises(NotImplementedError, match="state_dict"):
        session.state()
    with pytest.raises(NotImplementedError, match="load_state_dict"):
        session.load({})
