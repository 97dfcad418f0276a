"""Machines of the simulator that several test files use."""

from __future__ import annotations


def small_kernels(device: str = "") -> str:
    """A job whose kernels are tiny: they run for 60 % of the time, on 3 % of the processors. `device`: more lines for its GPU."""
    return f"""
[[device]]
profile = "h200"
gpu_util = 60
memory_used_mib = 90500
event_reasons = 1
held_power_ns = 0
{device}
[device.gpm]
gract = 60
smutil = 3
mmaact = 1
dram = 2

[[process]]
device = 0
pid = "self"
command = "python3"
memory_mib = 90000
sm = 60
"""
