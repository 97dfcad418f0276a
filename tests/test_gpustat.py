"""`gpulse gpustat` beside the real gpustat, both on the simulator: the same bytes but for the time."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

from gpustat_real import mask, theirs
from harness import GPULSE, ROOT, SCENARIOS, Result, environment, gpulse, run

SHOWN = (
    ["", "-c", "-u", "-p", "-f", "-F", "-a", "-af", "--no-processes", "--no-header", "--json"],
    ["-cu", "-cup", "-cpuF", "-uf", "-cfp", "-Fe", "-eP", "--no-header --no-processes", "--show-all --no-header"],
    ["-e", "-e enc", "-e dec", "-e enc,dec", "-edec", "--show-codec=enc", "-e ''"],
    ["-P", "-P draw", "-P limit", "-P draw,limit", "-P limit,draw", "-Pdraw", "--show-power=limit", "-cP draw", "-P ''"],
    [f"--gpuname-width {width}" for width in ("0", "1", "2", "5", "16", "40", "+7")],
    ["--id 0", "--id 0,0", "--id=0", "--show-f", "--show-fa", "--show-c", "--show-fan", "--js", "--no-h --no-p"],
    ["-i 0", "-i -5", "-i nan", "--interval=0", "--watch 0"],
    ["--color", "--force-color", "--no-color", "--color -a", "--color -af", "--color -e -P draw --gpuname-width 9"],
    ["--color -cupf --no-header", "--color --no-processes", "--color --gpuname-width 0", "--color --json"],
)
COMMAND_LINES = [[word.strip("'") for word in line.split()] for line in itertools.chain.from_iterable(SHOWN)]

# Here gpustat fails or knows less: its library is too new for the driver, misreads its rows, or the memory is the host's.
DIFFERENT = {"driver-440", "driver-535.54", "old-driver", "mismatch", "unified"}


def ours(scenario: str | Path | None, *arguments: str | Path, **more: str) -> Result:
    return gpulse("gpustat", *arguments, scenario=scenario, **more)


def compare(folder: Path, scenario: str | Path | None, lines: list[list[str]], **more: str) -> None:
    for line, their in zip(lines, theirs(folder, scenario, lines, **more)):
        our = ours(scenario, *line, **more)
        assert mask(our.out) == mask(their.out), line
        # The usage in front of a complaint is in words of our own.
        assert (our.code, our.err.splitlines()[-1:]) == (their.code, their.err.splitlines()[-1:]), line


@pytest.fixture(scope="module")
def jobs() -> Iterator[list[int]]:
    """Processes that wait: a plain one, one with odd arguments, one that is over but not yet taken note of."""
    odd = ["/opt//tools/train er", "-c", "read line", "two words", "grüß \U0001f600", "", 'q"\\']
    started = [
        subprocess.Popen(["sleep", "600"]),
        subprocess.Popen(odd, executable="/bin/sh", stdin=subprocess.PIPE),
        subprocess.Popen(["true"]),
    ]
    stat = Path(f"/proc/{started[2].pid}/stat")
    while ") Z " not in stat.read_text():
        time.sleep(0.01)
    yield [process.pid for process in started]
    for process in started:
        process.kill()
        process.wait()


def frozen(name: str, jobs: list[int], folder: Path) -> Path:
    """A shipped scenario whose values do not change with time, and whose processes are there."""
    text = (ROOT / "sim" / "scenarios" / f"{name}.toml").read_text()
    text = re.sub(r"\{ steps = \[\[[\d.]+, ([\d.]+)\].*\}", r"\1", text)
    pids = itertools.cycle(jobs)
    text = re.sub(r"^pid = .*$", lambda _: f"pid = {next(pids)}", text, flags=re.MULTILINE)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in DIFFERENT])
def test_shipped_scenarios(name: str, jobs: list[int], tmp_path: Path) -> None:
    lines = [line.split() for line in ("", "-cpu", "--color -a", "--color -f --gpuname-width 8", "--json", "--id 0")]
    compare(tmp_path, frozen(name, jobs, tmp_path), lines)


# Both sides of every border between two colours, readings that are missing, GPUs that do not answer.
EVERYTHING = """
[[device]]
profile = "rtx4090"
temperature = 49
fan_speed = 29
gpu_util = 29
encoder_util = 49
decoder_util = 50
power_w = 179.999
power_enforced_w = 450

[[device]]
profile = "rtx4090"
temperature = 50
fan_speed = 30
gpu_util = 30
encoder_util = 50
decoder_util = 49
power_w = 180
power_enforced_w = 450
memory_used_mib = 1

[[device]]
profile = "h100"
temperature = "not supported"
gpu_util = "not supported"
encoder_util = "not supported"
power_w = "not supported"

[[device]]
profile = "h100"
power_enforced_w = "not supported"
decoder_util = {{ code = 999 }}
memory_used_mib = 81559

[[device]]
profile = "h100"
power_w = "not supported"
power_enforced_w = "not supported"

[[device]]
profile = "h100"
lost = [[0, 100000]]

[[device]]
profile = "h100"

[[device]]
profile = "h100"

[[process]]
device = 0
pid = {1}
memory_mib = 8900

[[process]]
device = 0
pid = {0}
type = ["graphics", "compute"]
memory_mib = 1130

[[process]]
device = 0
pid = {2}
type = "graphics"
memory_mib = 12

[[process]]
device = 0
pid = 4194304
memory_mib = 77

[[process]]
device = 1
pid = {0}
memory_mib = 0

[[process]]
device = 3
pid = {2}
memory_mib = 61900

[[process]]
device = 3
pid = {1}
memory_mib = 0

[[fault]]
call = "nvmlDeviceGetHandleByIndex_v2"
device = 6
code = 999

[[fault]]
call = "nvmlDeviceGetComputeRunningProcesses_v3"
device = 7
code = 3

[[fault]]
call = "nvmlDeviceGetGraphicsRunningProcesses_v3"
device = 7
code = 3

[[fault]]
call = "nvmlDeviceGetComputeRunningProcesses_v2"
device = 7
code = 3

[[fault]]
call = "nvmlDeviceGetGraphicsRunningProcesses_v2"
device = 7
code = 3

[[fault]]
call = "nvmlDeviceGetComputeRunningProcesses"
device = 7
code = 3

[[fault]]
call = "nvmlDeviceGetGraphicsRunningProcesses"
device = 7
code = 3
"""


@pytest.fixture
def everything(jobs: list[int], scenario: Callable[[str], Path]) -> Path:
    return scenario(EVERYTHING.format(*jobs))


def test_every_option(everything: Path, tmp_path: Path) -> None:
    compare(tmp_path, everything, COMMAND_LINES)
    lines = [["--id", which, *more] for which in ("7,5,0", "6", "3,3,1", " 1 , +2 ") for more in ([], ["-a"], ["--json"])]
    compare(tmp_path, everything, lines)


def test_mistakes(everything: Path, tmp_path: Path) -> None:
    lines = [
        *("-x|foo|foo -c bar|--id|--id -c|--id abc|--id 9|--id -1|--id 1,x|--id 0,|--id=|--id= 0".split("|")),
        *("-i --json|--json -i 2|--json --watch=3|--color --no-color|--no-color --force-color".split("|")),
        *("--gpuname-width x|--gpuname-width -1|--gpuname-width|--gpuname-width 1.5|--gpuname-width=".split("|")),
        *("--show|--show-f|--s|--no|--no-|-P foo|-e foo|-eP|-ecp|-ic|-i x|-i 1x|--watch=abc|--interval=".split("|")),
        *("--json=1|-c=1|-p5|-cx|-vx|-cv=|--id=0 --|-- foo|-c -- -p|--no-header=yes|--bogus=1 -q 5".split("|")),
        *("-P draw limit|-e enc dec|-i 0 1|-|-5|--debug=1|--help=1|-P=foo|-cP=draw".split("|")),
    ]
    compare(tmp_path, everything, [line.split() for line in lines])


def test_no_gpu(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    lines = [line.split() for line in ("", "-a", "--color", "--json", "--no-header", "--gpuname-width 30")]
    compare(tmp_path, scenario(""), lines)


@pytest.mark.parametrize("name", [None, "mismatch"])
def test_no_driver(name: str | None, tmp_path: Path) -> None:
    lines: list[list[str]] = [[], ["--json"], ["-i"], ["--id", "x"]]
    for line, their in zip(lines, theirs(tmp_path, name, lines)):
        our = ours(name, *line)
        assert (our.code, our.out) == (their.code, their.out) == (1, "")
        # The reason is told in words of our own, which also say what to do.
        assert our.err.splitlines()[0] == their.err.splitlines()[0]
        assert len(our.err.splitlines()) == 2
        assert "NVIDIA driver" in our.err.splitlines()[1]


@pytest.mark.parametrize("name", ["driver-440", "old-driver"])
def test_drivers_too_old_for_the_real_one(name: str, tmp_path: Path) -> None:
    (their,) = theirs(tmp_path, name, [[]])
    assert their.code == 1
    our = ours(name)
    assert our.code == 0
    # sim/scenarios/*.toml and the profiles that they name
    line = {
        "driver-440": "[0] Tesla P100-PCIE-16GB | 54°C,  71 % |  4115 / 16384 MB |",
        "old-driver": "[0] Tesla K80 | 61°C,  64 % |  2101 / 11441 MB |",
    }
    assert our.lines[1].startswith(line[name])


def test_rows_that_the_real_one_misreads(jobs: list[int], tmp_path: Path) -> None:
    path = frozen("driver-535.54", jobs, tmp_path)
    (their,) = theirs(tmp_path, path, [["-c"]])
    assert their.lines[1].endswith("| sleep(1000M)")
    assert ours(path, "-c").lines[1] == their.lines[1] + " train er(2000M)"


def test_memory_shared_with_the_host(tmp_path: Path) -> None:
    (their,) = theirs(tmp_path, "unified", [["-a"]])
    our = ours("unified", "-a").lines[1]
    memory = re.compile(r"[\d? ]{5} / [\d? ]{5} MB")
    assert memory.search(their.lines[1])[0] == "   ?? /    ?? MB"
    assert memory.sub("", our) == memory.sub("", their.lines[1])
    total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    assert int(memory.search(our)[0].split()[2]) == int(total.split()[1]) // 1024


def test_what_a_busy_process_uses(scenario: Callable[[str], Path]) -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        path = scenario(f'[[device]]\nprofile = "h100"\n[[process]]\npid = {busy.pid}\nmemory_mib = 5\n')
        time.sleep(0.3)
        (process,) = ours(path, "--json").json["gpus"][0]["processes"]
        # The machine may have other things to do.
        assert 20 < process["cpu_percent"] < 120
        assert re.search(r"└─ +\d+ \( +[1-9]\d+%, +\d+[KM]B\): ", ours(path, "-f").out)
    finally:
        busy.kill()
        busy.wait()


def test_called_by_its_name(tmp_path: Path) -> None:
    program = tmp_path / "gpustat"
    program.symlink_to(GPULSE)
    result = run([program, "--no-header"], environment("single"))
    assert (result.code, result.err) == (0, "")
    assert mask(result.out) == mask(ours("single", "--no-header").out)
    assert run([program, "--version"], environment()).out.startswith("gpustat 1.1.1 (gpulse ")


def test_help_and_completions(tmp_path: Path) -> None:
    listed = gpulse("--help").out
    assert re.search(r"^ +gpustat ", listed, re.MULTILINE)
    assert "gpustat must come first" in gpulse("--demo", "gpustat", "-c").err
    shown = ours(None, "-h").out
    (real,) = theirs(tmp_path, None, [["-h"]])
    names = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", real.out))
    assert len(names) > 25
    for name in names:
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", shown), name
    for shell in ("bash", "zsh", "tcsh"):
        script = ours(None, "--print-completion", shell)
        assert script.code == 0
        assert all(name.lstrip("-") in script.out for name in names)
    check = subprocess.run(["bash", "-c", ours(None, "--print-completion", "bash").out + BASH_TRY], capture_output=True)
    assert check.stdout.decode().split() == ["--show-user", "draw", "draw,limit"]


BASH_TRY = """
COMP_WORDS=(gpustat --show-u) COMP_CWORD=1; _gpustat; echo "${COMPREPLY[@]}"
COMP_WORDS=(gpustat -P dr) COMP_CWORD=2; _gpustat; echo "${COMPREPLY[@]}"
"""


def test_debug_says_what_is_missing(everything: Path) -> None:
    report = ours(everything, "--debug").err.splitlines()
    assert "> An error while retrieving `fan_speed`: not supported -> Total 4 occurrences." in report
    assert "> An error while retrieving `utilization_dec`: error: driver code 999 -> Total 1 occurrences." in report
    assert "> An error while retrieving `GPU 5`: lost -> Total 1 occurrences." in report


def test_colours_by_the_environment() -> None:
    assert "\033[" not in ours("single").out
    assert "\033[36m" in ours("single", FORCE_COLOR="1").out
    assert "\033[36m" in ours("single", CLICOLOR_FORCE="1").out
    assert "\033[" not in ours("single", "--color", NO_COLOR="1").out


def test_recordings(tmp_path: Path) -> None:
    assert ours(None, "--demo").lines[0].endswith("  DEMO")
    assert ours(None, "--demo", "--json").json["origin"] == "DEMO"
    recording = tmp_path / "one.gpr"
    assert gpulse("record", "-o", recording, "--count", "1", scenario="desktop").code == 0
    replayed = ours(None, "--replay", recording, "-a")
    assert replayed.lines[0].endswith("  REPLAY")
    assert replayed.lines[1] == ours("desktop", "-a").lines[1]


def test_other_vendors(sysroot: Callable[[dict[str, str]], Path]) -> None:
    card = "/sys/class/drm/card0/device"
    root = sysroot(
        {
            f"{card}/uevent": "DRIVER=amdgpu\nPCI_ID=1002:67DF\nPCI_SLOT_NAME=0000:09:00.0\n",
            f"{card}/vendor": "0x1002\n",
            f"{card}/device": "0x67df\n",
            f"{card}/gpu_busy_percent": "11\n",
            f"{card}/mem_info_vram_used": "536870912\n",
            f"{card}/mem_info_vram_total": "4294967296\n",
            f"{card}/hwmon/hwmon2/name": "amdgpu\n",
            f"{card}/hwmon/hwmon2/temp1_input": "44000\n",
            f"{card}/hwmon/hwmon2/power1_average": "41045000\n",
            f"{card}/hwmon/hwmon2/power1_cap": "155000000\n",
            f"{card}/hwmon/hwmon2/pwm1": "51\n",
        }
    )
    result = ours(None, "-a", "--gpuname-width", "3", "--sysroot", root, "--source=amdgpu")
    assert (result.code, result.err) == (0, "")
    assert result.lines[1] == (
        "[0] …90 | 44°C,  20 %,  11 % (E:   0 %  D:   0 %),   41 / 155 W |   512 /  4096 MB |"
    )
