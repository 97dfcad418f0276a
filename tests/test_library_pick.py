"""Leases, visible devices and sinks, as C and C++ programs use them through libgpulse.so."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, Result, environment, gpulse, run
from test_library import program  # noqa: F401

FREE = '[[device]]\nprofile = "h100"\ncount = 8\ngpu_util = 0\nmemory_used_mib = 0\n'
Program = Callable[..., Result]


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """Eight GPUs that nobody uses."""
    path = tmp_path / "free.toml"
    path.write_text(FREE)
    return path


@pytest.fixture
def leases(tmp_path: Path) -> str:
    return str(tmp_path / "leases")


def uuids(scenario: Path) -> list[str]:
    return [device["uuid"] for device in gpulse("--json", "--fast", scenario=scenario).json["devices"]]


# ---- Leases ----


def test_a_cpp_program_picks_gpus_and_gives_them_back(program: Program, free: Path, leases: str) -> None:
    body = r"""
    static_assert(std::is_nothrow_move_constructible_v<gpulse::Lease> && !std::is_copy_constructible_v<gpulse::Lease>, "");
    gpulse::PickOptions two; two.count = 2;
    auto first = gpulse::pick(two);
    gpulse::Lease lease = std::move(first);
    for (const auto &device : lease.devices()) printf("%s %s %s\n", device.id.c_str(), device.name.c_str(), device.uuid.c_str());
    for (const auto &[name, value] : lease.variables()) printf("%s=%s\n", name.c_str(), value.c_str());
    fflush(stdout);
    const std::string others = std::string(argv[1]) + " pick -n ";
    CHECK(system((others + "6 >/dev/null").c_str()) == 0);
    CHECK(system((others + "7 >/dev/null 2>&1").c_str()) != 0);
    CHECK(getenv("CUDA_VISIBLE_DEVICES") == nullptr);
    lease.apply();
    const auto seen = gpulse::visible(gpulse::look()).devices;
    CHECK(seen.size() == 2 && seen[0].uuid() == lease.uuids()[0] && seen[1].uuid() == lease.uuids()[1]);
    unsetenv("CUDA_VISIBLE_DEVICES");
    lease.release();
    lease.release();
    CHECK(lease.uuids().size() == 2);
    { gpulse::PickOptions all; all.count = 8; CHECK(gpulse::pick(all).devices().size() == 8); }
    CHECK(system((others + "8 >/dev/null").c_str()) == 0);
    """
    result = program(body, str(GPULSE), language="cpp", scenario=free, GPULSE_LEASES=leases)
    assert (result.code, result.err) == (0, ""), result
    known = uuids(free)
    first, second, mask = result.lines
    chosen = [known[int(line.split()[0])] for line in (first, second)]
    assert [line.split()[-1] for line in (first, second)] == chosen and "NVIDIA H100" in first
    assert mask == "CUDA_VISIBLE_DEVICES=" + ",".join(chosen)


def test_what_cannot_be_had_is_an_exception_with_reasons(program: Program, free: Path, leases: str) -> None:
    body = r"""
    gpulse::PickOptions three; three.count = 3;
    const auto held = gpulse::pick(three);
    gpulse::PickOptions six; six.count = 6;
    try { (void)gpulse::pick(six); return 1; }
    catch (const gpulse::NoGpuAvailable &none) {
      CHECK(none.status() == GPULSE_NO_GPU && none.refused().size() == 3);
      const auto copy = none;
      const auto own = "held by pid " + std::to_string(getpid());
      for (std::size_t i = 0; i < 3; ++i) {
        const auto &one = copy.refused()[i];
        CHECK(one.reason.find(own) == 0 && one.name.find("H100") != std::string::npos && one.uuid.find("GPU-") == 0);
        CHECK(std::string(none.what()).find("; GPU " + one.id + ": " + own) != std::string::npos);
      }
    }
    /* Nothing of it is left: the other five are there to be had. */
    gpulse::PickOptions five; five.count = 5;
    auto rest = gpulse::pick(five);
    gpulse::PickOptions one; one.wait = std::chrono::minutes(1);
    int calls = 0;
    one.progress = [&](gpulse::Seconds waited, std::uint32_t free) { CHECK(waited.count() >= 0 && free == 0); return ++calls < 3; };
    try { (void)gpulse::pick(one); return 1; }
    catch (const gpulse::NoGpuAvailable &none) { CHECK(none.status() == GPULSE_CLOSED && none.refused().empty() && calls == 3); }
    one.progress = [](gpulse::Seconds, std::uint32_t) -> bool { throw std::logic_error("mine"); };
    try { (void)gpulse::pick(one); return 1; } catch (const std::logic_error &mine) { CHECK(strcmp(mine.what(), "mine") == 0); }
    one.progress = [&](gpulse::Seconds, std::uint32_t) { rest.release(); return true; };
    CHECK(gpulse::pick(one).devices().size() == 1);
    for (const double share : {-0.1, 1.1}) {
      gpulse::PickOptions wrong; wrong.min_free_share = share;
      try { (void)gpulse::pick(wrong); return 1; } catch (const gpulse::Error &error) { CHECK(error.status() == GPULSE_INVALID); }
    }
    gpulse::PickOptions greedy; greedy.min_free = 1e15;
    try { (void)gpulse::pick(greedy); return 1; } catch (const gpulse::NoGpuAvailable &none) { CHECK(none.refused().size() == 8); }
    """
    assert program(body, language="cpp", scenario=free, GPULSE_LEASES=leases) == Result(0, "", "")


def test_without_a_gpu_there_is_nobody_to_refuse(program: Program, leases: str) -> None:
    body = r"""
    try { (void)gpulse::pick(); return 1; }
    catch (const gpulse::NoGpuAvailable &none) { CHECK(none.refused().empty() && strlen(none.what()) > 5); }
    """
    assert program(body, language="cpp", scenario=None, GPULSE_LEASES=leases, CUDA_VISIBLE_DEVICES="") == Result(0, "", "")


FORK = r"""
    gpulse_pick_options options; gpulse_lease *lease; int ends[2]; char word;
    gpulse_pick_options_init(&options); options.count = 8; options.pass_on = strcmp(argv[1], "passed on") == 0;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_OK && pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
      /* The child outlives its parent. What it frees is not its parent's. */
      if (strcmp(argv[1], "freed") == 0) gpulse_lease_free(lease);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      for (int i = 0; i < 3; ++i) close(i);
      for (;;) pause();
    }
    CHECK(read(ends[0], &word, 1) == 1);
    printf("%d\n", (int)child); fflush(stdout);
    CHECK(system(argv[2]) != 0);  /* a pick by another: all are held */
    if (argc > 3) { gpulse_lease_free(lease); CHECK(system(argv[2]) == 0); }
"""


@pytest.mark.parametrize("way", ["kept", "freed", "passed on"])
def test_a_lease_ends_with_its_process_and_not_with_a_child(way: str, program: Program, free: Path, leases: str) -> None:
    env = environment(free, GPULSE_LEASES=leases)
    result = program(FORK, way, f"{GPULSE} pick >/dev/null 2>&1", scenario=free, GPULSE_LEASES=leases)
    assert (result.code, result.err) == (0, ""), result
    child = int(result.out)
    try:
        now = run([GPULSE, "pick", "-n", "8"], env)
        assert now.code == (1 if way == "passed on" else 0), now
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_lease_that_is_freed_is_free_though_a_child_lives(program: Program, free: Path, leases: str) -> None:
    result = program(FORK, "kept", f"{GPULSE} pick >/dev/null 2>&1", "free", scenario=free, GPULSE_LEASES=leases)
    os.kill(int(result.out.splitlines()[0]), signal.SIGKILL)
    assert (result.code, result.err, len(result.lines)) == (0, "", 1), result


def test_a_wait_for_a_gpu_leaves_the_programs_signals_alone(program: Program, free: Path, leases: str) -> None:
    body = r"""
    gpulse_pick_options options; gpulse_lease *all, *none = (gpulse_lease *)argv;
    gpulse_pick_options_init(&options); options.count = 8;
    CHECK(gpulse_pick(&options, &all) == GPULSE_OK);
    options.wait = INFINITY; options.progress = look; options.context = argv[1];
    CHECK(gpulse_pick(&options, &none) == GPULSE_CLOSED && none == NULL && strlen(gpulse_last_error()) > 10);
    gpulse_lease_free(all);
    """
    # Of every thread but the first, which waits with the signals that it had; those that system() blocked for a moment are back by then.
    look = "sleep 0.2; for t in /proc/$PPID/task/*; do [ ${t##*/} = $PPID ] && grep SigBlk $t/status || grep SigBlk $t/status >&2; done"
    function = "static int32_t look(void *command, double waited, uint32_t free) { (void)waited, (void)free; return system((const char *)command) == 0 ? 1 : 2; }"
    result = program(body, look, before=function, scenario=free, GPULSE_LEASES=leases)
    assert result.code == 0, result
    assert [int(line.split()[1], 16) for line in result.lines] == [1 << 16]  # SIGCHLD, by system() itself
    assert result.err
    for line in result.err.splitlines():
        assert int(line.split()[1], 16) & 0xFFFF == 0xFFFF & ~(1 << 8), line  # all but SIGKILL


def test_whatever_is_given_to_pick_and_visible_is_answered(program: Program, free: Path, leases: str) -> None:
    body = r"""
    gpulse_pick_options options; gpulse_lease *lease = (gpulse_lease *)argv; gpulse_view *view = (gpulse_view *)argv;
    gpulse_lease_info info = {.size = sizeof info}; gpulse_leased leased = {.size = sizeof leased};
    gpulse_view_info seen = {.size = sizeof seen}; gpulse_ignored ignored = {.size = sizeof ignored};
    gpulse_sink_options sink = {.size = sizeof sink};
    gpulse_lease_free(NULL); gpulse_view_free(NULL); gpulse_pick_options_init(NULL);
    CHECK(gpulse_pick(NULL, NULL) == GPULSE_INVALID && gpulse_visible(NULL, NULL, &view) == GPULSE_INVALID);
    CHECK(gpulse_get_lease(NULL, &info) == GPULSE_INVALID && gpulse_get_leased(NULL, 0, &leased) == GPULSE_INVALID);
    CHECK(gpulse_get_refused(NULL, 0, &leased) == GPULSE_INVALID && gpulse_lease_variable(NULL, 0, NULL) == NULL);
    CHECK(gpulse_get_view(NULL, &seen) == GPULSE_INVALID && gpulse_view_device(NULL, 0) == -1);
    CHECK(gpulse_get_ignored(NULL, 0, &ignored) == GPULSE_INVALID);
    CHECK(gpulse_add_sink(NULL, &sink) == GPULSE_INVALID && gpulse_sink_error(NULL)[0] == '\0');
    /* What is not allowed leaves nothing behind. */
    gpulse_pick_options_init(&options); options.count = 0;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_INVALID && lease == NULL);
    gpulse_pick_options_init(&options); options.size = 0; lease = (gpulse_lease *)argv;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_INVALID && lease == NULL);
    gpulse_pick_options_init(&options); options.max_util = -1; lease = (gpulse_lease *)argv;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_INVALID && lease == NULL);
    gpulse_pick_options_init(&options); options.count = UINT32_MAX;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_NO_GPU && lease != NULL);
    CHECK(gpulse_get_lease(lease, &info) == GPULSE_OK && info.devices == 0 && info.variables == 0);
    gpulse_lease_free(lease);
    gpulse_pick_options_init(&options); options.wait = NAN;
    CHECK(gpulse_pick(&options, &lease) == GPULSE_OK);
    CHECK(gpulse_get_leased(lease, 1, &leased) == GPULSE_INVALID && gpulse_get_refused(lease, 0, &leased) == GPULSE_INVALID);
    CHECK(gpulse_get_leased(lease, 0, NULL) == GPULSE_INVALID && gpulse_get_lease(lease, NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_leased(lease, 0, &leased) == GPULSE_OK && leased.reason[0] == '\0');
    CHECK(strcmp(gpulse_lease_variable(lease, 0, NULL), "CUDA_VISIBLE_DEVICES") == 0 && gpulse_lease_variable(lease, 1, NULL) == NULL);
    gpulse_lease_free(lease);
    gpulse_sample *sample; CHECK(gpulse_look(NULL, &sample) == GPULSE_OK);
    gpulse_visible_options how = {.size = 3}; view = (gpulse_view *)argv;
    CHECK(gpulse_visible(sample, &how, &view) == GPULSE_INVALID && view == NULL);
    CHECK(gpulse_visible(sample, NULL, NULL) == GPULSE_INVALID && gpulse_visible(sample, NULL, &view) == GPULSE_OK);
    gpulse_release(sample);
    CHECK(gpulse_view_device(view, 7) == 7 && gpulse_view_device(view, 8) == -1 && gpulse_get_view(view, NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_view(view, &seen) == GPULSE_OK && seen.devices == 8 && strcmp(seen.method, "no mask") == 0);
    gpulse_view_free(view);
    """
    assert program(body, scenario=free, GPULSE_LEASES=leases) == Result(0, "", "")


# ---- Visible devices ----

SHOW = r"""
    const auto sample = gpulse::look();
    gpulse::VisibleOptions options;
    if (argc > 1) options.environment = std::vector<std::string>(argv + 1, argv + argc);
    const auto seen = gpulse::visible(sample, options);
    printf("%s;%s;", seen.method.c_str(), seen.problem.c_str());
    for (const auto &device : seen.devices) printf(" %.*s", static_cast<int>(device.id().size()), device.id().data());
    puts("");
    for (const auto &one : seen.ignored) printf("%s %s: %s\n", one.variable.c_str(), one.entry.c_str(), one.reason.c_str());
"""


def test_visible_devices_stand_in_cudas_order(program: Program, free: Path) -> None:
    assert program(SHOW, language="cpp", scenario=free).lines == ["no mask;; 0 1 2 3 4 5 6 7"]
    assert program(SHOW, language="cpp", scenario=free, CUDA_VISIBLE_DEVICES="3,1").lines == ["mask;; 3 1"]
    # Of another process, whatever this one has.
    known = uuids(free)
    mask = f"CUDA_VISIBLE_DEVICES={known[6]},{known[0]}"
    assert program(SHOW, "HOME=/", mask, language="cpp", scenario=free, CUDA_VISIBLE_DEVICES="3").lines == ["mask;; 6 0"]


def test_entries_that_show_nothing_are_told(program: Program, free: Path) -> None:
    result = program(SHOW, language="cpp", scenario=free, CUDA_VISIBLE_DEVICES="2,0,\x1b[2J9,1")
    shown, *ignored = result.lines
    assert result.code == 0 and shown.endswith("; 2 0")
    # The first that fits nothing ends the list.
    assert len(ignored) == 2 and all(line.startswith("CUDA_VISIBLE_DEVICES ") for line in ignored)
    assert "\x1b" not in result.out


# ---- Sinks ----


def test_a_cpp_program_writes_its_samples_to_a_file(program: Program, free: Path, tmp_path: Path) -> None:
    body = r"""
    using namespace std::chrono_literals;
    gpulse::Options options; options.interval = 20ms;
    gpulse::Monitor monitor(options);
    gpulse::SinkOptions sink; sink.format = "csv"; sink.path = argv[1]; sink.fields = {"id", "power_draw_watts"};
    const auto sample = monitor.wait(10s);
    CHECK(sample);
    sink.uuids = {std::string(sample->devices()[5].uuid()), std::string(sample->devices()[2].uuid())};
    monitor.add_sink(sink);
    const auto refused = [&](gpulse_status status) {
      try { monitor.add_sink(sink); return false; } catch (const gpulse::Error &error) { return error.status() == status && strlen(error.what()) > 5; }
    };
    CHECK(monitor.wait(10s, sample->number() + 4));
    CHECK(refused(GPULSE_FAILED));  /* the file is there */
    sink.existing = gpulse::Existing::overwrite;
    sink.path = "/nonexistent/x";
    CHECK(refused(GPULSE_FAILED));
    sink.path = "";
    CHECK(refused(GPULSE_INVALID));
    sink.path = std::string(argv[1]) + "2";
    sink.format = "xml";
    CHECK(refused(GPULSE_INVALID));
    sink.format = "csv"; sink.fields = {"no_such"};
    CHECK(refused(GPULSE_INVALID));
    CHECK(monitor.sink_error().empty());
    if (fork() == 0) {
      sink.fields.clear();
      _exit(refused(GPULSE_FORKED) && monitor.sink_error().empty() ? 0 : 1);
    }
    int status; wait(&status); CHECK(status == 0);
    """
    path = tmp_path / "samples.csv"
    assert program(body, str(path), language="cpp", scenario=free) == Result(0, "", "")
    rows = list(csv.DictReader(path.open()))
    assert len(rows) >= 8 and len(rows) % 2 == 0
    assert {row["id"] for row in rows} == {"2", "5"}
    assert all(float(row["power_draw_watts"]) > 0 for row in rows)
    assert not path.with_name("samples.csv2").exists()


def test_a_full_disk_is_told_and_stops_nothing_else(program: Program, free: Path, tmp_path: Path) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample; gpulse_options options;
    gpulse_options_init(&options); options.interval = 0.02;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK);
    gpulse_sink_options full = {.size = sizeof full, .format = "jsonl", .path = "/dev/full"};
    gpulse_sink_options good = {.size = sizeof good, .format = "jsonl", .path = argv[1]};
    CHECK(gpulse_add_sink(monitor, &full) == GPULSE_OK && gpulse_add_sink(monitor, &good) == GPULSE_OK);
    gpulse_stats stats = {.size = sizeof stats};
    CHECK(gpulse_get_stats(monitor, &stats) == GPULSE_OK && gpulse_wait(monitor, stats.samples + 3, 10, &sample) == GPULSE_OK);
    printf("%s\n", gpulse_sink_error(monitor));
    gpulse_release(sample); gpulse_close(monitor);
    """
    path = tmp_path / "samples.jsonl"
    result = program(body, str(path), scenario=free)
    assert result.code == 0 and "No space left" in result.out, result
    assert len(path.read_text().splitlines()) >= 3
