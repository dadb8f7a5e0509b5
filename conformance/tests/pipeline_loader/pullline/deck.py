"""The deck: which indices each batch of an epoch has.  It is drawn whole when an epoch opens, so a
user's sampler always stands between two passes, however far the workers read ahead."""
import hashlib
import random

import numpy
import torch

from .codec import canonical, freeze, thaw
from .errors import ReplayMismatch
from .place import Place, at, derive


def shuffled(n, key):
    """The order of n samples: ascending by a bijective 64-bit mix of their number and the key."""
    with numpy.errstate(over="ignore"):
        x = numpy.arange(n, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(key >> 64 & 2**64 - 1)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, (key & 2**64 - 1) | 1)):
            x = (x ^ (x >> numpy.uint64(shift))) * numpy.uint64(factor)
        x ^= x >> numpy.uint64(32)
    return numpy.argsort(x, kind="stable")


def stateful(thing):
    return callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None))


# -- users' samplers -------------------------------------------------------------------------------

def _get(gen):
    if isinstance(gen, torch.Generator):
        return ["torch", gen.get_state()]
    if isinstance(gen, random.Random):
        return ["random", gen.getstate()]
    if isinstance(gen, numpy.random.Generator):
        return ["numpy", gen.bit_generator.state]
    if isinstance(gen, numpy.random.RandomState):
        return ["numpy.old", gen.get_state()]
    return None


def _set(gen, kept):
    kind, value = kept
    if kind == "torch":
        gen.set_state(value)
    elif kind == "random":
        gen.setstate(value)
    elif kind == "numpy":
        gen.bit_generator.state = value
    else:
        gen.set_state(value)


class Feed:
    """A user's sampler or batch sampler with everything in it that has a state."""

    def __init__(self, sampler):
        self.sampler = sampler
        self.chain, thing = [], sampler
        while thing is not None and all(thing is not t for t in self.chain) and len(self.chain) < 16:
            self.chain.append(thing)
            inner = getattr(thing, "sampler", None)
            thing = inner if inner is not None else getattr(thing, "batch_sampler", None)
        self.name = "/".join(f"{type(t).__module__}.{type(t).__qualname__}" for t in self.chain)

    def _generators(self):
        for depth, thing in enumerate(self.chain):
            for name, value in sorted(getattr(thing, "__dict__", {}).items()):
                if _get(value) is not None:
                    yield f"{depth}.{name}", value

    def _objects(self):
        for depth, thing in enumerate(self.chain):
            if stateful(thing):
                yield str(depth), thing

    def mark(self):
        """The sampler as it is between two passes."""
        return {"gens": {k: freeze(_get(g)) for k, g in self._generators()},
                "objs": {k: freeze(o.state_dict()) for k, o in self._objects()}}

    def fits(self, mark):
        live = {k: _get(g)[0] for k, g in self._generators()}
        return (live == {k: v[0] for k, v in mark["gens"].items()}
                and {k for k, _ in self._objects()} == set(mark["objs"]))

    def _wind(self, mark):
        for k, g in self._generators():
            _set(g, thaw(mark["gens"][k]))

    def draw(self, mark, restore, seed, epoch, batched):
        """All that one pass gives.  A batch is copied at once: its list may be used again."""
        place = Place(0, 1, epoch, derive(seed, "sampler", epoch))
        with at(place, "scoped"):
            if restore:
                for k, o in self._objects():
                    epoch = getattr(o, "epoch", None)
                    o.load_state_dict(thaw(mark["objs"][k]))
                    if epoch is not None and o.epoch != epoch and hasattr(o, "set_epoch"):
                        o.set_epoch(epoch)  # the caller has set it since
                self._wind(mark)
            items = [list(b) for b in self.sampler] if batched else list(self.sampler)
            if restore and not items and mark["objs"]:
                items = None  # it may have been loaded at the end of its pass before
        if items is None:
            with at(place, "scoped"):
                self._wind(mark)
                items = [list(b) for b in self.sampler] if batched else list(self.sampler)
        return items


# -- an epoch's deck -------------------------------------------------------------------------------

class Deck:
    """The batches of one epoch of a map-style dataset."""

    def __init__(self, epoch, items, size, tail, batched):
        self.epoch, self.items, self.size = epoch, items, size or 1
        self.batched = batched
        n = len(items)
        whole = n // self.size
        if batched:
            self.count, self.left = n, []
        elif tail == "keep":
            self.count, self.left = -(-n // self.size), []
        else:
            self.count = whole
            self.left = [self._plain(v) for v in items[whole * self.size:]] if tail == "rollover" else []

    @staticmethod
    def _plain(v):
        return int(v) if isinstance(v, numpy.integer) else v

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.batched:
            return list(self.items[i])
        part = self.items[i * self.size:(i + 1) * self.size]
        return part.tolist() if isinstance(part, numpy.ndarray) else list(part)

    def digest(self):
        h = hashlib.sha256()
        for i in range(self.count):
            try:
                h.update(canonical(freeze([self._plain(v) for v in self[i]])).encode())
            except TypeError:
                h.update(b"?")
        return h.hexdigest()


def deal(loader, cursor, mark, restore):
    """The deck of the cursor's epoch."""
    carry, digest = [thaw(v) for v in cursor.carry], None
    if loader.feed is None:
        n = len(loader.dataset)
        key = derive(loader.seed, "order", cursor.epoch)
        items = shuffled(n, key) if loader.shuffle else numpy.arange(n)
        if carry:
            items = numpy.concatenate([numpy.array([c for c in carry if c < n], dtype=items.dtype), items])
    else:
        items = carry + loader.feed.draw(mark, restore, loader.seed, cursor.epoch, loader.batched)
    deck = Deck(cursor.epoch, items, loader.batch_size, loader.tail, loader.batched)
    if loader.feed is not None:
        digest = deck.digest()
        if cursor.given and cursor.digest is not None and digest != cursor.digest:
            raise ReplayMismatch("the sampler gives another order than in the run that saved this state; "
                                 "resume with the same sampler, or start the epoch anew")
    elif cursor.given and cursor.length != len(loader.dataset):
        raise ReplayMismatch(f"the dataset has {len(loader.dataset)} samples, and had {cursor.length} "
                             "when this epoch began")
    deck.mark = digest
    return deck
