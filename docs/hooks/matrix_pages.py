"""mkdocs hook: the compatibility matrix from its reports, and the list of findings."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import meta

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "conformance" / "results"
INDEX, PLACE = "findings/index.md", "<!-- the list of findings -->"
PLACE_OF_SCRIPT = "> SCRIPT"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the matrix's page, the pages of its reports and the badges."""
    # Imported late: other commands of mkdocs load the hooks too.
    from midepoch_conformance.matrix.page import Finding, write_pages

    findings = [
        Finding(about["title"], f"../{file.url}", about["rows"], about["requirements"])
        for file, about in _findings(files)
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_pages(RESULTS, Path(folder), findings, address=f"{config.site_url}matrix/")
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                name = f"matrix/{path.relative_to(folder).as_posix()}"
                files.append(File.generated(config, name, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the list of findings, and write above each finding what it is about.

    Raises:
        LookupError: the page of findings lacks the marker.
    """
    if page.file.src_uri == INDEX:
        if PLACE not in markdown:
            raise LookupError(f"{INDEX} lacks the line {PLACE!r}, where the list goes")
        return markdown.replace(PLACE, _list(files))
    if page.file.src_uri.startswith("findings/"):
        title, _, rest = markdown.partition("\n\n")
        about = page.meta
        facts = [f"**{about['loader']} {about['version']}**"]
        if about["rows"]:  # other options of the loader hide it there
            links = (f"[{row}](../matrix/index.md#{row})" for row in about["rows"])
            facts.append(f"matrix: {', '.join(links)}")
        if about["requirements"]:
            facts.append(f"breaks {', '.join(about['requirements'])}")
        return f"{title}\n\n{' · '.join(facts)}\n\n{_quoting(rest)}"
    return markdown


def _quoting(text: str) -> str:
    """Return a finding's text with its script in the place that the report has for it."""
    script = re.search(r"^```python\n.*?^```$", text, re.M | re.S)
    if script is None:
        raise LookupError("a finding has no script")
    quoted = "\n".join(f"> {line}".rstrip() for line in script[0].splitlines())
    return text.replace(PLACE_OF_SCRIPT, quoted)


def _findings(files: Files) -> Iterator[tuple[File, dict[str, object]]]:
    """Yield the pages of findings with the facts at their heads."""
    for file in files.documentation_pages():
        if file.src_uri.startswith("findings/") and file.src_uri != INDEX:
            yield file, meta.get_data(file.content_string)[1]


def _list(files: Files) -> str:
    """Return the findings as a list for each loader."""
    loaders: dict[str, list[str]] = {}
    for file, about in _findings(files):
        name = file.src_uri.removeprefix("findings/")
        loaders.setdefault(f"{about['loader']} {about['version']}", []).append(
            f"- [{about['title']}]({name}) ({', '.join(about['requirements'])})"
        )
    return "\n\n".join(f"## {loader}\n\n" + "\n".join(found) for loader, found in loaders.items())
