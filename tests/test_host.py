"""The machine around the GPUs: cores, temperature, power, on machines made of files. All numbers are made by hand."""

from __future__ import annotations

import json
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


def sample_twice(sysroot: Sysroot, *more: str) -> tuple[str, float]:
    """What is printed when the machine changes between the two readings, and how long that took at most."""
    root = sysroot(BEFORE)
    begun = time.monotonic()
    command = [str(GPULSE), "--sysroot", str(root), "--source", "host", "--sample", "2s", *more]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)
        sysroot(AFTER)
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
