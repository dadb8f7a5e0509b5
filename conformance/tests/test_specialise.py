"""Specialising: what is decided and what nothing reaches goes, and what is left does the same."""

from __future__ import annotations

import pytest

from midepoch_conformance.scripts.source.specialise import Part, specialise

KNOWN = {"w": {"kind": "map", "n": 3, "seed": None, "draws": ("a", "b")}}


def specialised(text: str, *roots: str) -> str:
    return "\n".join(specialise([Part(text, KNOWN)], {"f", *roots}, ())).strip()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("return w.n", "return 3"),
        ("return self.w.n + w.other", "return 3 + w.other"),
        ("if w.kind == 'map':\n  return 1\n return 2", "return 1"),
        ("if w.seed is not None and i == w.seed:\n  return 1\n return 2", "return 2"),
        ("return i if w.kind in ('map', 'files') else 2", "return i"),
        ("return {'map': i, 'files': 2}[w.kind]", "return i"),
        ("return g(**({} if w.n else {'a': 1}))", "return g()"),
        ("return {'a': 1, **({} if w.n else {'b': 1})}", "return {'a': 1}"),
        ("return g(**({'a': 1} if w.n and w.seed and i else {}))", "return g()"),
        ("return g(**({'a': 1} if w.seed else {} if i else {}))", "return g()"),
        ("return g(**{**({'a': 1} if w.seed else {})})", "return g()"),
        ("return g(*([] if w.n else [i]), i)", "return g(i)"),
        ("return g(*(() if i else ()))", "return g()"),
        ("for a in w.draws:\n  g(a)", "g('a')\n    g('b')"),
        ("return [g(a) for a in w.draws]", "return [g('a'), g('b')]"),
        ("a = g(w.n)\n return a", "return g(3)"),
        ("return not w.seed or i", "return True"),
        ("return bool(w.n)", "return True"),
        ("w.n = 4\n return w.kind", "w.n = 4\n    return 'map'"),
        ("return 1\n g()", "return 1"),
    ],
)
def test_what_is_known_decides(text: str, left: str) -> None:
    assert specialised(f"def f(i):\n {text}\ndef g(*a): return a").startswith(
        f"def f(i):\n    {left}"
    )


def test_a_variable_that_is_assigned_is_not_known() -> None:
    assert "w.n" in specialised("def f():\n w = g()\n return w.n")


def test_what_nothing_reaches_goes() -> None:
    text = """
import os
import sys
__all__ = ["f"]
class Used:
    def named(self): return 1
    def unnamed(self): return os
    def __len__(self): return 1
class Unused: pass
LOW = 1
def f(unused: int) -> int:
    LOW = 2
    return Used().named() + LOW
"""
    left = specialised(text)
    for name in ("os", "sys", "unnamed", "Unused", "__all__", "int", "LOW = 1"):
        assert name not in left
    assert "__len__" in left


def test_what_another_module_may_call_stays() -> None:
    left = specialised(
        "import data\nclass A(data.B):\n def called(self): pass\ndef f(): return A()"
    )
    assert "def called" in left


def test_names_of_the_suite_are_not_taken() -> None:
    foreign = Part("def rows(play): return play\ndef f(): return rows(1)", foreign=True)
    own = Part("def rows(): return 2")
    _, first, second = specialise([foreign, own], {"f", "rows"}, (), {"play"})
    assert "def rows_(play)" in first
    assert "return rows_(1)" in first
    assert "def rows()" in second


@pytest.mark.parametrize(
    "module", ["adapters import torchdata", "adapters.torchdata import Session"]
)
def test_an_adapter_of_the_suite_that_another_is_based_on_is_imported(module: str) -> None:
    name = module.split()[-1]
    text = f"from midepoch_conformance.{module}\nclass A({name}.B): x = 1\ndef f(): return A()"
    kept = specialise([Part(text, foreign=True)], {"f"}, ())
    assert f"from midepoch_conformance.{module}" in kept[0]
    own = "from midepoch_conformance.adapters import torch_data\ndef f(): return torch_data.made()"
    assert specialise([Part(own, foreign=True)], {"f"}, ())[0] == ""


def test_fields_of_a_foreign_class_stay() -> None:
    text = "class A:\n a: list[int] = 1\ndef f() -> A: return A()"
    assert "a: 'list[int]' = 1" in specialise([Part(text, foreign=True)], {"f"}, ())[1]
    assert "a = 1" in specialised(text)


def test_calls_that_do_nothing_go() -> None:
    foreign = Part("def f(w):\n    w.note('iter')\n    return w.rows()", foreign=True)
    own = Part(
        "class Rows:\n def note(self, what):\n  if self.log is not None: print(what)\n"
        " def rows(self): return 1",
        {"self": {"log": None}},
    )
    _, first, second = specialise([foreign, own], {"f", "Rows"}, ())
    assert "note" not in first + second
