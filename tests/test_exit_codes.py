"""Every failure: the exit code, one line that says what went wrong and what to do, and nothing half-written."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, SIM, Result, environment, gpulse, only_line

GOOD, FAILURE, USAGE, NO_DEVICE = 0, 1, 2, 3

Sysroot = Callable[[dict[str, str]], Path]
Scenario = Callable[[str], Path]

MODULE_575 = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build  (dvs-builder@U22)\n"
    "GCC version:  gcc version 12.3.0\n"
)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True


def assert_refused(result: Result, code: int, *words: str) -> None:
    line = only_line(result.err)
    assert line.startswith("gpulse: ")
    for word in words:
        assert word in line
    assert result.code == code
    assert result.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-such-flag"],
        ["no-such-command"],
        ["--json", "--csv"],
        ["--color", "--no-color"],
        ["--demo", "--replay", "x"],
        ["--fields", "index"],
        ["--csv", "--fields", "no_such_metric"],
        ["--sample", "soon"],
        ["--sample", "1ms"],
        ["--interval", "-1s"],
        ["--watch", "0"],
        ["--count", "0"],
        ["--width", "0"],
        ["--speed", "0"],
        ["--source", "no-such-source"],
        ["record"],
        ["pick", "--"],
        ["pick", "-n", "0"],
        ["log", "--format", "prometheus"],
        ["log", "--format", "prometheus", "-o", "/nonexistent/gpus.prom", "--append"],
        ["log", "--format", "prometheus", "-o", "/nonexistent/gpus.prom", "--fields", "process.user"],
        ["log", "-o", "/nonexistent/log", "--rotate-size", "50%"],
        ["log", "-o", "/nonexistent/log", "--rotate-size", "1"],
        ["log", "-o", "/nonexistent/log", "--rotate-time", "0"],
        ["log", "-o", "/nonexistent/log", "--rotate-time", "1M"],
        ["log", "-o", "/nonexistent/log", "--keep", "3"],
        ["log", "-o", "/nonexistent/log", "--rotate-time", "1d", "--keep", "0"],
        ["log", "--format", "tensorboard"],
        ["log", "--format", "tensorboard", "-o", "/nonexistent", "--append"],
        ["log", "--format", "tensorboard", "-o", "/nonexistent", "--run", "../gpu"],
        ["log", "--format", "tensorboard", "-o", "/nonexistent", "--fields", "throttle_reasons"],
        ["log", "--fields", "no_such_metric"],
        ["log", "--append"],
        ["log", "--", "true"],
        ["log", "-o", "/dev/null", "--pid", "1", "--", "true"],
        ["log", "--pid", "0"],
        ["history", "--from", "soon"],
        ["history", "--metrics", "no_such_metric"],
        ["history", "--step", "0"],
        ["history", "--csv", "--jsonl"],
        ["history", "--csv", "--users", "--jobs"],
        ["history", "--range"],
        ["explain", "no_such_metric"],
        ["explain", "xid"],
        ["explain", "xid", "many"],
        ["--config", "/nonexistent/config.toml"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str]) -> None:
    assert_refused(gpulse(*arguments, scenario="single"), USAGE)


def test_an_unknown_field_is_named() -> None:
    assert_refused(gpulse("--csv", "--fields", "index,colour_of_paint", scenario="single"), USAGE, "colour_of_paint")


@pytest.mark.parametrize(
    "arguments, mistake, meant",
    [
        ("tpo", "tpo is no command", "top"),
        ("statsu --json", "statsu is no command", "status"),
        ("--jsn", "--jsn is no option", "--json"),
        ("--intervall=2s", "--intervall is no option", "--interval"),
        ("top --thme dark", "--thme is no option of gpulse top", "--theme"),
        ("top --theme drak", '"drak" is not one of dark, ', "dark"),
        ("--source nvmll", '"nvmll" is not one of auto, nvml', "nvml"),
        ("completion bsh", '"bsh" is not one of bash, zsh, fish', "bash"),
        ("--csv --fields sm_actve", "no field 'sm_actve'", "sm_active_percent"),
        ("--json --fields utilisation.gpu", "no field 'utilisation.gpu'", "utilization.gpu"),
        ("history --metrics power_drw_watts", "no metric 'power_drw_watts'", "power_draw_watts"),
        ("log --fields host.cpu_percnt", "no field 'host.cpu_percnt'", "host.cpu_percent"),
        ("explain sm_actve", "no metric or finding 'sm_actve'", "sm_active_percent"),
    ],
)
def test_what_is_mistyped_gets_the_nearest_that_is_right(arguments: str, mistake: str, meant: str) -> None:
    assert_refused(gpulse(*arguments.split(), scenario="single"), USAGE, mistake, f"did you mean {meant}?")


def test_what_is_like_nothing_gets_the_help() -> None:
    assert_refused(gpulse("xyzzy"), USAGE, "xyzzy is no command: see gpulse --help")
    assert_refused(gpulse("top", "--xyzzy"), USAGE, "--xyzzy is no option of gpulse top: see gpulse top --help")


@pytest.mark.parametrize(
    "arguments, shown, meant",
    [
        ("--gpu-query=name", "ERROR: Option --gpu-query=name is not recognized. Please run 'nvidia-smi -h'.\n\n", "--query-gpu"),
        ("--query-gpu=utilisation.gpu --format=csv", 'Field "utilisation.gpu" is not a valid field to query.\n\n', "utilization.gpu"),
    ],
)
def test_nvidia_smis_own_complaint_stays_and_the_nearest_comes_beside_it(arguments: str, shown: str, meant: str) -> None:
    result = gpulse("smi", *arguments.split(), scenario="single")
    assert (result.out, result.err) == (shown, f"gpulse: did you mean {meant}?\n")


def test_a_scenario_that_is_mistyped_gets_the_nearest() -> None:
    assert "did you mean eight?" in gpulse(scenario="eigth").err


def test_a_moment_behind_the_end_of_a_recording_is_told_its_length() -> None:
    told = gpulse("--demo", "--at", "3h")
    assert (told.code, told.out) == (FAILURE, "")
    assert re.fullmatch(r"gpulse: --at 10800s is behind the end: there are \d+s, from 0s on\n", told.err)


@pytest.mark.parametrize("selector", ["1", "GPU-ffffffff", "0000:ff:00.0", "amd", "0,7"])
def test_an_unknown_device_is_exit_2(selector: str) -> None:
    assert_refused(gpulse("-i", selector, scenario="single"), USAGE, "no device")


@pytest.mark.parametrize(
    "option",
    ["--replay", "--sysroot", "--source", "--at", "--speed", "--interval", "-i", "--id", "--fields", "--sample", "--watch",
     "--count", "--width", "--config", "record -o", "record --output", "log -o", "log --run", "log --pid", "log --rotate-size", "log --rotate-time", "log --keep", "top --settings", "top --theme", "doctor --replay",
     "set -i", "smi --replay", "gpustat --sysroot"],
)  # fmt: skip
def test_an_empty_value_is_wrong_usage(option: str, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    *command, name = option.split()
    spellings = [[name, ""], [f"{name}="]] if name.startswith("--") else [[name, ""]]
    for spelling in spellings:
        result = gpulse(*command, *spelling, "--json", scenario="single")
        assert result.code != GOOD and result.out == "", spelling
        assert name in result.err and ("empty" in result.err or "expected one argument" in result.err)
    if not command and name.startswith("--") and name not in ("--config", "--watch"):
        config.write_text(f'{name[2:]} = ""\n')
        assert_refused(gpulse("--config", config, scenario="single"), USAGE, name[2:], "empty")


@pytest.mark.parametrize(
    "arguments, option",
    [
        ("--replay --json", "--replay"),
        ("--sysroot --fast", "--sysroot"),
        ("--csv --fields --fast", "--fields"),
        ("-i --json", "-i"),
        ("--count --watch", "--count"),
        ("--config --json", "--config"),
        ("record -o --append", "-o"),
        ("record -o -- x.gpr", "-o"),
        ("smi --replay -q", "--replay"),
    ],
)
def test_no_option_takes_the_next_one_for_its_value(arguments: str, option: str) -> None:
    result = gpulse(*arguments.split(), scenario="single")
    assert result.code != GOOD and result.out == ""
    assert option in result.err


@pytest.mark.parametrize("fields", [",", ",,", "index,", ",index", "index,,name", " "])
def test_a_list_has_no_empty_names(fields: str) -> None:
    assert_refused(gpulse("--csv", "--fields", fields, "--fast", scenario="single"), USAGE, "empty name")


SPEEDS, COUNTS = "from 0.000001 to 1000000000", "from 1 to 1000000000000"


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e309", "1e-309", "9" * 30, "2x", "0x10", "one"])
@pytest.mark.parametrize(
    "option, allowed",
    [
        ("--count", COUNTS),
        ("--width", "from 1 to 10000"),
        ("--speed", SPEEDS),
        ("--interval", "from 10ms to 1000000000s"),
        ("--sample", "from 100ms to 1000000000s"),
        ("--watch", "from 10ms to 1000000000s"),
    ],
)
def test_numbers_out_of_range_are_told_the_range(option: str, allowed: str, value: str) -> None:
    result = gpulse(option, value, scenario="single")
    assert_refused(result, USAGE, option, f'"{value}"', allowed)
    assert len(result.err) < 150


def test_a_config_file_is_a_small_file(tmp_path: Path) -> None:
    huge = tmp_path / "huge.toml"
    huge.touch()
    os.truncate(huge, 5 << 30)
    fifo = tmp_path / "fifo.toml"
    os.mkfifo(fifo)
    for path, why in ((huge, "larger than 1 MiB"), (fifo, "not a file"), (Path("/dev/zero"), "not a file"), (tmp_path, "folder")):
        assert_refused(gpulse("--config", path, scenario="single", timeout=20), USAGE, str(path), why)
    # The same where it is found without being asked for.
    home = tmp_path / "gpulse"
    home.mkdir()
    (home / "config.toml").symlink_to("/dev/zero")
    assert_refused(gpulse(scenario="single", XDG_CONFIG_HOME=str(tmp_path), timeout=20), USAGE, "not a file")


def test_a_config_file_may_not_hold_unknown_keys(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('colour_of_paint = "red"\n')
    assert_refused(gpulse("--config", config, scenario="single"), USAGE, "colour_of_paint")


def test_an_absent_recording_is_exit_1(tmp_path: Path) -> None:
    assert_refused(gpulse("--replay", tmp_path / "nothing.gpr"), FAILURE, "nothing.gpr", "No such file")


def test_an_unreadable_recording_is_exit_1(tmp_path: Path) -> None:
    # A folder, because nothing is unreadable to root.
    assert_refused(gpulse("--replay", tmp_path), FAILURE, str(tmp_path))


def test_a_file_that_is_no_recording_is_exit_1(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear sir or madam\n")
    assert_refused(gpulse("--replay", path), FAILURE, "letter.txt", "not a recording")


def test_an_empty_file_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "empty.gpr"
    path.touch()
    assert_refused(gpulse("--replay", path), FAILURE, "empty.gpr")


def test_an_absent_sysroot_is_exit_1() -> None:
    assert_refused(gpulse("--sysroot", "/nonexistent"), FAILURE, "/nonexistent")


def no_gpu(result: Result, *words: str) -> None:
    """Exit 3, the host's part all the same, and the reason."""
    assert result.code == NO_DEVICE
    assert "no GPU found" in result.out
    assert "CPU" in result.out
    reason = [line for line in result.err.splitlines() if line.startswith("gpulse: ")]
    assert len(reason) == 1, result.err
    for word in words:
        assert word in reason[0]


def test_a_mistake_in_a_scenario_is_reported_with_its_line(scenario: Scenario) -> None:
    path = scenario('[[device]]\nprofile = "h200"\nwheels = 4\n')
    result = gpulse(scenario=path)
    assert result.code == 1
    assert result.out == ""
    assert result.err == f'gpulse: scenario {path}:3: unknown key "wheels"\n'


@pytest.mark.skipif(has_driver(), reason="this machine has an NVIDIA driver")
def test_without_a_driver_library(sysroot: Sysroot) -> None:
    no_gpu(gpulse(), "NVIDIA driver not installed")
    root = sysroot({"/proc/driver/nvidia/version": MODULE_575})
    no_gpu(gpulse("--sysroot", root), "library not found", "kernel module is loaded")


def test_too_few_open_files_is_not_a_missing_driver(sysroot: Sysroot) -> None:
    for limit in range(5, 16):
        done = subprocess.run(
            ["bash", "-c", f"ulimit -n {limit}; exec {GPULSE} --source nvml --sysroot {sysroot({})}"],
            env=environment("single"), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert "not installed" not in done.stderr
        if done.returncode == NO_DEVICE:
            assert "Too many open files" in done.stderr or "cannot" in done.stderr


def test_a_list_of_cards_that_cannot_be_read_is_said(sysroot: Sysroot) -> None:
    root = sysroot({"/sys/class/net/lo/mtu": "65536\n"})
    (root / "sys/class/drm").symlink_to("drm")
    for source in ("amdgpu", "intel", "drm"):
        no_gpu(gpulse("--sysroot", root, "--source", source), "cannot list /sys/class/drm: Too many levels")


def test_a_read_only_disk_is_named(tmp_path: Path) -> None:
    result = gpulse("record", "-o", "/sys/night.gpr", "--count", "1", "--interval", "50ms", scenario="single")
    # Root is refused too: nothing can be made there.
    assert_refused(result, FAILURE, "/sys/night.gpr")
    assert "No such file" not in result.err


def test_a_version_mismatch_names_both_versions(sysroot: Sysroot, tmp_path: Path) -> None:
    # The library's version is in its file's name, as the driver's package installs it.
    installed = tmp_path / "lib"
    shutil.copytree(SIM, installed)
    (installed / "libnvidia-ml.so.1").rename(installed / "libnvidia-ml.so.580.159.04")
    (installed / "libnvidia-ml.so.1").symlink_to("libnvidia-ml.so.580.159.04")
    root = sysroot({"/proc/driver/nvidia/version": MODULE_575})
    result = gpulse("--sysroot", root, scenario="mismatch", LD_LIBRARY_PATH=str(installed))
    no_gpu(result, "mismatch", "kernel module 575.57.08", "library 580.159.04", "reboot")


def init_answers(code: int) -> str:
    return f'[driver]\ninit = {code}\n[[device]]\nprofile = "h200"\n'


def test_a_driver_that_is_not_loaded(scenario: Scenario, sysroot: Sysroot) -> None:
    no_gpu(gpulse("--sysroot", sysroot({}), scenario=scenario(init_answers(9))), "not loaded", "modprobe nvidia")


def test_no_permission(scenario: Scenario, sysroot: Sysroot) -> None:
    root = sysroot({"/proc/driver/nvidia/version": MODULE_575, "/dev/nvidiactl": ""})
    no_gpu(gpulse("--sysroot", root, scenario=scenario(init_answers(4))), "no permission", "/dev/nvidia*")


def test_a_container_without_devices(scenario: Scenario, sysroot: Sysroot) -> None:
    root = sysroot({"/proc/driver/nvidia/version": MODULE_575})
    no_gpu(gpulse("--sysroot", root, scenario=scenario(init_answers(9))), "container", "--gpus all")


def test_json_says_why_there_is_no_device(scenario: Scenario, sysroot: Sysroot) -> None:
    result = gpulse("--json", "--sysroot", sysroot({}), scenario=scenario(init_answers(9)))
    assert result.code == NO_DEVICE
    (nvml,) = [source for source in result.json["sources"] if source["name"] == "nvml"]
    assert nvml["problem"] == "NVIDIA driver not loaded"
    assert nvml["remedy"] == "load it: modprobe nvidia"


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--csv"], ["doctor"], ["explain", "--markdown"], ["--help"]])
def test_a_full_disk_is_noticed(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [GPULSE, *arguments], env=environment("single"), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == FAILURE
    assert "No space left" in only_line(done.stderr)


def test_recording_onto_a_full_disk_is_noticed() -> None:
    result = gpulse("record", "-o", "/dev/full", "--count", "2", "--interval", "50ms", scenario="single")
    assert_refused(result, FAILURE, "No space left")


def test_recording_into_a_folder_that_is_not_there() -> None:
    result = gpulse("record", "-o", "/nonexistent/x.gpr", "--count", "1", scenario="single")
    assert_refused(result, FAILURE, "/nonexistent/x.gpr")


def test_a_reader_that_leaves_early_is_no_crash() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(
            [GPULSE, "--watch", "0.05", "--json"], env=environment("single"), stdout=pipe, stderr=subprocess.PIPE,
            timeout=60,
        )  # fmt: skip
    # Killed by SIGPIPE as cat would be, or a failure with a message: but it ends.
    assert done.returncode in (-13, FAILURE)


def test_help_and_version_are_good() -> None:
    assert gpulse("--help").code == GOOD
    version = gpulse("--version")
    assert version.code == GOOD
    assert only_line(version.out).startswith("gpulse ")
    for command in ("status", "record", "log", "history", "doctor", "explain"):
        assert gpulse(command, "--help").code == GOOD


def test_doctor_without_a_gpu_is_exit_3(scenario: Scenario, sysroot: Sysroot) -> None:
    result = gpulse("doctor", "--sysroot", sysroot({}), scenario=scenario(init_answers(9)))
    assert result.code == NO_DEVICE
    assert "NVIDIA driver not loaded" in result.out
