"""The meaning of ``iter`` and ``next``, row by row of the decisions, with and without a worker."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import sources
import torch
from histories import epochs, keep
from torch.utils.data import get_worker_info

import midepoch
from midepoch.errors import SnapshotError, SnapshotWarning

N = 11
both = pytest.mark.parametrize("workers", [0, 1])


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 2, "seed": 5, "collate_fn": keep, "lanes": 1, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


def resumed(state: dict[str, Any], dataset: Any = None, **arguments: Any) -> Any:
    made = loader(dataset, **arguments)
    made.load_state_dict(state)
    return made


@both
def test_iter_without_next_reopens_the_same_position(workers: int) -> None:
    for dataset in (sources.Plain, sources.Counting, sources.Resuming, sources.OwnIterator):
        made = loader(dataset(N), num_workers=workers)
        start = made.state_dict()["position"]
        whole = epochs(loader(dataset(N)))
        for _ in range(3):
            iter(made)
        assert made.state_dict()["position"] == start
        assert epochs(made) == whole

        batches = iter(loader(dataset(N)))
        next(batches)
        other = loader(dataset(N))
        live = iter(other)
        next(live)
        again = resumed(other.state_dict(), dataset(N), num_workers=workers)
        for _ in range(2):
            iter(again)
        assert list(again) == list(live)


def test_of_two_live_iterators_the_state_describes_the_newest() -> None:
    made = loader()
    older = iter(made)
    next(older)
    newer = iter(made)
    next(newer)
    next(newer)
    assert made.state_dict()["position"]["batches"] == 2
    assert made.state_dict()["position"]["epoch"] == 1
    rest = list(older)  # both go on
    assert len(rest) == 5
    assert made.state_dict()["position"]["batches"] == 2
    assert len(list(newer)) == 4


@both
def test_an_early_break_opens_a_new_epoch_every_time(workers: int) -> None:
    made = loader(shuffle=True, num_workers=workers)
    whole = epochs(loader(shuffle=True), 4)
    for epoch in range(3):
        batches = iter(made)
        assert [next(batches), next(batches)] == whole[epoch][:2]
        del batches
    assert list(made) == whole[3]


@both
def test_the_last_batch_with_its_end_unseen_resumes_an_empty_epoch(workers: int) -> None:
    for dataset in (*sources.MAPS, *sources.STREAMS):
        made = loader(dataset(N), num_workers=workers)
        batches = iter(made)
        for _ in range(6):
            next(batches)
        unseen = made.state_dict()
        assert next(batches, "end") == "end"
        seen = made.state_dict()
        following = list(made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", midepoch.errors.ReplayWarning)
            assert epochs(resumed(unseen, dataset(N)), 2) == [[], following]
            assert epochs(resumed(seen, dataset(N))) == [following]
        assert unseen["position"] == {**unseen["position"], "epoch": 0, "batches": 6}
        assert seen["position"] == {**seen["position"], "epoch": 1, "batches": 0}


def test_an_exhausted_iterator_stays_exhausted() -> None:
    batches = iter(loader())
    list(batches)
    assert next(batches, "end") == "end"
    assert next(batches, "end") == "end"


class Faulty(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        if index == 3:
            raise ValueError("row 3")
        return super().__getitem__(index)


class FaultyStream(sources.Cursors):
    def __iter__(self) -> Iterator[sources.Row]:
        return FaultyCursor(self.n)


class FaultyCursor(sources._Cursor):
    def __next__(self) -> sources.Row:
        values = super().__next__()
        if values[0] == 3:
            raise ValueError("row 3")
        return values


@both
@pytest.mark.parametrize("dataset", [Faulty, FaultyStream])
def test_a_datasets_error_takes_its_turn_and_the_next_batch_follows(
    dataset: Any, workers: int
) -> None:
    made = loader(dataset(N), num_workers=workers)
    batches = iter(made)
    first = next(batches)
    with pytest.raises(ValueError, match="row 3"):
        next(batches)
    state = made.state_dict()
    assert state["position"]["batches"] == 2
    rest = list(batches)
    assert first[0][0] == 0.0
    assert rest[0][0][0] == 4.0
    assert list(resumed(state, dataset(N))) == rest


class BreakingStream(sources.Stream):
    def __iter__(self) -> Iterator[sources.Row]:
        yield sources.row(0)
        raise ValueError("broken")


@both
@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")
def test_a_generator_that_raised_has_ended(workers: int) -> None:
    made = loader(BreakingStream(N), batch_size=1, num_workers=workers)
    batches = iter(made)
    next(batches)
    with pytest.raises(ValueError, match="broken"):
        next(batches)
    state = made.state_dict()
    assert list(batches) == []
    assert list(resumed(state, BreakingStream(N), batch_size=1)) == []


class BreakingSampler(sources.Lively):
    def __iter__(self) -> Iterator[int]:
        yield from (0, 1, 2, 3)
        raise KeyError("no more")


@both
def test_a_samplers_error_comes_at_its_own_place(workers: int) -> None:
    made = loader(sampler=BreakingSampler(N), num_workers=workers)
    batches = iter(made)
    assert len([next(batches), next(batches)]) == 2
    with pytest.raises(KeyError):
        next(batches)
    state = made.state_dict()
    assert list(batches) == []
    assert list(resumed(state, sampler=BreakingSampler(N))) == []


class Stopping(sources.Plain):
    def __getitem__(self, index: int) -> sources.Row:
        raise StopIteration


@both
def test_stop_iteration_in_getitem_is_an_error(workers: int) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(loader(Stopping(N), num_workers=workers))


def test_stop_iteration_in_collate_is_an_error() -> None:
    def collate(samples: Any) -> Any:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        list(loader(sources.Stream(N), collate_fn=collate))


class Shy(sources.Resuming):
    """Its state cannot be taken at one point."""

    def state_dict(self) -> dict[str, Any]:
        if self.at == 4:
            raise OSError("not here")
        return super().state_dict()


@both
def test_a_failing_state_dict_keeps_the_older_snapshot_and_warns(workers: int) -> None:
    made = loader(Shy(N), num_workers=workers)
    batches = iter(made)
    next(batches)
    with pytest.warns(SnapshotWarning, match="not here"):
        next(batches)
    state = made.state_dict()
    entry = state["lanes"]["entries"][0]
    assert (entry["dataset"], entry["ordinal"], entry["replay"]) == ({"at": 2}, 1, 1)
    other = resumed(state, sources.Resuming(N))
    assert list(other) == list(batches)


@both
def test_a_failing_state_dict_of_one_lane_keeps_the_whole_cut(workers: int) -> None:
    class Never(sources.Counting):
        def state_dict(self) -> dict[str, Any]:
            if self.served >= 2:
                raise OSError("not here")
            return super().state_dict()

    made = loader(Never(N), num_workers=workers, lanes=2)
    batches = iter(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        got = [next(batches) for _ in range(3)]
        entries = made.state_dict()["lanes"]["entries"]
        assert [entry["ordinal"] for entry in entries] == [0, 0]
        assert [entry["replay"] for entry in entries] == [2, 1]
        other = resumed(made.state_dict(), sources.Counting(N), lanes=2)
        assert got + list(batches) == list(loader(sources.Counting(N), lanes=2))
    assert len(list(other)) == 3


@both
def test_without_a_state_at_an_epochs_beginning_a_map_styles_cannot_be_taken(workers: int) -> None:
    class Late(sources.Counting):
        def state_dict(self) -> dict[str, Any]:
            if self.served in (4, 6):
                raise OSError("not here")
            return super().state_dict()

    made = loader(Late(4), num_workers=workers, persistent_workers=bool(workers))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        list(made)
        with pytest.raises(SnapshotError, match="not here"):
            made.state_dict()
        batches = iter(made)
        next(batches)
        with pytest.raises(SnapshotError, match="not here"):
            made.state_dict()
        next(batches)
        other = resumed(made.state_dict(), Late(4))
        assert list(other) == list(batches)


def test_without_any_state_in_a_pass_an_iterables_cannot_be_taken_after_the_next() -> None:
    class Silent(sources.Resuming):
        def state_dict(self) -> dict[str, Any]:
            raise OSError("not here")

    made = loader(Silent(4), lifetime="run")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        list(made)
        other = resumed(made.state_dict(), Silent(4), lifetime="run")
        assert list(other) == list(made)
        for again in (made, other):
            with pytest.raises(SnapshotError, match="in a whole epoch"):
                again.state_dict()
            next(iter(again))
            with pytest.raises(SnapshotError, match="in a whole epoch"):
                again.state_dict()


class Numbering(sources.Resuming):
    """Numbers its rows over all passes, and cannot tell its state behind the last one."""

    number = 0

    def _rows(self) -> Iterator[Any]:
        for _ in super()._rows():
            self.number += 1
            yield self.number

    def state_dict(self) -> dict[str, Any]:
        if self.at == self.n:
            raise OSError("not here")
        return {**super().state_dict(), "number": self.number}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.number = state["number"]


@both
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("n", [7, 8])
def test_what_was_dropped_at_an_end_is_drawn_again(workers: int, drop: bool, n: int) -> None:
    def made() -> Any:
        persistent = {"num_workers": workers, "persistent_workers": bool(workers)}
        return loader(Numbering(n), drop_last=drop, lifetime="run", **persistent)

    whole = made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        expected = [list(whole) for _ in range(3)][1:]
        used = made()
        list(used)
        other = made()
        other.load_state_dict(used.state_dict())
        iter(used)
        for each in (used, other):
            assert [list(each), list(each)] == expected


@both
@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize("given", [1, 2, 3, 4])
def test_a_lane_that_gave_nothing_before_it_was_left_begins_anew(
    workers: int, interval: int, given: int
) -> None:
    def made() -> Any:
        persistent = {"num_workers": workers, "persistent_workers": bool(workers)}
        arguments = {"lanes": 3, "lifetime": "run", "snapshot_every_n_steps": interval}
        return loader(sources.Resuming(12), **arguments, **persistent)

    whole = made()
    expected = [list(whole) for _ in range(3)][1:]
    saving = made()
    batches = iter(saving)
    for _ in range(given):
        next(batches)
    state = saving.state_dict()
    for saved in (False, True):
        used = made()
        used.load_state_dict(state)
        next(iter(used))  # the other lanes give nothing
        if saved:
            iter(used)
            state = used.state_dict()
            used = made()
            used.load_state_dict(state)
        assert [list(used), list(used)] == expected


def test_passes_that_are_left_tell_no_state_either() -> None:
    class Silent(sources.Resuming):
        def state_dict(self) -> dict[str, Any]:
            raise OSError("not here")

    made = loader(Silent(8), lifetime="run")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        for _ in range(2):
            next(iter(made))
            made.state_dict()
        batches = iter(made)
        next(batches)
        with pytest.raises(SnapshotError, match="in a whole epoch"):
            made.state_dict()


def test_each_lane_has_to_tell_its_state_again() -> None:
    class Late(sources.Counting):
        def state_dict(self) -> dict[str, Any]:
            if self.served == 4:
                raise OSError("not here")
            return super().state_dict()

    made = loader(Late(8), lanes=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        list(made)
        batches = iter(made)
        next(batches)
        with pytest.raises(SnapshotError, match="not here"):
            made.state_dict()  # the second lane has made no batch of this epoch
        next(batches)
        other = resumed(made.state_dict(), Late(8), lanes=2)
        assert list(other) == list(batches)


def test_a_lane_that_is_lost_is_not_restored_without_its_state() -> None:
    class Late(sources.Counting):
        def state_dict(self) -> dict[str, Any]:
            if self.served == 4:
                raise OSError("not here")
            return super().state_dict()

    made = loader(Late(4), num_workers=1, persistent_workers=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SnapshotWarning)
        list(made)
        made.num_workers = 2
        with pytest.raises(SnapshotError, match="no lost lane restored"):
            iter(made)


def test_unequal_lanes_are_dealt_to_in_turn_and_skipped_when_ended() -> None:
    class Unequal(sources.Stream):
        def __iter__(self) -> Iterator[Any]:
            info = get_worker_info()
            lane = 0 if info is None else info.id
            yield from ((lane, i) for i in range((3, 0, 1)[lane]))

    made = loader(Unequal(N), lanes=3, batch_size=None)
    assert list(made) == [(0, 0), (2, 0), (0, 1), (0, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for workers in (1, 2, 3):
            other = loader(Unequal(N), lanes=3, batch_size=None, num_workers=workers)
            assert list(other) == list(made)


def test_map_style_batches_go_to_the_workers_in_turn() -> None:
    class Where(sources.Plain):
        def __getitem__(self, index: int) -> int:
            import os

            return os.getpid()

    made = loader(Where(8), batch_size=1, num_workers=2, lanes=2)
    pids = [batch[0] for batch in made]
    assert pids[::2] == [pids[0]] * 4
    assert pids[1::2] == [pids[1]] * 4
    assert pids[0] != pids[1]


@pytest.mark.parametrize(("interval", "most"), [(1, 13), (4, 4), (100, 2), (None, 2)])
def test_calls_of_state_dict_are_bounded_by_the_interval(interval: int | None, most: int) -> None:
    dataset = sources.Counting(22)
    made = loader(dataset, snapshot_every_n_steps=interval)
    list(made)
    assert dataset.calls <= most


def test_a_resume_iterates_the_dataset_once_and_fetches_what_it_yields() -> None:
    made = loader(sources.Resuming(N), lifetime="run")
    batches = iter(made)
    next(batches)
    next(batches)
    dataset = sources.Resuming(N)
    other = resumed(made.state_dict(), dataset)
    assert len(list(other)) == 4
    assert dataset.iters == 1

    counting = sources.Counting(N)
    made = loader(sources.Counting(N))
    batches = iter(made)
    for _ in range(4):
        next(batches)
    other = resumed(made.state_dict(), counting)
    served = made.dataset.served
    list(other)
    assert counting.served == N
    assert served == 8


@pytest.mark.parametrize(
    "arguments", [{}, {"num_workers": 1}, {"num_workers": 1, "worker_type": "thread"}]
)
def test_a_batch_is_the_consumers_alone(arguments: dict[str, Any]) -> None:
    made = loader(collate_fn=torch.tensor, **arguments)
    gc.disable()
    try:
        for batch in made:
            alive = weakref.ref(batch)
            del batch
            made.stats()
            assert alive() is None
    finally:
        gc.enable()


# Inline the error was raised below ``next``, whose frame its own frames refer to.
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_datasets_error_that_is_kept_keeps_no_workers(kind: str) -> None:
    batches = iter(loader(Faulty(N), num_workers=1, worker_type=kind))
    next(batches)
    alive = weakref.ref(batches)
    gc.disable()
    try:
        with pytest.raises(ValueError, match="row 3") as kept:
            next(batches)
        del batches
        assert alive() is None
        assert kept.value.__traceback__ is not None
    finally:
        gc.enable()


def test_an_iterator_tells_the_loaders_length() -> None:
    assert len(iter(loader())) == 6


def test_more_than_a_stream_said_is_warned_of_as_torch_does() -> None:
    class Sized(sources.Stream):
        def __len__(self) -> int:
            return 2

    made = loader(Sized(N), batch_size=None)
    assert len(made) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset was reported to be 2"):
        list(made)
