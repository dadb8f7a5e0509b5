"""Resumable data loading: the same batches whatever executes the plan, from any position on."""

from midepoch import errors
from midepoch.canonical import dumps as state_to_json
from midepoch.canonical import loads as state_from_json
from midepoch.loader import StatefulDataLoader

__all__ = ["StatefulDataLoader", "errors", "state_from_json", "state_to_json"]
