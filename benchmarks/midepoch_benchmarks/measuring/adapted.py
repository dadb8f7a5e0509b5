"""Contenders that are reached through an adapter, with its datasets and batches."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from typing import Any

from midepoch_benchmarks.measuring.contenders import (
    NotInstalledError,
    NotOfferedError,
    Setting,
)
from midepoch_benchmarks.measuring.datasets import Indices, Samples, Stateful, Stream
from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.loading import load

__all__ = ["Adapted"]


@dataclasses.dataclass
class Measured(Workload):
    """A workload whose rows are the samples of a dataset, as NumPy arrays.

    Some loaders do not know torch. A row is a list, as an adapter expects.
    """

    samples: Any = None

    def row(self, i: Any, rng: Any = None) -> list[Any]:
        """Return the parts of sample ``i``."""
        sample = self.samples[i]
        parts = sample if isinstance(sample, tuple) else (sample,)
        return [part.numpy() if hasattr(part, "numpy") else part for part in parts]


class Adapted:
    """A loader with an adapter.

    Args:
        spec: its name on the command line of ``midepoch check``.
        name: its name in results.

    Raises:
        SpecError: ``spec`` names no adapter.
        NotInstalledError: a package that the adapter imports is not installed.
    """

    def __init__(self, spec: str, name: str) -> None:
        self.name = name
        try:
            self.adapter = load(spec).adapter
        except ModuleNotFoundError as missing:
            raise NotInstalledError(f"{missing.name} is not installed") from missing

    def open(self, setting: Setting) -> AdaptedLoader:
        """Return the loader that the adapter opens.

        Raises:
            NotOfferedError: the adapter does not offer such a loader, and says why.
        """
        offered = self.adapter.offer()
        offer = Offer(**offered) if isinstance(offered, dict) else offered
        workload, execution = _workload(setting), _execution(setting, offer)
        reason = _declined(offer, workload, execution)
        reason = reason or self.adapter.declines(workload, execution)
        if reason is not None:
            raise NotOfferedError(reason)
        return AdaptedLoader(self.adapter, workload, execution)


class AdaptedLoader:
    """A session of an adapter in the shape of a loader."""

    def __init__(self, adapter: Any, workload: Workload, execution: Execution) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="midepoch-bench-")
        adapter.prepare(workload, self.folder.name)
        self.session = adapter.open(workload, execution, self.folder.name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.session.epoch())

    def state_dict(self) -> Any:
        """Return the session's state."""
        return self.session.state()

    def load_state_dict(self, state: Any) -> None:
        """Load a state into the session."""
        self.session.load(state)

    def close(self) -> None:
        """Close the session."""
        self.session.close()
        del self.session
        self.folder.cleanup()


def _workload(setting: Setting) -> Measured:
    dataset = setting.dataset
    if isinstance(dataset, Indices):
        raise NotOfferedError("an adapter delivers samples, not indices")
    if not isinstance(dataset, (Samples, Stream, Stateful)):
        raise NotOfferedError(f"an adapter has no {type(dataset).__name__}")
    samples = dataset if isinstance(dataset, Samples) else dataset.samples
    kinds: dict[Any, str] = {Stream: "iterable", Stateful: "stateful_iterable"}
    return Measured(
        kind=kinds.get(type(dataset), "map"),
        n=len(samples),
        batch_size=setting.batch_size,
        epochs=1,
        shuffle=setting.shuffle,
        samples=samples,
    )


def _execution(setting: Setting, offer: Offer) -> Execution:
    if setting.lanes is not None:
        raise NotOfferedError("lanes are measured where they are an argument of the loader")
    if setting.interval is None:
        raise NotOfferedError("an adapter has no means to switch snapshots off")
    return Execution(
        workers=setting.workers,
        interval=setting.interval,
        start_method=offer.start_methods[0],
        worker_kind="thread" if setting.threads else "process",
    )


def _declined(offer: Offer, w: Workload, x: Execution) -> str | None:
    """Return why a loader does not offer this cell, or None if it does."""
    asked = {
        w.kind: w.kind in offer.kinds,
        x.worker_kind: not x.workers or x.worker_kind in offer.worker_kinds,
        "shuffle": w.shuffle in offer.shuffles,
        f"{x.workers} workers": x.workers in offer.workers,
    }
    for name, offers in asked.items():
        if not offers:
            return offer.reasons.get(name, f"its adapter does not offer {name}")
    return None
