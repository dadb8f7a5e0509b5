"""The examples of the docstrings run: those of the suite and of the loader."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import midepoch
import midepoch_conformance

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NO_MODULE = ("__main__", "test_conformance")
"""The names of modules that do something when they are imported."""


def modules(package: ModuleType) -> list[str]:
    """Return the names of all modules of a package."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [one.name for one in found if not one.name.endswith(NO_MODULE)]


@pytest.fixture(autouse=True, scope="module")
def few_histories() -> None:
    """Draw histories as usual: an example counts them."""


@pytest.mark.parametrize("package", [midepoch, midepoch_conformance], ids=lambda p: p.__name__)
def test_examples(package: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, tried = [], 0
    for name in modules(package):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # an adapter of a loader that is not installed
        result = doctest.testmod(module, optionflags=OPTIONS)
        tried += result.attempted
        wrong += [name] * bool(result.failed)
    assert not wrong, capsys.readouterr().out
    assert tried > 50
