"""Resumable data loading: the same batches whatever executes the plan, from any position on."""

from midepoch import errors
from midepoch.checkpoints import merge_states
from midepoch.encoding.canonical import dumps as state_to_json
from midepoch.encoding.canonical import loads as state_from_json
from midepoch.lane.batch_info import BatchInfo, batch_info
from midepoch.loader import StatefulDataLoader
from midepoch.sampling.distributed import StatefulDistributedSampler
from midepoch.stats import LoaderStats

__all__ = [
    "BatchInfo",
    "LoaderStats",
    "StatefulDataLoader",
    "StatefulDistributedSampler",
    "batch_info",
    "errors",
    "merge_states",
    "state_from_json",
    "state_to_json",
]
