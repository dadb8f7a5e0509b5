"""A loader's name that is wrong, or whose file lacks a module: what the user is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midepoch_conformance.cli import main
from midepoch_conformance.host import host, loading
from midepoch_conformance.host.builders import builders

FILE = """
from functools import partial

def good(num_workers):
    return []

def fast(*, num_workers=0):
    return []

def _hidden(num_workers):
    return []

def other(path):
    return []
"""


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    for name in ("broken.py", "none.py"):
        Path(name).write_text(FILE)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("broken.py", "broken.py:good or broken.py:fast"),
        ("broken.py:", "broken.py:good or broken.py:fast"),
        ("broken.py:nothing", "broken.py:good or broken.py:fast"),
        ("broken.py:good:bad", "did you mean 'good'?"),
        ("broken.py:x:y", "broken.py:good or broken.py:fast"),
        ("broken:good:bad", "did you mean 'good'?"),
        ("broken", "there is a file broken.py: "),
        ("broken", "broken.py:good or broken.py:fast"),
        ("broken:", "broken.py:good or broken.py:fast"),
        ("none", "none.py:good or none.py:fast"),
    ],
)
def test_a_wrong_name_gets_the_functions_of_the_file(typed: str, hint: str) -> None:
    with pytest.raises(loading.SpecError) as caught:
        loading.load(typed)
    assert hint in caught.value.hint
    for wrong in ("::", "'nodes'", "partial", "_hidden", "other"):
        assert wrong not in caught.value.hint


def test_a_folder_may_have_a_colon(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "colon.py").write_text(FILE)
    assert loading.load(f"{folder}/colon.py:good").name == "good"


def test_a_file_without_a_function_of_num_workers_shows_the_public_ones(tmp_path: Path) -> None:
    path = tmp_path / "few.py"
    path.write_text("def _made(): pass\n\n\ndef made(): pass\n")
    assert builders(str(path)) == ["made"]
    path.write_text("def made(:\n")
    assert builders(str(path)) == []
    assert builders("nowhere.py") == []


@pytest.mark.parametrize("line", ["import numpyy", "from nohelper import x"])
def test_an_import_that_fails_shows_the_users_line_and_each_cause(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "noimport.py").write_text(f"{line}\n")
    assert main(["check", "noimport.py:make"]) == 2
    module = line.split()[1]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"midepoch: ModuleNotFoundError: No module named '{module}'"
    assert said[1:3] == ["  noimport.py:1, in <module>", f"      {line}"]
    assert said[3].startswith(f"  '{module}' may be misspelt. If it is a module of your own, ")
    assert f"If it is a package, install '{module}' for " in said[3]


def test_a_module_that_a_built_in_adapter_lacks_is_to_be_installed() -> None:
    answering = host.Host(0, 1)
    answering.spec = "mxnet"
    assert answering._missing("mxnet").startswith("install 'mxnet' for ")
    answering.spec = "mine:make"
    assert answering._missing("mxnet").startswith("'mxnet' may be misspelt. ")
