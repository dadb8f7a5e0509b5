"""What is drawn: series of points from results (pure)."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.benchmarks.entries import WITHOUT
from midepoch_conformance.benchmarks.results import CaseResult, Measured, Results

__all__ = ["Panel", "Picture", "Point", "pictures"]


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    """A median with its quartiles.

    Attributes:
        x: where it is.
        y: the median.
        low: the lower end of the bar.
        high: the upper end.
    """

    x: float
    y: float
    low: float
    high: float


@dataclasses.dataclass
class Panel:
    """One system of axes.

    Attributes:
        title: what tells it from those beside it, or nothing.
        lines: points by the name of a line, in the order of x.
    """

    title: str = ""
    lines: dict[str, list[Point]] = dataclasses.field(default_factory=dict)

    def add(self, name: str, point: Point) -> None:
        """Add a point to a line."""
        self.lines[name] = sorted([*self.lines.get(name, []), point])


@dataclasses.dataclass
class Picture:
    """One file.

    Attributes:
        name: of the file, without its ending.
        across: what x is.
        up: what y is.
        unit_across: of x: ``"B"`` or nothing.
        unit_up: of y: ``"s"``, ``"B"`` or nothing.
        panels: side by side, of the same axes.
        log_up: whether y is logarithmic; otherwise it begins at 0. x is always logarithmic.
    """

    name: str
    across: str
    up: str
    unit_across: str
    unit_up: str
    panels: list[Panel]
    log_up: bool = True


def pictures(results: Results) -> list[Picture]:
    """Return the pictures that there are points for."""
    delivered, batch = "samples delivered before", "time a batch"
    drawn = [
        _throughput(results),
        Picture("resume", delivered, "time to the next batch", "", "s",
                [_panel(results, "grow-resume", "position")]),
        Picture("state-size", delivered, "size of the state", "", "B",
                [_panel(results, "grow-size", "position")], log_up=False),
        Picture("snapshots", "the dataset's state", batch, "B", "s",
                [_panel(results, "grow-state", "size")]),
        Picture("tensors", "tensors a batch of 64 KB", batch, "", "s",
                [_panel(results, "grow-tensors", "k")]),
        Picture("lanes", "lanes", batch, "", "s",
                [_panel(results, "grow-lanes", "lanes")], log_up=False),
        Picture("order", "samples", "time an index", "", "s",
                [_panel(results, "order", "n")], log_up=False),
    ]  # fmt: skip
    return [picture for picture in drawn if any(panel.lines for panel in picture.panels)]


def _throughput(results: Results) -> Picture:
    panels = {count: Panel(f"{count} worker{'s' * (count > 1)}") for count in (1, 2)}
    for found in results.results:
        if found.case.row != "throughput":
            continue
        told = found.case.parameters
        for one in found.measured:
            if one.name not in found.case.beside:
                line = f"{one.name}, {told['k']} tensor{'s' * (told['k'] > 1)}"
                rates = 1 / one.median, 1 / one.high, 1 / one.low
                panels[told["workers"]].add(line, Point(told["total"], *rates))
    sides = list(panels.values())
    return Picture("throughput", "bytes a batch", "batches a second", "B", "", sides)


def _panel(results: Results, row: str, parameter: str) -> Panel:
    panel = Panel()
    for found in results.results:
        if found.case.row == row and parameter in found.case.parameters:
            for one in found.measured:
                x = found.case.parameters[parameter]
                panel.add(_name(found, one), Point(x, one.median, one.low, one.high))
    return panel


def _name(found: CaseResult, one: Measured) -> str:
    """Return the name of a line; where a loader is beside itself, what tells the two apart."""
    if WITHOUT not in found.case.against:
        return one.name
    return f"{found.loader}, {'no snapshots' if one.name == WITHOUT else 'one every step'}"
