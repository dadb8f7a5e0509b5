"""Where the batches of indices come from: arithmetic, or a sampler of the user's.

An item is ("range", start, stop): positions of the order; ("keys", list); ("one", key): a sample without a batch;
("error", exception): the sampler raised; or None: the order has ended.
"""
import copy
import hashlib
import pickle
import random
import warnings

import numpy
import torch

from . import dice
from .bench import stateful
from .errors import BadState, ReplayError
from .order import order, words

EMPTY = hashlib.sha256(b"").digest()


class Counted:
    """The built-in orders: every item follows from its number."""

    def __init__(self, length, seed, epoch, shuffle, batch_size, tail, carried=()):
        self.length, self.size, self.tail = length, batch_size, tail
        self.order = order(length, seed, epoch, shuffle)
        self.carried = [i for i in carried if i < length]
        total = len(self.carried) + length
        self.total = total
        self.batches = total if batch_size is None else -(-total // batch_size) if tail == "keep" else total // batch_size

    def item(self, i):
        if i >= self.batches:
            return None
        if self.size is None:
            return "one", self.order.at(i, i + 1)[0]
        start, stop = i * self.size, min((i + 1) * self.size, self.total)
        c = len(self.carried)
        if start >= c:
            return "range", start - c, stop - c
        return "keys", self.carried[start:stop] + self.order.at(0, max(0, stop - c))

    def leftover(self):
        """What the epoch leaves over, under the tail rollover."""
        if self.tail != "rollover":
            return ()
        start, c = self.batches * self.size, len(self.carried)
        return tuple(self.carried[start:] + self.order.at(max(0, start - c), self.length))

    # a counted feed has nothing to keep
    drawn = 0

    def mark(self, delivered, need):
        return None

    def rewind(self, delivered):
        pass

    def forget(self, need):
        pass


def chain(sampler):
    """The sampler and the samplers within it, the outermost first."""
    found = []
    while sampler is not None and not any(sampler is s for s in found) and not isinstance(sampler, (list, tuple, range)):
        found.append(sampler)
        within = getattr(sampler, "sampler", None)
        sampler = within if within is not None else getattr(sampler, "batch_sampler", None)
    return found


def generators(sampler):
    """The random generators that the samplers hold: {(depth, attribute): generator}."""
    found = {}
    for depth, obj in enumerate(chain(sampler)):
        for name, value in getattr(obj, "__dict__", {}).items():
            if isinstance(value, (torch.Generator, numpy.random.Generator, numpy.random.RandomState, random.Random)):
                found[depth, name] = value
    return found


def read_generator(g):
    if isinstance(g, torch.Generator):
        return "torch", g.get_state().numpy().tobytes()
    if isinstance(g, numpy.random.Generator):
        return "numpy", copy.deepcopy(g.bit_generator.state)
    if isinstance(g, numpy.random.RandomState):
        return "numpy legacy", g.get_state(legacy=False)
    return "python", g.getstate()


def write_generator(g, saved):
    kind, state = saved
    if kind == "torch":
        g.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    elif kind == "numpy":
        g.bit_generator.state = state
    elif kind == "numpy legacy":
        g.set_state(state)
    else:
        g.setstate(state)


def read_epoch(sampler):
    """(object, epoch) of the outermost sampler that has an integer epoch, or (None, None)."""
    for obj in chain(sampler):
        epoch = getattr(obj, "epoch", None)
        if type(epoch) is int:
            return obj, epoch
    return None, None


def write_epoch(sampler, epoch):
    obj, now = read_epoch(sampler)
    if obj is None or epoch is None or now == epoch:
        return
    if callable(getattr(obj, "set_epoch", None)):
        obj.set_epoch(epoch)
    else:
        obj.epoch = epoch


def share(sampler):
    """(rank, ranks) that a sampler deals, or None."""
    for obj in chain(sampler):
        rank, ranks = getattr(obj, "rank", None), getattr(obj, "num_replicas", None)
        if type(rank) is int and type(ranks) is int:
            return rank, ranks
    return None


def check(sampler, mark):
    """BadState if the mark has parts that nothing in this sampler can load."""
    here = generators(sampler)
    for path, saved in mark["generators"].items():
        if path not in here or read_generator(here[path])[0] != saved[0]:
            raise BadState(f"the state has a generator at {path} of the sampler, and this sampler has none of its kind there")
        write_generator(copy.deepcopy(here[path]) if saved[0] != "torch" else torch.Generator(), saved)
    objects = chain(sampler)
    for depth in pickle.loads(mark["states"]) if mark["states"] else ():
        if depth != "iterator" and (depth >= len(objects) or not stateful(objects[depth])):
            raise BadState(f"the state has a state for sampler {depth}, which has no load_state_dict here")


def _plain(value):
    """Text for the digest of what a sampler gave."""
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{','.join(map(_plain, value))}]"
    if isinstance(value, (bool, numpy.bool_)):
        return str(bool(value))
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    if isinstance(value, (str, bytes, float, type(None))):
        return repr(value)
    return type(value).__name__


def _kept(value):
    """The value as it is now: a sampler may fill one list again and again."""
    if isinstance(value, list):
        return [_kept(v) for v in value]
    if isinstance(value, (torch.Tensor, numpy.ndarray)):
        return copy.deepcopy(value)
    if isinstance(value, dict):
        return {k: _kept(v) for k, v in value.items()}
    return value


class Drawn:
    """A sampler of the user's, drawn batch by batch.

    A mark is what a later process needs: the generators and the epoch at the start of the pass, the states of the Stateful
    objects after b batches, and the digests. Marks are made at the first batch of a pass and each `every` batches, and a
    resume draws what lies between the mark and the position again.
    """

    def __init__(self, sampler, batches, seed, epoch, batch_size, tail, every, carried=()):
        self.sampler, self.gives_batches, self.size, self.tail = sampler, batches, batch_size, tail
        self.every, self.carried, self.seed, self.epoch = every, list(carried), seed, epoch
        self.private, self.iterator, self.ended, self.restored = [], None, False, False
        self.drawn, self.ahead, self.part, self.rest = 0, {}, list(carried), ()
        self.digests, self.marks = {0: EMPTY}, []
        self.start = None

    # -- marks -----------------------------------------------------------------------------------------------------

    def states(self):
        """The states of the Stateful objects, pickled; None if nothing has one; raises what they raise."""
        found = {}
        for depth, obj in enumerate(chain(self.sampler)):
            if stateful(obj) and obj is not self.iterator:
                found[depth] = obj.state_dict()
        if self.iterator is not None and stateful(self.iterator):
            found["iterator"] = self.iterator.state_dict()
        return pickle.dumps(found, 4) if found else None

    def begin(self):
        """Notes the start of a pass: nothing is drawn yet."""
        if self.start is None:
            gens = {path: read_generator(g) for path, g in generators(self.sampler).items()}
            self.start = {"generators": gens, "epoch": read_epoch(self.sampler)[1]}
            with dice.apart():
                self.marks = [(0, self.states(), EMPTY)]

    def take_mark(self):
        every = self.every or 1 << 62
        if self.drawn != 1 and self.drawn % every:
            return
        try:
            states = self.states()
        except Exception as e:
            warnings.warn(f"the state of the sampler could not be taken ({type(e).__name__}: {e})", stacklevel=1)
            return
        if states is not None:
            self.marks.append((self.drawn, states, self.digests[self.drawn]))

    def mark(self, delivered, need):
        """What a resume needs at this position, if it has to know the batches from `need` on."""
        self.begin()
        best, first = self._best(need), None
        if best[0] == 0 and self.after_break and len(self.marks) > 1 and 0 in self.ahead:
            # the pass before was left, so the state at the start is one within that pass: only those of this pass are safe
            best, first = self.marks[1], self.ahead[0]
        return {**self.start, "b": best[0], "states": best[1], "digest b": best[2],
                "digest": self.digests.get(delivered, EMPTY), "first": first}

    def _best(self, need):
        return [m for m in self.marks if m[0] <= need][-1]

    def forget(self, need):
        """Batches before this one will not be asked for again."""
        if self.start is None or need < self.marks[0][0]:
            return
        for table in (self.ahead, self.digests):
            for i in [i for i in table if i < need]:
                del table[i]
        b = self._best(need)[0]
        self.marks = [m for m in self.marks if m[0] >= b]

    after_break = False  # the pass before was left, and the sampler has a state

    def restore(self, mark, delivered):
        """Draws up to this position from a mark."""
        self.start = {"generators": mark["generators"], "epoch": mark["epoch"]}
        self._enter(mark)
        self.drawn = b = mark["b"]
        self.digests = {b: mark["digest b"]}
        self.marks = [(b, mark["states"], mark["digest b"])]
        if b:
            self.part = []
        if mark["first"] is not None:
            self.after_break, self.ahead[0] = True, mark["first"]
            self.digests[0] = EMPTY
            self.marks.insert(0, (0, None, EMPTY))
        while self.drawn < delivered:
            if self.draw() is None:
                break
        if self.drawn < delivered or self.digests[delivered] != mark["digest"]:
            raise ReplayError(f"the sampler gave other indices than in the run before, among the first {delivered} batches of "
                              f"epoch {self.epoch}: build it as it was built then")

    def _enter(self, mark):
        """The sampler's objects as the mark has them, and their iterator."""
        here = generators(self.sampler)
        self.private = []
        for path, saved in mark["generators"].items():
            write_generator(here[path], saved)
        with self._streams():
            epoch = read_epoch(self.sampler)[1]
            states = pickle.loads(mark["states"]) if mark["states"] else {}
            for depth, obj in enumerate(chain(self.sampler)):
                if depth in states:
                    obj.load_state_dict(states[depth])
            write_epoch(self.sampler, epoch)
            self.iterator = iter(self.sampler)
            if "iterator" in states:
                self.iterator.load_state_dict(states["iterator"])
        self.restored = bool(states) and mark["b"] == 0

    def rewind(self, delivered):
        """Puts the sampler's objects to where they were after this many batches: what was drawn ahead is undone."""
        first = self.after_break and delivered == 1
        if self.iterator is None or (self.drawn == delivered and not self.ended and not first):
            return
        # from a mark before the last batch: what was loaded is used up only when something is drawn
        mark = self.mark(delivered, delivered - 1)
        if mark["states"] is None and not mark["generators"]:
            return
        now = read_epoch(self.sampler)[1]
        write_epoch(self.sampler, mark["epoch"])
        again = Drawn(self.sampler, self.gives_batches, self.seed, self.epoch, self.size, self.tail, self.every, self.carried)
        again.restore(mark, delivered)
        if first:
            again.draw()
        write_epoch(self.sampler, now)
        self.iterator = again.iterator = None

    # -- drawing ---------------------------------------------------------------------------------------------------

    def _streams(self):
        if not self.private:
            with dice.apart(self.private):
                dice.seed_streams(words(self.seed, "sampler", self.epoch))
        return dice.apart(self.private)

    def _next(self):
        """The sampler's next value."""
        if self.iterator is None:
            self.iterator = iter(self.sampler)
        try:
            value = next(self.iterator)
        except StopIteration:
            if not self.restored:
                raise
            # it kept the state of an end for one iteration: that was the pass before
            here = generators(self.sampler)
            for path, saved in self.start["generators"].items():
                write_generator(here[path], saved)
            dice.seed_streams(words(self.seed, "sampler", self.epoch))
            self.restored, self.iterator = False, iter(self.sampler)
            value = next(self.iterator)
        self.restored = False
        return _kept(value)

    def draw(self):
        """Draws the next item; None at the end."""
        if self.ended:
            return None
        self.begin()
        index = self.drawn
        try:
            with self._streams():
                if self.gives_batches:
                    value = self._next()
                    item = ("keys", value)
                elif self.size is None:
                    value = self._next()
                    item = ("one", value)
                else:
                    while len(self.part) < self.size:
                        self.part.append(self._next())
                    value, self.part = self.part, []
                    item = ("keys", value)
        except StopIteration:
            self.ended = True
            left, self.part = self.part, []
            if not left or self.tail != "keep":
                self.rest = tuple(left) if self.tail == "rollover" else ()
                return None
            value, item = left, ("keys", left)
        except Exception as e:
            self.part = []
            value, item = None, ("error", e)
        self.digests[index + 1] = hashlib.sha256(self.digests[index] + _plain(value).encode("utf-8", "replace")).digest()
        self.ahead[index] = item
        self.drawn += 1
        if not self.ended and item[0] != "error":
            with self._streams():
                self.take_mark()
        return item

    def item(self, i):
        """Item i: the next one to draw, or one that was drawn and not yet forgotten."""
        while i not in self.ahead:
            if self.draw() is None:
                return None
        return self.ahead[i]

    def leftover(self):
        return self.rest
