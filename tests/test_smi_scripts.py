"""Scripts written for nvidia-smi run on gpulse unchanged: programs and command lines that people published.

The articles they come from lie beside the checkout, where there are any; nothing of theirs is kept here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest

from harness import GPULSE, ROOT, environment, run

SEEDS = ROOT.parent / "shared" / "seeds"

# One H200 under load, with a process that is really there.
SCENARIO = """
[[device]]
profile = "h200"
gpu_util = 90
memory_util = 23
memory_used_mib = 1138.8125
temperature = 63

[[process]]
device = 0
pid = {pid}
command = "sleep"
memory_mib = 1130
"""


def article(number: str) -> str:
    if not SEEDS.is_dir():
        pytest.skip("no shared fixtures")
    return next(SEEDS.glob(f"{number}_*.txt")).read_text(errors="replace")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def job() -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


@pytest.fixture
def machine(tmp_path: Path, job: int) -> dict[str, str]:
    """The environment of somebody whose nvidia-smi is ours."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvidia-smi").symlink_to(GPULSE)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO.format(pid=job))
    env = environment(scenario)
    return env | {"PATH": f"{tmp_path / 'bin'}:{env['PATH']}", "HOME": str(tmp_path)}


def first_lines(command: str, env: dict[str, str], seconds: float) -> tuple[int, str]:
    """What a command line prints until it ends or the time is over."""
    with subprocess.Popen(
        command, shell=True, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=env["HOME"]
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            out, _ = process.communicate()
        return process.returncode, out


def test_the_background_reader_in_python(machine: dict[str, str], tmp_path: Path) -> None:
    program, _ = blocks(article("000"), "python")[:2]
    (tmp_path / "reader.py").write_text(program)
    (tmp_path / "use.py").write_text(
        "import itertools, json, reader\n"
        "for row in itertools.islice(reader.gen_gpu_stats(1), 2):\n"
        "    print(json.dumps(vars(row)), flush=True)\n"
        "import os; os._exit(0)\n"
    )
    code, out = first_lines(f"{sys.executable} use.py", machine, 20)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["index"] for row in rows] == [0, 0]
    assert rows[0]["memory_used"] == pytest.approx(100 * 1139 / 143771)
    assert rows[0]["temperature"] == 63
    assert rows[0]["gpu_utilization"] == 90


def command_lines() -> list[str]:
    """Every nvidia-smi command line of the articles: behind a prompt, in backquotes, or a line of its own."""
    found: list[str] = []
    for path in sorted(SEEDS.glob("*.txt")) if SEEDS.is_dir() else []:
        text = re.sub(r"\s*\\\n\s*", " ", path.read_text(errors="replace"))
        for line in text.splitlines():
            candidates = re.findall(r"`([^`]*nvidia-smi[^`]*)`", line)
            stripped = line.strip().removeprefix("$ ")
            if re.match(r"(watch .*)?nvidia-smi( -|$)", stripped):
                candidates.append(stripped)
            for command in candidates:
                words = command.split("|")[0].strip()
                is_command = re.fullmatch(r"(watch (-\S+ ?\d* )*)?nvidia-smi( -.*)?", words)
                if is_command and "{" not in words and "..." not in words and words not in found:
                    found.append(words)
    return found


@pytest.mark.parametrize("command", command_lines() or [pytest.param("", marks=pytest.mark.skip("no shared fixtures"))])
def test_a_published_command_line(command: str, machine: dict[str, str]) -> None:
    # What watch runs is the rest of its line; it wants a terminal for itself only.
    inner = re.sub(r"^watch (-\S+( \d+)? )*", "", command)
    code, out = first_lines(inner, machine, 2.5)
    loops = re.search(r"(-l|--loop)[= ]", inner) is not None
    assert code == (-signal.SIGTERM if loops else 0), out
    if "--query-compute-apps" in inner:
        assert re.search(r"NVIDIA H200, \d+, 1130 MiB", out)
    elif "UTILIZATION" in inner:
        assert out.count("GPU                                            : 90 %") >= 2
    elif "--query-gpu" in inner:
        assert "P0, 63, 90 %, 23 %, 143771 MiB, 142018 MiB, 1139 MiB" in out
    else:
        assert "1139MiB / 143771MiB" in out
        assert "90%" in out


def test_the_articles_have_command_lines() -> None:
    article("002")
    assert len(command_lines()) >= 5


def test_the_reader_in_go(machine: dict[str, str], tmp_path: Path) -> None:
    text = article("003")
    compiler = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(compiler).exists():
        pytest.skip("no Go compiler")
    program = next(block for block in blocks(text, "go") if "package domain" in block)
    program = program.replace("package domain", "package main")
    program = program.replace('"/usr/bin/nvidia-smi"', f'"{tmp_path / "bin" / "nvidia-smi"}"')
    (tmp_path / "domain.go").write_text(program)
    (tmp_path / "use.go").write_text(
        'package main\n\nimport (\n\t"encoding/json"\n\t"os"\n)\n\n'
        "func main() {\n\tvar gpu Gpu\n\tgpu.GpuInfo()\n\tjson.NewEncoder(os.Stdout).Encode(gpu)\n}\n"
    )
    env = machine | {"GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    built = subprocess.run(
        [compiler, "build", "-o", "reader", "domain.go", "use.go"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    done = run([tmp_path / "reader"], machine)
    gpu = json.loads(done.out)
    assert gpu["temp"] == [{"data": ["63", "63C"], "name": 0}]
    assert gpu["usage"] == [{"data": ["1139", "1139Mib/143771Mib"], "name": 0}]
    # It divides what is used by what is used: its own mistake, with any nvidia-smi.
    assert gpu["usedPercent"] == [{"data": ["1.00", "1.00%"], "name": 0}]
    ours = json.loads(run([GPULSE, "--json"], machine).out)["devices"][0]["metrics"]
    assert 100 * ours["memory_used_bytes"] / ours["memory_total_bytes"] == pytest.approx(0.792, abs=0.001)


def test_gputil(machine: dict[str, str]) -> None:
    program = (
        "import GPUtil, json\n"
        "print(json.dumps([[g.id, g.name, g.load, g.memoryTotal, g.memoryUsed, g.memoryFree, g.temperature, g.driver,\n"
        "                   g.display_mode, g.display_active] for g in GPUtil.getGPUs()]))\n"
    )
    done = run([sys.executable, "-W", "ignore", "-c", program], machine)
    assert done.code == 0, done.err
    assert json.loads(done.out) == [
        [0, "NVIDIA H200", 0.9, 143771.0, 1139.0, 142018.0, 63.0, "580.159.04",
         "[Requested functionality has been deprecated]", "Disabled"]
    ]  # fmt: skip
