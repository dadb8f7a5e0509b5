"""Results as SVG files that read well on a light and on a dark page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from midepoch_conformance.benchmarks.results import Results
from midepoch_conformance.benchmarks.series import Panel, Picture, pictures

__all__ = ["draw"]

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


def draw(results: Results, folder: Path) -> list[Path]:
    """Write a file for each picture that there are points for, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_drawn(picture, folder) for picture in pictures(results)]


def _drawn(picture: Picture, folder: Path) -> Path:
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
            # A contender's second line has its colour and another stroke.
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
    """Return whose line it is: those of one contender have one colour."""
    return line.partition(",")[0]
