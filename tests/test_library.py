"""libgpulse.so and its headers, used as a program would: compiled, linked, run on the simulator."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

from harness import BUILD, ROOT, Result, environment, run

LIBRARY = BUILD / "libgpulse.so"
INCLUDE = ROOT / "include"
GLIBC = tuple(map(int, platform.libc_ver()[1].split(".")))
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
COMPILERS = {"c": ["cc", "-std=c99"], "cpp": ["c++", "-std=c++17"]}


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def compiled(source: Path, target: Path) -> Path:
    language = "c" if source.suffix == ".c" else "cpp"
    subprocess.run(
        [*COMPILERS[language], *STRICT, f"-I{INCLUDE}", source, "-o", target, f"-L{BUILD}", "-lgpulse", "-lm", "-pthread",
         f"-Wl,-rpath,{BUILD}"],
        check=True,
    )  # fmt: skip
    return target


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The examples, built as their first lines say."""
    folder = tmp_path_factory.mktemp("programs")
    sources = [ROOT / "examples" / "c" / "watch.c", ROOT / "examples" / "cpp" / "train_loop.cpp"]
    return {source.stem: compiled(source, folder / source.stem) for source in sources}


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Result]:
    """Builds a C or C++ program around the given lines of main(), and runs it."""

    def build_and_run(body: str, *arguments: str, language: str = "c", before: str = "", scenario: str | Path | None = "single",
                      **more: str) -> Result:  # fmt: skip
        header = "gpulse.h" if language == "c" else "gpulse.hpp"
        source = tmp_path / f"program.{language}"
        source.write_text(PREAMBLE % header + before + "\nint main(int argc, char **argv) {\n(void)argc, (void)argv;\n" + body + "\nreturn 0;\n}\n")
        return run([compiled(source, tmp_path / "program"), *arguments], environment(scenario, **more))

    return build_and_run


PREAMBLE = """
#define _DEFAULT_SOURCE 1
#include <gpulse/%s>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define CHECK(x) do { if (!(x)) { printf("line %%d: %%s\\n", __LINE__, #x); exit(1); } } while (0)
"""

# ---- The file ----


def declared() -> set[str]:
    return set(re.findall(r"\b(gpulse_\w+)\(", re.sub(r"/\*.*?\*/", "", (INCLUDE / "gpulse" / "gpulse.h").read_text(), flags=re.S)))


def exported() -> set[str]:
    lines = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[1] != "A"}


def test_it_exports_what_the_header_declares_and_nothing_else() -> None:
    """So nothing of it comes before a function of libc or of the program."""
    assert len(declared()) > 30
    assert exported() == declared()


def test_it_needs_nothing_but_glibc() -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY))
    assert needed
    for name in needed:
        assert re.fullmatch(r"libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux.*\.so\.\d", name), name


@pytest.mark.skipif(GLIBC > (2, 36), reason="built against a newer glibc; what is published is built on Debian 12")
def test_it_runs_on_glibc_2_36() -> None:
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", output("objdump", "-T", LIBRARY))}
    assert versions and max(versions) <= (2, 36)


def test_it_stays_loaded_and_has_a_name_with_a_version() -> None:
    dynamic = output("readelf", "-d", LIBRARY)
    assert "NODELETE" in dynamic
    assert "[libgpulse.so.1]" in dynamic
    assert "TEXTREL" not in dynamic


def test_the_librarys_own_sources_do_not_include_the_header_for_cpp() -> None:
    sources = [path for pattern in ("*.cpp", "*.hpp") for path in (ROOT / "src").rglob(pattern)]
    assert [path for path in sources if "gpulse/gpulse.hpp" in path.read_text()] == []


@pytest.mark.parametrize("compiler", ["gcc", "clang-19", "g++", "clang++-19"])
def test_the_headers_compile_alone_and_without_a_warning(compiler: str, tmp_path: Path) -> None:
    cpp = "++" in compiler
    source = tmp_path / ("one.cpp" if cpp else "one.c")
    header = "gpulse.hpp" if cpp else "gpulse.h"
    # Twice, as happens in programs of many files.
    source.write_text(f"#include <gpulse/{header}>\n#include <gpulse/{header}>\nint unused;\n")
    try:
        done = subprocess.run([compiler, "-std=c++17" if cpp else "-std=c99", *STRICT, "-Wshadow", "-Wconversion", f"-I{INCLUDE}",
                               "-fsyntax-only", source], capture_output=True, text=True)  # fmt: skip
    except FileNotFoundError:
        pytest.skip(f"no {compiler}")
    assert (done.returncode, done.stderr) == (0, "")


def test_it_starts_no_thread_until_it_is_asked_to(program: Callable[..., Result]) -> None:
    body = r"""
    (void)gpulse_version();
    CHECK(gpulse_metric("power_draw_watts") >= 0);
    char line[64]; FILE *tasks = popen(argv[1], "r");
    CHECK(tasks != NULL && fgets(line, sizeof line, tasks) != NULL);
    printf("%s", line);
    """
    assert program(body, "ls /proc/$PPID/task | wc -l").out == "1\n"


# ---- The examples ----


def test_the_example_in_c_shows_the_scenario(programs: dict[str, Path]) -> None:
    result = run([programs["watch"], "3"], environment("eight"))
    assert (result.code, result.err) == (0, "")
    assert [line.split()[0] for line in result.lines] == [str(number) for number in (1, 2, 3) for _ in range(8)]
    # The straggler of the scenario.
    assert result.lines[6] == "1 GPU 6 NVIDIA H100 80GB HBM3:  use 100 %  memory 62180 MiB  power 402 W  temperature 86 C"


def test_the_example_in_cpp_shows_the_scenario(programs: dict[str, Path]) -> None:
    result = run([programs["train_loop"], "500"], environment("single"))
    assert (result.code, result.err) == (0, "")
    assert [line.split(":")[0] for line in result.lines[:5]] == [f"step {step} GPU 0" for step in (0, 100, 200, 300, 400)]
    assert result.lines[0].endswith(": 690.66 W, 80.918 % active")
    end = re.fullmatch(r"trained for ([\d.]+) s on GPU 0: peak memory 1139 of 143771 MiB, ([\d.]+) J", result.lines[5])
    assert end, result.out
    seconds, joules = map(float, end.groups())
    assert seconds >= 2.5
    assert joules == pytest.approx(690.66 * seconds, rel=0.1)


def test_the_examples_say_that_there_is_no_gpu(programs: dict[str, Path]) -> None:
    for name in programs:
        result = run([programs[name], "1"], environment(None))
        assert (result.code, result.err) == (0, "")
        assert result.out == "NVIDIA driver not installed\n" or "no GPU" in result.out


# ---- Bad input ----


def test_what_makes_no_sense_is_refused_with_a_sentence(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor = (gpulse_monitor *)argv;
    gpulse_options options;
    const double intervals[] = {0, -1, 0.001, 1e9, NAN, INFINITY};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; ++i) {
      gpulse_options_init(&options);
      options.interval = intervals[i];
      CHECK(gpulse_open(&options, &monitor) == GPULSE_INVALID && monitor == NULL);
      CHECK(strstr(gpulse_last_error(), "makes no sense") != NULL);
    }
    gpulse_options_init(&options);
    options.history = -1;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_INVALID);
    gpulse_options_init(&options);
    options.metrics = "power_draw_watts,no\nsuch";
    CHECK(gpulse_open(&options, &monitor) == GPULSE_INVALID);
    CHECK(strstr(gpulse_last_error(), "no metric \"no such\"") != NULL);
    gpulse_options_init(&options);
    options.flags = 0x80;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_INVALID);
    gpulse_options_init(&options);
    options.size = 0;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_INVALID);
    CHECK(gpulse_metric("no such") == -1 && gpulse_last_error()[0] != 0);
    CHECK(gpulse_metric(NULL) == -1);
    CHECK(strcmp(gpulse_reason(NAN), "no reading") == 0);
    CHECK(strcmp(gpulse_reason(1.0), "") == 0);
    """
    assert program(body) == Result(0, "", "")


def test_a_value_is_written_as_a_person_reads_it(program: Callable[..., Result]) -> None:
    body = r"""
    char text[32];
    CHECK(gpulse_format(gpulse_metric("memory_used_bytes"), 1610612736.0, text, sizeof text) == 7);
    CHECK(strcmp(text, "1.5 GiB") == 0);
    gpulse_format(gpulse_metric("power_draw_watts"), 690.72, text, sizeof text);
    CHECK(strcmp(text, "690.7 W") == 0);
    gpulse_format(gpulse_metric("performance_state"), 0, text, sizeof text);
    CHECK(strcmp(text, "P0") == 0);
    gpulse_format(gpulse_metric("power_draw_watts"), NAN, text, sizeof text);
    CHECK(strcmp(text, "no reading") == 0);
    /* What has no room is left out, and the length is told all the same. */
    CHECK(gpulse_format(gpulse_metric("power_draw_watts"), 690.72, text, 4) == 7);
    CHECK(strcmp(text, "690") == 0);
    CHECK(gpulse_format(gpulse_metric("process.user"), 1, text, sizeof text) == 0);
    """
    assert program(body) == Result(0, "", "")


def test_nothing_is_taken_for_null(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_sample *sample; gpulse_table *table; gpulse_stats stats = {.size = sizeof stats};
    gpulse_options_init(NULL);
    CHECK(gpulse_open(NULL, NULL) == GPULSE_INVALID);
    CHECK(gpulse_look(NULL, NULL) == GPULSE_INVALID);
    CHECK(gpulse_latest(NULL) == NULL);
    CHECK(gpulse_wait(NULL, 0, 0, &sample) == GPULSE_INVALID);
    CHECK(gpulse_refresh(NULL, 0, &sample) == GPULSE_INVALID);
    CHECK(gpulse_subscribe(NULL) == -1);
    CHECK(gpulse_get_stats(NULL, &stats) == GPULSE_INVALID);
    CHECK(gpulse_history(NULL, NULL, &table) == GPULSE_INVALID);
    CHECK(gpulse_region_begin(NULL, "x") == NULL);
    CHECK(gpulse_region_get(NULL, "x", NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_info(NULL, NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_device(NULL, 0, NULL) == GPULSE_INVALID);
    CHECK(gpulse_get_process(NULL, 0, NULL) == GPULSE_INVALID);
    CHECK(gpulse_find_device(NULL, "0") == -1);
    CHECK(isnan(gpulse_value(NULL, 0, 0)));
    CHECK(gpulse_text(NULL, 0, 0) == NULL && gpulse_json(NULL) == NULL);
    CHECK(gpulse_describe(0, NULL) == GPULSE_INVALID && gpulse_describe(-1, NULL) == GPULSE_INVALID);
    CHECK(gpulse_words(0, 1, NULL, 0) == 0 && gpulse_format(-1, 1, NULL, 0) == 0);
    CHECK(gpulse_get_column(NULL, 0, NULL) == GPULSE_INVALID && gpulse_table_text(NULL, 0, 0) == NULL);
    CHECK(gpulse_table_rows(NULL) == 0 && gpulse_table_arrow(NULL, NULL) == GPULSE_INVALID);
    gpulse_close(NULL); gpulse_release(NULL); gpulse_retain(NULL); gpulse_set_step(NULL, 1); gpulse_unsubscribe(NULL, 0);
    gpulse_region_end(NULL); gpulse_region_free(NULL); gpulse_table_free(NULL); gpulse_values(NULL, 0, NULL, 3, NULL);
    """
    assert program(body) == Result(0, "", "")


def test_structs_of_another_version_are_filled_as_far_as_they_go(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_sample *sample;
    CHECK(gpulse_look(NULL, &sample) == GPULSE_OK);
    /* An older program's struct ends behind the name; what lies behind it is not ours. */
    union { gpulse_device_info info; unsigned char bytes[sizeof(gpulse_device_info) + 64]; } place;
    memset(&place, 0x5a, sizeof place);
    place.info.size = offsetof(gpulse_device_info, name) + sizeof(char *);
    CHECK(gpulse_get_device(sample, 0, &place.info) == GPULSE_OK);
    CHECK(strcmp(place.info.name, "NVIDIA H200") == 0);
    for (size_t i = place.info.size; i < sizeof place; ++i) CHECK(place.bytes[i] == 0x5a);
    /* A newer program's is longer: what this library does not know is zero. */
    memset(&place, 0x5a, sizeof place);
    place.info.size = sizeof place;
    CHECK(gpulse_get_device(sample, 0, &place.info) == GPULSE_OK);
    CHECK(place.info.size == sizeof place);
    for (size_t i = sizeof place.info; i < sizeof place; ++i) CHECK(place.bytes[i] == 0);
    /* One that was never set. */
    place.info.size = 0;
    CHECK(gpulse_get_device(sample, 0, &place.info) == GPULSE_INVALID);
    place.info.size = (size_t)-1;
    CHECK(gpulse_get_device(sample, 0, &place.info) == GPULSE_INVALID);
    gpulse_release(sample);
    /* An option of a newer version is not passed over. */
    union { gpulse_options options; unsigned char bytes[sizeof(gpulse_options) + 8]; } newer;
    memset(&newer, 0, sizeof newer);
    gpulse_options_init(&newer.options);
    newer.options.size = sizeof newer;
    CHECK(gpulse_look(&newer.options, &sample) == GPULSE_OK);
    gpulse_release(sample);
    newer.bytes[sizeof newer - 1] = 1;
    CHECK(gpulse_look(&newer.options, &sample) == GPULSE_INVALID && sample == NULL);
    """
    assert program(body) == Result(0, "", "")


def test_a_wait_takes_any_timeout(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample = (gpulse_sample *)argv;
    gpulse_options options; gpulse_options_init(&options); options.interval = 3600;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK);
    CHECK(gpulse_wait(monitor, 0, INFINITY, &sample) == GPULSE_OK);
    gpulse_release(sample);
    const double timeouts[] = {0, -1, -INFINITY, NAN, 1e-300};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; ++i) {
      CHECK(gpulse_wait(monitor, 1, timeouts[i], &sample) == GPULSE_TIMEOUT && sample == NULL);
    }
    CHECK(gpulse_wait(monitor, UINT64_MAX, 0.01, &sample) == GPULSE_TIMEOUT);
    CHECK(gpulse_refresh(monitor, 1e300, &sample) == GPULSE_OK);
    gpulse_close(monitor);
    /* What was handed out stays good. */
    gpulse_device_info info = {.size = sizeof info};
    CHECK(gpulse_get_device(sample, 0, &info) == GPULSE_OK && strcmp(info.name, "NVIDIA H200") == 0);
    gpulse_release(sample);
    """
    assert program(body) == Result(0, "", "")


# ---- Life ----


def test_a_child_opens_its_own_monitor(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample; gpulse_options options;
    gpulse_options_init(&options); options.interval = 0.01;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK);
    CHECK(gpulse_wait(monitor, 0, 10, &sample) == GPULSE_OK);
    for (int i = 0; i < 20; ++i) {
      gpulse_region *region = gpulse_region_begin(monitor, "step");
      pid_t child = fork();
      if (child == 0) {
        gpulse_stats stats = {.size = sizeof stats}; gpulse_region_use use = {.size = sizeof use};
        gpulse_sample *none = NULL; gpulse_table *table = NULL;
        alarm(20);
        if (gpulse_latest(monitor) != NULL || gpulse_wait(monitor, 0, 60, &none) != GPULSE_FORKED) _exit(1);
        if (gpulse_refresh(monitor, 60, &none) != GPULSE_FORKED || gpulse_subscribe(monitor) != -1) _exit(2);
        if (gpulse_get_stats(monitor, &stats) != GPULSE_FORKED) _exit(3);
        if (gpulse_history(monitor, NULL, &table) != GPULSE_FORKED) _exit(4);
        if (gpulse_region_begin(monitor, "x") != NULL) _exit(5);
        if (gpulse_region_get(region, "x", &use) != GPULSE_FORKED) _exit(6);
        if (gpulse_json(sample) == NULL) _exit(7);
        gpulse_set_step(monitor, 1); gpulse_region_end(region); gpulse_region_free(region); gpulse_close(monitor);
        if (i % 5 == 0) {
          gpulse_monitor *own; gpulse_sample *mine;
          if (gpulse_open(&options, &own) != GPULSE_OK) _exit(8);
          if (gpulse_wait(own, 1, 10, &mine) != GPULSE_OK) _exit(9);
          if (gpulse_value(mine, gpulse_metric("power_draw_watts"), 0) != 690.66) _exit(10);
          gpulse_release(mine); gpulse_close(own);
        }
        exit(0); /* with all that a program does at its end */
      }
      int status; CHECK(waitpid(child, &status, 0) == child);
      if (status != 0) { printf("child %d: status %d\n", i, status >> 8); exit(1); }
      gpulse_region_free(region);
    }
    gpulse_release(sample);
    CHECK(gpulse_refresh(monitor, 10, &sample) == GPULSE_OK);
    gpulse_release(sample);
    gpulse_close(monitor);
    """
    assert program(body) == Result(0, "", "")


def test_a_program_may_end_without_closing(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample; gpulse_options options;
    gpulse_options_init(&options); options.interval = 0.01;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK);
    if (argc > 1) CHECK(gpulse_wait(monitor, 0, 10, &sample) == GPULSE_OK);
    """
    for arguments in ([], ["wait"]):
        assert program(body, *arguments) == Result(0, "", "")


def test_the_programs_signals_are_its_own(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample;
    CHECK(gpulse_open(NULL, &monitor) == GPULSE_OK && gpulse_wait(monitor, 0, 10, &sample) == GPULSE_OK);
    CHECK(system(argv[1]) == 0);
    gpulse_release(sample);
    gpulse_close(monitor);
    """
    # Every thread but the first, which is the program's, has all blocked that can be.
    look = "for t in /proc/$PPID/task/*; do [ ${t##*/} = $PPID ] || grep SigBlk $t/status; done | sort -u"
    lines = program(body, look).lines
    assert len(lines) == 1 and int(lines[0].split()[1], 16) & 0xFFFF == 0xFFFF & ~(1 << 8), lines  # all but SIGKILL


def test_cpp_programs_get_exceptions_and_optionals(program: Callable[..., Result]) -> None:
    body = r"""
    using namespace std::chrono_literals;
    try { gpulse::Metric("no such"); return 1; } catch (const gpulse::Error &error) { CHECK(error.status() == GPULSE_INVALID); }
    gpulse::Options options; options.interval = 0s;
    try { gpulse::Monitor refused(options); return 1; } catch (const gpulse::Error &error) { CHECK(strlen(error.what()) > 10); }
    options.interval = 20ms;
    gpulse::Monitor first(options);
    gpulse::Monitor monitor = std::move(first);
    const gpulse::Metric power("power_draw_watts"), fan("fan_speed_percent"), cpu("host.cpu_percent");
    const gpulse::Metric memory("process.gpu_memory_bytes"), state("performance_state"), serial("serial");
    CHECK(power.unit() == "watts" && power.scope() == GPULSE_DEVICE && cpu.scope() == GPULSE_HOST);
    monitor.set_step(7);
    auto sample = monitor.wait(10s, 3);
    CHECK(sample && sample->number() > 3 && sample->step() == 7 && !sample->from_agent() && sample->absence().empty());
    CHECK(std::chrono::steady_clock::now() - sample->monotonic() < 5s);
    CHECK((*sample)[cpu].has_value());
    int devices = 0;
    for (const auto &device : monitor.latest()->devices()) {  /* the sample of the range is held by it */
      ++devices;
      CHECK(device.name() == "NVIDIA H200" && device.id() == "0" && device.vendor() == "nvidia" && device.state() == "ok");
      CHECK(*device[power] == 690.66 && std::optional<double>(device[power]) == 690.66);
      CHECK(!device[fan] && device[fan].reason() == "not supported" && device[fan].value_or(-1) == -1);
      CHECK(state.words(device[state]) == "P0");
      try { device[fan].value(); return 1; } catch (const gpulse::Error &error) { CHECK(error.what() == device[fan].reason()); }
    }
    CHECK(devices == 1);
    for (const auto &process : sample->processes()) CHECK(process.pid() == 560 && !process.is_self() && process.device()->id() == "0" && process[memory]);
    CHECK(sample->find("0") && sample->find(std::string(sample->devices()[0].uuid())) && !sample->find("5"));
    try { sample->devices()[1]; return 1; } catch (const gpulse::Error &) {}
    auto region = monitor.region("step");
    region.end();
    CHECK(!region.use("no such"));
    CHECK(region.use(sample->devices()[0].uuid())->memory_peak);
    gpulse::History asked; asked.uuids = {std::string(sample->devices()[0].uuid())};
    const auto table = monitor.history(asked);
    const auto watts = table.find("power_draw_watts");
    CHECK(table.rows() >= 4 && watts && table.numbers(*watts)[0] == 690.66 && table.has_value(*watts, 0) && !table.has_value(*watts, 1u << 30));
    CHECK(table.text(*table.find("gpu"), 0) == "0" && table.integers(*table.find("time"))[0] > 0 && table.integers(*watts) == nullptr);
    gpulse::History host; host.host = true; host.every = 1h;
    CHECK(monitor.history(host).rows() <= 2);
    {
      auto subscription = monitor.subscribe();
      CHECK(subscription.descriptor() >= 0);
    }
    CHECK(!monitor.wait(0s, 1u << 30));
    CHECK(monitor.stats().samples >= 4 && monitor.stats().driver_calls > 0);
    const auto copy = *sample;
    sample.reset();
    CHECK(copy.json().substr(0, 20) == "{\"schema\":\"gpulse/1\"");
    gpulse::Options all; all.metrics = "all"; all.agent = false;
    const auto once = gpulse::look(all);
    CHECK(once.number() == 0 && !once.devices()[0].text(serial).empty());
    """
    assert program(body, language="cpp") == Result(0, "", "")


def test_regions_have_honest_bounds(program: Callable[..., Result]) -> None:
    body = r"""
    gpulse_monitor *monitor; gpulse_sample *sample; gpulse_options options;
    gpulse_options_init(&options); options.interval = 0.05;
    CHECK(gpulse_open(&options, &monitor) == GPULSE_OK && gpulse_wait(monitor, 0, 10, &sample) == GPULSE_OK);
    gpulse_device_info device = {.size = sizeof device};
    CHECK(gpulse_get_device(sample, 0, &device) == GPULSE_OK);
    gpulse_region *regions[2]; const int lengths[2] = {2000, 5};
    for (int i = 0; i < 2; ++i) {
      regions[i] = gpulse_region_begin(monitor, "x");
      usleep((useconds_t)lengths[i] * 1000);
      gpulse_region_end(regions[i]);
    }
    usleep(2700000);
    for (int i = 0; i < 2; ++i) {
      gpulse_region_use use = {.size = sizeof use};
      CHECK(gpulse_region_get(regions[i], device.uuid, &use) == GPULSE_OK && use.settled);
      printf("%f %f %f %f\n", use.seconds, use.energy_min, use.energy_max, use.energy);
    }
    gpulse_close(monitor);
    gpulse_region_free(regions[0]); gpulse_region_free(regions[1]);
    gpulse_release(sample);
    """
    result = program(body)
    (seconds, least, most, figure), (short, short_least, short_most, short_figure) = (map(float, line.split()) for line in result.lines)
    true = 690.66 * seconds
    assert 0.6 * true < least <= true <= most < 1.4 * true
    assert figure == pytest.approx(true, rel=0.1)
    # 700 W is the limit; the counter may be 100 ms old.
    assert short_least <= 690.66 * short <= short_most <= 700 * (short + 0.2)
    assert str(short_figure) == "nan"


def test_it_can_be_loaded_into_python_itself() -> None:
    """Whatever the machine has: nothing is printed, nothing is started."""
    code = f"import ctypes, os; l = ctypes.CDLL({str(LIBRARY)!r}); print(l.gpulse_abi(), len(os.listdir('/proc/self/task')))"
    assert run([sys.executable, "-c", code], environment(None)) == Result(0, "1 1\n", "")
