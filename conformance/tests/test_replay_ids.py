"""``midepoch replay`` and ids: one that is wrong, short, or not committed."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from test_check import TABLE
from test_first_minutes import OWN, Say, words

from midepoch_conformance import replay
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.cli import main
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables

pytestmark = pytest.mark.usefixtures("narrow")


def test_an_id_that_is_none_is_refused_at_once(capsys: Say) -> None:
    with mock.patch("midepoch_conformance.replay.draw", side_effect=AssertionError):
        assert main(["replay", "zzz", f"{OWN}/skips.py:make_loader"]) == 2
    assert "'zzz' is no case's id" in capsys.readouterr().err


def test_an_id_that_no_case_has_is_looked_for_aloud(tmp_path: Path, capsys: Say) -> None:
    spec, unknown = f"{OWN}/skips.py:make_loader", "abcdefabcdef"
    with mock.patch("midepoch_conformance.replay.draw", return_value=([], {})) as drawing:
        assert main(["replay", unknown, spec]) == 2
    assert [call.args[0] for call in drawing.call_args_list] == ["quick", "full"]
    err = words(capsys.readouterr().err)
    assert f"looking for {unknown} among the cases that quick draws" in err
    assert "full draws for this loader, which takes a minute or more" in err
    assert f"there is no case '{unknown}' in the tables and the drawn cases" in err
    assert "the line `again` of a failure has its id" in err
    # A report is not looked for elsewhere.
    assert main(["check", spec, "--only", "BASIS-1", "-q", "--json", "r.jsonl"]) == 0
    with mock.patch("midepoch_conformance.replay.draw", side_effect=AssertionError):
        assert main(["replay", unknown, spec, "--report", "r.jsonl"]) == 2
    assert f"there is no case '{unknown}' in r.jsonl" in words(capsys.readouterr().err)


def test_a_wrong_digit_of_a_committed_id_is_told_before_anything_is_drawn(capsys: Say) -> None:
    spec = f"{OWN}/skips.py:make_loader"
    right = tables.load_table("quick")[0].id
    other = "0" if right[5] != "0" else "1"
    wrong = f"{right[:5]}{other}{right[6:]}"
    with mock.patch("midepoch_conformance.replay.draw", side_effect=AssertionError):
        for typed in (wrong, wrong[:8], f"{right[:4]}{right[5:]}"):
            assert main(["replay", typed, spec]) == 2
            err = capsys.readouterr().err
            assert f"there is no case {typed!r} in the tables" in err
            assert f"did you mean {right!r}" in err


@pytest.mark.parametrize("count", [2, 7])
def test_a_short_beginning_of_ids_gets_them_all(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"8b5{number:09x}" for number in range(count)]
    monkeypatch.setattr(replay, "committed_cases", lambda: dict.fromkeys(ids, TABLE[0]))
    with pytest.raises(CheckError, match=f"the tables: {count} cases begin with '8b5'") as caught:
        replay.find_case("8b5")
    assert [one for one in ids if one in caught.value.hint] == ids[:5]
    assert ("and 2 more" in caught.value.hint) == (count == 7)


def test_a_case_that_quick_draws_is_found_without_drawing_more(capsys: Say) -> None:
    drawn = Case("cut", Workload(n=17), TABLE[0].sessions)
    with mock.patch("midepoch_conformance.replay.draw", return_value=([drawn], {})) as drawing:
        main(["replay", drawn.id, f"{OWN}/skips.py:make_loader"])
    assert drawing.call_count == 1
    assert capsys.readouterr().out.startswith(drawn.id)
