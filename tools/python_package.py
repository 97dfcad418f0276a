#!/usr/bin/env python3
"""Builds the wheel of the Python package: python/gpulse, libgpulse.so and the command, in one archive for any Python.

`pip install .` calls build_wheel() (PEP 517), `make package` runs this file. What has to be compiled is compiled in
build/ where that is configured, else in build/package; GPULSE_BUILD names a folder that has everything already.
SOURCE_DATE_EPOCH sets the times in the archives.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any, NoReturn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "gpulse"
MODULES = (ROOT / "python" / "pytest_gpulse.py",)
PRODUCTS = ("gpulse", "libgpulse.so")
# The first time that a zip archive can hold.
OLDEST = 315532800


def fail(what: str, remedy: str) -> NoReturn:
    sys.exit(f"gpulse: {what}: {remedy}")


# Metadata


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def version() -> str:
    stated = re.search(r"^project\(gpulse VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    if stated is None:
        fail("no version in CMakeLists.txt", "project(gpulse VERSION …) states it")
    return stated[1]


def stem() -> str:
    return f"gpulse-{version()}"


def metadata() -> str:
    about = project()
    readme = ROOT / str(about["readme"])
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {version()}",
        f"Summary: {about['description']}",
        f"License-Expression: {about['license']}",
        *(f"License-File: {name}" for name in about["license-files"]),
        f"Keywords: {','.join(about['keywords'])}",
        *(f"Classifier: {one}" for one in about["classifiers"]),
        f"Requires-Python: {about['requires-python']}",
        *(f"Requires-Dist: {one}" for one in about["dependencies"]),
        "Description-Content-Type: text/markdown; charset=UTF-8",
    ]
    return "\n".join(lines) + "\n\n" + readme.read_text(encoding="utf-8")


def entry_points() -> str:
    """What other programs find by their group, such as pytest its plugins."""
    groups: dict[str, dict[str, str]] = project().get("entry-points", {})
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in names.items()) for group, names in groups.items()
    )


def wheel_text(tag: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: gpulse {version()}\nRoot-Is-Purelib: false\nTag: {tag}\n"


def metadata_files(tag: str) -> dict[str, bytes]:
    folder = f"{stem()}.dist-info"
    files = {f"{folder}/licenses/{name}": (ROOT / name).read_bytes() for name in project()["license-files"]}
    files[f"{folder}/METADATA"] = metadata().encode()
    files[f"{folder}/WHEEL"] = wheel_text(tag).encode()
    files[f"{folder}/entry_points.txt"] = entry_points().encode()
    return files


# Compiling


def needed_packages() -> str:
    script = ROOT / "tools" / "install_dependencies.sh"
    listed = subprocess.run([str(script), "--list", "build"], capture_output=True, text=True, check=False)
    return listed.stdout.strip()


def run(command: list[str]) -> None:
    print("+", " ".join(command), flush=True)
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        fail(
            "the C++ part of the package cannot be built",
            f"the lines above say why; on Debian and Ubuntu it needs: apt-get install {needed_packages()}",
        )


def compiled() -> Path:
    """The folder that has the command and the library, built where they are not there yet."""
    if named := os.environ.get("GPULSE_BUILD"):
        return Path(named)
    if shutil.which("cmake") is None:
        fail("no cmake here", f"on Debian and Ubuntu: apt-get install {needed_packages()}")
    folder = ROOT / "build"
    if not (folder / "CMakeCache.txt").is_file():
        folder = folder / "package"
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        run(
            ["cmake", "-S", ".", "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DGPULSE_TESTS=OFF"]
            + ["-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
        )
    jobs = str(len(os.sched_getaffinity(0)))
    run(["cmake", "--build", str(folder), "--parallel", jobs, "--target", "gpulse", "gpulse_shared"])
    return folder


def stripped(path: Path) -> bytes:
    """Without the symbols that only a debugger reads."""
    if not path.is_file():
        fail(f"no file {path}", "build it: make build")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        return copy.read_bytes()


def needed_glibc(paths: list[Path]) -> tuple[int, int]:
    """The oldest on which all of them run; (0, 0): any."""
    newest = (0, 0)
    for path in paths:
        told = subprocess.run(
            ["readelf", "--wide", "--version-info", str(path)], capture_output=True, text=True, check=True
        ).stdout
        for major, minor in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", told):
            newest = max(newest, (int(major), int(minor)))
    return newest


def platform_tag(paths: list[Path]) -> str:
    newest = needed_glibc(paths)
    machine = os.uname().machine
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}" if newest > (0, 0) else f"linux_{machine}"


# Archives


def build_time() -> int:
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", OLDEST)), OLDEST)


def write_zip(path: Path, files: dict[str, bytes], programs: set[str]) -> None:
    moment = time.gmtime(build_time())[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(entry, content)


def record(files: dict[str, bytes], own_name: str) -> bytes:
    def line(name: str, content: bytes) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(content)}"

    return "\n".join([*(line(name, content) for name, content in files.items()), f"{own_name},,", ""]).encode()


def python_files() -> dict[str, bytes]:
    if not (PACKAGE / "__init__.py").is_file():
        fail(f"no {PACKAGE.relative_to(ROOT)}/__init__.py", "build from a whole checkout or source archive")
    wanted = sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".pyi"} or path.name == "py.typed")
    return {path.relative_to(PACKAGE.parent).as_posix(): path.read_bytes() for path in [*wanted, *MODULES]}


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    folder = compiled()
    program, library = (folder / name for name in PRODUCTS)
    files = python_files()
    files["gpulse/libgpulse.so"] = stripped(library)
    script = f"{stem()}.data/scripts/gpulse"
    files[script] = stripped(program)
    tag = f"py3-none-{platform_tag([program, library])}"
    files.update(metadata_files(tag))
    own_name = f"{stem()}.dist-info/RECORD"
    files[own_name] = record(files, own_name)
    name = f"{stem()}-{tag}.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    write_zip(Path(wheel_directory) / name, files, {script, "gpulse/libgpulse.so"})
    return name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """So that pip knows what it is about without a compiler's help."""
    for name, content in metadata_files("py3-none-any").items():
        path = Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return f"{stem()}.dist-info"


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        fail("a source archive is made from a git checkout", "this is none")
    sources = {name: ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:

        def add(name: str, data: bytes, mode: int) -> None:
            entry = tarfile.TarInfo(f"{stem()}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, build_time()
            archive.addfile(entry, io.BytesIO(data))

        add("PKG-INFO", metadata().encode(), 0o644)
        for name, path in sorted(sources.items()):
            add(name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
    name = f"{stem()}.tar.gz"
    Path(sdist_directory).mkdir(parents=True, exist_ok=True)
    with open(Path(sdist_directory) / name, "wb") as file:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=build_time()) as packed:
            packed.write(content.getvalue())
    return name


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python_package.py FOLDER")
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
