"""The pages: their links lead somewhere, and their worked examples are right."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from requirement_index import SPEC

from midepoch.encoding import canonical
from midepoch.format.permutation import Permutation, mix64
from midepoch.format.seeds import derive, derive_words
from midepoch.format.state import Document
from midepoch.lane.batch_info import BatchInfo

PAGES = sorted([*SPEC.glob("*.md"), *SPEC.glob("rationale/*.md"), SPEC / "vectors" / "README.md"])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def slugs(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    found = set(re.findall(r'<a id="([^"]+)"></a>', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        found.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()))
    return found


def words_of(page: str) -> str:
    return (SPEC / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{page.name}: {target}"
        if anchor:
            assert anchor in slugs(file), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_id_in_the_prose_exists(page: Path) -> None:
    known = {entry["id"] for entry in json.loads(words_of("requirements.json"))["requirements"]}
    prefixes = "|".join(sorted({identifier.split("-")[0] for identifier in known}))
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(rf"\b(?:{prefixes})-\d+\b", text)) <= known


def test_the_documents_in_the_prose_are_states() -> None:
    fences = re.findall(r"```json\n(.+?)```", words_of("state.md"), re.DOTALL)
    assert len(fences) == 2
    for fence in fences:
        state = canonical.loads(fence.encode("utf-8"))
        assert Document.from_dict(state).to_dict() == state


def test_the_worked_examples_of_the_order() -> None:
    page = words_of("order.md")
    for x, y in re.findall(r"^\| `(\w+)` \| `(0x\w{16})` \|$", page, re.MULTILINE):
        assert mix64(int(x, 0)) == int(y, 16)
    assert ", ".join(map(str, Permutation(5, 0).indices(0, 5))) in page
    permutation = Permutation(10007, 1)
    assert ", ".join(map(str, permutation.indices(0, 5))) in page
    assert permutation.indices(29, 30) == [2977]
    for r in range(8):
        assert f"| {r} | {derive(1, 'order.round', r)} |" in page
    key = derive(0, "order", 0)
    assert str(key) in page
    assert ", ".join(map(str, Permutation(10, key).indices(0, 10))) in page


def test_the_worked_examples_of_the_seeds() -> None:
    page = words_of("randomness.md")
    w = derive_words(7, "batch.map", 2, 5)
    for number in (w.torch, w.python, w.numpy, w.private):
        assert str(number) in page
    digest = hashlib.sha256(b"midepoch/1/batch.map/7/2/5").hexdigest()
    assert " ".join(digest[i : i + 16] for i in range(0, 64, 16)) in page
    info = BatchInfo(2, 5, 0, w.private)
    draws = torch.rand(2, dtype=torch.float64, generator=info.torch)
    for value in (*np.random.PCG64(w.private).random_raw(2), info.numpy.random(), *draws.tolist()):
        assert str(value) in page


def test_the_worked_examples_of_the_document() -> None:
    page = words_of("state.md")
    start = hashlib.sha256(b"").digest()
    end = start
    for batch in ([4, 2], [0]):
        end = hashlib.sha256(end + canonical.dumps(batch)).digest()
    assert start.hex() in page
    assert end.hex() in page
    assert canonical.dumps({"a": (1, 2.0), 3: None}).decode() in page
