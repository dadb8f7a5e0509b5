"""The samplers and trees of a case in a failure's script (pure text).

They are those of ``sources.py`` and ``trees.py``, without docstrings and annotations, with the
numbers of the case written out.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

from midepoch_conformance.case import trees
from midepoch_conformance.case.workload import Workload

__all__ = ["sampler_text", "stateful_text", "tree_text"]

_WIDTH = 92


def sampler_text(w: Workload, shared: bool = False, plain: bool = False) -> list[str]:
    """Return the class of the user's own sampler, as ``Sampler``.

    Args:
        w: the workload.
        shared: whether a Stateful one shares its state's methods with the dataset.
        plain: whether no pass is broken off or overtaken by another, and a state is loaded
            before it alone: then it does not matter whether a pass begins when it is made or
            with its first index.
    """
    text = _SAMPLERS[w.sampler]
    if plain:
        text = text.replace(_LATE, "").replace(_STEP_BY_STEP, _ONE_BY_ONE).replace(_BEGUN, "")
    if not shared:
        own = "\n".join(["class Sampler:", *stateful_text(plain)[1:], "", ""])
        text = text.replace("class Sampler(Stateful):\n", own)
    batches = len(range(0, w.n, w.batch_size))
    numbers = {"N": w.n, "SEED": w.seed, "BATCH_SIZE": w.batch_size, "BATCHES": batches}
    for name, number in numbers.items():
        text = re.sub(rf"\b{name}\b", str(number), text)
    return text.splitlines()


def tree_text(kind: str) -> list[str]:
    """Return the function of the tree that a dataset adds to its state at a position."""
    if kind == "containers":
        return _CONTAINERS.splitlines()
    made = ast.parse(inspect.getsource(trees._MAKERS[kind])).body[0]
    if not isinstance(made, ast.FunctionDef):
        raise TypeError(f"the tree {kind!r} is made by no function")
    lines: list[str] = []
    for statement in made.body:
        text = ast.unparse(statement).replace("_MOST", str(trees._MOST))
        lines += textwrap.wrap(
            text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    return ["def tree(position):", *(f"    {line}" for line in lines)]


_CONTAINERS = r"""def tree(position):
    return {"bytes": b"\x00\xff" * (1 + position % 3), "tuple": (position, (True, 1), [(None,)]),
        "counter": collections.Counter({"seen": position, "none": 0, 3: -1}),
        "empty": (collections.OrderedDict(), collections.Counter(), set(), ()),
        "numbered": {0: "zero", 1: position, -1: None}, "set": {position, position + 1, "text"},
        "ordered": collections.OrderedDict.fromkeys(("bac" * 2)[position % 3 :][:3], position)}"""
"""The tree of the many containers, in fewer lines than it has in ``trees.py``."""

_SAMPLERS = {
    "custom": """\
class Sampler:
    def __init__(self):
        self.generator = random.Random(SEED)

    def __len__(self):
        return N

    def __iter__(self):
        order = list(range(N))
        self.generator.shuffle(order)
        return iter(order)
""",
    "batches": """\
class Sampler:
    def __init__(self):
        self.generator = random.Random(SEED)

    def __len__(self):
        return BATCHES

    def __iter__(self):
        order = [[*range(N)[i : i + BATCH_SIZE]] for i in range(0, N, BATCH_SIZE)]
        self.generator.shuffle(order)
        yield from order
""",
    "stateful": """\
class Sampler(Stateful):
    def __len__(self):
        return N

    def __iter__(self):
        self.position, self.loaded = self.position if self.loaded else 0, False
        return self.indices()

    def indices(self):
        order = random.Random(f"SEED/{self.passes}").sample(range(N), N)[::-1]  # as shuffled
        while self.position < N:
            self.position += 1
            yield order[self.position - 1]
        self.passes, self.position = self.passes + 1, 0
""",
}
"""The classes of ``sources.SAMPLERS``, with places for the numbers of a workload."""

_LATE = """\
        return self.indices()

    def indices(self):
"""
"""What makes an iteration begin when it is made, and not with its first index."""

_STEP_BY_STEP = """\
        while self.position < N:
            self.position += 1
            yield order[self.position - 1]
"""
_ONE_BY_ONE = """\
        for self.position, index in [*enumerate(order, 1)][vars(self).pop("start", 0) :]:
            yield index
"""
"""The same, where no state is loaded meanwhile; a loaded state says where the next pass starts."""

_BEGUN = """\
        self.position, self.loaded = self.position if self.loaded else 0, False
"""
"""What a pass begins with that may begin again before it has ended."""

_STATEFUL = """\
    passes, position, loaded = 0, 0, False

    def state_dict(self):
        return {"passes": self.passes, "position": self.position}

    def load_state_dict(self, state):
        self.passes, self.position, self.loaded = state["passes"], state["position"], True
"""
"""What a Stateful sampler knows of its place; a map-style dataset may share it."""


_LOADED = """\
        self.passes, self.position, self.loaded = state["passes"], state["position"], True
"""
_STARTING = """\
        vars(self).update(state, start=state["position"])  # of the next pass
"""
"""What is loaded where a pass is ended before the next one begins."""


def stateful_text(plain: bool = False) -> list[str]:
    """Return the class of what the dataset and the sampler have in common.

    ``plain``: as of :func:`sampler_text`.
    """
    text = _STATEFUL
    if plain:
        text = text.replace(_LOADED, _STARTING).replace(
            "position, loaded = 0, 0, False", "position = 0, 0"
        )
    return ["class Stateful:  # counts, and goes on from a state", *text.splitlines()]
