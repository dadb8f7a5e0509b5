"""The host alone: its requests and replies over pipes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midepoch_conformance.host import loading
from midepoch_conformance.host.offering import offered
from midepoch_conformance.host.system.processes import living
from midepoch_conformance.playing.host_process import HostLostError, HostProcess


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostProcess]:
    package = Path(loading.__file__).parent
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / package.name).symlink_to(package)
    process = HostProcess(sys.executable, tmp_path, "1")
    yield process
    process.end()


def hello(host: HostProcess, spec: str) -> dict[str, Any]:
    return {"spec": spec, "limit": 60, "folder": str(host.root / "start")}


def test_hello_and_goodbye(host: HostProcess, fakes: Path) -> None:
    answer = host.ask("hello", hello(host, f"{fakes / 'odd.py'}:Honest"), 60)
    assert answer["name"] == "odd"
    assert answer["offer"]["workers"] == [0, 1]
    assert host.ask("quit", {}, 10) == {"id": 2}
    assert host.process.wait(10) == 0


def test_a_stand_in_is_told_as_one(host: HostProcess, tmp_path: Path, fakes: Path) -> None:
    stand_in = Path(__file__).parents[1] / "environments" / "stand_in"
    found = f"\nsys.path.insert(0, {str(stand_in)!r})\nimport torchvision\n"
    adapter = tmp_path / "stood.py"
    adapter.write_text((fakes / "odd.py").read_text() + found)
    packages = host.ask("hello", hello(host, f"{adapter}:Honest"), 60)["packages"]
    assert packages["torchvision"] == "stand-in"
    host.ask("quit", {}, 10)
    assert host.process.wait(10) == 0


def test_requests_before_hello(host: HostProcess) -> None:
    asked: dict[str, Any] = {"workload": {"draws": []}, "execution": {}}
    answer = host.ask("declines", asked, 10)
    assert "hello comes first" in answer["error"]


def test_a_host_that_dies_says_how(host: HostProcess) -> None:
    os.kill(host.process.pid, signal.SIGTERM)
    with pytest.raises(HostLostError, match="status -15") as caught:
        host.ask("hello", hello(host, "torch"), 10)
    assert not caught.value.late


def test_a_host_that_is_late(host: HostProcess) -> None:
    os.kill(host.process.pid, signal.SIGSTOP)
    with pytest.raises(HostLostError, match="did not answer in time") as caught:
        host.ask("hello", hello(host, "torch"), 0.4)
    assert caught.value.late


def test_a_host_whose_runner_is_gone_ends_its_play(host: HostProcess, fakes: Path) -> None:
    host.ask("hello", hello(host, f"{fakes / 'odd.py'}:Hangs"), 60)
    job = {
        "workload": {"draws": []},
        "execution": {},
        "steps": [{"do": "drain"}],
        "ambient": 1,
        "root": str(host.root),
        "folder": str(host.root / "play"),
        "states": {},
        "left": [],
    }
    with pytest.raises(HostLostError):
        host.ask("play", {"job": job, "limit": 100}, 0.5)
    # The host has the request: on a busy machine it forks the player a little later.
    players: list[int] | None = None
    while not players and host.process.poll() is None:
        players = living(host.process.pid)
    assert players
    host.requests.close()
    assert host.process.wait(10) == 0
    until = time.monotonic() + 10
    while any(_alive(pid) for pid in players) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(_alive(pid) for pid in players)


def _alive(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_offers_in_any_form() -> None:
    class Given:
        name = "given"
        workers = (0, 2)
        fork_safe = False

    offer = offered(Given())
    assert (offer.name, offer.workers, offer.fork_safe) == ("given", (0, 2), False)
    assert offered({"workers": [0, 1], "intervals": [1]}).intervals == (1,)
    assert offered({}).intervals is None
    with pytest.raises(loading.SpecError, match="unknown fields: worker"):
        offered({"worker": (0,)})
    with pytest.raises(loading.SpecError, match="fork_safe is 'no'"):
        offered({"fork_safe": "no"})
    with pytest.raises(loading.SpecError, match="broken is 'agian'"):
        offered({"broken": "agian"})
    with pytest.raises(loading.SpecError, match="draws has 'random'"):
        offered({"draws": ("own", "random")})
    with pytest.raises(loading.SpecError, match="extras has 'treees'") as caught:
        offered({"extras": ["treees"]})
    assert caught.value.hint.startswith("did you mean 'trees' or 'streams'? it must be one of ")
    with pytest.raises(loading.SpecError, match="tails is 'keep'"):
        offered({"tails": "keep"})
    with pytest.raises(loading.SpecError, match="workers has 'two'"):
        offered({"workers": ("two",)})
    with pytest.raises(loading.SpecError, match="workers is 2"):
        offered({"workers": 2})
