"""`gpulse explain FINDING`: what it means, how it is told, how to confirm it, what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness import ROOT, gpulse

# A contract: other programs and old recordings have these words.
FINDINGS = """
input-cpu input-io launch-bound memory-bandwidth tensor-unused wrong-precision copy-bound throttled-power
throttled-thermal throttled-hardware memory-leak memory-full out-of-memory memory-headroom memory-held-idle host-memory
spinning hung periodic-stalls imbalance link-degraded health healthy idle unknown
""".split()


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    told: dict[str, Any] = gpulse("explain", "--all", "--json").json
    return told


def test_json_has_every_finding_and_only_metrics_that_exist(table: dict[str, Any]) -> None:
    assert [row["id"] for row in table["findings"]] == FINDINGS
    keys = {row["key"] for row in table["metrics"]}
    for row in table["findings"]:
        assert row["see_also"] and set(row["see_also"]) <= keys, row["id"]
        assert bool(row["fix"]) == bool(row["helped"]) == (row["id"] not in ("healthy", "idle")), row["id"]


@pytest.mark.parametrize("finding", FINDINGS)
def test_every_finding_has_a_page(finding: str, table: dict[str, Any]) -> None:
    result = gpulse("explain", finding)
    assert (result.code, result.err) == (0, "")
    row = next(row for row in table["findings"] if row["id"] == finding)
    assert result.out.startswith(f"{finding}  {row['title']}\n")
    flat = " ".join(result.out.split())
    for text in [row["meaning"], row["told"], row["confirm"], *row["fix"], *row["see_also"]]:
        assert text in flat
    assert all(gpulse("explain", alias).out == result.out for alias in row["aliases"])


def test_oom_is_out_of_memory() -> None:
    assert gpulse("explain", "oom").out == gpulse("explain", "out-of-memory").out
    assert gpulse("explain", "OOM").out.startswith("out-of-memory  ")


def test_metrics_and_findings_can_be_asked_together() -> None:
    out = gpulse("explain", "sm_active_percent", "launch-bound").out
    assert re.findall(r"^\S+", out, re.MULTILINE) == ["sm_active_percent", "launch-bound"]


def test_the_lists_have_every_finding() -> None:
    for arguments in ([], ["--all"], ["findings"]):
        out = gpulse("explain", *arguments).out
        listed = out[out.index("findings\n") :].splitlines()[1:]
        assert [line.split()[0] for line in listed] == FINDINGS


@pytest.mark.parametrize(
    "arguments, line",
    [
        (["inptu-cpu"], "gpulse: no metric or finding 'inptu-cpu': did you mean input-cpu?\n"),
        (["zzzzzzzzzzzzzz"], "gpulse: no metric or finding 'zzzzzzzzzzzzzz': `gpulse explain` lists them\n"),
        (["oom", "zzzzzzzzzzzzzz"], "gpulse: no metric or finding 'zzzzzzzzzzzzzz': `gpulse explain` lists them\n"),
        (["--markdown", "poems"], "gpulse: no reference page 'poems': metrics or findings\n"),
    ],
)
def test_a_name_that_is_none(arguments: list[str], line: str) -> None:
    result = gpulse("explain", *arguments)
    assert (result.code, result.out, result.err) == (2, "", line)


def test_the_page_has_an_anchor_for_each_finding() -> None:
    page = (ROOT / "docs" / "findings.md").read_text()
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == FINDINGS
    assert re.findall(r"^\| \[(\S+)\]\(#\1\) \|", page, re.MULTILINE) == FINDINGS


def test_the_commands_that_the_pages_name_exist(table: dict[str, Any]) -> None:
    texts = [text for row in table["findings"] for text in [row["confirm"], row["helped"] or "", *row["fix"]]]
    asked = {topic for text in texts for topic in re.findall(r"gpulse explain ([a-z_-]+)", text)} - {"xid"}
    assert asked
    for topic in asked:
        assert gpulse("explain", topic).code == 0, topic
