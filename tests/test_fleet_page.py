"""The page of `gpulse serve --fleet` in a browser: three hosts and thousands, the past, an engine that goes away, texts that mean harm."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agent import open_folder
from browser import address, until, visiting
from engine_data import Series, write
from fleet_web import AFTER, BROKE, STEP, FleetServer, write_three
from harness import ROOT
from scrapers import free_port, needs_victoria, victoria_metrics

pytestmark = needs_victoria

EVIL = "\u202e<img src=x onerror=alert(1)></script>\"'`&amp;\n${7*7}" + "W" * 2000


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetServer]:
    with victoria_metrics(tmp_path_factory.mktemp("engine"), None) as engine, open_folder() as folder:
        write_three(engine, int(time.time()))
        with FleetServer(folder, engine.address) as server:
            yield server


def cells(page: Page) -> list[tuple[str, str]]:
    """Of each cell of the map its host and its GPU, in their order."""
    return [
        tuple(one)
        for one in page.evaluate(
            """gpulse.map.layout.cells.map(({ row }) => {
                 const { hosts, gpus } = gpulse.model.fleet; return [hosts[gpus.host[row]].name, gpus.id[row]]; })"""
        )
    ]


def names(page: Page) -> list[str]:
    return page.locator(".groups-list .opener").all_inner_texts()


def click_cell(page: Page, place: int) -> None:
    cell = page.evaluate(f"(({{ cells, size }}) => [cells[{place}].x + size / 3, cells[{place}].y + size / 3])(gpulse.map.layout)")
    canvas = page.locator(".map-area canvas")
    canvas.scroll_into_view_if_needed()
    canvas.click(position={"x": cell[0], "y": cell[1]})


def test_the_overview_says_what_there_is_and_what_is_wrong(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        expect(page.locator(".groups-list .opener")).to_have_text(["beta", "mute", "alpha"])
        tiles = page.locator(".tile-card").all_inner_texts()
        assert [tile.split("\n")[:2] for tile in tiles[:2]] == [["hosts", "3"], ["GPUs", "12"]]
        # Seven tell: four of 60 % and three of 33 %; they leave 1.6 and 2 GPUs.
        assert tiles[2].split("\n") == ["held", "7", "of 7 that tell"]
        assert tiles[3].split("\n") == ["truly used", "49 %", "7 tell; utilization 73 %"]
        assert tiles[4].split("\n")[1] == "3.6" and tiles[5].split("\n")[1] == "3500 W"
        expect(page.get_by_role("button", name="1 lost")).to_be_visible()
        expect(page.get_by_role("button", name="1 silent host")).to_be_visible()
        expect(page.locator(".notices")).to_contain_text(re.compile(r"Silent: mute for \d+ min.*, since "))
        assert cells(page) == [(host, str(index)) for host in ("beta", "mute", "alpha") for index in range(4)]
        beta = page.locator(".groups-list tr.group", has_text="beta").locator("td").all_inner_texts()
        assert beta[:5] == ["lost", "4", "3 of 3", "33 %", "50 %"]
        # Nothing is known of a silent host, and nothing is 0.
        mute = page.locator(".groups-list tr.group", has_text="mute").locator("td").all_inner_texts()
        assert re.match(r"silent \d+ min", mute[0]) and set(mute[2:9]) == {"–"}
        expect(page.locator(".map-legend")).to_contain_text("lost")
        expect(page.locator(".map-legend")).to_contain_text("its host is silent")


def test_groups_presets_and_filters(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        page.get_by_role("button", name="What is wasted").click()
        expect(page.locator(".groups-list .opener").first).to_have_text("beta")
        until(page, "location.hash.includes('sort=waste')")
        page.get_by_role("button", name="user", exact=True).click()
        expect(page.locator(".groups-list .opener")).to_have_text(["bob", "ann", "not known"])
        page.locator(".groups-list thead").get_by_role("button", name="User").click()
        expect(page.locator(".groups-list .opener")).to_have_text(["ann", "bob", "not known"])
        box = page.get_by_label("Filter", exact=True)
        box.fill("user=ann")
        expect(page.locator(".groups-list .opener")).to_have_text(["ann"])
        expect(page.locator(".tile-card b").nth(1)).to_have_text("4")
        assert "filter=user%3Dann" in page.url
        box.fill("bet")
        expect(page.locator("#filter-says")).to_contain_text("“bet”: whatever host, cluster, user, job")
        expect(page.locator(".tile-card b").nth(1)).to_have_text("4")
        expect(page.locator(".groups-list .opener")).to_have_text(["bob", "not known"])
        box.fill("nobody-has-it")
        expect(page.locator(".none:visible")).to_have_text("No GPU fits the filter.")
        box.fill("")
        page.get_by_role("button", name="1 lost").click()
        expect(page.locator(".tile-card b").nth(1)).to_have_text("1")
        expect(box).to_have_value("state=lost")
        page.get_by_role("button", name="1 lost").click()
        expect(page.locator(".tile-card b").nth(1)).to_have_text("12")
        box.fill("colour=red")
        expect(page.locator("#filter-says")).to_contain_text("no filter")
        # A browser tells of each answer that is none; curves cannot be filtered by state.
        assert all("status of 400" in line for line in visit.complaints)
        visit.complaints.clear()


def test_a_group_opens_and_leads_to_its_host(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        page.get_by_role("button", name="beta").click()
        rows = page.locator(".groups-list tr.gpu")
        expect(rows).to_have_count(4)
        expect(rows.nth(0)).to_contain_text("bob, job beta-0, account physics")
        lost = rows.nth(1).locator("td").all_inner_texts()
        assert lost[0].startswith("lost") and lost[3:5] == ["–", "–"] and lost[9] == "not told"
        # Who gets the link sees the same.
        again = visit.open(page.url)
        expect(again.locator(".groups-list tr.gpu")).to_have_count(4)
        page.get_by_role("link", name="GPU 2").click()
        page.wait_for_selector(".status.good")
        assert "/host/beta/#view=gpu&gpu=2" in page.url
        expect(page.locator("h1")).to_have_text("GPU 2")
        expect(page.locator(".host")).to_contain_text("beta")
        expect(page.locator(".processes .none")).to_contain_text("Processes are not told")
        page.get_by_role("link", name="← Fleet").click()
        page.wait_for_selector(".groups-list .opener")
        # The map leads there too, by the pointer and by keys.
        canvas = page.locator(".map-area canvas")
        click_cell(page, 8)
        page.wait_for_url(re.compile("/host/alpha/#view=gpu&gpu=0"))
        page.go_back()
        page.wait_for_selector(".groups-list .opener")
        canvas.focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
            page.keyboard.press(key)
        expect(page.locator(".map-area .tip")).to_contain_text("2 of beta")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/host/beta/#view=gpu&gpu=2"))


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def test_a_moment_of_the_past_is_shown_as_such(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port, "#range=1h"))
        expect(page.locator(".groups-list .opener")).to_have_count(3)
        until(page, "gpulse.model.curves?.series.some(({ value }) => value.some((one) => one !== null))")
        page.goto(address(three.port, f"#at={iso(time.time() - BROKE - 600)}"))
        expect(page.locator(".status")).to_contain_text("the past: ")
        expect(page.locator(".notices")).to_contain_text("This is the past: the fleet as it was on ")
        # Then all was well: twelve GPUs were held, and no host was silent.
        expect(page.locator(".tile-card b").nth(2)).to_have_text("12")
        expect(page.get_by_role("button", name="1 lost")).to_have_count(0)
        expect(page.locator(".notices")).not_to_contain_text("Silent")
        page.get_by_role("button", name="beta").click()
        assert re.search(r"from=.*&to=", page.locator(".gpu-link").first.get_attribute("href") or "")
        page.get_by_role("button", name="Live again").click()
        expect(page.locator(".status")).to_have_text("live")
        expect(page.get_by_role("button", name="1 lost")).to_be_visible()
        # A click into a plot is a moment; the last of the curves are of now.
        area = page.locator(".plot .u-over").first
        area.scroll_into_view_if_needed()
        size = area.bounding_box()
        assert size
        area.click(position={"x": size["width"] * 0.75, "y": 40})
        until(page, "location.hash.includes('at=')")
        expect(page.locator(".status")).to_contain_text("the past: ")
        page.keyboard.press("l")
        expect(page.locator(".status")).to_have_text("live")
        page.get_by_label("Show the fleet as it was at").fill(page.evaluate(f"new Date(Date.now() - {BROKE + 600}e3 + 36e5).toISOString().slice(0, 19)"))
        expect(page.locator(".status")).to_contain_text("the past: ")


def drag(page: Page, plot: int, begin: float, end: float) -> tuple[float, float]:
    """Over a plot, by shares of its width; the times that were under the pointer."""
    area = page.locator(".plot .u-over").nth(plot)
    area.scroll_into_view_if_needed()
    size = area.bounding_box()
    assert size
    span = page.evaluate("gpulse.model.span()")
    page.mouse.move(size["x"] + begin * size["width"], size["y"] + 40)
    page.mouse.down()
    page.mouse.move(size["x"] + (begin + end) / 2 * size["width"], size["y"] + 50)
    page.mouse.move(size["x"] + end * size["width"], size["y"] + 60)
    page.mouse.up()
    wide = span["to"] - span["from"]
    return span["from"] + begin * wide, span["from"] + end * wide


def test_a_drag_is_one_step_to_the_time_under_the_pointer(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port, "#range=1h"))
        until(page, "gpulse.model.curves?.series.some(({ value }) => value.some((one) => one !== null))")
        steps = page.evaluate("history.length")
        begin, end = drag(page, 1, 0.6, 0.9)
        until(page, "gpulse.model.state.span !== null")
        page.wait_for_timeout(300)
        span = page.evaluate("gpulse.model.state.span")
        assert abs(span["from"] - begin) < 30 and abs(span["to"] - end) < 30
        assert page.evaluate("history.length") == steps + 1
        page.go_back()
        until(page, "gpulse.model.state.span === null")


def test_what_is_wrong_leads_to_the_gpus(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        body = page.evaluate("fetch('api/v1/fleet?by=host&sort=health').then((answer) => answer.json())")
        assert body["totals"]["with_remarks"] == 0
        body["totals"] |= {"with_driver_errors": 2, "with_problems": None, "with_notes": 1, "with_remarks": 3, "held_but_idle": 1}
        page.route(re.compile(r"/api/v1/fleet\?"), lambda route: route.fulfill(body=json.dumps(body), content_type="application/json"))
        box = page.get_by_label("Filter", exact=True)
        for name, condition in {
            "2 with XIDs": "xid=*",
            "1 with notes": "severity=note",
            "3 unlike their sisters": "remark=*",
            "1 held but idle": "idle=yes",
        }.items():
            chip = page.get_by_role("button", name=name)
            # By the keyboard, which stays where it is.
            chip.focus()
            page.keyboard.press("Enter")
            expect(box).to_have_value(re.compile(re.escape(condition) + "$"))
            expect(chip).to_be_focused()
            box.fill("")
        expect(page.get_by_role("button", name="with problems")).to_have_count(0)
        expect(page.locator(".fleet-tiles")).to_contain_text("Not all is known.")
        expect(page.locator(".fleet-tiles")).not_to_contain_text("Nothing is wrong")
        visit.complaints[:] = [line for line in visit.complaints if "status of 400" not in line]


def test_filters_of_what_is_wrong_are_the_servers(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port, "#filter=idle%3Dno"))
        # Of the four of the host that is silent nobody knows.
        expect(page.locator(".tile-card b").nth(1)).to_have_text("8")
        for condition in ("idle=yes", "xid=*", "severity=problem"):
            page.get_by_label("Filter", exact=True).fill(condition)
            expect(page.locator(".none:visible")).to_have_text("No GPU fits the filter.")
        expect(page.locator(".fleet-chart")).to_contain_text("There are no curves: curves cannot be filtered by severity")
        visit.complaints[:] = [line for line in visit.complaints if "status of 400" not in line]


def test_the_tip_stays_with_its_gpu(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        expect(page.locator(".groups-list .opener").first).to_have_text("beta")
        page.locator(".map-area canvas").focus()
        page.keyboard.press("ArrowRight")
        tip = page.locator(".map-area .tip")
        expect(tip).to_contain_text("0 of beta")
        left = tip.evaluate("(tip) => tip.style.left + tip.style.top")
        # Alpha comes before it now.
        page.evaluate("location.hash = 'sort=name'")
        expect(page.locator(".groups-list .opener").first).to_have_text("alpha")
        expect(tip).to_contain_text("0 of beta")
        assert tip.evaluate("(tip) => tip.style.left + tip.style.top") != left
        # And when it is not among those that are shown, nothing is told of it.
        page.evaluate("location.hash = 'filter=host%3Dalpha'")
        expect(page.locator(".groups-list .opener")).to_have_count(1)
        expect(tip).to_be_hidden()


def test_the_keyboard_stays_where_it_is(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port, "#open=%3Dbeta"))
        expect(page.locator(".groups-list tr.gpu")).to_have_count(4)
        # The same GPU, wherever it is now.
        page.get_by_role("link", name="GPU 2").focus()
        page.evaluate("location.hash = 'open=%3Dbeta&sort=name'")
        expect(page.locator(".groups-list .opener").first).to_have_text("alpha")
        assert page.evaluate("document.activeElement.getAttribute('href')").endswith("/beta/#view=gpu&gpu=2")
        # Not another one, when it is gone.
        page.evaluate("location.hash = 'open=%3Dbeta&filter=host%3Dalpha'")
        expect(page.locator(".groups-list .opener")).to_have_count(1)
        assert page.evaluate("document.activeElement.matches('.groups-list *')") is False
        page.evaluate("location.hash = ''")
        expect(page.locator(".groups-list .opener")).to_have_count(3)
        # What is pressed keeps it.
        for name in ("3h", "What is wasted", "user"):
            button = page.get_by_role("button", name=name, exact=True)
            button.focus()
            page.keyboard.press("Enter")
            page.wait_for_timeout(200)
            expect(button).to_be_focused()
        head = page.locator(".groups-list thead button", has_text="User")
        head.focus()
        page.keyboard.press("Enter")
        until(page, "location.hash.includes('sort=name')")
        expect(head).to_be_focused()
        expect(head).to_have_text("User ↑")


def test_a_moment_is_taken_when_it_is_whole(browser: Browser, three: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(three.port))
        steps = page.evaluate("history.length")
        field = page.get_by_label("Show the fleet as it was at")
        # A valid moment, of which a digit is typed anew.
        field.evaluate("(field) => { field.value = '2026-01-01T10:00:00'; }")
        field.focus()
        page.keyboard.press("0")
        page.keyboard.press("5")
        page.wait_for_timeout(300)
        assert page.evaluate("history.length") == steps
        page.keyboard.press("Enter")
        until(page, "location.hash.includes('at=')")
        assert page.evaluate("history.length") == steps + 1
        expect(field).to_be_focused()
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Live again").focus()
        assert page.evaluate("history.length") == steps + 1


def test_an_engine_that_goes_away_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    place = f"127.0.0.1:{free_port()}"
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    with open_folder() as folder, visiting(browser) as visit, FleetServer(folder, place) as server:
        with victoria_metrics(tmp_path / "first", None, address=place) as engine:
            write_three(engine, int(time.time()))
            page = visit.open(address(server.port))
            expect(page.locator(".groups-list .opener")).to_have_count(3)
        expect(page.locator(".notices")).to_contain_text(f"Nothing newer comes from {place}", timeout=20_000)
        expect(page.locator(".notices .line.bad").first).to_contain_text("What is shown is of ")
        expect(page.locator(".status")).to_contain_text("not new: as of ")
        # The last view stays, in grey.
        expect(page.locator(".fleet-body.stale")).to_have_count(1)
        expect(page.locator(".groups-list .opener")).to_have_count(3)
        with victoria_metrics(tmp_path / "second", None, address=place) as engine:
            write_three(engine, int(time.time()))
            expect(page.locator(".status")).to_have_text("live", timeout=30_000)
            expect(page.locator(".stale")).to_have_count(0)
            server.close()
            expect(page.locator(".notices")).to_contain_text("gpulse does not answer", timeout=20_000)
            expect(page.locator(".status")).to_contain_text("not new: as of ")


def test_names_that_mean_harm_are_text(browser: Browser, tmp_path: Path) -> None:
    now = int(time.time())
    place = {"instance": f"{EVIL}:9837", "job": "gpulse", "cluster": EVIL}
    gpu = {"gpu": "0", "vendor": EVIL, "uuid": "GPU-E", **place}
    series: list[tuple[dict[str, str], Callable[[int], float | None]]] = [
        ({"__name__": "gpulse_sample_timestamp_seconds", **place}, lambda second: now - 60 + second),
        ({"__name__": "gpulse_gpu_info", "name": EVIL, **gpu}, lambda _: 1),
        ({"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, lambda _: 1),
        ({"__name__": "gpulse_gpu_utilization_ratio", **gpu}, lambda _: float("nan")),
        ({"__name__": "gpulse_gpu_owner_info", "user": EVIL, "batch_job": EVIL, "uuid": "GPU-E", **place}, lambda _: 1),
        ({"__name__": "gpulse_finding", "finding": EVIL, "severity": "problem", "uuid": "GPU-E", **place}, lambda _: 1),
    ]
    with victoria_metrics(tmp_path, None) as engine, open_folder() as folder:
        write(engine, [Series(labels, value) for labels, value in series], now - 60, 60 + AFTER, STEP)
        with FleetServer(folder, engine.address) as server, visiting(browser) as visit:
            for by in ("host", "user", "cluster", "job", "model"):
                page = visit.open(address(server.port, f"#by={by}"))
                page.on("dialog", lambda dialog: pytest.fail(dialog.message))
                page.locator(".groups-list .opener").first.click()
                expect(page.locator(".groups-list tr.gpu")).to_have_count(1)
                text = page.locator(".groups-list").inner_text()
                assert "<img src=x onerror=alert(1)></script>\"'`&amp;" in text and "${7*7}" in text and "\u202e" not in text
                page.locator(".map-area canvas").hover(position={"x": 5, "y": 24})
                expect(page.locator(".map-area .tip")).to_contain_text("<img src=x")
                assert page.locator("img, main script").count() == 0
                assert page.evaluate("document.documentElement.scrollWidth") <= 1400
            page.locator(".gpu-link").first.click()
            page.wait_for_selector(".status.good")
            assert page.locator("img").count() == 0
            expect(page.locator(".host")).to_contain_text("<img src=x")


def test_on_a_phone_and_with_a_keyboard(browser: Browser, three: FleetServer) -> None:
    with visiting(browser, color_scheme="light", viewport={"width": 390, "height": 800}) as visit:
        page = visit.open(address(three.port, "#open=%3Dbeta"))
        expect(page.locator(".groups-list tr.gpu")).to_have_count(4)
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        # Nothing but the table, in its own box, is wider than the screen.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        opener = page.get_by_role("button", name="mute")
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".groups-list tr.gpu")).to_have_count(8)
        # What has the focus keeps it, through answers that come meanwhile.
        page.wait_for_timeout(2500)
        assert page.evaluate("document.activeElement.dataset.key") == "=mute"
        page.keyboard.press("Enter")
        expect(page.locator(".groups-list tr.gpu")).to_have_count(4)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_everybody_can_use_it(browser: Browser, three: FleetServer, scheme: str) -> None:
    with visiting(browser, color_scheme=scheme) as visit:
        page = visit.open(address(three.port, "#open=%3Dbeta"))
        expect(page.locator(".groups-list tr.gpu")).to_have_count(4)
        page.wait_for_timeout(1000)
        page.evaluate((ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text())
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")] == []


def thousands(hosts: int) -> dict[str, Any]:
    """As the server answers, of many hosts with eight GPUs each."""
    count = hosts * 8
    amounts = {"silent_hosts": 0, "held": 0, "held_known": count, "held_but_idle": 0, "lost": 0, "not_responding": 0, "gone": 0, "asleep": 0,
               "silent": 0, "with_driver_errors": 0, "with_problems": 0, "with_notes": 0, "with_remarks": 0, "utilization_percent": 50.0,
               "true_activity_percent": 40.0, "power_watts": 1.0, "hottest_celsius": 60, "wasted_gpus": 0}  # fmt: skip
    row = list(range(count))
    return {
        "schema": "gpulse-fleet/1", "time": iso(time.time()), "engine": "e", "interval_seconds": 15, "is_past": False, "trouble": None,
        "warning": None, "faults": [], "by": "host", "sort": "health",
        "totals": {**amounts, "hosts": hosts, "gpus": count}, "models": ["H100"], "owners": [], "findings": [],
        "hosts": [{"key": f"n{i}", "name": f"n{i}", "instance": f"n{i}:9837", "cluster": None, "exporter": "gpulse", "last_sample": None,
                   "silent_seconds": None} for i in range(hosts)],
        "groups": [{"kind": "named", "name": f"n{i}", **amounts, "users": [], "worst": None, "severity": 0, "gpus": row[8 * i : 8 * i + 8],
                    "hosts": [i]} for i in range(hosts)],
        "gpus": {"host": [i // 8 for i in row], "id": [str(i % 8) for i in row], "uuid": [f"U{i}" for i in row], "parent": [None] * count,
                 "model": [0] * count, "vendor": ["nvidia"] * count, "state": ["ok"] * count, "held": [False] * count, "idle": [False] * count,
                 "owners": [[]] * count, "findings": [[]] * count, "xids": [[]] * count, "remarks": [[]] * count,
                 "metrics": {"gpu_utilization_percent": [i % 101 for i in row], "sm_active_percent": [None] * count}},
    }  # fmt: skip


def test_eight_thousand_gpus_scroll(browser: Browser, three: FleetServer) -> None:
    body = json.dumps(thousands(1000))
    with visiting(browser) as visit:
        page = visit.context.new_page()
        page.route(re.compile(r"/api/v1/fleet\?"), lambda route: route.fulfill(body=body, content_type="application/json"))
        page.goto(address(three.port))
        page.wait_for_selector(".groups-list .opener")
        assert page.evaluate("gpulse.map.layout.cells.length") == 8000
        box = page.locator(".map-area canvas").bounding_box()
        assert box and box["height"] <= 500
        scroll = page.locator(".groups-scroll")
        assert page.locator(".groups-list tbody tr").count() < 60
        # To the end, by which every host was opened.
        page.evaluate("location.hash = Array.from({ length: 1000 }, (_, i) => `open=%3Dn${i}`).join('&')")
        until(page, "document.querySelector('.groups-list').getAttribute('aria-rowcount') === '9001'")
        page.evaluate("document.querySelector('.groups-scroll').scrollTop = 1e9")
        expect(scroll.locator("tr.gpu").last).to_contain_text("GPU 7")
        expect(scroll.locator("tr.group").last).to_contain_text("n999")
        assert page.locator(".groups-list tbody tr").count() < 60
        # The last of all cells is told by the pointer.
        last = page.evaluate("(({ cells, size }) => [cells[7999].x + size / 2, cells[7999].y + size / 2])(gpulse.map.layout)")
        page.locator(".map-area canvas").hover(position={"x": last[0], "y": last[1]})
        expect(page.locator(".map-area .tip")).to_contain_text("7 of n999")
