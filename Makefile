# The front door: `make run` on a fresh Debian 12 or Ubuntu 24.04 builds gpulse and shows what the GPUs do.
# The build itself is CMake's (CMakePresets.json).

.DEFAULT_GOAL := build
.PHONY: help build run install test unit e2e test-integrations clients package test-package docs check format bench bench-top bench-agent bench-page bench-history soak fuzz asan tsan clean

JOBS ?= $(shell nproc)
# Where `make install` goes, and the names of other programs that it gives gpulse there.
PREFIX ?= /usr/local
DROP_INS ?=
# More for cmake --install, e.g. --strip.
INSTALL_ARGS ?=
# yes installs the services of the agent too: the machine's with its user, and that of any user.
SYSTEMD ?= no
# Some tests mostly wait.
TEST_JOBS = $(shell expr $(JOBS) + 1)
# Seconds per fuzzer of `make fuzz`.
FUZZ_SECONDS ?= 60
# What `make test` hands to pytest, e.g. PYTEST_ARGS="-k selectors"; and how its tests are shared out, nothing for one after the other.
PYTEST_ARGS ?=
PYTEST_WORKERS ?= -n $(TEST_JOBS) --dist worksteal
# ON makes warnings errors, as CI does.
WERROR ?= OFF
# More for CMake, e.g. CMAKE_ARGS=-DCMAKE_CXX_FLAGS_RELEASE=-O0.
CMAKE_ARGS ?=

CONFIGURE = cmake --log-level=WARNING -DGPULSE_WERROR=$(WERROR) $(CMAKE_ARGS) --preset
BUILD = cmake --build
# Where the products of `make install` and `make package` lie.
BUILT = build
PYTHON = .venv/bin/python
# Tests that compare with the clock may fail side by side on a busy machine. What fails is run once more, alone, and named; it
# has to pass then.
ctest = ctest --test-dir $(1) --output-on-failure --no-tests=error -j $(TEST_JOBS) || \
  { echo "Once more, alone:" && ctest --test-dir $(1) --rerun-failed --stop-on-failure --output-on-failure --no-tests=error; }

help: ## this list
	@sed -n 's/^\([a-z0-9 -]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 28

build: ## build/gpulse, build/libgpulse.so and the simulator build/sim/libnvidia-ml.so.1
	@tools/install_dependencies.sh build
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) build --target products nvidia_ml_sim -j $(JOBS)

run: build ## build, then show the GPUs of this machine (or the demo where there is none)
	@tools/show_status.sh

install: build ## into PREFIX (/usr/local); DROP_INS="nvidia-smi gpustat": by these names too; SYSTEMD=yes: the agent's services
	@DESTDIR=$(DESTDIR) cmake --install $(BUILT) --prefix $(PREFIX) $(INSTALL_ARGS) >/dev/null
	@case "$(DESTDIR)$(PREFIX)" in /usr | /usr/local) ldconfig 2>/dev/null || true ;; esac
	@for name in $(DROP_INS); do ln -sf ../lib/gpulse/$$name $(DESTDIR)$(PREFIX)/bin/$$name || exit 1; done
	@[ "$(SYSTEMD)" = no ] || tools/install_services.sh "$(DESTDIR)" "$(PREFIX)"

test: unit e2e ## all tests: ctest, then pytest

unit: ## the tests beside the code
	@tools/install_dependencies.sh build
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) build -j $(JOBS)
	@$(call ctest,build)

e2e: build .venv/ready ## the tests of the built program
	@tools/install_dependencies.sh test
	@$(PYTHON) -m pytest tests $(PYTEST_WORKERS) $(PYTEST_ARGS) || \
	  { [ $$? -eq 1 ] && echo "Once more, alone:" && $(PYTHON) -m pytest tests -v -x --last-failed --last-failed-no-failures none; }

.venv/ready: tests/requirements.txt
	@tools/install_dependencies.sh test
	@tools/make_venv.sh .venv tests/requirements.txt

test-integrations: build build/integrations_venv/ready ## Lightning, Transformers, Keras, W&B, MLflow and JupyterLab themselves, on the simulator: 7 GB of packages
	@build/integrations_venv/bin/python -m pytest tests/integrations $(PYTEST_ARGS)

build/integrations_venv/ready: tests/integrations/requirements.txt
	@tools/install_dependencies.sh test
	@tools/make_venv.sh build/integrations_venv tests/integrations/requirements.txt

clients: build .venv/ready ## other programs that call nvidia-smi (telegraf, nvidia_gpu_exporter; needs Go), run on every scenario
	-@tools/make_clients.sh build/clients
	@$(PYTHON) -m pytest tests/test_smi_clients.py $(PYTEST_ARGS)

package: build ## into dist/: the wheel, the Debian packages, and a tarball of the program
	@rm -f dist/*.whl dist/*.deb dist/*.tar.gz
	@GPULSE_BUILD=$(BUILT) python3 tools/python_package.py dist
	@GPULSE_BUILD=$(BUILT) python3 tools/system_packages.py dist

test-package: package .venv/ready ## the Debian packages in a fresh Debian: as root, some minutes, a mirror in reach
	@tools/install_dependencies.sh package
	@GPULSE_TEST_DEBIAN=1 $(PYTHON) -m pytest tests/test_debian_root.py $(PYTEST_ARGS)

docs: build ## write the generated pages: metrics, findings and JSON schema
	@tools/write_generated_pages.sh docs

check: build/check_venv/ready ## formatting, clang-tidy, cppcheck, shellcheck; mypy and pyright for Python; do the benches compile
	@tools/install_dependencies.sh build check
	@$(CONFIGURE) release -DGPULSE_BENCH=ON >/dev/null
	@$(BUILD) build --target metric_keys gpulse_benches -j $(JOBS) >/dev/null
	@tools/check.sh build $(JOBS)

build/check_venv/ready: tools/check_requirements.txt
	@tools/install_dependencies.sh test
	@tools/make_venv.sh build/check_venv tools/check_requirements.txt

format: ## let clang-format rewrite the sources
	@tools/install_dependencies.sh check
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-19 -i

bench: ## what gpulse itself costs, measured on the simulator
	@tools/install_dependencies.sh build bench
	@bench/run.sh

bench-top: build .venv/ready ## what live views cost, ours and others', on the simulator: five minutes on a quiet machine
	@$(PYTHON) bench/top_bench.py

bench-agent: build ## what the agent costs, and what its readers save, on the simulator
	@bench/agent_bench.py

bench-page: build .venv/ready ## what the page costs in the browser, on the wire and in the agent: five minutes
	@tools/install_dependencies.sh test
	@$(BUILD) build --target make_history -j $(JOBS)
	@$(PYTHON) bench/page_bench.py

bench-history: ## what a history costs on the disk, of a processor and of memory: ten minutes
	@tools/install_dependencies.sh build bench
	@bench/history.sh

soak: build .venv/ready ## what takes minutes: a million samples, a thousand agents killed while others read, 200 while they write a history, 200 histories damaged, 200 rounds for leases
	@tools/install_dependencies.sh build
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) build --target soak_test share_test history_test -j $(JOBS)
	@GPULSE_SOAK_TICKS=1000000 build/tests/soak_test
	@GPULSE_KILLS=1000 build/src/share/share_test --gtest_filter='Kill*'
	@GPULSE_HISTORY_KILLS=200 GPULSE_HISTORY_DAMAGES=200 GPULSE_HISTORY_FAULTS=1000 build/src/history/history_test \
	  --gtest_filter='HistoryKill*:Damage*:*WritesNothingTwice'
	@GPULSE_PICK_ROUNDS=200 $(PYTHON) -m pytest tests/test_pick_race.py -s

fuzz: ## run every fuzzer for FUZZ_SECONDS (60)
	@tools/install_dependencies.sh build check
	@$(CONFIGURE) fuzz >/dev/null
	@$(BUILD) build/fuzz -j $(JOBS)
	@tools/run_fuzzers.sh build/fuzz $(FUZZ_SECONDS)

asan tsan: ## the tests beside the code under the address and undefined-behaviour, or thread sanitizer
	@tools/install_dependencies.sh build check
	@$(CONFIGURE) $@ >/dev/null
	@$(BUILD) build/$@ -j $(JOBS) --target gpulse_tests
	@$(call ctest,build/$@)

clean: ## remove what was built
	@rm -rf build dist .venv
