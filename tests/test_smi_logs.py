"""Logs of nvidia-smi that other people left in their projects, from drivers of 2017 to 2026: what the file says is what
the program says. Those files are read where they lie."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import GPULSE, MIB, ROOT, Result, environment, gpulse, only_line
from smi_log_values import LOGS, NO

FIXTURES = ROOT.parent / "shared" / "fixtures" / "nvidia-smi"
OURS = ROOT / "src" / "smi"
# The exporter leaves microseconds as they are.
PROMETHEUS_SCALE = {"_hz": 1e-6, "_ratio": 100.0, "_average_latency": 1e-6}

needs_fixtures = pytest.mark.skipif(not FIXTURES.is_dir(), reason="no shared fixtures")


def parse(path: Path) -> Result:
    return gpulse("--replay", path, "--json", TZ="UTC")


def read(path: Path) -> dict[str, Any]:
    """The document; each device with its metrics and texts laid out flat."""
    result = parse(path)
    assert (result.code, result.err) == (0, "")
    document = result.json
    assert document["origin"] == "LOG"
    assert document["hostname"] is None
    assert document["host"]["cpu_percent"] is None and document["host"]["unavailable"]["cpu_percent"] == "not supported"
    document["devices"] = [one | one["metrics"] | one["info"] for one in document["devices"]]
    return document


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        if isinstance(value, str) and value.startswith("!"):
            assert found[key] is None and found["unavailable"][key] == value[1:], key
            continue
        assert found[key] == (pytest.approx(value, abs=0.0006) if isinstance(value, float) else value), key


@needs_fixtures
def test_every_log_is_looked_at() -> None:
    assert {path.name for path in (FIXTURES / "xml").iterdir()} == set(LOGS)


@needs_fixtures
@pytest.mark.parametrize("name", LOGS)
def test_the_values_of_a_log(name: str) -> None:
    time, devices = LOGS[name]
    document = read(FIXTURES / "xml" / name)
    assert document["time"] == time
    assert len(document["devices"]) == len(devices)
    for found, expected in zip(document["devices"], devices):
        check(found, expected)


@needs_fixtures
def test_processes() -> None:
    def of(name: str) -> list[tuple[Any, ...]]:
        keys = ("device", "pid", "type", "name", "gpu_memory_bytes")
        return [tuple(one[key] for key in keys) for one in read(FIXTURES / "xml" / name)["processes"]]

    assert of("pai__nvidia_smi_sample.xml") == [
        (0, 1357, "graphics", "Xorg", 99 * MIB),
        (0, 2384, "graphics", "gnome-shell", 79 * MIB),
        (0, 3093, "compute", "ethminer", 2283 * MIB),
        (1, 3093, "compute", "ethminer", 2283 * MIB),
    ]
    assert of("telegraf__rtx-3080-v12.xml") == [
        (0, 835, "graphics", "Xorg", 550 * MIB),
        (0, 1481, "graphics", "gnome-shell", 18 * MIB),
        (0, 2214, "graphics", "msedge", 79 * MIB),
        (0, 4044, "graphics", "firefox", 541 * MIB),
        (0, 42416, "graphics", "code", 159 * MIB),
    ]
    assert of("netdata__rtx-3060.xml") == [(0, 28543, "graphics", "Xorg", 4 * MIB)]


def test_our_own_h200() -> None:
    document = read(OURS / "read_xml_corpus" / "h200_load.xml")
    assert document["time"] == "2026-11-15T02:31:18.000Z"
    (device,) = document["devices"]
    check(
        device,
        {
            "name": "NVIDIA H200",
            "pci": "0000:00:06.0",
            "memory_total_bytes": 143771 * MIB,
            "memory_used_bytes": 1139 * MIB,
            "gpu_utilization_percent": 84,
            "power_draw_watts": 692.7,
            "power_instant_watts": 692.28,
            "memory_power_watts": 73.47,
            "temperature_gpu_celsius": 61,
            "temperature_margin_shutdown_celsius": -8,
            "throttle_reasons": ["power cap"],
            "throttled_power_seconds": 19.438307,
            "ecc_uncorrected_total": 0,
            "remapped_banks_max": 3072,
            "fan_speed_percent": NO,
        },
    )
    (process,) = document["processes"]
    assert (process["pid"], process["name"], process["gpu_memory_bytes"]) == (560, "python3", 1130 * MIB)


def test_a_log_in_every_view() -> None:
    log = OURS / "read_xml_corpus" / "h200_load.xml"
    assert gpulse("--replay", log, TZ="UTC").out.startswith("[LOG] host unknown  Sun 2026-11-15 02:31:18  nvidia 580.159.04\n")
    table = gpulse("--replay", log, "--csv", "--fields", "index,power.draw,utilization.gpu").csv
    assert [list(row.values()) for row in table] == [["0", "692.7", "84"]]


def test_the_standard_input() -> None:
    log = OURS / "read_xml_corpus" / "h200_load.xml"
    command = [GPULSE, "--replay", "-", "--json"]
    piped = subprocess.run(command, input=log.read_bytes(), capture_output=True, env=environment(TZ="UTC"), check=True)
    assert piped.stdout.decode() == parse(log).out


def test_a_real_log_comes_back_as_it_was() -> None:
    """Read, and printed in nvidia-smi's own form: every line is the same."""
    log = OURS / "read_xml_corpus" / "h200_load.xml"
    back = gpulse("smi", "--replay", log, "-q", "-x", TZ="UTC").lines
    assert back == log.read_text().splitlines()


@pytest.mark.parametrize("name", ["driver-440", "driver-535.54", "faulty", "mig", "old-driver", "single"])
def test_what_we_write_in_its_form_reads_back(name: str, tmp_path: Path) -> None:
    scenario = ROOT / "sim" / "scenarios" / f"{name}.toml"
    log = tmp_path / "log.xml"
    log.write_text(gpulse("smi", "-q", "-x", scenario=scenario).out)
    document = parse(log).json
    live = gpulse("--json", scenario=scenario).json
    assert [one["id"] for one in document["devices"]] == [one["id"] for one in live["devices"]]
    compared = 0
    for found, expected in zip(document["devices"], live["devices"]):
        assert found["parent"] == expected["parent"] and found["pci"] == expected["pci"]
        for key, value in found["metrics"].items():
            if value is None:
                continue
            other = expected["metrics"][key]
            # The log has a short look at the bus, not the mean; and the only power that is known has one of two places.
            if key.startswith("pcie_") and key.endswith("_per_second"):
                continue
            if key in ("power_average_watts", "power_instant_watts") and other is None:
                other = expected["metrics"]["power_draw_watts"]
            if isinstance(value, (int, float)):
                # nvidia-smi rounds to MiB, whole percent and hundredths of a watt; the simulator's time goes on.
                other = pytest.approx(other, rel=0.02, abs=MIB if key.endswith("_bytes") else 1)
            assert value == other, key
            compared += 1
    assert compared > 70
    assert [(one["device_id"], one["pid"]) for one in document["processes"]] == [
        (one["device_id"], one["pid"]) for one in live["processes"]
    ]


def sections(capture: str) -> dict[str, str]:
    """The CSV parts of a capture: "load query-gpu" and the like."""
    found = re.findall(r"^# (idle|load) :: (query-[a-z-]+).*\n# \$.*\n#+\n((?:.+\n)*)", capture, re.MULTILINE)
    return {f"{state} {query}": text for state, query, text in found}


def captures() -> list[Any]:
    if not FIXTURES.is_dir():
        return [pytest.param("", "", marks=pytest.mark.skip(reason="no shared fixtures"))]
    return [(path.stem, state) for path in sorted((FIXTURES / "captures").glob("*.txt")) for state in ("idle", "load")]


@pytest.mark.parametrize(("name", "state"), captures())
def test_csv_against_another_reader(name: str, state: str, tmp_path: Path) -> None:
    """nvidia_gpu_exporter made Prometheus text of the same captures: each of its numbers is ours."""
    smi_names = {
        row["nvidia_smi"]: row
        for row in gpulse("explain", "--all", "--json").json["metrics"]
        if row["scope"] == "device" and row["nvidia_smi"]
    }
    capture = sections((FIXTURES / "captures" / f"{name}.txt").read_text())
    log = tmp_path / "log.csv"
    log.write_text(capture[f"{state} query-gpu"])
    (device,) = read(log)["devices"]
    expected = (FIXTURES / "expected-nvidia_gpu_exporter" / f"{name}__{state}.metrics").read_text()
    compared = 0
    for family, help_text, value in re.findall(r"^# HELP (\S+) (.*)\n# TYPE .*\n\1\{[^}]*\} (\S+)$", expected, re.MULTILINE):
        row = smi_names.get(help_text.split(" [")[0])
        if row is None or row["kind"] not in ("gauge", "counter"):
            continue
        scale = next((scale for suffix, scale in PROMETHEUS_SCALE.items() if family.endswith(suffix)), 1.0)
        assert device[row["key"]] == pytest.approx(float(value) * scale, abs=0.0006), help_text
        compared += 1
    assert compared > 35

    log.write_text(capture[f"{state} query-compute-apps"])
    result = parse(log)
    apps = {int(pid) for pid in re.findall(r'^nvidia_smi_compute_app_info\{.*?pid="(\d+)"', expected, re.MULTILINE)}
    assert result.code == (0 if apps else 3)
    assert {one["pid"] for one in result.json["processes"]} == apps


@needs_fixtures
def test_csv_of_windows(tmp_path: Path) -> None:
    capture = sections((FIXTURES / "captures" / "windows-x86_64__nvidia-geforce-rtx-2080-super__591.86.txt").read_text())
    log = tmp_path / "log.csv"
    log.write_text(capture["load query-compute-apps"])
    processes = {one["pid"]: one for one in read(log)["processes"]}
    assert len(processes) == 12
    assert processes[20372]["name"] == "NZXT CAM.exe"
    assert processes[20372]["command"] == "C:\\Program Files\\NZXT CAM\\NZXT CAM.exe"
    assert processes[20372]["gpu_memory_bytes"] is None


@needs_fixtures
def test_csv_without_units() -> None:
    (device,) = read(FIXTURES / "text" / "netdata-go.d__tesla-p100.csv")["devices"]
    check(
        device,
        {
            "name": "Tesla P100-PCIE-16GB",
            "uuid": "GPU-ef1b2c9b-38d8-2090-2bd1-f567a3eb42a6",
            "fan_speed_percent": NO,
            "performance_state": "P0",
            "memory_reserved_bytes": 103 * MIB,
            "memory_used_bytes": 0,
            "memory_free_bytes": 16280 * MIB,
            "gpu_utilization_percent": 0,
            "temperature_gpu_celsius": 37,
            "power_draw_watts": 28.16,
            "clock_graphics_mhz": 405,
            "clock_memory_mhz": 715,
            "clock_video_mhz": 835,
        },
    )


def test_all_columns_of_our_own_h200() -> None:
    (device,) = read(OURS / "read_csv_corpus" / "h200_query_gpu.csv")["devices"]
    check(
        device,
        {
            "name": "NVIDIA H200",
            "pci": "0000:00:06.0",
            "driver": "580.159.04",
            "compute_capability": "9.0",
            "memory_used_bytes": 691 * MIB,
            "gpu_utilization_percent": 59,
            "power_draw_watts": 642.3,
            "power_instant_watts": 608.06,
            "temperature_margin_celsius": 23,
            "throttled_power_seconds": 5.250307,
            "remapped_banks_max": 3072,
            "recovery_action": "none",
            "ecc_sram_threshold_exceeded": "no",
        },
    )


def test_refused_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def refusal(text: str) -> str:
        log.write_text(text)
        result = parse(log)
        assert (result.code, result.out) == (1, "")
        line = only_line(result.err)
        assert line.startswith(f"gpulse: {log}: ")
        return line

    assert "line 1: bad XML" in refusal("<nvidia_smi_log><gpu>")
    assert "no log of nvidia-smi: it has <html>" in refusal("<html></html>")
    assert "leave noheader out" in refusal("0, NVIDIA H200, 5 %\n")


def test_a_log_without_a_gpu(tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text("<nvidia_smi_log><attached_gpus>0</attached_gpus></nvidia_smi_log>")
    result = parse(log)
    assert result.code == 3
    assert only_line(result.err) == "gpulse: no GPU found: the log holds none"
    assert result.json["devices"] == [] and result.json["time"] is None


@needs_fixtures
@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_was_cut(name: str, tmp_path: Path) -> None:
    """The whole range of cuts and broken bytes is tried beside the code; here is how the program says it."""
    whole = (FIXTURES / "xml" / name).read_bytes().rstrip()
    log = tmp_path / "log.xml"
    for part in (2, 10, 50, 90, 99):
        log.write_bytes(whole[: len(whole) * part // 100])
        result = parse(log)
        assert (result.code, result.out) == (1, "")
        assert only_line(result.err).startswith(f"gpulse: {log}")
