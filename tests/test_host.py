"""The machine around the GPUs: cores, temperature, power, on machines made of files. All numbers are made by hand."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Callable

import jsonschema
import pytest

from harness import GPULSE, ROOT, environment, gpulse

Sysroot = Callable[[dict[str, str]], Path]

SCHEMA = json.loads((ROOT / "docs" / "schema" / "gpulse-1.schema.json").read_text())

BEFORE = {
    "/proc/stat": "cpu 100 0 100 700 100 0 0 0\ncpu0 50 0 50 350 50 0 0 0\ncpu2 50 0 50 350 50 0 0 0\n",
    "/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\n",
    "/proc/sys/kernel/hostname": "workshop\n",
    "/sys/class/hwmon/hwmon0/name": "nvme\n",
    "/sys/class/hwmon/hwmon0/temp1_input": "88000\n",
    "/sys/class/hwmon/hwmon4/name": "coretemp\n",
    "/sys/class/hwmon/hwmon4/temp1_label": "Package id 0\n",
    "/sys/class/hwmon/hwmon4/temp1_input": "61000\n",
    "/sys/class/hwmon/hwmon4/temp2_label": "Core 0\n",
    "/sys/class/hwmon/hwmon4/temp2_input": "75000\n",
    "/sys/class/powercap/intel-rapl:0/name": "package-0\n",
    "/sys/class/powercap/intel-rapl:0/energy_uj": "262143000000\n",
    "/sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    "/sys/class/powercap/intel-rapl:0:0/name": "dram\n",
    "/sys/class/powercap/intel-rapl:0:0/energy_uj": "5000000\n",
    "/sys/class/powercap/intel-rapl:0:0/max_energy_range_uj": "65712999613\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "3400000\n",
}
# Of 200 ticks each: the first core works in 150, the third in 20 and waits for a disk in 30.
# The package has counted 300.328850 J, over its end; the memory 24 J.
AFTER = {
    "/proc/stat": "cpu 230 0 140 900 130 0 0 0\ncpu0 180 0 70 400 50 0 0 0\ncpu2 50 0 70 500 80 0 0 0\n",
    "/sys/class/powercap/intel-rapl:0/energy_uj": "300000000\n",
    "/sys/class/powercap/intel-rapl:0:0/energy_uj": "29000000\n",
}


def check(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def sample_twice(
    sysroot: Sysroot, *more: str, before: dict[str, str] = BEFORE, after: dict[str, str] = AFTER
) -> tuple[str, float]:
    """What is printed when the machine changes between the two readings, and how long that took at most."""
    root = sysroot(before)
    begun = time.monotonic()
    command = [str(GPULSE), "--sysroot", str(root), "--source", "host", "--sample", "2s", *more]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)
        sysroot(after)
        out, _ = process.communicate(timeout=60)
    return out.decode(), time.monotonic() - begun


def test_what_a_machine_cannot_have_is_not_believed(sysroot: Sysroot) -> None:
    root = sysroot({
        "/proc/meminfo": "MemTotal: 9007199254740992 kB\nMemAvailable: 1000 kB\nSwapTotal: 1000 kB\nSwapFree: 5000 kB\n",
        "/proc/uptime": "1e12 0\n",
        "/sys/class/hwmon/hwmon0/name": "coretemp\n",
        "/sys/class/hwmon/hwmon0/temp1_label": "Package id 0\n",
        "/sys/class/hwmon/hwmon0/temp1_input": "-273150\n",
    })  # fmt: skip
    host = gpulse("--sysroot", root, "--json").json["host"]
    for key in ("memory_total_bytes", "swap_used_bytes", "cpu_temperature_celsius", "uptime_seconds"):
        assert (host[key], host["unavailable"].get(key)) == (None, "error: value out of range"), key
    assert host["swap_total_bytes"] == 1000 * 1024


def test_two_readings_give_cores_temperature_and_power(sysroot: Sysroot) -> None:
    out, took = sample_twice(sysroot, "--json")
    document = json.loads(out)
    check(document)
    host = document["host"]
    assert document["hostname"] == "workshop"
    assert host["cpu_percent"] == 42.5
    assert host["cpu_busiest_core_percent"] == 75
    assert host["cpu_temperature_celsius"] == 61
    assert 300.328850 / took <= host["cpu_power_watts"] <= 300.328850 / 2
    assert 24 / took <= host["dram_power_watts"] <= 24 / 2
    assert [core["core"] for core in host["cores"]] == [0, 2]
    first, third = host["cores"]
    assert (first["cpu_percent"], first["cpu_iowait_percent"], first["clock_mhz"]) == (75, 0, 3400)
    assert first["unavailable"] == {}
    assert (third["cpu_percent"], third["cpu_iowait_percent"], third["clock_mhz"]) == (10, 15, None)
    assert third["unavailable"] == {"clock_mhz": "not supported"}


def test_the_status_line_shows_temperature_and_power_where_there_is_room(sysroot: Sysroot) -> None:
    out, _ = sample_twice(sysroot, "--width", "140")
    (line,) = [line for line in out.splitlines() if "CPU 42% of 2" in line or "CPU 43% of 2" in line]
    assert "temp 61°C" in line
    assert "power 1" in line and "W" in line


def test_a_quick_look_knows_the_cores_but_no_rates(sysroot: Sysroot) -> None:
    document = gpulse("--sysroot", sysroot(BEFORE), "--source", "host", "--json", "--fast").json
    check(document)
    host = document["host"]
    for key in ("cpu_percent", "cpu_temperature_celsius", "cpu_power_watts", "dram_power_watts"):
        assert host["unavailable"][key] == "not sampled yet", key
    assert [core["core"] for core in host["cores"]] == [0, 2]
    for core in host["cores"]:
        assert core["unavailable"] == {
            "cpu_percent": "not sampled yet",
            "cpu_iowait_percent": "not sampled yet",
            "clock_mhz": "not sampled yet",
        }


def test_counters_that_stand_still_are_no_power(sysroot: Sysroot) -> None:
    host = gpulse("--sysroot", sysroot(BEFORE), "--source", "host", "--json").json["host"]
    assert host["unavailable"]["cpu_power_watts"] == "error: value out of range"
    assert host["unavailable"]["dram_power_watts"] == "error: value out of range"
    assert host["cpu_temperature_celsius"] == 61


@pytest.mark.parametrize("text", ["", "nonsense\n", "-1\n", "99999999999999999999999\n", "\0" * 4096])
def test_bad_files_give_reasons_and_spoil_nothing_else(sysroot: Sysroot, text: str) -> None:
    bad = {
        "/sys/class/hwmon/hwmon4/temp1_input": text if text != "-1\n" else "-1000000\n",
        "/sys/class/powercap/intel-rapl:0/energy_uj": text,
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": text,
    }
    document = gpulse("--sysroot", sysroot(BEFORE | bad), "--source", "host", "--json").json
    check(document)
    host = document["host"]
    for key in ("cpu_temperature_celsius", "cpu_power_watts"):
        assert host[key] is None
        assert host["unavailable"][key].startswith("error"), key
    assert host["cores"][0]["clock_mhz"] is None
    assert host["memory_total_bytes"] == 1000 * 1024
    assert host["cpu_count"] == 2


def test_cores_are_recorded_and_replayed_to_the_byte(sysroot: Sysroot, tmp_path: Path) -> None:
    root = sysroot(BEFORE)
    path = tmp_path / "host.gpr"
    made = gpulse("record", "-o", path, "--count", "4", "--interval", "50ms", "--sysroot", root, "--source", "host")
    assert made.code == 0, made.err
    first = gpulse("--replay", path, "--json")
    assert first.out == gpulse("--replay", path, "--json").out
    check(first.json)
    assert [core["core"] for core in first.json["host"]["cores"]] == [0, 2]
    assert first.json["host"]["cores"][0]["clock_mhz"] == 3400
    assert first.json["host"]["cpu_temperature_celsius"] == 61


def test_the_table_of_values_stays_one_of_devices(sysroot: Sysroot) -> None:
    assert gpulse("--csv", "--fields", "index,cpu_iowait_percent", scenario="single").code == 2


def proc_stat(cpu: str, intr: int, ctxt: int, running: int, blocked: int) -> str:
    """As a machine of one core and two thousand interrupt lines writes it."""
    return (
        f"cpu  {cpu}\ncpu0 {cpu}\nintr {intr}{' 0' * 2000}\nctxt {ctxt}\nbtime 1794787205\nprocesses 4711\n"
        f"procs_running {running}\nprocs_blocked {blocked}\nsoftirq 99 1 2 3\n"
    )


MEMINFO = (
    "MemTotal:       24684112 kB\nMemFree:        18857748 kB\nMemAvailable:   23385372 kB\n"
    "Buffers:           46216 kB\nCached:          4360472 kB\nSwapCached:           12 kB\n"
    "SwapTotal:       8388604 kB\nSwapFree:        8000000 kB\nShmem:             12756 kB\n"
    "KReclaimable:     446013 kB\nSReclaimable:     446012 kB\n"
)
BUSY_BEFORE = {
    "/proc/stat": proc_stat("1000 100 500 8000 300 0 50 40 20 0", intr=10**9, ctxt=5 * 10**9, running=9, blocked=4),
    "/proc/meminfo": MEMINFO,
    "/proc/vmstat": "nr_free_pages 4711\npgpgin 77\npswpin 1000\npswpout 5000\npgfault 88\n",
}
BUSY_AFTER = {
    "/proc/stat": proc_stat(
        "1060 120 530 8070 310 2 54 44 30 0", intr=10**9 + 6000, ctxt=5 * 10**9 + 90, running=3, blocked=1
    ),
    "/proc/vmstat": "nr_free_pages 4712\npgpgin 78\npswpin 1300\npswpout 5007\npgfault 89\n",
}


def test_what_people_read_off_vmstat(sysroot: Sysroot) -> None:
    out, took = sample_twice(sysroot, "--json", before=BUSY_BEFORE, after=BUSY_AFTER)
    document = json.loads(out)
    check(document)
    host = document["host"]
    # r and b
    assert (host["tasks_running"], host["tasks_blocked"]) == (3, 1)
    # us, sy, id, wa and st of 200 ticks, by vmstat's rules: user and nice; system, irq and softirq
    shares = [host[f"cpu_{name}_percent"] for name in ("user", "system", "idle", "iowait", "steal")]
    assert shares == pytest.approx([100 * (60 + 20) / 200, 100 * (30 + 2 + 4) / 200, 35, 5, 2])
    assert sum(shares) == pytest.approx(100)
    # in, cs, si and so
    page = os.sysconf("SC_PAGE_SIZE")
    for key, count in {
        "interrupts_per_second": 6000,
        "context_switches_per_second": 90,
        "swap_in_bytes_per_second": 300 * page,
        "swap_out_bytes_per_second": 7 * page,
    }.items():
        assert count / took <= host[key] <= count / 2, key


def test_what_people_read_off_free(sysroot: Sysroot) -> None:
    """These are the lines of a machine on which free -wb printed the numbers below."""
    host = gpulse("--sysroot", sysroot(BUSY_BEFORE), "--source", "host", "--json", "--fast").json["host"]
    assert host["memory_free_bytes"] == 19310333952
    assert host["memory_shared_bytes"] == 13062144
    assert host["memory_buffers_bytes"] == 47325184
    assert host["memory_cached_bytes"] == 4921839616


def test_what_a_kernel_or_a_sandbox_does_not_count_is_no_zero(sysroot: Sysroot) -> None:
    root = sysroot({
        "/proc/stat": "cpu 1 0 0 1\nintr 0\nctxt 0\nprocs_running 0\nprocs_blocked 0\n",
        "/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 400 kB\n",
        "/proc/vmstat": "nr_free_pages 4711\n",
    })  # fmt: skip
    host = gpulse("--sysroot", root, "--source", "host", "--json").json["host"]
    for key in (
        "tasks_running",
        "tasks_blocked",
        "interrupts_per_second",
        "context_switches_per_second",
        "swap_in_bytes_per_second",
        "swap_out_bytes_per_second",
        "memory_free_bytes",
        "memory_buffers_bytes",
        "memory_cached_bytes",
        "memory_shared_bytes",
    ):
        assert (host[key], host["unavailable"].get(key)) == (None, "not supported"), key


def test_absurd_counts_are_not_believed(sysroot: Sysroot) -> None:
    most = 2**64 - 1
    after = {
        "/proc/stat": proc_stat("1060 120 530 8070 310 2 54 44 30 0", intr=most, ctxt=1, running=most, blocked=most),
        "/proc/meminfo": MEMINFO.replace("4360472", "43604720000"),
        "/proc/vmstat": f"nr_free_pages 1\npswpin {most}\npswpout 1\n",
    }
    out, _ = sample_twice(sysroot, "--json", before=BUSY_BEFORE, after=after)
    document = json.loads(out)
    check(document)
    host, why = document["host"], document["host"]["unavailable"]
    for key in ("interrupts_per_second", "swap_in_bytes_per_second", "tasks_running", "tasks_blocked"):
        assert (host[key], why.get(key)) == (None, "error: value out of range"), key
    assert why["memory_cached_bytes"] == "error: value out of range"
    assert host["memory_buffers_bytes"] == 47325184
    # A counter that has begun anew has nothing to be compared with.
    for key in ("context_switches_per_second", "swap_out_bytes_per_second"):
        assert (host[key], why.get(key)) == (None, "not sampled yet"), key
