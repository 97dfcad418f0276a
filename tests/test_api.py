"""The agent's API: every answer is what docs/openapi.json promises, with the simulator's own numbers."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import Agent, open_folder, wait_for
from api import OPENAPI, Api, check_event
from harness import BUILD, MIB, ROOT, gpulse

GIB = 1 << 30
GPUS, PROCESSES, MINUTES = 3, 4, 30
LIVE = ["snapshot", "devices", "processes", "events", "findings"]
TABLES = ["metrics-table", "openapi.json"]
PAST = ["history", "processes", "events", "findings"]


@contextmanager
def serving(*arguments: str | Path, scenario: str | Path = "single", **variables: str) -> Iterator[tuple[Agent, Api]]:
    with (
        open_folder() as folder,
        Agent(folder, "--listen", "127.0.0.1:0", *arguments, scenario=scenario, **variables) as agent,
    ):
        words = "answers on http://127.0.0.1:"
        port = agent.wait_log(words).split(words)[1].split()[0]
        api = Api(int(port))
        # The first sample is published before it is posted.
        wait_for(lambda: api.raw("/api/v1/snapshot").status == 200, "the first sample")
        yield agent, api


@pytest.fixture(scope="module")
def one() -> Iterator[Api]:
    with serving("--history", "off") as (_, api):
        yield api


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, int]]:
    """An agent that goes on with a history that is known by hand, and the second in which the made-up part ends."""
    file = tmp_path_factory.mktemp("api") / "history.db"
    end = (int(time.time()) - 600) // 60 * 60
    command = [BUILD / "tests" / "make_history", file, end, MINUTES, GPUS, PROCESSES]
    subprocess.run([str(word) for word in command], check=True, timeout=120)
    with serving("--history", file) as (_, api):
        yield api, end


def test_the_document_is_a_good_one() -> None:
    assert OPENAPI["openapi"] == "3.1.0"
    for schema in OPENAPI["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    identities = [path["get"]["operationId"] for path in OPENAPI["paths"].values()]
    assert len(set(identities)) == len(identities)
    parameters = OPENAPI["components"]["parameters"]
    for path in OPENAPI["paths"].values():
        for parameter in path["get"].get("parameters", []):
            assert parameter["$ref"].rsplit("/", 1)[1] in parameters


def test_the_schema_of_a_snapshot_is_that_of_the_command() -> None:
    alone = json.loads((ROOT / "docs" / "schema" / "gpulse-1.schema.json").read_text())
    text = json.dumps(alone).replace("#/$defs/", "#/components/schemas/")
    same = json.loads(text)
    for name, schema in same["$defs"].items():
        assert OPENAPI["components"]["schemas"][name] == schema
    for key in ("properties", "required", "additionalProperties", "type"):
        assert OPENAPI["components"]["schemas"]["snapshot"][key] == same[key]


@pytest.mark.parametrize("scenario", ["single", "eight", "mig", "faulty", "old-driver", "laptop", "mismatch", "unified"])
def test_every_answer_of_every_scenario_fits(scenario: str) -> None:
    with open_folder() as folder, serving("--history", folder / "history.db", scenario=scenario) as (_, api):
        for name in LIVE + TABLES:
            assert api.ask(name).status == 200
        wait_for(lambda: api.ask("history", since="1m").status == 200, "the history")
        for name in PAST:
            assert api.ask(name, since="1h").status == 200
        assert api.ask("processes", since="1h", by="user").status == 200
        assert api.ask("processes", since="1h", by="job").status == 200
        metrics = [row["key"] for row in api.get("metrics-table")["metrics"] if row["scope"] == "device" and row["kind"] != "text"]
        for first in range(0, len(metrics), 64):
            assert api.ask("history", since="1m", metrics=",".join(metrics[first : first + 64])).status == 200
        with api.stream() as stream:
            seen = [next(stream)["event"] for _ in range(2)]
        assert seen == ["hello", "sample"]


def test_a_snapshot_has_the_numbers_of_the_scenario(one: Api) -> None:
    snapshot = one.get("snapshot")
    told = gpulse("--json", scenario="single").json
    device = snapshot["devices"][0]
    assert [device["name"] for device in snapshot["devices"]] == [device["name"] for device in told["devices"]]
    assert device["metrics"]["memory_used_bytes"] == told["devices"][0]["metrics"]["memory_used_bytes"]
    process = snapshot["processes"][0]
    assert (process["pid"], process["gpu_memory_bytes"]) == (560, 1130 * MIB)
    assert process["gpu_utilization_percent"] == 85
    assert one.get("processes")["processes"][0]["pid"] == 560
    assert one.get("devices")["devices"][0]["uuid"] == device["uuid"]
    assert "findings" in snapshot


def test_parts_of_a_snapshot(one: Api) -> None:
    some = one.get("snapshot", metrics="gpu_utilization_percent,host.cpu_percent", devices="0")
    assert list(some["devices"][0]["metrics"]) == ["gpu_utilization_percent"]
    assert set(some["host"]) == {"cpu_percent", "unavailable"}
    assert "processes" not in some and "events" not in some
    assert "processes" not in one.get("snapshot", processes=0)
    assert "user" in one.get("snapshot", metrics="process.*")["processes"][0]


def test_the_table_is_that_of_the_command(one: Api) -> None:
    assert one.get("metrics-table") == gpulse("explain", "--all", "--json").json
    assert one.get("openapi.json") == OPENAPI


@pytest.mark.parametrize(
    "name, parameters, field",
    [
        ("snapshot", {"metrics": "nonsense"}, "metrics"),
        ("snapshot", {"metrics": ",".join(["power_draw_watts"] * 65)}, "metrics"),
        ("snapshot", {"devices": "99"}, "devices"),
        ("snapshot", {"processes": "2"}, "processes"),
        ("snapshot", {"metric": "power_draw_watts"}, "metric"),
        ("devices", {"since": "1h"}, "since"),
        ("metrics-table", {"x": ""}, "x"),
        ("history", {}, "from"),
        ("history", {"since": "1h", "metrics": "process.user"}, "metrics"),
        ("history", {"since": "1h", "points": 20001}, "points"),
        ("history", {"since": "1h", "points": "1e9"}, "points"),
        ("history", {"since": "1h", "step": "0"}, "step"),
        ("history", {"since": "365d", "step": "1"}, "step"),
        ("history", {"since": "-1h"}, "since"),
        ("history", {"from": 2000, "to": 1000}, "from"),
        ("history", {"from": "now"}, "from"),
        ("history", {"from": "2026-11-16T01:00:00"}, "from"),
        ("history", {"from": "9" * 400}, "from"),
        ("processes", {"by": "user"}, "by"),
        ("processes", {"by": "group", "since": "1h"}, "by"),
        ("events", {"to": 1000}, "from"),
        ("findings", {"since": "x"}, "since"),
        ("stream", {"metrics": ""}, "metrics"),
    ],
)
def test_bad_input_names_the_field(past: tuple[Api, int], name: str, parameters: dict[str, object], field: str) -> None:
    answer = past[0].ask(name, **parameters)
    assert answer.status == 400, answer.body
    assert answer.json["error"]["field"] == field
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["", "nothing", "snapshot/", "history/../nothing", "%00", "metrics-table.json"])
def test_an_unknown_path_is_told(one: Api, name: str) -> None:
    answer = one.raw(f"/api/v1/{name}")
    assert answer.status in (400, 404)
    assert "message" in answer.json["error"]


def test_nothing_is_changed_by_other_methods(one: Api) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=10)
        connection.request(method, "/api/v1/snapshot", body="{}")
        assert connection.getresponse().status in (405, 501)
        connection.close()


def test_without_a_history_it_says_so(one: Api) -> None:
    for name in PAST:
        answer = one.ask(name, since="1h")
        assert answer.status == 404
        assert "keeps no history" in answer.json["error"]["message"]


def curve(answer: dict[str, Any], metric: str, gpu: int | None) -> dict[str, Any]:
    uuid = None if gpu is None else f"GPU-00000000-0000-0000-0000-00000000000{gpu}"
    return next(one for one in answer["series"] if one["metric"] == metric and one["device"] == uuid)


def test_curves_are_the_sums_by_hand(past: tuple[Api, int]) -> None:
    api, end = past
    begin = end - 20 * 60
    for step in (1, 7, 10, 60, 300):
        answer = api.get(
            "history", **{"from": begin, "to": end, "step": step, "metrics": "gpu_utilization_percent,power_draw_watts,host.cpu_percent"}
        )
        # Whole steps of what is kept: of 1, 10 or 60 seconds.
        assert answer["step_seconds"] == {7: 10}.get(step, step)
        step = answer["step_seconds"]
        assert answer["start_seconds"] % step == 0
        times = [answer["start_seconds"] + i * step for i in range(answer["count"])]
        assert times[0] <= begin < times[0] + step and times[-1] < end <= times[-1] + step
        for gpu in range(GPUS):
            busy, power = curve(answer, "gpu_utilization_percent", gpu), curve(answer, "power_draw_watts", gpu)
            for i, start in enumerate(times):
                # Of GPU i, by tests/make_history.cpp: 10 i and the last digit of the second.
                values = [10 * gpu + second % 10 for second in range(max(start, begin), min(start + step, end))]
                assert busy["value"][i] == pytest.approx(sum(values) / len(values), abs=0.001)
                assert busy.get("min", busy["value"])[i] == min(values)
                assert busy.get("max", busy["value"])[i] == max(values)
                assert power["value"][i] == 100 + gpu
            assert "min" not in power
        assert set(curve(answer, "host.cpu_percent", None)["value"]) == {25}


def test_gaps_are_null(past: tuple[Api, int]) -> None:
    api, end = past
    answer = api.get("history", **{"from": end - 120, "to": end + 120, "step": 60, "metrics": "power_draw_watts,power_limit_watts"})
    assert curve(answer, "power_draw_watts", 0)["value"] == [100, 100, None, None]
    # Of another GPU, which came later, there is nothing.
    assert len({device["uuid"] for device in answer["devices"]}) >= GPUS


def test_times_in_both_forms_are_the_same(past: tuple[Api, int]) -> None:
    api, end = past
    text = {time: subprocess.run(["date", "-u", "-d", f"@{time}", "+%FT%TZ"], capture_output=True, text=True, check=True).stdout.strip() for time in (end - 600, end)}
    by_number = api.get("history", **{"from": end - 600, "to": end})
    assert by_number == api.get("history", **{"from": text[end - 600], "to": text[end]})
    assert by_number["from"] == text[end - 600].replace("Z", ".000Z")


def test_a_span_that_is_over_may_be_kept(past: tuple[Api, int]) -> None:
    api, end = past
    target = f"/api/v1/history?from={end - 600}&to={end}"
    first = api.raw(target)
    assert first.headers["cache-control"] == "private, max-age=3600"
    again = api.raw(target, **{"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    live = api.raw("/api/v1/history?since=10m")
    assert live.headers["cache-control"] == "no-store" and "etag" not in live.headers
    table = api.raw("/api/v1/metrics-table")
    assert api.raw("/api/v1/metrics-table", **{"If-None-Match": table.headers["etag"]}).status == 304
    assert api.raw("/api/v1/snapshot").headers["cache-control"] == "no-store"


def test_who_was_there(past: tuple[Api, int]) -> None:
    api, end = past
    span = {"from": end - 600, "to": end}
    processes = {one["pid"]: one for one in api.get("processes", **span)["processes"]}
    assert set(processes) == {1000 + j for j in range(PROCESSES)}
    for j in range(PROCESSES):
        one = processes[1000 + j]
        assert (one["id"], one["user"], one["job"]) == (str(j % GPUS), "ann" if j % 2 == 0 else "bob", f"job-{j}")
        assert one["seconds"] == 600
        assert one["gpu_seconds"] == pytest.approx(6 * (j + 1))
        assert one["gpu_memory_bytes"] == (j + 1) * GIB
        assert one["command"] == f"python train.py --part {j}"
    totals = {one["user"]: one for one in api.get("processes", **span, by="user")["totals"]}
    # Ann's are 0 and 2, on two GPUs: 1 % and 3 % of 600 s.
    assert (totals["ann"]["processes"], totals["ann"]["devices"]) == (2, 2)
    assert totals["ann"]["gpu_seconds"] == pytest.approx(24)
    assert len(api.get("processes", **span, devices="1")["processes"]) == 1


def test_what_happened(past: tuple[Api, int]) -> None:
    api, end = past
    when = end - MINUTES * 30
    events = api.get("events", **{"from": when - 10, "to": when + 10})["events"]
    assert [(one["kind"], one["code"], one["text"]) for one in events] == [("xid", 79, "GPU has fallen off the bus")]
    assert api.get("events", **{"from": when - 10, "to": when + 10, "devices": "1"})["events"] == []
    assert api.get("findings", **{"from": when - 10, "to": when + 10})["spans"] == []


def test_hostile_names_are_text(tmp_path: Path) -> None:
    program = tmp_path / "sleep"
    program.symlink_to("/bin/sleep")
    evil = '"},{"</script><b>\u202e\x1b[31m;DROP TABLE process;--'
    with subprocess.Popen([evil, "60"], executable=program) as process:
        scenario = tmp_path / "scenario.toml"
        scenario.write_text(f'[[device]]\nprofile = "h200"\n[[process]]\ndevice = 0\npid = {process.pid}\nmemory_mib = 1\nsm = 1\n')
        try:
            with serving("--history", tmp_path / "history.db", scenario=scenario) as (_, api):
                for one in (api.get("snapshot"), api.get("processes")):
                    command = one["processes"][0]["command"]
                    assert '"},{"</script><b>' in command and "\x1b" not in command and "\u202e" not in command
                wait_for(lambda: api.ask("processes", since="1m").status == 200, "the history")
                kept = wait_for(lambda: api.get("processes", since="1m")["processes"], "the process in it")
                assert "DROP TABLE process" in kept[0]["command"]
                with api.stream() as stream:
                    data = [json.loads(next(stream)["data"]) for _ in range(2)][1]
                assert data["processes"][0]["pid"] == process.pid
        finally:
            process.kill()


def test_the_stream_gives_each_sample_once() -> None:
    with serving("--history", "off", "--interval", "200ms") as (_, api), api.stream() as stream:
        first = next(stream)
        check_event(first)
        assert first["event"] == "hello" and json.loads(first["data"])["missed_from"] is None
        samples = [event for event in (next(stream) for _ in range(8)) if event["event"] == "sample"]
        for event in samples:
            check_event(event)
        ids = [int(event["id"]) for event in samples]
        assert ids == sorted(set(ids))
        assert 150 <= (ids[-1] - ids[0]) / (len(ids) - 1) <= 300
        assert "events" not in json.loads(samples[0]["data"])


def test_one_who_comes_back_gets_what_it_missed() -> None:
    with serving("--history", "off", "--interval", "100ms") as (_, api):
        target = "/api/v1/stream?metrics=gpu_utilization_percent"
        with api.stream(target) as stream:
            next(stream)
            last = int(next(stream)["id"])
        time.sleep(1)
        with api.stream(target, **{"Last-Event-ID": str(last)}) as stream:
            assert json.loads(next(stream)["data"])["missed_from"] is None
            ids = [int(next(stream)["id"]) for _ in range(8)]
        assert ids == sorted(ids) and last < ids[0] <= last + 250
        assert all(50 <= after - before <= 250 for before, after in zip(ids, ids[1:]))
        with api.stream(target, **{"Last-Event-ID": str(last - 3_600_000)}) as stream:
            hello = json.loads(next(stream)["data"])
            assert hello["missed_from"] is not None
            assert next(stream)["event"] == "sample"


def test_streams_of_different_parts_are_bounded(one: Api) -> None:
    table = [row["key"] for row in one.get("metrics-table")["metrics"] if row["scope"] == "device" and row["kind"] != "text"]

    with ExitStack() as stack:
        for key in table[:64]:
            next(stack.enter_context(one.stream(f"/api/v1/stream?metrics={key}")))
        refused = one.raw(f"/api/v1/stream?metrics={table[64]}")
        assert refused.status == 503 and "retry-after" in refused.headers
        next(stack.enter_context(one.stream(f"/api/v1/stream?metrics={table[0]}")))
    # Those whose clients have gone make room.
    wait_for(lambda: stream_opens(one, table[64]), "room for another stream")


def stream_opens(api: Api, key: str) -> bool:
    try:
        with api.stream(f"/api/v1/stream?metrics={key}") as stream:
            return next(stream)["event"] == "hello"
    except AssertionError:
        return False
