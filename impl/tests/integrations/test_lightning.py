"""Lightning's trainer around a loader: stopped anywhere, and resumed to the same batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError, PlanMismatchError, StateFormatError

lightning = pytest.importorskip("lightning.pytorch")

from midepoch.integrations.lightning import LoaderCheckpoint  # noqa: E402  # needs it

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs

STEPS = 6
"""The steps of an epoch."""


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


class Sized(Stream):
    def __len__(self) -> int:
        return 18


class Counted(Noisy):
    """Samples of a dataset with a state."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load nothing."""


class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]  # from importorskip
    """A model that notes its batches and losses."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen: list[Any] = []

    def training_step(self, batch: Any, number: int) -> Any:
        loss = (self.layer(batch) ** 2).mean()
        self.seen.append([self.current_epoch, batch.tolist(), float(loss)])
        return loss

    def validation_step(self, batch: Any, number: int) -> None:
        """Validate, if there is a loader to do so."""

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=1e-4)


def make(**options: Any) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(Noisy(), batch_size=4, shuffle=True, seed=2, **options)


def fit(folder: Path, steps: int, *more: Any, loader: Any = None, **options: Any) -> list[Any]:
    """Train for so many steps, or up to a checkpoint's steps and so many more."""
    torch.manual_seed(0)
    model, resumed = Model(), options.pop("ckpt_path", None)
    validated = options.pop("validated", None)
    trainer = lightning.Trainer(
        max_steps=steps,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        callbacks=[LoaderCheckpoint(), *more],
        **{"devices": 1, "max_epochs": -1, **options},
    )
    trainer.fit(model, make() if loader is None else loader, validated, ckpt_path=resumed)
    return model.seen


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return fit(tmp_path_factory.mktemp("whole"), 3 * STEPS, enable_checkpointing=False)


@pytest.mark.parametrize("every", [1, 2, 4, STEPS, STEPS + 1, 2 * STEPS])
@pytest.mark.parametrize("workers", [0, 2])
def test_any_step_resumes_to_the_same_batches_and_losses(
    tmp_path: Path, whole: list[Any], every: int, workers: int
) -> None:
    if workers and every not in (4, STEPS):
        pytest.skip("enough")
    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path, every_n_train_steps=every, save_top_k=-1, filename="{step}"
    )
    assert fit(tmp_path, every, kept, loader=make(num_workers=workers)) == whole[:every]
    (path,) = tmp_path.glob(f"step={every}*.ckpt")
    rest = fit(tmp_path, 3 * STEPS, ckpt_path=str(path), loader=make())
    assert rest == whole[every:]


@pytest.mark.parametrize("kept", ["step", "epoch"])
@pytest.mark.parametrize("limit", [1, 4])
def test_an_epoch_that_lightning_ends_early_is_left(tmp_path: Path, kept: str, limit: int) -> None:
    options: dict[str, Any] = {"max_epochs": 3, "limit_train_batches": limit}
    keeping = lightning.callbacks.ModelCheckpoint(
        tmp_path,
        every_n_train_steps=1 if kept == "step" else None,
        save_top_k=-1,
        filename="{step}",
    )
    whole = fit(tmp_path, -1, keeping, **options)
    loader = make()
    expected = [
        batch.tolist() for _ in range(3) for _, batch in zip(range(limit), loader, strict=False)
    ]
    assert [step[1] for step in whole] == expected
    for step in range(1, 3 * limit):
        path = tmp_path / f"step={step}.ckpt"
        assert path.exists() == (kept == "step" or step % limit == 0)
        if path.exists():
            assert fit(tmp_path, -1, ckpt_path=str(path), **options) == whole[step:], step


@pytest.mark.parametrize("counted", ["epochs", "steps"])
def test_a_checkpoint_of_an_epochs_end_resumes_with_the_next(
    tmp_path: Path, whole: list[Any], counted: str
) -> None:
    kept = lightning.callbacks.ModelCheckpoint(tmp_path, save_top_k=-1, filename="{epoch}")
    first, all_ = (2, 3) if counted == "epochs" else (-1, -1)
    steps = -1 if counted == "epochs" else 3 * STEPS
    fit(tmp_path, steps if first > 0 else 2 * STEPS, kept, max_epochs=first)
    for epoch in range(2):
        path = str(tmp_path / f"epoch={epoch}.ckpt")
        rest = fit(tmp_path, steps, ckpt_path=path, max_epochs=all_)
        assert rest == whole[(epoch + 1) * STEPS :]


def test_a_run_that_max_steps_ended_goes_on(tmp_path: Path, whole: list[Any]) -> None:
    for loader in (make(), make(ranks="auto")):
        expected = fit(tmp_path, 3 * STEPS, enable_checkpointing=False, loader=loader)
        other = make() if loader.ranks is None else make(ranks="auto")
        folder = tmp_path / str(loader.ranks)
        fit(folder, 4, lightning.callbacks.ModelCheckpoint(folder), loader=other)
        (path,) = folder.glob("*.ckpt")
        again = make() if loader.ranks is None else make(ranks="auto")
        rest = fit(folder, 3 * STEPS, ckpt_path=str(path), loader=again)
        assert [step[1:] for step in rest] == [step[1:] for step in expected[4:]]


@pytest.mark.parametrize("steps", [4, STEPS])
def test_a_checkpoint_that_is_saved_after_the_fit(
    tmp_path: Path, whole: list[Any], steps: int
) -> None:
    torch.manual_seed(0)
    trainer = lightning.Trainer(
        max_steps=steps, accelerator="cpu", logger=False, callbacks=[LoaderCheckpoint()],
        default_root_dir=tmp_path, enable_checkpointing=False, devices=1,
    )  # fmt: skip
    trainer.fit(Model(), make())
    trainer.save_checkpoint(tmp_path / "after.ckpt")
    rest = fit(tmp_path, 3 * STEPS, ckpt_path=str(tmp_path / "after.ckpt"))
    assert [step[1:] for step in rest] == [step[1:] for step in whole[steps:]]


@pytest.mark.parametrize("counted", ["epochs", "steps"])
def test_a_checkpoint_of_an_epochs_start(tmp_path: Path, whole: list[Any], counted: str) -> None:
    class Keeping(lightning.Callback):  # type: ignore[misc, name-defined]  # may be missing
        def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
            trainer.save_checkpoint(tmp_path / f"{trainer.global_step}.ckpt")

    steps, epochs = (-1, 3) if counted == "epochs" else (3 * STEPS, -1)
    assert fit(tmp_path, steps, Keeping(), max_epochs=epochs) == whole
    for step in (0, STEPS, 2 * STEPS):
        path = str(tmp_path / f"{step}.ckpt")
        assert fit(tmp_path, steps, max_epochs=epochs, ckpt_path=path) == whole[step:], step


@pytest.mark.parametrize("interval", [2, STEPS])
@pytest.mark.parametrize("data", ["map", "stream"])
def test_a_checkpoint_that_validation_made(tmp_path: Path, data: str, interval: int) -> None:
    def loader() -> Any:
        return make() if data == "map" else StatefulDataLoader(Stream(), batch_size=3, seed=2)

    options: dict[str, Any] = {
        "max_epochs": 3,
        "val_check_interval": interval,
        "validated": torch.utils.data.DataLoader(Noisy(), batch_size=8),
    }
    kept = lightning.callbacks.ModelCheckpoint(tmp_path, save_top_k=-1, filename="{step}")
    whole = fit(tmp_path, -1, kept, loader=loader(), **options)
    assert len(whole) == 3 * STEPS
    for step in range(interval, 3 * STEPS + 1, interval):
        path = str(tmp_path / f"step={step}.ckpt")
        rest = fit(tmp_path, -1, loader=loader(), ckpt_path=path, **options)
        assert rest == whole[step:], step


def test_an_empty_rest_that_the_loader_would_skip(tmp_path: Path, whole: list[Any]) -> None:
    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path, every_n_train_steps=3, save_top_k=-1, filename="{step}"
    )
    fit(tmp_path, 2 * STEPS, kept)
    for step in (3, STEPS, 2 * STEPS):
        path = str(tmp_path / f"step={step}.ckpt")
        rest = fit(tmp_path, 3 * STEPS, ckpt_path=path, loader=make(empty_rest="skip"))
        assert rest == whole[step:], step


def test_an_epoch_goes_on_in_steps_of_the_same_size_only(tmp_path: Path) -> None:
    def loader(size: int) -> Any:
        return StatefulDataLoader(
            Noisy(), size, shuffle=True, seed=2, ranks="auto", on_world_change="recut"
        )

    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path, every_n_train_steps=3, save_top_k=-1, filename="{step}"
    )
    fit(tmp_path, -1, kept, lightning.callbacks.ModelCheckpoint(tmp_path, filename="end"),
        loader=loader(4), max_epochs=1)  # fmt: skip
    plain = loader(8)
    expected = [batch.tolist() for _ in range(3) for batch in plain][3:]
    for name in ("step=3", "step=6"):  # the latter is from before the epoch's end
        with pytest.raises(PlanMismatchError, match="steps of another size") as caught:
            fit(
                tmp_path,
                -1,
                loader=loader(8),
                max_epochs=3,
                ckpt_path=str(tmp_path / f"{name}.ckpt"),
            )
        assert caught.value.fields == (("batch_size", 4, 8),)
    rest = fit(tmp_path, -1, loader=loader(8), max_epochs=3, ckpt_path=str(tmp_path / "end.ckpt"))
    assert [step[1] for step in rest] == expected


def test_map_style_lanes_go_on_with_as_many_steps_only(tmp_path: Path) -> None:
    class Stateful(Noisy):
        def state_dict(self) -> dict[str, Any]:
            return {}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            assert state == {}

    def loader() -> Any:
        return StatefulDataLoader(
            Stateful(), 4, seed=2, ranks="auto", lanes=2, uneven="as they are"
        )

    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path, every_n_train_steps=4, save_top_k=-1, filename="{step}"
    )
    whole = fit(tmp_path, 2 * STEPS, kept, loader=loader())
    path = tmp_path / "step=4.ckpt"
    assert fit(tmp_path, 2 * STEPS, loader=loader(), ckpt_path=str(path)) == whole[4:]
    saved = torch.load(path, weights_only=False)
    for counts in saved["loops"]["fit_loop"]["epoch_loop.batch_progress"].values():
        if isinstance(counts, dict):  # as two processes count
            counts.update(ready=2, started=2, processed=2, completed=1)
    torch.save(saved, path)
    with pytest.raises(PlanMismatchError, match="resume on as many processes"):
        fit(tmp_path, 2 * STEPS, loader=loader(), ckpt_path=str(path))


@pytest.mark.parametrize("accumulated", [1, 2])
@pytest.mark.parametrize("every", ["step", "epoch"])
def test_a_stream_without_a_length(tmp_path: Path, accumulated: int, every: str) -> None:
    def stream() -> Any:
        return StatefulDataLoader(Stream(), batch_size=4, seed=2)

    options: dict[str, Any] = {"max_epochs": 3, "accumulate_grad_batches": accumulated}
    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path,
        every_n_train_steps=1 if every == "step" else None,
        save_top_k=-1,
        filename="{step}",
    )
    whole = fit(tmp_path, -1, kept, loader=stream(), **options)
    plain = stream()
    assert [step[1] for step in whole] == [batch.tolist() for _ in range(3) for batch in plain]
    steps = -(-5 // accumulated)
    for step in range(1, 2 * steps + 2):
        path = tmp_path / f"step={step}.ckpt"
        epoch, within = divmod(step, steps)
        assert path.exists() == (every == "step" or within == 0)
        if path.exists():
            rest = fit(tmp_path, -1, loader=stream(), ckpt_path=str(path), **options)
            assert rest == whole[epoch * 5 + within * accumulated :], step


def test_a_fit_that_fails_before_its_training_keeps_the_position(tmp_path: Path) -> None:
    """Lightning fetches a stream's first batch before it restores callbacks' states."""

    class Gone(Stream):
        def __iter__(self) -> Any:
            yield from ()
            raise OSError("the disk is gone")

    def trainer(*more: Any) -> Any:
        return lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, callbacks=[LoaderCheckpoint(), *more],
            default_root_dir=tmp_path, devices=1,
        )  # fmt: skip

    kept = lightning.callbacks.ModelCheckpoint(
        tmp_path, every_n_train_steps=1, save_top_k=-1, filename="{step}"
    )
    whole = fit(tmp_path, -1, kept, loader=StatefulDataLoader(Stream(), batch_size=4), max_epochs=2)
    failing = trainer()
    with pytest.raises(OSError, match="the disk is gone"):
        failing.fit(
            Model(), StatefulDataLoader(Gone(), batch_size=4), ckpt_path=tmp_path / "step=3.ckpt"
        )
    failing.save_checkpoint(tmp_path / "after.ckpt")
    rest = fit(
        tmp_path, -1, loader=StatefulDataLoader(Stream(), batch_size=4), max_epochs=2,
        ckpt_path=str(tmp_path / "after.ckpt"),
    )  # fmt: skip
    assert [step[1] for step in rest] == [step[1] for step in whole[3:]]


def test_loaders_that_cannot_resume_exactly_are_refused(tmp_path: Path) -> None:
    for loader, words in (
        (torch.utils.data.DataLoader(Noisy()), "needs a midepoch"),
        (StatefulDataLoader(Sized(), batch_size=4), "remove its __len__"),
        (make(last_batch="rollover"), "cannot carry samples over"),
    ):
        with pytest.raises(ArgumentError, match=words):
            fit(tmp_path, 2, loader=loader)
    limited = StatefulDataLoader(Sized(), batch_size=4)
    with pytest.raises(ArgumentError, match="limit_train_batches=2 may end it"):
        fit(tmp_path, 2, loader=limited, limit_train_batches=2)


def test_a_checkpoint_that_was_saved_without_the_callback_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    options: dict[str, Any] = {
        "accelerator": "cpu", "devices": 1, "logger": False, "enable_progress_bar": False,
        "enable_model_summary": False, "enable_checkpointing": False,
    }  # fmt: skip
    before = lightning.Trainer(max_steps=2, **options)
    before.fit(Model(), make())
    before.save_checkpoint(path)
    after = lightning.Trainer(max_steps=4, callbacks=[LoaderCheckpoint()], **options)
    with pytest.raises(StateFormatError, match="saved without LoaderCheckpoint"):
        after.fit(Model(), make(), ckpt_path=path, weights_only=False)
