"""Sessions of a failure's script that share a function (pure text)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["begun", "chained", "epochs", "numbered", "one_function", "resumed_or_whole"]

_LOADS = re.compile(r'    \w+\.load\w*\(.*?\(("\w+").*\)')
_TAKES = re.compile(
    r"    yield from itertools\.islice\((epoch := iter\()?(?=(session|loader))"
    r"(?:session\.epoch\(\)|loader)\)?, (\d+)\)"
)
_EPOCH = re.compile(r"    yield from (session\.epoch\(\)|loader)")
_LOOP = re.compile(r"    for _ in range\((\d+)\):")
_NUMBER = re.compile(r"(islice\(.*, )(\d+)\)$")
_WRITES = re.compile(
    r'    (?:pathlib\.Path\(("\w+")\)\.write_bytes|torch\.save)\(.*?(?:, ("\w+"))?\)'
)
_WIDTH = 100


def resumed_or_whole(written: dict[str, list[str]]) -> bool:
    """Give the uninterrupted run the statements of a session that loads and then does the same.

    That loads the state if there is one: there is none yet when the uninterrupted run is played.
    Returns whether there is such a session.

    Example:
        >>> load = '    session.load(pickle.loads(pathlib.Path("state").read_bytes()))'
        >>> written = {"whole": ["    rest()"], "second": [load, "    rest()"]}
        >>> resumed_or_whole(written)
        True
        >>> print("\\n".join(written["whole"]))
            if os.path.exists("state"):
                session.load(pickle.loads(pathlib.Path("state").read_bytes()))
            rest()
    """
    whole = written.get("whole", [])
    for name, lines in written.items():
        loaded = _LOADS.fullmatch(lines[0] if lines else "")
        if whole and loaded and lines[1:] == whole:
            either = [f"    if os.path.exists({loaded[1]}):", f"    {lines[0]}", *whole]
            written["whole"] = written[name] = either
            return True
    return False


def epochs(written: dict[str, list[str]]) -> dict[str, tuple[list[str], str]]:
    """Return the statements of the uninterrupted run and of a session that loads, and numbers.

    Those are how many epochs they are; nothing where the two do more than that. A session that
    begins with whole epochs before there is a state does so with the help of ``rest``.

    Example:
        >>> load = '    session.load(pickle.loads(pathlib.Path("state").read_bytes()))'
        >>> epoch = "    yield from session.epoch()"
        >>> written = {"whole": [epoch] * 2, "first": [epoch] * 2, "second": [load, epoch]}
        >>> {name: number for name, (_, number) in epochs(written).items()}
        {'whole': '2', 'second': '1'}
        >>> written["first"]
        ['    yield from rest(session, 2)']
    """
    whole, line = _counted(written.get("whole", []))
    if whole < 2:
        return {}
    for name, lines in written.items():
        loaded = _LOADS.fullmatch(lines[0] if lines else "")
        count, other = _counted(lines[1:])
        if loaded and count and other == line:
            either = [f"    if os.path.exists({loaded[1]}):", f"    {lines[0]}"]
            body = [*either, "    for _ in range(int(n)):", f"    {line}"]
            first = next(iter(written[other] for other in written if other != "whole"))
            size = next((n for n in range(len(first), 0, -1) if _counted(first[:n])[0] > 1), 0)
            if first is not lines and _counted(first[:size])[1] == line:
                given = "session" if "session" in line else "loader"
                first[:size] = [f"    yield from rest({given}, {_counted(first[:size])[0]})"]
            return {"whole": (body, str(whole)), name: (body, str(count))}
    return {}


def _counted(lines: Sequence[str]) -> tuple[int, str]:
    """Return how many whole epochs statements deliver if they do no more, and such a statement."""
    if len(lines) == 2 and (loop := _LOOP.fullmatch(lines[0])) and _EPOCH.fullmatch(lines[1][4:]):
        return int(loop[1]), lines[1][4:]
    if lines and _EPOCH.fullmatch(lines[0]) and set(lines) == {lines[0]}:
        return len(lines), lines[0]
    return 0, ""


def begun(written: dict[str, list[str]], rest: list[str]) -> None:
    """Write sessions that begin as ``rest`` goes on with the help of that, the function ``rest``.

    ``rest`` is what :func:`resumed_or_whole` has made; nothing is done where it is more than one
    epoch. A session is left as it is where it looks at its iterator later.

    Example:
        >>> load = '    session.load(pickle.loads(pathlib.Path("state").read_bytes()))'
        >>> take = "    yield from itertools.islice(epoch := iter(session.epoch()), 2)"
        >>> rest = ['    if os.path.exists("state"):', f"    {load}", "    yield from all()"]
        >>> written = {"first": [take, "    save()"], "second": [load, take, "    save()"]}
        >>> begun(written, rest)
        >>> written["first"] == written["second"]
        True
        >>> written["first"]
        ['    yield from itertools.islice(epoch := rest(session), 2)', '    save()']
    """
    if len(rest) > 3 or " for " in rest[2]:
        return
    load, saved = rest[1][4:], False
    for name, lines in written.items():
        others = lines[1:] if lines[:1] == [load] else lines
        taken = _TAKES.fullmatch(others[0] if others else "")
        fresh = others is lines and saved
        again = any(re.search(r"\bepoch\b(?!\()", line) for line in others[1:])
        if lines != rest and taken and int(taken[3]) and not fresh and not again:
            kept = f"    yield from itertools.islice(epoch := rest({taken[2]}), {taken[3]})"
            written[name] = [kept, *others[1:]]
        saved = saved or any(".write_bytes(" in line or "torch.save(" in line for line in lines)


def _with_number(lines: list[str]) -> tuple[list[str], str]:
    """Return a session's statements with ``n`` for the one number of batches that it takes.

    And that number; as they are, and nothing, where it takes none or several.

    Example:
        >>> _with_number(["    yield from itertools.islice(epoch, 2)", "    save()"])
        (['    yield from itertools.islice(epoch, int(n))', '    save()'], '2')
    """
    found = [number for number, line in enumerate(lines) if _NUMBER.search(line)]
    if len(found) != 1:
        return lines, ""
    line = lines[found[0]]
    number = _NUMBER.search(line)
    counted = number[2] if number else ""
    return [*lines[: found[0]], _NUMBER.sub(r"\1int(n))", line), *lines[found[0] + 1 :]], counted


def numbered(written: Mapping[str, list[str]]) -> dict[str, tuple[list[str], str]]:
    """Return the statements and the numbers of the sessions that differ in nothing else.

    Those of the first statements that several sessions share so: one function has one number.
    """
    pairs = {name: _with_number(lines) for name, lines in written.items()}
    for lines, number in pairs.values():
        alike = {name: pair for name, pair in pairs.items() if pair[1] and pair[0] == lines}
        if number and len({count for _, count in alike.values()}) > 1:
            return alike
    return {}


def chained(lines: list[str]) -> list[str]:
    """Return a session's statements, epochs that follow each other as one generator.

    Example:
        >>> first = ["    yield from itertools.islice(epoch := iter(session.epoch()), 2)"]
        >>> first += ["    save()", "    yield from epoch", "    yield from session.epoch()"]
        >>> print("\\n".join(line.strip() for line in chained(first)))
        yield from itertools.islice(epochs := (b for _ in range(2) for b in session.epoch()), 2)
        save()
        yield from epochs
    """
    rest = next((n for n, line in enumerate(lines) if line == "    yield from epoch"), len(lines))
    more, one = _counted(lines[rest + 1 :][:1])
    while _counted(lines[rest + 1 : rest + 2 + more])[0] > more:
        more += 1
    taken = _TAKES.fullmatch(lines[0] if lines else "")
    if more and taken and taken[1] and "epoch =" not in " ".join(lines):
        begun = f"epochs := {_after_each_other(one, more + 1)}"
        others = [re.sub(r"\bepoch\b(?!\()", "epochs", line) for line in lines[1 : rest + 1]]
        head = f"    yield from itertools.islice({begun}, {taken[3]})"
        whole = [head, *others, *lines[rest + 1 + more :]]
        return whole if len(head) <= _WIDTH else lines
    loaded = 1 if _LOADS.fullmatch(lines[0] if lines else "") else 0
    count, one = _counted(lines[loaded:])
    if count > 1:
        return [*lines[:loaded], f"    yield from {_after_each_other(one, count)}"]
    return lines


def _unrolled(lines: Sequence[str]) -> list[str]:
    """Return statements, whole epochs one by one."""
    count, epoch = _counted(lines)
    return [epoch] * count or list(lines)


def _after_each_other(epoch: str, count: int) -> str:
    """Return the generator of several epochs, each begun at the end of the one before."""
    return f"(b for _ in range({count}) for b in {epoch.removeprefix('    yield from ')})"


def one_function(
    written: Mapping[str, list[str]],
) -> tuple[list[str], dict[str, list[str]]] | None:
    """Return the statements that all sessions share, and what each session is handed for them.

    That is the names of the states that it loads and saves, and of each epoch the number of
    batches that it takes. None where a session does more than to load a state, to take from
    epochs of its own and to save.

    Example:
        >>> load = '    session.load(pickle.loads(pathlib.Path("a").read_bytes()))'
        >>> save = '    pathlib.Path("a").write_bytes(pickle.dumps(session.state()))'
        >>> take = "    yield from itertools.islice(epoch := iter(session.epoch()), 2)"
        >>> _, given = one_function({"first": [take, save], "second": [load, take]})
        >>> given
        {'first': ['', 'a', '2'], 'second': ['a', '', '2']}
    """
    given: dict[str, list[str]] = {}
    loads, saves, sources = set(), set(), set()
    for name, lines in written.items():
        loaded = _LOADS.fullmatch(lines[0] if lines else "")
        saved = _WRITES.fullmatch(lines[-1] if lines else "")
        files = [loaded[1] if loaded else '""', (saved[1] or saved[2]) if saved else '""']
        counts: list[str] = []
        for line in _unrolled(lines[bool(loaded) : len(lines) - bool(saved)]):
            taken = _TAKES.fullmatch(line)
            if not (taken or _EPOCH.fullmatch(line)):
                return None
            counts.append(taken[3] if taken else "null")
            sources.add("loader" if "(loader" in line or line.endswith("loader") else "session")
        if loaded:
            loads.add(lines[0].replace(files[0], "load"))
        if saved:
            saves.add(lines[-1].replace(files[1], "save"))
        given[name] = [*(file.strip('"') for file in files), *counts]
    if not (len(loads) == len(saves) == len(sources) == 1):
        return None
    begun = "loader" if "loader" in sources else "session.epoch()"
    return [
        "    if load:",
        f"    {loads.pop()}",
        "    for n in counts:",
        f"        yield from itertools.islice(epoch := iter({begun}), json.loads(n))",
        "    if save:",
        f"    {saves.pop()}",
    ], given
