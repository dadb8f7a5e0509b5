"""Steps and looks that few failures' scripts need; each script holds only its own.

Actions and looks take the player of a script (see ``player.py``); helpers take its records.
"""

# A script imports nothing of the suite, and its lines are not typed.
# ruff: noqa: D103, F821, SIM115
# mypy: ignore-errors

import contextlib
import importlib.resources
import json
import os
import re
import time

import jsonschema

from midepoch_conformance.case import tampering
from midepoch_conformance.case.data.trees import spelled
from midepoch_conformance.host.session.beside import AnotherLoader, of_another
from midepoch_conformance.host.session.codecs import encode
from midepoch_conformance.host.session.streams import Streams
from midepoch_conformance.host.system.processes import end_one, left_after, living

# Actions


def do_seal(player, name, into, codec):
    player.kept[into] = player.kept[name]
    player.write(into, codec)


def do_recode(player, name, into, codec):
    player.kept[into] = player.read(name)
    player.write(into, codec)


def do_edit(player, name, spared="0", codec=""):
    tampering.edit(player.kept[name], int(spared or 0))


def do_load_merged(player, names, codec):
    states = [player.read(name) for name in reversed(names.split("/"))]
    player.kept[names] = player.session.merge(states)
    player.session.load(player.kept[names])


def do_load_bogus(player, value, codec):
    player.session.load(tampering.bogus(value, codec))


def do_load_cut(player, name, number="0", codec=""):
    player.session.load(tampering.cut(player.read(name), int(number)))


def do_load_document(player, name, codec):
    state = decode("json", DOCUMENTS[name].encode(), CANONICAL)
    player.session.load(state)


def do_name_epoch(player, number="0", codec=""):
    player.session.name_epoch(int(number or 0))


def do_overwrite(player, name, codec):
    for row in (row for batch in player.held for row in batch):
        if hasattr(row, "fill_") or hasattr(row, "fill"):
            with contextlib.suppress(RuntimeError, ValueError):
                getattr(row, "fill_", getattr(row, "fill", None))(-1)
        else:
            row[:] = [-1] * len(row)


def do_beside(player, number, codec):
    if getattr(player, "first", None) is not player.session:
        changes = player.changes
        own = {name: v for name, v in of_another(changes["seed"]).items() if name in changes}
        player.first = player.session
        player.other = AnotherLoader(open_loader(player.root, **{**changes, **own}))
    player.other.deliver(int(number))


def do_lose(player, name, codec):
    end_one()


def do_count(player, name, codec):
    player.held.clear()


# Looks


def look_drew(player, step):
    """Return whether a global random stream was moved since the last look."""
    before, player.streams = getattr(player, "streams", None), Streams()
    return bool(before and before.moved())


def look_calls(player, step):
    """Return what was noted of the dataset's calls in this session."""
    path = player.changes["log"]
    lines = open(path).read().splitlines() if os.path.exists(path) else []
    noted = [line.split()[1] for line in lines]
    return {word: noted.count(word) for word in noted}


def look_size(player, step):
    return len(getattr(player, "encoded", b""))


def look_text(player, step):
    """Return the canonical encoding of the state that was saved last."""
    encoded = getattr(player, "encoded", b"")
    return encoded.decode() if encoded[:1] == b"{" else ""


def look_document(player, step):
    """Return the state that was saved or merged, as the plain JSON types of its canonical form."""
    written = step.startswith(("save", "load_merged"))
    state = player.kept.get(step.split()[1]) if written else None
    return state and json.loads(encode("json", state, True))


def look_held_batches(player, step):
    return [rows(batch) for batch in player.held]


def look_altered(player, step):
    """Return the states that are not what they were when they were saved or loaded."""
    noted = player.__dict__.setdefault("noted", {})
    do, name = (*step.split(), "")[:2]
    if do in ("save", "load"):
        noted[name] = spelled(player.kept[name] if do == "save" else player.read(name))
    return [name for name, text in noted.items() if spelled(player.kept[name]) != text]


def look_left(player, step):
    """Return how many processes a closed loader leaves; they have five seconds to go."""
    return left_after(5.0) if step.startswith("close") else None


def look_held(player, step):
    """Return how many processes, threads and descriptors there are, once they are no more."""
    first = getattr(player, "first", [])
    for _ in range(250 if step.startswith("count") else 1):
        counts = [len(living(os.getpid()) or ())]
        counts += [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]
        if not any(now > then for now, then in zip(counts, first, strict=False)):
            break
        time.sleep(0.02)
    player.first = first or (counts if step.startswith("count") else [])
    return counts


# Compared values


def errors(steps):
    """Return the errors that no step asks for, and that of the last step."""
    return [s["error"] for s in steps if "error" in s and ("?" not in s["do"] or s is steps[-1])]


def refused(steps):
    """Return whether it is refused: on purpose, in words, before any batch."""
    accidents = {
        "AssertionError", "KeyError", "IndexError", "AttributeError", "UnboundLocalError",
        "RecursionError", "StopIteration",
    }  # fmt: skip
    told = (s for s in steps if s["batches"] or ("error" in s and "?" not in s["do"]))
    first = next(told, {"batches": True})
    words = first.get("error", "").partition(": ")[2].strip()
    return bool(
        words and not first["batches"] and accidents.isdisjoint(first["bases"] or accidents)
    )


def grows(numbers, rounds, many):
    """Return whether numbers grow each time, or if there are many, in most of their pairs."""
    if len(numbers) < many:
        return len(numbers) >= rounds and numbers == sorted(set(numbers))
    pairs = [(a, b) for i, b in enumerate(numbers) for a in numbers[:i]]
    return 5 * sum((a < b) - (a > b) for a, b in pairs) >= 4 * len(pairs)


def each(counts):
    """Return by how much each count exceeds the one before it."""
    return [after - before for before, after in zip([0, *counts], counts, strict=False)]


def ids(*parts):
    """Return the samples' numbers of some epochs, in their order."""
    batches = [b for part in parts for epoch in part for b in epoch if not isinstance(b, str)]
    return sorted(row[0] if isinstance(row, list) else row for batch in batches for row in batch)


def is_whole(samples, sizes, slack):
    """Return whether each sample comes once; as many as ``slack`` may be missing."""
    once = len(samples) == len(set(samples))
    return any(once and {*samples} <= {*range(n)} and len(samples) >= n - slack for n in sizes)


def says(text, words):
    """Return whether a text has all these words or numbers as such."""
    return all(re.search(rf"(?<![\w.-]){re.escape(word)}(?!\w|\.\d)", text) for word in words)


def keys(node, path=""):
    """Return the places of the loader's own keys in a document."""
    found = set()
    for key in node if isinstance(node, dict) else ():
        found.add(f"{path}/{key}")
        if key not in ("dataset", "iterator", "states"):
            found |= keys(node[key], f"{path}/{key}")
    for item in node if isinstance(node, list) else ():
        found |= keys(item, path)
    return found


def at(node, path):
    """Return what lies at a place."""
    for key in path.split("/"):
        node = node[0][key] if isinstance(node, list) else node[key]
    return node


def canonical(text):
    """Return the canonical encoding of what a text says."""
    options = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    return json.dumps(json.loads(text), **options)


def faults(state):
    """Return what is not valid in a state."""
    schema = importlib.resources.files("midepoch_spec") / "schema/state-1.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))
    return [fault.message for fault in validator.iter_errors(state)]
