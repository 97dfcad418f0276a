# SPDX-License-Identifier: Apache-2.0
"""gpulse: what the GPUs are really doing, from inside a program.

    import gpulse

    for device in gpulse.visible_devices():
        print(device.name, device.memory_used_bytes, device.temperature_gpu_celsius, device.power_draw_watts)

    with gpulse.Monitor(interval=1.0) as monitor: ...          # samples in the background
    with gpulse.region("forward"): ...                          # what a stretch of code takes
    print(*gpulse.diagnose("10s"), sep="\\n")                   # why the GPUs are not busy
    gpulse.live("5m")                                           # a plot in a notebook, while its cell runs
    gpulse.pick(2, min_free="20GiB", wait="10m").apply()        # GPUs for this process alone

A reading is a number or None; `device.reason("fan_speed_percent")` says why there is none. Nothing is loaded, started
or printed by the import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import (
    GpulseError,
    LibraryError,
    MonitorClosed,
    MonitorForked,
    NoGpuAvailable,
    NoSample,
    UnknownDevice,
    UnknownMetric,
)
from ._finding import Finding, Findings
from ._library import Metric, library, metrics
from ._monitor import Monitor, Stats, diagnose
from ._pick import Lease, LeasedDevice, grab_gpus, pick
from ._region import Region, gpu_util, print_gpu_utilization, region
from ._report import Report, ReportRow, report
from ._result import DeviceUse, RegionResult, TorchMemory
from ._sample import Device, Host, Process, Sample, Value
from ._snapshot import device, devices, resolve_visible, snapshot, visible_devices
from ._table import Table
from ._visible import Ignored, Visible
from .sinks import Csv, JsonLines, TensorBoard

print_gpu_utilisation = print_gpu_utilization


if TYPE_CHECKING:
    from ._live import Live, live


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return str(library().version().decode())
    if name in ("Live", "live"):  # a third of what importing the package would take
        from . import _live

        return getattr(_live, name)
    raise AttributeError(f"module 'gpulse' has no attribute {name!r}")


def load_ipython_extension(shell: object) -> None:
    """`%load_ext gpulse`: %%gpu tells what a cell took, %gpu_live draws."""
    from ._magic import load

    load(shell)


__all__ = [
    "Csv",
    "Device",
    "DeviceUse",
    "Finding",
    "Findings",
    "GpulseError",
    "Host",
    "Ignored",
    "JsonLines",
    "Lease",
    "LeasedDevice",
    "LibraryError",
    "Live",
    "Metric",
    "Monitor",
    "MonitorClosed",
    "MonitorForked",
    "NoGpuAvailable",
    "NoSample",
    "Process",
    "Region",
    "RegionResult",
    "Report",
    "ReportRow",
    "Sample",
    "Stats",
    "Table",
    "TorchMemory",
    "TensorBoard",
    "UnknownDevice",
    "UnknownMetric",
    "Value",
    "Visible",
    "device",
    "devices",
    "diagnose",
    "gpu_util",
    "grab_gpus",
    "live",
    "metrics",
    "pick",
    "print_gpu_utilisation",
    "print_gpu_utilization",
    "region",
    "report",
    "resolve_visible",
    "snapshot",
    "visible_devices",
]
