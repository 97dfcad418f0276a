"""What `gpulse --json` prints is what docs/schema promises, with the scenario's own numbers."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from harness import MIB, ROOT, SCENARIOS, gpulse

SCHEMA = json.loads((ROOT / "docs" / "schema" / "gpulse-1.schema.json").read_text())


def check(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_fits_the_schema(name: str) -> None:
    result = gpulse("--json", scenario=name)
    assert result.code == (3 if name == "mismatch" else 0), result.err
    check(result.json)


def test_a_null_always_has_a_reason() -> None:
    for name in SCENARIOS:
        for device in gpulse("--json", scenario=name).json["devices"]:
            missing = {key for key, value in device["metrics"].items() if value is None}
            assert missing == set(device["unavailable"]) & set(device["metrics"]), name


def test_demo_and_host_alone_fit_the_schema() -> None:
    demo = gpulse("--demo", "--json")
    assert demo.code == 0
    check(demo.json)
    assert demo.json["origin"] == "DEMO"
    assert demo.json["devices"][0]["name"] == "NVIDIA H200"

    host = gpulse("--source", "host", "--json")
    assert host.code == 3
    check(host.json)
    assert host.json["devices"] == []
    assert host.json["host"]["cpu_count"] >= 1


def test_single_shows_the_numbers_of_its_profile() -> None:
    # sim/profiles/h200.toml and sim/scenarios/single.toml
    document = gpulse("--json", scenario="single").json
    (device,) = document["devices"]
    assert (device["vendor"], device["name"], device["driver"]) == ("nvidia", "NVIDIA H200", "580.159.04")
    metrics = device["metrics"]
    expected = {
        "gpu_utilization_percent": 90,
        "memory_utilization_percent": 23,
        "memory_total_bytes": 143771 * MIB,
        "memory_used_bytes": 1139 * MIB,
        "temperature_gpu_celsius": 63,
        "temperature_memory_celsius": 48,
        "power_draw_watts": 690.66,
        "power_instant_watts": 759.51,
        "power_limit_watts": 700,
        "clock_graphics_mhz": 1650,
        "clock_memory_mhz": 3201,
        "clock_max_sm_mhz": 1980,
        "performance_state": "P0",
        "throttle_reasons": ["power cap"],
        "sm_active_percent": 80.918,
        "sm_occupancy_percent": 11.958,
        "tensor_active_percent": 78.457,
        "dram_active_percent": 16.161,
        "pcie_link_generation": 5,
        "pcie_link_width": 16,
        "ecc_uncorrected_total": 0,
        "fan_speed_percent": None,
    }
    assert {key: metrics[key] for key in expected} == expected
    assert device["unavailable"]["fan_speed_percent"] == "not supported"
    (process,) = document["processes"]
    assert (process["pid"], process["device"], process["type"]) == (560, 0, "compute")
    assert process["gpu_memory_bytes"] == 1130 * MIB
    assert process["gpu_utilization_percent"] == 85


def test_mig_instances_stand_under_their_parents() -> None:
    # sim/profiles/a100-mig.toml and h100-mig.toml: four and three instances
    devices = gpulse("--json", scenario="mig").json["devices"]
    whole = {device["uuid"]: device for device in devices if device["parent"] is None}
    assert [(one["id"], one["index"], one["mig"]) for one in whole.values()] == [("0", 0, None), ("1", 1, None), ("2", 2, None)]
    parts = [device for device in devices if device["parent"] is not None]
    assert [(one["id"], one["index"], one["mig"], one["label"]) for one in parts] == [
        ("0:0", 0, 0, "3g.40gb"),
        ("0:1", 0, 1, "2g.20gb"),
        ("0:2", 0, 2, "1g.10gb"),
        ("0:3", 0, 3, "1g.10gb"),
        ("1:0", 1, 0, "4g.40gb"),
        ("1:1", 1, 1, "2g.20gb"),
        ("1:2", 1, 2, "1g.10gb"),
    ]
    assert all(whole[one["parent"]]["index"] == one["index"] for one in parts)


def test_an_instance_goes_by_one_name_everywhere() -> None:
    """As each view shows it, and as -i takes it."""
    chosen = gpulse("--json", "-i", "0:1", scenario="mig").json
    assert [(one["id"], one["label"]) for one in chosen["devices"]] == [("0:1", "2g.20gb")]
    assert [(one["pid"], one["device"], one["device_id"]) for one in chosen["processes"]] == [(4102, 0, "0:1")]
    assert "0:1  └ 2g.20gb" in gpulse("-i", "0:1", scenario="mig").out
    rows = gpulse("--csv", "--fields", "id,index,parent,mig", "-i", "0:1", scenario="mig").csv
    whole = gpulse("--json", "-i", "0", "--fast", scenario="mig").json["devices"][0]
    assert rows == [{"id": "0:1", "index": "0", "parent": whole["uuid"], "mig": "1"}]
    assert "MIG 2g.20gb     Device  1:" in gpulse("smi", "-L", scenario="mig").out
    for wrong in ("0:9", "0:", ":1", "0:1:2", "9:0"):
        assert gpulse("-i", wrong, scenario="mig").code == 2, wrong


def test_memory_in_use_is_a_share_too() -> None:
    document = gpulse("--json", scenario="eight").json
    for row in [document["host"], *(device["metrics"] for device in document["devices"])]:
        share = 100 * row["memory_used_bytes"] / row["memory_total_bytes"]
        assert row["memory_used_percent"] == pytest.approx(share, abs=0.001)
    named = gpulse("--json", "--fields", "memory_used_percent,host.memory_used_percent", scenario="eight").json
    assert set(named["devices"][0]["metrics"]) == {"memory_used_percent"}
    assert named["devices"][0]["metrics"] == {"memory_used_percent": document["devices"][0]["metrics"]["memory_used_percent"]}
    assert set(named["host"]) == {"memory_used_percent", "unavailable"} and named["host"]["memory_used_percent"] > 0


def test_csv_takes_readings_of_the_host() -> None:
    rows = gpulse("--csv", "--fields", "id,host.cpu_percent,host.memory_used_percent", scenario="eight").csv
    assert [row["id"] for row in rows] == [str(i) for i in range(8)]
    assert len({row["host.memory_used_percent"] for row in rows}) == 1 and float(rows[0]["host.cpu_percent"]) >= 0
    # Nothing of a device: one line for each sample.
    assert len(gpulse("--csv", "--fields", "time,host.load_1m", scenario="eight").csv) == 1
    assert gpulse("--csv", "--fields", "process.pid", scenario="eight").code == 2


def test_on_a_terminal_or_not_json_is_one_line() -> None:
    assert len(gpulse("--json", scenario="eight").lines) == 1


def test_only_the_fields_that_are_named_are_there() -> None:
    fields = "power.draw,serial,host.cpu_percent,process.user"
    document = gpulse("--json", "--fields", fields, scenario="single").json
    check(document)
    device = document["devices"][0]
    assert (list(device["metrics"]), list(device["info"])) == (["power_draw_watts"], ["serial"])
    assert (device["index"], device["name"]) == (0, "NVIDIA H200")
    assert set(document["host"]) == {"cpu_percent", "unavailable"}
    assert isinstance(document["host"]["cpu_percent"], (int, float)), "a rate needs a second reading"
    assert all({"pid", "device", "user"} < set(process) for process in document["processes"])
    assert "self" not in document and "events" not in document
    fewer = gpulse("--json", "--fields", "power.draw", scenario="single").json
    assert "host" not in fewer and "processes" not in fewer


def test_without_fields_nothing_is_left_out() -> None:
    document = gpulse("--json", scenario="single").json
    properties = {name: set(part["properties"]) for name, part in SCHEMA["$defs"].items() if "properties" in part}
    # Only a log has steps, and only an agent a past to judge.
    assert set(document) == set(SCHEMA["properties"]) - {"step", "findings"}
    assert set(document["host"]) == properties["host"]
    assert set(document["self"]) == properties["self"]
    device = document["devices"][0]
    assert set(device) == properties["device"]
    for part in ("metrics", "info"):
        assert set(device[part]) == set(SCHEMA["$defs"]["device"]["properties"][part]["properties"])
    assert all(set(process) == properties["process"] for process in document["processes"])
