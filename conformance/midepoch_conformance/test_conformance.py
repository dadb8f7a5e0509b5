"""The suite as pytest items, one a requirement and workload kind.

Collected by ``pytest --pyargs midepoch_conformance --loader torchdata``; under pytest-xdist
each process has hosts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from midepoch_conformance import judges, requirements
from midepoch_conformance.check import load_table, open_benches
from midepoch_conformance.settings import CheckError, Settings
from midepoch_conformance.sitting import Sitting
from midepoch_conformance.smoke import smoke
from midepoch_conformance.workload import KINDS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of each requirement and kind of workload that the table has cases for.

    Raises:
        pytest.Collector.CollectError: there is no loader, or no such profile.
    """
    if metafunc.config.getoption("midepoch_loader") is None:
        raise pytest.Collector.CollectError("name a loader to judge: --loader torchdata")
    try:
        table = load_table(metafunc.config.getoption("midepoch_profile"))
    except CheckError as error:
        raise pytest.Collector.CollectError(f"{error}; {error.hint}") from error
    asked = {(i, case.workload.kind) for case in table for i in judges.applicable(case)}
    pairs = [(i, kind) for i in requirements.load() for kind in KINDS if (i, kind) in asked]
    ids = [f"{requirement}-{kind}" for requirement, kind in pairs]
    metafunc.parametrize(("requirement", "kind"), pairs, ids=ids)


@pytest.fixture(scope="session")
def sitting(pytestconfig: pytest.Config) -> Iterator[Sitting]:
    """Open the loader and put it to the smoke gate."""
    settings = Settings(
        pytestconfig.getoption("midepoch_loader"),
        profile=pytestconfig.getoption("midepoch_profile"),
        python=pytestconfig.getoption("midepoch_python"),
        jobs=1,
    )
    with open_benches(settings) as benches:
        smoke(benches[0])
        yield Sitting(benches[0], load_table(settings.profile), settings.loader)


def test_requirement(sitting: Sitting, requirement: str, kind: str) -> None:
    """The loader holds a requirement on a kind of workload."""
    verdict = sitting.verdict(requirement, kind)
    if verdict.failed:
        pytest.fail(verdict.words, pytrace=False)
    if verdict.skipped:
        pytest.skip(verdict.words)
