"""What goes wrong around an agent: readers say so in one line and read by themselves; an old value is never shown as
new."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from agent import NOBODY, Agent, Watch, needs_root, open_folder, wait_for
from harness import ROOT, SIM, Result, gpulse, only_line
from test_asleep import HARMLESS, Opened, suspended_machine

BY_ITSELF = "this program reads the GPUs by itself"

# The power rises all the time, so that an old value shows.
RISING = '[[device]]\nprofile = "h200"\npower_w = { steps = [[0, 100], [60, 700]], linear = true }\n'


def read_by_itself(folder: Path) -> Result:
    """A look at an H200 that says what is wrong with the agent's folder, and is right all the same."""
    result = gpulse("--json", scenario="single", GPULSE_AGENT=str(folder))
    assert result.code == 0
    (device,) = result.json["devices"]
    assert (device["state"], device["metrics"]["power_draw_watts"]) == ("ok", 690.66)
    return result


@pytest.fixture(scope="module", autouse=True)
def lonely() -> Iterator[tuple[Agent, Watch]]:
    """A reader whose agent has ended, and a new one, which it looks for twice a minute: begun before all else."""
    with open_folder() as folder, Agent(folder, "--interval", "0.2") as agent:
        with agent.start_watch("--json", "--watch", "0.2", scenario="single") as watch:
            watch.wait_samples(1)
            agent.end()
            wait_for(lambda: watch.err, "it to read by itself")
            with Agent(folder, "--interval", "0.2") as second:
                yield second, watch


# --- Where it lives


def test_a_second_one_says_who_has_the_place(place: Path) -> None:
    with Agent(place) as agent:
        second = agent.run("serve", scenario="single")
        assert second.code == 1
        words = f"an agent runs already in {place}, pid {agent.pid}: see gpulse agent status"
        assert only_line(second.err) == f"gpulse: {words}"
        assert read_attached(agent)


def read_attached(agent: Agent) -> bool:
    result = agent.run("--json")
    return (result.code, result.err, len(result.json["devices"])) == (0, "", 1)


def test_a_folder_of_somebody_else_is_not_served_in(place: Path) -> None:
    needs_root()
    os.chown(place, NOBODY, NOBODY)
    result = gpulse("serve", scenario="single", GPULSE_AGENT=str(place))
    assert (result.code, only_line(result.err)) == (1, f"gpulse: {place} is not ours: it belongs to nobody")


def test_a_folder_that_others_may_write_to_is_not_believed(place: Path) -> None:
    with Agent(place) as agent:
        place.chmod(0o777)
        assert only_line(read_by_itself(place).err) == (
            f"gpulse: {place} can be written by others: take that right away with chmod go-w: {BY_ITSELF}"
        )
        place.chmod(0o755)
        assert read_attached(agent)
    place.chmod(0o775)
    result = gpulse("serve", scenario="single", GPULSE_AGENT=str(place))
    assert (result.code, only_line(result.err)) == (
        1,
        f"gpulse: {place} can be written by others: take that right away with chmod go-w",
    )


# --- Its configuration


def test_an_unknown_key_of_the_configuration_is_named(place: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[serve]\nintervall = 2\n")
    result = gpulse("--config", config, "serve", scenario="single", GPULSE_AGENT=str(place))
    assert result.code == 2
    assert "serve.intervall" in only_line(result.err)


def test_sighup_reads_the_configuration_again(place: Path, tmp_path: Path) -> None:
    """systemctl reload: a new interval counts at once, a mistake leaves all as it was; both are told to systemd."""
    config = tmp_path / "config" / "gpulse" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[serve]\ninterval = "1s"\n')
    with Agent(place, XDG_CONFIG_HOME=str(tmp_path / "config")) as agent:
        agent.messages().clear()
        config.write_text('[serve]\ninterval = "200ms"\nfastest = "50ms"\n')
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_told("READY=1")
        told = agent.messages()
        assert told.index("RELOADING=1") < told.index("READY=1")
        assert next(line for line in told if line.startswith("MONOTONIC_USEC="))
        wait_for(lambda: agent.status()["interval_seconds"] == 0.2, "the new interval")
        assert agent.status()["fastest_seconds"] == 0.05
        begun = agent.samples()
        wait_for(lambda: agent.samples() >= begun + 4, "samples at the new interval", 2)

        agent.messages().clear()
        config.write_text('[serve]\nintervall = "5s"\n')
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_told("READY=1")
        assert "serve.intervall" in agent.log
        assert "the configuration stays as it was" in agent.log
        assert agent.status()["usual_interval_seconds"] == 0.2
        assert read_attached(agent)


# --- Its end


def test_sigterm_ends_it_at_once_and_leaves_nothing_to_read(place: Path) -> None:
    with Agent(place) as agent:
        begun = time.monotonic()
        assert agent.end() == 0
        assert time.monotonic() - begun < 1
        assert not agent.segment.exists() and not agent.socket.exists()
        agent.messages()
        assert agent.told[-1] == "STOPPING=1"
    assert read_by_itself(place).err == "", "that there is no agent is nothing to speak of"
    # What is left of its lock is in nobody's way.
    with Agent(place) as agent:
        assert read_attached(agent)


def test_after_sigkill_readers_notice_and_the_next_agent_takes_the_place(place: Path) -> None:
    with Agent(place, "--interval", "0.1") as agent:
        agent.end(signal.SIGKILL)
        # Its last sample is from a moment ago, and nobody's any more.
        assert only_line(read_by_itself(place).err) == f"gpulse: the agent in {place} was killed: {BY_ITSELF}"
    with Agent(place) as agent:
        assert read_attached(agent)
        assert agent.status()["pid"] == agent.pid


def old_value(watch: Watch) -> str:
    """What is shown as new and is not."""
    last, seen = 0.0, set()
    for sample in watch.samples:
        power = sample["devices"][0]["metrics"]["power_draw_watts"] if sample["devices"] else None
        if sample["time"] in seen:
            return f"{sample['time']} twice"
        if power is not None and power == last:
            return f"{power} W twice"
        seen.add(sample["time"])
        last = power or last
    return ""


def test_readers_that_watch_go_on_by_themselves(place: Path, tmp_path: Path) -> None:
    """Of three agents one ends, one is killed and one is stopped."""
    scenario = tmp_path / "rising.toml"
    scenario.write_text(RISING)
    with ExitStack() as stack:
        watches = {}
        for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            folder = place / end.name
            folder.mkdir()
            agent = stack.enter_context(Agent(folder, "--interval", "0.2", scenario=scenario))
            watches[end] = stack.enter_context(agent.start_watch("--json", "--watch", "0.2", scenario=scenario))
            watches[end].wait_samples(3)
            agent.process.send_signal(end)
        for end, watch in watches.items():
            wait_for(lambda: watch.err, f"a word on {end.name}")
            assert BY_ITSELF in only_line(watch.err)
            samples = watch.wait_more(4)
            assert all(sample["devices"][0]["state"] == "ok" for sample in samples)
            assert only_line(watch.err)
            assert old_value(watch) == ""
        # The last one is there, and may go on.
        assert "nothing new for" in only_line(gpulse("--json", scenario=scenario, GPULSE_AGENT=str(folder)).err)
        agent.process.send_signal(signal.SIGCONT)
        wait_for(lambda: read_attached(agent), "it to go on")


def test_a_reader_that_watches_follows_a_restart(place: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "rising.toml"
    scenario.write_text(RISING)
    log = tmp_path / "log"
    with Agent(place, scenario=scenario) as agent:
        watch = agent.start_watch("--json", "--watch", "0.1", scenario=scenario, GPULSE_SIM_LOG=str(log))
        with watch:
            watch.wait_samples(3)
            agent.end()
            with Agent(place, scenario=scenario) as second:
                watch.wait_more(5)
                assert [each["pid"] for each in second.status()["readers"]] == [watch.process.pid]
            assert watch.err == "" and not log.exists(), "it has never read by itself"
            assert old_value(watch) == ""


# --- Its file


def of_zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def of_random_bytes(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def truncated_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def damaged_behind_the_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(512)
        file.write(os.urandom(path.stat().st_size - 512))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o644)


def a_symlink(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def a_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def writable_by_others(path: Path) -> None:
    path.chmod(0o666)


DAMAGE = [
    of_zeros, of_random_bytes, truncated, truncated_to_nothing, damaged_behind_the_head, a_folder, a_fifo, a_symlink,
    a_socket, writable_by_others,
]  # fmt: skip


@pytest.fixture(scope="module")
def seldom_written() -> Iterator[Path]:
    """The file of an agent that writes to it once in a long time, for copies to be damaged."""
    with open_folder() as folder, Agent(folder, "--interval", "1000") as agent:
        assert read_attached(agent)
        yield agent.segment


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_named(place: Path, seldom_written: Path, damage: Callable[[Path], None]) -> None:
    path = place / "segment"
    shutil.copy(seldom_written, path)
    assert gpulse("--json", GPULSE_AGENT=str(place)).code == 0, "without damage it is read"
    damage(path)
    line = only_line(read_by_itself(place).err)
    assert line.startswith("gpulse: ") and str(place) in line and line.endswith(BY_ITSELF)


# --- Its socket

STATUS = b"\0\0\0\0\x03"
NONSENSE = {
    "random bytes": os.urandom(20000),
    "a frame of four gigabytes": b"\xff\xff\xff\xff\x03",
    "half a frame": b"\x05\0\0",
    "an unknown request": b"\0\0\0\0\x63",
    "a request without sense": b"\x05\0\0\0\x01" + b"\xff" * 5,
    "more requests than anybody reads answers to": STATUS * 20000,
}


def test_whoever_talks_nonsense_to_it_harms_nobody(place: Path) -> None:
    with Agent(place, "--interval", "0.1") as agent, ExitStack() as stack:
        before = agent.status()["memory_bytes"]

        def connect() -> socket.socket:
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(agent.socket))
            return client

        for words in NONSENSE.values():
            client = connect()
            client.setblocking(False)
            with suppress(OSError):
                client.send(words)
        agent.wait_samples(3)
        assert agent.status()["memory_bytes"] < before + (8 << 20)
        # Who has all the connections that one user may have is refused another one; the samples are in memory.
        for _ in range(300):
            connect()
        refused = gpulse("agent", "status", GPULSE_AGENT=str(place))
        assert (refused.code, only_line(refused.err)) == (
            1,
            "gpulse: the agent has closed the connection",
        )
        assert read_attached(agent)
        stack.pop_all().close()
        wait_for(lambda: agent.run("agent", "status").code == 0, "the others to be gone")
        assert agent.run("agent", "release", "1s").code == 0


def test_those_who_come_and_go_do_not_disturb_the_samples(place: Path) -> None:
    with Agent(place, "--interval", "0.1") as agent:
        begun, end = agent.samples(), time.monotonic() + 1
        asked = 0
        while time.monotonic() < end:
            asked += agent.run("agent", "status").code == 0
        assert asked > 20
        assert 8 <= agent.samples() - begun <= 13


# --- Its drivers


def test_a_driver_that_comes_later_is_waited_for(place: Path, tmp_path: Path) -> None:
    later = tmp_path / "driver"
    later.mkdir()
    with Agent(place, "--interval", "0.2", scenario="single", LD_LIBRARY_PATH=str(later)) as agent:
        result = agent.run("--json")
        assert (result.code, result.json["devices"]) == (3, [])
        assert result.err.startswith("gpulse: no GPU found: ")
        for name in ("libnvidia-ml.so.1", "profiles", "scenarios", "costs"):
            (later / name).symlink_to(SIM.resolve() / name)
        wait_for(lambda: agent.run("--json").json["devices"], "the driver to be found", 15)


def test_gpus_that_sleep_stay_asleep(place: Path, sysroot: Callable[[dict[str, str]], Path]) -> None:
    root = suspended_machine(sysroot)
    with Opened(root) as opened, Agent(place, "--sysroot", root, "--interval", "0.2", scenario=None) as agent:
        agent.wait_samples(3)
        states = [device["state"] for device in agent.run("--json").json["devices"]]
        assert states == ["asleep"] * 3
        for words in (["smi"], ["smi", "-q"], ["doctor"], ["gpustat"]):
            agent.run(*words)
    files = opened.of_devices()
    assert files and not {path for path in files if Path(path).name not in HARMLESS}


def test_a_driver_that_hangs_holds_nobody_up(place: Path, tmp_path: Path) -> None:
    """Of two GPUs one hangs: the other moves on, and the agent ends when it is told to."""
    scenario = tmp_path / "hang.toml"
    fault = '[[fault]]\ncall = "nvmlDeviceGetPowerUsage"\ndevice = 1\nhang = true\nfrom = 0.5\n'
    scenario.write_text(RISING + RISING + fault)
    with Agent(place, "--interval", "0.2", scenario=scenario) as agent:
        with agent.start_watch("--json", "--watch", "0.2") as watch:

            def states() -> list[str]:
                return [device["state"] for sample in watch.samples[-1:] for device in sample["devices"]]

            wait_for(lambda: states() == ["ok", "not responding"], "the second to hang")
            watch.wait_more(5, 3)
            assert old_value(watch) == ""
            assert watch.err == ""
        begun = time.monotonic()
        assert agent.end() == 0
        assert time.monotonic() - begun < 1
        assert not agent.segment.exists()


def test_a_driver_that_hangs_cannot_be_let_go_of_but_left(place: Path) -> None:
    with Agent(place, "--interval", "0.2", scenario=ROOT / "tests" / "data" / "hang.toml") as agent:
        wait_for(lambda: agent.run("--json").json["devices"][0]["state"] == "not responding", "it to hang")
        result = agent.run("agent", "release", "1s")
        assert (result.code, result.err.splitlines()[-1]) == (
            1,
            "gpulse: a call to a driver hangs: it cannot be let go of",
        )
        begun = time.monotonic()
        assert agent.end() == 0
        assert time.monotonic() - begun < 1


def test_a_reader_that_goes_on_by_itself_finds_the_next_agent(lonely: tuple[Agent, Watch]) -> None:
    agent, watch = lonely
    wait_for(lambda: agent.status()["readers"], "it to look for an agent", 40)
    assert [each["pid"] for each in agent.status()["readers"]] == [watch.process.pid]
    watch.wait_more(3)
    times = [sample["time"] for sample in watch.samples]
    assert len(set(times)) == len(times)
    assert BY_ITSELF in only_line(watch.err), "said once"
