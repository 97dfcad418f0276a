"""The agent's services as they are installed: systemd finds no fault in them, and they can do little harm."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import BUILD, ROOT, Result, run

SYSTEM = Path("lib/systemd/system/gpulse.service")
USER = Path("lib/systemd/user/gpulse.service")
USERS = Path("lib/sysusers.d/gpulse.conf")
# Of 10, as systemd counts: what is left are the GPUs, /proc, the names of users, the host's network interfaces, and answers
# over HTTP to programs of this machine.
MOST_EXPOSED = 1.7


def install(prefix: Path, destination: Path | str = "", systemd: str = "yes") -> Path:
    """What `make install` does, with the program that is tested; gives the folder that everything lies in."""
    words = [f"PREFIX={prefix}", f"DESTDIR={destination}", f"BUILT={BUILD}", f"SYSTEMD={systemd}"]
    subprocess.run(["make", "-C", ROOT, "-o", "build", "install", *words], check=True, capture_output=True)
    return Path(f"{destination}{prefix}")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("usr"))


def systemd(tool: str, *words: str | Path, folder: Path) -> Result:
    """`folder` has what a user's manager looks for in the environment."""
    return run([tool, *words], {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)})


@pytest.mark.parametrize("manager, unit", [("--system", SYSTEM), ("--user", USER)])
def test_systemd_has_nothing_to_say_about_it(installed: Path, tmp_path: Path, manager: str, unit: Path) -> None:
    done = systemd("systemd-analyze", manager, "verify", "--man=no", "--recursive-errors=no", installed / unit, folder=tmp_path)  # fmt: skip
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_fault_in_it_would_be_told(installed: Path, tmp_path: Path) -> None:
    faulty = tmp_path / SYSTEM.name
    faulty.write_text((installed / SYSTEM).read_text().replace("WatchdogSec=30s", "WatchdogSec=often"))
    done = systemd("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", faulty, folder=tmp_path)
    assert done.code != 0 and "often" in done.err


def test_it_can_do_little_harm(installed: Path, tmp_path: Path) -> None:
    limit = f"--threshold={round(10 * MOST_EXPOSED)}"
    done = systemd("systemd-analyze", "security", "--offline=yes", "--no-pager", limit, installed / SYSTEM, folder=tmp_path)  # fmt: skip
    assert done.code == 0, done.out
    level = re.search(r"Overall exposure level for gpulse.service: ([\d.]+)", done.out)
    assert level and float(level[1]) <= MOST_EXPOSED


def test_the_services_name_the_program_where_it_will_be(tmp_path: Path) -> None:
    package = install(Path("/opt/tools"), tmp_path)
    assert package == tmp_path / "opt" / "tools" and (package / "bin" / "gpulse").is_file()
    for unit in (SYSTEM, USER):
        text = (package / unit).read_text()
        assert "\nExecStart=/opt/tools/bin/gpulse serve\n" in text
        assert str(tmp_path) not in text and "@" not in re.sub("@[a-z-]+", "", text)


def test_without_being_asked_no_service_is_installed(tmp_path: Path) -> None:
    install(tmp_path, systemd="no")
    assert (tmp_path / "bin" / "gpulse").is_file()
    assert not [path for path in (SYSTEM, USER, USERS) if (tmp_path / path).exists()]


def test_its_user_has_no_home_no_login_and_the_groups_of_the_gpus(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    done = systemd("systemd-sysusers", f"--root={tmp_path}", installed / USERS, folder=tmp_path)
    assert done.code == 0, done.err
    users = {line.split(":")[0]: line.split(":") for line in (tmp_path / "etc/passwd").read_text().splitlines()}
    assert list(users) == ["gpulse"]
    assert users["gpulse"][5] == "/" and users["gpulse"][6].endswith("nologin")
    groups = {line.split(":")[0]: line.split(":")[3] for line in (tmp_path / "etc/group").read_text().splitlines()}
    assert groups == {"gpulse": "", "video": "gpulse", "render": "gpulse"}
