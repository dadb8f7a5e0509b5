"""The code that a script takes over: adapters, functions, their data and their names."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from test_script import CASES, TORCHDATA, judged

from midepoch_conformance.case.notation import parse
from midepoch_conformance.host.loading import ELSEWHERE
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.scripts.run import run_script
from midepoch_conformance.scripts.script import make_script
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding

pytestmark = pytest.mark.usefixtures("warm_hosts")


def test_built_in_adapters_are_specialised() -> None:
    text = make_script(TORCHDATA, parse("cut: drain"), Finding("RESUME-1", "fails"))
    loader = text[text.index("# The loader,") : text.index("# The data,")]
    assert "num_workers=0" in loader
    assert "IterableDataset" not in loader
    assert "offer" not in loader


@pytest.mark.parametrize("place", ELSEWHERE.values())
def test_the_adapters_of_all_rows_are_carried(place: str) -> None:
    module, _, attribute = place.partition(":")
    info = dataclasses.replace(
        TORCHDATA, module=f"midepoch_conformance.adapters.{module}", attribute=attribute
    )
    text = make_script(info, parse("cut: drain"), Finding("RESUME-1", "fails"))
    compile(text, place, "exec")
    assert "class Adapter" in text


def test_a_whole_script_keeps_all(fakes: Path) -> None:
    info = dataclasses.replace(
        TORCHDATA, file=str(fakes / "lies.py"), module="lies", attribute="Honest"
    )
    case = parse("cut: take 2, save s | load s, drain")
    finding = Finding("RESUME-1", "fails", evidence=Evidence("batches", 1, run=(0, 2, None)))
    text = make_script(info, case, finding, whole=True)
    assert "class Forgets" in text
    ran = run_script(text)
    assert ran.status == 0, ran.output


def test_a_make_loader_function_is_imported(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from beside import BATCHES\n"
        "class Loader(list):\n"
        "    def state_dict(self):\n"
        "        return {}\n"
        "    def load_state_dict(self, state):\n"
        "        pass\n"
        "def make_loader(num_workers):\n"
        "    return Loader(BATCHES)\n"
    )
    case = parse("cut: take 1, save s | load s, drain, drain")
    (tmp_path / "beside.py").write_text("BATCHES = [[1], [2], [3]]\n")
    with Runner(f"{tmp_path / 'mine.py'}:make_loader") as runner:
        findings = judged(runner, case)
        text = make_script(runner.info, case, findings["RESUME-1"], lengths=[3, 3])
    assert "from mine import make_loader" in text
    assert str(tmp_path) not in text
    ran = run_script(text)
    assert ran.status == 1, ran.output


PREPARED = """
import json
import os
from package.inner import rows_of


class Adapter:
    loader_here = True

    def offer(self):
        return {"name": "prepared", "kinds": ("map",)}

    def declines(self, w, x):
        return None

    def prepare(self, w, root):
        with open(os.path.join(root, "rows.json"), "w") as file:
            json.dump([w.row(i) for i in range(w.n)], file)

    def open(self, w, x, root):
        return Session(rows_of(root), w.batch_size)


class Session:
    def __init__(self, rows, size):
        self.rows, self.size = rows, size

    def epoch(self):
        return (self.rows[i : i + self.size] for i in range(0, len(self.rows), self.size))

    def state(self):
        return {}

    def load(self, state):
        pass

    def close(self):
        pass
"""


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Return an adapter that reads prepared data by a package beside it."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "inner.py").write_text(
        "from . import reading\n\ndef rows_of(root):\n    return reading.read(root)\n"
    )
    (tmp_path / "package" / "reading.py").write_text(
        "import json\n\ndef read(root):\n    return json.load(open(root + '/rows.json'))\n"
    )
    (tmp_path / "adapter_of_data.py").write_text(PREPARED)
    return tmp_path / "adapter_of_data.py"


def test_a_script_prepares_its_data_and_names_no_path_of_its_author(
    prepared: Path, tmp_path: Path
) -> None:
    case = parse("cut: take 2, save s | load s, drain")
    with Runner(f"{prepared}:Adapter") as runner:
        text = make_script(runner.info, case, judged(runner, case)["RESUME-1"])
    assert "def prepare(root" in text
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text
    # It is played where none of the author's files are.
    for file in sorted(tmp_path.rglob("*.py")):
        file.unlink()
    ran = run_script(text)
    assert ran.status == 1, ran.output
    # Data that cannot be prepared is no failure of the loader's.
    broken = text.replace("json.dump(", "json.dmp(")
    assert broken != text
    assert run_script(broken).status == 2


def test_a_script_accepts_the_errors_of_its_failure_alone(prepared: Path) -> None:
    case = parse("cut: take 2, save s | load s, drain")
    with Runner(f"{prepared}:Adapter") as runner:
        bench = Bench(runner)
        (finding,) = (f for f in bench.judge(case).findings if f.requirement == "RESUME-1")
        errors = bench.errors(case, finding)
        assert errors == frozenset()
        text = make_script(runner.info, case, finding, errors=errors)
    assert run_script(text).status == 1
    ran = run_script(text.replace("def load(self, state):\n        pass", "def load(self): pass"))
    assert ran.status == 2
    assert "another error: TypeError" in ran.output


def test_names_of_the_adapters_are_not_taken(fakes: Path, tmp_path: Path) -> None:
    text = (fakes / "lies.py").read_text()
    text = text.replace("return self.w.row(i)", "return play(whole(self.w.row(i)))")
    same = "\n\ndef {name}(row):\n    return row\n"
    (tmp_path / "lies.py").write_text(text + same.format(name="play") + same.format(name="whole"))
    case = parse(CASES["Forgets", "RESUME-1"])
    with Runner(f"{tmp_path / 'lies.py'}:Forgets", limit=5) as runner:
        text = make_script(runner.info, case, judged(runner, case)["RESUME-1"])
    ran = run_script(text)
    assert ran.status == 1, ran.output


@pytest.mark.parametrize("name", ["Loader", "ScriptPlayer", "Rows"])
def test_a_class_may_have_the_name_of_one_that_the_adapter_imports(
    fakes: Path, tmp_path: Path, name: str
) -> None:
    """Also if it is a name of the script's own."""
    lies = (fakes / "lies.py").read_text(encoding="utf-8")
    beside = tmp_path / f"beside_{name}.py"
    beside.write_text(f"{lies}\n\n{name} = ForgetsLoader\nForgetting = Adapter\n")
    adapter = tmp_path / f"clash_{name}.py"
    adapter.write_text(
        f"from beside_{name} import Forgetting, {name}\n\n\n"
        f"class {name}({name}):\n    pass\n\n\nForgets = Forgetting({name})\n"
    )
    case = parse(CASES["Forgets", "RESUME-1"])
    with Runner(f"{adapter}:Forgets", limit=5) as runner:
        text = make_script(runner.info, case, judged(runner, case)["RESUME-1"])
    ran = run_script(text)
    assert ran.status == 1, ran.output
