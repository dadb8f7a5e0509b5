"""The player of a failure's script, and its end, where things are compared (pure text)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

__all__ = ["HELPERS", "comparison", "end", "helpers", "player"]

LIMIT = 30
"""Seconds that a session of a script has."""

WIDTH = 100

HELPERS: dict[str, tuple[str, ...]] = {
    "global_streams": (
        "def global_streams():  # their states",
        '    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")',
        "    states = [random.getstate(), numpy and str(numpy.random.get_state())]",
        "    return [*states, torch and torch.get_rng_state().tolist()]",
    ),
    "go_on": (
        "def go_on(epochs, times=1, n=None, live=[]):  # as far as an error that is caught",
        "    for _ in range(times):",
        "        with contextlib.suppress(Exception):",
        "            live[:] = live or [iter(epochs())]",
        "            yield from itertools.islice(live[0], n)",
        "            live[:] = live if n else []",
    ),
    "left": (
        "def left():  # the processes that a closed loader leaves; they have five seconds to go",
        "    until = time.monotonic() + 5",
        "    while multiprocessing.active_children() and time.monotonic() < until:",
        "        time.sleep(0.01)",
        "    return len(multiprocessing.active_children())",
    ),
    "held": (
        "def held(first=[]):  # processes, threads, descriptors; what ends has 5 s to be gone",
        "    for _ in range(250):",
        "        counts = [len(multiprocessing.active_children())]",
        '        counts += [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]',
        "        first[:] = first or counts",
        "        time.sleep(0.02 * any(map(operator.gt, counts, first)))",
        "    return counts",
    ),
    "edit": (
        "def edit(node):  # empty each dict and list in it, in place",
        "    if isinstance(node, (dict, list)):",
        "        list(map(edit, node.values() if isinstance(node, dict) else node))",
        "        node.clear()",
    ),
    "change": (
        "def change(node):  # empty each dict and list in it, and change each array, in place",
        "    if isinstance(node, (dict, list)):",
        "        list(map(change, node.values() if isinstance(node, dict) else node))",
        "        node.clear()",
        '    elif hasattr(node, "dtype"):',
        "        node += 1",
    ),
    "cut": (
        "def cut(state, number):  # leave a part out",
        "    def parts(node):",
        "        for key, part in node.items() if isinstance(node, dict) else enumerate(node):",
        "            yield from [(node, key)] * isinstance(node, dict)",
        "            yield from parts(part) if isinstance(part, (dict, list)) else ()",
        "    node, key = list(parts(state))[number]",
        "    del node[key]",
        "    return state",
    ),
}
"""Functions that sessions may call."""


def helpers(text: str, known: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return those of the ``known`` functions that ``text`` calls or hands on."""
    return [
        list(lines)
        for name, lines in known.items()
        if re.search(rf"(?<![.\w]){name}\(|(?:\bmap\(|key=){name}\b", text)
    ]


def player(changes: bool, dies: bool, short: bool = False) -> list[str]:
    """Return the function that plays a session in an interpreter of its own.

    Args:
        changes: whether sessions differ in their workload or execution.
        dies: whether a session's process may die, and that has to be told.
        short: whether each line counts: there is one seed for all, and what sessions differ in
            is handed on as a text.
    """
    more, given = (", **changes", ", json.dumps(changes)") if changes else ("", "")
    status = "code = " if dies else ""
    told = ' + [[f"died: status {code}"]] * (code != 0)' if dies else ""
    returned = f"    return [json.loads(line) for line in open(name)]{told}"
    if short:
        command = '["env", f"PYTHONHASHSEED={n}", sys.executable, __file__, name, n, *more]'
        return [
            "def play(name, n, *more):  # a session, in a new interpreter, with seeds of its own",
            f"    {status}subprocess.call({command})",
            returned,
        ]
    return [
        f"def play(name, hash_seed, streams_seed{more}):  # a session, in a new interpreter",
        f"    command = [sys.executable, __file__, name, streams_seed{given}]",
        f'    {status}subprocess.call(command, env={{**os.environ, "PYTHONHASHSEED": hash_seed}})',
        returned,
    ]


def comparison(
    expected: str, got: str, shows: str, plays: Mapping[str, str], joined: bool = False
) -> list[str]:
    """Return the script's main part, which plays the sessions and compares.

    Args:
        expected: the expression of what is expected; ``@name`` stands for a session.
        got: the expression of what came.
        shows: the expression that tells whether the failure shows.
        plays: the call that plays each session, by name; the uninterrupted run's is first.
        joined: whether each line counts.
    """
    ordered = [("got", got), ("expected", expected)]
    if not re.search(r"\bgot\b", _code(expected)):
        ordered.reverse()
    text = " ".join((expected, got, shows))
    used = [name for name in plays if f"@{name}" in text]
    first = [name for name in used if text.count(f"@{name}") > 1 or f"@{name}" in shows]
    inline = {name: call for name, call in plays.items() if name in used and name not in first}
    lines = [f"{name} = {_filled(value, inline)}" for name, value in ordered]
    whole = [line for text in lines for line in text.splitlines()]
    inlined = _in_order(lines, plays, first)
    if joined and inlined and first in ([], ["whole"]):
        lines = _joined(lines)
    elif not inlined or any(len(line) + 4 > WIDTH for line in whole):
        first = used
        lines = [f"{name} = {_filled(value, {})}" for name, value in ordered]
    # Sessions whose deliveries nobody looks at are played for their states.
    silent = [name for name in plays if name not in used]
    before = [
        plays[name] if name in silent else f"{name} = {plays[name]}"
        for name in plays
        if name in silent or name in first
    ]
    if silent and inline and first != used:
        before = [plays[n] if n in silent else f"{n} = {plays[n]}" for n in plays]
        lines = [f"{name} = {_filled(value, {})}" for name, value in ordered]
    compared = [*before, *lines]
    if joined:
        named = _named_where_played(ordered, shows, plays)
        if named and len(named[0]) < sum(line.count("\n") + 1 for line in compared):
            compared, shows = named
    return [
        'if __name__ == "__main__" and not sys.argv[1:]:',
        "    os.chdir(tempfile.mkdtemp())  # for the states, and for what is delivered",
        *(f"    {line}" for line in compared),
        '    print(__doc__, f"expected: {expected}", f"got:      {got}", sep="\\n")',
        *_exit(_filled(shows, {})),
    ]


def _named_where_played(
    values: Sequence[tuple[str, str]], shows: str, plays: Mapping[str, str]
) -> tuple[list[str], str] | None:
    """Return the statements that play each session where it is first looked at.

    And what tells whether the failure shows. None where the sessions come in another order so.

    Example:
        >>> values = [("expected", "@whole"), ("got", "[*@first, *@second]")]
        >>> plays = {name: f"play({name!r})" for name in ("whole", "first", "second")}
        >>> statements, shows = _named_where_played(values, "not refused(@second)", plays)
        >>> print("\\n".join([*statements, shows]))
        expected, got = play('whole'), [*play('first'), *(second := play('second'))]
        not refused(second)
    """
    order, played, known = list(plays), [], {}
    text = " ".join([*(value for _, value in values), shows])
    lines: list[str] = []
    for name, value in values:
        asked = [n for n in dict.fromkeys(re.findall(r"@(\w+)", value)) if n not in played]
        for silent in order[: min(map(order.index, asked), default=0)]:
            if f"@{silent}" not in text and silent not in played:
                lines.append(plays[silent])
                played.append(silent)
        for session in asked:
            again = text.count(f"@{session}") > 1
            call = f"({session} := {plays[session]})" if again else plays[session]
            if value == f"@{session}":
                call, known[session] = plays[session], name
            value = value.replace(f"@{session}", call, 1)
            played.append(session)
        lines.append(f"{name} = {_filled(value, known)}")
    lines = min((_joined(lines), [p for line in lines for p in _broken(line)]), key=len)
    try:
        compile("\n".join(lines), "failure.py", "exec")
    except SyntaxError:  # a name that is given within a comprehension
        return None
    fits = all(len(line) + 4 <= WIDTH for line in lines)
    return (lines, _filled(shows, known)) if fits and played == order else None


def _joined(lines: Sequence[str]) -> list[str]:
    """Return two assignments as one if neither needs the other and it takes fewer lines.

    Example:
        >>> _joined(['expected = play("whole")', 'got = play("first")'])
        ['expected, got = play("whole"), play("first")']
    """
    apart = [part for line in lines for part in _broken(line)]
    if not all(" = " in line for line in lines):
        return apart
    names, values = zip(*(line.split(" = ", 1) for line in lines), strict=True)
    if re.search(r"\b(got|expected)\b", _code(" ".join(values))):
        return apart
    together = _broken(f"{', '.join(names)} = {', '.join(values)}")
    wide = any(len(line) + 4 > WIDTH for line in together)
    return apart if wide else min(apart, together, key=len)


def _broken(line: str) -> list[str]:
    """Return a statement as several lines, between the calls that play sessions."""
    begin, *rest = re.split(r", (?=\[?\*?(?:\(\w+ := )?play\()", line)
    for number, part in enumerate(rest, 1):
        last = begin.rpartition("\n")[2]
        code = _code(begin)
        # A statement goes on in the next line within brackets alone.
        size = len(f"    {last}, {part}") + (number < len(rest))
        fits = size <= WIDTH or code.count("[") == code.count("]")
        begin += f", {part}" if fits else f",\n    {part}"
    return begin.splitlines()


def _exit(shows: str) -> list[str]:
    """Return the script's end: status 1 where the failure shows."""
    line = f"    sys.exit({shows})"
    return [line] if len(line) <= WIDTH else [f"    shows = {shows}", "    sys.exit(shows)"]


def _in_order(lines: Sequence[str], plays: Mapping[str, str], first: Sequence[str]) -> bool:
    """Return whether inlined plays come in the sessions' order."""
    text = " ".join(lines)
    at = [text.find(call) for name, call in plays.items() if name not in first]
    found = [place for place in at if place >= 0]
    # A session with a variable is played before all others.
    names = [name for name in plays if name in first or plays[name] in text]
    return found == sorted(found) and names[: len(first)] == list(first)


def _filled(text: str, plays: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)", lambda found: plays.get(found[1], found[1]), text)


def _code(text: str) -> str:
    """Return an expression without its texts."""
    return re.sub(r'"[^"]*"', '""', text)


def end(
    function: str,
    handed: str,
    opened: str,
    seeds: Sequence[str],
    shown: str,
    told: bool,
    tight: bool,
    limited: bool = True,
) -> list[str]:
    """Return the part that is one session, in the interpreter that ``play`` has started.

    Args:
        function: the function that is called; empty where the session has one of its own.
        handed: the expression of what the adapter is handed; empty where that is nothing.
        opened: the expression that builds the loader, of ``case`` where it is handed that.
        seeds: the functions that seed the global random streams.
        shown: the arguments that make the text of a ``batch``.
        told: whether an error is told among what is delivered; else the interpreter prints it.
        tight: whether each line counts.
        limited: whether a hang ends by itself.
    """
    begun = [f"signal.alarm({LIMIT})  # a hang ends here"] * limited
    if tight and len(seeds) > 1:
        begun.append(f"[seed(int(sys.argv[2])) for seed in ({', '.join(seeds)})]")
    else:
        begun += [f"{seed}(int(sys.argv[2]))" for seed in seeds]
    batches = f"for batch in {function or 'globals()[sys.argv[1]]'}({opened})"
    lines = [f"{batches}:", f"    print(json.dumps({shown}), file=seen)"]
    if told:
        lines = [
            "try:",
            *(f"    {line}" for line in lines),
            "except BaseException as error:",
            '    print(json.dumps([f"{type(error).__name__}: {error}"]), file=seen)',
        ]
    case = [f"case = {handed}"] if handed and len(handed) < WIDTH - 12 else []
    if handed and not case:
        case = _filled_lines(handed, tight)
    written = [
        'with open(sys.argv[1], "w", buffering=1) as seen:',
        *(f"    {line}" for line in lines),
    ]
    if tight and not told:
        begin = f'open(sys.argv[1], "w", buffering=1).writelines(json.dumps({shown}) + "\\n"'
        together = [begin, f"    {batches})"]
        if all(len(line) + 4 <= WIDTH for line in together):
            written = together
    return [
        'if __name__ == "__main__":',
        *(f"    {line}" for line in [*begun, *case, *written]),
    ]


def _filled_lines(handed: str, tight: bool) -> list[str]:
    begin = "case = types.SimpleNamespace("
    given = handed.removeprefix("types.SimpleNamespace(").removesuffix(")")
    if tight:
        return _wrapped(f"{begin}{given})", "    ")
    return [begin, *(f"    {line}" for line in _wrapped(given)), ")"]


def _wrapped(text: str, indent: str = "") -> list[str]:
    # What is in quotes stays whole.
    text = re.sub(r'"[^"]*"', lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        text, WIDTH - 8, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in lines]
