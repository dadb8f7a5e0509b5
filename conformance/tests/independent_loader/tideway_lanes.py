"""A lane: one copy of the dataset, which makes its batches one after the other."""

import copy
import pickle
import warnings

import numpy as np
import torch
from tideway_errors import ReplayError, StateError
from tideway_streams import streams_of


def is_stateful(thing):
    """Tell whether a thing can give its state and load one."""
    return callable(getattr(thing, "state_dict", None)) and callable(
        getattr(thing, "load_state_dict", None)
    )


def default_collate(rows):
    """Arrays and tensors are stacked; all else stays a list."""
    if all(isinstance(row, np.ndarray) for row in rows):
        return np.stack(rows)
    if all(isinstance(row, torch.Tensor) for row in rows):
        return torch.stack(rows)
    return list(rows)


class Lane:
    """One copy of the dataset, which makes its batches one after the other, in any process."""

    def __init__(self, dataset, spec, ticket):
        self.spec, self.ticket, self.ended, self.iterator = spec, ticket, False, None
        self.where = (ticket["lane"], ticket["lanes"])
        if not spec["laned"]:
            self.data = dataset
            return
        begin = ("lane", ticket["seed"], ticket["epoch"], ticket["lane"])
        with streams_of(("setup", *begin[1:]), *self.where):
            self.data = copy.deepcopy(dataset)
            if spec["setup"]:
                spec["setup"](self.data, *self.where)
        has, of_dataset, of_iterator = (
            pickle.loads(ticket["snap"]) if ticket["snap"] else ((), None, None)
        )
        if "dataset" in has:
            with streams_of(begin, *self.where):
                self._give(self.data, of_dataset, "dataset")
        if spec["style"] == "stream":
            with streams_of(begin, *self.where):
                self.iterator = iter(self.data)
                if "iterator" in has:
                    self._give(self.iterator, of_iterator, "iterator")
        for done in range(ticket["since"]):
            self._again(done)

    def _give(self, thing, state, name):
        if not is_stateful(thing):
            raise StateError(f"the state holds one of the {name}, and this {name} cannot load it")
        try:
            thing.load_state_dict(state)
        except Exception as exc:
            raise StateError(f"the {name} refused its state: {type(exc).__name__}: {exc}") from exc

    def _again(self, done):
        """Make a delivered batch once more, for its effect on the dataset."""
        ticket = self.ticket
        ordinal = ticket["at"] + done
        which = f"batch {ordinal} of lane {ticket['lane']}"
        indices = ticket["replay"][done] if self.spec["style"] == "map" else None
        with self._place(ordinal):
            try:
                rows, _ = self._fetch(indices)
            except Exception:  # whatever the dataset raises: the run before may have met it
                if done not in ticket["errors"]:
                    raise
                return
        if done in ticket["errors"]:
            raise ReplayError(f"{which} raised an error before, and raises none now")
        if not rows:
            raise ReplayError(f"the lane ends before {which}, which it has delivered before")

    def _place(self, ordinal):
        ticket = self.ticket
        if self.spec["style"] == "map":
            number = ordinal * ticket["stride"] + ticket["lane"]
            place = ("map", ticket["seed"], ticket["epoch"], number)
        else:
            place = ("stream", ticket["seed"], ticket["epoch"], ticket["lane"], ordinal)
        return streams_of(place, *(self.where if self.spec["laned"] else (0, 1)), batch=True)

    def _fetch(self, indices):
        size = self.spec["batch"] or 1
        if self.spec["style"] == "map":
            try:
                if callable(getattr(self.data, "__getitems__", None)):
                    return list(self.data.__getitems__(list(indices))), False
                return [self.data[i] for i in indices], False
            except StopIteration as exc:
                raise RuntimeError("the dataset raised StopIteration for an index") from exc
        rows = []
        while len(rows) < size and not self.ended:
            try:
                rows.append(next(self.iterator))
            except StopIteration:
                self.ended = True
        if len(rows) < size and self.spec["tail"] == "drop":
            rows = []
        return rows, self.ended

    def _snapshot(self):
        """The user's states, serialised at once: the objects go on changing."""
        if not self.spec["laned"] or not self.ticket["every"]:
            return None
        try:
            states = {}
            if is_stateful(self.data) and self.iterator is not self.data:
                states["dataset"] = self.data.state_dict()
            if self.iterator is not None and is_stateful(self.iterator):
                states["iterator"] = self.iterator.state_dict()
            if not states:
                return None
            return pickle.dumps((sorted(states), states.get("dataset"), states.get("iterator")))
        except Exception as exc:
            text = f"the dataset's state could not be taken, the one before is kept: {exc!r}"
            warnings.warn(text, stacklevel=2)
            return None

    def make(self, ordinal, indices):
        """Return ("batch", payload, snap, last), ("error", error, snap, dataset's), ("end",)."""
        if self.ended:
            return ("end",)
        with self._place(ordinal):
            try:
                rows, ended = self._fetch(indices)
            except Exception as exc:
                return "error", exc, self._snapshot(), True
            if ended and not rows:
                return ("end",)
            every = self.ticket["every"]
            snap = self._snapshot() if every and (ordinal + 1) % every == 0 and not ended else None
            try:
                if self.spec["batch"] is None:
                    return "batch", rows[0], snap, ended
                return "batch", (self.spec["collate"] or default_collate)(rows), snap, ended
            except StopIteration as exc:
                error = RuntimeError("collate raised StopIteration")
                error.__cause__ = exc
                return "error", error, snap, False
            except Exception as exc:
                return "error", exc, snap, False
