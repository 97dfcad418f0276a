"""Fifty processes of two users take eight GPUs from each other's hands while some of them are killed: never two holders
of one GPU, and no lease left behind. GPULSE_PICK_ROUNDS sets how many rounds (make soak: 200)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent import AS_NOBODY, NOBODY, needs_root, open_folder
from harness import GPULSE, environment, run
from test_pick import FREE, compiler

ROUNDS = int(os.environ.get("GPULSE_PICK_ROUNDS", "3"))
PROCESSES, KILLS = 50, 15

# Says when it has its GPUs and when it is about to let go of them, on the clock that all processes share. Not in
# Python, which may lie where only root may go.
HOLDER = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void say(int journal, const char *word, const char *gpus) {
  char line[512];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int size = snprintf(line, sizeof line, "%s %d %lld %s\\n", word, (int)getpid(),
                      now.tv_sec * 1000000000LL + now.tv_nsec, gpus);
  if (write(journal, line, (size_t)size) != size) abort();
}

int main(int count, char **words) {
  int journal = open(words[count - 2], O_WRONLY | O_APPEND);
  say(journal, "start", getenv("CUDA_VISIBLE_DEVICES"));
  usleep((unsigned)atoi(words[count - 1]));
  say(journal, "end", "");
  return 0;
}
"""


@dataclass
class Hold:
    begun: int
    uuids: list[str]
    ended: int | None = None


@dataclass
class Race:
    folder: Path
    env: dict[str, str]
    holds: int = 0
    killed_holding: int = 0
    killed_otherwise: int = 0
    problems: list[str] = field(default_factory=list)

    def command(self, chance: random.Random) -> list[str]:
        count = chance.choice(["1", "1", "2", "3"])
        holder = [self.folder / "holder", self.folder / "journal", chance.randrange(100_000)]
        words = [GPULSE, "pick", "-n", count, "--wait", "2m", "--", *holder]
        return [str(word) for word in words]

    def round(self, chance: random.Random) -> None:
        journal = self.folder / "journal"
        journal.write_text("")
        journal.chmod(0o666)
        running: list[subprocess.Popen[bytes]] = []
        killed: dict[int, int] = {}
        for number in range(PROCESSES):
            prefix = AS_NOBODY if number % 2 else []
            running.append(subprocess.Popen([*prefix, *self.command(chance)], env=self.env, stderr=subprocess.PIPE))
            if chance.random() < 0.2:
                self.kill_one(running, killed, chance)
        while len(killed) < KILLS and any(process.poll() is None for process in running):
            time.sleep(chance.uniform(0, 0.03))
            self.kill_one(running, killed, chance)
        for process in running:
            _, said = process.communicate(timeout=120)
            expected = -signal.SIGKILL if process.pid in killed and process.returncode != 0 else 0
            if process.returncode != expected:
                self.problems.append(f"exit {process.returncode}: {said.decode()}")
        self.judge(journal.read_text(), killed)
        # Nothing is held any more, for either user.
        for prefix in ([], AS_NOBODY):
            left = run([*prefix, GPULSE, "pick", "-n", "8"], self.env)
            if left.code != 0:
                self.problems.append(f"left behind: {left.err}")

    def kill_one(self, running: list[subprocess.Popen[bytes]], killed: dict[int, int], chance: random.Random) -> None:
        """Notes the time a moment before, so that it surely lived until then."""
        process = chance.choice(running)
        if process.poll() is None and process.pid not in killed and len(killed) < KILLS:
            killed[process.pid] = time.monotonic_ns()
            process.kill()

    def judge(self, journal: str, killed: dict[int, int]) -> None:
        holds: dict[int, Hold] = {}
        for line in journal.splitlines():
            word, pid, moment, *uuids = line.split()
            if word == "start":
                holds[int(pid)] = Hold(int(moment), uuids[0].split(","))
            else:
                holds[int(pid)].ended = int(moment)
        by_gpu = defaultdict(list)
        for pid, hold in holds.items():
            # One that was killed while it held had them until then at least.
            ended = hold.ended if hold.ended is not None else killed[pid]
            for uuid in hold.uuids:
                by_gpu[uuid].append((hold.begun, ended, pid))
        for uuid, times in by_gpu.items():
            times.sort()
            for (_, ended, one), (begun, _, other) in zip(times, times[1:]):
                if begun < ended:
                    self.problems.append(f"{uuid} was held by {one} and {other} for {(ended - begun) / 1e6} ms")
        self.holds += len(holds)
        holding = sum(1 for hold in holds.values() if hold.ended is None)
        self.killed_holding += holding
        self.killed_otherwise += len(killed) - holding


@pytest.fixture
def race() -> Iterator[Race]:
    needs_root()
    with open_folder() as folder:
        (folder / "free.toml").write_text(FREE)
        (folder / "holder.c").write_text(HOLDER)
        subprocess.run([compiler(), "-o", folder / "holder", folder / "holder.c"], check=True)
        # Whoever comes first makes it: either user.
        (folder / "shared").mkdir()
        (folder / "shared").chmod(0o1777)
        yield Race(folder, environment(folder / "free.toml", GPULSE_LEASES=str(folder / "shared" / "leases")))


def test_no_two_hold_one_gpu_and_none_is_left_held(race: Race) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        race.round(chance)
        assert not race.problems, f"seed {seed}: {race.problems}"
    owners = {path.stat().st_uid for path in (race.folder / "shared" / "leases").iterdir()}
    print(
        f"{ROUNDS} rounds, {race.holds} holds, {race.killed_holding} killed while holding, "
        f"{race.killed_otherwise} before; protected_regular="
        f"{Path('/proc/sys/fs/protected_regular').read_text().strip()}, files of users {sorted(owners)}"
    )
    assert race.holds >= ROUNDS * (PROCESSES - KILLS)
    assert owners <= {0, NOBODY}
