"""The suite as pytest items: the known failures, then each requirement on each kind of workload.

``pytest --pyargs midepoch_conformance --loader torchdata`` collects them. Under pytest-xdist each
process has its own hosts. With ``--junitxml`` each item is a test case of that file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families.offered import cases_for
from midepoch_conformance.report.lines import spec_version, suite_version
from midepoch_conformance.run.check import load_table, open_benches
from midepoch_conformance.run.known import load_known
from midepoch_conformance.run.piecewise import PiecewiseCheck
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import smoke
from midepoch_conformance.run.summary import SORTS
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import Known


def _known(config: pytest.Config) -> list[Known]:
    path = config.getoption("midepoch_known")
    return [] if path is None else load_known(Path(path))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of each known failure, and of each requirement and kind that has cases.

    Raises:
        pytest.Collector.CollectError: there is no loader, no such profile, or the file of known
            failures cannot be read.
    """
    if "requirement" not in metafunc.fixturenames:
        return
    if metafunc.config.getoption("midepoch_loader") is None:
        raise pytest.Collector.CollectError("name a loader to judge: --loader torchdata")
    try:
        table = load_table(metafunc.config.getoption("midepoch_profile"))
        known = _known(metafunc.config)
    except CheckError as error:
        raise pytest.Collector.CollectError(f"{error}; {error.hint}") from error
    items: list[tuple[str, str, int | None]] = [
        (entry.requirement, entry.case.workload.kind, number) for number, entry in enumerate(known)
    ]
    asked = {(i, case.workload.kind) for case in table for i in judges.applicable(case)}
    items += [(i, kind, None) for i in requirements.load() for kind in KINDS if (i, kind) in asked]
    ids = [
        f"{requirement}-{kind}" if number is None else f"known-{number + 1}-{requirement}-{kind}"
        for requirement, kind, number in items
    ]
    metafunc.parametrize(("requirement", "kind", "known"), items, ids=ids)


@pytest.fixture(scope="session")
def opened(pytestconfig: pytest.Config) -> Iterator[tuple[PiecewiseCheck, LoaderInfo]]:
    """Open the loader and let it pass the smoke gate."""
    settings = Settings(
        pytestconfig.getoption("midepoch_loader"),
        profile=pytestconfig.getoption("midepoch_profile"),
        python=pytestconfig.getoption("midepoch_python"),
        jobs=1,
        known=tuple(_known(pytestconfig)),
    )
    folder = Path(pytestconfig.getoption("midepoch_scripts"))
    with open_benches(settings) as benches, Scripts(folder, settings.python) as scripts:
        smoke(benches[0])
        table = cases_for(benches[0].info, load_table(settings.profile))
        yield PiecewiseCheck(benches[0], table, settings.known, scripts), benches[0].info


def test_a_resume_can_be_judged(opened: tuple[PiecewiseCheck, LoaderInfo]) -> None:
    """The loader has a state: without one, every item about resuming is skipped, and none fails."""
    verdict = opened[0].resuming()
    if verdict.outcome == "failed":
        pytest.fail(verdict.words, pytrace=False)


@pytest.mark.parametrize("sort", SORTS, ids=[sort.replace(" ", "-") for sort in SORTS])
def test_runs_can_be_judged(opened: tuple[PiecewiseCheck, LoaderInfo], sort: str) -> None:
    """A run of this sort ends: if each raises, every item is judged without such runs."""
    verdict = opened[0].runs(sort)
    if verdict.outcome == "failed":
        pytest.fail(verdict.words, pytrace=False)
    if verdict.outcome == "skipped":
        pytest.skip(verdict.words)


def test_requirement(
    opened: tuple[PiecewiseCheck, LoaderInfo],
    requirement: str,
    kind: str,
    known: int | None,
    record_property: Callable[[str, object], None],
) -> None:
    """The loader holds a requirement on a kind of workload; a known failure still fails."""
    checker, info = opened
    verdict = checker.verdict(requirement, kind) if known is None else checker.known_verdict(known)
    for name, value in (
        ("requirement", requirement),
        ("workload", kind),
        ("verdict", verdict.counts),
        ("loader", f"{info.name} {info.version}".strip()),
        ("suite", suite_version()),
        ("spec", spec_version()),
    ):
        record_property(name, value)
    if verdict.outcome == "failed":
        pytest.fail(verdict.words, pytrace=False)
    if verdict.outcome == "known":
        # Not a mark: only the verdict shows that the failure is known.
        pytest.xfail(verdict.words)
    if verdict.outcome == "skipped":
        pytest.skip(verdict.words)
