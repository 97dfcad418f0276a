"""Findings in the library: Monitor.findings() and gpulse.diagnose() in Python, the same in C and C++."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Result
from python_program import output_of
from test_library import program

__all__ = ["program"]  # a fixture

# On the first GPU a process of the test's own holds memory and runs nothing, the kernels of the second are tiny, and nobody
# uses the third.
WASTED = """
[[device]]
profile = "h200"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 0
memory_util = 0
memory_used_mib = 20500
power_w = 120
event_reasons = 1
held_power_ns = 0
[device.gpm]
gract = 0
smutil = 0
mmaact = 0
dram = 0

[[device]]
profile = "h200"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
gpu_util = 70
memory_used_mib = 90500
event_reasons = 1
held_power_ns = 0
[device.gpm]
gract = 60
smutil = 3
mmaact = 1
dram = 2

[[device]]
profile = "h200"
gpu_util = 0
power_w = 100
event_reasons = 1
held_power_ns = 0
[device.gpm]
gract = 0
smutil = 0

[[process]]
device = 0
pid = "self"
command = "python3"
memory_mib = 20000
sm = 0

[[process]]
device = 1
pid = "self"
command = "python3"
memory_mib = 90000
sm = 70
"""
FIRST, SECOND = "GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000000"


@pytest.fixture
def wasted(scenario: Callable[[str], Path]) -> Path:
    return scenario(WASTED)


def test_findings_that_last_have_numbers_and_are_those_of_the_devices_shown(wasted: Path) -> None:
    """The first call begins to watch; another monitor in the same program looks at one GPU alone."""
    told = json.loads(output_of(
        """
        import dataclasses, json, os, time
        begun = time.time()
        with gpulse.Monitor("all", interval=0.5) as monitor, gpulse.Monitor(["1"], interval=0.5, findings=True) as one:
            nothing = monitor.findings()
            while (len(found := monitor.findings()) < 2 or not one.findings()) and time.time() - begun < 40:
                time.sleep(0.2)
            again = [finding.number for finding in monitor.findings()]
            print(json.dumps({"nothing": nothing, "seconds": time.time() - begun, "begun": begun, "pid": os.getpid(),
                              "again": again, "found": [dataclasses.asdict(finding) for finding in found],
                              "one": [finding.uuids for finding in one.findings()], "stats": monitor.stats().missed}))
        """,
        scenario=wasted,
    ))  # fmt: skip
    assert told["nothing"] == []
    hung, launch = told["found"]
    assert (hung["id"], hung["severity"], hung["devices"], hung["uuids"]) == ("hung", "problem", ["0"], [FIRST])
    assert (launch["id"], launch["severity"], launch["devices"], launch["uuids"]) == ("launch-bound", "problem", ["1"], [SECOND])
    assert hung["pids"] == launch["pids"] == [told["pid"]]
    assert hung["lost_share"] == 1
    assert launch["lost_share"] == pytest.approx(0.97)  # 3 % of the processors are active
    assert hung["evidence"]["memory_held_bytes"] == 20000 << 20
    assert launch["evidence"]["sm_active_percent"] == 3
    assert all(0 < one["confidence"] <= 1 and one["advice"] and not one["estimated"] for one in told["found"])
    assert all(told["begun"] - 1 < one["since"] < one["until"] for one in told["found"])
    assert hung["number"] != launch["number"] and min(hung["number"], launch["number"]) > 0
    assert told["again"] == [hung["number"], launch["number"]]
    assert told["one"] == [[SECOND]]
    # Two judgements that agree: 10 seconds, and 5 more.
    assert 14 < told["seconds"] < 40


def test_a_diagnosis_watches_for_as_long_as_told_and_tells_what_is_well_too(wasted: Path) -> None:
    out = output_of(
        """
        import dataclasses, time
        begun = time.monotonic()
        found = gpulse.diagnose("3s")
        print(3 < time.monotonic() - begun < 8)
        for finding in found:
            print(finding)
            print(finding.id, finding.number, finding.lost_share, finding.datetime.tzinfo, 2.9 < finding.until - finding.since < 5)
            try:
                finding.id = "healthy"
            except dataclasses.FrozenInstanceError:
                print("frozen")
        print(repr(found[0]).startswith("Finding(id='launch-bound', severity='problem', confidence="))
        """,
        scenario=wasted,
        CUDA_VISIBLE_DEVICES="1,2",
    )
    assert out.splitlines() == [
        "True",
        "problem: launch-bound, GPU 1: Kernels are too small: they run for 60 % of the time on 3 % of the processors",
        "launch-bound 0 0.97 UTC True",
        "frozen",
        "ok: idle, GPU 2: Nobody uses the GPU",
        "idle 0 None UTC True",
        "frozen",
        "True",
    ]


def test_what_cannot_be_judged_is_said_in_a_sentence(wasted: Path) -> None:
    out = output_of(
        """
        for seconds in (1, 1000, "soon", float("nan")):
            try:
                gpulse.diagnose(seconds)
            except ValueError as problem:
                print(problem)
        with gpulse.Monitor(interval=0.1) as monitor:
            monitor.wait()
            for seconds in (30, 1):
                try:
                    monitor.diagnose(seconds)
                except (gpulse.NoSample, ValueError) as problem:
                    print(type(problem).__name__, problem)
        try:
            monitor.findings()
        except gpulse.MonitorClosed as problem:
            print(problem)
        """,
        scenario=wasted,
    )
    assert out.splitlines() == [
        "1 cannot be judged as one: 3 to 120 seconds",
        "1000 cannot be judged as one: 3 to 120 seconds",
        "'soon' is no time: write 900, '15m' or '2h'",
        "nan cannot be judged as one: 3 to 120 seconds",
        "NoSample too little was seen to judge: watch for at least 3 s",
        "ValueError 1 s cannot be judged as one: 3 to 120 seconds",
        "the monitor was closed: make a new one",
    ]


def test_a_machine_without_a_gpu_has_no_findings() -> None:
    out = output_of(
        """
        print(gpulse.diagnose(60))
        with gpulse.Monitor(interval=0.1, findings=True) as monitor:
            monitor.wait()
            print(monitor.findings())
        """,
        timeout=20,
    )
    assert out == "[]\n[]\n"


IN_C = r"""
    gpulse_monitor *monitor; gpulse_sample *sample; gpulse_findings *findings = (gpulse_findings *)argv;
    gpulse_options options; gpulse_options_init(&options); options.interval = 0.25; options.flags = GPULSE_FINDINGS;
    gpulse_findings_info info = {.size = sizeof info}; gpulse_finding one = {.size = sizeof one};
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK);
    CHECK(gpulse_diagnose(monitor, 10, &findings) == GPULSE_TIMEOUT && findings == NULL);
    CHECK(strcmp(gpulse_last_error(), "too little was seen to judge: watch for at least 3 s") == 0);
    CHECK(gpulse_diagnose(monitor, NAN, &findings) == GPULSE_INVALID && gpulse_diagnose(monitor, 121, &findings) == GPULSE_INVALID);
    CHECK(gpulse_get_findings(NULL, &findings) == GPULSE_INVALID && gpulse_get_findings(monitor, NULL) == GPULSE_INVALID);
    CHECK(gpulse_diagnose(NULL, 10, &findings) == GPULSE_INVALID && gpulse_diagnose(monitor, 10, NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_findings_info(NULL, &info) == GPULSE_INVALID && gpulse_get_finding(NULL, 0, &one) == GPULSE_INVALID);
    gpulse_findings_free(NULL);

    CHECK(gpulse_get_findings(monitor, &findings) == GPULSE_OK);
    CHECK(gpulse_get_findings_info(findings, &info) == GPULSE_OK && info.count == 0 && info.samples == 0);
    CHECK(strcmp(info.verdict, "unknown") == 0 && gpulse_get_finding(findings, 0, &one) == GPULSE_INVALID);
    CHECK(strcmp(gpulse_last_error(), "no finding 0") == 0);
    gpulse_findings_free(findings);

    CHECK(gpulse_wait(monitor, 24, 30, &sample) == GPULSE_OK);
    gpulse_release(sample);
    pid_t child = fork();
    if (child == 0) _exit(gpulse_get_findings(monitor, &findings) == GPULSE_FORKED && gpulse_diagnose(monitor, 5, &findings) == GPULSE_FORKED ? 0 : 1);
    int status; CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(gpulse_diagnose(monitor, 120, &findings) == GPULSE_OK);
    gpulse_close(monitor); /* the list stays good */
    CHECK(gpulse_get_findings_info(findings, &info) == GPULSE_OK && info.count == 3 && info.samples > 10);
    CHECK(info.end - info.begin > 3000000000 && strcmp(info.verdict, "hung") == 0);
    CHECK(gpulse_get_finding(findings, 0, &one) == GPULSE_OK);
    CHECK(one.number == 0 && strcmp(one.id, "hung") == 0 && one.severity == GPULSE_PROBLEM && one.lost_share == 1 && !one.estimated);
    CHECK(one.confidence > 0 && one.confidence <= 1 && one.since < one.until && strstr(one.text, "holds 19.5 GiB") != NULL);
    CHECK(one.device_count == 1 && strcmp(one.devices[0], "0") == 0 && strncmp(one.uuids[0], "GPU-aaaa", 8) == 0);
    CHECK(one.pid_count == 1 && one.pids[0] == (uint32_t)getpid() && one.advice_count > 0 && one.advice[one.advice_count - 1][0] != 0);
    int seen = 0;
    for (uint32_t i = 0; i < one.fact_count; ++i) {
      if (strcmp(one.facts[i], "memory_held_bytes") == 0) { CHECK(one.values[i] == 20971520000.0); ++seen; }
    }
    CHECK(seen == 1);
    CHECK(gpulse_get_finding(findings, 1, &one) == GPULSE_OK && strcmp(one.id, "launch-bound") == 0);
    CHECK(gpulse_get_finding(findings, 2, &one) == GPULSE_OK && strcmp(one.id, "idle") == 0 && one.severity == GPULSE_WELL);
    CHECK(isnan(one.lost_share) && one.pid_count == 0 && one.advice_count == 0);
    CHECK(gpulse_get_finding(findings, 3, &one) == GPULSE_INVALID && gpulse_get_finding(findings, 0, NULL) == GPULSE_INVALID);
    /* An older program's struct ends behind the id. */
    memset(&one, 0x5a, sizeof one);
    one.size = offsetof(gpulse_finding, severity);
    CHECK(gpulse_get_finding(findings, 0, &one) == GPULSE_OK && strcmp(one.id, "hung") == 0);
    for (size_t i = one.size; i < sizeof one; ++i) CHECK(((unsigned char *)&one)[i] == 0x5a);
    gpulse_findings_free(findings);
"""

IN_CPP = r"""
    using namespace std::chrono_literals;
    gpulse::Options options; options.interval = 250ms; options.findings = true; options.agent = false;
    std::vector<gpulse::Finding> kept;
    {
      gpulse::Monitor monitor(options);
      CHECK(!monitor.diagnose() && monitor.findings().samples == 0 && monitor.findings().all.empty());
      try { monitor.diagnose(1s); return 1; } catch (const gpulse::Error &error) { CHECK(error.status() == GPULSE_INVALID); }
      CHECK(monitor.wait(30s, 24));
      const auto told = monitor.diagnose(120s);
      CHECK(told && told->verdict == "hung" && told->samples > 10 && told->end - told->begin > 3s);
      kept = told->all;
    }
    CHECK(kept.size() == 3 && kept[2].id == "idle" && !kept[2].lost_share && kept[2].pids.empty() && kept[0].id == "hung" && kept[1].id == "launch-bound" && kept[1].severity == GPULSE_PROBLEM);
    CHECK(*kept[0].lost_share == 1 && kept[0].devices == std::vector<std::string>{"0"} && kept[0].uuids[0].substr(0, 8) == "GPU-aaaa");
    CHECK(kept[0].pids == std::vector<std::uint32_t>{static_cast<std::uint32_t>(getpid())} && !kept[0].advice.empty());
    CHECK(kept[0].since < kept[0].until && std::chrono::system_clock::now() - kept[0].until < 10s);
    CHECK(kept[0].evidence[0].first == "gpu_utilization_percent" && kept[0].evidence[0].second == 0);
"""


@pytest.mark.parametrize(("language", "body"), [("c", IN_C), ("cpp", IN_CPP)])
def test_programs_in_c_and_cpp_get_them(program: Callable[..., Result], wasted: Path, language: str, body: str) -> None:
    before = "#include <stddef.h>\n" if language == "c" else "#include <vector>\n"
    assert program(body, language=language, before=before, scenario=wasted) == Result(0, "", "")
