"""What is in the Debian packages and the tarball, without installing them; tests/test_debian_root.py does that."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from debian import make_packages
from harness import ROOT, environment, run

VERSION = "0.1.0"

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb here")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def unpacked(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-x", packages["gpulse"], folder], check=True)
    return folder


def field(package: Path, name: str) -> str:
    return run(["dpkg-deb", "--field", package, name], environment()).out.strip()


def files(package: Path) -> dict[str, str]:
    """Every file with how it is listed: mode and owner."""
    listed = run(["dpkg-deb", "--contents", package], environment()).lines
    rows = [line.split(maxsplit=5) for line in listed if not line.startswith("d")]
    return {row[5].removeprefix("./").split(" -> ")[0].split(" link to ")[0]: f"{row[0]} {row[1]}" for row in rows}


def test_each_package_has_its_own_files_and_no_others(packages: dict[str, Path]) -> None:
    own = files(packages["gpulse"])
    assert own["usr/bin/gpulse"] == "-rwxr-xr-x root/root"
    for name in ("usr/lib/systemd/system/gpulse.service", "usr/lib/systemd/user/gpulse.service",
                 "usr/lib/sysusers.d/gpulse.conf", "usr/lib/tmpfiles.d/gpulse.conf",
                 "usr/share/man/man1/gpulse.1.gz", "usr/share/man/man1/gpulse-top.1.gz",
                 "usr/share/bash-completion/completions/gpulse", "usr/share/zsh/vendor-completions/_gpulse",
                 "usr/share/fish/vendor_completions.d/gpulse.fish", "usr/share/doc/gpulse/copyright"):  # fmt: skip
        assert own[name] == "-rw-r--r-- root/root", name
    assert not [name for name in own if name.startswith(("usr/local", "usr/bin/nvidia", "usr/bin/gpustat", "usr/include"))]
    assert f"usr/lib/libgpulse.so.{VERSION}" in files(packages["libgpulse1"])
    assert {"usr/include/gpulse/gpulse.h", "usr/lib/libgpulse.so", "usr/lib/pkgconfig/gpulse.pc"} <= set(files(packages["libgpulse-dev"]))
    everything = [name for package in ("gpulse", "libgpulse1", "libgpulse-dev") for name in files(packages[package])]
    assert len(everything) == len(set(everything))


def test_it_asks_for_the_glibc_that_the_program_needs(packages: dict[str, Path], unpacked: Path) -> None:
    told = run(["readelf", "--wide", "--version-info", unpacked / "usr/bin/gpulse"], environment()).out
    newest = max(tuple(map(int, each)) for each in re.findall(r"GLIBC_(\d+)\.(\d+)", told))
    assert field(packages["gpulse"], "Depends") == f"libc6 (>= {newest[0]}.{newest[1]})"
    assert field(packages["gpulse"], "Version") == f"{VERSION}-1"
    assert field(packages["libgpulse-dev"], "Depends") == f"libgpulse1 (= {VERSION}-1)"


def test_its_program_runs_and_is_stripped(unpacked: Path) -> None:
    program = unpacked / "usr/bin/gpulse"
    assert run([program, "--version"], environment()).out == f"gpulse {VERSION}\n"
    assert "no symbols" in run(["nm", program], environment()).err


@pytest.mark.parametrize("name, words", [("nvidia-smi", "gpulse smi"), ("gpustat", "usage: gpustat")])
def test_a_link_to_another_programs_name_keeps_it_when_it_is_resolved(unpacked: Path, tmp_path: Path, name: str, words: str) -> None:
    link = tmp_path / name
    link.symlink_to(unpacked / "usr/lib/gpulse" / name)
    for path in (link, Path(os.path.realpath(link))):
        assert words in run([path, "--demo", "-h"], environment()).out
    assert (unpacked / "usr/lib/gpulse" / name).stat().st_ino == (unpacked / "usr/bin/gpulse").stat().st_ino


def test_a_link_that_has_lost_its_program_lets_the_drivers_own_through(tmp_path: Path) -> None:
    """What is left in /usr/local/bin when the package is gone."""
    for folder in ("local", "usr"):
        (tmp_path / folder).mkdir()
    (tmp_path / "local" / "nvidia-smi").symlink_to(tmp_path / "gone" / "nvidia-smi")
    (tmp_path / "usr" / "nvidia-smi").write_text("#!/bin/sh\necho \"the driver's own\"\n")
    (tmp_path / "usr" / "nvidia-smi").chmod(0o755)
    path = f"{tmp_path}/local:{tmp_path}/usr:{os.environ['PATH']}"
    assert run(["sh", "-c", "nvidia-smi"], environment(PATH=path)).out == "the driver's own\n"


def test_licences_of_what_is_inside_come_with_it(unpacked: Path) -> None:
    notices = gzip.decompress((unpacked / "usr/share/doc/gpulse/third-party.gz").read_bytes()).decode()
    for name in ("libfmt-dev", "libcli11-dev", "libssl-dev", "libsqlite3-dev", "zlib1g-dev"):
        assert f"==> {name}\n" in notices, name
    for holder in ("Martin Mares", "Advanced Micro Devices"):
        assert holder in notices


def test_the_same_tree_gives_the_same_packages(packages: dict[str, Path], tmp_path: Path) -> None:
    again = make_packages(tmp_path)
    assert {name: path.read_bytes() for name, path in again.items()} == {name: path.read_bytes() for name, path in packages.items()}


def test_the_tarball_is_the_program_with_its_pages(packages: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(packages["tar"]) as archive:
        archive.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    assert re.fullmatch(rf"gpulse-{re.escape(VERSION)}-linux-\w+", root.name)
    assert run([root / "bin" / "gpulse", "--version"], environment()).out == f"gpulse {VERSION}\n"
    assert (root / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (root / "share/man/man1/gpulse.1").is_file() and (root / "share/zsh/site-functions/_gpulse").is_file()


@pytest.mark.parametrize("script", sorted((ROOT / "packaging" / "debian").glob("gpulse.p*r*")), ids=lambda path: path.suffix[1:])
def test_its_scripts_do_nothing_where_nothing_is_installed(script: Path, tmp_path: Path) -> None:
    """In a root without systemd and without the user: on an upgrade, and when an installation is taken back."""
    for word in ("upgrade", "abort-install", "failed-upgrade"):
        assert run(["/bin/sh", "-e", script, word], {"PATH": str(tmp_path)}).code == 0, word
