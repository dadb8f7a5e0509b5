"""Refuses to save once a snapshot has failed, although an older one is there to resume from."""

from typing import Any

from format_base import mutant

from midepoch.epoch.iterator import EpochIterator
from midepoch.epoch.position import LoaderPosition
from midepoch.errors import SnapshotError

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 3, "steps": 6, "samples": 4}


def notes(self: Any, snapshot: Any) -> None:
    self.progress.failed = snapshot is not None and snapshot.trouble is not None


def checks(self: Any, **_: Any) -> None:
    if getattr(self.progress, "failed", False):
        raise SnapshotError("the dataset could not tell its state")


EpochIterator._warn_of = notes  # type: ignore[method-assign]  # the mutation
LoaderPosition.check_known = checks  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
