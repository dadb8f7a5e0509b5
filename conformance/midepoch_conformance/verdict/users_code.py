"""The user's own lines in a traceback or in a process's stacks (pure but for reading sources).

A loader's error is raised somewhere below the loader's own libraries. Its user looks for the line
of the training code: the innermost one outside the suite, installed packages and Python itself.
"""

from __future__ import annotations

import dataclasses
import linecache
import re
from pathlib import PurePath

__all__ = ["Frame", "innermost", "last_error", "raised_by_user", "users_frames", "users_lines"]

_FRAME = re.compile(r'^[ |]*File "(?P<file>.+)", line (?P<line>\d+)(?:,? in (?P<function>.+))?$')
_FOREIGN = re.compile(
    r"/lib(64)?/python3[^/]*/|/site-packages/|/dist-packages/|/midepoch_conformance/|^<"
)
_LOADER = re.compile(r"/impl/midepoch/")
"""The reference loader in a clone: like an installed one, it is not the user's code."""

_NEWEST_FIRST = "most recent call first"
_CAUGHT = "Original Traceback (most recent call last):"


@dataclasses.dataclass(frozen=True)
class Frame:
    """A line of the user's code that was running."""

    file: str
    line: int
    function: str
    """Its function; empty for a line that Python could not read."""
    source: str
    """The line itself; empty if the file cannot be read."""

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{PurePath(self.file).name}:{self.line}"

    @property
    def words(self) -> str:
        """The place with its line of source."""
        return f"{self.place} `{self.source}`" if self.source else self.place


def users_frames(trace: str) -> list[Frame]:
    """Return the frames of the user's own code, the innermost last.

    Args:
        trace: a formatted traceback, or stacks as ``faulthandler`` writes them.

    Example:
        >>> trace = '''Traceback (most recent call last):
        ...   File "/site-packages/torch/loader.py", line 9, in next
        ...     return self.dataset[i]
        ...   File "/home/me/train.py", line 12, in __getitem__
        ...     return self.rows[i]["lable"]
        ... KeyError: 'lable'
        ... '''
        >>> users_frames(trace)[-1].words
        'train.py:12 `return self.rows[i]["lable"]`'
    """
    found: list[Frame] = []
    lines = trace.splitlines()
    for number, text in enumerate(lines):
        frame = _FRAME.match(text)
        if frame is None or _FOREIGN.search(frame["file"]):
            continue
        after = lines[number + 1].strip() if number + 1 < len(lines) else ""
        given = after if after and not _FRAME.match(lines[number + 1]) else ""
        # Stacks of a process that hangs have no lines of source.
        source = linecache.getline(frame["file"], int(frame["line"])).strip()
        at = Frame(frame["file"], int(frame["line"]), frame["function"] or "", source or given)
        found.append(at)
    return found[::-1] if _NEWEST_FIRST in trace else found


def innermost(trace: str) -> Frame | None:
    """Return the user's innermost line; None if no line is the user's."""
    return next(reversed(users_frames(trace)), None)


def raised_by_user(trace: str) -> Frame | None:
    """Return the line that raised an error, if it is the user's own; None for a library's error.

    Example:
        >>> raised_by_user('  File "/home/me/train.py", line 12, in rows\\n    return 1 / 0').words
        'train.py:12 `return 1 / 0`'
        >>> raised_by_user('  File "/home/me/a.py", line 1, in f\\n    load()\\n'
        ...                '  File "/site-packages/torch/b.py", line 9, in load\\n    raise E')
    """
    frames = [found["file"] for line in trace.splitlines() if (found := _FRAME.match(line))]
    if not frames or _FOREIGN.search(frames[-1]) or _LOADER.search(frames[-1]):
        return None
    return innermost(trace)


def users_lines(trace: str, most: int = 3) -> str:
    """Return the user's innermost lines as text, a frame on each pair of lines.

    Example:
        >>> print(users_lines('  File "/home/me/train.py", line 12, in rows\\n    return 1 / 0'))
        train.py:12, in rows
            return 1 / 0
    """
    frames = users_frames(trace)[-most:]
    words = (
        one.place
        + (f", in {one.function}" if one.function else "")
        + (f"\n    {one.source}" if one.source else "")
        for one in frames
    )
    return "\n".join(words)


def last_error(message: str) -> str:
    """Return an error's message without the traceback that a worker has put into it.

    Example:
        >>> last_error("Caught KeyError in worker 0.\\nOriginal Traceback (most recent call last):"
        ...            "\\n  File \\"a.py\\", line 1, in f\\nKeyError: 'b'")
        "Caught KeyError in worker 0. KeyError: 'b'"
    """
    head, caught, rest = message.partition(_CAUGHT)
    parts = [head, rest.strip().rpartition("\n")[2]] if caught else [message]
    return " ".join(" ".join(parts).split())
