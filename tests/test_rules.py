"""gpulse rules: promtool takes the alerts, and each of them fires when it should and at no other time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness import gpulse

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus")

GPU = {"gpu": "0", "instance": "n1:9837", "job": "gpulse", "uuid": "GPU-a", "vendor": "nvidia"}
AGENT = {"instance": "n1:9837", "job": "gpulse"}
FINDING = AGENT | {"uuid": "GPU-a"}


class Case(NamedTuple):
    """Series a minute apart, with which the alert is there after 30 minutes, and with which it is not."""

    name: str
    labels: dict[str, str]  # of the series
    fires: str  # values, as promtool writes them
    silent: str
    severity: str
    also: dict[str, str] = {}  # further labels of the alert


def finding(word: str, severity: str = "problem") -> dict[str, str]:
    return FINDING | {"finding": word, "severity": severity}


# At 30 minutes the clock of promtool says 1800: a timestamp of 1500 is 5 minutes ago.
CASES: dict[str, list[Case]] = {
    "GpulseStale": [Case("gpulse_up", AGENT, "0x40", "1x40", "critical")],
    "GpulseHistoryDropped": [Case("gpulse_self_history_dropped_total", AGENT, "0+1x40", "5x40", "warning")],
    "GpuLost": [Case("gpulse_gpu_state", GPU | {"state": "lost"}, "1x40", "0x40", "critical")],
    "GpuNotResponding": [Case("gpulse_gpu_state", GPU | {"state": "not responding"}, "1x40", "0x40", "critical")],
    "GpuXid": [
        Case("gpulse_xid_last_timestamp_seconds", GPU | {"xid": "79"}, "1500x40", "300x40", "critical"),
        Case("gpulse_xid_last_timestamp_seconds", GPU | {"xid": "48"}, "1500x40", "300x40", "critical"),
    ],
    "GpuXidOfProgram": [
        Case("gpulse_xid_last_timestamp_seconds", GPU | {"xid": "31"}, "1500x40", "300x40", "info"),
        Case("gpulse_xid_last_timestamp_seconds", GPU | {"xid": "13"}, "1500x40", "300x40", "info"),
    ],
    "GpuEccUncorrected": [Case("gpulse_ecc_uncorrected_total", GPU, "7x20 8x20", "7x40", "critical")],
    "GpuEccUncorrectedVolatile": [Case("gpulse_ecc_uncorrected_volatile_total", GPU, "0x20 2x20", "0x40", "critical")],
    "GpuEccDramUncorrectedVolatile": [Case("gpulse_ecc_dram_uncorrected_volatile_total", GPU, "0x20 2x20", "0x40", "critical")],
    "GpuEccSramThresholdExceeded": [Case("gpulse_ecc_sram_threshold_exceeded", GPU, "1x40", "0x40", "critical")],
    "GpuPcieErrorsFatal": [Case("gpulse_pcie_errors_fatal_total", GPU, "0x20 2x20", "3x40", "critical")],
    "GpuPcieErrorsNonfatal": [Case("gpulse_pcie_errors_nonfatal_total", GPU, "0x20 2x20", "3x40", "warning")],
    "GpuRetiredPagesPending": [Case("gpulse_retired_pages_pending", GPU, "1x40", "0x40", "warning")],
    "GpuRemappedRowsUncorrected": [Case("gpulse_remapped_rows_uncorrected_total", GPU, "0x20 1x20", "1x40", "warning")],
    "GpuRemappedRowsPending": [Case("gpulse_remapped_rows_pending", GPU, "1x40", "0x40", "warning")],
    "GpuRemappedRowsFailure": [Case("gpulse_remapped_rows_failure", GPU, "1x40", "0x40", "critical")],
    "GpuRecoveryAction": [Case("gpulse_recovery_action", GPU, "2x40", "0x40", "critical")],
    "GpuTemperatureGpu": [
        Case("gpulse_temperature_gpu_celsius", GPU, "91x40", "79x40", "critical"),
        Case("gpulse_temperature_gpu_celsius", GPU, "85x40", "79x27 85x13", "warning"),
    ],
    "GpuTemperatureMemory": [
        Case("gpulse_temperature_memory_celsius", GPU, "101x40", "80x40", "critical"),
        Case("gpulse_temperature_memory_celsius", GPU, "95x40", "80x40", "warning"),
    ],
    "GpuHeldBack": [
        Case("gpulse_throttled_seconds_total", GPU | {"reason": "hw thermal"}, "0+30x40", "0+3x40", "warning"),
        Case("gpulse_throttled_seconds_total", GPU | {"reason": "power brake"}, "0+60x40", "9x40", "warning"),
    ],
    **{
        name: [
            Case("gpulse_finding", finding(word), "1x40", "_x40", "warning"),
            Case("gpulse_finding", finding(word, "note"), "1x40", "1x24 _x16", "info"),
        ]
        for name, word in {
            "GpuInputCpu": "input-cpu",
            "GpuInputIo": "input-io",
            "GpuLaunchBound": "launch-bound",
            "GpuMemoryBandwidth": "memory-bandwidth",
            "GpuTensorUnused": "tensor-unused",
            "GpuWrongPrecision": "wrong-precision",
            "GpuCopyBound": "copy-bound",
            "GpuThrottledPower": "throttled-power",
            "GpuThrottledThermal": "throttled-thermal",
            "GpuThrottledHardware": "throttled-hardware",
            "GpuMemoryLeak": "memory-leak",
            "GpuMemoryFull": "memory-full",
            "GpuOutOfMemory": "out-of-memory",
            "GpuMemoryHeadroom": "memory-headroom",
            "GpuMemoryHeldIdle": "memory-held-idle",
            "GpuHostMemory": "host-memory",
            "GpuSpinning": "spinning",
            "GpuHung": "hung",
            "GpuPeriodicStalls": "periodic-stalls",
            "GpuImbalance": "imbalance",
            "GpuLinkDegraded": "link-degraded",
            "GpuHealth": "health",
        }.items()
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "gpulse.rules.yml"
    done = gpulse("rules", "--format", "prometheus")
    assert done.code == 0 and done.err == ""
    path.write_text(done.out)
    return path


def series(name: str, labels: dict[str, str]) -> str:
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def alerts_of(rules: Path) -> dict[str, list[dict[str, str]]]:
    """The annotations of each, by name: the rules are few lines of YAML in a known order."""
    found: dict[str, list[dict[str, str]]] = {}
    for block in rules.read_text().split("      - alert: ")[1:]:
        name = block.split("\n")[0]
        texts = {key: json.loads(value) for key, value in re.findall(r'(?m)^ +(\w+): (".*")$', block)}
        found.setdefault(name, []).append(texts)
    return found


@needs_promtool
def test_promtool_takes_the_rules(rules: Path) -> None:
    done = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"SUCCESS: {sum(len(all) for all in alerts_of(rules).values())} rules found" in done.stdout


def test_every_alert_has_a_case_and_says_what_to_do(rules: Path) -> None:
    alerts = alerts_of(rules)
    assert alerts.keys() == CASES.keys() | {"GpulseDown", "GpulseSilent"}
    for name, all_of_it in alerts.items():
        for texts in all_of_it:
            assert "gpulse " in texts["description"], f"{name}: which command says more?"
            assert len(texts["summary"]) < 200 and texts["severity"]


def test_every_explain_that_an_alert_names_works(rules: Path) -> None:
    named = set(re.findall(r"gpulse explain ([a-z][\w-]*)", rules.read_text())) - {"xid"}
    assert len(named) > 25
    done = gpulse("explain", *sorted(named))
    assert done.code == 0, done.err


def check(rules: Path, tests: list[dict[str, Any]]) -> None:
    path = rules.parent / "tests.yml"
    path.write_text(json.dumps({"rule_files": [rules.name], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def rendered(text: str, labels: dict[str, str], value: str) -> str:
    """What Prometheus makes of the few templates that our annotations have."""
    text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels.get(found[1], ""), text)
    text = text.replace("{{ $value | humanizePercentage }}", value)
    return text.replace("{{ $value }}", value)


@needs_promtool
def test_each_alert_fires_and_does_not(rules: Path) -> None:
    alerts = alerts_of(rules)
    values = {"91x40": "91", "85x40": "85", "101x40": "101", "95x40": "95", "1x40": "1", "2x40": "2",
              "0+30x40": "50%", "0+60x40": "100%"}  # fmt: skip
    tests = []
    for name, cases in CASES.items():
        for case in cases:
            texts = next(t for t in alerts[name] if t["severity"] == case.severity or "{{" in t["severity"])
            labels = case.labels | {"severity": case.severity} | case.also
            value = values.get(case.fires, "")
            fires = {"eval_time": "30m", "alertname": name}
            expected = {
                "exp_labels": labels,
                "exp_annotations": {key: rendered(texts[key], case.labels, value) for key in ("summary", "description")},
            }
            tests.append({"interval": "1m", "input_series": [{"series": series(case.name, case.labels), "values": case.fires}],
                          "alert_rule_test": [fires | {"exp_alerts": [expected]}]})  # fmt: skip
            tests.append({"interval": "1m", "input_series": [{"series": series(case.name, case.labels), "values": case.silent}],
                          "alert_rule_test": [fires | {"exp_alerts": []}]})  # fmt: skip
    check(rules, tests)


@needs_promtool
def test_an_agent_that_is_gone_is_missed(rules: Path) -> None:
    """The scraper's own series says so, of targets that were agents."""
    annotations = alerts_of(rules)["GpulseDown"][0]
    summary = annotations["summary"].replace("{{ $labels.instance }}", AGENT["instance"])
    other = {"instance": "n2:9100", "job": "node"}
    there = [{"series": series("gpulse_up", AGENT), "values": "1x10 _x30"}, {"series": series("up", other), "values": "0x40"}]
    alert = {"eval_time": "30m", "alertname": "GpulseDown"}
    check(rules, [
        {"interval": "1m", "input_series": [*there, {"series": series("up", AGENT), "values": "1x10 0x30"}],
         "alert_rule_test": [alert | {"exp_alerts": [{"exp_labels": AGENT | {"severity": "critical"},
                                                      "exp_annotations": {"summary": summary, "description": annotations["description"]}}]}]},
        {"interval": "1m", "input_series": [*there, {"series": series("up", AGENT), "values": "1x40"}],
         "alert_rule_test": [alert | {"exp_alerts": []}]},
    ])  # fmt: skip


@needs_promtool
def test_an_agent_that_writes_no_more_is_missed_where_nobody_scrapes_it(rules: Path) -> None:
    annotations = alerts_of(rules)["GpulseSilent"][0]
    summary = annotations["summary"].replace("{{ $labels.instance }}", AGENT["instance"])
    alert = {"eval_time": "30m", "alertname": "GpulseSilent"}
    fires = [{"exp_labels": AGENT | {"severity": "critical"},
              "exp_annotations": {"summary": summary, "description": annotations["description"]}}]  # fmt: skip
    cases: list[tuple[dict[str, str], list[Any]]] = [
        ({"gpulse_up": "1x10 _x30"}, fires),
        ({"gpulse_up": "1x40"}, []),
        ({"gpulse_up": "1x10 _x30", "up": "1x10 0x30"}, []),  # GpulseDown says it
        ({"gpulse_up": "1x23 _x17"}, []),  # may still come
    ]
    check(rules, [{"interval": "1m", "input_series": [{"series": series(name, AGENT), "values": values} for name, values in given.items()],
                   "alert_rule_test": [alert | {"exp_alerts": expected}]} for given, expected in cases])  # fmt: skip


CONFIGURED = """
[alerts.rule.GpuTemperatureGpu]
from = 70
severity = "info"
for = "90s"
keep_firing_for = "10m"
[alerts.rule.GpuXid]
over = "1h"
[alerts.rule.GpuLost]
enabled = false
[[alerts.own]]
name = "GpuIdle"
metric = "gpu_utilization_percent"
below = 5
for = "2h"
text = "GPU {gpu} of {host} is {{ idle }} at {value}: \\"$(x)\\" ü"
"""


@needs_promtool
def test_what_a_configuration_changes_is_in_the_rules(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIGURED)
    path = tmp_path / "gpulse.rules.yml"
    path.write_text(gpulse("--config", config, "rules", "--format", "prometheus").out)
    names = alerts_of(path)
    assert "GpuLost" not in names and len(names["GpuTemperatureGpu"]) == 1
    assert "for: 90s\n        keep_firing_for: 10m\n" in path.read_text()
    check(path, [
        {"interval": "1m", "input_series": [{"series": series("gpulse_temperature_gpu_celsius", GPU), "values": "75x40"},
                                            {"series": series("gpulse_gpu_utilization_ratio", GPU), "values": "0.04x200"},
                                            {"series": series("gpulse_xid_last_timestamp_seconds", GPU | {"xid": "79"}), "values": "0x200"}],
         "alert_rule_test": [
             {"eval_time": "30m", "alertname": "GpuTemperatureGpu", "exp_alerts": [
                 {"exp_labels": GPU | {"severity": "info"},
                  "exp_annotations": {key: rendered(text, GPU, "75") for key, text in names["GpuTemperatureGpu"][0].items() if key in ("summary", "description")}}]},
             {"eval_time": "59m", "alertname": "GpuXid", "exp_alerts": [
                 {"exp_labels": GPU | {"xid": "79", "severity": "critical"},
                  "exp_annotations": {key: rendered(text, GPU | {"xid": "79"}, "") for key, text in names["GpuXid"][0].items() if key in ("summary", "description")}}]},
             {"eval_time": "61m", "alertname": "GpuXid", "exp_alerts": []},
             {"eval_time": "119m", "alertname": "GpuIdle", "exp_alerts": []},
             {"eval_time": "121m", "alertname": "GpuIdle", "exp_alerts": [
                 {"exp_labels": GPU | {"severity": "warning"},
                  "exp_annotations": {"summary": 'GPU 0 of n1:9837 is {{ idle }} at 0.04: "$(x)" ü',
                                      "description": rendered(names["GpuIdle"][0]["description"], GPU, "0.04")}}]},
         ]},
    ])  # fmt: skip


def test_the_list_has_a_line_for_each() -> None:
    listed = gpulse("rules")
    rules = gpulse("rules", "--format", "prometheus").out
    assert [line.split()[0] for line in listed.lines[1:]] == re.findall(r"- alert: (\w+)", rules)
    assert "temperature_gpu_celsius >= 90" in listed.out and "…" not in listed.out


def test_the_dashboard_asks_for_what_there_is() -> None:
    board = gpulse("rules", "--format", "grafana").json
    assert [variable["name"] for variable in board["templating"]["list"]] == ["datasource", "host", "gpu"]
    metrics = gpulse("explain", "--all", "--json").json["metrics"]
    known = {m["prometheus"] for m in metrics if m["scope"] == "device"}
    expressions = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(expressions) > 40
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    named = {name for text in expressions for name in re.findall(r"gpulse_\w+", text)}
    assert len(named & known) > 20
    whole = gpulse("rules", "--format", "grafana", "--metrics", "all").out
    assert "gpulse_fp16_active_ratio" not in json.dumps(board) and "gpulse_fp16_active_ratio" in whole
    titles = [panel["title"] for panel in board["panels"] if panel["type"] == "row"]
    assert {"activity", "memory", "power", "temperature", "Between scrapes"} <= set(titles)
    for panel in board["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sums") / "sums.rules.yml"
    path.write_text(gpulse("rules", "--format", "recording").out)
    return path


@needs_promtool
def test_a_fleet_is_summed_up(sums: Path) -> None:
    done = subprocess.run(["promtool", "check", "rules", sums], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def gpu(host: str, uuid: str, **more: str) -> dict[str, str]:
        return {"cluster": "a", "instance": host, "uuid": uuid} | more

    given = {
        # Two scrapers of n1.
        ("gpulse_gpus", "n1", "prometheus-0"): "2x40", ("gpulse_gpus", "n1", "prometheus-1"): "2x40", ("gpulse_gpus", "n2", "prometheus-0"): "1x40",
    }  # fmt: skip
    input_series = [{"series": series(name, {"cluster": "a", "instance": host, "scraper": by}), "values": values}
                    for (name, host, by), values in given.items()]  # fmt: skip
    readings = [
        ("gpulse_sm_active_ratio", gpu("n1", "g1"), "0.9x40"),
        ("gpulse_sm_active_ratio", gpu("n1", "g2"), "0.1x40"),
        ("gpulse_sm_active_ratio", gpu("n2", "g3"), "0.2x40"),
        ("gpulse_power_draw_watts", gpu("n1", "g1"), "600x40"),
        ("gpulse_power_draw_watts", gpu("n2", "g3"), "100x40"),
        ("gpulse_temperature_gpu_celsius", gpu("n1", "g1"), "60x40"),
        ("gpulse_temperature_gpu_celsius", gpu("n1", "g2"), "70x40"),
        # ann and bob share a GPU.
        ("gpulse_gpu_owner_info", gpu("n1", "g1", user="ann", batch_job="7"), "1x40"),
        ("gpulse_gpu_owner_info", gpu("n1", "g1", user="bob"), "1x40"),
        ("gpulse_gpu_owner_info", gpu("n2", "g3", user="ann"), "1x40"),
        # Of two instances of a GPU ann holds both, and bob one.
        *(("gpulse_gpu_info", gpu("n3", uuid, gpu=number, **more), "1x40")
          for uuid, number, more in (("g4", "0", {}), ("m1", "0:1", {"parent": "g4"}), ("m2", "0:2", {"parent": "g4"}))),
        *(("gpulse_gpu_owner_info", gpu("n3", uuid, user=user), "1x40") for uuid, user in (("m1", "ann"), ("m2", "ann"), ("m2", "bob"))),
        *(("gpulse_finding", gpu("n3", uuid, finding="hung"), "1x40") for uuid in ("g4", "m1", "m2")),
        *(("gpulse_gpu_state", gpu("n3", uuid, gpu=number, state="lost"), "1x40") for uuid, number in (("g4", "0"), ("m1", "0:1"))),
        ("gpulse_power_draw_watts", gpu("n3", "g4", gpu="0"), "300x40"),
        ("gpulse_power_draw_watts", gpu("n3", "m1", gpu="0:1"), "300x40"),
        ("gpulse_gpu_state", gpu("n1", "g2", state="ok"), "0x40"),
        ("gpulse_gpu_state", gpu("n1", "g2", state="lost"), "1x40"),
        ("gpulse_gpu_state", gpu("n1", "g1", state="lost"), "0x40"),
    ]
    input_series += [{"series": series(name, labels), "values": values} for name, labels, values in readings]
    wanted = {
        'instance:gpulse_gpus:sum{cluster="a",instance="n1"}': 2,
        'cluster:gpulse_gpus:sum{cluster="a"}': 3,
        'instance:gpulse_sm_active_ratio:avg{cluster="a",instance="n1"}': 0.5,
        'cluster:gpulse_sm_active_ratio:avg{cluster="a"}': 0.4,
        'cluster:gpulse_power_draw_watts:sum{cluster="a"}': 1000,
        'instance:gpulse_power_draw_watts:sum{cluster="a",instance="n3"}': 300,
        'cluster:gpulse_temperature_gpu_celsius:max{cluster="a"}': 70,
        'cluster:gpulse_gpus_lost:count{cluster="a"}': 2,
        'cluster:gpulse_gpus_held:count{cluster="a"}': 3,
        'instance:gpulse_gpus_held:count{cluster="a",instance="n3"}': 1,
        'instance:gpulse_gpus_with_findings:count{cluster="a",instance="n3"}': 1,
        'user:gpulse_gpus_held:count{cluster="a",user="ann"}': 3,
        'user:gpulse_power_draw_watts:sum{cluster="a",user="ann"}': 1000,
        'user:gpulse_sm_active_ratio:avg{cluster="a",user="ann"}': 0.55,
        'user:gpulse_power_draw_watts:sum{cluster="a",user="bob"}': 900,
        'batch_job:gpulse_gpus_held:count{batch_job="7",cluster="a"}': 1,
    }
    expected = [{"expr": text, "eval_time": "10m", "exp_samples": [{"labels": text, "value": value}]} for text, value in wanted.items()]
    check(sums, [{"interval": "1m", "input_series": input_series, "promql_expr_test": expected}])


def test_an_unknown_format_is_a_mistake() -> None:
    done = gpulse("rules", "--format", "nagios")
    assert done.code == 2 and "--format" in done.err
