"""The orders of the second loader, written from the pages of the specification alone.

Built-in orders, and custom samplers with all that a state holds of them.
"""

from __future__ import annotations

import copy
import hashlib
import random
from base64 import b64decode
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import second
import torch

# One step of an order: a batch of indices (without automatic batching one index), or an error.
Step = namedtuple("Step", "value error", defaults=(None,))


class ReplayMismatchError(RuntimeError):
    """A replay that does not give what was delivered before."""


def streams() -> tuple[Any, ...]:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()


def put_back(kept: tuple[Any, ...]) -> None:
    torch.set_rng_state(kept[0])
    random.setstate(kept[1])
    np.random.set_state(kept[2])


def seed(words: second.Words) -> None:
    torch.default_generator.manual_seed(words[0] >> 1)
    random.seed(words[1])
    np.random.seed(words[2] >> 32)


def is_stateful(value: object) -> bool:
    return all(callable(getattr(value, name, None)) for name in ("state_dict", "load_state_dict"))


def generator_kind(value: object) -> str | None:
    if isinstance(value, torch.Generator):
        return "torch"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "numpy"
    return "python" if isinstance(value, random.Random) else None


def restore_generator(generator: Any, state: Any) -> None:
    if isinstance(generator, torch.Generator):
        generator.set_state(torch.frombuffer(bytearray(b64decode(state)), dtype=torch.uint8))
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = arrays(state)
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(arrays(state))
    else:
        generator.setstate(tuples(state))


def arrays(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: arrays(value) for key, value in tree.items()}
    return np.array(tree, dtype=np.uint64) if isinstance(tree, list) else tree


def tuples(tree: Any) -> Any:
    return tuple(map(tuples, tree)) if isinstance(tree, list) else tree


class Sampling:
    """Custom samplers: what they are restored from, their streams and their batches of indices."""

    def __init__(self, root: int, plan: dict[str, Any], sampler: Any, batch_sampler: Any) -> None:
        self.root, self.size, self.tail = root, plan["batch_size"], plan["tail"]
        self.objects = {"sampler": sampler, "batch_sampler": batch_sampler}
        if batch_sampler is not None:
            self.objects["sampler"] = getattr(batch_sampler, "sampler", None)
        self.iterated = sampler if batch_sampler is None else batch_sampler
        self.outermost = self.iterated if self.size is None else SimpleNamespace(sampler=sampler)
        self.again = False
        self.with_epoch: Any = None

    def check(self, saved: dict[str, Any]) -> None:
        """Refuse what nothing here can load."""
        for slot in saved["stated"]:
            loads = is_stateful(self.objects.get(slot))
            second.need(loads or slot.endswith("_iter"), f"a Stateful {slot}")
        for one in saved["generators"]:
            generator = self.generator(one["path"])
            second.need(generator_kind(generator) == one["kind"], f"a generator at {one['path']}")
            try:
                restore_generator(copy.deepcopy(generator), one["state"])
            except (LookupError, RuntimeError, TypeError, ValueError) as error:
                raise second.StateFormatError(f"{one['path']}: {error}") from error

    def load_epoch(self, saved: dict[str, Any]) -> None:
        """Set the epoch of the samplers, which a program may set again before it iterates."""
        if saved["epoch"] is None:
            return
        found = [held for held in self.chain() if hasattr(held, "epoch")]
        second.need(found, "a sampler with an epoch")
        self.with_epoch = found[0]
        if hasattr(self.with_epoch, "set_epoch"):
            self.with_epoch.set_epoch(saved["epoch"])
        else:
            self.with_epoch.epoch = saved["epoch"]

    def chain(self) -> Iterator[Any]:
        """Give the user's samplers, from the outermost inwards."""
        held, seen = self.iterated, list[Any]()
        while held is not None and not any(held is one for one in seen):
            yield held
            seen.append(held)
            held = getattr(held, "sampler", getattr(held, "batch_sampler", None))

    def generator(self, path: str) -> Any:
        return reduce(
            lambda held, name: getattr(held, name, None), path.split(".")[1:], self.outermost
        )

    def check_epoch(self, saved: dict[str, Any]) -> None:
        """Refuse to continue an epoch after the program has set another one."""
        if saved["epoch"] not in (None, getattr(self.with_epoch, "epoch", None)):
            raise ReplayMismatchError("another epoch was set within the saved one")

    def begin(self, epoch: int, carried: list[Any]) -> None:
        """Begin an epoch where the samplers are."""
        self.epoch, self.buffer, self.ended = epoch, list(carried), False
        self.generators: list[Any] = []
        self.iterate()

    def restore(self, epoch: int, saved: dict[str, Any], carried: list[Any]) -> None:
        """Begin an epoch at the batch of a snapshot, or for a negative one at the epoch's start."""
        self.epoch, self.buffer, self.ended = epoch, list(carried), False
        self.generators = [(self.generator(g["path"]), g["state"]) for g in saved["generators"]]
        self.start()
        loaded = [slot for slot in ("batch_sampler", "sampler") if slot in saved["stated"]]
        for slot in loaded:
            self.run(self.objects[slot].load_state_dict, saved["states"][slot])
        self.iterator = self.run(iter, self.iterated)
        outer = "sampler_iter" if self.objects["batch_sampler"] is None else "batch_sampler_iter"
        for slot in set(saved["stated"]) - set(loaded):
            loads = slot == outer and is_stateful(self.iterator)
            second.need(loads, f"an iterator that loads {slot}")
            self.run(self.iterator.load_state_dict, saved["states"][slot])
        self.again = bool(loaded) and saved["batches"] <= 0
        if saved["batches"] < 0:
            for _ in range(-saved["batches"]):
                if self.step() is None:
                    break
            self.buffer, self.ended = [], False
            self.iterate()
        elif saved["batches"] > 0:
            self.buffer = []

    def iterate(self) -> None:
        self.start()
        self.iterator = self.run(iter, self.iterated)

    def start(self) -> None:
        """Bring the generators and the streams to the epoch's start."""
        for generator, state in self.generators:
            restore_generator(generator, state)
        kept = streams()
        seed(second.words(self.root, "sampler", self.epoch))
        self.streams = streams()
        put_back(kept)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run code of the samplers under their own streams."""
        kept = streams()
        put_back(self.streams)
        try:
            return function(*arguments)
        finally:
            self.streams = streams()
            put_back(kept)

    def take(self) -> Any:
        again, self.again = self.again, False
        try:
            return self.run(next, self.iterator)
        except StopIteration:
            if not again:
                raise
        self.iterate()
        return self.run(next, self.iterator)

    def step(self) -> Step | None:
        """Return the next batch of indices, or None at the end."""
        try:
            if self.size is None:
                return Step(self.take())
            while len(self.buffer) < self.size and not self.ended:
                try:
                    self.buffer.append(self.take())
                except StopIteration:
                    self.ended = True
            if len(self.buffer) < self.size and (self.tail != "keep" or not self.buffer):
                return None
        except StopIteration:
            return None
        except Exception as error:
            self.buffer = []
            return Step(None, error)
        batch, self.buffer = self.buffer, []
        return Step(batch)

    def left_over(self) -> list[Any]:
        return self.buffer if self.tail == "rollover" else []


class BuiltIn:
    """A built-in order."""

    def __init__(self, plan: dict[str, Any], epoch: int, first: int, carried: list[int]) -> None:
        self.plan, self.epoch, self.carried = plan, epoch, tuple(carried)
        self.batches = second.follow(plan, epoch, first, self.carried)

    def step(self) -> Step | None:
        found = next(self.batches, None)
        return None if found is None else Step(found[0] if self.plan["batch_size"] else found[0][0])

    def left_over(self) -> list[int]:
        if self.plan["tail"] != "rollover":
            return []
        return list(second.left_over(self.plan, self.epoch, self.carried))


def digest(start: str | None, steps: Iterable[Step]) -> str:
    found = hashlib.sha256().digest() if start is None else bytes.fromhex(start)
    for step in steps:
        try:
            text = second.encode(second.by_value(encodable(step.value)))
        except second.StateEncodingError:
            text = second.encode({"$opaque": type(step.value).__qualname__})
        found = hashlib.sha256(found + text).digest()
    return found.hex()


def encodable(value: Any) -> Any:
    """Return a value with the data of NumPy and torch as the second encoder takes them."""
    if isinstance(value, np.generic | np.ndarray):
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return second.Data(kind, value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        return second.Data("tensor", name, tuple(value.shape), value.numpy().tobytes())
    if type(value) in (list, tuple):
        return type(value)(map(encodable, value))
    if type(value) is dict:
        return {key: encodable(item) for key, item in value.items()}
    return value
