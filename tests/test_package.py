"""The Python package as a user gets it: one wheel, for any Python, with the command; and the library for other builds."""

from __future__ import annotations

import ast
import base64
import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness import BUILD, ROOT, environment

BUILDER = ROOT / "tools" / "python_package.py"
SOURCES = ROOT / "python" / "gpulse"
VERSION = "0.1.0"

TWO = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
power_w = 111

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
power_w = 222
"""


def run(*command: str | Path, cwd: Path | None = None, **more: str) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment(**more), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path, **more: str) -> Path:
    return Path(run(sys.executable, BUILDER, folder, GPULSE_BUILD=str(BUILD), **more).strip())


def pip_install(*words: str | Path, home: Path, before: tuple[str | Path, ...] = ()) -> None:
    """Without a network. pip starts compilers to see their versions, and some write into the home folder."""
    command = (sys.executable, "-m", "pip", *before, "install", "--no-index", "--no-cache-dir", *words)
    run(*command, HOME=str(home), GPULSE_BUILD=str(BUILD))


def install(what: Path, folder: Path) -> Path:
    """Into a new environment; its interpreter."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip_install(what, home=folder, before=("--python", python))
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with nothing but the wheel in it."""
    return install(wheel, tmp_path_factory.mktemp("venv"))


def test_it_holds_the_package_the_library_and_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        scripts = f"gpulse-{VERSION}.data/scripts"
        assert {"gpulse/__init__.py", "gpulse/py.typed", "gpulse/libgpulse.so", f"{scripts}/gpulse"} <= names
        assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
        assert archive.getinfo(f"{scripts}/gpulse").external_attr >> 16 & 0o777 == 0o755
        metadata = archive.read(f"gpulse-{VERSION}.dist-info/METADATA").decode()
        rows = list(csv.reader(io.StringIO(archive.read(f"gpulse-{VERSION}.dist-info/RECORD").decode())))
        assert {row[0] for row in rows} == names
        for name, digest, size in rows:
            content = archive.read(name)
            told = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert name.endswith("/RECORD") or (digest, size) == (f"sha256={told}", str(len(content))), name
    assert "\nName: gpulse\n" in metadata and f"\nVersion: {VERSION}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata and "\nRequires-Python: >=3.9\n" in metadata
    assert "Requires-Dist" not in metadata


def test_it_brings_a_plugin_that_pytest_finds(wheel: Path, tmp_path: Path) -> None:
    pip_install("--no-deps", "--target", tmp_path / "installed", wheel, home=tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    told = run(sys.executable, "-m", "pytest", "--markers", cwd=tmp_path, PYTHONPATH=str(tmp_path / "installed"))
    assert "@pytest.mark.gpu_memory(limit): " in told and "@pytest.mark.gpu_leak_check(allowed): " in told


def test_its_tag_is_what_auditwheel_finds(wheel: Path) -> None:
    tag = wheel.stem.split("-", 2)[2]
    assert tag.startswith("py3-none-manylinux_2_")
    told = " ".join(run(sys.executable, "-m", "auditwheel", "show", wheel).split())
    assert f'consistent with the following platform tag: "{tag.removeprefix("py3-none-")}"' in told
    assert "required by the wheel" not in told, told


def test_the_same_tree_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    assert build(tmp_path / "again").read_bytes() == wheel.read_bytes()


def test_in_a_clean_environment_everything_runs(python: Path, tmp_path: Path) -> None:
    version = f"gpulse {VERSION}\n"
    assert run(python.with_name("gpulse"), "--version") == version
    # No gpulse on the path: it is found where pip has put it.
    assert run(python, "-m", "gpulse", "--version", cwd=tmp_path, PATH="/usr/bin:/bin") == version
    imported = run(python, "-c", "import gpulse; print(gpulse.__file__)", cwd=tmp_path)
    assert str(python.parent.parent) in imported
    assert run(python, "-W", "error", "-c", "import gpulse", cwd=tmp_path) == ""


def test_in_a_clean_environment_it_reads_the_gpus(python: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text(TWO)
    program = "import gpulse; print([(gpu.uuid, gpu.power_draw_watts) for gpu in gpulse.devices()])"
    told = run(python, "-W", "error", "-c", program, cwd=tmp_path, scenario=str(scenario))
    assert ast.literal_eval(told) == [("GPU-aaaaaaaa-0000-0000-0000-000000000000", 111.0),
                                      ("GPU-bbbbbbbb-0000-0000-0000-000000000000", 222.0)]  # fmt: skip


def test_on_a_host_without_a_driver_there_are_no_gpus(python: Path, tmp_path: Path) -> None:
    assert run(python, "-W", "error", "-c", "import gpulse; print(gpulse.devices())", cwd=tmp_path) == "[]\n"


def program_found(python: Path, folder: Path, **more: str) -> str:
    """The command that the package in `folder` takes, isolated from the environment's own."""
    script = "from gpulse._program import find_program; print(find_program())"
    return run(python, "-c", script, cwd=folder, PYTHONPATH=str(folder), **more).strip()


def test_pip_install_target_takes_the_command_beside_the_package(wheel: Path, python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "target"
    pip_install("--target", folder, wheel, home=tmp_path)
    # Where pip's record says, which is outside the folder, lies another one.
    (tmp_path / "bin").mkdir()
    shutil.copy(folder / "bin" / "gpulse", tmp_path / "bin" / "gpulse")
    assert program_found(python, folder) == str(folder / "bin" / "gpulse")


def test_scripts_called_gpulse_are_passed_over(wheel: Path, tmp_path: Path) -> None:
    """A script that starts `python -m gpulse`, which would start it again."""
    python = install(wheel, tmp_path / "venv")
    script = tmp_path / "script" / "gpulse"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nexec {python} -m gpulse \"$@\"\n")
    script.chmod(0o755)
    native = python.with_name("gpulse").rename(tmp_path / "gpulse")
    shutil.copy(script, python.with_name("gpulse"))
    path = f"{script.parent}:/usr/bin:/bin"
    done = subprocess.run([script, "--version"], env=environment(PATH=path), capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "gpulse: the gpulse program is not installed: reinstall gpulse, or set GPULSE_PROGRAM\n"
    for more in ({"PATH": f"{path}:{tmp_path}"}, {"PATH": path, "GPULSE_PROGRAM": str(native)}):
        assert run(script, "--version", **more) == f"gpulse {VERSION}\n"
    done = subprocess.run([script], env=environment(PATH=path, GPULSE_PROGRAM=str(script)), capture_output=True,
                          text=True, timeout=20)  # fmt: skip
    assert done.stderr == f"gpulse: GPULSE_PROGRAM={script} is not the gpulse program: set it right, or not at all\n"


def test_pip_installs_the_source_archive_without_a_network(tmp_path: Path) -> None:
    if run("git", "-C", ROOT, "status", "--porcelain", "--", "python", "tools/python_package.py"):
        pytest.skip("the package has files that are not committed: an archive would lack them")
    script = "import python_package, sys; print(python_package.build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", script, tmp_path, PYTHONPATH=str(BUILDER.parent)).strip()
    python = install(tmp_path / name, tmp_path / "venv")
    assert run(python.with_name("gpulse"), "--version") == f"gpulse {VERSION}\n"


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [sys.executable, BUILDER, tmp_path], env={"PATH": str(empty)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("gpulse: no cmake here: on Debian and Ubuntu: apt-get install g++ cmake")
    assert done.stderr.count("\n") == 1


def test_it_is_python_3_9() -> None:
    for path in [*SOURCES.rglob("*.py"), BUILDER]:
        ast.parse(path.read_text(), path.name, feature_version=(3, 9))


PROGRAM = """
#include <gpulse/gpulse.h>
#include <stdio.h>
int main(void) { return puts(gpulse_version()) < 0; }
"""

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C)
find_package(gpulse 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE gpulse::gpulse)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def test_cmake_finds_the_installed_library(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "user.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "user") == f"{VERSION}\n"


def test_pkg_config_finds_the_installed_library(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "user.c").write_text(PROGRAM)
    paths = {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    assert run("pkg-config", "--modversion", "gpulse", **paths) == f"{VERSION}\n"
    flags = run("pkg-config", "--cflags", "--libs", "gpulse", **paths).split()
    run(shutil.which("cc") or "c++", tmp_path / "user.c", "-o", tmp_path / "user", *flags)
    assert run(tmp_path / "user", LD_LIBRARY_PATH=str(installed / "lib")) == f"{VERSION}\n"


def test_programs_ask_for_the_library_by_the_version_of_its_interface(installed: Path) -> None:
    link = installed / "lib" / "libgpulse.so"
    assert os.readlink(link).startswith("libgpulse.so.")
    assert f"[{os.readlink(link)}]" in run("readelf", "-d", link)
