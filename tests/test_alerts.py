"""Alerts by the agent alone: each that fires and each that is over arrives, whatever happens to the receiver or the agent
meanwhile; what is repeated has the same key; nothing of what it says is taken for a command."""

from __future__ import annotations

import base64
import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, open_folder, wait_for
from harness import gpulse
from receiver import Receiver
from scrapers import free_port
from web import WebAgent

# Tests cannot wait for minutes.
QUICK = """
[alerts]
group = "0s"
keep_firing_for = "500ms"
[alerts.rule.GpuTemperatureGpu]
severity = "critical"
from = 90
for = "300ms"
"""


def hook(receiver: Receiver | str, name: str = "hook") -> str:
    url = receiver if isinstance(receiver, str) else receiver.url
    return f'[[alerts.receiver]]\nname = "{name}"\nkind = "webhook"\nurl = "{url}"\n'


@pytest.fixture
def place() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def scenario(place: Path, name: str, temperature: str, more: str = "", count: int = 1) -> Path:
    path = place / f"{name}.toml"
    path.write_text(f'[[device]]\nprofile = "h200"\ncount = {count}\ntemperature = {temperature}\n{more}')
    return path


def hot(place: Path) -> Path:
    return scenario(place, "hot", "95")


def cool(place: Path) -> Path:
    return scenario(place, "cool", "40")


class QuickAgent(Agent):
    """One that looks often."""

    def __init__(self, folder: Path, *arguments: str | Path, **more: Any) -> None:
        super().__init__(folder, "--interval", "200ms", *arguments, **more)


def configure(place: Path, text: str) -> dict[str, Any]:
    """The environment in which it is found."""
    folder = place / "config" / "gpulse"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(place / "config")}


def listed(agent: Agent) -> dict[str, Any]:
    result = agent.run("alert", "list", "--json")
    assert result.code == 0, result.err
    return result.json


def firing(agent: Agent) -> list[dict[str, Any]]:
    return [alert for alert in listed(agent)["alerts"] if alert["state"] == "firing"]


def test_one_that_fires_and_is_over(place: Path) -> None:
    ramp = scenario(place, "ramp", "{ steps = [[0, 95], [3, 40]] }", count=3)
    with Receiver() as receiver, QuickAgent(place, scenario=ramp, **configure(place, QUICK.replace('group = "0s"', 'group = "1s"') + hook(receiver))) as agent:
        begun = receiver.wait("firing", "GpuTemperatureGpu")
        assert (begun["schema"], begun["severity"], begun["test"]) == ("gpulse.alert/1", "critical", False)
        assert "3 GPUs of" in begun["summary"] and begun["summary"].endswith(": 0, 1, 2")
        assert "gpulse explain temperature_gpu_celsius" in begun["description"]
        assert [(one["gpu"], one["value"], one["value_text"], one["ended"]) for one in begun["alerts"]] == [
            (str(gpu), 95, "95 °C", None) for gpu in range(3)
        ]
        assert len({one["uuid"] for one in begun["alerts"]}) == len({one["id"] for one in begun["alerts"]}) == 3
        assert {alert["rule"] for alert in firing(agent)} == {"GpuTemperatureGpu"}
        told = receiver.all[0]
        assert told.headers["idempotency-key"] == begun["key"] and told.headers["content-type"] == "application/json"
        over = receiver.wait("resolved", "GpuTemperatureGpu")
        assert [one["id"] for one in over["alerts"]] == [one["id"] for one in begun["alerts"]]
        assert over["key"] != begun["key"] and all(one["ended"] > one["fired"] for one in over["alerts"])
        assert firing(agent) == []
        assert len(receiver.all) == 2, "each is told once"


def test_what_comes_and_goes_is_told_once(place: Path) -> None:
    flapping = scenario(place, "flapping", "{ steps = [[0, 95], [0.6, 40]], period = 1.2 }")
    config = QUICK.replace('keep_firing_for = "500ms"', 'keep_firing_for = "2s"').replace('for = "300ms"', 'for = "0s"')
    with Receiver() as receiver, QuickAgent(place, scenario=flapping, **configure(place, config + hook(receiver))):
        receiver.wait("firing", "GpuTemperatureGpu")
        time.sleep(3)
        assert len(receiver.all) == 1


def test_a_gpu_that_is_lost_and_comes_back_and_the_errors_of_its_driver(place: Path) -> None:
    lost = scenario(place, "lost", "95", 'lost = [[2, 4]]\n[[event]]\ntime = 1\ndevice = 0\ntype = "xid"\ndata = 79\n')
    config = QUICK + '[alerts.rule.GpuLost]\nfor = "300ms"\n[alerts.rule.GpuXid]\nover = "2s"\n'
    with Receiver() as receiver, QuickAgent(place, scenario=lost, **configure(place, config + hook(receiver))):
        assert receiver.wait("firing", "GpuXid")["alerts"][0]["detail"] == "79"
        assert receiver.wait("firing", "GpuLost")["alerts"][0]["gpu"] == "0"
        receiver.wait("resolved", "GpuLost")
        receiver.wait("resolved", "GpuXid")
        assert receiver.messages("resolved", "GpuTemperatureGpu") == [], "nobody knows that a lost GPU has cooled down"


def test_a_receiver_that_is_down_gets_all_of_it_later_and_keeps_nobody_waiting(place: Path) -> None:
    ramp = scenario(place, "ramp", "{ steps = [[0, 95], [3, 40]] }")
    port = free_port()
    with Receiver() as receiver, Receiver() as slow:
        slow.hang.set()
        config = QUICK + hook(f"http://127.0.0.1:{port}/x", "away") + hook(receiver) + hook(slow, "slow")
        with QuickAgent(place, scenario=ramp, **configure(place, config)) as agent:
            receiver.wait("resolved", "GpuTemperatureGpu")
            status = {one["name"]: one for one in listed(agent)["receivers"]}
            assert status["hook"]["sent"] == 2 and status["hook"]["waiting"] == 0 and status["hook"]["problem"] is None
            assert status["away"]["waiting"] == 2 and "nothing listens" in status["away"]["problem"]
            assert status["slow"]["waiting"] == 2
            agent.wait_samples(3)
            slow.hang.clear()
            with Receiver(port) as late:
                late.wait("resolved", "GpuTemperatureGpu")
                assert [each.json["status"] for each in late.all] == ["firing", "resolved"]
                assert [each.json["key"] for each in late.all] == [each.json["key"] for each in receiver.all]
            slow.wait("resolved", "GpuTemperatureGpu")
            assert "away is reached again" in agent.wait_log("away is reached again")


def test_what_was_firing_goes_on_after_a_restart(place: Path) -> None:
    with Receiver() as receiver:
        environment = configure(place, QUICK + hook(receiver))
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            begun = receiver.wait("firing", "GpuTemperatureGpu")
            wait_for(lambda: listed(agent)["receivers"][0]["sent"] == 1, "the answer")
            assert agent.end() == 0
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            agent.wait_samples(3)
            assert [alert["rule"] for alert in firing(agent)] == ["GpuTemperatureGpu"]
            assert len(receiver.all) == 1, "it is not told again"
        with QuickAgent(place, scenario=cool(place), **environment):
            over = receiver.wait("resolved", "GpuTemperatureGpu")
            assert over["alerts"][0]["id"] == begun["alerts"][0]["id"]


def test_everything_arrives_however_often_the_agent_is_killed(place: Path) -> None:
    """Two rounds of hot and cool, with the receiver away half of the time."""
    chance = random.Random(1)
    with Receiver(status=503) as receiver:
        environment = configure(place, QUICK + hook(receiver))
        for number, state in enumerate([hot(place), hot(place), cool(place), cool(place), hot(place), cool(place)]):
            wanted = "firing" if "hot" in state.name else "resolved"
            receiver.status = 503 if number % 2 == 0 else 200
            with QuickAgent(place, scenario=state, **environment) as agent:
                if number % 2 == 1 or number >= 4:
                    receiver.status = 200
                    rounds = 1 if number < 4 else 2
                    wait_for(lambda: len(receiver.messages(wanted)) >= rounds, f"{wanted}, round {rounds}: {agent.log}", 20)
                else:
                    wait_for(lambda: any(told.json["status"] == wanted for told in receiver.all), f"a try: {agent.log}", 20)
                time.sleep(chance.random() / 20)
                agent.end(signal.SIGKILL)
        ids = {status: [each["alerts"][0]["id"] for each in receiver.messages(status)] for status in ("firing", "resolved")}
        assert len(ids["firing"]) == len(set(ids["firing"])) == 2
        assert ids["resolved"] == ids["firing"]
        # Whatever came twice is the same to the byte.
        bodies: dict[str, set[bytes]] = {}
        for told in receiver.all:
            bodies.setdefault(told.json["key"], set()).add(told.body)
        assert all(len(each) == 1 for each in bodies.values()) and len(bodies) == 4


def test_what_arrived_while_the_agent_was_killed_comes_again_under_its_key(place: Path) -> None:
    with Receiver() as receiver:
        environment = configure(place, QUICK + hook(receiver))
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            receiver.before_answer = agent.process.kill
            assert agent.process.wait(20) == -signal.SIGKILL
            receiver.wait("firing", "GpuTemperatureGpu")
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            wait_for(lambda: listed(agent)["receivers"][0]["sent"] == 1, "the second one")
            agent.wait_samples(5)
        assert len(receiver.all) == 2
        assert receiver.all[0].body == receiver.all[1].body
        assert receiver.all[0].headers["idempotency-key"] == receiver.all[1].headers["idempotency-key"]


HOSTILE = "$(touch PLACE/owned) `id`; \"'\\n' & <!channel> ü\x1b[2J\n"


def test_a_program_gets_what_it_is_told_as_data(place: Path) -> None:
    hostile = HOSTILE.replace("PLACE", str(place))
    program = place / "note.py"
    program.write_text(
        "#!/usr/bin/env python3\nimport json, os, sys\n"
        "out = {'arguments': sys.argv[1:], 'input': json.load(sys.stdin), 'environment': dict(os.environ),\n"
        "       'files': sorted(os.listdir('/proc/self/fd'))}\n"
        "path = sys.argv[1]\nopen(path + '.new', 'w').write(json.dumps(out))\nos.rename(path + '.new', path)\n"
    )
    program.chmod(0o755)
    noted = place / "noted.json"
    config = f"""
[alerts]
group = "0s"
[[alerts.own]]
name = "Hostile"
metric = "temperature_gpu_celsius"
from = 90
for = "0s"
text = {json.dumps(hostile + " {gpu} {value}")}
[[alerts.receiver]]
name = "program"
kind = "exec"
command = [{json.dumps(str(program))}, {json.dumps(str(noted))}, "$HOME", "; touch {place}/owned"]
"""
    named = scenario(place, "named", "95", f"name = {json.dumps(hostile)}\n")
    with QuickAgent(place, scenario=named, **configure(place, config)) as agent:
        wait_for(noted.exists, "the program")
        shown = agent.run("alert", "list").out + agent.run("alert", "list", "--json").out + agent.log
        assert "\x1b" not in shown
        hostile = hostile.replace("\x1b", " ").replace("\n", " ")
        assert hostile in agent.run("alert", "list").out
    got = json.loads(noted.read_text())
    assert got["arguments"] == [str(noted), "$HOME", f"; touch {place}/owned"]
    assert got["input"]["alerts"][0]["summary"] == f"{hostile} 0 95 °C"
    assert got["input"]["alerts"][0]["name"].startswith("$(touch")
    assert got["environment"]["GPULSE_ALERT_SUMMARY"] == f"{hostile} 0 95 °C"
    assert got["environment"]["GPULSE_ALERT_KEY"] == got["input"]["key"]
    assert "NOTIFY_SOCKET" not in got["environment"] and "PATH" in got["environment"]
    assert set(got["files"]) <= {"0", "1", "2", "3"}, "3 is the list itself"
    assert not (place / "owned").exists()


def test_slack_and_ntfy_get_their_own_form(place: Path) -> None:
    with Receiver() as slack, Receiver() as ntfy:
        secret = place / "slack_url"
        secret.write_text(slack.url + "/T000/s3cret\n")
        secret.chmod(0o600)
        token = place / "token"
        token.write_text("tk_0123456789abcdef\n")
        token.chmod(0o600)
        config = f"""
[alerts]
group = "0s"
[[alerts.own]]
name = "Warm"
metric = "temperature_gpu_celsius"
from = 90
for = "0s"
severity = "critical"
text = "heiß & <!channel> on {{gpu}}"
[[alerts.receiver]]
name = "team"
kind = "slack"
url_file = "{secret}"
[[alerts.receiver]]
name = "phone"
kind = "ntfy"
url = "{ntfy.url}"
token_file = "{token}"
"""
        with QuickAgent(place, scenario=hot(place), **configure(place, config)) as agent:
            wait_for(lambda: slack.all and ntfy.all, "both")
            [told] = slack.all
            assert told.path.endswith("/T000/s3cret")
            assert told.json.keys() == {"text"}
            assert told.json["text"].startswith("*[firing] critical* heiß &amp; &lt;!channel&gt; on 0\n")
            [told] = ntfy.all
            form, _, text = told.headers["title"].removesuffix("?=").rpartition("?")
            assert form == "=?UTF-8?B" and base64.b64decode(text).decode() == "[firing] heiß & <!channel> on 0"
            assert told.headers["priority"] == "urgent" and told.headers["tags"].startswith("rotating_light")
            assert told.headers["authorization"] == "Bearer tk_0123456789abcdef"
            assert told.body.decode().splitlines()[0] == "heiß & <!channel> on 0"
            shown = agent.log + agent.run("alert", "list").out + Path(f"/proc/{agent.pid}/cmdline").read_text()
            assert "s3cret" not in shown and "tk_0123" not in shown


def test_silence(place: Path) -> None:
    with Receiver() as receiver:
        environment = configure(place, QUICK + hook(receiver) + '[[alerts.silence]]\nrule = "GpuMemory*"\n')
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            assert agent.run("alert", "silence", "GpuTemp*", "-i", "0", "--for", "1h").code == 0
            wait_for(lambda: firing(agent), "the alert")
            assert firing(agent)[0]["silent"] and "silent" in agent.run("alert", "list").out
            assert {one["rule"] for one in listed(agent)["silences"]} == {"GpuMemory*", "GpuTemp*"}
            agent.end(signal.SIGKILL)
        with QuickAgent(place, scenario=hot(place), **environment) as agent:
            wait_for(lambda: firing(agent), "the alert")
            agent.wait_samples(2)
            assert receiver.all == []
            assert agent.run("alert", "unsilence", "GpuTemp*", "-i", "0").code == 0
            receiver.wait("firing", "GpuTemperatureGpu")
            refused = agent.run("alert", "silence", "GpuTmperature")
            assert refused.code == 1 and "there is no rule GpuTmperature" in refused.err
            assert agent.run("alert", "unsilence", "GpuLost").code == 1
            assert agent.run("alert", "silence").code == 2
            assert agent.run("alert", "shout").code == 2


def test_reload(place: Path) -> None:
    with Receiver() as receiver, QuickAgent(place, scenario=hot(place), **configure(place, "")) as agent:
        assert "no alerts" in agent.run("alert", "list").out
        configure(place, QUICK + hook(receiver))
        agent.process.send_signal(signal.SIGHUP)
        receiver.wait("firing", "GpuTemperatureGpu")
        configure(place, QUICK + hook(receiver) + '[alerts.rule.GpuLots]\nfor = "1m"\n')
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_log("there is no rule GpuLots: did you mean GpuLost?: the configuration stays as it was")
        assert [alert["rule"] for alert in firing(agent)] == ["GpuTemperatureGpu"]
        # A rule that is gone is over.
        configure(place, QUICK + "enabled = false\n" + hook(receiver))
        agent.process.send_signal(signal.SIGHUP)
        over = receiver.wait("resolved", "GpuTemperatureGpu")
        assert "no such rule" in over["summary"]
        configure(place, "")
        agent.process.send_signal(signal.SIGHUP)
        wait_for(lambda: not listed(agent)["on"], "no alerts")


def test_without_a_section_there_is_nothing(place: Path) -> None:
    def threads(agent: Agent) -> int:
        return len(list(Path(f"/proc/{agent.pid}/task").iterdir()))

    with QuickAgent(place, "--history", place / "h.db", scenario=hot(place), **configure(place, "")) as agent:
        agent.wait_samples(2)
        alone = threads(agent)
    assert not (place / "alerts.state").exists()
    with QuickAgent(place, "--history", place / "h.db", scenario=hot(place), **configure(place, "[alerts]\n")) as agent:
        agent.wait_samples(2)
        assert threads(agent) == alone + 1
        assert listed(agent)["on"]
    assert (place / "alerts.state").stat().st_mode & 0o777 == 0o600


def test_no_alerts_of_a_recording(place: Path) -> None:
    with Receiver() as receiver:
        environment = configure(place, QUICK + hook(receiver))
        with Agent(place, "--demo", **environment) as agent:
            assert "no alerts are sent of a recording" in agent.log
            assert not listed(agent)["on"]
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("was read again")
            assert not listed(agent)["on"]


def test_damage_and_a_second_agent(place: Path) -> None:
    environment = configure(place, QUICK)
    (place / "alerts.state").write_bytes(b"gpulse alerts 1 and then nothing of it")
    with QuickAgent(place, "--history", place / "h.db", scenario=hot(place), **environment) as agent:
        agent.wait_log("alerts.state is damaged")
        assert (place / "alerts.state.damaged").exists()
        with open_folder() as other, QuickAgent(other, "--history", place / "alerts.db", scenario=hot(place), **environment) as second:
            second.wait_log("is in use by another agent")
            wait_for(lambda: firing(second), "its alert")
            assert "in use" in second.run("alert", "list").out


def test_a_test_message(place: Path) -> None:
    with Receiver() as receiver:
        away = hook(f"http://127.0.0.1:{free_port()}/x", "away")
        environment = configure(place, QUICK + hook(receiver) + away)
        done = gpulse("alert", "test", **environment)
        assert done.code == 1 and [line.split()[:3] for line in done.lines[1:]] == [["hook", "webhook", "arrived"], ["away", "webhook", "failed:"]]
        assert [told.json["test"] for told in receiver.all] == [True]
        assert gpulse("alert", "test", "hook", **environment).code == 0
        receiver.status = 401
        refused = gpulse("alert", "test", "hook", **environment)
        assert refused.code == 1 and "it answers 401" in refused.out
        nobody = gpulse("alert", "test", "hok", **environment)
        assert nobody.code == 2 and "did you mean hook?" in nobody.err
        assert gpulse("alert", "test", **configure(place, "[alerts]\n")).code == 1
        assert gpulse("alert", "list", GPULSE_AGENT=str(place)).code == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[alerts]\ngruop = '1s'\n", "[alerts] gruop is nothing to configure: did you mean group?"),
        ("[alerts.rule.GpuTemperatureGpu]\nfrom = 85\n", "two severities"),
        ("[alerts.rule.GpuTemperatureGpu]\nwarning = 95\n", "critical begins no later"),
        ("[alerts.rule.GpuTemperatureGpu]\nform = 85\n", "did you mean from?"),
        ("[alerts.rule.GpuLost]\nfrom = 1\n", "[alerts.rule.GpuLost] has no threshold to set"),
        ("[alerts.rule.GpuLost]\nfor = 'soon'\n", "is no length of time"),
        ("[alerts.rule.Gpulost]\n", "there is no rule Gpulost: did you mean GpuLost?"),
        ("[[alerts.own]]\nname = 'A'\nmetric = 'temperatur_gpu'\nfrom = 1\n", "did you mean temperature_gpu_celsius?"),
        ("[[alerts.own]]\nname = 'GpuLost'\nmetric = 'power_draw_watts'\nfrom = 1\n", "is there already"),
        ("[[alerts.own]]\nname = 'A'\nmetric = 'power_draw_watts'\n", "needs from, or below"),
        ("[[alerts.receiver]]\nname = 'a'\nkind = 'webhook'\n", "needs url or url_file"),
        ("[[alerts.receiver]]\nname = 'a'\nkind = 'slack'\nurl = 'https://hooks.example/T/x'\n", "is a secret"),
        ("[[alerts.receiver]]\nname = 'a'\nkind = 'exec'\ncommand = ['date']\n", "no whole path"),
        ("[[alerts.receiver]]\nname = 'a'\nkind = 'mail'\n", "is none of webhook, slack, ntfy, exec, log"),
        ("[[alerts.silence]]\nrule = 'GpuLots'\n", "did you mean GpuLost?"),
        ("[[alerts.silence]]\nrule = 'GpuLost'\nuntil = 'tomorow'\n", "is no time"),
        ("[alerts.receiver]\nname = 'a'\n", "write [[alerts.receiver]]"),
        ("\n\n[alerts]\nx = \n", "line 4"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(place: Path, text: str, words: str) -> None:
    environment = configure(place, text)
    for command in (["serve", "--listen", "off"], ["rules"]):
        done = gpulse(*command, scenario="single", GPULSE_AGENT=str(place), **environment) if command[0] == "serve" else gpulse(*command, **environment)
        assert done.code == 2 and words in done.err, done.err
    assert gpulse("--fast", scenario="single", **environment).code == 0, "whoever sends no alerts does not mind"


def test_a_secret_for_everybody_is_refused(place: Path) -> None:
    secret = place / "url"
    secret.write_text("https://hooks.example/T/secret")
    secret.chmod(0o644)
    config = f"[[alerts.receiver]]\nname = 'a'\nkind = 'slack'\nurl_file = '{secret}'\n"
    done = gpulse("alert", "test", **configure(place, config))
    assert done.code == 2 and "can be read by everybody" in done.err and "hooks.example" not in done.err


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus")
def test_the_agents_own_numbers(place: Path) -> None:
    with Receiver() as receiver, WebAgent(place, "--interval", "200ms", scenario=hot(place), **configure(place, QUICK + hook(receiver))) as agent:
        receiver.wait("firing", "GpuTemperatureGpu")
        text = wait_for(lambda: next((t for t in [agent.ask("/metrics").text] if 'sent_total{receiver="hook"} 1' in t), ""), "the count")
        assert "\ngpulse_self_alerts_firing 1\n" in text and '\ngpulse_self_alerts_waiting{receiver="hook"} 0\n' in text
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
