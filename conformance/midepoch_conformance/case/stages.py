"""Histories whose number of ranks changes: each stage goes on from the states of the one before.

The first session is that of one rank alone. The sessions of a stage follow, one for each of its
ranks, which all take the same steps. If the global batch size changes, too, the one rank delivers
samples one by one: so it leaves none out at an epoch's end. Pure; standard library only.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import (
    OF_CUT_RANKS,
    OF_DEALT_RANKS,
    Case,
    CaseError,
    SessionPlan,
    Step,
)
from midepoch_conformance.case.notation import usual
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload

__all__ = [
    "Cut", "Part", "Stage", "cuts_of", "for_one_epoch", "in_one_order", "lane_batches",
    "lanes_in_turn", "parts_of", "staged", "stages_of",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Stage:
    """So many ranks that load what the stage before has saved, and the steps that each takes."""

    execution: Execution
    """The execution of each rank, which has the number of ranks and that of the first one."""
    steps: tuple[Step, ...]
    """The steps after the load; of states the stage saves one at most, which has no name here."""
    batch_size: int = 0
    """The global batch size of its ranks; 0: the workload's."""
    adopts: bool = False
    """Whether its ranks are given no seed, and take that of the state which they load."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of an epoch that a stage delivers, counted in batches of one rank alone."""

    epoch: int
    first: int
    end: int | None = None
    """The batch before which it ends; None: the end of the epoch."""


Key = tuple[int, int]
"""A sample: its epoch, and its place in that epoch's order."""


@dataclasses.dataclass(frozen=True)
class Cut:
    """An epoch, or its rest, that a stage delivers in steps of its own global batch size."""

    epoch: int
    first: int
    """The samples of the epoch that are delivered before."""
    steps: list[list[Key]]
    """The samples of each step, with those that fill the last one up."""


def staged(family: str, w: Workload, stages: Sequence[Stage]) -> Case:
    """Return the history of these stages; one rank alone delivers as many epochs as they do.

    Raises:
        CaseError: the stages ask for what there is not.

    Example:
        >>> take, save, drain = Step("take", 1), Step("save"), Step("drain")
        >>> stages = [Stage(Execution(world=2), (take, save)), Stage(Execution(), (drain,))]
        >>> case = staged("history of ranks", Workload(ranks="shared"), stages)
        >>> [(plan.execution.world, len(plan.steps)) for plan in case.sessions]
        [(1, 1), (2, 2), (2, 2), (1, 2)]
    """
    if stages[0].adopts:
        raise CaseError("the first stage loads no state from which it could take a seed")
    if w.kind == "stateful_map" and any(for_one_epoch(stage.execution) for stage in stages):
        raise CaseError("the dataset would live for one epoch, and with one rank alone for the run")
    parts = cuts_of(w, stages) if family == OF_CUT_RANKS else parts_of(w, stages)
    epochs = 1 + max((part.epoch for found in parts for part in found), default=0)
    alone = Execution(lanes=stages[0].execution.lanes)
    one_by_one = _of_size(w, 1 if family == OF_CUT_RANKS else 0)
    sessions = [SessionPlan(alone, (Step("drain"),) * epochs, *usual(0), one_by_one)]
    before = 0
    for number, stage in enumerate(stages):
        world = stage.execution.world
        for rank in range(world):
            x = dataclasses.replace(stage.execution, rank=rank)
            load = _loads(family, number - 1, before, rank) if number else ()
            own = (
                dataclasses.replace(step, state=f"s{number}r{rank}") if step.do == "save" else step
                for step in stage.steps
            )
            own_facts = (*_of_size(w, stage.batch_size), *(("adopts", True),) * stage.adopts)
            sessions.append(SessionPlan(x, (*load, *own), *usual(len(sessions)), own_facts))
        before = world
    return Case(family, dataclasses.replace(w, epochs=epochs), tuple(sessions))


def for_one_epoch(x: Execution) -> bool:
    """Return whether the workers, and the dataset with them, live for one epoch."""
    return x.workers > 0 and not x.persistent


def _of_size(w: Workload, size: int) -> tuple[tuple[str, int], ...]:
    return (("batch_size", size),) if size not in (0, w.batch_size) else ()


def _loads(family: str, number: int, world: int, rank: int) -> tuple[Step, ...]:
    if family == OF_DEALT_RANKS and world > 1:
        return (Step("load_merged", state="/".join(f"s{number}r{r}" for r in range(world))),)
    # The states of all ranks are equal: a new rank takes that of any other one.
    return (Step("load", state=f"s{number}r{rank % world}"),)


def stages_of(case: Case) -> list[Stage]:
    """Return the stages of a history.

    Raises:
        CaseError: it is not the history of any stages.
    """
    found, index = list[Stage](), 1
    while index < len(case.sessions):
        plan = case.sessions[index]
        own = plan.steps[1:] if found else plan.steps
        nameless = (dataclasses.replace(s, state="") if s.do == "save" else s for s in own)
        size, adopts = (dict(plan.workload).get(name, 0) for name in ("batch_size", "adopts"))
        found.append(Stage(plan.execution, tuple(nameless), size, bool(adopts)))
        index += max(1, plan.execution.world)
    if len(found) < 2 or staged(case.probe, case.workload, found) != case:
        raise CaseError("these sessions are not the stages of one history")
    return found


def parts_of(w: Workload, stages: Sequence[Stage]) -> list[list[Part]]:
    """Return what each stage delivers.

    Raises:
        CaseError: a stage asks for a batch that not every rank has, saves at an end that was not
            seen, or has no state to load.
    """
    saved, found = Part(0, 0), []
    for number, stage in enumerate(stages):
        world, lanes = stage.execution.world, stage.execution.lanes or 0
        here, parts = saved, list[Part]()
        _check(stage, last=number + 1 == len(stages))
        for step in stage.steps:
            if step.do == "save":
                if here.first >= usual_length(w, stage.execution, here.epoch):
                    raise CaseError("a state at an end that was not seen has no sure position")
                saved = here
                continue
            # Before any lane has ended, the ranks together deliver one rank's next batches.
            after = here.first + step.n * (world if w.ranks == "dealt" else 1)
            if step.do == "take" and not 0 < after - here.first <= _sure(w, lanes, here):
                raise CaseError("not every rank has so many batches, in one rank's order")
            parts.append(Part(here.epoch, here.first, after if step.do == "take" else None))
            here = Part(here.epoch, after) if step.do == "take" else Part(here.epoch + 1, 0)
        found.append([*_joined(parts)])
    return found


def _check(stage: Stage, last: bool) -> None:
    """Refuse steps that no stage has, and a stage that leaves the next one nothing to load."""
    saves = 0
    for step in stage.steps:
        saves += step.do == "save"
        if step.do not in ("take", "drain", "save") or step.tolerate:
            raise CaseError(f"{step.do} is no step of a stage")
    if saves > 1 or not (saves or last):
        raise CaseError("each stage but the last one saves one state")


@dataclasses.dataclass(frozen=True)
class _Place:
    """A position in the sequence of samples, whatever the sizes of the steps before it."""

    w: Workload
    epoch: int = 0
    done: int = 0
    carried: tuple[Key, ...] = ()

    def samples(self) -> list[Key]:
        """Return the epoch's sequence."""
        return [*self.carried, *((self.epoch, place) for place in range(self.w.n))]

    def step(self, size: int) -> list[Key]:
        """Return the samples of the next step; none if the epoch ends here."""
        found = self.samples()[self.done : self.done + size]
        return found if self.w.tail == "keep" or len(found) == size else []

    def after_the_end(self) -> _Place:
        """Return the next epoch's beginning."""
        left = self.samples()[self.done :] if self.w.tail == "rollover" else []
        return _Place(self.w, self.epoch + 1, carried=tuple(left))


def cuts_of(w: Workload, stages: Sequence[Stage]) -> list[list[Cut]]:
    """Return what each stage delivers if the global batch size changes between them.

    Raises:
        CaseError: a stage asks for a batch that there is not, or a position is not sure.

    Example:
        >>> take, save, drain = Step("take", 1), Step("save"), Step("drain")
        >>> stages = [Stage(Execution(), (take, save)), Stage(Execution(), (drain,), 2)]
        >>> [cut.steps for cut in cuts_of(Workload(n=5, batch_size=3), stages)[1]]
        [[[(0, 3), (0, 4)]]]
    """
    saved, found = _Place(w), []
    for number, stage in enumerate(stages):
        last, size = number + 1 == len(stages), stage.batch_size or w.batch_size
        here, cuts = saved, [Cut(saved.epoch, saved.done, [])]
        _check(stage, last)
        if not (last or here.step(size)):
            raise CaseError("a loader may skip an epoch of which less than a batch is left")
        for step in stage.steps:
            if step.do == "save":
                if not here.step(size):
                    raise CaseError("a state at an end that was not seen has no sure position")
                saved = here
            for _ in range(step.n if step.do == "take" else w.n if step.do == "drain" else 0):
                batch = here.step(size)
                if batch:
                    cuts[-1].steps.append(_filled(batch, here.samples(), stage.execution.world))
                elif step.do == "take":
                    raise CaseError("the epoch has no such batch")
                here = dataclasses.replace(here, done=here.done + len(batch))
            if step.do == "drain":
                here = here.after_the_end()
                cuts.append(Cut(here.epoch, 0, []))
        found.append(cuts if cuts[-1].steps else cuts[:-1])
    return found


def _filled(batch: list[Key], sequence: list[Key], world: int) -> list[Key]:
    """Return a step's samples, which the sequence's beginning fills up for all ranks."""
    return [*batch, *(sequence[i % len(sequence)] for i in range(-len(batch) % world))]


def _sure(w: Workload, lanes: int, here: Part) -> int:
    """Return how many batches come in one rank's order, from a position on."""
    if w.ranks == "dealt":
        return in_one_order(w, lanes) - here.first
    return usual_length(w, Execution(), here.epoch) - here.first


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Yield the parts, those of one epoch as one."""
    for epoch, some in itertools.groupby(parts, key=lambda part: part.epoch):
        own = [*some]
        yield Part(epoch, own[0].first, own[-1].end)


def lane_batches(w: Workload, lanes: int, *, whole: bool = False) -> list[int]:
    """Return the number of batches of each lane in an epoch; ``whole``: of full ones.

    Example:
        >>> lane_batches(Workload("iterable", n=13, batch_size=2), 4)
        [2, 2, 2, 2]
        >>> lane_batches(Workload("iterable", n=13, batch_size=2), 4, whole=True)
        [2, 1, 1, 1]
    """
    spare = 0 if whole or w.tail == "drop" else w.batch_size - 1
    if w.kind == "stateful_map":  # its batches are dealt to the lanes, and not its samples
        return [len(range(lane, (w.n + spare) // w.batch_size, lanes)) for lane in range(lanes)]
    return [(len(w.share(lane, lanes)) + spare) // w.batch_size for lane in range(lanes)]


def in_one_order(w: Workload, lanes: int) -> int:
    """Return how many batches of an epoch any number of ranks delivers in one rank's order.

    These are all of a map-style dataset's, and those of a stream before its first lane ends.

    Example:
        >>> kinds = ("iterable", "stateful_map")
        >>> [in_one_order(Workload(kind, n=13, batch_size=2), 4) for kind in kinds]
        [4, 7]
    """
    if w.kind == "stateful_map":
        return sum(lane_batches(w, lanes))
    return min(lane_batches(w, lanes, whole=True), default=0) * lanes


def lanes_in_turn(batches: Sequence[int], done: Sequence[int], of: Sequence[int]) -> list[int]:
    """Return the lanes of a rank's batches, in the order in which it delivers them.

    Args:
        batches: the number of batches of each lane.
        done: how many of them are delivered.
        of: the rank's lanes.

    Example:
        >>> lanes_in_turn([3, 1, 2, 2], [0, 0, 0, 0], [0, 2])
        [0, 2, 0, 2, 0]
    """
    turns = sorted((at, lane) for lane in of for at in range(done[lane], batches[lane]))
    return [lane for _, lane in turns]
