"""Run the script of each finding in its loader's environment; exit with 1 unless all still hold.

``python conformance/tests/findings.py [PAGE …]``: pages of ``docs/findings``, by default all. A
page's first Python block is its script, and the text block after it is what the script prints.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.utils import meta

from midepoch_conformance.matrix.environments import interpreter
from midepoch_conformance.matrix.rows import named

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "findings"
LOCKS = ROOT / "conformance" / "environments"
LIMIT = 300
_BLOCK = re.compile(r"^```(?P<language>python|text)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclasses.dataclass(frozen=True)
class FindingPage:
    """A page with the facts at its head."""

    path: Path
    about: dict[str, Any]
    text: str

    @property
    def script(self) -> str:
        """The script."""
        return self._blocks()[0][1]

    @property
    def prints(self) -> str:
        """What the script prints."""
        return self._blocks()[1][1]

    def _blocks(self) -> list[tuple[str, str]]:
        found = [(block["language"], block["text"]) for block in _BLOCK.finditer(self.text)]
        if [language for language, _ in found[:2]] != ["python", "text"]:
            raise ValueError(f"{self.path}: a Python block, and a text block after it, are missing")
        return found


def pages(folder: Path = PAGES) -> Iterator[FindingPage]:
    """Yield the pages of findings."""
    for path in sorted(folder.glob("*.md")):
        if path.name != "index.md":
            text, about = meta.get_data(path.read_text(encoding="utf-8"))
            yield FindingPage(path, about, text)


def run(page: FindingPage, environments: Path) -> str:
    """Return what a page's script prints in the loader's environment."""
    stood = any(row.stand_in for row in named(tuple(page.about["rows"])))
    path = str(LOCKS / "stand_in") if stood else ""
    python = interpreter(LOCKS / f"{page.about['environment']}.txt", environments)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "finding.py")
        script.write_text(page.script, encoding="utf-8")
        ran = subprocess.run(
            [python, "-W", "ignore", script.name],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path, "TMPDIR": folder},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    return ran.stdout if ran.returncode == 0 else f"{ran.stdout}{ran.stderr}"


def main() -> int:
    """Run the pages and return the exit status."""
    asked = {Path(name).stem for name in sys.argv[1:]}
    changed = 0
    for page in pages():
        if asked and page.path.stem not in asked:
            continue
        printed = run(page, ROOT / ".venv-matrix")
        same = printed.split() == page.prints.split()
        changed += not same
        print(f"{page.path.stem}: {'as written' if same else 'prints something else:'}", flush=True)
        if not same:
            print(printed)
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
