"""The pytest front end's options.

Every pytest run of an environment loads this plugin: it imports nothing of the suite, and takes
the short names of its options only in runs of the suite's own tests. The tests themselves are in
``test_conformance.py``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

__all__ = ["pytest_addoption"]

_OPTIONS = (
    ("loader", "SPEC", None, "the loader to judge: a built-in name, or FILE.py:Adapter"),
    ("profile", "NAME", "quick", "the table of cases: quick or full"),
    ("python", "PATH", None, "the Python interpreter in which the loader is installed"),
    ("known", "FILE", None, "TOML file of accepted failures; one that no longer fails is an error"),
    ("scripts", "DIR", "midepoch-report", "the folder for the scripts of failures"),
)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add ``--midepoch-loader`` and its like; ``--loader`` and its like for the suite's tests."""
    group = parser.getgroup("midepoch", "judge how a loader resumes (midepoch)")
    short = _is_asked_for(pluginmanager)
    for name, metavar, default, words in _OPTIONS:
        names = [f"--midepoch-{name}"]
        settings = {
            "dest": f"midepoch_{name}",
            "metavar": metavar,
            "default": default,
            "help": words,
        }
        group.addoption(*names, **settings)
        if short:
            # Another plugin may own the short name; this one then has only the long name.
            with contextlib.suppress(ValueError):
                group.addoption(f"--{name}", **settings)


def _is_asked_for(pluginmanager: pytest.PytestPluginManager) -> bool:
    config: pytest.Config | None = pluginmanager.getplugin("pytestconfig")
    if config is None:
        return False
    return any("midepoch_conformance" in str(word) for word in config.invocation_params.args)
