"""One file that runs on any distribution since Debian 12."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, ROOT, SIM

GLIBC = tuple(map(int, platform.libc_ver()[1].split(".")))


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def needed_libraries(path: Path) -> set[str]:
    return {line.split()[0].split("/")[-1] for line in output("ldd", path).splitlines()}


def test_it_needs_nothing_but_the_c_library() -> None:
    for name in needed_libraries(GPULSE):
        assert re.fullmatch(r"linux-(vdso|gate)\.so\.1|libc\.so\.6|libm\.so\.6|ld-linux.*\.so\.\d", name), name


@pytest.mark.skipif(GLIBC > (2, 36), reason="built against a newer glibc; what is published is built on Debian 12")
def test_it_runs_on_glibc_2_36() -> None:
    for product in (GPULSE, SIM / "libnvidia-ml.so.1"):
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", output("objdump", "-T", product))}
        assert versions and max(versions) <= (2, 36), product


def test_it_is_small(tmp_path: Path) -> None:
    stripped = tmp_path / "gpulse"
    shutil.copy(GPULSE, stripped)
    output("strip", stripped)
    # A third of it is OpenSSL.
    assert stripped.stat().st_size <= 16_000_000


def test_it_runs_where_there_is_nothing_else(tmp_path: Path) -> None:
    """From another folder, with an empty environment, without the build folder around it."""
    alone = tmp_path / "gpulse"
    shutil.copy(GPULSE, alone)
    done = subprocess.run([alone, "--demo", "--json"], env={}, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0
    assert '"origin":"DEMO"' in done.stdout


@pytest.mark.parametrize("name", ["nvidia-smi", "gpustat"])
@pytest.mark.parametrize("give", [os.link, shutil.copy, os.symlink], ids=["hard link", "copy", "symbolic link"])
def test_it_goes_by_other_programs_names(tmp_path: Path, name: str, give: Callable[..., object]) -> None:
    """A hard link and a copy keep the name even for a program that resolves links before it calls them."""
    installed = tmp_path / "gpulse"
    shutil.copy(GPULSE, installed)
    give(installed, tmp_path / name)
    own = subprocess.run([tmp_path / name, "--demo", "-h"], env={}, capture_output=True, text=True)
    resolved = subprocess.run([os.path.realpath(tmp_path / name), "--demo", "-h"], env={}, capture_output=True, text=True)
    assert "gpulse smi" in own.stdout if name == "nvidia-smi" else "usage: gpustat" in own.stdout
    assert (own.stdout == resolved.stdout) == (give is not os.symlink)


@pytest.mark.parametrize("words", [["-q", "-x"], ["-L"], ["--query-gpu=name", "--format=csv"]], ids=" ".join)
def test_called_by_its_own_name_with_nvidia_smis_options_it_says_what_to_do(words: list[str]) -> None:
    done = subprocess.run([GPULSE, *words], env={}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nvidia-smi's options come after gpulse smi" in done.stderr and "hard link" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_makefile_installs_it_under_those_names(tmp_path: Path) -> None:
    shown = output("make", "-C", ROOT, "-n", "-o", "build", "install", f"PREFIX={tmp_path}", "DROP_INS=nvidia-smi gpustat")
    assert f"cmake --install build --prefix {tmp_path}" in shown
    assert f"ln -sf ../lib/gpulse/$name {tmp_path}/bin/$name" in shown


def exported_symbols(path: Path) -> list[str]:
    return re.findall(r" [A-Za-z] (\S+)$", output("nm", "-D", "--defined-only", path), re.MULTILINE)


def test_it_comes_before_libc_in_three_functions_and_no_more() -> None:
    """Whatever it exports replaces a function of the same name in every library that it loads."""
    # Those with a version are libc's own variables, of which a program may hold a copy.
    exported = {symbol for symbol in exported_symbols(GPULSE) if "@" not in symbol}
    by_jump = {"dlopen"} if platform.machine() in ("x86_64", "aarch64") else set()
    assert exported == {"memset", "nanosleep"} | by_jump


def test_the_simulator_keeps_its_symbols_to_itself() -> None:
    symbols = exported_symbols(SIM / "libnvidia-ml.so.1")
    assert len(symbols) > 200
    assert [symbol for symbol in symbols if not symbol.startswith(("nvml", "gpulse_sim_", "dlsym"))] == []
