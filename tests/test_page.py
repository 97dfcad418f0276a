"""The page in a browser: what it shows of 1, 8 and 128 GPUs, live and back in time, and what can be done with it."""

from __future__ import annotations

import csv
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent import open_folder, wait_for
from browser import address, until, visiting
from harness import BUILD, ROOT, gpulse
from web import WebAgent

MADE_HOURS = 12


@pytest.fixture(scope="module")
def eight() -> Iterator[WebAgent]:
    """An agent of eight GPUs with twelve hours of a history behind it, of which every value can be told by hand."""
    with open_folder() as folder:
        history = folder / "history.db"
        made = [BUILD / "tests" / "make_history", history, int(time.time()) - 30, MADE_HOURS * 60, 8, 16]
        subprocess.run([str(word) for word in made], check=True)
        with WebAgent(folder, "--history", history, scenario="eight") as agent:
            yield agent


def plot_count(page: Page) -> int:
    return page.locator(".plot canvas").count()


def known(page: Page, index: int = 0) -> list[float]:
    """The values of the first plot's curves that are not null, of one device."""
    return page.evaluate(
        """(index) => { const { model } = gpulse; const line = model.lines(model.plots()[0])[index];
           return line.curve ? line.curve.value.filter((v) => v !== null) : []; }""",
        index,
    )


@pytest.mark.parametrize(("scenario", "gpus"), [("single", 1), ("eight", 8), ("hundred-twenty-eight", 128)])
def test_the_overview_shows_every_gpu(browser: Browser, place: Path, scenario: str, gpus: int) -> None:
    with WebAgent(place, "--history", place / "history.db", scenario=scenario) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port, "#range=1m"))
        expect(page.locator(".gpus tbody tr")).to_have_count(gpus)
        expect(page.locator(".tile-card b").first).to_have_text(str(gpus))
        expect(page.locator(".map .tile")).to_have_count(gpus if gpus > 16 else 0)
        page.wait_for_selector(".plot canvas")
        wait_for(lambda: len(known(page)) >= 2, "two samples in a curve")

        def agrees() -> bool:
            shown = agent.ask("/api/v1/snapshot").json["devices"][0]["metrics"]
            row = page.locator(".gpus tbody tr").first.inner_text()
            return f"{shown['temperature_gpu_celsius']:.0f} °C" in row and f"{shown['gpu_utilization_percent']:.0f} %" in row

        wait_for(agrees, "the row to show the newest sample")


def test_the_usual_plots_are_those_of_a_training_dashboard(browser: Browser, eight: WebAgent) -> None:
    table = {row["key"]: row for row in eight.ask("/api/v1/metrics-table").json["metrics"] if row["scope"] == "device"}
    with visiting(browser) as visit:
        page = visit.open(address(eight.port))
        page.wait_for_selector(".plot")
        titles = page.locator(".plot h3").all_inner_texts()
        for key in (
            "gpu_utilization_percent", "memory_utilization_percent", "memory_used_bytes", "power_draw_watts",
            "temperature_gpu_celsius", "sm_active_percent", "clock_graphics_mhz", "pcie_rx_bytes_per_second",
        ):  # fmt: skip
            assert table[key]["help"] in titles
        assert any("Processor" in title for title in titles)
        assert any("Host memory" in title for title in titles)
        badge = page.locator(".plot .badge").first
        assert table["gpu_utilization_percent"]["meaning"] in (badge.get_attribute("title") or "")


def test_every_range_is_there(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port))
        for word, seconds in (
            ("1m", 60), ("5m", 300), ("15m", 900), ("1h", 3600), ("3h", 10800), ("6h", 21600), ("12h", 43200),
            ("24h", 86400), ("7d", 604800),
        ):  # fmt: skip
            with page.expect_response(re.compile("/api/v1/history")) as answer:
                page.get_by_role("button", name=word, exact=True).click()
            assert answer.value.ok
            span = page.evaluate("gpulse.model.span()")
            assert span["to"] - span["from"] == pytest.approx(seconds, abs=1)
            assert answer.value.json()["count"] <= 1000
        assert "range=7d" in page.url


def test_twelve_hours_are_drawn_as_they_were(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=12h"))
        # GPU i of the made-up history is busy to 10 i + 4.5 percent on the average; they are devices of the past.
        made = "gpulse.model.devices().findIndex(({ uuid }) => uuid.endsWith('-000000000003'))"
        until(page, f"{made} > 0")
        three = page.evaluate(made)
        wait_for(lambda: len(known(page, three)) > 300, "twelve hours")
        values = known(page, three)[5:-5]
        assert all(abs(value - 34.5) < 1.5 for value in values)
        expect(page.locator(".events li.bad")).to_contain_text(["GPU has fallen off the bus"])
        expect(page.locator(".lanes").last).to_contain_text("ann")


def settled(page: Page) -> None:
    """Plots are made anew while the first answers come in: until one has stayed for a second."""
    first = "document.querySelector('.plot .u-over')"
    since = f"{first} && ({first}.dataset.since ??= performance.now())"
    until(page, f"{since} && performance.now() - {first}.dataset.since > 1000", 20)


def test_a_drag_zooms_and_a_double_click_goes_back(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=3h"))
        settled(page)
        area = page.locator(".plot .u-over").first
        area.scroll_into_view_if_needed()
        box = area.bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 40, steps=4)
        page.mouse.up()
        until(page, "location.hash.includes('from=')")
        span = page.evaluate("gpulse.model.span()")
        assert span["to"] - span["from"] == pytest.approx(5400, rel=0.05)
        # The cursor is one for all plots.
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 30)
        lines = page.evaluate("gpulse.timeline().plots.filter((p) => p.u).map((p) => p.u.cursor.left)")
        assert len(lines) > 1 and max(lines) - min(lines) < 1
        expect(page.locator(".tip:visible")).to_have_count(1)
        page.locator(".plot .u-over").first.dblclick()
        until(page, "!location.hash.includes('from=')")


def test_a_link_shows_the_same_minutes(browser: Browser, eight: WebAgent) -> None:
    from_, to = time.time() - 7200, time.time() - 3600
    iso = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in (from_, to)]
    fragment = f"#from={iso[0]}&to={iso[1]}&zone=UTC"
    with visiting(browser) as visit:
        pages = [visit.open(address(eight.port, fragment)) for _ in range(2)]
        for page in pages:
            wait_for(lambda page=page: plot_count(page) > 0, "plots")
        clocks = [page.locator(".clock").inner_text() for page in pages]
        assert clocks[0] == clocks[1]
        assert clocks[0].endswith("UTC")
        # What stands above the plots is of now, and says so.
        note = pages[0].get_by_text("What stands above is of now.")
        expect(note).to_be_visible()
        wait_for(lambda: len(known(pages[0])) > 0 or len(known(pages[0], 9)) > 0, "curves")
        pages[0].get_by_role("button", name="Back to live").click()
        expect(pages[0].locator(".clock")).to_contain_text("UTC")
        assert "from=" not in pages[0].url
        expect(note).to_be_hidden()


def test_a_link_is_copied(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser, permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.open(address(eight.port, "#range=1h&gpus=2"))
        span = page.evaluate("gpulse.model.span()")
        page.get_by_role("button", name="Link").click()
        expect(page.locator(".clock")).to_contain_text("Copied")
        link = page.evaluate("navigator.clipboard.readText()")
        # The page that it was copied from stays live; the link's does not.
        assert "from=" not in page.url
        other = visit.open(link)
        shown = other.evaluate("gpulse.model.span()")
        assert shown == {end: pytest.approx(span[end], abs=3) for end in ("from", "to")}
        expect(other.get_by_label("Compare GPU 2")).to_be_checked()
        time.sleep(1.5)
        assert other.evaluate("gpulse.model.span()") == shown


def test_gpus_are_compared(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=1m"))
        page.get_by_label("Compare GPU 2").check()
        page.get_by_label("Compare GPU 5").check()
        until(page, "location.hash.includes('gpus=2,5')")
        labels = page.evaluate("gpulse.model.lines(gpulse.model.plots()[0]).map((l) => l.label)")
        assert [label for label in labels if "gone" not in label] == ["GPU 2", "GPU 5"]
        page.reload()
        page.wait_for_selector(".status.good")
        expect(page.get_by_label("Compare GPU 5")).to_be_checked()
        expect(page.locator('.chip[aria-pressed="true"]', has_text="GPU 5").first).to_be_visible()


def test_any_metric_can_be_plotted(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=1m"))
        page.locator(".picker > summary").click()
        label = "Resident warps against the most that fit"
        page.get_by_label(label).check()
        page.get_by_role("button", name="Show these").click()
        expect(page.locator(".plot h3", has_text=label)).to_be_visible()
        key = page.locator(".plot", has_text=label).get_attribute("data-plot")
        # It comes with the stream, too.
        until(page, f"gpulse.model.sample.devices[0].metrics['{key}'] !== undefined", 15)


def test_one_gpu_in_depth(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=1m"))
        page.get_by_role("link", name="GPU 6", exact=True).click()
        expect(page.locator("h1")).to_have_text("GPU 6")
        page.wait_for_selector(".groups td")
        page.get_by_label("and those that are not there").check()

        def agrees() -> bool:
            values = eight.ask("/api/v1/snapshot?devices=6&processes=0").json["devices"][0]["metrics"].values()
            shown, missing = page.locator(".groups tr").count(), page.locator(".groups tr.missing:visible").count()
            return (shown, missing) == (len(values), sum(value is None for value in values))

        wait_for(agrees, "every reading or its reason")
        assert "not supported" in page.locator(".groups").inner_text()


def test_processes_are_sorted_filtered_and_summed(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=12h"))
        span = page.evaluate("gpulse.model.span()")
        iso = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(span[end] - 120)) for end in ("from", "to")]
        page.goto(address(eight.port, f"#view=processes&from={iso[0]}&to={iso[1]}"))
        rows = page.locator(".processes tbody tr")
        until(page, "document.querySelectorAll('.processes tbody tr').length >= 16")
        page.get_by_role("button", name="PID").click()
        column = page.locator(".processes tbody tr td:nth-child(2)")
        # The table follows with the next frame.
        pids = wait_for(lambda: now if (now := [int(text) for text in column.all_inner_texts()]) == sorted(now, reverse=True) else [], "the order of PIDs")
        assert len(pids) >= 16
        page.get_by_label("Filter processes").fill("bob job-3")
        expect(rows).to_have_count(1)
        assert "filter=bob" in page.url
        page.get_by_label("Filter processes").fill("nobody at all")
        expect(page.locator(".processes")).to_contain_text("Nothing matches")
        page.get_by_label("Filter processes").fill("")
        page.get_by_role("button", name="By user").click()
        expect(page.locator(".processes tbody")).to_contain_text("ann")
        page.get_by_role("button", name="By job").click()
        expect(page.locator(".processes tbody")).to_contain_text("job-7")


def test_what_is_shown_is_saved(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=12h"))
        wait_for(lambda: plot_count(page) > 0, "plots")
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").click()
        lines = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
        assert lines[0][:2] == ["time", "gpu_utilization_percent GPU 0"]
        assert len(lines) > 300
        assert len({len(line) for line in lines}) == 1
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG").click()
        picture = Path(download.value.path()).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 20_000


def test_dark_light_and_phone(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser, color_scheme="light", viewport={"width": 390, "height": 800}) as visit:
        page = visit.open(address(eight.port))
        page.locator(".plot").first.scroll_into_view_if_needed()
        page.wait_for_selector(".plot canvas")
        theme = "document.documentElement.dataset.theme"
        assert page.evaluate(theme) == "light"
        page.get_by_role("button", name="Dark").click()
        assert page.evaluate(theme) == "dark"
        page.reload()
        page.wait_for_selector(".status.good")
        assert page.evaluate(theme) == "dark"
        # Nothing but tables, in their own boxes, is wider than the screen.
        for view in ("overview", "gpu&gpu=6", "processes", "events"):
            page = visit.open(address(eight.port, f"#view={view}"))
            page.wait_for_timeout(500)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view


def serious_faults(page: Page) -> list[tuple[str, str]]:
    page.evaluate((ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run().then(({ violations }) => violations)")
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("view", ["", "#view=gpu&gpu=6", "#view=processes", "#view=events"])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_everybody_can_use_it(browser: Browser, eight: WebAgent, view: str, scheme: str) -> None:
    with visiting(browser, color_scheme=scheme) as visit:
        page = visit.open(address(eight.port, view))
        page.wait_for_timeout(1200)
        assert serious_faults(page) == []


def test_keys_move_through_time(browser: Browser, eight: WebAgent) -> None:
    with visiting(browser) as visit:
        page = visit.open(address(eight.port, "#range=1h"))
        page.keyboard.press("ArrowLeft")
        until(page, "location.hash.includes('from=')")
        page.keyboard.press("l")
        until(page, "!location.hash.includes('from=')")
        for key, seconds in (("+", 1800), ("-", 3600)):
            page.keyboard.press(key)
            wide = "(({ from, to }) => to - from)(gpulse.model.span())"
            until(page, f"location.hash.includes('from=') && Math.abs({wide} - {seconds}) < 2")
        page.keyboard.press("u")
        expect(page.locator(".clock")).to_contain_text("UTC")
        page.keyboard.press("/")
        until(page, "location.hash.includes('view=processes')")
        page.keyboard.press("/")
        until(page, "document.activeElement.type === 'search'")


def test_a_lost_gpu_and_a_silent_agent_look_like_that(browser: Browser, place: Path) -> None:
    scenario = place / "lost.toml"
    scenario.write_text('[[device]]\nprofile = "h100"\nlost = [[2, 1000]]\n[[device]]\nprofile = "h100"\n')
    with WebAgent(place, "--history", "off", scenario=scenario) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port))
        expect(page.locator(".gpus tr.gone")).to_have_count(1)
        expect(page.locator(".gpus tr.gone")).to_contain_text("lost")
        expect(page.locator(".tile-card").first).to_contain_text("1 not ok")
        expect(page.locator(".hint")).to_contain_text("keeps no history")
        # It asks once, and learns it from the answer.
        assert [line for line in visit.complaints if "404" not in line] == [] and len(visit.complaints) == 1
        visit.complaints.clear()
        agent.process.send_signal(signal.SIGSTOP)
        try:
            expect(page.locator(".status")).to_contain_text("No sample for", timeout=15_000)
        finally:
            agent.process.send_signal(signal.SIGCONT)
        expect(page.locator(".status")).to_have_text("live", timeout=15_000)


def test_it_comes_back_after_the_agent(browser: Browser, place: Path) -> None:
    options = ("--history", place / "history.db")
    with visiting(browser) as visit:
        with WebAgent(place, *options) as agent:
            port = agent.port
            page = visit.open(address(agent.port, "#range=5m"))
            wait_for(lambda: len(known(page)) >= 3, "samples")
        expect(page.locator(".status")).to_contain_text("does not answer", timeout=15_000)
        time.sleep(4)
        with WebAgent(place, *options, listen=f"127.0.0.1:{port}"):
            expect(page.locator(".status")).to_have_text("live", timeout=15_000)
            values = "gpulse.model.lines(gpulse.model.plots()[0])[0].curve.value"
            wait_for(lambda: page.evaluate(f"{values}.slice(-2).every((v) => v !== null)"), "new samples")
            # What was before is there, and the time between is a gap.
            nulls = page.evaluate(f"{values}.slice({values}.findIndex((v) => v !== null)).filter((v) => v === null).length")
            assert nulls >= 3


def token_file(place: Path) -> Path:
    file = place / "token"
    file.write_text("0123456789abcdef-a-token\n")
    file.chmod(0o600)
    return file


def test_a_token_is_shown_once_and_is_in_no_link(browser: Browser, place: Path) -> None:
    with WebAgent(place, "--token-file", token_file(place)) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port, "#range=1m"), waits=False)
        expect(page.get_by_label("Token")).to_be_visible()
        assert serious_faults(page) == []
        page.get_by_label("Token").fill("0123456789abcdef-wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_have_text("That was not right.")
        page.get_by_label("Token").fill("0123456789abcdef-a-token")
        page.get_by_role("button", name="Log in").click()
        page.wait_for_selector(".status.good")
        assert page.url == address(agent.port, "#range=1m")
        (cookie,) = visit.context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
        assert "token" not in cookie["value"]
        assert agent.ask("/api/v1/devices").status == 401
        assert agent.ask("/api/v1/devices", Cookie=f"{cookie['name']}={cookie['value']}").status == 200
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        assert agent.ask("/api/v1/devices", Cookie=f"{cookie['name']}={cookie['value']}").status == 401


def test_a_user_logs_in_with_a_password(browser: Browser, place: Path) -> None:
    config = place / "config" / "gpulse" / "config.toml"
    config.parent.mkdir(parents=True)
    # Of "correct horse", with the cost 4.
    hash_ = "$2b$04$saltsaltsaltsaltsaltsuIgBK9OuwxlmzcTNPY1Z2nCpWB7ue/62"
    config.write_text(f'[web]\nusers = {{ann = "{hash_}"}}\n')
    with WebAgent(place, XDG_CONFIG_HOME=str(place / "config")) as agent, visiting(browser) as visit:
        page = visit.open(address(agent.port), waits=False)
        page.get_by_label("User").fill("ann")
        page.get_by_label("Password").fill("correct horse")
        page.get_by_role("button", name="Log in").click()
        page.wait_for_selector(".status.good")


def test_a_new_token_ends_every_login(place: Path) -> None:
    file = token_file(place)
    with WebAgent(place, "--token-file", file) as agent:
        connection = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=10)
        connection.request("POST", "/login", "token=0123456789abcdef-a-token", {"Host": "localhost"})
        answer = connection.getresponse()
        cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
        connection.close()
        assert answer.status == 204
        assert agent.ask("/version", Cookie=cookie, Host="localhost").status == 200
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_log("the configuration was read again")
        assert agent.ask("/version", Cookie=cookie, Host="localhost").status == 401


def test_another_site_can_log_nobody_in(place: Path) -> None:
    with WebAgent(place, "--token-file", token_file(place)) as agent:
        assert agent.ask("/login", "POST", Origin="http://evil.example").status == 403
        assert agent.ask("/login", "POST", Sec_Fetch_Site="cross-site").status == 403
        assert agent.ask("/login", Host="evil.example").status == 421
        assert agent.ask("/logout").status == 401


NGINX = """
daemon off; pid {place}/nginx.pid; error_log {place}/error.log; worker_processes 1;
events {{}}
http {{
  access_log off;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/f;
  uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;
  server {{
    listen 127.0.0.1:{port};
    location /stripped/ {{ proxy_pass http://127.0.0.1:{agent}/; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    location /kept/ {{ proxy_pass http://127.0.0.1:{agent}; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


def test_it_works_below_a_path_of_nginx(browser: Browser, place: Path) -> None:
    if not shutil.which("nginx"):
        pytest.skip("there is no nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        WebAgent(place, "--base-path", "/kept", "--token-file", token_file(place)) as agent,
        visiting(browser) as visit,
    ):
        (place / "nginx.conf").write_text(NGINX.format(place=place, port=port, agent=agent.port))
        nginx = subprocess.Popen(["nginx", "-c", place / "nginx.conf"], stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, "nginx")
            for folder in ("stripped", "kept"):
                page = visit.open(f"http://localhost:{port}/{folder}/", waits=False)
                page.get_by_label("Token").fill("0123456789abcdef-a-token")
                page.get_by_role("button", name="Log in").click()
                page.wait_for_selector(".status.good")
            assert {cookie["path"] for cookie in visit.context.cookies()} == {"/stripped", "/kept"}
            answer = agent.ask("/kept")
            assert (answer.status, answer.headers["location"]) == (303, "./kept/")
        finally:
            nginx.terminate()
            nginx.wait()


def test_the_page_is_cached_and_small() -> None:
    packed = BUILD / "web_packed"
    assert sum(file.stat().st_size for file in packed.rglob("*") if file.is_file()) <= 150_000


def test_assets_are_kept_for_good_and_the_page_is_asked_for(eight: WebAgent) -> None:
    first = eight.ask("/", Accept_Encoding="gzip")
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["cache-control"] == "no-cache"
    again = eight.ask("/", Accept_Encoding="gzip", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    html = eight.ask("/").text
    assert not re.search(r"<script(?![^>]*src)|<style|style=|\son\w+=", html)
    script = re.search(r'src="(assets/[^"]+)"', html)
    assert script
    asset = eight.ask(f"/{script[1]}", Accept_Encoding="gzip")
    assert "immutable" in asset.headers["cache-control"]
    policy = asset.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy


def test_the_page_names_no_metric() -> None:
    keys = {row["key"] for row in json.loads(gpulse("explain", "--all", "--json").out)["metrics"]}
    # Words that are as good as any other in a program.
    keys -= {"name", "user", "command", "container", "pod", "job", "account", "parent", "framework", "program", "state", "nice", "threads"}
    for file in (ROOT / "web" / "src").rglob("*.ts"):
        words = set(re.findall(r"[a-z][a-z0-9_]*", file.read_text()))
        assert words & keys == set(), file


def test_its_pure_parts() -> None:
    if not (ROOT / "web" / "node_modules").exists():
        pytest.skip("gpulse was built without the page")
    done = subprocess.run(["node", "test/run.mjs"], cwd=ROOT / "web", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_opens_a_browser_or_says_where_the_page_is(place: Path) -> None:
    with WebAgent(place, "--open", DISPLAY="", WAYLAND_DISPLAY="") as agent:
        assert f"the page is at http://127.0.0.1:{agent.port}/" in agent.log
    opened = place / "opened"
    tool = place / "xdg-open"
    tool.write_text(f'#!/bin/sh\necho "$@" >{opened}\n')
    tool.chmod(0o755)
    with WebAgent(place, "--open", DISPLAY=":0", PATH=f"{place}:/usr/bin:/bin") as agent:
        wait_for(lambda: opened.exists() and opened.read_text() == f"http://127.0.0.1:{agent.port}/\n", "the browser")
