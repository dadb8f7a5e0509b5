"""A restartable pass over a user's object: a dataset's in its lane, a sampler's in its epoch.

Users' objects keep a loaded state in one of two places: in the object, which ``iter()`` then
starts from, or in the iterator. ``Pass`` loads both. It finds out whether a loaded state was that
of a pass's end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal

from midepoch.errors import StateFormatError
from midepoch.stateful import Frozen, freeze_states, is_stateful, load_states, thaw

__all__ = ["FirstState", "Pass", "PassState"]

PassState = Literal["not begun", "loaded", "running", "resting"]
"""The states of a pass.

- ``not begun``: there is no iterator.
- ``loaded``: there is an iterator, the source was given a state, and nothing was drawn since.
- ``running``: StopIteration now means the end of this pass.
- ``resting``: the source was given the state of a pass's end, and is not iterated.
"""


class Pass(Iterator[Any]):
    """One pass over ``source``.

    ``make`` returns the source's iterator. ``make_again`` does so in the middle of a batch.

    >>> numbers = Pass([1, 2], lambda: iter([1, 2]))
    >>> numbers.begin()
    >>> list(numbers), numbers.state
    ([1, 2], 'running')
    """

    def __init__(
        self,
        source: Any,
        make: Callable[[], Iterator[Any]],
        make_again: Callable[[], Iterator[Any]] | None = None,
    ) -> None:
        self.source = source
        self.state: PassState = "not begun"
        self._iterator: Iterator[Any] | None = None
        self._make = make
        self._make_again = make_again or make

    def begin(self, *, loaded: bool = False) -> None:
        """Begin a pass; ``loaded``: from a state that the source was given."""
        self._iterator = self._make()
        self.state = "loaded" if loaded else "running"

    def rest(self) -> None:
        """Note that the source was given the state of a pass's end, and is not iterated."""
        self.state = "resting"

    def load_iterator(self, state: Frozen, path: str) -> None:
        """Load a state into the iterator of a pass that has begun.

        Raises:
            StateFormatError: the iterator has no ``load_state_dict``.
        """
        target: Any = self._iterator
        if not is_stateful(target):
            raise StateFormatError(
                f"holds a state, but iter() of {type(self.source).__qualname__} gave "
                f"{type(target).__qualname__}, which has no load_state_dict",
                path,
            )
        target.load_state_dict(thaw(state))

    def leave(self, batches: int, draw: Callable[[int], object], raised: Collection[int]) -> None:
        """Draw the ``batches`` that the saved run had drawn from a pass that it left.

        Those in ``raised`` may end in an error, because the saved run has raised it already.
        The caller then begins the next pass. Many objects apply a loaded state only when an
        iterator draws from it.
        """
        for number in range(batches):
            try:
                draw(number)
            except StopIteration:
                break
            except Exception:
                if number not in raised:
                    raise

    def __next__(self) -> Any:
        if self._iterator is None:
            raise StopIteration
        try:
            item = next(self._iterator)
        except StopIteration:
            if self.state != "loaded":
                raise
            # The loaded state was that of a pass's end, which the object repeats: begin the next.
            self._iterator = self._make_again()
            self.state = "running"
            return next(self._iterator)
        self.state = "running"
        return item

    @property
    def stateful(self) -> bool:
        """Whether the source or its iterator has a state."""
        return is_stateful(self.source) or is_stateful(self._iterator)

    def states(self, objects: Mapping[str, Any], iterator_slot: str) -> dict[str, Frozen]:
        """Return the states of ``objects`` by their slots, and that of the iterator.

        A source that is its own iterator is asked and stored once, as the iterator.
        """
        if self._iterator is None:
            return freeze_states(objects)
        if self._iterator is self.source:
            objects = {slot: value for slot, value in objects.items() if value is not self.source}
        return freeze_states({**objects, iterator_slot: self._iterator})


class FirstState:
    """The states that objects had before their first pass.

    A state document without users' states means these first states.
    """

    def __init__(self) -> None:
        self._states: dict[str, Frozen] | None = None

    def apply(self, objects: Mapping[str, Any], *, restoring: bool) -> None:
        """Keep the states at the first call; at later calls, load them if ``restoring``."""
        if self._states is None:
            try:
                self._states = freeze_states(objects)
            except Exception:
                self._states = {}  # many objects have no state before their first iteration
        elif restoring:
            load_states(objects, self._states)
