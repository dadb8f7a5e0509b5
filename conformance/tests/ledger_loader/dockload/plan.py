"""The book of an epoch: the keys of each batch, written before the first one is made."""
import hashlib
import pickle
import random

import numpy
import torch

from . import seeds
from .errors import ReplayMismatch, SamplerFault

STUBBORN = 16  # a sampler that raises so often without a value between is taken to have ended


class Book:
    """Entries from `offset` on: (keys, place of the first), or a SamplerFault.

    `sizes`: of shared ranks, the samples of all ranks in each entry, without those that fill the last one up.
    """

    def __init__(self, entries=(), offset=0, leftover=(), start=None, sizes=None):
        self.sizes = sizes
        self.entries, self.offset, self.leftover, self.start = list(entries), offset, list(leftover), start
        self.chain = [hashlib.sha256(b"").hexdigest()]

    def __len__(self):
        return self.offset + len(self.entries)

    def __getitem__(self, i):
        return self.entries[i - self.offset]

    def digest(self, count):
        """The digest of the first `count` entries."""
        while len(self.chain) <= count:
            entry = self.entries[len(self.chain) - 1]
            text = "fault" if isinstance(entry, SamplerFault) else spelled(entry[0])
            self.chain.append(hashlib.sha256(f"{self.chain[-1]}|{text}".encode()).hexdigest())
        return self.chain[count]


def spelled(value):
    """A text for keys, equal for equal ones in every process."""
    if isinstance(value, (numpy.integer, torch.Tensor)) and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, (list, tuple)):
        return "(" + ",".join(map(spelled, value)) + ")"
    if isinstance(value, dict):
        return "{" + ",".join(f"{spelled(k)}:{spelled(v)}" for k, v in value.items()) + "}"
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    return type(value).__qualname__


def chain_of(sampler):
    """The sampler, the one within it, and so on."""
    found = []
    while sampler is not None and all(sampler is not s for s in found) and len(found) < 32:
        found.append(sampler)
        inner = getattr(sampler, "sampler", None)
        sampler = getattr(sampler, "batch_sampler", None) if inner is None else inner
    return found


def stateful(thing):
    return callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None))


def generators(sampler):
    """(name, generator) for each random generator that the chain of samplers holds."""
    for depth, s in enumerate(chain_of(sampler)):
        for name, value in sorted(getattr(s, "__dict__", {}).items()):
            if isinstance(value, (torch.Generator, numpy.random.Generator, numpy.random.RandomState, random.Random)):
                yield f"{depth}.{name}", value


def generator_state(g):
    if isinstance(g, torch.Generator):
        return g.get_state().numpy().tobytes()
    if isinstance(g, numpy.random.Generator):
        return g.bit_generator.state
    return g.getstate() if isinstance(g, random.Random) else g.get_state(legacy=False)


def set_generator(g, state):
    if isinstance(g, torch.Generator):
        g.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    elif isinstance(g, numpy.random.Generator):
        g.bit_generator.state = state
    elif isinstance(g, random.Random):
        g.setstate(state)
    else:
        g.set_state(state)


def capture(sampler):
    """Bytes from which the sampler's next pass can be drawn in another process."""
    with seeds.kept():
        states = [s.state_dict() if stateful(s) else None for s in chain_of(sampler)]
        return pickle.dumps(({name: generator_state(g) for name, g in generators(sampler)}, states))


def set_back(sampler, start):
    """Puts the generators back to the start of a pass, and gives the states of the samplers."""
    states, held = pickle.loads(start)[1], dict(generators(sampler))
    for name, state in pickle.loads(start)[0].items():
        if name not in held:
            raise ReplayMismatch(f"the sampler had a random generator {name!r} when the state was taken, and has none now")
        set_generator(held[name], state)
    return states


def drawn(sampler, root, epoch, start):
    """All values of one pass of the sampler, begun from `start` if it is given."""

    def begin(load):
        states = set_back(sampler, start) if start is not None else []
        seeds.seed_streams(seeds.words(root, "sampler", epoch))
        for s, state in zip(chain_of(sampler), states if load else ()):
            if stateful(s) and state is not None:
                named = getattr(s, "epoch", None)
                s.load_state_dict(state)
                if named is not None and s.epoch != named and hasattr(s, "set_epoch"):
                    s.set_epoch(named)  # the caller has set it since
        return iter(sampler)

    def values(iterator):
        found, failed = [], 0
        while failed < STUBBORN:
            try:
                value = next(iterator)
                found.append(list(value) if isinstance(value, list) else value)
                failed = 0
            except StopIteration:
                break
            except Exception as e:
                found.append(SamplerFault(e))
                failed += 1
        return found

    with seeds.kept():
        found = values(begin(True))
        if not found and start is not None:  # some samplers keep a loaded end for one pass
            found = values(begin(False))
        return found


def cut(values, size, tail, place, share=None):
    """(entries, what is left over, sizes) of a sequence from a place on; `share` is (rank, world) of each batch."""
    entries, batch, n = [], [], len(values)
    first = place
    for p in range(place, n):
        if isinstance(values[p], SamplerFault):
            entries.append(values[p])
            batch, first = [], p + 1
            continue
        batch.append(values[p])
        if len(batch) == size:
            entries.append((batch, first))
            batch, first = [], p + 1
    if batch and tail == "keep":
        entries.append((batch, first))
        batch = []
    sizes = [len(entry[0]) for entry in entries] if share else None
    if share:
        rank, world = share
        for i, (keys, first) in enumerate(entries):
            k = -(-len(keys) // world)
            own = range(first + rank * k, first + (rank + 1) * k)
            entries[i] = ([values[p % n] for p in own], own.start)
    return entries, batch if tail == "rollover" else [], sizes


def write(loader, ledger):
    """The book of the ledger's epoch."""
    if loader.kind == "iterable":
        return Book()
    carried = list(ledger.carried or ())
    if loader.sampler is None:
        n = len(loader.dataset)
        order = seeds.permutation(loader.seed, ledger.epoch, n) if loader.shuffle else list(range(n))
        if loader.ranks == "split":
            order = order[loader.rank::loader.world]
        carried, start = [i for i in carried if i < n], None
    else:
        again, start = ledger.start, ledger.start or capture(loader.sampler)
        ledger.start = start  # an interrupt may come while the sampler is drawn
        order = drawn(loader.sampler, loader.seed, ledger.epoch, again)
    if loader.batch_size is None:
        entries, place = [], 0
        for value in order:
            entries.append(value if isinstance(value, SamplerFault) else (value, place))
            place += size_of(value) if loader.by_batches else 1
        return Book(entries, start=start)
    if loader.ranks == "shared":
        entries, leftover, sizes = cut(carried + order, loader.batch_size, loader.tail, ledger.samples,
                                       (loader.rank, loader.world))
        return Book(entries, ledger.batches, leftover, sizes=sizes)
    entries, leftover, _ = cut(carried + order, loader.batch_size, loader.tail, 0)
    return Book(entries, 0, leftover, start)


def size_of(value):
    try:
        return len(value)
    except TypeError:
        return 1
