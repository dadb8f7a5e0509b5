"""A loader's ranks beside the processes of a trainer, and the state that all of them keep."""

from __future__ import annotations

from typing import Any

from midepoch.errors import ArgumentError
from midepoch.loader import StatefulDataLoader

__all__ = ["check_ranks", "state_of_all"]


def check_ranks(loader: StatefulDataLoader[Any], rank: int, world: int) -> None:
    """Refuse a loader whose ranks are not the processes that train.

    Raises:
        ArgumentError: the checkpoint would hold the state of one process, and not that of all.
    """
    if world == 1:
        return
    ranks = loader._position.ranks
    if ranks is None or tuple(ranks.find()) != (rank, world):
        raise ArgumentError(
            f"{world} processes train, and a checkpoint keeps one state of the loader: build it "
            'with ranks="auto", so that this is the state of all'
        )
    if type(loader.ranks) is tuple and loader._position.plan.dealt:  # type: ignore[attr-defined]  # of vars(loader)
        raise ArgumentError(
            f"ranks={loader.ranks} cannot be asked for their states, which differ if the dataset "  # type: ignore[attr-defined]
            'is iterable, or has a state: give ranks="auto" or a process group'
        )


def state_of_all(
    loader: StatefulDataLoader[Any], state: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the state of all ranks, made of each one's ``state``, by default the present one.

    Ranks to which lanes are dealt communicate, so all processes call this together.
    """
    if loader._position.ranks is not None:
        return loader.gather_state(state)
    return loader.state_dict() if state is None else state
