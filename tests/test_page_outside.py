"""The page and what it is told: the demo, GPUs that fail, a driver that hangs, seven tabs, and texts that mean harm."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent import wait_for
from browser import address, until, visiting
from harness import ROOT
from hostile_relay import hostile_relay
from web import WebAgent

# Markup, an end of what it could stand in, quotes; a formula; what turns the writing direction.
EVIL = "=1+<img src=x onerror=alert(1)><svg onload=alert(2)></script></title><b>\"'`&amp;\u202e${7*7}"


def test_the_demo_goes_through_all_views(browser: Browser, place: Path) -> None:
    with WebAgent(place, "--demo", "--history", place / "history.db", scenario=None) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port))
        expect(page.locator(".host")).to_contain_text("DEMO")
        count = len(agent.ask("/api/v1/devices").json["devices"])
        assert count >= 1
        expect(page.locator(".gpus tbody tr")).to_have_count(count)
        page.wait_for_selector(".plot canvas")
        page.get_by_role("link", name="GPU 0", exact=True).click()
        expect(page.locator("h1")).to_have_text("GPU 0")
        page.wait_for_selector(".groups td")
        page.get_by_role("link", name="Processes").click()
        wait_for(lambda: page.locator(".processes tbody tr").count() > 0, "the recording's processes")
        page.get_by_role("link", name="Findings & events").click()
        expect(page.locator("h2", has_text="What was found in this time")).to_be_visible()


def test_a_map_of_many_gpus_leads_to_one(browser: Browser, place: Path) -> None:
    with WebAgent(place, "--history", place / "history.db", scenario="hundred-twenty-eight") as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port, "#range=1m"))
        tile = page.locator(".map .tile", has_text="127")
        until(page, "/%/.test([...document.querySelectorAll('.map .tile')].at(-1)?.title ?? '')")
        share = agent.ask("/api/v1/snapshot?devices=127&processes=0").json["devices"][0]["metrics"]["gpu_utilization_percent"]
        assert share is not None
        # All of them are rows of one picture, each lower than a pixel, and the pointer tells which.
        page.wait_for_selector(".plot canvas")
        area = page.locator(".plot .u-over").first
        area.scroll_into_view_if_needed()
        wait_for(lambda: page.evaluate("gpulse.timeline().plots[0].isHeat"), "rows of colours")
        page.wait_for_timeout(1500)
        box = area.bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] - 10, box["y"] + 2)
        expect(page.locator(".tip:visible")).to_contain_text(re.compile(r"GPU [0-3] "))
        page.mouse.move(box["x"] + box["width"] - 10, box["y"] + box["height"] - 2)
        expect(page.locator(".tip:visible")).to_contain_text(re.compile(r"GPU 12[4-7] "))
        tile.click()
        expect(page.locator("h1")).to_have_text("GPU 127")


FAULTS = """
[[device]]
profile = "h100"
lost = [[4, 10]]
[[device]]
profile = "rtx4090"
[[device]]
profile = "h100"
from = 5
[[fault]]
call = "nvmlDeviceGetMemoryInfo_v2"
device = 1
code = 4
[[event]]
time = 4
device = 0
type = "xid"
data = 79
[[event]]
time = 6
device = 1
type = "xid"
data = 48
[[event]]
time = 5
device = 2
type = "bind"
"""


def test_faults_are_told_where_they_are(browser: Browser, place: Path) -> None:
    """A GPU is lost and comes back, two report errors, one cannot tell its memory, and one comes later."""
    scenario = place / "faults.toml"
    scenario.write_text(FAULTS)
    with WebAgent(place, "--history", place / "history.db", scenario=scenario) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port, "#range=1m"))
        expect(page.locator(".gpus tr.gone")).to_contain_text("lost", timeout=20_000)
        expect(page.locator(".events")).to_contain_text("79", timeout=20_000)
        expect(page.locator(".events")).to_contain_text("48", timeout=20_000)
        # Back again, and with it the new one, which the driver counts when it is started anew; where it was lost is a gap.
        expect(page.locator(".gpus tr.gone")).to_have_count(0, timeout=25_000)
        expect(page.locator(".legend .chip")).to_have_count(3, timeout=25_000)
        expect(page.locator(".gpus tbody tr")).to_have_count(3)
        values = "gpulse.model.lines(gpulse.model.plots()[0])[0].curve.value"
        wait_for(lambda: page.evaluate(f"{values}.slice(-2).every((v) => v !== null)"), "new samples")
        inner = page.evaluate(f"{values}.slice({values}.findIndex((v) => v !== null), -2)")
        assert sum(value is None for value in inner) >= 3
        # What a GPU cannot tell is no number.
        assert agent.ask("/api/v1/snapshot?devices=1&processes=0").json["devices"][0]["metrics"]["memory_used_bytes"] is None
        cell = page.locator(".gpus tr", has_text="GPU 1").locator("td .number").nth(2)
        expect(cell).to_have_text("–")
        assert cell.get_attribute("title")


def test_a_driver_that_hangs_is_shown(browser: Browser, place: Path) -> None:
    scenario = place / "hang.toml"
    device = '[[device]]\nprofile = "h100"\n'
    scenario.write_text(device + device + '[[fault]]\ncall = "nvmlDeviceGetPowerUsage"\ndevice = 1\nhang = true\nfrom = 3\n')
    with WebAgent(place, "--history", place / "history.db", scenario=scenario) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port, "#range=1m"))
        gone = page.locator(".gpus tr.gone")
        expect(gone).to_have_count(1, timeout=20_000)
        expect(gone).to_contain_text("GPU 1")
        expect(gone).to_contain_text("not responding")
        expect(page.locator(".tile-card").first).to_contain_text("1 not ok")
        # The other goes on.
        expect(page.locator(".status")).to_have_text("live")
        page.get_by_role("link", name="GPU 1", exact=True).click()
        expect(page.locator(".heading")).to_contain_text("not responding")


def test_seven_tabs_share_one_stream(browser: Browser, place: Path) -> None:
    with WebAgent(place, "--history", place / "history.db", scenario="eight") as agent, visiting(browser) as visit:
        with hostile_relay(agent.port, "text") as relay:
            pages = [visit.open(address(relay.server_port, "#range=1m")) for _ in range(7)]
            for page in pages:
                before = page.evaluate("gpulse.model.sample.time")
                until(page, f"gpulse.model.sample.time !== '{before}'")
            wait_for(lambda: relay.streams == 1, "one stream for all")
            # The stream does not belong to the first of them.
            for page in pages[:6]:
                page.close()
            before = pages[6].evaluate("gpulse.model.sample.time")
            until(pages[6], f"gpulse.model.sample.time !== '{before}'")
            assert relay.streams == 1


def test_names_from_the_driver_are_text(browser: Browser, place: Path) -> None:
    """As they come from a driver and from /proc, by way of the agent as it is."""
    evil = EVIL.replace("\u202e", "").replace("'", "’")
    scenario = place / "evil.toml"
    scenario.write_text(f"[[device]]\nprofile = \"h100\"\nname = '''{evil}'''\n[[process]]\ndevice = 0\npid = 4000000\ncommand = '''{evil}'''\n")
    with WebAgent(place, "--history", place / "history.db", scenario=scenario) as agent, visiting(browser) as visit:
        for view in VIEWS:
            check_nothing_ran(visit.open(address(agent.port, view)))
        page = visit.open(address(agent.port))
        expect(page.locator(".gpus small")).to_have_text(evil)


VIEWS = ("#range=1m", "#view=gpu&gpu=0", "#view=processes", "#view=processes&sums=user", "#view=processes&sums=job", "#view=events")


def check_nothing_ran(page: Page) -> None:
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.wait_for_timeout(700)
    # The page itself has no such elements in what is told, and one script, which is a file.
    assert page.locator("img, svg, iframe, object, main script, style:not([data-own])").count() == 0
    assert page.locator("script").count() == 1
    # Its own bold words hold text only.
    assert page.evaluate("[...document.querySelectorAll('b')].every((one) => one.childElementCount === 0)")


def test_every_part_of_the_page_takes_text_as_text(browser: Browser, place: Path) -> None:
    """Whatever the agent says of a host, a GPU, a process, a user, a job, an event or a finding is hostile here."""
    scenario = place / "eight.toml"
    event = '[[event]]\ntime = 3\ndevice = 0\ntype = "xid"\ndata = 79\n'
    scenario.write_text((ROOT / "sim" / "scenarios" / "eight.toml").read_text() + event)
    with WebAgent(place, "--history", place / "history.db", scenario=scenario) as agent, visiting(browser) as visit:
        wait_for(lambda: agent.ask("/api/v1/events?since=1m").json.get("events"), "an event", 40)
        wait_for(lambda: agent.ask("/api/v1/findings?since=1m").json.get("spans"), "findings", 40)
        with hostile_relay(agent.port, EVIL) as relay:
            shown: dict[str, Page] = {}
            for view in VIEWS:
                shown[view] = visit.open(address(relay.server_port, view))
                check_nothing_ran(shown[view])
            page = shown["#range=1m"]
            assert EVIL in page.title()
            for part in (".host", ".gpus small", ".findings h3", ".findings p", ".events li", ".plot h3", ".lanes .bar"):
                expect(page.locator(part).first).to_contain_text(EVIL)
            # A card that is opened, a finding's bar that is pressed, the list of plots, a plot with the pointer on it.
            page.locator(".finding summary").first.click()
            expect(page.locator(".advice li").first).to_have_text(EVIL)
            page.locator(".lanes .bar.warn").first.click()
            page.locator(".picker > summary").click()
            expect(page.locator(".menu label").first).to_contain_text(EVIL)
            page.locator(".picker > summary").click()
            page.locator(".plot .u-over").first.hover()
            check_nothing_ran(page)
            assert page.locator(".plot .badge").first.get_attribute("title") is not None
            with page.expect_download() as download:
                page.get_by_role("button", name="CSV").click()
            assert not any(mark in download.value.suggested_filename for mark in "<>/\"'=&")
            lines = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
            assert len({len(line) for line in lines}) == 1
            with page.expect_download() as download:
                page.get_by_role("button", name="PNG").click()
            assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
            expect(shown["#view=gpu&gpu=0"].locator(".heading")).to_contain_text(EVIL)
            expect(shown["#view=gpu&gpu=0"].locator(".facts dd", has_text=EVIL).first).to_be_visible()
            expect(shown["#view=events"].locator(".past h3").first).to_have_text(EVIL)
            expect(shown["#view=events"].locator(".events li").first).to_contain_text(EVIL)
