"""Gives every batch the first batch's private generator, which draws on from batch to batch."""

import torch
from format_base import mutant

from midepoch.lane.batch_info import BatchInfo

EXPECTED = "SEED-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}
FIRST: list[torch.Generator] = []


def going_on(info: BatchInfo) -> torch.Generator:
    if not FIRST:
        FIRST.append(torch.Generator().manual_seed(info.seed))
    return FIRST[0]


BatchInfo.torch = property(going_on)  # type: ignore[assignment, method-assign]

Adapter = mutant()
