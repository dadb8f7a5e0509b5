"""Results as drawings: points by line, and SVG files that suit a light and a dark page."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from midepoch_benchmarks.entries import WITHOUT
from midepoch_benchmarks.results import CaseResult, Measured, Results

__all__ = ["Panel", "Picture", "Point", "draw", "pictures"]

_GREY = "#808080"
_COLOURS = {"reference": "#e07a1f", "torch": "#3f87d9", "torchdata": "#3a9e6f"}
_OTHERS = ("#b65fc2", "#c9463d", "#8a8f2a", "#2aa5a5")
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "midepoch",
    "font.family": "sans-serif",
    "text.color": _GREY,
    "axes.edgecolor": _GREY,
    "axes.labelcolor": _GREY,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "grid.color": _GREY,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    """A median with its quartiles."""

    x: float
    """The position on the axis across."""
    y: float
    """The median."""
    low: float
    """The lower end of the bar."""
    high: float
    """The upper end."""


@dataclasses.dataclass
class Panel:
    """One system of axes."""

    title: str = ""
    """The difference from the panels beside it, or nothing."""
    lines: dict[str, list[Point]] = dataclasses.field(default_factory=dict)
    """The points of each line by its name, in the order of x."""

    def add(self, name: str, point: Point) -> None:
        """Add a point to a line."""
        self.lines[name] = sorted([*self.lines.get(name, []), point])


@dataclasses.dataclass
class Picture:
    """One file."""

    name: str
    """The file's name without its ending."""
    across: str
    """The meaning of x."""
    up: str
    """The meaning of y."""
    unit_across: str
    """The unit of x: ``"B"`` or nothing."""
    unit_up: str
    """The unit of y: ``"s"``, ``"B"`` or nothing."""
    panels: list[Panel]
    """The panels, side by side, with the same axes."""
    log_up: bool = True
    """Whether y is logarithmic; otherwise it begins at 0. x is always logarithmic."""


def pictures(results: Results) -> list[Picture]:
    """Return the pictures that have points."""
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
    """Return the name of a line; a loader beside itself is named by its snapshots."""
    if WITHOUT not in found.case.against:
        return one.name
    return f"{found.loader}, {'no snapshots' if one.name == WITHOUT else 'one every step'}"


def draw(results: Results, folder: Path) -> list[Path]:
    """Write a file for each picture that has points, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_drawn(picture, folder) for picture in pictures(results)]


def _drawn(picture: Picture, folder: Path) -> Path:
    # Imported here: only drawings need matplotlib.
    import matplotlib
    from matplotlib.figure import Figure

    path = folder / f"{picture.name}.svg"
    with matplotlib.rc_context(_STYLE):
        panels = [panel for panel in picture.panels if panel.lines]
        figure = Figure(figsize=(4.2 * len(panels) + 2.4, 3.6), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for panel, place in zip(panels, axes, strict=True):
            _fill(place, panel, picture)
        axes[0].set_ylabel(picture.up)
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
        # No date: the same results make the same file.
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})
    return path


def _fill(place: Any, panel: Panel, picture: Picture) -> None:
    from matplotlib.ticker import EngFormatter, NullFormatter

    names = dict.fromkeys(map(_contender, panel.lines))
    colours = dict(zip((name for name in names if name not in _COLOURS), _OTHERS * 9))  # noqa: B905 - as many as are needed
    seen: set[str] = set()
    for name, points in panel.lines.items():
        who = _contender(name)
        place.errorbar(
            [point.x for point in points],
            [point.y for point in points],
            yerr=[
                [point.y - point.low for point in points],
                [point.high - point.y for point in points],
            ],
            label=name,
            color=_COLOURS.get(who, colours.get(who)),
            # A contender's second line has the same colour and another stroke.
            linestyle="--" if who in seen else "-",
            marker="o",
            markersize=4,
            capsize=2,
        )
        seen.add(who)
    place.set_xscale("log")
    if picture.log_up:
        place.set_yscale("log")
        place.yaxis.set_minor_formatter(NullFormatter())
    else:
        place.set_ylim(bottom=0)
    place.xaxis.set_major_formatter(EngFormatter(unit=picture.unit_across))
    place.yaxis.set_major_formatter(EngFormatter(unit=picture.unit_up))
    place.set_xlabel(picture.across)
    place.set_title(panel.title, fontsize="medium")
    place.grid(True)


def _contender(line: str) -> str:
    """Return the contender of a line: lines of one contender have one colour."""
    return line.partition(",")[0]
