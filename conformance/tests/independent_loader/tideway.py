"""Tideway: a data loader that can stop after any batch and go on in another process.

    loader = Loader(dataset, 32, shuffle=True, seed=7, workers=4)
    for batch in loader:                      # one epoch; iterate again for the next one
        ...
        saved = loader.state_dict()           # a plain tree, yours to keep, write or change
    loader.load_state_dict(saved)             # the next iteration delivers what was left

*Lanes.* A stream (an iterable dataset), and a map-style dataset that has a state of its own, is
cut into `lanes`: each has its own copy of the dataset, made afresh for every epoch, and its own
batches. Inside the dataset `shard_info()` gives (lane, lanes). Without `lanes=` there are as many
as workers (at least one), or as many as the loaded state has. Lanes belong to the data, workers
only host them. A map-style dataset without a state has no lanes.

*Random numbers.* While a batch is made, `random`, `numpy.random` and torch's default generator
are seeded from the batch's place, and `batch_generator()` is a NumPy generator of that batch's
own. The caller's streams stay untouched.

*States of datasets.* A dataset, or the iterator of a stream, that has `state_dict` and
`load_state_dict` is asked for its state every `snapshot_every` batches (0: never); a resume makes
the batches since then again, and drops them.

*Loads.* A load makes live iterators raise `StaleIteratorError`. A state that does not fit is
refused by `StateError` or `PlanError`, and nothing has changed then. An epoch that is broken off
counts: the next iteration is the next epoch.
"""

import pickle
import types

import torch
from tideway_epochs import Run, Track
from tideway_errors import PlanError, ReplayError, StaleIteratorError, StateError, WorkerDiedError
from tideway_lanes import default_collate, is_stateful
from tideway_states import FORMAT, KEYS, LANE_KEYS, are_counts, checksum, require
from tideway_streams import batch_generator, batch_random, shard_info

__all__ = [
    "Loader",
    "PlanError",
    "ReplayError",
    "StaleIteratorError",
    "StateError",
    "WorkerDiedError",
    "batch_generator",
    "batch_random",
    "default_collate",
    "shard_info",
]


class Epoch:
    """The iterator of one epoch."""

    def __init__(self, loader):
        self.loader, self.run = loader, loader._run

    def __iter__(self):
        return self

    def __next__(self):
        if self.run is None:
            raise StopIteration
        if self.loader._run is not self.run:
            raise StaleIteratorError(
                "a state was loaded, or another iteration begun: make a new one"
            )
        answer = self.run.step()
        if answer is None:
            self.loader._finish()
            self.run = None
            raise StopIteration
        if answer[0] == "error":
            raise answer[1]
        return answer[1]


class Loader:
    """Delivers the batches of a dataset, epoch by epoch, and can stop after any of them."""

    def __init__(
        self,
        dataset,
        batch_size=1,
        *,
        shuffle=False,
        seed=None,
        tail="keep",
        workers=0,
        lanes=None,
        prefetch=None,
        snapshot_every=1,
        persistent=False,
        collate=None,
        setup=None,
        context="fork",
    ):
        style = (
            "map" if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__") else "stream"
        )
        if (
            (batch_size is not None and batch_size < 1)
            or workers < 0
            or (lanes is not None and lanes < 1)
        ):
            raise ValueError("batch_size and lanes are at least 1 (or None), workers at least 0")
        if tail not in ("keep", "drop", "rollover") or (tail != "keep" and batch_size is None):
            raise ValueError(
                "tail is 'keep', 'drop' or 'rollover', and 'keep' without a batch size"
            )
        if style == "stream" and (shuffle or tail == "rollover"):
            raise ValueError("a stream cannot be shuffled, and cannot roll over")
        laned = style == "stream" or is_stateful(dataset)
        spec = {
            "style": style,
            "laned": laned,
            "stated": is_stateful(dataset),
            "batch": batch_size,
            "tail": tail,
            "shuffle": bool(shuffle),
            "collate": collate,
            "setup": setup,
        }
        self._shop = types.SimpleNamespace(
            dataset=dataset,
            spec=spec,
            workers=workers,
            prefetch=prefetch or 2,
            every=snapshot_every,
            persistent=persistent,
            context=context,
            pool=None,
        )
        self._seed_given, self._lanes_given = seed is not None, lanes is not None
        if seed is None:
            seed = int(torch.empty((), dtype=torch.int64).random_())
        lanes = (lanes or max(1, workers)) if laned else None
        self._named, self._run = None, Run(self._shop, seed, lanes, 0)

    def __iter__(self):
        old = self._run
        old.leave()
        self._run = self._fresh(self._after(), ()) if old.begun else old.twin()
        return Epoch(self)

    def _after(self):
        return max(self._run.epoch + 1, self._named or 0)

    def _fresh(self, epoch, carried):
        return Run(self._shop, self._run.seed, self._run.lanes, epoch, carried=carried)

    def _finish(self):
        run = self._run
        run.leave()
        self._run = self._fresh(self._after(), run.left_over())

    def set_epoch(self, epoch):
        """Name the epoch that comes next, if it is a later one. A load forgets the name."""
        self._named = epoch
        if self._run.delivered == 0 and epoch > self._run.epoch:
            self._run.leave()
            self._run.epoch, self._run.order = epoch, None

    def close(self):
        """End the workers. The loader can be iterated again."""
        self._run.leave()
        if self._shop.pool is not None:
            self._shop.pool.shut()
            self._shop.pool = None

    def _plan(self):
        spec, run = self._shop.spec, self._run
        plan = {key: spec[key] for key in ("style", "stated", "batch", "tail", "shuffle")}
        length = len(self._shop.dataset) if spec["style"] == "map" else None
        return plan | {"length": length, "seed": run.seed, "lanes": run.lanes}

    def state_dict(self):
        """Return the position as a tree of plain values and the dataset's own, all of it a copy."""
        run, lanes = self._run, []
        for track in run.tracks:
            has, dataset, iterator = (
                pickle.loads(track.snap) if track.snap and not track.done else ((), None, None)
            )
            lanes.append(
                {
                    "at": track.at,
                    "since": track.since,
                    "errors": list(track.errors),
                    "done": track.done,
                    "has": list(has),
                    "dataset": dataset,
                    "iterator": iterator,
                }
            )
        state = {
            "format": FORMAT,
            "plan": self._plan(),
            "epoch": run.epoch,
            "delivered": run.delivered,
            "carried": list(run.carried),
            "turn": run.turn,
            "lanes": lanes,
        }
        state["check"] = checksum(state)
        return state

    def load_state_dict(self, state):
        """Go on from a state at the next iteration.

        Raises StateError or PlanError, and changes nothing, if it does not fit.
        """
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise StateError(f"this is no state of a {FORMAT} loader: {type(state).__name__}")
        require(set(state) == KEYS, f"its keys are {sorted(map(str, state))}")
        require(state["check"] == checksum(state), "its checksum does not match its content")
        run = self._parse(state)
        self._run.leave()
        self._run, self._named = run, None

    def _parse(self, state):
        plan, mine = state["plan"], self._plan()
        if not self._seed_given:
            mine["seed"] = plan["seed"]
        if not self._lanes_given and mine["lanes"] is not None and plan["lanes"] is not None:
            mine["lanes"] = plan["lanes"]
        other = [key for key in mine if plan[key] != mine[key]]
        wrong = [f"{key}: {plan[key]!r} in the state, {mine[key]!r} here" for key in other]
        if wrong:
            raise PlanError("the state is of another plan: " + "; ".join(wrong))
        lanes, turn, carried = plan["lanes"], state["turn"], state["carried"]
        require(are_counts(state["epoch"], state["delivered"], turn), "a count is none")
        require(
            len(state["lanes"]) == (lanes or 0) and turn < max(1, lanes or 0),
            "its lanes are not those of its plan",
        )
        require(type(carried) is list and are_counts(*carried), "carried indices")
        tracks = []
        for entry in state["lanes"]:
            require(
                set(entry) == LANE_KEYS
                and are_counts(entry["at"], entry["since"], *entry["errors"]),
                "an entry of a lane",
            )
            snap = (
                pickle.dumps((list(entry["has"]), entry["dataset"], entry["iterator"]))
                if entry["has"]
                else None
            )
            tracks.append(Track(snap, entry["at"], entry["since"], entry["errors"], entry["done"]))
        require(
            not tracks or sum(t.at + t.since for t in tracks) == state["delivered"],
            "its lanes' batches do not add up",
        )
        run = Run(
            self._shop,
            plan["seed"],
            lanes,
            state["epoch"],
            state["delivered"],
            carried,
            turn,
            tracks,
        )
        if plan["style"] == "map":
            require(state["delivered"] <= run.count(), "it is beyond its epoch")
        return run
