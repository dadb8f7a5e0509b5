"""griffe extension: turns docstrings, which are written for ``help()``, into Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent) *\S.*)*", re.MULTILINE)
_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([^`]+)`")


class DocstringMarkup(griffe.Extension):
    """Fences the examples of a docstring and shows its cross references as code."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring's text as Markdown."""
    return _EXAMPLE.sub(_fence, _ROLE.sub(r"`\1`", text))


def _fence(match: re.Match[str]) -> str:
    indent = match["indent"]
    return f"{indent}```pycon\n{match[0]}\n{indent}```"
