"""gpulse pick: free GPUs inside the mask, leases that no two hold, programs that run under them."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent import AS_NOBODY, needs_root, open_folder, wait_for
from harness import GPULSE, Result, environment, gpulse, only_line, run

Scenario = Callable[[str], Path]

FREE = '[[device]]\nprofile = "h100"\ncount = 8\ngpu_util = 0\nmemory_used_mib = 0\n'
MEMORY_CALLS = ("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2")


@pytest.fixture
def leases() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder / "leases"


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-19")
    if found is None:
        pytest.skip("no compiler for what this test runs")
    return found


class Machine:
    """Eight GPUs that are free, and a folder for their leases."""

    def __init__(self, scenario: Path, leases: Path) -> None:
        self.scenario, self.leases = scenario, leases
        listed = gpulse("--json", "--fast", scenario=scenario)
        self.uuids: list[str] = [device["uuid"] for device in listed.json["devices"]]

    def environment(self, **more: str) -> dict[str, str]:
        return environment(self.scenario, GPULSE_LEASES=str(self.leases), **more)

    def pick(self, *arguments: str, **more: str) -> Result:
        return run([GPULSE, "pick", *arguments], self.environment(**more))

    def picked(self, *arguments: str, **more: str) -> list[int]:
        """The numbers of the GPUs, in the order of the mask that is printed."""
        result = self.pick(*arguments, **more)
        assert result.code == 0, result.err
        name, value = only_line(result.out).split("=")
        assert name == "CUDA_VISIBLE_DEVICES"
        return [self.uuids.index(uuid) for uuid in value.split(",")]

    @contextmanager
    def holder(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A program that holds its GPUs until its standard input ends."""
        command = [GPULSE, "pick", *arguments, "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; read end"]
        with subprocess.Popen(
            command, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            self.held = [self.uuids.index(uuid) for uuid in process.stdout.readline().strip().split(",")]
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture
def machine(scenario: Scenario, leases: Path) -> Machine:
    return Machine(scenario(FREE), leases)


def test_it_prints_what_a_shell_can_export(machine: Machine) -> None:
    assert machine.picked() == [0]
    assert machine.picked("-n", "2") == [0, 1]
    script = f'export $({GPULSE} pick -n 2) && test "$CUDA_VISIBLE_DEVICES" = {machine.uuids[0]},{machine.uuids[1]}'
    assert run(["sh", "-c", script], machine.environment()).code == 0


def test_json_has_the_same(machine: Machine) -> None:
    answer = machine.pick("-n", "2", "--json").json
    assert [device["uuid"] for device in answer["devices"]] == machine.uuids[:2]
    assert answer["variables"] == {"CUDA_VISIBLE_DEVICES": ",".join(machine.uuids[:2])}


@pytest.mark.parametrize(
    "mask, count, expected",
    [
        ("3,1", "2", [3, 1]),
        ("5", "1", [5]),
        ("2,99,0", "1", [2]),
        (" 6,4gpu", "2", [6, 4]),
        ("GPU-{4},GPU-{2}", "2", [4, 2]),
    ],
)
def test_it_stays_inside_the_mask(machine: Machine, mask: str, count: str, expected: list[int]) -> None:
    value = mask.format(*(uuid.removeprefix("GPU-")[:8] for uuid in machine.uuids))
    assert machine.picked("-n", count, CUDA_VISIBLE_DEVICES=value) == expected


@pytest.mark.parametrize(
    "mask, word",
    [
        ("", "hides every GPU"),
        ("-1", "leaves no GPU"),
        ("0,1,0", "twice"),
        ("gpu-1234", "capitals"),
        ("0,x", "asked for, there is 1"),
        ("\x1b[31m", "neither a number nor a UUID"),
    ],
)
def test_a_mask_that_leaves_too_few_is_explained(machine: Machine, mask: str, word: str) -> None:
    result = machine.pick("-n", "2", "--wait", "1h", CUDA_VISIBLE_DEVICES=mask)
    assert result.code == 1 and result.out == ""
    assert word in result.err and "\x1b" not in result.err
    assert all(line.startswith("gpulse: ") for line in result.err.splitlines())


def test_a_bad_entry_of_the_mask_is_named_though_there_are_enough(machine: Machine) -> None:
    result = machine.pick(CUDA_VISIBLE_DEVICES="1,99,0")
    assert result.code == 0
    assert '"99"' in only_line(result.err)


def test_the_reasons_of_busy_gpus(leases: Path) -> None:
    result = gpulse("pick", "-n", "2", scenario="eight", GPULSE_LEASES=str(leases))
    assert result.code == 1 and result.out == ""
    first, *rest = result.err.splitlines()
    assert first == "gpulse: 2 GPUs were asked for, none are free: --wait 10m waits for one"
    assert rest == [f"  GPU {i}: 18.4 GiB of 79.6 GiB free, 90 % asked for" for i in range(8)]
    less = ["pick", "--min-free", "10GiB"]
    busy = gpulse(*less, scenario="eight", GPULSE_LEASES=str(leases))
    assert "  GPU 6: 100 % busy, at most 10 % asked for" in busy.err.splitlines()
    assert gpulse(*less, "--max-util", "100", scenario="eight", GPULSE_LEASES=str(leases)).code == 0


def test_a_gpu_that_cannot_be_read_is_not_free(scenario: Scenario, leases: Path) -> None:
    faults = [f'[[fault]]\ncall = "{call}"\ncode = 999\n' for call in MEMORY_CALLS]
    text = FREE.replace("count = 8", "count = 1") + "".join(faults)
    result = gpulse("pick", scenario=scenario(text), GPULSE_LEASES=str(leases))
    assert result.code == 1
    assert "not known" in result.err


def test_a_program_runs_with_the_mask_and_its_status_is_ours(machine: Machine) -> None:
    result = machine.pick("-n", "2", "--", "sh", "-c", 'echo "$CUDA_VISIBLE_DEVICES|$1|$#"; exit 7', "sh", "", "--json")
    assert result.code == 7
    assert result.out == f"{','.join(machine.uuids[:2])}||2\n"
    killed = subprocess.run([GPULSE, "pick", "--", "sh", "-c", "kill -TERM $$"], env=machine.environment())
    assert killed.returncode == -signal.SIGTERM


def test_a_program_begins_as_if_it_had_been_started_alone(machine: Machine, tmp_path: Path) -> None:
    """Signals, and files: its own and the leases, nothing of a driver's."""
    script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls -l /proc/self/fd | grep -c /leases; ls /proc/self/fd"
    plain = run(["sh", "-c", script], machine.environment())
    under = machine.pick("--", "sh", "-c", script)
    signals = [line for line in plain.lines if line.startswith("Sig")]
    assert [line for line in under.lines if line.startswith("Sig")] == signals
    # The lease's file, and its folder; ls has one of its own.
    held = int(under.lines[2])
    assert held == 2
    assert len(under.lines) - 3 == len(plain.lines) - 3 + held


def test_a_program_that_cannot_be_run(machine: Machine) -> None:
    assert machine.pick("--", "no-such-program").code == 127
    assert machine.pick("--", "/etc/passwd").code == 126
    assert "no-such-program cannot be run" in only_line(machine.pick("--", "no-such-program").err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-n", "0"],
        ["-n", "-1"],
        ["-n", "x"],
        ["-n"],
        ["--min-free", "much"],
        ["--min-free", "120%"],
        ["--max-util", "101"],
        ["--wait", "soon"],
        ["--"],
        ["--", ""],
        ["python", "train.py"],
        ["--replay", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage(machine: Machine, arguments: list[str]) -> None:
    result = machine.pick(*arguments)
    assert result.code == 2 and result.out == ""
    assert only_line(result.err).startswith("gpulse: ")


def test_no_gpu_is_exit_3(leases: Path, tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    result = gpulse("pick", "--wait", "1h", "--sysroot", tmp_path, "--source", "amdgpu", GPULSE_LEASES=str(leases))
    assert result.code == 3
    assert "no GPU found" in only_line(result.err)


def test_what_is_held_is_left_to_its_holder(machine: Machine) -> None:
    with machine.holder("-n", "3") as process:
        assert machine.held == [0, 1, 2]
        assert machine.picked("-n", "5") == [3, 4, 5, 6, 7]
        refused = machine.pick("-n", "6")
        assert refused.code == 1
        assert f"  GPU 0: held by pid {process.pid} of " in refused.err
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert machine.picked("-n", "8") == list(range(8))


def test_waiting_ends_when_a_gpu_is_free(machine: Machine) -> None:
    with machine.holder("-n", "8") as process:
        with subprocess.Popen(
            [GPULSE, "pick", "--wait", "1m"],
            env=machine.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as waiting:
            assert waiting.stderr is not None
            assert "waiting for 1 GPU: 0 free, 8 held by others, 0 busy or full" in waiting.stderr.readline()
            process.communicate("end\n")
            freed = time.monotonic()
            assert waiting.wait(10) == 0
            assert time.monotonic() - freed < 3


def test_waiting_has_an_end(machine: Machine) -> None:
    with machine.holder("-n", "8"):
        begun = time.monotonic()
        result = machine.pick("--wait", "300ms")
        assert 0.3 <= time.monotonic() - begun < 3
        assert result.code == 1
        assert result.err.startswith("gpulse: no GPU is free\n  GPU 0: held by ")


def test_ctrl_c_ends_the_wait_at_once(machine: Machine) -> None:
    with machine.holder("-n", "8"):
        master, terminal = pty.openpty()
        with subprocess.Popen(
            [GPULSE, "pick", "--wait", "1h", "--", "true"],
            env=machine.environment(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        ) as waiting:
            os.close(terminal)
            assert select.select([master], [], [], 10)[0]
            os.write(master, b"\x03")
            pressed = time.monotonic()
            assert waiting.wait(5) == 1
            assert time.monotonic() - pressed < 0.5
        os.close(master)


def test_a_lease_lasts_as_long_as_what_the_program_has_started(machine: Machine) -> None:
    """The program forks into the background and ends: its GPU is in use, and so it is held."""
    script = "sleep 1000 >/dev/null 2>&1 & echo $!"
    result = machine.pick("--", "sh", "-c", script)
    background = int(result.out)
    try:
        assert machine.picked() == [1]
    finally:
        os.kill(background, signal.SIGKILL)
    wait_for(lambda: machine.picked() == [0], "the lease to end")


def test_instances_of_a_split_gpu(leases: Path) -> None:
    def pick(*arguments: str) -> Result:
        return gpulse("pick", "--min-free", "1GiB", *arguments, scenario="mig", GPULSE_LEASES=str(leases))

    first = pick()
    assert first.out.startswith("CUDA_VISIBLE_DEVICES=MIG-")
    uuid = first.out.strip().split("=")[1]
    held = pick("--", str(GPULSE), "pick", "--min-free", "1GiB")
    # Under a mask of one instance there is none left; it says who has it.
    assert held.code == 1 and "held by pid" in held.err
    assert "an instance, and CUDA shows a process only one" in pick("-n", "2").err
    assert uuid.startswith("MIG-")


def test_the_folder_is_open_to_every_user(machine: Machine) -> None:
    assert run(["sh", "-c", f"umask 077; {GPULSE} pick"], machine.environment()).code == 0
    assert machine.leases.stat().st_mode & 0o7777 == 0o1777
    assert {path.stat().st_mode & 0o777 for path in machine.leases.iterdir()} == {0o666}


@pytest.mark.parametrize("first", ["root", "nobody"])
def test_two_users_share_the_leases(machine: Machine, first: str, tmp_path: Path) -> None:
    needs_root()
    with open_folder() as folder:
        folder.chmod(0o1777)
        machine.leases = folder / "leases"
        machine.scenario = Path(shutil.copy(machine.scenario, folder))
        machine.scenario.chmod(0o644)
        pick = [str(GPULSE), "pick"]
        users = {"root": pick, "nobody": [*AS_NOBODY, *pick]}
        second = {"root": "nobody", "nobody": "root"}[first]
        # Each has made files that the other has to use.
        assert run(users[first], machine.environment()).code == 0
        script = [*users[first], "-n", "8", "--", "sh", "-c", "echo; read end"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(script, env=machine.environment(), **pipes) as holder:
            assert holder.stdout is not None and holder.stdout.readline() == b"\n"
            refused = run(users[second], machine.environment())
            assert refused.code == 1
            assert refused.err.count(f"held by pid {holder.pid} of {first}") == 8
            holder.communicate(b"\n")
        assert run([*users[second], "-n", "8"], machine.environment()).code == 0


def test_a_folder_that_cannot_be_had(machine: Machine) -> None:
    machine.leases = Path("/proc/leases")
    result = machine.pick()
    assert result.code == 1
    assert "GPULSE_LEASES" in only_line(result.err)


CARD = {
    "power/runtime_status": "active\n",
    "gpu_busy_percent": "0\n",
    "mem_info_vram_total": f"{24 << 30}\n",
    "mem_info_vram_used": "0\n",
}


def radeon(number: int, unique_id: str) -> dict[str, str]:
    folder = f"sys/class/drm/card{number}/device"
    slot = f"PCI_SLOT_NAME=0000:0{number}:00.0\n"
    files = {f"{folder}/uevent": f"DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SUBSYS_ID=1DA2:E471\n{slot}"}
    files |= {f"{folder}/{name}": text for name, text in CARD.items()}
    return files | ({f"{folder}/unique_id": unique_id + "\n"} if unique_id else {})


def test_amd_gpus_go_by_the_variables_of_rocm(sysroot: Callable[[dict[str, str]], Path], leases: Path) -> None:
    root = sysroot(radeon(0, "43a98d2a11bc1f0a") | radeon(1, "5c12f00dd00d0001") | radeon(2, ""))

    def pick(*arguments: str, **more: str) -> list[str]:
        result = gpulse("pick", *arguments, "--source", "amdgpu", "--sysroot", root, GPULSE_LEASES=str(leases), **more)
        return result.lines if result.code == 0 else [result.err]

    first, second = "GPU-43a98d2a11bc1f0a", "GPU-5c12f00dd00d0001"
    assert pick("-n", "2") == [f"ROCR_VISIBLE_DEVICES={first},{second}", "HIP_VISIBLE_DEVICES=0,1"]
    assert pick(HIP_VISIBLE_DEVICES="1") == [f"ROCR_VISIBLE_DEVICES={second}", "HIP_VISIBLE_DEVICES=0"]
    # One without a number of its own goes by its place.
    mask = {"ROCR_VISIBLE_DEVICES": "2,1", "HIP_VISIBLE_DEVICES": "0"}
    assert pick(**mask) == ["ROCR_VISIBLE_DEVICES=2", "HIP_VISIBLE_DEVICES=0"]
    assert "leaves no AMD GPU" in pick(ROCR_VISIBLE_DEVICES="")[0]


FAKE_CUDA = """
#include <string.h>
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetUuid(unsigned char *uuid, int device) {
  static const unsigned char known[2][16] = {{%s}, {%s}};
  memcpy(uuid, known[device], 16);
  return 0;
}
"""


def test_cards_that_differ_stand_in_cudas_own_order(scenario: Scenario, leases: Path, tmp_path: Path) -> None:
    """CUDA puts the faster card first; the driver puts the one first that comes first on the bus."""
    idle = "gpu_util = 0\nmemory_used_mib = 0\n"
    path = scenario(f'[[device]]\nprofile = "rtx4090"\n{idle}[[device]]\nprofile = "h100"\n{idle}')
    machine = Machine(path, leases)
    mask = {"CUDA_VISIBLE_DEVICES": "0"}
    unknown = machine.pick(**mask)
    assert unknown.code == 1
    assert "CUDA_DEVICE_ORDER=PCI_BUS_ID would settle it" in unknown.err
    assert machine.picked(CUDA_DEVICE_ORDER="PCI_BUS_ID", **mask) == [0]
    # Without numbers in a mask the order is nobody's business.
    assert machine.pick("-n", "2").code == 0

    bytes_of = [", ".join(f"0x{b:02x}" for b in bytes.fromhex(u[4:].replace("-", ""))) for u in machine.uuids]
    (tmp_path / "cuda.c").write_text(FAKE_CUDA % (bytes_of[1], bytes_of[0]))
    library = tmp_path / "libcuda.so.1"
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", library, tmp_path / "cuda.c"], check=True)
    paths = environment(path)["LD_LIBRARY_PATH"] + f":{tmp_path}"
    assert machine.picked(LD_LIBRARY_PATH=paths, **mask) == [1]
    order = run([GPULSE, "cuda-order"], machine.environment(LD_LIBRARY_PATH=paths))
    assert order.lines == [machine.uuids[1], machine.uuids[0]]
