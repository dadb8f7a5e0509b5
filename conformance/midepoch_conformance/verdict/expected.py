"""The batches that must be delivered: a position is followed through a trace (pure).

The model is the uninterrupted run cut at a position. Each delivered batch moves the position, so a
state's position is known wherever it was taken.
"""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.trace import Batch, Event, Fault, SessionTrace, Trace

__all__ = ["START", "Epochs", "Position", "Stretch", "epochs_of", "follow", "positions"]

Epochs = list[list[Batch]]


@dataclasses.dataclass(frozen=True)
class Position:
    """``batches`` batches of epoch ``epoch`` are delivered."""

    epoch: int
    batches: int


START = Position(0, 0)


@dataclasses.dataclass
class Stretch:
    """One uninterrupted piece of one epoch, as it was delivered."""

    session: int
    """Index of its session."""

    step: int
    """Index of the step that began it."""

    start: Position
    """The position at which it began."""

    loaded: str
    """The state that was loaded last before it, or ``""``."""

    want: list[Batch] | None
    """The batches from ``start`` to the epoch's end; None beyond the model's epochs."""

    got: list[Batch] = dataclasses.field(default_factory=list)
    """The delivered batches."""

    ended: bool = False
    """Whether the epoch's end was seen."""

    leading: bool = False
    """Whether it is an empty epoch right after a load; only one judge looks at those."""

    fault: Fault | None = None
    """The fault that stopped it, if there was one."""

    raised: bool = False
    """Whether the loader's iterator that delivers it has raised, at its last step or earlier."""


def epochs_of(session: SessionTrace) -> Epochs:
    """Return what a session delivered, epoch by epoch.

    Example:
        >>> drained = Event(0, "drain", batches=[[[0]], [[1]]], ended=True, opened=True)
        >>> epochs_of(SessionTrace([drained, drained]))
        [[[[0]], [[1]]], [[[0]], [[1]]]]
    """
    epochs: Epochs = []
    for event in session.events:
        if event.opened or (event.batches and not epochs):
            epochs.append([])
        if event.batches:
            epochs[-1].extend(event.batches)
    return epochs


def follow(case: Case, trace: Trace, epochs: Epochs, *, broken: str = "counts") -> list[Stretch]:
    """Return the stretches of all sessions in order, each with the batches that it should have
    delivered.

    A load that was refused moves nothing. An end state stands at the start of the next epoch,
    whether its end was seen or not. Empty epochs right after a load are ``leading``: they do not
    move the position, unless that epoch has no batches. An iterator that had raised delivers no
    empty epoch by its end. ``broken`` is ``Offer.broken``.
    """
    return _walked(case, trace, epochs, broken).stretches


def positions(
    case: Case, trace: Trace, epochs: Epochs, *, broken: str = "counts"
) -> dict[str, Position]:
    """Return the position at which each state was taken; ``broken`` is ``Offer.broken``."""
    return dict(_walked(case, trace, epochs, broken).states)


def _walked(case: Case, trace: Trace, epochs: Epochs, broken: str) -> _Walk:
    walk = _Walk(epochs, broken, case.workload.fail_at is not None)
    for index, session in enumerate(trace.sessions):
        walk.begin(index)
        for event in session.events:
            walk.event(event, case.sessions[index].steps[event.step])
    return walk


class _Walk:
    """The position while a trace is read."""

    def __init__(self, epochs: Epochs, broken: str, fails: bool) -> None:
        self.epochs = epochs
        self.broken = broken
        self.fails = fails  # a batch fails in the uninterrupted run, whose epochs do not have it
        self.stretches: list[Stretch] = []
        self.states: dict[str, Position] = {}

    def begin(self, session: int) -> None:
        self._session = session
        self._anew()

    def _anew(self) -> None:
        self._position = START
        self._named = 0  # the caller wants no earlier epoch than this one
        self._loaded = ""
        self._untouched = False  # nothing was delivered since the load
        self._open: Stretch | None = None

    def event(self, event: Event, step: Step) -> None:
        name = step.state
        if event.do in ("take", "drain"):
            self._deliver(event)
        elif event.do == "break":
            self._break()
        elif event.do == "name_epoch" and event.fault is None:
            self._name(step.n)
        elif event.do == "save":
            self.states[name] = self._position
        elif event.do == "open":
            self._anew()
        elif event.do in ("seal", "recode"):
            self.states[step.into] = self.states.get(name, START)
        elif event.do.startswith("load") and event.fault is None:
            self._load(name or event.do)

    def _deliver(self, event: Event) -> None:
        stretch = self._open or self._started(event.step)
        stretch.got.extend(event.batches)
        stretch.fault = event.fault
        # A new iterator has not raised, and a generator of the adapter's ends whatever comes.
        raised = event.fault is not None and not event.spent
        stretch.raised = raised or (stretch.raised and not event.opened)
        if event.batches:
            self._untouched = False
        if not event.ended:
            done = stretch.start.batches + len(stretch.got)
            self._position = Position(stretch.start.epoch, done)
            return
        stretch.ended = True
        # The end of an iterator that had raised is no empty epoch, but the loss of the rest; of a
        # batch that always fails there may be no rest.
        lost = stretch.raised and not self.fails
        stretch.leading = self._untouched and not stretch.got and not lost
        # An epoch without batches was delivered by this.
        if not stretch.leading or stretch.want == []:
            self._position = self._after(stretch.start.epoch)
        self._open = None

    def _started(self, step: int) -> Stretch:
        start = self._position
        known = start.epoch < len(self.epochs)
        want = self.epochs[start.epoch][start.batches :] if known else None
        self._open = Stretch(self._session, step, start, self._loaded, want)
        self.stretches.append(self._open)
        return self._open

    def _break(self) -> None:
        # An epoch of which nothing was delivered was not begun.
        if self._open is not None and self._open.got:
            epoch = self._open.start.epoch
            again = self.broken == "again"
            self._position = Position(epoch, 0) if again else self._after(epoch)
        self._open = None

    def _name(self, epoch: int) -> None:
        self._named = epoch
        if self._open is None and not self._position.batches:
            self._position = Position(max(self._position.epoch, epoch), 0)

    def _after(self, epoch: int) -> Position:
        """Return the beginning of the epoch that comes after ``epoch``."""
        return Position(max(epoch + 1, self._named), 0)

    def _load(self, name: str) -> None:
        self._position = self._normal(self.states.get(name, START))
        self._loaded, self._untouched, self._open, self._named = name, True, None, 0

    def _normal(self, position: Position) -> Position:
        if position.epoch < len(self.epochs) and position.batches:
            length = len(self.epochs[position.epoch])
            if position.batches >= length:
                return Position(position.epoch + 1, 0)
        return position
