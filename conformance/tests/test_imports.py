"""Imports point one way (ARCHITECTURE.md): the rooms' walls, enforced."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPL = ROOT / "impl" / "midepoch"
SUITE = ROOT / "conformance" / "midepoch_conformance"

PURE_IMPL = ("errors", "seeds", "order", "plan", "state", "canonical",
             "interop/torchdata_layout")  # fmt: skip
"""Pure logic: neither torch nor multiprocessing, not even inside a function but for codecs."""

HOST_SIDE = (
    "__init__", "adapter", "workload", "case", "trace", "host", "play", "loading", "make_loader",
    "journal", "faults", "codecs", "tampering", "processes", "streams", "memory", "holdings",
    "logbook", "sources", "trees", "held_batches",
)  # fmt: skip
"""Loaded by the interpreter of the loader under test: the standard library alone."""

LOADERS = {"torch", "torchdata", "grain", "numpy", "jax", "midepoch"}


def imports(path: Path, nested: bool = True) -> set[str]:
    """Return the absolute names that a file imports (``nested``: inside functions as well)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if nested else iter(_module_level(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide a file's direction"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _module_level(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements that run at import, type-checking blocks left out."""
    out: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        out.append(node)
        out += [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))] * (
            isinstance(node, (ast.Try, ast.If, ast.With))
        )
    return out


def top(name: str) -> str:
    return name.split(".")[0]


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*.py"))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files(IMPL), ids=relative)
def test_the_loader_never_imports_the_suite(path: Path) -> None:
    assert "midepoch_conformance" not in {top(n) for n in imports(path)}


@pytest.mark.parametrize("path", files(IMPL), ids=relative)
def test_the_loader_needs_torch_and_numpy_alone(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"torch", "numpy", "midepoch"}
    assert {top(n) for n in imports(path)} <= allowed


@pytest.mark.parametrize("name", PURE_IMPL)
def test_pure_files_import_neither_torch_nor_multiprocessing(name: str) -> None:
    found = {top(n) for n in imports(IMPL / f"{name}.py", nested=False)}
    assert not found & {"torch", "multiprocessing", "threading"}


@pytest.mark.parametrize("path", files(IMPL), ids=relative)
def test_one_file_touches_private_names_of_torch(path: Path) -> None:
    if path.name == "_torch.py":
        return
    private = [n for n in imports(path) if top(n) == "torch" and re.search(r"\._[a-z]", n)]
    text = path.read_text(encoding="utf-8")
    private += re.findall(r"\btorch(?:\.\w+)*\._[a-z]\w*", text)
    assert not private


@pytest.mark.parametrize("name", HOST_SIDE)
def test_host_side_files_need_the_standard_library_alone(name: str) -> None:
    found = imports(SUITE / f"{name}.py", nested=False)
    outside = {n for n in found if top(n) not in sys.stdlib_module_names}
    inside = {f"midepoch_conformance.{other}" for other in HOST_SIDE}
    assert {n for n in outside if n.rpartition(".")[0] not in inside and n not in inside} == set()


@pytest.mark.parametrize("path", files(SUITE), ids=relative)
def test_the_suite_imports_no_loader_outside_its_adapters(path: Path) -> None:
    # What is measured runs in an interpreter of its own, too.
    if path.parent.name in ("adapters", "measuring"):
        return
    assert not {top(n) for n in imports(path, nested=False)} & LOADERS


@pytest.mark.parametrize("path", files(SUITE / "adapters"), ids=relative)
def test_adapters_import_nothing_of_the_suite(path: Path) -> None:
    assert "midepoch_conformance" not in {top(n) for n in imports(path)}


@pytest.mark.parametrize("path", files(SUITE / "judges"), ids=relative)
def test_judges_see_traces_alone(path: Path) -> None:
    playing = {"host", "play", "runner", "check", "cli", "report", "script", "loading"}
    assert not {n for n in imports(path) if n.startswith("midepoch_conformance.")} & {
        f"midepoch_conformance.{name}" for name in playing
    }
