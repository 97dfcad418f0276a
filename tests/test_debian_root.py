"""The Debian package in a fresh Debian: installed, used, removed, and nothing left behind. `make test-package` runs it:
it needs root, a mirror, and some minutes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from debian import make_packages
from harness import ROOT

pytestmark = pytest.mark.skipif("GPULSE_TEST_DEBIAN" not in os.environ, reason="make test-package runs it")

SUITE = os.environ.get("GPULSE_TEST_SUITE", "bookworm")
# What changes whenever anything is installed.
PASSING = ("/var/lib/dpkg", "/var/log", "/var/cache", "/proc", "/sys", "/dev", "/run/lock/gpulse", "/etc/ld.so.cache",
           "/var/lib/systemd", "/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-", "/packages", "/tmp")  # fmt: skip


def mirror() -> str:
    """The one that this machine itself installs from."""
    if named := os.environ.get("GPULSE_TEST_MIRROR"):
        return named
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    sites = [line.split()[0] for line in told.splitlines() if line.split()[1:] == [SUITE]]
    assert sites, f"apt knows no mirror of {SUITE}: GPULSE_TEST_MIRROR names one"
    return sites[0]


class Root:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str, code: int = 0) -> str:
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive", "MANWIDTH": "100"}  # fmt: skip
        done = subprocess.run(["chroot", self.folder, *words], env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def state(self) -> dict[str, str]:
        """Every file with what is in it, or where it leads."""
        found = {}
        for path, folders, names in os.walk(self.folder):
            here = "/" + str(Path(path).relative_to(self.folder)).lstrip(".")
            folders[:] = [name for name in folders if not f"{here}/{name}".replace("//", "/").startswith(PASSING)]
            for name in [*folders, *names]:
                shown = f"{here}/{name}".replace("//", "/")
                file = Path(path, name)
                if shown.startswith(PASSING):
                    continue
                found[shown] = f"-> {os.readlink(file)}" if file.is_symlink() else "folder" if file.is_dir() else str(hash(file.read_bytes()))
        return found


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def root(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    folder = tmp_path_factory.mktemp("root")
    made = subprocess.run(["debootstrap", "--variant=minbase", "--include=systemd,man-db,bash-completion", SUITE, folder, mirror()],
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stdout[-2000:]
    (folder / "packages").mkdir()
    for path in packages.values():
        shutil.copy(path, folder / "packages")
    made_root = Root(folder)
    made_root.run("groupadd", "--system", "render")  # udev makes it on a machine with devices
    yield made_root
    # debootstrap may have left it mounted, and what is below it is this machine's.
    subprocess.run(["umount", "--quiet", folder / "proc", folder / "sys"], check=False)
    assert not os.path.ismount(folder / "proc"), "still mounted"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def fresh(root: Root) -> dict[str, str]:
    return root.state()


@pytest.fixture(scope="module")
def installed(root: Root, packages: dict[str, Path], fresh: dict[str, str]) -> Root:
    root.run("dpkg", "--install", f"/packages/{packages['gpulse'].name}")
    return root


def test_lintian_has_nothing_to_say(packages: dict[str, Path]) -> None:
    debs = [str(path) for path in packages.values() if path.suffix == ".deb"]
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *debs], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_it_runs(installed: Root) -> None:
    assert installed.run("gpulse", "--version").startswith("gpulse ")
    assert "DEMO" in installed.run("gpulse", "--demo")
    assert installed.run("gpulse", "doctor", code=3).startswith("No GPU found.\n")


def test_its_manual_and_completion_are_found(installed: Root) -> None:
    assert "the live view" in installed.run("man", "gpulse-top")
    assert "the live view" in installed.run("man", "gpulse", "top")
    script = "source /usr/share/bash-completion/bash_completion; _completion_loader gpulse; complete -p gpulse"
    assert "_gpulse" in installed.run("bash", "-c", script)


def test_its_service_is_there_but_not_started_and_has_its_user(installed: Root) -> None:
    assert installed.run("systemctl", "is-enabled", "gpulse", code=1).strip() == "disabled"
    assert installed.run("getent", "passwd", "gpulse").endswith("/usr/sbin/nologin\n")
    installed.run("systemctl", "enable", "gpulse")
    assert installed.run("systemctl", "is-enabled", "gpulse").strip() == "enabled"


def give_driver(root: Root) -> None:
    """A package with an nvidia-smi of its own, as a driver's has."""
    folder = root.folder / "packages" / "driver"
    (folder / "DEBIAN").mkdir(parents=True)
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "DEBIAN/control").write_text("Package: driver\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: driver\n")
    (folder / "usr/bin/nvidia-smi").write_text("#!/bin/sh\necho \"the driver's own\"\n")
    (folder / "usr/bin/nvidia-smi").chmod(0o755)
    root.run("dpkg-deb", "--root-owner-group", "--build", "/packages/driver", "/packages/driver.deb")
    root.run("dpkg", "--install", "/packages/driver.deb")


def test_nvidia_smi_can_be_stood_in_for_and_given_back(installed: Root) -> None:
    """As docs/drop-in.md says it."""
    give_driver(installed)
    assert installed.run("nvidia-smi", "-L") == "the driver's own\n"

    installed.run("ln", "-s", "/usr/lib/gpulse/nvidia-smi", "/usr/local/bin/nvidia-smi")
    assert "the driver's own" not in installed.run("sh", "-c", "nvidia-smi --demo -L")
    installed.run("rm", "/usr/local/bin/nvidia-smi")

    installed.run("dpkg-divert", "--local", "--rename", "--divert", "/usr/bin/nvidia-smi.driver", "--add", "/usr/bin/nvidia-smi")
    installed.run("ln", "-s", "/usr/lib/gpulse/nvidia-smi", "/usr/bin/nvidia-smi")
    assert "the driver's own" not in installed.run("/usr/bin/nvidia-smi", "--demo", "-L")
    # An update of the driver leaves it alone.
    installed.run("dpkg", "--install", "/packages/driver.deb")
    assert "the driver's own" not in installed.run("/usr/bin/nvidia-smi", "--demo", "-L")
    installed.run("rm", "/usr/bin/nvidia-smi")
    installed.run("dpkg-divert", "--local", "--rename", "--remove", "/usr/bin/nvidia-smi")
    assert installed.run("nvidia-smi", "-L") == "the driver's own\n"
    installed.run("dpkg", "--purge", "driver")


def test_the_library_can_be_built_against(installed: Root, packages: dict[str, Path]) -> None:
    """By this machine's compiler, with nothing but what the packages put there."""
    names = [f"/packages/{packages[name].name}" for name in ("libgpulse1", "libgpulse-dev")]
    installed.run("dpkg", "--install", *names)
    assert "libgpulse.so.1" in installed.run("ldconfig", "-p")
    found = {"PKG_CONFIG_LIBDIR": str(installed.folder / "usr/lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(installed.folder),
             "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}  # fmt: skip
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gpulse"], env=os.environ | found, capture_output=True, text=True, check=True).stdout
    target = installed.folder / "packages" / "watch"
    subprocess.run(["cc", ROOT / "examples" / "c" / "watch.c", *flags.split(), "-o", target], check=True)
    assert installed.run("/packages/watch", "1") == "NVIDIA driver not installed\n"
    installed.run("dpkg", "--purge", "libgpulse-dev", "libgpulse1")


def test_nothing_is_left_when_it_is_gone(installed: Root, fresh: dict[str, str]) -> None:
    (installed.folder / "var/lib/gpulse").mkdir(exist_ok=True)
    (installed.folder / "var/lib/gpulse/history.db").touch()
    installed.run("dpkg", "--remove", "gpulse")
    assert (installed.folder / "var/lib/gpulse/history.db").exists(), "what was measured is kept until a purge"
    installed.run("dpkg", "--purge", "gpulse")
    left = installed.state()
    assert sorted(set(left) - set(fresh)) == []
    assert sorted(name for name in fresh if left.get(name) != fresh[name]) == []
    assert not (installed.folder / "run/lock/gpulse").exists()
