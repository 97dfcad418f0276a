"""What is wrong is said where people look: in the table, in JSON, among the events of the agent, its history and recordings."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, open_folder, sleeper, wait_for
from harness import GPULSE, ROOT, environment, gpulse

# Everything that a GPU at work would show.
GPM = "gract smutil smocc intutil mmaact dfmat hmmat dmmat immat dram fp64 fp32 fp16 pcitx pcirx".split()


def scenario_of(folder: Path, pid: int | None) -> Path:
    """A GPU that does nothing; with a pid, that process holds 30 GB of its memory."""
    lines = ["[[device]]", 'profile = "h200"', "gpu_util = 0", "memory_util = 0", "event_reasons = 1"]
    lines += ["[device.gpm]", *(f"{name} = 0" for name in GPM)]
    if pid is not None:
        lines += ["[[process]]", "device = 0", f"pid = {pid}", 'command = "python3"', "memory_mib = 30000", "sm = 0"]
    path = folder / ("hung.toml" if pid is not None else "idle.toml")
    path.write_text("\n".join(lines) + "\n")
    return path


class Stage:
    """An agent and `gpulse record` on a machine with a job that hangs, started at the same time."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        process = stack.enter_context(sleeper())
        self.scenario = scenario_of(folder, process.pid)
        self.recording, self.history = folder / "hung.gpr", folder / "history.db"
        (folder / "agent").mkdir()
        self.agent = stack.enter_context(
            Agent(folder / "agent", "--history", self.history, scenario=self.scenario)
        )
        self.recorder = subprocess.Popen(
            [GPULSE, "record", "-o", self.recording, "--count", "24"],
            env=environment(self.scenario),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        stack.callback(self.recorder.kill)

    def look(self) -> dict[str, Any]:
        return self.agent.run("--json").json


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with open_folder() as folder, ExitStack() as stack:
        yield Stage(folder, stack)


def problems(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in document.get("findings", []) if finding["severity"] == "problem"]


def found(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == "finding" and event["text"].startswith("hung: ")]


def test_json_has_what_is_wrong_with_the_past_minute(stage: Stage) -> None:
    document = wait_for(lambda: (look := stage.look()) and problems(look) and look, "a finding", 20)
    (hung,) = problems(document)
    assert hung["id"] == "hung"
    assert hung["devices"] == ["0"]
    assert "holds 29.3 GiB and has run nothing" in hung["text"]
    assert hung["since_seconds"] < 0 == hung["until_seconds"]
    assert hung["since"] < document["time"]
    assert any("py-spy" in advice for advice in hung["advice"])
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs/schema/gpulse-1.schema.json").read_text())
    jsonschema.validate(document, schema)


def test_the_table_says_it_in_words(stage: Stage) -> None:
    table = wait_for(lambda: (out := stage.agent.run().out) and "hung" in out and out, "a line", 20)
    assert "\n! GPU 0  hung  The job holds 29.3 GiB" in table
    assert "gpulse diagnose says more\n" in table
    assert "hung" in stage.agent.run("-i", "0").out


def test_who_names_fields_gets_those_alone(stage: Stage) -> None:
    assert "findings" not in stage.agent.run("--json", "--fields", "gpu_utilization_percent").json


def test_the_agent_tells_when_it_began_and_history_keeps_it(stage: Stage) -> None:
    (event,) = wait_for(lambda: found(stage.look()["events"]), "an event", 30)
    assert event["device"] == stage.look()["devices"][0]["uuid"]
    assert event["code"] >= 1

    def kept() -> list[dict[str, Any]]:
        return found(stage.agent.run("history", "--history", stage.history, "--since", "5m", "--events", "--jsonl").json_lines)

    (line,) = wait_for(kept, "it to be in the history", 10)
    assert line["text"] == event["text"]
    assert line["code"] == event["code"]


def test_a_recording_has_it_too(stage: Stage) -> None:
    _, err = stage.recorder.communicate(timeout=40)
    assert stage.recorder.returncode == 0, err
    document = gpulse("--replay", stage.recording, "--at", "23s", "--json").json
    (event,) = found(document["events"])
    assert event["device"] == document["devices"][0]["uuid"]
    assert "finding hung: The job holds" in gpulse("--replay", stage.recording, "--at", "23s").out


def test_nothing_is_said_without_a_past_and_where_all_is_well(stage: Stage) -> None:
    alone = gpulse("--json", scenario=stage.scenario).json
    assert "findings" not in alone
    assert "hung" not in gpulse(scenario=stage.scenario).out
    with open_folder() as folder, Agent(folder, "--history", "off", scenario=scenario_of(folder, None)) as agent:
        document = wait_for(lambda: (look := agent.run("--json").json) and "findings" in look and look, "a past", 20)
        assert document["findings"] == []
        assert "diagnose" not in agent.run().out
