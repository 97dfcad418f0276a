# SPDX-License-Identifier: Apache-2.0
"""Results as a notebook shows them. Only imported when one does.

No script, no style sheet and nothing from elsewhere, so that they look the same in a notebook that is not trusted.
Colours are those of the text around them, in the dark as in the light. Every text is escaped: a process calls itself
what it likes.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

from ._library import TEXT, Metric, library, metrics
from ._result import MB, energy_words, megabytes

if TYPE_CHECKING:
    from ._finding import Finding
    from ._report import ReportRow
    from ._result import DeviceUse, RegionResult
    from ._sample import Device, Process, Readings, Sample
    from ._table import Cell as TableCell
    from ._table import Table

# What one look is to tell, of the many that the table of metrics has.
GLANCE = ("gpu_utilization_percent", "sm_active_percent", "memory_used_bytes", "memory_total_bytes", "power_draw_watts",
          "temperature_gpu_celsius")  # fmt: skip
_PROCESS_GLANCE = ("process.name", "process.user", "process.gpu_memory_bytes")

_MOST_PROCESSES = 20
_MOST_COLUMNS = 12
_MOST_ROWS = 10
NOTHING = "–"


class Column(NamedTuple):
    name: str
    help: str = ""
    is_number: bool = True


class Cell(NamedTuple):
    text: str
    help: str = ""


Row = Sequence[Union[str, Cell]]


def escape(text: object) -> str:
    return html.escape(str(text))


def dim(text: str) -> str:
    return f'<div style="opacity:.7;font-size:90%">{escape(text)}</div>'


def title(text: str, rest: str = "") -> str:
    return f"<div><b>{escape(text)}</b>{' ' + escape(rest) if rest else ''}</div>"


def table(columns: Sequence[Column], rows: Iterable[Row]) -> str:
    def element(tag: str, column: Column, cell: Union[str, Cell]) -> str:
        text, told = (cell, "") if isinstance(cell, str) else cell
        side = "right" if column.is_number else "left"
        tip = f' title="{escape(told)}"' if told else ""
        return f'<{tag} style="text-align:{side};white-space:nowrap;padding:1px 8px"{tip}>{escape(text)}</{tag}>'

    def line(tag: str, cells: Iterable[Union[str, Cell]]) -> str:
        return "<tr>" + "".join(element(tag, *pair) for pair in zip(columns, cells)) + "</tr>"

    head = line("th", (Cell(column.name, column.help) for column in columns))
    body = "".join(line("td", row) for row in rows)
    return f'<div style="overflow-x:auto"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


# -- readings


def _reading(of: Readings, metric: Metric) -> Cell:
    """As a person reads it; – with the reason where there is none."""
    position = of._position
    sample = of._sample._handle
    if metric.kind == TEXT:
        text = library().text(sample, metric.number, position)
        return Cell(NOTHING, "not available") if text is None else Cell(text.decode())
    value: float = library().value(sample, metric.number, position)
    return Cell(NOTHING, metric.format(value)) if math.isnan(value) else Cell(metric.format(value))


def _columns(chosen: Iterable[Metric]) -> list[Column]:
    return [Column(metric.label, f"{metric.key}: {metric.help}", metric.kind != TEXT) for metric in chosen]


def _device_name(device: Device) -> Cell:
    state = "" if device.state == "ok" else f", {device.state}"
    return Cell(device.name + state, device.uuid)


def device_html(device: Device) -> str:
    """Every reading that there is."""
    known = metrics()
    rows = [(Cell(key, known[key].help), _reading(device, known[key])) for key in device.keys()]
    heading = title(f"GPU {device.id}", f"{_device_name(device).text} · {device.uuid}")
    return heading + table([Column("metric", "", False), Column("value")], rows)


def sample_html(sample: Sample) -> str:
    known = metrics()
    chosen = [known[key] for key in GLANCE if key in known]
    rows: list[Row] = [(one.id, _device_name(one), *(_reading(one, metric) for metric in chosen)) for one in sample.devices]
    heading = title(sample.hostname, f"{sample.datetime:%Y-%m-%d %H:%M:%S} UTC")
    if not rows:
        return heading + dim(sample.absence or "no GPU is visible")
    columns = [Column("GPU", "", False), Column("name", "", False), *_columns(chosen)]
    return heading + table(columns, rows) + _processes_html(sample.processes)


def _processes_html(processes: Sequence[Process]) -> str:
    if not processes:
        return ""
    known = metrics()
    chosen = [known[key] for key in _PROCESS_GLANCE if key in known]
    rows: list[Row] = [
        (one.device.id, str(one.pid), one.type, *(_reading(one, metric) for metric in chosen))
        for one in processes[:_MOST_PROCESSES]
    ]
    columns = [Column("GPU", "", False), Column("PID"), Column("type", "", False), *_columns(chosen)]
    more = len(processes) - len(rows)
    return table(columns, rows) + (dim(f"and {more} more processes") if more > 0 else "")


# -- what a stretch of code took


def _delta(value: Optional[float]) -> str:
    return NOTHING if value is None else f"{value / MB:+.0f}"


def _whole(value: Optional[float]) -> str:
    return NOTHING if value is None else f"{value:.0f}"


def _energy(low: Optional[float], best: Optional[float], high: Optional[float]) -> Cell:
    words = energy_words(low, best, high)
    if words is None:
        return Cell(NOTHING, "the device does not count it")
    bounds = "" if low is None or high is None else f"{low:.4g} to {high:.4g} J"
    return Cell(f"{words} ({bounds})" if best is not None and bounds else words, bounds)


_USE = (Column("memory MB", "in use at the end, of all that there is"), Column("change MB", "from the begin to the end"),
        Column("peak MB", "the most that a sample saw"), Column("this process MB", "its own peak"),
        Column("busy %", "how long anything ran, mean"), Column("active %", "how much of the device worked, mean"),
        Column("energy", "best guess, and between which bounds it lies"))  # fmt: skip


def _use(one: DeviceUse) -> tuple[Union[str, Cell], ...]:
    return (f"{megabytes(one.memory_end_bytes)} / {megabytes(one.memory_total_bytes)}", _delta(one.memory_delta_bytes),
            megabytes(one.memory_peak_bytes), megabytes(one.process_memory_peak_bytes), _whole(one.utilization_percent),
            _whole(one.true_activity_percent),
            _energy(one.energy_min_joules, one.energy_joules, one.energy_max_joules))  # fmt: skip


def region_html(result: RegionResult) -> str:
    heading = title(result.name, f"{result.seconds:.3g} s" + (", the device waited for" if result.synced else ""))
    if not result.devices:
        return heading + dim(result.note or "no GPU is visible")
    rows = [(one.id, Cell(one.name, one.uuid), *_use(one)) for one in result.devices]
    torch = result.torch
    told = "" if torch is None else dim(f"torch's allocator: {megabytes(torch.end_bytes)} MB at the end, "
                                        f"{megabytes(torch.peak_bytes)} MB at most")  # fmt: skip
    return heading + table([Column("GPU", "", False), Column("name", "", False), *_USE], rows) + told


def report_html(rows: Sequence[ReportRow]) -> str:
    if not rows:
        return dim("no region has ended yet")
    columns = [Column("region", "", False), Column("calls"), Column("total s"), Column("mean s"), Column("longest s"),
               Column("peak MB"), Column("change MB", "the largest of a call"), Column("busy %"), Column("active %"),
               Column("energy")]  # fmt: skip
    return table(columns, [
        (row.name, str(row.calls), f"{row.seconds:.3f}", f"{row.seconds / row.calls:.3g}", f"{row.longest_seconds:.3g}",
         megabytes(row.memory_peak_bytes), _delta(row.memory_delta_bytes), _whole(row.utilization_percent),
         _whole(row.true_activity_percent), _energy(row.energy_min_joules, row.energy_joules, row.energy_max_joules))
        for row in rows
    ])  # fmt: skip


# -- findings


def findings_html(findings: Sequence[Finding]) -> str:
    return "".join(map(finding_html, findings)) or dim("no findings")


def finding_html(finding: Finding) -> str:
    facts = [f"GPU {', '.join(finding.devices)}"] if finding.devices else []
    if finding.lost_share is not None:
        facts.append(f"costs {100 * finding.lost_share:.0f} % of the GPU time")
    facts += ["estimated"] if finding.estimated else []
    evidence = " · ".join(f"{name} {_fact(name, value)}" for name, value in finding.evidence.items())
    advice = "".join(f"<li>{escape(one)}</li>" for one in finding.advice)
    weight = {"problem": "4px solid", "note": "4px dotted"}.get(finding.severity, "1px solid")
    return (
        f'<div style="border-left:{weight};padding:2px 10px;margin:6px 0">'
        f"<div><b>{escape(finding.severity)}: {escape(finding.id)}</b> {escape(finding.text)}</div>{dim(' · '.join(facts))}"
        + (f'<ul style="margin:2px 0">{advice}</ul>' if advice else "")
        + (f"<details><summary>evidence</summary>{dim(evidence)}</details>" if evidence else "")
        + "</div>"
    )


def _fact(name: str, value: float) -> str:
    metric = metrics().get(name)
    return f"{value:.4g}" if metric is None else metric.format(value)


# -- tables of the past


def _past(name: str, value: TableCell) -> str:
    if value is None:
        return NOTHING
    if name == "time":
        return clock_utc(int(value))
    metric = metrics().get(name)
    return str(value) if metric is None or isinstance(value, str) else metric.format(float(value))


def clock_utc(nanoseconds: int) -> str:
    import datetime

    at = datetime.datetime.fromtimestamp(nanoseconds / 1e9, datetime.timezone.utc)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"


def table_html(past: Table) -> str:
    """The first rows and the last, of the columns that have any value in them."""
    values = {name: past[name] for name in past.column_names if name not in ("monotonic", "uuid")}
    names = [name for name, column in values.items() if any(cell is not None for cell in column)]
    shown, count = names[:_MOST_COLUMNS], len(past)
    picked = range(count) if count <= _MOST_ROWS else [*range(_MOST_ROWS // 2), *range(count - _MOST_ROWS // 2, count)]
    rows = [[_past(name, values[name][row]) for name in shown] for row in picked]
    if count > _MOST_ROWS:
        rows.insert(_MOST_ROWS // 2, ["…"] * len(shown))
    columns = [Column(name, metrics()[name].help if name in metrics() else "times are UTC") for name in shown]
    more = f" ({len(shown)} of those with values are shown)" if len(shown) < len(names) else ""
    return table(columns, rows) + dim(f"{count} rows, {len(past.column_names)} columns{more}")
