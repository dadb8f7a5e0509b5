"""Sessions of a failure's script that share a function (pure text)."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["begun", "numbered", "resumed_or_whole"]

_LOADS = re.compile(r'    \w+\.load\w*\(.*?\(("\w+").*\)')
_TAKES = re.compile(
    r"    yield from itertools\.islice\((epoch := iter\()?(?=(session|loader))"
    r"(?:session\.epoch\(\)|loader)\)?, (\d+)\)"
)
_NUMBER = re.compile(r"(islice\(.*, )(\d+)\)$")


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
