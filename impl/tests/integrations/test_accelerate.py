"""Accelerate's loop around a loader: saved, loaded, ended and shared as its users expect."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import multiprocessing

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError, StateError

accelerate = pytest.importorskip("accelerate")

from midepoch.integrations.accelerate import prepare  # noqa: E402  # needs it

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


class Noisy(torch.utils.data.Dataset[torch.Tensor]):
    """Samples that draw."""

    def __len__(self) -> int:
        return 22

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.cat([torch.tensor([float(index)]), torch.rand(1)])


class Stream(torch.utils.data.IterableDataset[torch.Tensor]):
    """The same, without a length."""

    def __iter__(self) -> Any:
        return (Noisy()[index] for index in range(18))


def make(**options: Any) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(Noisy(), batch_size=4, shuffle=True, seed=2, **options)


@pytest.fixture
def accelerator() -> Any:
    accelerate.state.AcceleratorState._reset_state(True)
    accelerate.state.GradientState._reset_state()
    return accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)


def epoch_of(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


def test_accelerate_builds_no_other_loader_in_silence(accelerator: Any) -> None:
    with pytest.raises(ArgumentError, match=r"call midepoch\.integrations\.accelerate\.prepare"):
        accelerator.prepare(make())
    assert vars(prepare(accelerator, make()).loader)["seed"] == 2


def test_prepare_refuses_another_loader(accelerator: Any) -> None:
    with pytest.raises(ArgumentError, match=r"should be a midepoch\.StatefulDataLoader, got"):
        prepare(accelerator, torch.utils.data.DataLoader([1, 2, 3]))  # type: ignore[arg-type]  # refused


def test_a_saved_state_goes_on_in_a_new_loop(accelerator: Any, tmp_path: Path) -> None:
    whole = make()
    wanted = [epoch_of(whole) for _ in range(3)]
    loader = prepare(accelerator, make())
    assert epoch_of(loader) == wanted[0]
    for number, batch in enumerate(loader):
        assert batch.tolist() == wanted[1][number]
        if number == 2:
            break
    accelerator.save_state(str(tmp_path))
    again = accelerate.Accelerator(cpu=True)
    resumed = prepare(again, make())
    again.load_state(str(tmp_path))
    assert epoch_of(resumed) == wanted[1][3:]
    assert epoch_of(resumed) == wanted[2]


def test_accumulation_steps_at_the_end_of_an_epoch(accelerator: Any) -> None:
    loader = prepare(accelerator, make())
    model = torch.nn.Linear(2, 1)
    optimizer = accelerator.prepare(torch.optim.SGD(model.parameters(), lr=0.1))
    synced, ends = [], []
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).sum())
            optimizer.step()
            synced.append(accelerator.sync_gradients)
            ends.append(accelerator.gradient_state.end_of_dataloader)
    assert synced == [False, True, False, True, False, True]
    assert ends == [False] * 5 + [True]
    assert not accelerator.gradient_state.in_dataloader
    assert (len(loader), loader.seed, loader.dataset) == (6, 2, loader.loader.dataset)


def test_accumulation_steps_at_the_end_of_a_stream(accelerator: Any) -> None:
    def run(start: int, state: Any = None) -> tuple[list[Any], list[Any]]:
        torch.manual_seed(0)
        loader = prepare(accelerator, StatefulDataLoader(Stream(), batch_size=4, seed=2))
        model = torch.nn.Linear(2, 1)
        optimizer = accelerator.prepare(torch.optim.SGD(model.parameters(), lr=1e-4))
        if state is not None:
            model.load_state_dict(state[0])
            loader.load_state_dict(state[1])
        seen: list[Any] = []
        states: list[Any] = []
        for _ in range(start, 3):
            for batch in loader:
                with accelerator.accumulate(model):
                    loss = (model(batch) ** 2).mean()
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                seen.append([batch.tolist(), float(loss), accelerator.sync_gradients])
                weights = {name: value.clone() for name, value in model.state_dict().items()}
                states.append((weights, loader.state_dict()))
        return seen, states

    whole, states = run(0)
    plain = StatefulDataLoader(Stream(), batch_size=4, seed=2)
    assert [step[0] for step in whole] == [batch.tolist() for _ in range(3) for batch in plain]
    assert [step[2] for step in whole] == [False, True, False, True, True] * 3
    for number, (step, state) in enumerate(zip(whole, states, strict=True)):
        if step[2] and number < 10:  # gradients that are not applied are in no checkpoint
            accelerator.step = 0
            assert run(number // 5, state)[0] == whole[number + 1 :]


def test_a_stream_that_is_left_early_is_where_the_loop_was(accelerator: Any) -> None:
    loader = prepare(accelerator, StatefulDataLoader(Stream(), batch_size=4, seed=2))
    batches = iter(loader)
    first = [next(batches).tolist() for _ in range(2)]
    del batches
    state = loader.state_dict()
    again = StatefulDataLoader(Stream(), batch_size=4)
    again.load_state_dict(state)
    whole = epoch_of(StatefulDataLoader(Stream(), batch_size=4, seed=2))
    assert first + epoch_of(again) == whole
    assert not accelerator.gradient_state.in_dataloader


@pytest.mark.parametrize(("samples", "last"), [(22, 2), (24, 0), (20, 0)])
def test_the_remainder_of_a_last_batch(accelerator: Any, samples: int, last: int) -> None:
    loader = prepare(accelerator, StatefulDataLoader(torch.arange(samples), batch_size=4))
    next(iter(loader))
    assert loader.remainder == last


def test_metrics_lose_no_sample(accelerator: Any) -> None:
    data = torch.arange(11)
    rolled = prepare(accelerator, StatefulDataLoader(data, batch_size=4, last_batch="rollover"))
    for _ in range(2):
        for batch in rolled:
            assert accelerator.gather_for_metrics(batch).tolist() == batch.tolist()
    ranks: dict[str, Any] = {"ranks": (0, 1), "seed": 0}
    saved = StatefulDataLoader(data, batch_size=4, **ranks)
    next(iter(saved))
    cut = StatefulDataLoader(data, batch_size=5, on_world_change="recut", **ranks)
    cut.load_state_dict(saved.state_dict())
    got = [accelerator.gather_for_metrics(batch).tolist() for batch in prepare(accelerator, cut)]
    assert got == [[4, 5, 6, 7, 8], [9, 10]]


class Failing(torch.utils.data.IterableDataset[torch.Tensor]):
    """Its fifth sample raises once."""

    failed = False

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Any:
        self.at = 0
        return self

    def __next__(self) -> torch.Tensor:
        self.at += 1
        if self.at == 5 and not self.failed:
            self.failed = True
            raise ValueError("the fifth sample")
        if self.at > 8:
            raise StopIteration
        return torch.tensor(self.at)


@pytest.mark.parametrize("steps", [1, 2])
def test_an_epoch_goes_on_after_an_exception(accelerator: Any, steps: int) -> None:
    accelerator.gradient_accumulation_steps = steps
    prepared = prepare(accelerator, StatefulDataLoader(Failing(), batch_size=None))
    batches, got = iter(prepared), []
    while len(got) < 7:
        with contextlib.suppress(ValueError):
            got.append(next(batches).item())
    assert got == [1, 2, 3, 4, 6, 7, 8]
    assert next(batches, None) is None
    assert accelerator.gradient_state.active_dataloader is None


def _process(rank: int, world: int, folder: str, saved: bool) -> None:
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["MIDEPOCH_TEST_PORT"])
    accelerator = accelerate.Accelerator(cpu=True)
    found: dict[str, Any] = {}
    try:
        prepare(accelerator, make())
    except ArgumentError as error:
        found["refused"] = str(error)
    loader = prepare(accelerator, make(ranks="auto", global_batch_size=None))
    if saved:
        accelerator.load_state(f"{folder}/state")
    steps = []
    for number, batch in enumerate(loader):
        steps.append(accelerator.gather_for_metrics(batch).tolist())
        if number == 1 and not saved:
            accelerator.save_state(f"{folder}/state")
            break
    found["steps"] = steps
    Path(folder, f"{rank}-{int(saved)}.json").write_text(json.dumps(found), encoding="utf-8")
    accelerator.end_training()


def test_two_processes_share_a_state(helpers: None, tmp_path: Path) -> None:
    for saved in (False, True):
        os.environ["MIDEPOCH_TEST_PORT"] = str(free_port())
        args = (2, str(tmp_path), saved)
        multiprocessing.start_processes(_process, args, nprocs=2, start_method="spawn")
    names = ("0-0", "1-0", "0-1", "1-1")
    found = [json.loads(Path(tmp_path, f"{name}.json").read_text()) for name in names]
    assert all('ranks="auto"' in one["refused"] for one in found)
    whole = [
        batch.tolist()
        for batch in StatefulDataLoader(Noisy(), 8, shuffle=True, seed=2, ranks=(0, 1))
    ]
    assert found[0]["steps"] == found[1]["steps"] == whole[:2]
    assert found[2]["steps"] == found[3]["steps"] == whole[2:]


class Shards(torch.utils.data.IterableDataset[torch.Tensor]):
    """A stream of which each lane has a part."""

    def __iter__(self) -> Any:
        info: Any = torch.utils.data.get_worker_info()
        return (Noisy()[index] for index in range(info.id, 22, info.num_workers))


def _registered(loader: Any, folder: str) -> tuple[list[Any], Callable[[Any], Any]]:
    """Save two batches into an epoch; return what comes then, and what lets a loader continue."""
    accelerator = accelerate.Accelerator(cpu=True)
    accelerator.register_for_checkpointing(loader)
    batches = iter(loader)
    next(batches), next(batches)
    accelerator.save_state(folder)
    accelerator.wait_for_everyone()  # the main process writes what all of them load
    rest = [batch.tolist() for batch in batches] + epoch_of(loader)

    def resume(other: Any) -> None:
        again = accelerate.Accelerator(cpu=True)
        again.register_for_checkpointing(other)
        again.load_state(folder)

    return rest, resume


def test_a_registered_loader_that_was_not_prepared_goes_on(
    accelerator: Any, tmp_path: Path
) -> None:
    makers: list[Callable[[], Any]] = [make, lambda: StatefulDataLoader(Stream(), 4, seed=2)]
    for number, made in enumerate(makers):
        rest, resume = _registered(made(), str(tmp_path / str(number)))
        resume(loader := made())
        assert epoch_of(loader) + epoch_of(loader) == rest


def _registering(rank: int, world: int, folder: str) -> None:
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["MIDEPOCH_TEST_PORT"])
    accelerator = accelerate.Accelerator(cpu=True)
    rest, resume = _registered(make(ranks="auto"), f"{folder}/ranks")
    resume(loader := make(ranks="auto"))
    assert epoch_of(loader) + epoch_of(loader) == rest

    def dealt() -> Any:
        sampler = torch.utils.data.DistributedSampler(Noisy(), world, rank)
        return StatefulDataLoader(Noisy(), 4, sampler=sampler, seed=2)

    def stream() -> Any:
        return StatefulDataLoader(Shards(), 4, seed=2, lanes=2, ranks="auto")

    refused = []
    for number, made in enumerate((dealt, stream)):
        _, resume = _registered(made(), f"{folder}/{number}")
        try:
            resume(made())
        except StateError as error:
            refused.append(str(error))
    Path(folder, f"{rank}.json").write_text(json.dumps(refused), encoding="utf-8")
    accelerator.end_training()


def test_two_processes_with_registered_loaders(helpers: None, tmp_path: Path) -> None:
    os.environ["MIDEPOCH_TEST_PORT"] = str(free_port())
    args = (2, str(tmp_path))
    multiprocessing.start_processes(_registering, args, nprocs=2, start_method="spawn")
    main, other = (json.loads(Path(tmp_path, f"{rank}.json").read_text()) for rank in range(2))
    # Accelerate keeps the main process's states.
    assert main == []
    (share, lanes) = other
    assert "rank 0 of 2" in share
    assert "midepoch.merge_states" in lanes


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
