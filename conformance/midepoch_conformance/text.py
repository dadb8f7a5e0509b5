"""Texts of loaders and users, made safe to show on a terminal, in Markdown and in XML (pure).

A loader chooses its name, its errors and its keys. A control character in them could move a
terminal's cursor, and XML does not allow it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

__all__ = ["clipped", "counted", "meant", "printable", "without_process_ids"]

_KEPT = "\n\t"
_VARYING = (
    (re.compile(r"(\bpids?(?:\(s\))?[ =:]*)\d+(?:, ?\d+)*"), r"\1N"),
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "0xN"),
    (re.compile(r"(/tmp|/var/folders|/dev/shm)/[^\s'\",)]+"), r"\1/..."),
)


def printable(text: str, lines: bool = True) -> str:
    r"""Return ``text`` with unprintable characters escaped; ``lines`` keeps line ends.

    Characters that change the direction of text are escaped as well.

    Example:
        >>> printable("\x1b[31mred\u202e"), printable("two\nlines", lines=False)
        ('\\x1b[31mred\\u202e', 'two lines')
    """
    if not lines:
        text = " ".join(text.split())
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else _written(c) for c in text)


def clipped(text: str, limit: int) -> str:
    """Return ``text``, cut to ``limit`` characters; the cut is marked.

    Example:
        >>> clipped("abcdef", 4), clipped("abc", 4)
        ('abc…', 'abc')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def counted(n: int, noun: str) -> str:
    """Return a number of things in words.

    Example:
        >>> counted(1, "case"), counted(1500, "batch")
        ('1 case', '1,500 batches')
    """
    plural = f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def meant(name: str, known: Iterable[str]) -> str:
    """Return a question that names what ``name`` may have been meant to be; empty if nothing is.

    Example:
        >>> meant("RESUM-1", ["RESUME-1", "COST-1"]), meant("x", ["RESUME-1"])
        ("did you mean 'RESUME-1'?", '')
    """
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.6)
    words = " or ".join(repr(by_lower[one]) for one in near)
    return f"did you mean {words}?" if near else ""


def without_process_ids(text: str) -> str:
    """Return ``text`` without process ids, addresses and temporary paths.

    Two runs of one loader then print the same text.

    Example:
        >>> without_process_ids("worker (pid 4711) died; <Loader object at 0x7f11aa220c40>")
        'worker (pid N) died; <Loader object at 0xN>'
    """
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def _written(character: str) -> str:
    # No-break and other odd spaces are harmless, and common in names.
    return " " if character.isspace() else ascii(character)[1:-1]
