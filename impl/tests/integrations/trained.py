"""Trainings that are killed and resumed under a trainer, as a program.

Its arguments are TRAINER FOLDER DATA PROCESSES...; the data is "map", "stream" or "sized". If there
are several numbers of processes, the first one runs uninterrupted, and each of the others is the
number of a training that is killed, and at last of the one that goes on to the end.

A training saves after each step and at each epoch's end, and resumes from what was saved last. It
then tells what it did: a step's number, batch and loss, or "end" and the epochs so far. The program
imports the trainer once, and forks each training. It prints, as JSON, what an uninterrupted one
told, and what those told that were killed and the last one; each process tells its own.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from midepoch import StatefulDataLoader

EPOCHS = 3

STEPS = 4
"""The steps of an epoch."""

BATCH = 12
"""The samples of a step. One, two and three processes share them, and those of a last step."""

KILLED = ("2", "4", "end 2")
"""After which of the told lines the trainings are killed."""


class Noisy(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Samples that draw."""

    def __len__(self) -> int:
        return 42

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": torch.cat([torch.tensor([float(index)]), torch.rand(1)])}


class NoisyStream(torch.utils.data.IterableDataset[dict[str, torch.Tensor]]):
    """The same samples, each lane's own, without a length."""

    def __iter__(self) -> Any:
        info, data = torch.utils.data.get_worker_info(), Noisy()
        here, lanes = (info.id, info.num_workers) if info else (0, 1)
        return map(data.__getitem__, range(here, len(data), lanes))


class SizedStream(NoisyStream):
    """The same stream, with a length."""

    def __len__(self) -> int:
        return len(Noisy())


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": (self.layer(x) ** 2).mean()}


class Log:
    """What a training tells; and the folders of what it saved, by steps and epochs."""

    def __init__(self, folder: Path, link: Connection, last: str | None) -> None:
        self.folder = folder
        self.link = link
        self.last = last

    def step(self, number: int, batch: Any, loss: Any) -> None:
        self._line(str(number), [batch["x"].tolist(), float(loss)])

    def end(self, epochs: int) -> None:
        self._line(f"end {epochs}", None)

    def _line(self, name: str, what: Any) -> None:
        self.link.send([name, what])
        if name == self.last:
            signal.pause()

    def newest(self) -> tuple[Path | None, int, int]:
        """Return what was saved last, after how many steps, and in which epoch."""
        found = [
            (*map(int, path.name.split("-")[1:]), path) for path in self.folder.glob("saved-*")
        ]
        step, epoch, path = max(found, default=(0, 0, None))
        return path, step, epoch

    def save(self, step: int, epoch: int, how: Callable[[str], Any]) -> None:
        unfinished = self.folder / "unfinished"
        how(str(unfinished))
        together = torch.distributed.is_initialized()
        if together:
            torch.distributed.barrier()
        if not together or torch.distributed.get_rank() == 0:
            unfinished.rename(self.folder / f"saved-{step}-{epoch}")
        if together:
            torch.distributed.barrier()


def accelerate(log: Log, loader: Any) -> None:
    from accelerate import Accelerator

    from midepoch.integrations.accelerate import prepare

    accelerator = Accelerator(cpu=True)
    module = Model()
    model, optimizer = accelerator.prepare(module, torch.optim.SGD(module.parameters(), lr=1e-3))
    batches = prepare(accelerator, loader)
    path, step, begun = log.newest()
    if path is not None:
        accelerator.load_state(str(path))
    for epoch in range(begun, EPOCHS):
        for batch in batches:
            loss = model(**batch)["loss"]
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            log.save(step, epoch, accelerator.save_state)
            log.step(step, batch, loss)
        log.save(step, epoch + 1, accelerator.save_state)
        log.end(epoch + 1)


def fabric(log: Log, loader: Any) -> None:
    from lightning.fabric import Fabric

    from midepoch.integrations.lightning import loader_state, setup_loader

    world = int(os.environ.get("WORLD_SIZE", "1"))
    found = Fabric(accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto")
    found.launch()
    module = Model()
    model, optimizer = found.setup(module, torch.optim.SGD(module.parameters(), lr=1e-3))
    path, step, begun = log.newest()
    kept = {"model": model, "optimizer": optimizer, "loader": None}
    if path is not None:
        found.load(path, kept)
    batches = setup_loader(found, loader, kept["loader"])

    def save(path: str) -> None:
        found.save(path, {**kept, "loader": loader_state(found, loader)})

    for epoch in range(begun, EPOCHS):
        for batch in batches:
            loss = model(**batch)["loss"]
            found.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            log.save(step, epoch, save)
            log.step(step, batch, loss)
        log.save(step, epoch + 1, save)
        log.end(epoch + 1)


def lightning(log: Log, loader: Any) -> None:
    import lightning.pytorch as lightning

    from midepoch.integrations.lightning import LoaderCheckpoint

    class Trained(lightning.LightningModule):  # type: ignore[misc]  # it may be missing
        def __init__(self) -> None:
            super().__init__()
            self.model = Model()

        def training_step(self, batch: Any, number: int) -> Any:
            return self.model(**batch)["loss"]

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    class Logged(lightning.Callback):  # type: ignore[misc]  # it may be missing
        def on_train_batch_end(
            self, trainer: Any, module: Any, out: Any, batch: Any, n: int
        ) -> None:
            log.save(trainer.global_step, trainer.current_epoch, trainer.save_checkpoint)
            log.step(trainer.global_step, batch, out["loss"])

        def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
            log.save(trainer.global_step, trainer.current_epoch + 1, trainer.save_checkpoint)
            log.end(trainer.current_epoch + 1)

    world = int(os.environ.get("WORLD_SIZE", "1"))
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        accelerator="cpu",
        devices=world,
        strategy="ddp" if world > 1 else "auto",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        callbacks=[LoaderCheckpoint(), Logged()],
    )
    trainer.fit(Trained(), loader, ckpt_path=log.newest()[0])


def transformers(log: Log, loader: Any) -> None:
    from transformers import Trainer, TrainerCallback, TrainingArguments

    from midepoch.integrations.transformers import LoaderCheckpointMixin

    class Trained(LoaderCheckpointMixin, Trainer):  # type: ignore[misc]  # it may be missing
        latest: Any = None

        def training_step(self, model: Any, inputs: Any, *more: Any) -> Any:
            self.latest = inputs, super().training_step(model, inputs, *more)
            return self.latest[1]

    class Logged(TrainerCallback):  # type: ignore[misc]  # it may be missing
        def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            control.should_save, trainer.latest = True, None

        def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if trainer.latest is None:
                # Of a stream, the trainer cannot count the epochs.
                log.end(state.global_step // STEPS)
            else:
                log.step(state.global_step, *trainer.latest)

    args = TrainingArguments(
        str(log.folder),
        num_train_epochs=EPOCHS,
        max_steps=EPOCHS * STEPS,
        save_steps=1,
        logging_strategy="no",
        use_cpu=True,
        ddp_backend="gloo" if "WORLD_SIZE" in os.environ else None,
        optim="sgd",  # that of AdamW cannot be loaded by several processes on CPUs
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trained(Model(), args, train_loader=loader, callbacks=[Logged()])
    trainer.train(resume_from_checkpoint=any(log.folder.glob("checkpoint-*")))


PACKAGES = {"fabric": "lightning"}
"""The packages that have other names than their trainers."""

TRAINERS: dict[str, Callable[[Log, Any], None]] = {
    "accelerate": accelerate,
    "fabric": fabric,
    "lightning": lightning,
    "transformers": transformers,
}


def loader_of(data: str, world: int, most: int) -> StatefulDataLoader[Any]:
    """Return the loader of one of ``world`` processes, in a training on at most ``most``."""
    options: dict[str, Any] = {"num_workers": 1, "seed": 2, "ranks": "auto" if most > 1 else None}
    if data == "map":
        return StatefulDataLoader(Noisy(), BATCH // world, shuffle=True, **options)
    stream = {"stream": NoisyStream, "sized": SizedStream}[data]()
    return StatefulDataLoader(stream, BATCH // most, lanes=most, **options)


def train(
    trainer: str,
    data: str,
    folder: Path,
    link: Connection,
    last: str | None,
    place: dict[str, str],
    most: int,
) -> None:
    os.environ.update(place)
    torch.manual_seed(0)
    loader = loader_of(data, int(place.get("WORLD_SIZE", "1")), most)
    TRAINERS[trainer](Log(folder, link, last), loader)


def places(processes: int) -> list[dict[str, str]]:
    """Return the environment of each of the processes."""
    if processes == 1:
        return [{}]
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "NODE_RANK": "0"}
    common["WORLD_SIZE"] = str(processes)
    return [{**common, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(processes)]


def told_by(
    trainer: str,
    data: str,
    folder: Path,
    processes: int,
    last: str | None = None,
    *,
    most: int,
) -> list[Any]:
    """Run a training up to the line ``last``, where it is killed, or to its end."""
    context = get_context("fork")
    links, ranks = [], []
    for place in places(processes):
        here, there = context.Pipe(duplex=False)
        ranks.append(
            context.Process(target=train, args=(trainer, data, folder, there, last, place, most))
        )
        ranks[-1].start()
        there.close()
        links.append(here)
    told: list[list[Any]] = [[] for _ in links]
    for lines, link in zip(told, links, strict=True):
        with suppress(EOFError):
            while not lines or lines[-1][0] != last:
                lines.append(link.recv())
    for rank in ranks:
        if last:
            rank.kill()
        rank.join()
        assert rank.exitcode == (-signal.SIGKILL if last else 0), rank.exitcode
    for link in links:  # a loader's worker has the pipe, too, and saves nothing
        with suppress(EOFError):
            while True:
                link.recv()
    return told


def main(trainer: str, folder: Path, data: str, processes: list[int]) -> None:
    warnings.simplefilter("ignore")  # theirs
    logging.disable(logging.WARNING)
    importlib.import_module(f"midepoch.integrations.{PACKAGES.get(trainer, trainer)}")
    if trainer == "transformers":
        importlib.import_module("transformers.trainer")
    for name in ("whole", "killed"):
        (folder / name).mkdir()
    whole, *parts = processes if len(processes) > 1 else processes * (2 + len(KILLED))
    run = partial(told_by, trainer, data, most=max(processes))
    told = [
        run(folder / "killed", number, last)
        for number, last in zip(parts, (*KILLED, None), strict=True)
    ]
    print(json.dumps([run(folder / "whole", whole), told]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], [int(number) for number in sys.argv[4:]])
