"""Scripts are run: as main programs, each for its time, and nothing of them is left."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from midepoch_conformance.host.system.processes import _runs
from midepoch_conformance.scripts.run import (
    NO_VERDICT,
    Interpreter,
    WarmInterpreter,
    run_script,
)


@pytest.fixture(params=[Interpreter, WarmInterpreter])
def interpreter(request: pytest.FixtureRequest) -> Iterator[Interpreter | WarmInterpreter]:
    made = request.param()
    yield made
    if isinstance(made, WarmInterpreter):
        made.close()


def test_a_script_that_breaks_shows_nothing(interpreter: Interpreter | WarmInterpreter) -> None:
    assert run_script("raise SystemExit(1)", interpreter).status == NO_VERDICT
    assert run_script("print('no words')", interpreter).status == NO_VERDICT
    assert "bad is not defined" in run_script("bad", interpreter).output.replace("'", "")
    slow = run_script("import time; time.sleep(60)", interpreter, timeout=0.5)
    assert slow.status == NO_VERDICT
    assert "0.5 s" in slow.output
    words = "print('', 'expected: 1', 'got:      2', sep='\\n');"
    for end, status in (("raise SystemExit(1)", 1), ("", 0), ("raise SystemExit(2)", 2)):
        assert run_script(f"{words} {end}", interpreter).status == status


def test_a_script_is_the_main_program(interpreter: Interpreter | WarmInterpreter) -> None:
    text = (
        "import os, pickle, sys, tempfile\n"
        "class Row: pass\n"
        "print(os.path.dirname(__file__) == os.getcwd() == sys.path[0] == tempfile.gettempdir())\n"
        "print(__name__, sys.argv == [__file__], type(pickle.loads(pickle.dumps(Row()))) is Row)\n"
        "print(os.getsid(0) == os.getpid(), [k for k in os.environ if k.startswith('PYTHON')])\n"
        "print(repr(sys.stdin.read()))\n"
    )
    ran = run_script(text, interpreter)
    assert ran.output == "True\n__main__ True True\nTrue []\n''\n"


def test_a_late_answer_is_not_the_next_scripts() -> None:
    interpreter = WarmInterpreter()
    words = "print('', 'expected: 1', 'got:      2', sep='\\n');"
    late = f"import time; time.sleep(1); {words} raise SystemExit(1)"
    assert run_script(late, interpreter, timeout=0.2).status == NO_VERDICT
    time.sleep(1.5)
    assert run_script(words, interpreter).status == 0
    interpreter.close()


def test_a_warm_interpreter_that_died_is_replaced() -> None:
    interpreter = WarmInterpreter()
    kill = f"import os, signal; os.kill({interpreter.pid}, signal.SIGKILL)"
    assert run_script(kill, interpreter).status == NO_VERDICT
    assert run_script("print('again')", interpreter).output == "again\n"
    interpreter.close()


def test_a_script_leaves_no_process(interpreter: Interpreter | WarmInterpreter) -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid)"
    pid = int(run_script(text, interpreter).output)
    until = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(pid)
