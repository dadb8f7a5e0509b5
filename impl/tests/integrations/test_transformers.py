"""transformers' Trainer around a loader: stopped anywhere, and resumed to the same losses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import multiprocessing

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError

transformers = pytest.importorskip("transformers")

from midepoch.integrations.transformers import LoaderCheckpointMixin  # noqa: E402  # needs it

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs

BATCHES = 5
"""The batches of an epoch: with two a step, the last step has one."""

EPOCHS = 3


class Noisy(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Samples that draw."""

    def __len__(self) -> int:
        return 18

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": torch.cat([torch.tensor([float(index)]), torch.rand(1)])}


class Stream(torch.utils.data.IterableDataset[dict[str, torch.Tensor]]):
    """The same, without a length."""

    def __iter__(self) -> Any:
        return (Noisy()[index] for index in range(18))


class Sized(Stream):
    def __len__(self) -> int:
        return 18


class Model(torch.nn.Module):
    """A model that draws in its training."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.drop = torch.nn.Dropout(0.2)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": (self.layer(self.drop(x)) ** 2).mean()}


class Arguments(transformers.TrainingArguments):  # type: ignore[misc, name-defined]  # from importorskip
    @property
    def device(self) -> Any:
        """Return a device for ``torch.load``: among several processes theirs is "cpu:0"."""
        return torch.device(super().device.type)


class MyTrainer(LoaderCheckpointMixin, transformers.Trainer):  # type: ignore[misc, name-defined]  # from importorskip
    """A trainer that notes its batches and losses."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.seen: list[Any] = []

    def training_step(self, model: Any, inputs: Any, *more: Any) -> Any:
        loss = super().training_step(model, inputs, *more)
        self.seen.append([inputs["x"].tolist(), float(loss)])
        return loss


def make(**options: Any) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(Noisy(), batch_size=4, shuffle=True, seed=2, **options)


def stream(kind: type[Stream] = Stream) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(kind(), batch_size=4, seed=2)


def trainer_of(folder: Path, loader: Any, *more: Any, **options: Any) -> MyTrainer:
    torch.manual_seed(0)
    chosen = {
        "save_strategy": "steps",
        "save_steps": 1,
        "logging_steps": 1,
        "learning_rate": 1e-3,
        "num_train_epochs": EPOCHS,
        "use_cpu": True,
        "report_to": [],
        "disable_tqdm": True,
        **options,
    }
    args = Arguments(str(folder), **chosen)
    return MyTrainer(Model(), args, train_loader=loader, callbacks=list(more))


def train(folder: Path, loader: Any, resumed: int | None = None, **options: Any) -> MyTrainer:
    trainer = trainer_of(folder, loader, **options)
    path = None if resumed is None else str(folder / f"checkpoint-{resumed}")
    trainer.train(resume_from_checkpoint=path)
    return trainer


def history(trainer: Any) -> list[Any]:
    """Return what was logged at each step: epoch, loss, gradient norm and learning rate."""
    entries = trainer.state.log_history
    return [
        [one["step"], one["epoch"], one["loss"], one["grad_norm"]]
        for one in entries
        if "loss" in one
    ]


@pytest.mark.parametrize("accumulated", [1, 2])
def test_any_step_resumes_to_the_same_batches_and_losses(tmp_path: Path, accumulated: int) -> None:
    options = {"gradient_accumulation_steps": accumulated}
    whole = train(tmp_path, make(), **options)
    plain = make()
    batches = [batch["x"].tolist() for _ in range(EPOCHS) for batch in plain]
    assert [batch for batch, _ in whole.seen] == batches
    steps = -(-BATCHES // accumulated)
    for step in range(1, 2 * steps + 1):
        rest = train(tmp_path, make(num_workers=step % 5 == 4), step, **options)
        epoch, within = divmod(step, steps)
        assert rest.seen == whole.seen[epoch * BATCHES + within * accumulated :], step
        assert history(rest) == history(whole)


def test_max_steps_inside_an_epoch(tmp_path: Path) -> None:
    options = {"lr_scheduler_type": "constant", "save_steps": 100}
    whole = train(tmp_path / "whole", make(), max_steps=13, **options)
    first = train(tmp_path, make(), max_steps=7, **options)
    rest = train(tmp_path, make(), 7, max_steps=13, **options)
    assert first.seen + rest.seen == whole.seen
    assert history(rest) == history(whole)


def test_a_checkpoint_of_an_epochs_end(tmp_path: Path) -> None:
    options = {"save_strategy": "epoch", "restore_callback_states_from_checkpoint": True}
    whole = train(tmp_path, make(), **options)
    for epoch in range(1, EPOCHS):
        rest = train(tmp_path, make(), epoch * BATCHES, **options)
        assert rest.seen == whole.seen[epoch * BATCHES :]


@pytest.mark.parametrize("accumulated", [1, 2])
def test_a_stream_without_a_length(tmp_path: Path, accumulated: int) -> None:
    options = {"max_steps": 10 // accumulated, "gradient_accumulation_steps": accumulated}
    whole = train(tmp_path, stream(), **options)
    plain = stream()
    batches = [batch["x"].tolist() for _ in range(EPOCHS) for batch in plain]
    assert [batch for batch, _ in whole.seen] == batches[: len(whole.seen)]
    # Of 5 batches two steps take 4, and the fifth is added to the first step of the next epoch.
    after = {1: range(1, 11), 2: [2, 4, 7, 9, 12]}[accumulated]
    for step, taken in enumerate(after, start=1):
        if step < 7 and taken < len(whole.seen):
            rest = train(tmp_path, stream(Sized), step, **options)
            assert rest.seen == whole.seen[taken:], step


def test_a_sampler_of_the_users_is_told_the_epoch(tmp_path: Path) -> None:
    def dealt() -> Any:
        sampler = torch.utils.data.DistributedSampler(Noisy(), 1, 0, seed=3)
        return StatefulDataLoader(Noisy(), batch_size=4, sampler=sampler, seed=2)

    whole = train(tmp_path, dealt())
    sampler = torch.utils.data.DistributedSampler(Noisy(), 1, 0, seed=3)
    order = []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        order += list(sampler)
    assert [int(row[0]) for batch, _ in whole.seen for row in batch] == order
    for step in (3, BATCHES, 8):
        assert train(tmp_path, dealt(), step).seen == whole.seen[step:]


def test_a_second_training_goes_on_with_whole_epochs(tmp_path: Path) -> None:
    plain = make()
    batches = [batch["x"].tolist() for _ in range(EPOCHS) for batch in plain]
    trainer = trainer_of(tmp_path, make(), max_steps=2, save_strategy="no")
    for _ in range(2):
        trainer.train()
    seen = [batch for batch, _ in trainer.seen]
    assert seen == [*batches[:2], *batches[BATCHES : BATCHES + 2]]


def test_what_cannot_resume_exactly_is_refused(tmp_path: Path) -> None:
    found: list[tuple[Callable[[], Any], str]] = [
        (
            lambda: trainer_of(tmp_path, torch.utils.data.DataLoader(Noisy())),
            "should be a midepoch",
        ),
        (lambda: trainer_of(tmp_path, make(last_batch="rollover")), "another last_batch"),
        (
            lambda: MyTrainer(
                Model(), Arguments(tmp_path), train_loader=make(), train_dataset=Noisy()
            ),
            "leave train_dataset out",
        ),
        (lambda: trainer_of(tmp_path, make(), auto_find_batch_size=True), "auto_find_batch_size"),
        (lambda: trainer_of(tmp_path, make(), include_tokens_per_second=True), "leave it out"),
    ]
    for refused, words in found:
        with pytest.raises(ArgumentError, match=words):
            refused()
    train(tmp_path, make(), max_steps=1)
    path = tmp_path / "checkpoint-1" / "trainer_state.json"
    state = json.loads(path.read_text())
    del state["stateful_callbacks"]["LoaderCheckpoint"]
    path.write_text(json.dumps(state))
    with pytest.raises(ArgumentError, match="without a loader's state"):
        train(tmp_path, make(), 1, max_steps=2)


class Plain(transformers.Trainer):  # type: ignore[misc, name-defined]  # from importorskip
    """A trainer without the mixin, whose loader is the user's."""

    prepared = False

    def __init__(self, loader: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.own = loader
        self.seen: list[Any] = []

    def get_train_dataloader(self) -> Any:
        return self.accelerator.prepare(self.own) if self.prepared else self.own

    def training_step(self, model: Any, inputs: Any, *more: Any) -> Any:
        self.seen.append(inputs["x"].tolist())
        return super().training_step(model, inputs, *more)


class Prepared(Plain):
    prepared = True


def plain(folder: Path, kind: type[Plain], resumed: int | None = None) -> list[Any]:
    options = {"save_steps": 1, "use_cpu": True, "report_to": [], "disable_tqdm": True}
    trainer = kind(make(), Model(), Arguments(str(folder), num_train_epochs=EPOCHS, **options))
    path = None if resumed is None else str(folder / f"checkpoint-{resumed}")
    trainer.train(resume_from_checkpoint=path)
    return trainer.seen


def test_a_trainer_without_the_mixin_prepares_no_loader(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"midepoch\.integrations\.transformers"):
        plain(tmp_path, Prepared)


def test_a_trainer_without_the_mixin_resumes_the_samples_alone(tmp_path: Path) -> None:
    whole, loader = plain(tmp_path, Plain), make()
    assert whole == [batch["x"].tolist() for _ in range(EPOCHS) for batch in loader]
    # Accelerate skips batches with a loader of torch's, which seeds no random streams.
    rest, wanted = plain(tmp_path, Plain, BATCHES + 2), whole[BATCHES + 2 :]
    assert _indices(rest) == _indices(wanted)
    assert rest != wanted


def _indices(batches: list[Any]) -> list[Any]:
    return [[sample[0] for sample in batch] for batch in batches]


RUNS = (None, 1, 2, 3)
"""The steps that two processes resume from; an epoch has two steps."""


def _process(rank: int, world: int, folder: str, port: int) -> None:
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    options = {"gradient_accumulation_steps": 2, "ddp_backend": "gloo"}
    refused = ""
    try:
        trainer_of(Path(folder), make(), **options)
    except ArgumentError as error:
        refused = str(error)
    seen = [train(Path(folder), make(ranks="auto"), run, **options).seen for run in RUNS]
    Path(folder, f"{rank}.json").write_text(json.dumps([refused, seen]), encoding="utf-8")
    torch.distributed.destroy_process_group()


def test_two_processes_resume_together(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    args = (2, str(tmp_path), free_port())
    multiprocessing.start_processes(_process, args, nprocs=2, start_method="spawn")
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    loader = StatefulDataLoader(Noisy(), 8, shuffle=True, seed=2, ranks=(0, 1))
    whole = [batch["x"].tolist() for _ in range(EPOCHS) for batch in loader]
    for refused, seen in found:
        assert 'ranks="auto"' in refused
        for run, rest in zip(RUNS[1:], seen[1:], strict=True):
            assert rest == seen[0][{1: 2, 2: 3, 3: 5}[run] :]
    both = zip(found[0][1][0], found[1][1][0], strict=True)
    assert [[*one[0], *two[0]] for one, two in both] == whole
