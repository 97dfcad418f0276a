# SPDX-License-Identifier: Apache-2.0
"""Curves as a picture for a notebook: SVG without a script, which every front end shows, also those that trust nobody.

The colours of the lines stand in attributes and can be read on white as on black. Where the front end keeps the style
sheet and is known to be dark, they are brighter.
"""

from __future__ import annotations

import base64
import datetime
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ._curve import Curve, Step
from ._html import NOTHING, escape
from ._library import Metric

# Okabe and Ito's, which the colour-blind can tell apart; those of the agent's page, so that a GPU has one colour.
LIGHT = ("#0072b2", "#b87900", "#00805c", "#b3508a", "#7d7400", "#c04a00", "#5a63c4", "#5d6470")
DARK = ("#4aa8ff", "#e69f00", "#19c48f", "#e58fc3", "#f0e442", "#ff7a3d", "#9fb4ff", "#c9cdd6")
DASHES = ("", "6 3", "2 2", "8 3 2 3")

# How JupyterLab, VS Code, Colab and Sphinx's themes say that they are dark.
_DARK_PLACES = ('body[data-jp-theme-light="false"]', "body.vscode-dark", 'html[theme="dark"]', '[data-theme="dark"]')

WIDTH = 880
_PANEL_HEIGHT, _TOP, _LEFT, _RIGHT, _GAP = 128, 22, 58, 84, 10
_AXIS_HEIGHT = 18
_LEGEND_HEIGHT = 16
_SHORT_NAME = 34  # characters: four of them go side by side
_LABEL_HEIGHT = 11
_MOST_LABELS = 8  # of values beside their lines
_MOST_BANDS = 4  # lines around which least and greatest can be made out
_TIME_STEPS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800)


class Line(NamedTuple):
    name: str
    sign: str  # stands for the name where there is little room
    place: int  # in the machine: it has the colour of this place
    curve: Curve


@dataclass
class Panel:
    metric: Metric
    lines: list[Line]
    note: str = ""  # why there is nothing in it


@dataclass
class Picture:
    panels: list[Panel]
    begin: float
    end: float
    zone: datetime.tzinfo
    notes: list[str]  # below it


class _Frame(NamedTuple):
    """Where a panel lies, and how times and values become places in it."""

    left: float
    top: float
    width: float
    begin: float
    end: float
    highest: float

    def x(self, time: float) -> float:
        return self.left + self.width * (time - self.begin) / (self.end - self.begin)

    def y(self, value: float) -> float:
        return self.top + _PANEL_HEIGHT * (1 - value / self.highest)


def draw(picture: Picture, *, is_last: bool = False) -> str:
    """HTML that stands for itself. `is_last`: it is to stay, also where a front end trusts nobody."""
    svg = _svg(picture, "currentColor") if picture.panels else ""
    notes = " · ".join(escape(note) for note in picture.notes)
    # A front end that takes the elements of the picture out leaves their texts behind: they have no size then.
    return (f'<div class="gpulse-live" style="max-width:{WIDTH + 80}px">{_style()}<div style="font-size:0">{svg}</div>'
            f"{_fallback(picture) if svg and is_last else ''}"
            f'<div style="font-size:85%;opacity:.75">{notes}</div></div>')  # fmt: skip


def _svg(picture: Picture, color: str) -> str:
    lines = _distinct_lines(picture.panels)
    columns = min(2, len(picture.panels))
    width = (WIDTH - _GAP * (columns - 1)) / columns
    row_height = _TOP + _PANEL_HEIGHT + _AXIS_HEIGHT
    per_row = 4 if all(len(line.name) <= _SHORT_NAME for line in lines) else 2
    legend_height = _LEGEND_HEIGHT * math.ceil(len(lines) / per_row)
    height = legend_height + row_height * math.ceil(len(picture.panels) / columns)
    parts = [_legend_entry(line, WIDTH / per_row * (number % per_row), _LEGEND_HEIGHT * (number // per_row))
             for number, line in enumerate(lines)]  # fmt: skip
    for number, panel in enumerate(picture.panels):
        left, top = (number % columns) * (width + _GAP), legend_height + (number // columns) * row_height
        parts.append(_draw_panel(panel, picture, left, top, width))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" '
            f'aria-label="GPU metrics over time" font-family="system-ui, sans-serif" font-size="11" color="{color}" '
            f'fill="currentColor">{"".join(parts)}</svg>')  # fmt: skip


def _fallback(picture: Picture) -> str:
    """The same as an image, which is left where style sheet and picture are taken out. It cannot know the theme."""
    data = base64.b64encode(_svg(picture, "#808080").encode()).decode()
    return f'<img class="fallback" alt="GPU metrics over time" width="{WIDTH}" src="data:image/svg+xml;base64,{data}">'


def _style() -> str:
    rules = [".gpulse-live .fallback{display:none}", ".gpulse-live .dim{fill-opacity:.75}"]
    for number, color in enumerate(DARK):
        rules += [_dark_rule(f".s{number}", f"stroke:{color}"), _dark_rule(f".f{number}", f"fill:{color}")]
    return f"<style>{''.join(rules)}</style>"


def _dark_rule(which: str, what: str) -> str:
    return ",".join(f"{place} .gpulse-live {which}" for place in _DARK_PLACES) + "{" + what + "}"


def _stroke(place: int) -> str:
    number = place % len(LIGHT)
    dash = DASHES[place // len(LIGHT) % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'class="s{number}" stroke="{LIGHT[number]}"{dashed}'


def _fill(place: int) -> str:
    number = place % len(LIGHT)
    return f'class="f{number}" fill="{LIGHT[number]}"'


def _distinct_lines(panels: Sequence[Panel]) -> list[Line]:
    return list({line.name: line for panel in panels for line in panel.lines}.values())


def _legend_entry(line: Line, x: float, y: float) -> str:
    mark = f'<path d="M{x:.0f} {y + 7:.0f}h18" stroke-width="3" {_stroke(line.place)}/>'
    return f'{mark}<text x="{x + 23:.0f}" y="{y + 11:.0f}">{escape(line.name)}</text>'


def _draw_panel(panel: Panel, picture: Picture, left: float, top: float, width: float) -> str:
    metric = panel.metric
    marks = value_marks(_highest(panel), metric.unit)
    frame = _Frame(left + _LEFT, top + _TOP, width - _LEFT - _RIGHT, picture.begin, picture.end, marks[-1])
    parts = [f'<text x="{frame.left:.0f}" y="{top + 14:.0f}" font-weight="600">{escape(metric.help)}</text>']
    for mark in marks:
        y = frame.y(mark)
        parts.append(_rule(f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}", ".15"))
        parts.append(_text(frame.left - 6, y + 4, _round(metric.format(mark)), "end"))
    for time, text in time_marks(picture.begin, picture.end, picture.zone):
        parts.append(_rule(f"M{frame.x(time):.1f} {frame.top:.1f}v{_PANEL_HEIGHT}", ".08"))
        parts.append(_text(frame.x(time), frame.top + _PANEL_HEIGHT + 13, text, "middle"))
    if panel.note:
        parts.append(_text(frame.left + frame.width / 2, frame.top + _PANEL_HEIGHT / 2, panel.note, "middle"))
    has_bands = len(panel.lines) <= _MOST_BANDS
    for line in panel.lines:
        parts.append(_draw_line(line, frame, metric, has_bands))
    if len(panel.lines) <= _MOST_LABELS:
        parts.append(_draw_values(panel, frame))
    return "".join(parts)


def _rule(path: str, opacity: str) -> str:
    return f'<path d="{path}" stroke="currentColor" stroke-opacity="{opacity}"/>'


def _round(text: str) -> str:
    """Marks are round: "600 W", whatever the precision of the metric."""
    return re.sub(r"\.0+(?!\d)", "", text)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="dim">{escape(text)}</text>'


def _highest(panel: Panel) -> float:
    return max((step.greatest for line in panel.lines for step in line.curve.steps), default=0.0)


def _stretches(curve: Curve, begin: float) -> Iterator[list[Step]]:
    """The steps that are joined: between two stretches something is missing."""
    stretch: list[Step] = []
    for step in curve.steps:
        if step.time < begin:
            continue
        if stretch and not step.joined:
            yield stretch
            stretch = []
        stretch.append(step)
    if stretch:
        yield stretch


def _draw_line(line: Line, frame: _Frame, metric: Metric, has_band: bool) -> str:
    paths: list[str] = []
    bands: list[str] = []
    for stretch in _stretches(line.curve, frame.begin):
        places = [f"{frame.x(step.time):.1f} {frame.y(step.mean):.1f}" for step in stretch]
        # A single one is a dot, by the round ends of a line without a length.
        paths.append("M" + "L".join(places) + ("h0" if len(places) == 1 else ""))
        if has_band and any(step.greatest > step.least for step in stretch):
            upper = [f"{frame.x(step.time):.1f} {frame.y(step.greatest):.1f}" for step in stretch]
            lower = [f"{frame.x(step.time):.1f} {frame.y(step.least):.1f}" for step in reversed(stretch)]
            bands.append("M" + "L".join(upper + lower) + "Z")
    if not paths:
        return ""
    told = f"<title>{escape(line.name)}: {escape(_now(line, metric))}</title>"
    band = f'<path d="{"".join(bands)}" {_fill(line.place)} fill-opacity=".22"/>' if bands else ""
    return (f'<g>{told}{band}<path d="{"".join(paths)}" fill="none" stroke-width="1.6" stroke-linejoin="round" '
            f'stroke-linecap="round" {_stroke(line.place)}/></g>')  # fmt: skip


def _now(line: Line, metric: Metric) -> str:
    return NOTHING if line.curve.latest is None else metric.format(line.curve.latest)


def _draw_values(panel: Panel, frame: _Frame) -> str:
    """The newest value beside the end of each line, pushed apart where lines are close."""
    placed = [(frame.y(line.curve.latest or 0.0), line) for line in panel.lines if line.curve.steps]
    placed.sort(key=lambda pair: pair[0])
    heights = spread([y for y, _ in placed], _LABEL_HEIGHT, frame.top, frame.top + _PANEL_HEIGHT)
    x = frame.left + frame.width + 6
    parts: list[str] = []
    for y, (_, line) in zip(heights, placed):
        # Nobody has to go by the colour alone.
        sign = f'<tspan font-weight="400">{escape(line.sign)}:</tspan> ' if len(placed) > 1 else ""
        value = escape(_now(line, panel.metric))
        parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" font-weight="600" {_fill(line.place)}>{sign}{value}</text>')
    return "".join(parts)


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places in rising order, each at least so far from the next, as near to what is wanted as there is room for."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + distance) if places else max(place, low))
    limit = high
    for number in reversed(range(len(places))):
        places[number] = min(places[number], limit)
        limit = places[number] - distance
    return places


def value_marks(highest: float, unit: str) -> list[float]:
    """Round values from 0 to the first that is not below the highest; all of 100 % for a share."""
    if unit == "percent" and highest <= 100:
        return [0.0, 50.0, 100.0]
    if highest <= 0:
        return [0.0, 1.0]
    if unit.startswith("bytes"):
        step = 2.0 ** math.ceil(math.log2(highest / 4))
    else:
        power = 10.0 ** math.floor(math.log10(highest / 2))
        step = next(times * power for times in (1, 2, 5, 10) if 4 * times * power >= highest)
    return [step * number for number in range(math.ceil(highest / step) + 1)]


def time_marks(begin: float, end: float, zone: datetime.tzinfo) -> list[tuple[float, str]]:
    """Round times by the clock of the zone."""
    step = next((step for step in _TIME_STEPS if (end - begin) / step <= 5), _TIME_STEPS[-1])
    offset = datetime.datetime.fromtimestamp(begin, zone).utcoffset() or datetime.timedelta()
    shift = offset.total_seconds()
    first = math.ceil((begin + shift) / step) * step - shift
    form = "%H:%M:%S" if step < 60 else "%H:%M"
    count = int((end - first) // step) + 1
    return [(at, datetime.datetime.fromtimestamp(at, zone).strftime(form))
            for at in (first + number * step for number in range(count))]  # fmt: skip
