"""Loaders' names, and where they lead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch  # it and NumPy can be imported once in a process

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host import loading
from midepoch_conformance.host.function_adapter import FunctionAdapter
from midepoch_conformance.host.session.batch_values import content


@pytest.fixture(autouse=True)
def _own_path() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_a_file_is_imported_under_its_stem(fakes: Path) -> None:
    found = loading.load(f"{fakes / 'odd.py'}:InHost")
    assert (found.module, found.name, found.function) == ("odd", "InHost", False)
    assert type(found.adapter).__name__ == "InHost"
    assert str(fakes) in sys.path
    assert found.own == frozenset()


def test_the_adapters_own_file_is_known(fakes: Path) -> None:
    assert loading.load(f"{fakes / 'odd.py'}:Failing").own == {str(fakes / "odd.py")}


def test_the_datasets_of_torch_are_their_adapters_own() -> None:
    own = {Path(file).name for file in loading.load("torch").own}
    assert own == {"torch.py", "torch_data.py"}


def test_a_file_alone_means_its_adapter(fakes: Path) -> None:
    assert loading.load(str(fakes / "lies.py")).name == "Adapter"


def test_an_instance_is_an_adapter_too(fakes: Path) -> None:
    found = loading.load(f"{fakes / 'lies.py'}:Honest")
    assert found.adapter is sys.modules["lies"].Honest


def test_a_module_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text("def build(num_workers):\n    return []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = loading.load("pkg.train:build")
    assert found.function
    assert isinstance(found.adapter, FunctionAdapter)


@pytest.mark.parametrize("name", loading.BUILT_IN)
def test_the_built_in_ones_are_there(name: str) -> None:
    folder = Path(loading.__file__).parent.parent / "adapters"
    assert (folder / f"{name}.py").exists()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nothing", "names no loader"),
        ("/nowhere/adapter.py", "no file /nowhere/adapter.py"),
        ("{fakes}/odd.py:Nobody", "has no 'Nobody'"),
        ("{fakes}/odd.py:NUMBER", "neither an adapter nor a function"),
    ],
)
def test_a_name_that_leads_nowhere(fakes: Path, spec: str, words: str) -> None:
    with pytest.raises(loading.SpecError, match=words) as caught:
        loading.load(spec.format(fakes=fakes))
    assert caught.value.hint


def test_a_stem_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "my-adapter.py").touch()
    with pytest.raises(loading.SpecError, match="is no name for a module"):
        loading.load(str(tmp_path / "my-adapter.py"))
    (tmp_path / "sys.py").touch()
    with pytest.raises(loading.SpecError, match="already the name of another module"):
        loading.load(str(tmp_path / "sys.py"))


def test_a_function_offers_what_its_loader_has(fakes: Path) -> None:
    adapter = loading.load(f"{fakes / 'odd.py'}:make_loader").adapter
    offer = adapter.offer()
    assert not isinstance(offer, dict)
    assert (offer.name, offer.kinds, offer.saves) == ("own", ("map",), ())
    assert "saves" in offer.reasons
    assert adapter.declines(Workload(n=7, seed=3), Execution(workers=2)) is None
    assert adapter.declines(Workload(fail_at=3), Execution()) is not None
    assert adapter.declines(Workload(), Execution(interval=2)) is not None


def test_a_function_that_fails_says_so(fakes: Path) -> None:
    adapter = loading.load(f"{fakes / 'odd.py'}:make_failing").adapter
    with pytest.raises(RuntimeError, match=r"make_failing.*no data here"):
        adapter.offer()


def test_content_tells_batches_apart() -> None:
    class Thing:
        def __init__(self, value: int) -> None:
            self.value = value

    same = [
        ([1, 2.5, "a", None], [1, 2.5, "a", None]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({3, 4, 5}, {5, 4, 3}),
        (Thing(1), Thing(1)),
        (1 << 70, 1 << 70),
        (range(3), range(3)),
    ]
    for a, b in same:
        assert content(a) == content(b)
    different = [1, 1.0, True, "1", b"1", [1], (1,), {1}, {1: 1}, None, Thing(1), Thing(2), [[1]]]
    assert len({content(value) for value in different}) == len(different)
    cycle: list[object] = []
    cycle.append(cycle)
    assert content(cycle) == content(cycle)


def test_content_of_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    values = [
        numpy.arange(4),
        numpy.arange(4).reshape(2, 2),
        numpy.arange(4.0),
        numpy.array([1, "a"], dtype=object),
        torch.arange(4),
        torch.arange(4).reshape(2, 2),
        torch.arange(4, dtype=torch.bfloat16),
        torch.tensor(1.5, requires_grad=True),
    ]
    assert len({content(value) for value in values}) == len(values)
    assert content(torch.arange(8)[::2]) == content(torch.tensor([0, 2, 4, 6]))
    assert all(0 <= content(value) < 2**48 for value in values)


def test_a_functions_plan_is_fixed_over_random_access_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stream is divided among the workers: another number of them is another order."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "own"))
    import streams

    assert FunctionAdapter(streams.over_a_list).offer().fixed_plan == ("map",)
    assert FunctionAdapter(streams.over_a_stream).offer().fixed_plan == ()
    assert FunctionAdapter(lambda num_workers: [[1], [2]]).offer().fixed_plan == ()
