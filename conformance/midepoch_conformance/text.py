"""Texts that others wrote, made fit to be shown: on a terminal, in Markdown, in XML (pure).

A loader chooses its name, its errors and its keys. A control character among them could move
a terminal's cursor, and is no character of XML at all.
"""

from __future__ import annotations

__all__ = ["clipped", "printable"]

_KEPT = "\n\t"


def printable(text: str, lines: bool = True) -> str:
    r"""Return ``text`` with what cannot be shown written out; ``lines``: line ends are kept.

    Characters that turn the direction of the text around them are written out as well.

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
    """Return ``text``, cut to ``limit`` characters, the cut marked.

    Example:
        >>> clipped("abcdef", 4), clipped("abc", 4)
        ('abc…', 'abc')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _written(character: str) -> str:
    # No-break and other odd spaces are harmless, and common in names.
    return " " if character.isspace() else ascii(character)[1:-1]
