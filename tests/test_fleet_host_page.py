"""The page of one host of `gpulse serve --fleet` in a browser: silent ones, what has gone, who held what, and why nothing comes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent import open_folder
from browser import address, until, visiting
from engine_data import Series, write
from fleet_web import FleetServer
from scrapers import Engine, free_port, needs_victoria, victoria_metrics

pytestmark = needs_victoria

BEFORE, AFTER, STEP = 1200, 300, 3
SILENT = 600  # seconds ago
GONE = 400
TOKEN = "0123456789abcdef0123456789abcdef"
MANY = 8  # hosts, more than a browser has connections

Value = Callable[[int], float | None]


def host_series(begin: int, host: str, gpus: int = 1) -> Iterator[tuple[dict[str, str], Value]]:
    """mute goes silent; the last GPU of busy goes away; busy has a finding and an owner all the time."""

    def there(second: int, index: int = 0) -> bool:
        is_gone = host == "busy" and index == gpus - 1 and second > BEFORE - GONE
        return not is_gone and (host != "mute" or second <= BEFORE - SILENT)

    def always(value: float, index: int = 0) -> Value:
        return lambda second: value if there(second, index) else None

    place = {"instance": f"{host}:9837", "job": "gpulse"}
    yield {"__name__": "gpulse_sample_timestamp_seconds", **place}, lambda second: begin + second if there(second) else None
    for index in range(gpus):
        uuid = {"uuid": f"GPU-{host}-{index}"}
        gpu = {"gpu": str(index), "vendor": "nvidia", **uuid, **place}
        yield {"__name__": "gpulse_gpu_info", "name": "NVIDIA H100", **gpu}, always(1, index)
        yield {"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, always(1, index)
        yield {"__name__": "gpulse_gpu_utilization_ratio", **gpu}, always(0.5, index)
        yield {"__name__": "gpulse_power_draw_watts", **gpu}, always(300 + index, index)
        owner = {"user": "ann", "batch_job": "77", "batch_account": "physics"}
        yield {"__name__": "gpulse_gpu_owner_info", **owner, **uuid, **place}, always(1, index)
    finding = {"finding": "input-cpu", "severity": "problem", "uuid": f"GPU-{host}-0"}
    if host == "busy":
        yield {"__name__": "gpulse_finding", **finding, **place}, always(1)


def write_hosts(engine: Engine, now: int, hosts: dict[str, int]) -> None:
    begin = now - BEFORE
    series = [Series(labels, value) for host, gpus in hosts.items() for labels, value in host_series(begin, host, gpus)]
    write(engine, series, begin, BEFORE + AFTER, STEP, offset=1)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetServer]:
    with victoria_metrics(tmp_path_factory.mktemp("engine"), None) as engine, open_folder() as folder:
        write_hosts(engine, int(time.time()), {"busy": 3, "mute": 1} | {f"many{i}": 1 for i in range(MANY)})
        with FleetServer(folder, engine.address) as server:
            yield server


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def test_a_silent_host_is_not_live(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(hosts.port, "host/mute/"), waits=False)
        expect(page.locator(".status")).to_contain_text(re.compile(r"No sample for 1\d min"))
        expect(page.locator(".status.bad")).to_contain_text("the engine has nothing new of mute")
        page.wait_for_timeout(1500)
        expect(page.locator(".status.good")).to_have_count(0)
        expect(page.locator(".tiles.stale")).to_have_count(1)


def test_what_has_gone_is_told_of_the_past(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        now = time.time()
        page = visit.open(address(hosts.port, f"host/busy/#from={iso(now - BEFORE + 60)}&to={iso(now - GONE - 60)}"))
        until(page, "gpulse.model.known.length === 3")
        expect(page.locator(".legend .chip", has_text="GPU 2, gone")).to_be_visible()
        until(page, "gpulse.model.curves.get('power_draw_watts', 'GPU-busy-2')?.value.includes(302)")
        # Of now it is not there.
        page.get_by_role("button", name="Back to live").click()
        page.get_by_role("button", name="1m", exact=True).click()
        until(page, "gpulse.model.known.length === 2")


def test_a_finding_that_was_there_before_is_told_so(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(hosts.port, "host/busy/#view=events&range=5m"))
        expect(page.locator(".past article")).to_contain_text(re.compile(r"before \d+ \w+ [\d:]+ – now"))
        card = page.locator("#main > .findings article")
        expect(card).to_contain_text(re.compile(r"since \d+ \w+ [\d:]+"))
        assert "onfidence" not in card.inner_html()
        page.goto(address(hosts.port, "host/busy/#range=5m"))
        bar = page.locator(".strips .bar.warn").first
        expect(bar).to_have_attribute("style", re.compile("left: 0%"))


def test_who_held_the_gpus_is_shown(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(hosts.port, "host/busy/"))
        bars = page.locator("section[aria-label='Who held which GPU'] .bar")
        expect(bars.first).to_have_text("ann, job 77, account physics")
        expect(bars).to_have_count(3)
        expect(page.locator(".gpus .users").first).to_have_text("ann, job 77, account physics")


def hide(page: Page, hidden: bool = True) -> None:
    """As a browser does with a tab that is not in front."""
    page.evaluate(f"window.isHidden = {str(hidden).lower()}; document.dispatchEvent(new Event('visibilitychange'))")


def test_tabs_that_nobody_looks_at_hold_nobody_up(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        visit.context.add_init_script("Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true })")
        pages = []
        for i in range(MANY):
            pages.append(visit.open(address(hosts.port, f"host/many{i}/")))
            hide(pages[-1])
        # The first goes on where it was, with what has come meanwhile.
        before = pages[0].evaluate("gpulse.model.sample.time")
        pages[0].wait_for_timeout(2 * STEP * 1000)
        assert pages[0].evaluate("gpulse.model.sample.time") == before
        hide(pages[0], False)
        expect(pages[0].locator(".status")).to_have_text("live")
        until(pages[0], f"gpulse.model.sample.time > '{before}'")


def test_a_host_that_is_not_there_is_not_asked_for_again(browser: Browser, hosts: FleetServer) -> None:
    with visiting(browser) as visit:
        page = visit.context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address(hosts.port, "host/nobody/"))
        expect(page.locator("#main")).to_contain_text("The engine knows of no such host. To the fleet")
        count = len(asked)
        page.wait_for_timeout(4000)
        assert len(asked) == count
        page.get_by_role("link", name="To the fleet").click()
        page.wait_for_selector(".groups-list .opener")


def test_the_page_says_why_nothing_comes(browser: Browser, tmp_path: Path) -> None:
    place = f"127.0.0.1:{free_port()}"
    with open_folder() as folder, visiting(browser) as visit, FleetServer(folder, place) as server:
        page = visit.open(address(server.port, "host/busy/"), waits=False)
        # The server answers, and it is not its fault.
        expect(page.locator("#main")).to_contain_text(re.compile(f"{place}.*Trying again"))
        assert "does not answer" not in page.locator("#main").inner_text()
        with victoria_metrics(tmp_path, None, address=place) as engine:
            write_hosts(engine, int(time.time()), {"busy": 3})
            expect(page.locator(".status")).to_have_text("live", timeout=20_000)
        expect(page.locator(".status")).to_contain_text(re.compile(f"No sample for .*: .*{place}"), timeout=30_000)


def test_who_logs_in_on_a_host_has_logged_in_to_the_fleet(browser: Browser, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    (tmp_path / "engine").mkdir()
    with victoria_metrics(tmp_path / "engine", None) as engine, open_folder() as folder:
        write_hosts(engine, int(time.time()), {"busy": 3, "many0": 1})
        with FleetServer(folder, engine.address, "--token-file", token) as server, visiting(browser) as visit:
            page = visit.open(address(server.port, "host/busy/"), waits=False)
            # As one has it who logged in before the server was started anew.
            stale = {"name": f"gpulse_{server.port}", "value": "0" * 64, "domain": "localhost", "path": "/host/busy/"}
            visit.context.add_cookies([stale])
            page.locator("input[name=token]").fill(TOKEN)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_selector(".status.good")
            page.goto(address(server.port))
            page.wait_for_selector(".groups-list .opener")
            page.goto(address(server.port, "host/many0/"))
            page.wait_for_selector(".status.good")
            page.get_by_role("button", name="Log out").click()
            page.wait_for_selector("input[name=token]")
            page.goto(address(server.port))
            page.wait_for_selector("input[name=token]")
