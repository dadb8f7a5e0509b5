"""Cases that showed a fault, and that no table must lose (pure).

A table covers pairs of values. Each new family changes the rows that it takes for them, and a case
that needs three values together may go. Every profile plays the cases of this list.
"""

from __future__ import annotations

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.notation import parse
from midepoch_conformance.case.tampering import ITEMS

__all__ = ["kept"]


def _chain(execution: str, resumes: int) -> str:
    """Return a case of short runs, each of which continues the one before."""
    facts = "fetched again: kind=stateful_iterable n=100 batch_size=1 epochs=1 log=auto"
    runs = [f"load s{i}, take 2, save s{i + 1}" for i in range(resumes)]
    return " | ".join((f"{facts} {execution}; take 2, save s0", *runs, f"load s{resumes}, take 2"))


_KEPT = (
    # A batch that is interrupted in its middle gets lost.
    "interrupted: epochs=3 shuffle=true seed=3 interrupt_at=6 log=auto;"
    " take 0, drain?, drain?, drain",
    # A state that is taken soon after a load loses the snapshots of the lanes that did not move.
    "fetched again: kind=stateful_iterable n=160 batch_size=1 epochs=1 log=auto workers=2;"
    " take 101, save s0 | load s0, take 1, save s1 | load s1, take 1, save s2 | load s2, take 1",
    # An epoch that is left after a batch carries its rest, as its sampler was drawn to the end.
    "set and left: n=10 batch_size=4 epochs=0 shuffle=true tail=rollover;"
    " take 1, break, drain, drain | [workers=2 ambient=1] take 1, break, drain, drain",
    # A loader that offers no other tail takes a state of another order.
    "other plan: epochs=1 tail=drop; take 2, save s | [shuffle=true] load s, drain, drain",
    # Workers draw a sampler's generator ahead, and an epoch that is broken off leaves it there.
    "set and left: n=13 batch_size=2 epochs=3 sampler=custom workers=2;"
    " take 1, break, drain, drain | [workers=0 ambient=1] take 1, break, drain, drain",
    # The same with samples that are carried over, which count as drawn.
    "set and left: n=10 batch_size=4 epochs=4 sampler=custom tail=rollover workers=1;"
    " drain, take 1, break, drain, drain"
    " | [workers=0 ambient=1] drain, take 1, break, drain, drain",
    # A used loader puts a dataset back to its beginning, and does not seed as a beginning does.
    "work used: kind=stateful_iterable batch_size=2 epochs=3 draws=[python] stream=reshuffled;"
    " save s | drain, take 2, break, load s, drain, drain, drain",
    # The request that finds an end draws, too, and no snapshot can be taken there.
    "history: kind=stateful_iterable n=17 batch_size=3 epochs=3 tail=drop"
    ' draws=["private torch"] unsaved=3 lanes=1; drain, save s | load s, drain, drain',
    # A lane that gave nothing since a load goes on with the loaded position in the next epoch.
    "program: kind=stateful_iterable n=12 batch_size=1 epochs=0 stream=flatten lanes=2;"
    " take 1, take 1, break, drain | take 1, save s1 | load s1, take 1, break, drain",
    # An iterator draws when a state is loaded into it, as it drew when it was made.
    "work cut: kind=stateful_iterable batch_size=2 epochs=2 draws=[python] stream=reshuffled"
    " state_at=iterator; take 1, save s | load s, drain, drain",
    # An interrupt comes in an epoch at whose beginning no state could be taken.
    "history: kind=stateful_map n=6 batch_size=2 epochs=3 unsaved=7; take 1, save s"
    " | [interrupt_at=1 log=auto] load s, drain?, drain?, take 1?",
    # A lane of several raises after its first batch, and a replay meets the error again.
    "document reload after an error: kind=stateful_map batch_size=1 epochs=1 fail_at=3 lanes=2"
    " interval=100; drain?, take 1, save s | load s, save t, take 1?",
    # A replay_check looks at the batches since the last snapshot, not since the first one.
    "document reload: kind=stateful_iterable batch_size=2 epochs=1 checked=true interval=2;"
    " take 3, save s | load s, save t, take 1",
    # A sampler keeps its generator in a private attribute.
    "document reload: batch_size=2 epochs=2 sampler=wrapped; drain, take 2, save s"
    " | load s, save t, take 1",
    # A sampler raises while its own random streams take the place of the caller's.
    "caller streams: batch_size=2 epochs=1 sampler=raising fail_at=3"
    " draws=[python, numpy, torch]; drain?, drain?, drain?",
    # A collate_fn raises StopIteration, which ends no epoch.
    "failing collate: kind=iterable epochs=1 fail_at=6 fails_in=collate_fn ends=true; drain",
    # An interval that is divided among lanes is never less than a batch.
    "fetched again: kind=stateful_iterable n=400 batch_size=1 epochs=1 log=auto lanes=2;"
    " take 20, save s0, take 340, save s1 | load s0, take 1 | load s1, take 1",
    # A state is taken after a load, and so is one right after it.
    "saving: batch_size=2; take 2, save s | load s, save t, take 1, save u, drain",
    # A worker that is a thread leaves without an exception that a loader looks for.
    "killed worker: epochs=1 exits_at=[6] log=auto workers=2 worker_kind=thread; drain",
    # A key that has a length counts as one sample, where samples come one by one.
    "history: batch_size=0 epochs=1 sampler=keys; take 3, save s | load s, drain",
    # A state that is empty is a state all the same.
    "work tree: kind=stateful_iterable batch_size=2 tree=shrinking; take 2, save s"
    " | load s, drain, drain",
    # Samples such as None, 0.0 and "" are samples.
    "whole: falsy=true fails_in=collate_fn; drain, drain",
    "whole: kind=iterable batch_size=2 falsy=true fails_in=collate_fn workers=2; drain, drain",
    "work cut: kind=stateful_iterable batch_size=3 falsy=true fails_in=collate_fn; take 1, save s"
    " | load s, drain, drain",
    # Indices that are no Python integers, and batches of them that are no lists.
    "cut: sampler=integers; take 1, save s | load s, drain, drain",
    "cut: sampler=arrays epochs=2 workers=2; take 2, save s | load s, drain, drain",
    # A sample's exception is pickled well, and cannot be unpickled.
    "failing sample: epochs=1 fail_at=6 unreadable=true workers=2; drain",
    # An interrupt comes when the samples of a batch are there, and none of them raised.
    "interrupted: epochs=3 interrupt_at=6 fails_in=collate_fn log=auto;"
    " take 0, drain?, drain?, drain",
    "interrupted: epochs=3 interrupt_at=6 fails_in=collate_fn log=auto; drain?, save s"
    " | [interrupt_at=null] load s, drain, drain",
    # A loader that was given no seed refuses a state, and does not keep its seed.
    "after a refusal: batch_size=2 epochs=3 shuffle=true adopts=true;"
    " [batch_size=3 adopts=false seed=9] take 2, save s"
    " | [ambient=1] take 1, load s?, take 1, save t, drain, drain | load t, drain",
    # It has begun an epoch in the order of a seed of its own, and loads a state of another seed.
    "used: batch_size=2 shuffle=true seed=3; take 2, save s"
    " | [adopts=true] take 1, break, load s, drain, drain",
    # It draws its seed, and a state that is taken before the first batch is no event of the run.
    "saving: batch_size=2 shuffle=true adopts=true; save s, take 2, save t, drain, drain",
    # StopIteration of a dataset that gives all samples of a batch at once ends no epoch.
    "stop iteration: epochs=1 stop_at=6 getitems=true; drain",
    # An epoch fills no batch, and what it left over waits on.
    "rollover: n=3 batch_size=4 epochs=6 shuffle=true tail=rollover;"
    " drain, drain, drain, drain, drain, drain",
    # The order of a loaded position is kept for an epoch that the caller then names.
    "named epoch: batch_size=2 epochs=5 shuffle=true seed=3; drain, save s"
    " | load s, name_epoch 3, drain, drain",
    # Each run is shorter than the interval: its snapshots count from the epoch's start.
    _chain("lanes=1 interval=3", 9),
    # More lanes than the interval has batches.
    _chain("lanes=4 interval=3", 9),
    # A loader that was given no number of lanes keeps the state's in the epochs after it.
    "elastic: kind=stateful_iterable epochs=3 workers=2 lanes=2; take 3, save s"
    " | [adopts=true workers=0 lanes=null] load s, drain, drain, drain",
    # A replay fails for a moment, and the next iterator goes on all the same.
    "failed replay: kind=stateful_iterable interval=100 log=auto; take 3, save s, drain"
    " | [fail_at=1 fail_once=true] load s, drain?, break, drain, drain",
    # A replay draws again what the dataset keeps.
    "interval: kind=stateful_iterable batch_size=2 draws=[own] stream=buffer interval=3;"
    " take 5, save s | load s, drain, drain",
    # A seed of 0 is a seed.
    "other plan: epochs=1 shuffle=true; take 2, save s | [seed=7] load s, drain, drain",
    "other plan: epochs=1 shuffle=true seed=7; take 2, save s | [seed=0] load s, drain, drain",
    # Tuples that are keys stay tuples, also those that are carried over.
    "rollover: n=7 epochs=4 tail=rollover sampler=pairs; drain, save a"
    " | load a, drain, drain, drain",
    # States of twelve lanes and workers, by whose names "10" comes before "2".
    "cut: kind=stateful_iterable n=40 batch_size=1 epochs=2 workers=12; take 17, save s"
    " | load s, drain, drain",
    "cut: kind=stateful_iterable n=40 batch_size=1 epochs=2 lanes=12; take 17, save s"
    " | load s, drain, drain",
    "cut: kind=stateful_map n=40 batch_size=1 epochs=2 workers=12; take 17, save s"
    " | load s, drain, drain",
    # Seeds that put numbers one after the other: lane 1 with batch 10 is lane 11 with batch 0.
    "own streams: kind=iterable n=150 batch_size=1 epochs=1 draws=[own] lanes=12; drain",
    # A state and the next one share the part that tells of the sampler.
    "work edited after save: batch_size=2 sampler=custom; take 2, save s, edit s, save t, drain,"
    " drain | load t, drain, drain",
    # A sampler's random streams begin in every interpreter as in any other.
    "work plain: batch_size=2 sampler=permuting; [host=b] drain, drain",
    # A caller empties parts of a state that it gave or was given, and leaves the first level.
    "edited after load: kind=stateful_iterable batch_size=2; take 2, save s"
    " | load s, edit s 1, save t, drain, drain | load t, drain, drain",
    "edited after load: kind=stateful_map batch_size=2; take 2, save s"
    " | load s, edit s 1, save t, drain, drain | load t, drain, drain",
    "edited after save: kind=stateful_iterable batch_size=2; take 2, save s"
    " | load s, save t, edit t 1, save u, drain, drain | load u, drain, drain",
    # A batch sampler fills one list again and again.
    "whole: batch_size=2 sampler=refilled; drain, drain",
    "whole: n=24 batch_size=2 sampler=refilled workers=2; drain, drain",
    "whole: n=24 batch_size=2 sampler=refilled workers=2 worker_kind=thread; drain, drain",
    # A caller names each epoch, and samples roll over into it.
    "rollover: n=7 epochs=4 tail=rollover;"
    " drain, name_epoch 1, drain, name_epoch 2, drain, name_epoch 3, drain",
    # A dataset has grown by less than a batch.
    "other plan: n=21 epochs=1 shuffle=true seed=1; take 3, save s | [n=23] load s, drain, drain",
    # The first batch is interrupted, and a new iterator draws the sampler's generator again.
    "interrupted: batch_size=13 epochs=3 sampler=random interrupt_at=6 log=auto;"
    " take 0, drain?, break, save s, drain, drain | [interrupt_at=null] load s, drain, drain",
    # A state between two epochs is loaded and taken at once, with a sampler that draws.
    "reload: batch_size=2 epochs=3 sampler=random; drain, save s | load s, save t"
    " | load t, drain, drain",
    # Workers that live on serve an epoch that is left, after one that was whole.
    "break: n=24 batch_size=2 epochs=4 workers=2 persistent=true;"
    " drain, take 1, break, drain, drain",
    # A sampler has no length, and a loader may count it by a pass.
    "saving: batch_size=2 sampler=unsized; save s, take 2, save t, drain, drain",
    # A replay fails for a moment in one of two lanes.
    "failed replay: kind=iterable batch_size=2 interval=100 lanes=2 log=auto; take 3, save s, drain"
    " | [fail_at=2 fail_once=true] load s, take 1?, drain, drain",
    # A loader without a seed adopts one before the first batch, and between two epochs.
    "start: shuffle=true seed=3; save s | [adopts=true] load s, drain, drain",
    "work end seen: epochs=3 shuffle=true seed=3; drain, save s"
    " | [adopts=true] load s, drain, drain",
    # A stream buffers samples by the draws of each batch.
    "work cut: kind=iterable batch_size=2 draws=[python] stream=buffer; take 4, save s"
    " | load s, drain, drain",
    # A state without any parts of parts is one object, which goes on changing.
    "work interval: kind=stateful_iterable batch_size=2 tree=flat interval=3; take 5, save s"
    " | load s, drain, drain",
    "work interval: kind=stateful_map batch_size=2 tree=flat interval=3; take 5, save s"
    " | load s, drain, drain",
    "work tree: kind=stateful_iterable batch_size=2 tree=flat workers=2 worker_kind=thread;"
    " take 5, save s | load s, drain, drain",
    # Seeds of few bits come again in a long epoch.
    "ambient streams: n=1000 batch_size=1 epochs=1 draws=[python, numpy]; drain",
    # A state is taken after each batch, and what worker threads read ahead is not read again.
    "fetched once: n=40 batch_size=1 epochs=1 log=auto workers=2 worker_kind=thread prefetch=4;"
    f" {', '.join(f'take 1, save s{i}' for i in range(20))}, drain",
    # Each part of a state that carries samples is removed.
    *(
        "part removed: n=7 epochs=3 tail=rollover; drain, take 1, save s"
        f" | load_cut s {part}, drain, drain"
        for part in range(20)
    ),
    # A load forgets a name that was given before it, and a name leaves the rest of a loaded epoch.
    "named epoch: batch_size=2 epochs=6 shuffle=true; take 1, save s, name_epoch 4, break, load s,"
    " drain, drain",
    "named epoch: batch_size=2 epochs=5 shuffle=true; take 1, save s"
    " | load s, name_epoch 1, drain, drain",
    # The loader shuffles a stream, of which a sample raised, and two resumes follow.
    "caught again: kind=iterable n=16 batch_size=2 epochs=1 shuffle=true fail_at=3"
    " stream=rewinding; take 1?, take 1?, save s | load s, take 1?, save t"
    " | load t, drain?, drain?, drain?",
    # Worker threads end when their loader is closed.
    f"held: workers=2 worker_kind=thread; {', open, '.join(['take 2, close, count'] * 5)}",
    # Of two states, the iterator's cannot be told: half of a snapshot is none.
    "work cut: kind=stateful_iterable n=16 state_at=both unsaved=3; take 2, save s"
    " | load s, drain, drain",
    # A lane is set up, and then loads its state.
    "work cut: kind=stateful_iterable batch_size=2 stream=divided lanes=2; take 2, save s"
    " | load s, drain, drain",
    # The samples of a stream draw beyond the first block that the loader shuffles.
    "ambient values: kind=stateful_iterable n=24 batch_size=2 shuffle=true draws=[python];"
    " take 5, save s | load s, drain, drain",
    # Several lanes have ended, and the others take turns.
    "work cut: kind=iterable stream=hollow n=13 batch_size=2 lanes=4; take 2, save s"
    " | load s, drain, drain",
    # States that are larger than what a pipe takes at once.
    "work tree: kind=stateful_iterable n=20 batch_size=2 tree=large workers=2; take 5, save s"
    " | load s, drain, drain",
    "work tree: kind=stateful_map n=20 batch_size=2 tree=large workers=2; take 5, save s"
    " | load s, drain, drain",
    # A loader makes the batches after a snapshot again, in another size.
    "other plan: kind=stateful_iterable batch_size=2 epochs=1 interval=3; take 2, save s"
    " | [batch_size=3] load s, drain, drain",
    # Another list of indices takes the place of the one that was delivered from.
    "other plan: batch_size=2 epochs=1 seed=1 sampler=listed; take 2, save s"
    " | [seed=2 adopts=true] load s, drain, drain",
    # A list of the state lacks an item, such as a lane's entry.
    *(
        "part removed: kind=stateful_iterable n=16 batch_size=2 epochs=1 lanes=3; take 4, save s"
        f" | load_cut s {ITEMS + item}, drain, drain"
        for item in range(8)
    ),
    # A user sets the epoch of a Stateful sampler after a state was taken.
    "saving: batch_size=2 epochs=3 sampler=dated; drain, save s, drain, save t, drain",
    # A user sets it between a load and the next epoch.
    "work end seen: batch_size=2 epochs=3 sampler=dated; drain, save s | load s, drain, drain",
    # A loader that was given no lanes does not keep those of a state that it refuses.
    *(
        "after a refusal: kind=iterable batch_size=2 epochs=3 adopts=true; take 1"
        f" | [lanes=3 batch_size=3 adopts=false] {saved}"
        " | load s?, take 1, save t, drain, drain | load t, drain, drain"
        for saved in ("save s", "take 2, save s")
    ),
    # A refused load leaves the name of the epoch that comes.
    "named epoch: batch_size=2 epochs=6 shuffle=true;"
    " take 2, name_epoch 4, load_bogus list?, drain, drain",
    # Short runs of a stream that the loader shuffles.
    _chain("shuffle=true lanes=1 interval=3", 9),
    # The loader counts the batches since its last snapshot of such a stream.
    "calls: kind=stateful_iterable n=800 batch_size=2 epochs=1 shuffle=true log=auto interval=100;"
    " drain",
    # Workers that outlive an epoch end, or go on, when a state is loaded.
    *(
        f"held: n=40 batch_size=2 epochs=1 workers=2 worker_kind={kind} persistent=true;"
        f" take 2, save s, {', '.join(['load s, break, take 2, count'] * 5)}"
        for kind in ("thread", "process")
    ),
    # A worker dies whose lane is ahead of a slower one.
    "healed: kind=stateful_iterable n=16 batch_size=2 slow=[0] die_at=7 die_once=true log=auto"
    " workers=2 restarts=3; drain, drain",
    # Threads make samples at the same time, and each has a generator of its own.
    "uneven plain: n=24 batch_size=1 epochs=1 draws=[own] slow=[0, 3, 6, 9, 12]"
    " workers=2 worker_kind=thread; drain",
    # An interrupt comes while a sampler is asked for an index, also for one of a later batch.
    "interrupted: epochs=3 sampler=halted interrupt_at=6 fails_in=sampler log=auto;"
    " take 0, drain?, drain?, drain",
    *(
        "interrupted: n=24 batch_size=2 epochs=3 sampler=halted interrupt_at=17 fails_in=sampler"
        f" log=auto workers=2; {steps}"
        for steps in (
            "take 0, drain?, drain?, drain",
            "drain?, take 1?, save s | [interrupt_at=null] load s, drain, drain",
        )
    ),
    # An epoch is left, and what workers drew ahead of a sampler is undone, but not its epoch.
    "set and left: n=24 batch_size=2 epochs=0 sampler=turning workers=2; take 2, break, take 2,"
    " break, drain, drain"
    " | [workers=0 ambient=1] take 2, break, take 2, break, drain, drain",
    # Batches that overtook a slow one wait when an epoch is left.
    "set and left: kind=stateful_map n=12 batch_size=2 epochs=0 sampler=prepared slow=[0]"
    " workers=3 lanes=3 persistent=true; take 2, break, drain, drain"
    " | [workers=0 persistent=false ambient=1] take 2, break, drain, drain",
    # Orders that are computed index by index go wrong at some sizes.
    "whole: n=3001 batch_size=100 shuffle=true; drain, drain",
    # A sample raises in each replay, whose worker threads end with their loader.
    "held: kind=iterable n=24 batch_size=2 epochs=1 workers=2 worker_kind=thread; take 3, save s"
    f" | [fail_at=1] {', open, '.join(['load s, take 1?, close, count'] * 5)}",
    # A sample that raised can be read when its batch is made again, which then fails no more.
    "caught: kind=iterable n=16 batch_size=3 epochs=1 stream=rewinding interval=100 fail_at=3"
    " log=auto; take 1, take 1?, save s | [fail_at=null] load s, drain, drain",
    # A sample raises in a replay, behind one that had raised in the run before, too.
    "caught: kind=iterable n=16 batch_size=3 epochs=1 stream=rewinding interval=100 fail_at=2"
    " log=auto; take 1?, take 1, save s | [fail_at=3 fails_also=[2]] load s, take 1?, save t"
    " | load t, drain",
    # A worker dies after a batch that failed in collate_fn, which its replacement does not call.
    "caught and healed: kind=stateful_map batch_size=1 epochs=1 fail_at=2 fails_in=collate_fn"
    " die_at=8 die_once=true log=auto interval=100 workers=2 restarts=2; drain?, drain?",
    # The only worker dies while nothing is asked of it.
    "killed worker: n=400 batch_size=2 epochs=1 workers=1; take 3, lose, drain",
    # Large batches travel through memory that loader and worker share.
    f"held: batch_size=2 width=16384 workers=1; {', open, '.join(['take 2, close, count'] * 5)}",
    "healed: n=16 batch_size=2 width=16384 die_at=9 die_once=true log=auto workers=2 restarts=2;"
    " drain, drain",
    "interrupted: batch_size=2 width=16384 workers=2 interrupt_at=6 log=auto;"
    " take 0, drain?, drain?, drain",
    "break: n=24 batch_size=2 epochs=8 width=16384 workers=2 persistent=true;"
    " take 2, break, take 2, break, take 2, break, take 2, break, drain, drain",
    # A used loader adopts a state's seed, also for the draws of its samples.
    "used: batch_size=2 shuffle=true seed=3 draws=[python]; take 2, save s"
    " | [adopts=true] take 1, break, load s, drain, drain",
    # Workers that live on get more lanes by a load than they had.
    "used: kind=stateful_iterable n=24 batch_size=2 epochs=3 workers=2 lanes=6 persistent=true;"
    " take 2, save s | [lanes=null adopts=true] take 1, break, load s, drain, drain",
    # A state is taken after each error of a dataset whose snapshots follow its errors.
    *(
        f"size: kind={kind} n=80 batch_size=1 epochs=1 {stream} fail_at=3"
        f" fails_also={[*range(7, 48, 4)]};"
        f" {', '.join(f'take 3, take 1?, save s{i}' for i in range(12))}"
        for kind, stream in (("stateful_map", ""), ("stateful_iterable", "stream=rewinding"))
    ),
    # An epoch is left at its last batch, and its sampler was asked for the end.
    "set and left: n=12 batch_size=4 epochs=3 sampler=random workers=2; take 3, break, drain, drain"
    " | [workers=0 ambient=1] take 3, break, drain, drain",
)
"""The cases; a comment before each says what it found."""


def kept() -> list[Case]:
    """Return the cases that every profile plays.

    Example:
        >>> kept()[0].probe
        'interrupted'
    """
    return [parse(text) for text in _KEPT]
