"""Every command in the README and in docs/ does what it is shown for: it is run here, on the simulator, as it stands."""

from __future__ import annotations

import html
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent import open_folder
from harness import BUILD, GPULSE, ROOT, environment
from web import WebAgent

# metrics.md and findings.md are written by the program; CONTRIBUTING.md's walkthroughs have a test of their own.
GENERATED = {"metrics.md", "findings.md"}
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED)]
PROGRAMS = "gpulse|nvidia-smi|gpustat|curl|make|sudo|systemctl|journalctl|ssh|docker|pip|python|tensorboard|export|ln|git|openssl|htpasswd|install|cc|c\\+\\+|promtool|dpkg-divert"

# What cannot be run here, and why. A row that no page needs any more is a mistake.
LEFT_OUT = {
    r"git clone .*": "needs the address of the repository",
    r"(sudo -u gpulse )?gpulse --config /etc/gpulse/config\.toml .*": "needs the service's own configuration",
    r"docker run .*": "needs a container",
    r"ssh .*": "needs another machine",
    r"(sudo )?systemctl .*|journalctl .*|sudo systemd-sysusers": "needs the system's own services; tests/test_service_unit.py tries the units",
    r"(sudo )?make install( .*)?|pip install \.|make package": "tests/test_package.py installs into folders of its own",
    r"sudo apt install .*|sudo (ln|rm|dpkg-divert) .*": "tests/test_debian_root.py does it in a fresh root",
    r"(sudo )?gpulse set .*": "asks at a terminal: tests/test_settings.py changes settings",
    r"make( run| test)?|make (check|asan|tsan|fuzz|help|format|clients|docs|test-integrations)": "is how this test came to run, or takes minutes",
    r"cc( .*)?|c\+\+ .*": "tests/test_library.py compiles the examples",
    r"sudo install -D .*": "writes below /etc: tests/test_cluster.py runs the two",
    r"install -m 640 .*|openssl rand .*|htpasswd .*": "writes below /etc",
    r"tensorboard.*|promtool .*": "another program: tests/test_python_tensorboard.py, tests/test_log_prometheus.py",
    r"curl .* \| jq .*": "needs jq; the same is asked for without it",
    r"python -c .*|python train\.py": "tests/test_python.py has the library",
    r"gpulse (serve --open|serve --demo --open)": "needs a desktop: tests/test_page.py opens the page in a browser",
    r"gpulse serve --listen 0\.0\.0\.0.*": "would be reachable from outside: tests/test_web_safety.py",
    r"gpulse report --url.*": "needs an engine: tests/test_report_engine.py asks two",
    r"gpulse fleet.*": "needs an engine: tests/test_fleet.py asks two",
    r"gpulse serve --fleet.*": "needs an engine: tests/test_fleet_page.py",
    r"gpulse top .*--host .*": "needs an engine: tests/test_fleet_terminal.py",
    r"gpulse rules --format scrape --metrics usual": "half a command, named in a sentence",
    r"gpulse diagnose --since|gpulse --replay|nvidia-smi --query-gpu|gpulse explain (ID|…)|gpulse (record|run|set|run -- CMD|log --format prometheus)|nvidia-smi --query-gpu=\S+": "half a command, named in a sentence",
}


def commands_of(page: Path) -> Iterator[str]:
    """Lines of indented blocks and pieces in code type that begin with a program; without the note behind them."""
    fenced = False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            # "$ gpulse …" stands before its output; two blanks end a command that has words behind it.
            found = re.match(rf"(?:    )?(?:\$ )?((?:{PROGRAMS})(?: \S+)*)", line)
            if found and not re.match(r"gpulse(:|_| +\S+ +\|)", line.strip()):
                yield found[1].split(" #")[0].strip()
        else:
            for piece in re.findall(r"`([^`]+)`", line):
                if re.fullmatch(rf"(?:{PROGRAMS})(?: .+)?", piece):
                    yield html.unescape(piece)


SHOWN = sorted({command for page in PAGES for command in commands_of(page)})
RUN = [command for command in SHOWN if not any(re.fullmatch(row, command) for row in LEFT_OUT)]

# These go on until they are ended.
ENDLESS = re.compile(r"gpulse (serve|record|log)\b|.* --watch\b|(gpulse )?(nvidia-smi|smi) -l|(gpulse )?gpustat -i|curl -sN")
ON_A_TERMINAL = re.compile(r"gpulse top\b")


@dataclass
class Sandbox:
    folder: Path
    port: int
    agent: str

    def prepared(self, command: str) -> str:
        """The paths and the port of this sandbox, and times at which it has something."""
        command = re.sub(r"(/var/log|/var/lib/prometheus/node-exporter|/etc/prometheus)", str(self.folder), command)
        command = command.replace("9837", str(self.port)).replace("GPU-1a2b", "0").replace("--pid 4711", f"--pid {os.getpid()}")
        command = command.replace("--user ann", f"--user {pwd.getpwuid(os.geteuid()).pw_name}")
        command = re.sub(r"--from \d\d:\S+ --to \d\d:\S+", "--since 1h", command)
        command = re.sub(r" (F|FILE|trace\.csv)\b", lambda each: {" F": " night.gpr", " FILE": f" {self.folder}/history.db", " trace.csv": f" {ROOT}/data/h200_trace.csv"}[each[0]], command)
        # Reports are made of whole minutes.
        command = command.replace("gpulse report", f"gpulse report --history {self.folder}/days.db")
        command = command.replace("--from 30s --to 55s", "--from 0s --to 1s").replace(" -i 3", " -i 1").replace(" -i 5 -i 6", " -i 0 -i 1")
        looks_now = re.fullmatch(r"gpulse diagnose( --json)?", command)
        return f"{command} --for 3s" if looks_now else command

    def run(self, command: str) -> str:
        """What is wrong with it; nothing where it ended as it should."""
        line = self.prepared(command)
        if ON_A_TERMINAL.match(line):
            # Whoever types may be late: the program has ended by itself.
            typed = f"set +o pipefail; (sleep 1; printf q; sleep 0.5; printf q) | script -qec {shlex.quote('stty rows 30 cols 100; ' + line)} /dev/null"
            return self.finish(typed, endless=False)
        return self.finish(line, endless=bool(ENDLESS.match(line)) and " -- " not in line and "--count" not in line)

    def finish(self, line: str, endless: bool) -> str:
        with open_folder() as own:
            for name in ("night.gpr", "node7.xml", "train.py", "hosts.txt"):
                if "record -o" not in line:
                    shutil.copy(self.folder / name, own)
            shutil.copytree(self.folder / "config", own / ".config")
            env = environment(self.folder / "two.toml", GPULSE_AGENT=str(own / "agent") if "gpulse serve" in line else self.agent,
                              PATH=f"{self.folder}/bin:{os.environ['PATH']}", HOME=str(own), GPULSE_LEASES=str(own))  # fmt: skip
            with subprocess.Popen(["bash", "-c", f"set -o pipefail; exec {line}" if endless else f"set -o pipefail; {line}"], cwd=own,
                                  env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
                if endless:
                    time.sleep(1.5)
                    process.send_signal(signal.SIGINT)
                try:
                    out, err = process.communicate(timeout=60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    return f"{line}: does not end"
            # Those that end by the signal itself, as nvidia-smi does.
            interrupted = endless and line.startswith(("curl", "gpulse smi", "nvidia-smi")) and process.returncode in (130, -signal.SIGINT)
            return "" if process.returncode == 0 or interrupted else f"{line}: exit {process.returncode}: {(err or out)[-300:]}"


# Idle, so that there is something to pick; the process is this one, and so the user's own.
TWO = """
[[device]]
profile = "h100"
memory_used_mib = 600
gpu_util = 0

[[device]]
profile = "h100"
memory_used_mib = 600
gpu_util = 0

[[process]]
device = 0
pid = {pid}
memory_mib = 100
"""

TRAIN = "print('trained')\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_folder() as folder:
        (folder / "bin").mkdir()
        (folder / "bin" / "gpulse").symlink_to(GPULSE)
        (folder / "bin" / "python").symlink_to(sys.executable)
        for name in ("nvidia-smi", "gpustat"):
            os.link(GPULSE, folder / "bin" / name) if GPULSE.stat().st_dev == folder.stat().st_dev else shutil.copy(GPULSE, folder / "bin" / name)
        (folder / "two.toml").write_text(TWO.format(pid=os.getpid()))
        (folder / "train.py").write_text(TRAIN)
        (folder / "hosts.txt").write_text("node[001-128]\n")
        env = environment(folder / "two.toml")
        subprocess.run([GPULSE, "record", "-o", folder / "night.gpr", "--count", "60", "--interval", "20ms"], env=env, check=True, capture_output=True)
        (folder / "node7.xml").write_bytes(subprocess.run([GPULSE, "smi", "-q", "-x"], env=env, check=True, capture_output=True).stdout)
        days = [BUILD / "tests" / "make_history", folder / "days.db", str(int(time.time()) // 60 * 60), "4320", "4", "6", "report"]
        subprocess.run(days, check=True)
        (folder / "config" / "gpulse").mkdir(parents=True)
        (folder / "config" / "gpulse" / "config.toml").write_text('[[alerts.receiver]]\nname = "log"\nkind = "log"\n')
        with WebAgent(folder / "agent", "--history", folder / "history.db", scenario=folder / "two.toml", XDG_CONFIG_HOME=str(folder / "config")) as agent:
            yield Sandbox(folder, agent.port, str(folder / "agent"))


def test_there_are_commands_to_run() -> None:
    assert len(RUN) > 60 and "gpulse doctor" in RUN and any(command.startswith("curl") for command in RUN)


def test_what_is_left_out_is_still_shown() -> None:
    """Also that no row leaves out more than it means to: each says why for what it fits."""
    unused = [row for row in LEFT_OUT if not any(re.fullmatch(row, command) for command in SHOWN)]
    assert unused == []


def test_every_command_runs(sandbox: Sandbox) -> None:
    # While the agent has let go of the drivers, the others would see nothing; what is silent must have been made so.
    alone = [command for command in RUN if command.startswith(("gpulse agent re", "gpulse alert "))]
    with ThreadPoolExecutor(8) as pool:
        problems = [problem for problem in pool.map(sandbox.run, [each for each in RUN if each not in alone]) if problem]
    problems += [problem for problem in map(sandbox.run, alone) if problem]
    assert problems == [], "\n".join(problems)
