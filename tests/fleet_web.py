"""A made-up fleet in an engine, and `gpulse serve --fleet` that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from engine_data import Series, write
from scrapers import Engine
from web import WebAgent

BEFORE = 1800  # seconds of the past that the engine knows
AFTER = 600  # and of the time in which the tests run
STEP = 15
BROKE = 600  # seconds ago: a GPU was lost, a host went silent


def three_hosts(begin: int) -> Iterator[tuple[dict[str, str], Callable[[int], float | None]]]:
    """alpha: ann, busy to 90 % and truly to 60 %; beta: bob, of whose GPUs one is lost in the end; mute goes silent."""
    now = BEFORE

    def own_clock(host: str) -> Callable[[int], float | None]:
        return lambda second: begin + (min(second, now - BROKE) if host == "mute" else second)

    def is_lost(host: str, index: int, second: int) -> bool:
        return (host, index) == ("beta", 1) and second > now - BROKE

    def reading(host: str, index: int, value: float) -> Callable[[int], float | None]:
        return lambda second: None if is_lost(host, index, second) or (host == "mute" and second > now - BROKE) else value

    def state(host: str, index: int, word: str) -> Callable[[int], float | None]:
        return lambda second: float(is_lost(host, index, second) == (word == "lost"))

    for host, user, use in (("alpha", "ann", 0.9), ("beta", "bob", 0.5), ("mute", "carla", 0.7)):
        place = {"instance": f"{host}:9837", "job": "gpulse", "cluster": "north" if host == "alpha" else "south"}
        yield {"__name__": "gpulse_sample_timestamp_seconds", **place}, own_clock(host)
        for index in range(4):
            uuid = {"uuid": f"GPU-{host}-{index}"}
            gpu = {"gpu": str(index), "vendor": "nvidia", **uuid, **place}
            yield {"__name__": "gpulse_gpu_info", "name": "NVIDIA H100", **gpu}, reading(host, 0, 1)
            for word in ("ok", "lost"):
                yield {"__name__": "gpulse_gpu_state", "state": word, **gpu}, state(host, index, word)
            yield {"__name__": "gpulse_gpu_utilization_ratio", **gpu}, reading(host, index, use)
            yield {"__name__": "gpulse_sm_active_ratio", **gpu}, reading(host, index, use * 2 / 3)
            yield {"__name__": "gpulse_power_draw_watts", **gpu}, reading(host, index, 500)
            owner = {"user": user, "batch_job": f"{host}-{index // 2}", "batch_account": "physics"}
            yield {"__name__": "gpulse_gpu_owner_info", **owner, **uuid, **place}, reading(host, index, 1)


def write_three(engine: Engine, now: int) -> None:
    begin = now - BEFORE
    write(engine, [Series(labels, value) for labels, value in three_hosts(begin)], begin, BEFORE + AFTER, STEP)


class FleetServer(WebAgent):
    """`gpulse serve --fleet`, which needs no driver."""

    def __init__(self, folder: Path, engine: str, *arguments: str | Path) -> None:
        fleet = ("--fleet", f"http://{engine}", "--interval", "1", "--url-timeout", "3")
        super().__init__(folder, *fleet, *arguments, scenario=None, wait=False)
