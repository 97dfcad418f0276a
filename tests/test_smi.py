"""gpulse smi beyond what was captured: other vendors' GPUs, several GPUs, instances, trouble, files and loops."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import GPULSE, ROOT, SCENARIOS, Result, environment, gpulse, run
from test_mixed_machine import FILES, LINKS

DTD = ROOT / "tests" / "data" / "h200" / "nvsmi_device.dtd"


def smi(*arguments: str | Path, scenario: str | Path | None = "eight", **more: str) -> Result:
    return gpulse("smi", *arguments, scenario=scenario, **more)


def rows(result: Result) -> list[list[str]]:
    assert result.code == 0, result.out + result.err
    return [line.split(", ") for line in result.lines]


@pytest.fixture
def mixed(sysroot: Any) -> Path:
    root = sysroot(FILES)
    for name, target in LINKS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    return root


def test_other_vendors_have_their_lines_in_the_queries(mixed: Path) -> None:
    fields = "index,memory.used,memory.total,utilization.gpu,temperature.gpu,power.draw,clocks.gr,pci.bus_id,serial"
    table = rows(smi("--sysroot", mixed, f"--query-gpu={fields}", "--format=csv,noheader", scenario="single"))
    assert [row[0] for row in table] == ["0", "1", "2"]
    assert table[1] == [
        "1", "6144 MiB", "24576 MiB", "73 %", "61", "263.00 W", "2342 MHz", "00000000:03:00.0", "[N/A]",
    ]  # fmt: skip
    assert table[2][6:8] == ["950 MHz", "00000000:00:02.0"]
    # What an Intel processor's graphics do not tell is not made up.
    assert table[2][5] == "[N/A]"


def test_other_vendors_are_in_the_table_and_the_log(mixed: Path) -> None:
    table = smi("--sysroot", mixed, scenario="single").out
    assert re.search(r"\|\s+1 .*00000000:03:00\.0", table)
    assert "263W /  339W |    6144MiB /  24576MiB |     73%" in table
    assert re.search(r"\|\s+1\s+N/A\s+N/A\s+4711\s+[CG+]+\s+renderer\s+5120MiB \|", table)
    log = smi("--sysroot", mixed, "-q", "-i", "1", scenario="single").out
    assert "Attached GPUs                                          : 3\nGPU 00000000:03:00.0\n" in log
    assert "        GPU Current Temp                               : 61 C\n" in log
    names = smi("--sysroot", mixed, "-L", scenario="single").lines
    assert len(names) == 3
    assert names[1].startswith("GPU 1: ") and names[1].endswith("(UUID: GPU-00112233aabbccdd)")


def test_only_other_vendors(mixed: Path) -> None:
    result = smi("--sysroot", mixed, "--source", "amdgpu", "--query-gpu=count,name,utilization.gpu", "--format=csv,noheader", scenario=None)
    assert rows(result)[0][2] == "73 %"


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in {"mismatch", "hundred-twenty-eight"}])
def test_the_xml_is_valid(scenario: str, tmp_path: Path) -> None:
    result = smi("-q", "-x", scenario=scenario)
    assert result.code in (0, 15), result.err
    path = tmp_path / "log.xml"
    path.write_text(result.out[result.out.index("<?xml") :])
    checked = run(["xmllint", "--noout", "--dtdvalid", DTD, path], environment())
    assert checked.code == 0, checked.err


def test_instances_have_their_own_lines() -> None:
    table = smi(scenario="mig").out
    assert "|  0    2   0   0  |           20480MiB / 40192MiB    | 42 " in table
    assert re.search(r"\|    0    2    0             4101      C   python3 +20000MiB \|", table)
    assert "  MIG 3g.40gb     Device  0: (UUID: MIG-" in smi("-L", scenario="mig").out
    log = smi("-q", "-i", "0", scenario="mig").out
    assert log.count("    MIG Device\n") == 4
    assert "                Multiprocessor count                   : 42\n" in log


def test_devices_by_number_uuid_and_address() -> None:
    query = ("--query-gpu=index", "--format=csv,noheader")
    listed = [(match[1], match[2]) for match in re.finditer(r"GPU (\d+): .*UUID: (GPU-[0-9a-f-]+)", smi("-L").out)]
    uuid = dict(listed)["3"]
    buses = [row[0] for row in rows(smi("--query-gpu=pci.bus_id", "--format=csv,noheader"))]
    assert smi("-i", "1", *query).lines == ["1"]
    assert smi("-i", "5,2", *query).lines == ["2", "5"]
    assert smi("-i", uuid, *query).lines == ["3"]
    assert smi("-i", buses[4], *query).lines == ["4"]
    assert smi("-i", buses[4].removeprefix("0000").lower(), *query).lines == ["4"]
    assert smi(f"--id={uuid},7", *query).lines == ["3", "7"]
    # How many there are does not depend on how many are shown.
    assert smi("-i", "1", "--query-gpu=count", "--format=csv,noheader").lines == ["8"]
    for wrong in ("8", "GPU-nope", "0,9"):
        result = smi("-i", wrong, *query)
        assert (result.code, result.out) == (6, "No devices were found\n")


def test_nothing_is_asked_that_is_not_shown(tmp_path: Path) -> None:
    scenario = tmp_path / "hang.toml"
    scenario.write_text('[[device]]\nprofile = "h200"\n[[fault]]\ncall = "nvmlDeviceGetPowerUsage"\nhang = true\n')
    # A call that hangs matters only where its value is shown.
    quick = smi("--query-gpu=utilization.gpu", "--format=csv,noheader", scenario=scenario)
    assert quick.lines == ["90 %"]
    slow = smi("--query-gpu=utilization.gpu,power.draw", "--format=csv,noheader", scenario=scenario)
    assert slow.code == 0 and "[Timeout]" in slow.out


def test_a_file_gets_the_output(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    result = smi("--query-gpu=index", "--format=csv", "-f", path)
    assert (result.code, result.out) == (0, "")
    assert path.read_text().splitlines() == ["index", *map(str, range(8))]
    refused = smi("--query-gpu=index", "--format=csv", "-f", tmp_path / "no" / "out.csv")
    assert refused.code == 255 and len(refused.lines) == 1


def test_a_loop_ends_with_its_signal() -> None:
    with subprocess.Popen(
        [GPULSE, "smi", "--query-gpu=index,timestamp", "--format=csv,noheader", "-i", "2", "-lms", "100"],
        env=environment("eight"), stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == -signal.SIGINT
    assert all(line.startswith("2, 20") for line in lines)


def test_a_lost_gpu_is_named_and_the_others_shown(tmp_path: Path) -> None:
    scenario = tmp_path / "lost.toml"
    scenario.write_text('[[device]]\nprofile = "h200"\n[[device]]\nprofile = "h200"\nlost = [[0, 1000]]\n')
    result = smi("--query-gpu=index", "--format=csv,noheader", scenario=scenario)
    assert result.code == 15
    # The simulated bus is not in /sys: the address is not known.
    assert result.lines[0] == (
        "Unable to determine the device handle for GPU1: N/A: GPU is lost.  Reboot the system to recover this GPU"
    )
    assert result.lines[1:] == ["0"]


def test_excluded_gpus(tmp_path: Path) -> None:
    assert smi("-B").out == "No excluded devices found.\n"
    scenario = tmp_path / "excluded.toml"
    scenario.write_text('[driver]\nexcluded = 2\n[[device]]\nprofile = "h100"\n')
    listed = smi("-B", scenario=scenario)
    assert listed.code == 0
    assert listed.lines == [
        "GPU 00000000:A0:00.0 (UUID: GPU-00000000-0000-0000-0000-000000000000)",
        "GPU 00000000:A1:00.0 (UUID: GPU-00000000-0000-0000-0000-000000000001)",
    ]


def test_excluded_gpus_without_a_driver(tmp_path: Path) -> None:
    nowhere = smi("-B", scenario=None, LD_LIBRARY_PATH="/nonexistent")
    assert (nowhere.code, nowhere.lines[0].split(":")[0]) == (255, "libnvidia-ml.so.1")
    scenario = tmp_path / "none.toml"
    scenario.write_text("[driver]\ninit = 9\n")
    refused = smi("-B", scenario=scenario)
    assert (refused.code, refused.out) == (255, "driver not loaded\n")


def test_no_driver() -> None:
    result = smi("-L", scenario=None, LD_LIBRARY_PATH="/nonexistent")
    assert result.code == 12
    assert result.out.startswith("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.")


def test_driver_and_library_differ() -> None:
    result = smi(scenario="mismatch")
    assert (result.code, result.lines[0]) == (18, "Failed to initialize NVML: Driver/library version mismatch")


def test_driver_not_loaded(tmp_path: Path) -> None:
    scenario = tmp_path / "none.toml"
    scenario.write_text("[driver]\ninit = 9\n")
    result = smi(scenario=scenario)
    assert result.code == 9
    assert result.out.startswith("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")


def test_saved_logs_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "log.xml"
    path.write_text(smi("-q", "-x").out)
    devices = smi("--parse", path, scenario=None).json["devices"]
    assert [device["index"] for device in devices] == list(range(8))
    path.write_text("<nvidia_smi_log><gpu>")
    broken = smi("--parse", path, scenario=None)
    assert broken.code == 1 and len(broken.err.splitlines()) == 1


def test_help_lists_every_field() -> None:
    fields = (ROOT / "tests" / "data" / "h200" / "query_gpu.csv").read_text().splitlines()[0].split(", ")
    text = smi("--help-query-gpu", scenario=None).out
    for field in fields:
        assert f'"{field.split(" [")[0]}"' in text
