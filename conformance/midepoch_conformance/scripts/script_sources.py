"""The sources of a case's rows in a failure's script (pure text).

Each is written for its stream and for where its state is, as short as that allows, and does what
the classes of ``sources.py`` do: the same rows, the same states (a buffer's has its generator
from the start). Tests hold the two together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from midepoch_conformance.case.workload import Workload

__all__ = ["source_text", "stream_head", "stream_text"]

_WIDTH = 100
_ARGUMENTS = "lane=0, lanes=1, rng=None"
_STREAM_OF = f"def stream_of({_ARGUMENTS}):"

_PLAIN = ("plain", "uneven", "hollow")
"""Streams whose state is the workload's to make."""

_FILE = '(0, 2, 1, 3)[at["files"] % 4]'

_START = {
    "buffer": '{"position": 0, "buffer": []}',
    "packing": '{"position": 0, "left": []}',
    "flatten": "{**self.start}",
}
"""What the states begin with that are more than a number."""

_PICKED = 'self.at["buffer"].pop(self.generator.randrange(len(self.at["buffer"])))'

_DRAWN = {
    "private python": "self.python.random()",
    "private numpy": "float(self.numpy.random())",
    "private torch": "float(torch.rand((), generator=self.torch))",
}

_MADE = {
    "private python": "self.python = random.Random({seed})",
    "private numpy": "self.numpy = numpy.random.default_rng({seed})",
    "private torch": "self.torch = torch.Generator().manual_seed({seed})",
}

_HELD = {
    "private python": "self.python.getstate()",
    "private numpy": "self.numpy.bit_generator.state",
    "private torch": "self.torch.get_state()",
}

_SET = {
    # A codec may have made a list of the tuple.
    "private python": "self.python.setstate((3, tuple({state}[1]), None))",
    "private numpy": "self.numpy.bit_generator.state = {state}",
    "private torch": "self.torch.set_state({state})",
}


def stream_text(w: Workload, row: str) -> list[list[str]]:
    """Return the function of a lane's rows: a pass of an iterable without a state.

    ``row`` stands for a sample's row, with places for ``{i}`` and ``{rng}``.
    """
    if w.private or w.form == "own iterator":
        return [*source_text(w, row, calls=False), stream_head()]
    one = row.format(i="i", rng="rng")
    if w.stream == "packing":
        lines = [
            "text = []",
            f"for i in {_share(w)}:",
            "    text += [i] * (1 + i % 3)",
            "    text = text[len(text) // 5 * 5 :]  # the rest goes into the next",
            f"    yield {_longer(one, ['len(text)', 'sum(text)'])}",
        ]
    elif w.stream == "buffer":
        lines = [
            f"shard, buffer = [*{_share(w)}], []",
            "generator = random.Random(sum(shard))",
            "while shard or buffer:",
            "    while shard and len(buffer) < 3:",
            f"        buffer.append({row.format(i='shard.pop(0)', rng='rng')})",
            "    yield buffer.pop(generator.randrange(len(buffer)))",
        ]
    else:
        # What is filtered or read from files comes as the samples in their order all the same.
        lines = [f"return ({one} for i in {_share(w)})"]
    return [[_STREAM_OF, *(f"    {line}" for line in lines)]]


def stream_head() -> list[str]:
    """Return the function of a lane's rows, where there is a class that makes them."""
    return [_STREAM_OF, "    return iter(Source(lane, lanes, rng))"]


def source_text(
    w: Workload,
    row: str,
    calls: bool,
    *,
    bare: bool = False,
    shared: bool = False,
    checked: bool = True,
    loads: bool = True,
) -> list[list[str]]:
    """Return the classes that make a dataset's rows and know its state; the last is ``Source``.

    Args:
        w: the workload.
        row: what stands for a sample's row.
        calls: whether the calls of ``state_dict`` are noted.
        bare: whether the source of a map-style dataset is made without arguments.
        shared: whether it has the sampler's state and methods.
        checked: whether a tree that comes back is compared with the one that it must be.
        loads: whether a state is ever loaded; an iterator is asked whether it can.
    """
    source = _Source(w, row, calls, bare, shared, checked, loads)
    if w.kind == "stateful_map":
        return [source.counting()]
    if w.stream in ("oneshot", "rewinding"):
        return [source.own_iterator()]
    if w.form not in ("iterator state", "both states"):
        return [source.stream("Source")]
    # After an error a generator has ended, and a method goes on.
    fails = any(at is not None for at in (w.fail_at, w.stop_at, w.die_at))
    if w.stream in (*_PLAIN, "buffer") and not w.private and not fails:
        return [source.iterator()]
    return [source.stream("Rows"), source.wrapper()]


def _share(w: Workload) -> str:
    """Return the expression of the samples of one of several lanes."""
    if w.stream == "uneven":
        return f"[i for i in range({w.n}) if min(i % (2 * lanes), lanes) % lanes == lane]"
    ids = f"range({w.n})"
    if w.stream == "hollow":
        return f"({ids}[lane // 2 :: lanes // 2 or 1] if lane % 2 or lanes == 1 else [])"
    return f"{ids}[lane::lanes]"


def _longer(row: str, more: Sequence[str]) -> str:
    """Return a row that ends with more values."""
    whole = row.startswith("[") and row.endswith("]")
    return f"[{', '.join([row[1:-1] if whole else f'*{row}', *more])}]" if more else row


def _assigned(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return the assignments of several values, as many as fit in one."""
    lines: list[str] = []
    together: list[tuple[str, str]] = []
    for pair in pairs:
        # What is made of the samples comes after they are there.
        after = "self.shard" in pair[1] and any(name == "self.shard" for name, _ in together)
        if together and (after or len(_line([*together, pair])) > _WIDTH - 8):
            lines.append(_line(together))
            together = []
        together.append(pair)
    return [*lines, _line(together)]


def _line(pairs: Sequence[tuple[str, str]]) -> str:
    return " = ".join(", ".join(part) for part in zip(*pairs, strict=True))


@dataclasses.dataclass
class _Source:
    """Writes the class of a workload's rows."""

    w: Workload
    row: str
    calls: bool
    bare: bool
    shared: bool
    checked: bool
    loads: bool

    def __post_init__(self) -> None:
        w = self.w
        self.private = [_DRAWN[name] for name in w.private]
        self.plain = w.stream in _PLAIN
        self.at = _START.get(w.stream, "0")

    def stream(self, name: str) -> list[str]:
        """Return an iterable whose state is its own."""
        lines = [f"class {name}:"]
        if self.w.stream == "flatten":
            lines.append('    start = {"position": 0, "files": 0, "queue": []}')
        again = f"self.at if self.loaded else {self.at}"
        return [
            *lines,
            *self._made([("self.at", self.at), ("self.loaded", "False")]),
            *_method("__iter__", f"self.at, self.loaded = {again}, False", "return self.rows()"),
            *_method("rows", *self._rows()),
            *self._state(self._held(), [("self.at", self._taken()), ("self.loaded", "True")]),
        ]

    def iterator(self) -> list[str]:
        """Return an iterator with a state; it counts for its dataset where that has one too."""
        both = self.w.form == "both states"
        more = [("self.dataset", "dataset")] if both else []
        if self.plain:
            lines = ["if self.at >= len(self.shard):", "    raise StopIteration", "self.at += 1"]
            row = self._one("self.shard[self.at - 1]")
        else:
            lines = [*self._filled(), 'if not self.at["buffer"]:', "    raise StopIteration"]
            row = _PICKED
        if both:
            lines.append("self.dataset.count += 1")
            row = _longer(row, ["self.dataset.count"])
        return [
            "class Source(collections.abc.Iterator):",
            *self._made([("self.at", self.at), *more], ", dataset=None" if both else ""),
            *_method("__next__", *lines, f"return {row}"),
            *self._state(self._held(), [("self.at", self._taken())]),
        ]

    def wrapper(self) -> list[str]:
        """Return the iterator of a source ``Rows``, with the state of that."""
        both = self.w.form == "both states"
        more = ["self.dataset.count += 1", "return [*row, self.dataset.count]"]
        given = ", dataset=None" if both else ""
        held = ["self.dataset = dataset"] if both else []
        return [
            "class Source(collections.abc.Iterator):",
            f"    def __init__(self, {_ARGUMENTS}{given}):",
            "        self.source = Rows(lane, lanes, rng)",
            *(f"        {line}" for line in ["self.rows = iter(self.source)", *held]),
            *_method("__next__", *(["row = next(self.rows)", *more] if both else [
                "return next(self.rows)"
            ])),
            *_method("state_dict", "return self.source.state_dict()"),
            *_method("load_state_dict", "self.source.load_state_dict(state)", given="state"),
        ]  # fmt: skip

    def own_iterator(self) -> list[str]:
        """Return an iterable that is its own iterator."""
        rewinds = self.w.stream == "rewinding"
        again = _method("__iter__", "self.at = 0", "return self") if rewinds else []
        return [
            "class Source:" if rewinds else "class Source(collections.abc.Iterator):",
            *self._made([("self.at", "0")]),
            *again,
            *_method(
                "__next__",
                "if self.at >= len(self.shard):",
                "    raise StopIteration",
                "self.at += 1",
                f"return {self._one('self.shard[self.at - 1]')}",
            ),
            *self._state('{"position": self.at}', [("self.at", 'state["position"]')]),
        ]

    def counting(self) -> list[str]:
        """Return random access that counts what it fetched."""
        if self.shared:
            lines = ["self.position += 1", f"return {self._one('i', ['self.position'])}"]
            return ["class Source(Stateful):", *_method("__getitem__", *lines, given="i")[1:]]
        row = self._one("i", ["self.count"])
        return [
            "class Source:",
            *(["    count = 0"] if self.bare else self._made([("self.count", "0")])),
            *_method("__getitem__", "self.count += 1", f"return {row}", given="i"),
            *self._state(self._position("self.count"), [("self.count", self._taken())]),
        ]

    # The parts.

    def _made(self, pairs: Sequence[tuple[str, str]], more: str = "") -> list[str]:
        """Return ``__init__``."""
        shard = [("self.shard", _share(self.w))] if self.w.kind != "stateful_map" else []
        rng = [("self.rng", "rng")] if "own" in self.w.draws else []
        seed = f"{self.w.seed} + lane" if self.w.seed else "lane"
        drawn = [("self.generator", "random.Random(sum(self.shard))")]
        made = [*shard, *pairs, *rng, *(drawn if self.w.stream == "buffer" else [])]
        lines = _assigned(made)
        lines += [_MADE[name].format(seed=seed) for name in self.w.private]
        return [f"    def __init__(self, {_ARGUMENTS}{more}):", *(f"        {n}" for n in lines)]

    def _one(self, i: str, more: Sequence[str] = ()) -> str:
        return _longer(self.row.format(i=i, rng="self.rng"), [*more, *self.private])

    def _filled(self) -> list[str]:
        """Return the statements that fill a buffer."""
        return [
            'for i in self.shard[self.at["position"] :][: 3 - len(self.at["buffer"])]:',
            f'    self.at["buffer"].append({self.row.format(i="i", rng="self.rng")})',
            '    self.at["position"] += 1',
        ]

    def _rows(self) -> list[str]:
        """Return the statements that yield the rest of a pass."""
        if self.w.stream == "buffer":
            row = _longer(_PICKED, self.private)
            return [
                'while self.at["position"] < len(self.shard) or self.at["buffer"]:',
                *(f"    {line}" for line in self._filled()),
                f"    yield {row}",
            ]
        if self.w.stream == "packing":
            more = ['len(at["left"])', 'sum(at["left"])', *self.private]
            return [
                "at = self.at",
                'for i in self.shard[at["position"] :]:',
                '    at["position"] += 1',
                '    text = at["left"] + [i] * (1 + i % 3)',
                '    at["left"] = text[len(text) // 5 * 5 :]',
                f"    yield {_longer(self.row.format(i='i', rng='self.rng'), more)}",
            ]
        if self.w.stream == "flatten":
            row, read = self._one('at["queue"].pop(0)'), 'at["position"] + len(at["queue"])'
            return [
                "at = self.at",
                'while at["queue"] or at["position"] < len(self.shard):',
                '    while not at["queue"]:  # a file may be empty',
                f'        at["queue"] = [*self.shard[at["position"] :][: {_FILE}]]',
                f'        at["files"], at["position"] = at["files"] + 1, {read}',
                f"    yield {row}",
            ]
        if self.w.stream == "filter":
            return [
                "while self.at < 3 * len(self.shard):",
                "    self.at += 1",
                "    if self.at % 3 == 2:",
                f"        yield {self._one('self.shard[self.at // 3]')}",
            ]
        return [
            "while self.at < len(self.shard):",
            "    self.at += 1",
            f"    yield {self._one('self.shard[self.at - 1]')}",
        ]

    def _held(self) -> str:
        """Return the expression of the state of a stream."""
        if self.w.stream == "buffer":
            return 'copy.deepcopy({**self.at, "generator": self.generator.getstate()})'
        if self.w.stream == "filter":
            return '{"read": self.at}'
        return self._position("self.at") if self.plain else "copy.deepcopy(self.at)"

    def _position(self, count: str) -> str:
        tree = f', "tree": tree({count})' if self.w.tree else ""
        return f'{{"position": {count}{tree}}}'

    def _taken(self) -> str:
        """Return the expression of what is taken from a state."""
        state = 'state["rows"]' if self.private else "state"
        if self.w.stream in _START and self.w.kind != "stateful_map":
            return f"copy.deepcopy({state})"
        return f'{state}["read"]' if self.w.stream == "filter" else f'{state}["position"]'

    def _state(self, held: str, taken: Sequence[tuple[str, str]]) -> list[str]:
        """Return the two methods of a Stateful object, if it is one."""
        w = self.w
        if w.kind == "iterable":
            return []
        noted = ['note("state_dict")'] if self.calls and self.plain else []
        state = 'state["rows"]' if self.private else "state"
        load: list[str] = []
        if w.tree and self.plain and self.checked:
            load = [
                *_differing(f'tree({state}["position"])', f'{state}["tree"]', w.tree),
                '    raise RuntimeError(f"the dataset got another state back: {state}")',
            ]
        load += _assigned(taken)
        if w.stream == "buffer":
            load.append(f'self.generator.setstate((3, tuple({state}["generator"][1]), None))')
        if w.private:
            generators = ", ".join(_HELD[name] for name in w.private)
            held = f'{{"rows": {held}, "generators": [{generators}]}}'
            for number, name in enumerate(w.private):
                load.append(_SET[name].format(state=f'state["generators"][{number}]'))
        given = [f"return {held}"]
        if w.tree == "mutated":
            given = [
                'state = vars(self).setdefault("held", {})  # one object, changed in place',
                f"state.update({held})",
                "return state",
            ]
        loaded = _method("load_state_dict", *load, given="state") if self.loads else []
        return [*_method("state_dict", *noted, *given), *loaded]


def _differing(expected: str, got: str, kind: str) -> list[str]:
    """Return the test of two trees; neither sets nor mappings have an order that counts.

    What else there is to a tree is told by its text, and an ``OrderedDict``'s order by ``!=``.
    """
    if kind != "containers":
        return [f"if sorted(repr({got})) != sorted(repr({expected})):"]
    return [
        f"whole, got = {expected}, {got}",
        "if whole != got or sorted(repr(whole)) != sorted(repr(got)):",
    ]


def _method(name: str, *lines: str, given: str = "") -> list[str]:
    """Return a method of a class, with the blank line before it."""
    head = f"    def {name}(self{', ' + given if given else ''}):"
    return ["", head, *(f"        {line}" for line in lines)]
