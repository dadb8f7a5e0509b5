"""A second loader of the format, written from the pages of the specification alone.

It has no workers. It takes a state, the user's dataset and samplers, and gives the rest of the
saved epoch and the epochs after it.
"""

from __future__ import annotations

import copy
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import second
import torch.utils.data._utils.worker as torch_worker
from second_samplers import (
    BuiltIn,
    ReplayMismatchError,
    Sampling,
    Step,
    digest,
    is_stateful,
    put_back,
    seed,
    streams,
)

# The worker information that a lane's code asks for, and the batch that it makes.
Place = namedtuple("Place", "lane lanes seed dataset")
Making = namedtuple("Making", "epoch index lane seed")
Informed = Callable[[Any, Any], AbstractContextManager[Any]]


@contextmanager
def worker_information(place: Any, making: Any) -> Iterator[None]:
    """Tell code of a lane its place, in PyTorch's way."""
    kept, info = torch_worker._worker_info, None
    if place is not None:
        told = {"id": place.lane, "num_workers": place.lanes, "seed": place.seed}
        info = torch_worker.WorkerInfo(**told, dataset=place.dataset)
    torch_worker._worker_info = info
    try:
        yield
    finally:
        torch_worker._worker_info = kept


class Lane:
    """A lane: its copy of the dataset, and the batches that it makes."""

    def __init__(self, loader: Loader, number: int) -> None:
        self.loader, self.number = loader, number
        self.place: Place | None = None
        self.dataset: Any = None
        self.samples: Any = None
        self.again = False

    def words(self, purpose: str, *numbers: int) -> second.Words:
        return second.words(self.loader.root, purpose, *numbers)

    def run(
        self, words: second.Words, function: Callable[..., Any], *arguments: Any, at: Any = None
    ) -> Any:
        """Run code of the lane under seeds of its own, then put the caller's streams back."""
        kept = streams()
        seed(words)
        try:
            with self.loader.informed(self.place, at):
                return function(*arguments)
        finally:
            put_back(kept)

    def set_up(self, epoch: int) -> None:
        """Have the dataset for an epoch."""
        self.begun = self.words("lane", epoch, self.number)
        self.epoch, self.made, self.ended = epoch, 0, False
        whole_run, lanes = self.loader.plan["lifetime"] == "run", self.loader.plan["lanes"]
        if self.dataset is not None and whole_run:
            return
        self.dataset = copy.deepcopy(self.loader.dataset)
        if lanes:
            numbers = (self.number,) if whole_run else (epoch, self.number)
            words = self.words("worker", *numbers)
            self.place = Place(self.number, lanes, words[0] >> 1, self.dataset)
            self.run(words, self.loader.set_up, self.number)

    def begin(self, epoch: int) -> None:
        self.set_up(epoch)
        self.iterate()

    def iterate(self) -> None:
        if self.loader.iterable:
            self.iterator = self.run(self.begun, iter, self.dataset)

    def restore(self, epoch: int, entry: dict[str, Any], steps: list[Step]) -> None:
        """Restore the lane; for a map-style dataset from the steps of its batches to replay."""
        self.set_up(epoch)
        self.ended = entry["ended"]
        fresh = self.loader.plan["lifetime"] == "epoch" or not is_stateful(self.dataset)
        if self.ended and fresh:
            return
        ordinal, stated = entry["ordinal"], entry["stated"]
        if "dataset" in stated:
            self.run(self.begun, self.dataset.load_state_dict, entry["dataset"])
            self.again = self.ended or ordinal <= 0
        if self.ended and not entry["replay"] and ordinal >= 0:
            return
        self.iterate()
        if "iterator" in stated:
            second.need(is_stateful(self.iterator), "an iterator that loads its state")
            self.run(self.begun, self.iterator.load_state_dict, entry["iterator"])
        errors = set(entry["errors"])
        self.ended = False
        for number in range(-ordinal):
            if not self.replayed(number in errors, None, drawn=False):
                break
        if ordinal < 0:
            self.ended = False
            self.iterate()
        self.made = max(0, ordinal)
        made: list[Any] = []
        for number in range(entry["replay"]):
            step, self.samples = steps[number] if steps else None, None
            if not self.replayed(number + max(0, -ordinal) in errors, step):
                raise ReplayMismatchError("a lane ends before the batches delivered from it")
            made.append(self.samples)
        self.compare(entry["content"], made)
        if entry["ended"] and not self.ended and self.replayed(False, None):
            raise ReplayMismatchError("a lane that had ended has another batch")

    def compare(self, content: str | None, made: list[Any]) -> None:
        """Compare the samples of the replayed batches with a content; None stands for an error."""
        check = self.loader.known_by
        if check is None or content is None:
            return
        known = [Step(None if samples is None else check(samples)) for samples in made]
        if digest(None, known) != content:
            raise ReplayMismatchError("the batches delivered from a lane held other samples")

    def replayed(self, raised: bool, step: Step | None, *, drawn: bool = True) -> bool:
        """Make a batch again, under draws that are those of the first run; tell whether it is."""
        try:
            if self.loader.iterable:
                self.make(collated=False)
            elif step is not None and step.error is None:
                self.make(step.value, collated=False)
            else:
                self.made += 1
                return True
        except StopIteration:
            return False
        except Exception:
            if not raised:
                raise
            return True
        if raised and drawn:
            raise ReplayMismatchError("a batch that had raised raises nothing")
        return True

    def make(self, indices: Any = None, *, collated: bool = True) -> Any:
        """Make the next batch, of a stream or of indices; StopIteration if the lane ends."""
        purpose, index = "batch.iterable", self.made
        numbers: tuple[int, ...] = (self.epoch, self.number, index)
        if not self.loader.iterable:
            index = index * len(self.loader.lanes) + self.number
            purpose, numbers = "batch.map", (self.epoch, index)
        self.seeds = self.words(purpose, *numbers)
        making = Making(self.epoch, index, self.number, self.seeds[3] >> 1)
        self.made += 1
        return self.run(self.seeds, self.fetch, indices, collated, at=making)

    def fetch(self, indices: Any, collated: bool) -> Any:
        self.samples = samples = self.read() if self.loader.iterable else self.look_up(indices)
        return self.loader.collate(samples) if collated else None

    def read(self) -> Any:
        samples: list[Any] = []
        size = self.loader.plan["batch_size"]
        while len(samples) < (size or 1):
            again, self.again = self.again, False
            try:
                samples.append(next(self.iterator))
                continue
            except StopIteration:
                self.ended = not again
            if self.ended:
                break
            seed(self.begun)
            self.iterator = iter(self.dataset)
            seed(self.seeds)
        if len(samples) < (size or 1) and (not samples or self.loader.plan["tail"] == "drop"):
            raise StopIteration
        return samples if size else samples[0]

    def look_up(self, indices: Any) -> Any:
        try:
            if not self.loader.batched:
                return self.dataset[indices]
            if hasattr(self.dataset, "__getitems__"):
                return self.dataset.__getitems__(indices)
            return [self.dataset[index] for index in indices]
        except StopIteration as error:
            raise RuntimeError("StopIteration of a map-style dataset") from error


class Loader:
    """A loader that has loaded a state."""

    def __init__(
        self,
        dataset: Any,
        state: Any,
        plan: dict[str, Any],
        *,
        sampler: Any = None,
        batch_sampler: Any = None,
        collate: Callable[[Any], Any] = list,
        known_by: Callable[[Any], Any] | None = None,
        set_up: Callable[[int], object] = id,
        informed: Informed = worker_information,
    ) -> None:
        """Load a state, or refuse it. The plan is the loader's own, all of it given explicitly."""
        second.validate(state, plan)
        self.saved, self.known_by = copy.deepcopy(state), known_by
        self.plan, self.position = self.saved["plan"], self.saved["position"]
        self.root, self.iterable = int(self.plan["seed"]), self.plan["dataset"] == "iterable"
        self.batched = batch_sampler is not None or self.plan["batch_size"] is not None
        self.dataset, self.collate, self.set_up, self.informed = dataset, collate, set_up, informed
        if self.plan["length"] is not None:
            self.plan["length"] = plan["length"]
        custom = self.plan["sampler"] == "custom"
        self.sampling = Sampling(self.root, self.plan, sampler, batch_sampler) if custom else None
        self.lanes = [Lane(self, number) for number in range(max(1, self.plan["lanes"]))]
        self.check()

    def check(self) -> None:
        """Refuse a share of another rank, and what nothing here can load."""
        share = self.share()
        if self.position["batches"] and self.position["share"] != share:
            raise second.PlanMismatchError({"share": (self.position["share"], share)})
        lanes = self.saved["lanes"]
        if lanes is not None:
            stated = any("dataset" in entry["stated"] for entry in lanes["entries"])
            needed = stated or not self.iterable
            second.need(is_stateful(self.dataset) or not needed, "a Stateful dataset")
        elif self.position["batches"]:
            second.need(not is_stateful(self.dataset), "lanes of a Stateful dataset")
        if self.sampling is not None:
            self.sampling.check(self.saved["sampler"])
            self.sampling.load_epoch(self.saved["sampler"])

    def share(self) -> dict[str, int] | None:
        """Return the share of the order that the samplers deal this rank."""
        for held in self.sampling.chain() if self.sampling else ():
            rank, world = getattr(held, "rank", None), getattr(held, "num_replicas", None)
            if type(rank) is int and type(world) is int and 0 <= rank < world:
                return {"rank": rank, "world": world}
        return None

    def epochs(self) -> Iterator[Iterator[Any]]:
        """Give the rest of the saved epoch; then each epoch, once the one before has ended."""
        number = self.position["epoch"]
        if self.iterable:
            yield self.restored_stream(number)
        else:
            dealing = self.restored_map(number)
            yield dealing
        while True:
            number += 1
            for lane in self.lanes:
                lane.begin(number)
            if self.iterable:
                yield Streaming(self, 0)
            else:
                dealing = self.next_map(number, dealing.left_over())
                yield dealing

    def restored_stream(self, number: int) -> Streaming:
        for lane, entry in zip(self.lanes, self.saved["lanes"]["entries"], strict=True):
            lane.restore(number, entry, [])
        return Streaming(self, self.saved["lanes"]["next"])

    def next_map(self, number: int, carried: list[Any]) -> Dealing:
        if self.sampling is None:
            return Dealing(self, BuiltIn(self.plan, number, 0, carried), 0, [])
        self.sampling.begin(number, carried)
        return Dealing(self, self.sampling, 0, [])

    def restored_map(self, number: int) -> Dealing:
        ahead, carried = self.position["ahead"], self.position["carried"] or []
        low = self.position["batches"] - len(ahead)
        reach = ahead[-1] + 1 if ahead else low
        entries = self.saved["lanes"]["entries"] if self.saved["lanes"] else []
        replayed = [
            n * len(self.lanes) + lane
            for lane, entry in enumerate(entries)
            for n in range(entry["ordinal"], entry["ordinal"] + entry["replay"])
        ]
        first, saved = min([low, *replayed]), self.saved["sampler"]
        order: Any
        if self.sampling is None:
            length = self.plan["length"]
            order = BuiltIn(self.plan, number, first, [x for x in carried if x < length])
        else:
            order, first = self.sampling, max(0, saved["batches"])
            if self.position["batches"]:
                order.check_epoch(saved)
            order.restore(number, saved, carried)
        steps = dict(zip(range(first, reach), iter(order.step, None), strict=False))
        if saved and digest(saved["digest"], steps.values()) != self.position["digest"]:
            raise ReplayMismatchError("the sampler gives other indices than those delivered")
        for lane in self.lanes:
            if entries:
                entry = entries[lane.number]
                ordinals = range(entry["ordinal"], entry["ordinal"] + entry["replay"])
                mine = [steps[n * len(self.lanes) + lane.number] for n in ordinals]
                lane.restore(number, entry, mine)
            else:
                lane.begin(number)
        waiting = [(i, steps[i]) for i in range(low, reach) if i not in ahead]
        return Dealing(self, order, reach, waiting)


class Dealing:
    """An epoch of a map-style dataset, from a batch on; the steps that wait come first."""

    def __init__(self, loader: Loader, order: Any, index: int, waiting: list[Any]) -> None:
        self.loader, self.left_over, self.waiting = loader, order.left_over, waiting
        self.steps = enumerate(iter(order.step, None), index)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        index, step = self.waiting.pop(0) if self.waiting else next(self.steps)
        lanes = self.loader.lanes
        lane = lanes[index % len(lanes)]
        lane.made = index // len(lanes)
        if step.error is not None:
            raise step.error
        return lane.make(step.value)


class Streaming:
    """An epoch of an iterable dataset, from a lane's turn on."""

    def __init__(self, loader: Loader, turn: int) -> None:
        self.lanes, self.turn = loader.lanes, turn

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while not all(lane.ended for lane in self.lanes):
            lane = self.lanes[self.turn]
            self.turn = (self.turn + 1) % len(self.lanes)
            try:
                if not lane.ended:
                    return lane.make()
            except StopIteration:
                lane.ended = True
        raise StopIteration
