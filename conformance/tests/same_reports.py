"""Exit with 1 unless all reports named on the command line are equal, their times apart.

``python conformance/tests/same_reports.py A.jsonl B.jsonl …``
"""

from __future__ import annotations

import sys
from pathlib import Path

from midepoch_conformance.report.file import read_report
from midepoch_conformance.report.lines import stable


def differing(paths: list[Path]) -> list[Path]:
    """Return the reports that differ from the first one."""
    first, *others = ([stable(line) for line in read_report(path)] for path in paths)
    return [path for path, lines in zip(paths[1:], others, strict=True) if lines != first]


if __name__ == "__main__":
    paths = [Path(name) for name in sys.argv[1:]]
    if len(paths) < 2:
        sys.exit("at least two reports are needed")
    odd = differing(paths)
    print("\n".join(f"{path} differs from {paths[0]}" for path in odd) or f"{len(paths)} equal")
    sys.exit(bool(odd))
