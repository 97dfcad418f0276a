"""On a machine with CUDA: for every kind of mask, gpulse pick chooses from the GPUs that CUDA itself shows, in its order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import GPULSE, environment, run

# In a process of its own, because CUDA reads its mask once.
ASK = """
import ctypes, uuid
cuda = ctypes.CDLL("libcuda.so.1")
count, device, raw = ctypes.c_int(), ctypes.c_int(), (ctypes.c_ubyte * 16)()
if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
    for ordinal in range(count.value):
        assert cuda.cuDeviceGet(ctypes.byref(device), ordinal) == 0 and cuda.cuDeviceGetUuid(raw, device) == 0
        print("GPU-" + str(uuid.UUID(bytes=bytes(raw))))
"""


def shown_by_cuda(**mask: str) -> list[str]:
    asked = subprocess.run([sys.executable, "-c", ASK], env=environment(**mask), capture_output=True, text=True)
    return asked.stdout.split()


def allowed_by_gpulse(most: int, leases: Path, **mask: str) -> list[str]:
    """As many as can be had at once."""
    for count in range(most, 0, -1):
        command = [GPULSE, "pick", "-n", str(count), "--min-free", "0", "--max-util", "100"]
        result = run(command, environment(GPULSE_LEASES=str(leases), **mask))
        if result.code == 0:
            return result.out.strip().split("=")[1].split(",")
    return []


@pytest.fixture(scope="module")
def gpus() -> list[str]:
    found = shown_by_cuda()
    if not found:
        pytest.skip("no CUDA on this machine")
    return found


# {0} is the UUID of CUDA's first GPU, {last} that of its last one.
MASKS = [
    "", "-1", "0", "0,", "0,,0", "0,0", "0,1", "1,0", "0,99", "99,0", "1gpu", "0gpu", " 0", "+0", "-0", "{0}", "{0:.12}",
    "GPU-", "{0},{0:.12}", "{0},0", "0,{0}", "{0:.5}", "gpu-zzz", "GPU-zzz", "{0}, {0}", "{last},{0}", "{0}x", "{0} ", "MIG-x",
    "NoDevFiles", "none", "0 ,1", "0x1", "2147483648", "4294967296", "0;1", "0.1", "\t0",
]  # fmt: skip


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_means_the_same_to_both(mask: str, gpus: list[str], tmp_path: Path) -> None:
    value = mask.format(gpus[0], last=gpus[-1])
    shown = shown_by_cuda(CUDA_VISIBLE_DEVICES=value)
    assert allowed_by_gpulse(len(gpus), tmp_path / "leases", CUDA_VISIBLE_DEVICES=value) == shown


def test_upper_case_digits(gpus: list[str], tmp_path: Path) -> None:
    value = "GPU-" + gpus[0].removeprefix("GPU-").upper()
    shown = shown_by_cuda(CUDA_VISIBLE_DEVICES=value)
    assert allowed_by_gpulse(len(gpus), tmp_path / "leases", CUDA_VISIBLE_DEVICES=value) == shown


def test_what_is_picked_is_what_the_program_sees(gpus: list[str], tmp_path: Path) -> None:
    free = [GPULSE, "pick", "--min-free", "0", "--max-util", "100", "--"]
    result = run([*free, sys.executable, "-c", ASK], environment(GPULSE_LEASES=str(tmp_path / "leases")))
    assert len(result.lines) == 1 and result.lines[0] in gpus


def test_cudas_order_is_asked_from_cuda(gpus: list[str]) -> None:
    assert run([GPULSE, "cuda-order"], environment()).lines == gpus
