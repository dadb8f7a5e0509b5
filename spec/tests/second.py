"""A second implementation of the format, written from the pages of the specification alone."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import accumulate
from random import Random
from typing import Any

Words = tuple[int, ...]
MASK, LARGEST, DEPTH, BEYOND = 2**64 - 1, 2**53 - 1, 200, 10**100_000
dump = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class StateFormatError(ValueError): ...


class StateVersionError(ValueError): ...


class StateEncodingError(ValueError): ...


class PlanMismatchError(ValueError):
    """A state of another plan: a mapping of each differing field to its saved and present value."""


def words(root: int, purpose: str, *numbers: int) -> Words:
    text = "/".join(["midepoch/1", purpose, str(root), *map(str, numbers)])
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return tuple(int.from_bytes(digest[i : i + 8], "big") for i in (0, 8, 16, 24))


def mix64(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def twister(seed: int) -> Callable[[], int]:
    """Return the outputs of torch's generator after `manual_seed`."""
    state = [seed & 0xFFFFFFFF]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + i) & 0xFFFFFFFF)
    engine = Random()
    engine.setstate((3, (*state, 624), None))
    return lambda: engine.getrandbits(32)


def randperm(n: int, draw: Callable[[], int]) -> list[int]:
    found = list(range(n))
    for i in range(n - 1):
        j = i + draw() % (n - i)
        found[i], found[j] = found[j], found[i]
    return found


def seed_sequence(seed: int) -> tuple[int, int]:
    """Return the state and the increment of NumPy's PCG64 after seeding."""
    low = 2**32 - 1
    factor = 0x43B0D7E5

    def mixed(x: int, times: int) -> int:
        nonlocal factor
        x, factor = x ^ factor, factor * times & low
        x = x * factor & low
        return x ^ (x >> 16)

    pool = [mixed(seed >> shift & low, 0x931E8875) for shift in (0, 32, 64, 96)]
    for i in range(4):
        for j in range(4):
            if i != j:
                z = (0xCA01F9DD * pool[j] - 0x4973F715 * mixed(pool[i], 0x931E8875)) & low
                pool[j] = z ^ (z >> 16)
    factor = 0x8B51F9DD
    out = [mixed(pool[i % 4], 0x58F38DED) for i in range(8)]
    words = [out[i] | out[i + 1] << 32 for i in range(0, 8, 2)]
    increment = (2 * (words[2] << 64 | words[3]) + 1) % 2**128
    state = increment + (words[0] << 64 | words[1])
    return (state * PCG_FACTOR + increment) % 2**128, increment


PCG_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645


def pcg64(state: int, increment: int) -> Iterator[int]:
    """Give the outputs of NumPy's PCG64 from a state on."""
    while True:
        state = (state * PCG_FACTOR + increment) % 2**128
        mixed, turn = (state >> 64) ^ (state & MASK), state >> 122
        yield (mixed >> turn | mixed << (64 - turn)) & MASK


def permutation(n: int, key: int) -> Callable[[int], int]:
    if n <= 4096:
        table = list(range(n))
        for i in range(n - 1, 0, -1):
            key = (key + 0x9E3779B97F4A7C15) & MASK
            j = (mix64(key) * (i + 1)) >> 64
            table[i], table[j] = table[j], table[i]
        return table.__getitem__
    a = math.isqrt(n - 1) + 1
    b = -(-n // a)
    keys = [words(key, "order.round", r)[0] for r in range(8)]

    def element(x: int) -> int:
        left, right = divmod(x, b)
        for r in range(0, 8, 2):
            left = (left + ((mix64((right + keys[r]) & MASK) * a) >> 64)) % a
            right = (right + ((mix64((left + keys[r + 1]) & MASK) * b) >> 64)) % b
        x = left * b + right
        return x if x < n else element(x)

    return element


# A NumPy array or scalar or a torch tensor: its kind is "array", "scalar" or "tensor".
Data = namedtuple("Data", "kind dtype shape data")
TAGS: dict[Any, str] = {tuple: "$tuple", set: "$set", frozenset: "$frozenset", dict: "$dict"}
TAGS |= {OrderedDict: "$odict", Counter: "$counter", bytes: "$bytes", bytearray: "$bytearray"}
TYPES: dict[str, Any] = {tag: kind for kind, tag in TAGS.items()}
TYPES |= {"$float": float, "$complex": lambda body: complex(*body), "$bytes": b64decode}
TYPES |= {"$str": lambda body: b64decode(body).decode("utf-8", "surrogatepass")}
TYPES |= {"$bytearray": lambda b: bytearray(b64decode(b)), "$counter": lambda b: Counter(dict(b))}
NUMBER = r"[iu][248]|f[248]|c8|c16|[mM]8(\[([2-9]|[1-9][0-9]{1,8})?([YMWDhms]|[munpfa]s)\])?"
TORCH = "u?int(8|16|32|64)|float8_e(4m3fn(uz)?|5m2(fnuz)?)|b?float16|float(32|64)|complex(64|128)"
DTYPES = {"tensor": f"bool|{TORCH}", "scalar": rf"\|[biu]1|<({NUMBER})|str|bytes"}
DTYPES |= {"array": rf"\|([biu]1|S[1-9][0-9]{{0,6}})|[<>]({NUMBER}|U[1-9][0-9]{{0,6}})"}


def encode(value: object) -> bytes:
    try:
        text = dump(tree_of(value))
    except RecursionError:
        raise StateEncodingError("a value within itself, or nested too deeply") from None
    brackets = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    if max(accumulate((c in "[{") - (c in "]}") for c in brackets), default=0) > DEPTH:
        raise StateEncodingError(f"more than {DEPTH} arrays and objects within each other")
    return text.encode("utf-8")


def tree_of(value: Any) -> Any:
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return {"$float": str(value)}
    if kind is int and LARGEST < abs(value) < BEYOND:
        return {"$int": format(Decimal(value), "f")}
    if kind is str and not fits(value, TEXT):
        return {"$str": b64encode(value.encode("utf-8", "surrogatepass")).decode()}
    if value is None or kind in (bool, float, str) or (kind is int and abs(value) <= LARGEST):
        return value
    if kind in (bytes, bytearray):
        return {TAGS[kind]: b64encode(value).decode()}
    if kind is complex:
        return {"$complex": [tree_of(value.real), tree_of(value.imag)]}
    if kind is Data:
        shape = {} if value.kind == "scalar" else {"shape": list(value.shape)}
        data = b64encode(value.data).decode()
        return {"$" + value.kind: {"data": data, "dtype": value.dtype, **shape}}
    if kind in (list, tuple):
        items = [tree_of(item) for item in value]
        return items if kind is list else {"$tuple": items}
    if kind is dict and fits([*value], [PLAIN]):
        return {key: tree_of(item) for key, item in value.items()}
    if kind not in TAGS:
        raise StateEncodingError(f"a {kind.__qualname__} that has no encoding")
    pairs = value.items() if isinstance(value, dict) else [(item, None) for item in value]
    rows = [[tree_of(key), tree_of(item)] for key, item in pairs]
    if min(len({dump(row[0]) for row in rows}), len({*map(held, value)})) < len(rows):
        raise StateEncodingError("two keys or members that are equal or of one encoding")
    if kind is not OrderedDict:
        rows.sort(key=lambda row: dump(row[0]).encode("utf-8"))
    return {TAGS[kind]: rows if isinstance(value, dict) else [row[0] for row in rows]}


def by_value(value: Any) -> Any:
    """Return what a digest is over: integers in place of NumPy's."""
    if type(value) is Data and value.kind == "scalar" and value.dtype[1] in "iu":
        return held(value)
    if type(value) in (list, tuple):
        return type(value)(map(by_value, value))
    if type(value) is dict:
        return {key: by_value(item) for key, item in value.items()}
    return value


def held(key: Any) -> Any:
    """Return what a key or member is compared by: of a NumPy scalar, what it holds."""
    if type(key) in (tuple, frozenset):
        return type(key)(map(held, key))
    if key is None or type(key) in (bool, int, float, complex, str, bytes):
        return key
    if type(key) is not Data or key.kind != "scalar":
        raise StateEncodingError(f"a key of type {type(key).__qualname__}")
    if key.dtype in ("str", "bytes"):
        return key.data.decode("utf-8", "surrogatepass") if key.dtype == "str" else key.data
    if key.dtype[1] in "biu":
        return int.from_bytes(key.data, "little", signed=key.dtype[1] == "i")
    form = {"f2": "e", "f4": "f", "f8": "d", "c8": "2f", "c16": "2d"}.get(key.dtype[1:])
    return complex(*struct.unpack("<" + form, key.data)) if form else (Data, *key)


def decode(text: bytes) -> Any:
    """Return the value of a canonical text; refuse what is not encoded to the same text again."""
    try:
        value = json.loads(text.decode("utf-8"), object_hook=value_of)
        need(encode(value) == text, "the canonical encoding of a value")
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise StateFormatError(f"no canonical encoding: {error!r}") from error
    return value


def value_of(tree: dict[str, Any]) -> Any:
    if not any(key.startswith("$") for key in tree):
        return tree
    [(tag, body)] = tree.items()
    if tag in ("$array", "$scalar", "$tensor"):
        return data_of(tag[1:], **body)
    if tag == "$int" and re.fullmatch("-?[0-9]{1,100000}", body):
        return int(Decimal(body))
    return TYPES[tag](body)


def data_of(kind: str, dtype: str, data: str, shape: Any = ()) -> Data:
    value = Data(kind, dtype, tuple(shape), b64decode(data))
    need(re.fullmatch(DTYPES[kind], dtype), f"a dtype of a {kind}, not {dtype}")
    need(len(shape) <= 32 and all(fits(n, range(2**53)) for n in shape), "sizes")
    number = int((re.findall(r"\d+", dtype) or ["1"])[0])  # of NumPy bytes, of torch bits
    size = -(-number // 8) if kind == "tensor" else number * 4 if dtype[1] == "U" else number
    need(size * math.prod(max(n, 1) for n in shape) <= LARGEST, "a size up to 2^53 - 1")
    length = len(value.data) if dtype in ("str", "bytes") else size * math.prod(shape)
    need(length == len(value.data), "data of the size of the shape and the dtype")
    need(dtype not in ("|b1", "bool") or set(value.data) <= {0, 1}, "booleans of 0 and 1")
    if dtype == "str" or dtype[1] == "U":
        codec = {"s": "utf-8", "<": "utf-32-le", ">": "utf-32-be"}[dtype[0]]
        value.data.decode(codec, "surrogatepass")
    return value


def need(holds: object, what: str) -> None:
    if not holds:
        raise StateFormatError(f"expected: {what}")


def is_json(value: Any, room: int = DEPTH - 4) -> bool:
    if type(value) is dict and fits([*value], [PLAIN]):
        value = [*value.values()]
    if type(value) is list:
        return room > 0 and all(is_json(item, room - 1) for item in value)
    return fits(value, (None, bool, int, TEXT)) or (type(value) is float and math.isfinite(value))


# The validity of a document. A shape is a range of integers, a pattern of text, a list of one
# shape, a set of names to list once each, a mapping of keys to shapes, a tuple of alternatives.
COUNT, SIGNED, TEXT = range(2**53), range(1 - 2**53, 2**53), "[^\ud800-\udfff]*"
PLAIN = "(?!\\$)" + TEXT
SLOTS = ("batch_sampler", "batch_sampler_iter", "sampler", "sampler_iter")
PLAN: dict[str, Any] = {"dataset": "map|iterable", "length": (None, COUNT)}
PLAN |= {"sampler": "sequential|shuffle|custom|none", "sampler_name": (None, TEXT)}
PLAN |= {
    "seed": "0|[1-9][0-9]{0,19}",
    "batch_size": (None, COUNT[1:]),
    "tail": "keep|drop|rollover",
}
PLAN |= {"lanes": range(65536), "lifetime": "epoch|run", "data": (None, TEXT), "options": dict}
POSITION: dict[str, Any] = {"epoch": COUNT[:-1], "batches": COUNT, "samples": COUNT}
POSITION |= {"digest": (None, "[0-9a-f]{64}"), "ahead": [COUNT], "carried": (None, [object])}
POSITION |= {"share": (None, {"rank": COUNT, "world": COUNT})}
GENERATOR = {"path": TEXT, "kind": "torch|numpy|python", "state": object}
SAMPLER: dict[str, Any] = {"epoch": (None, SIGNED), "generators": [GENERATOR], "stated": set(SLOTS)}
SAMPLER |= {"states": dict.fromkeys(SLOTS, object), "batches": SIGNED}
SAMPLER |= {"digest": POSITION["digest"]}
ENTRY: dict[str, Any] = {"dataset": object, "iterator": object, "stated": {"dataset", "iterator"}}
ENTRY |= {"ordinal": SIGNED, "ended": bool, "replay": COUNT, "errors": [COUNT]}
ENTRY |= {"content": POSITION["digest"]}
STATE: dict[str, Any] = {"format": TEXT, "version": COUNT, "plan": PLAN, "position": POSITION}
DEALT = ENTRY | {"samples": COUNT}
STATE |= {"sampler": (None, SAMPLER), "lanes": (None, {"next": COUNT, "entries": [(ENTRY, DEALT)]})}


def fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, dict):
        keys = type(value) is dict and fits([*value], [TEXT]) and value.keys() == shape.keys()
        return keys and all(fits(value[key], shape[key]) for key in shape)
    if isinstance(shape, list):
        return type(value) is list and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, set):
        return fits(value, ["|".join(shape)]) and len(set(value)) == len(value)
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, str):
        return type(value) is str and re.fullmatch(shape, value) is not None
    return shape is object or value is shape or type(value) is shape


def validate(state: Any, present: dict[str, Any]) -> None:
    """Raise unless a loader, all of whose plan was given explicitly, can continue a state."""
    need(type(state) is dict and all(type(key) is str for key in state), "a mapping of text")
    need(fits(state.get("format"), "midepoch[.]state"), "the format midepoch.state")
    need(type(state.get("version")) is int and state["version"] > 0, "a positive version")
    if state["version"] != 1:
        raise StateVersionError(f"version {state['version']} is not read here")
    own = {key: value for key, value in state.items() if not key.startswith("x-")}
    for key in sorted(own.keys() | STATE.keys()):
        need(key in own and key in STATE and fits(own[key], STATE[key]), f"the form of {key}")
    plan, position, sampler, lanes = (own[k] for k in ("plan", "position", "sampler", "lanes"))
    n, size, rollover = plan["length"], plan["batch_size"], plan["tail"] == "rollover"
    custom, iterable = plan["sampler"] == "custom", plan["dataset"] == "iterable"
    batches, samples = position["batches"], position["samples"]
    need(int(plan["seed"]) < 2**64, "a root seed of 64 bits")
    options = [*plan["options"], *plan["options"].values()]
    need(fits(options, [TEXT]) and fits([*plan["options"]], [PLAIN]), "options of text")
    share = position["share"] or {"rank": 0, "world": 1}
    need(share["rank"] < share["world"], "VAL-2: a rank of the world")
    need(
        [plan["sampler"] == "none", n is None] == [iterable, custom or iterable], "VAL-1: an order"
    )
    need(plan["tail"] == "keep" or (size and not (rollover and iterable)), "VAL-1: a fitting tail")
    need((plan["sampler_name"] is not None) == custom, "VAL-1: a custom sampler's name")
    for part in (position["digest"], sampler):
        need((part is not None) == custom, "VAL-2: digest and state of a custom sampler alone")
    need(
        (position["carried"] is not None) == rollover, "VAL-2: what was carried of a rollover alone"
    )
    carried = position["carried"] or []
    shared, dealt = (plan["options"].get("ranks") == name for name in ("shared", "dealt"))
    unshared = n is None or dealt or position["share"] is None
    need(unshared, "VAL-2: no share of a built-in order")
    need(shared or len(carried) < (size or 1), "VAL-2: less carried than a batch")
    need(n is None or fits(carried, [range(n)]), "VAL-2: carried indices of the source")
    at = sampler["batches"] if sampler else 0
    ahead, low = position["ahead"], batches - len(position["ahead"])
    rising = all(below < index for below, index in zip([low, *ahead], ahead, strict=False))
    need(low >= 0 and rising, "VAL-8: batches ahead, each above those before")
    need(not (ahead and lanes), "VAL-8: no batches ahead of lanes")
    reach = ahead[-1] + 1 if ahead else batches
    if shared:
        need(None not in (n, size) and not ahead and lanes is None, "VAL-11: a built-in order")
        need(batches <= samples <= n + len(carried), "VAL-11: samples of the epoch")
        need(batches or not samples, "VAL-11: no samples before the first step")
    elif dealt:
        need(plan["lanes"] > 0 and lanes, "VAL-12: lanes")
        need(iterable or (None not in (n, size) and not rollover), "VAL-12: a built-in order")
    elif n is not None:
        count, whole, each = batch_count(plan, len(carried)), n + len(carried), size or 1
        need(reach <= count, "VAL-3: a position within the epoch")
        short = max(0, count * each - whole) if reach == count else 0
        need(samples == batches * each - short, "VAL-3: samples of the batches")
    elif size is not None or iterable or batches == 0:
        need(samples <= batches * (size or 1), "VAL-4: samples of the batches")
    if sampler is not None:
        check_stated("VAL-5", sampler["states"], sampler["stated"], sampler["batches"])
        states = {g["path"]: is_json(g["state"]) for g in sampler["generators"]}
        need(len(states) == len(sampler["generators"]) and all(states.values()), "generators")
        digest = sampler["digest"]
        need(at <= low, "VAL-5: a snapshot not after the position")
        need((digest is not None) == (at > 0), "VAL-5: the digest of a snapshot within the epoch")
        need(at < max(1, reach) or digest == position["digest"], "VAL-5: the position's digest")
    need(lanes is not None or not iterable, "VAL-6: lanes of an iterable")
    if lanes is not None:
        entries, count = lanes["entries"], max(1, plan["lanes"])
        passes = iterable and plan["lifetime"] == "run"
        own = range(count)
        if dealt and position["share"]:
            need(share["world"] > 1 and count % share["world"] == 0, "VAL-12: ranks of the lanes")
            own = own[share["rank"] :: share["world"]]
        rule = "VAL-12: the lanes of the share" if dealt else "VAL-6: the plan's lanes"
        need(len(entries) == len(own) and lanes["next"] in own, rule)
        for entry in entries:
            slots = {"dataset": entry["dataset"], "iterator": entry["iterator"]}
            check_stated("VAL-6", slots, entry["stated"], entry["ordinal"])
            need(passes or entry["ordinal"] >= 0, "VAL-6: a pass before of lifetime run")
            need(iterable or not entry["ended"], "VAL-7: lanes of a map-style dataset do not end")
            errors, since = entry["errors"], max(0, -entry["ordinal"]) + entry["replay"]
            need(errors == sorted({*errors}), "VAL-6: errors that increase")
            need(not errors or errors[-1] < since, "VAL-6: errors since the snapshot")
            replayed = iterable and entry["replay"] > 0
            need(replayed or entry["content"] is None, "VAL-6: the content of replayed batches")
        made = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
        if dealt:
            held = [entry.get("samples", COUNT[-1]) for entry in entries]
            fit = all(h <= m * (size or 1) for h, m in zip(held, made, strict=True))
            need(fit, "VAL-12: samples of lanes")
            need(sum(held) == samples, "VAL-12: the position's samples in the lanes")
            need(batches or not any(made), "VAL-12: no batches before the first step")
            turns = [(m, i) for m, i, e in zip(made, own, entries, strict=True) if not e["ended"]]
            need(lanes["next"] == min(turns or [(0, own[0])])[1], "VAL-12: the lane that is next")
            if not iterable:
                sizes = batch_sizes(plan)
                mine = [sizes[lane :: plan["lanes"]] for lane in own]
                fit = all(m <= len(s) for m, s in zip(made, mine, strict=True))
                need(fit, "VAL-12: batches of the lanes")
                given = [sum(s[:m]) for m, s in zip(made, mine, strict=True)]
                need(given == held, "VAL-12: samples of the batches")
        else:
            need(sum(made) == batches, "VAL-7: the position's batches in the lanes")
            need(not any("samples" in entry for entry in entries), "VAL-12: no samples of lanes")
        if not iterable:
            total, count = (sum(made), len(own)) if dealt else (batches, count)
            turns = [(total + count - 1 - lane) // count for lane in range(count)]
            need(
                made == turns and lanes["next"] == own[total % count],
                "VAL-7: lanes as batches are dealt",
            )
            replayed = [e["ordinal"] * count + i for i, e in enumerate(entries) if e["replay"]]
            need(
                min(replayed, default=at) >= at,
                "VAL-7: lanes that replay batches since the sampler's",
            )
    pairs = {name: (plan[name], present[name]) for name in PLAN if name != "lifetime"}
    if None in pairs["data"]:
        del pairs["data"]
    if batches == 0 and None not in pairs["length"]:
        del pairs["length"]
    if differing := {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}:
        raise PlanMismatchError(differing)


def check_stated(rule: str, states: dict[str, Any], stated: list[str], batches: int) -> None:
    null = all(slot in stated or states[slot] is None for slot in states)
    need(null and (batches <= 0 or stated), f"{rule}: null and batches 0 where nothing is stated")


def batch_count(plan: dict[str, Any], carried: int = 0) -> int:
    whole, size = int(plan["length"]) + carried, int(plan["batch_size"] or 1)
    return -(-whole // size) if plan["tail"] == "keep" else whole // size


def batch_sizes(plan: dict[str, Any]) -> list[int]:
    size = int(plan["batch_size"])
    return [min(size, plan["length"] - i * size) for i in range(batch_count(plan))]


def follow(
    plan: dict[str, Any], epoch: int, first: int, carried: tuple[int, ...] = ()
) -> Iterator[tuple[list[int], Words]]:
    """Give the indices and the words of each batch that follows in an epoch of a built-in order."""
    n, size, root, shift = plan["length"], plan["batch_size"] or 1, int(plan["seed"]), len(carried)
    key = words(root, "order", epoch)[0]
    element = permutation(n, key) if plan["sampler"] == "shuffle" else int
    for i in range(first, batch_count(plan, shift)):
        positions = range(i * size, min((i + 1) * size, shift + n))
        indices = [carried[p] if p < shift else element(p - shift) for p in positions]
        yield indices, words(root, "batch.map", epoch, i)


def left_over(plan: dict[str, Any], epoch: int, carried: tuple[int, ...]) -> tuple[int, ...]:
    """Give what an epoch of a built-in order carries into the next one under rollover."""
    rest = (plan["length"] + len(carried)) % plan["batch_size"]
    whole = {**plan, "batch_size": 1, "tail": "keep"}
    last = batch_count(whole, len(carried)) - rest
    return tuple(index for [index], _ in follow(whole, epoch, last, carried))
