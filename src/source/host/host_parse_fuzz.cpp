// SPDX-License-Identifier: Apache-2.0
// Any bytes into every parser of the kernel's texts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/process_stat.hpp"
#include "base/text.hpp"
#include "source/host/framework.hpp"
#include "source/host/parse.hpp"
#include "source/host/process_text.hpp"

namespace {

using namespace gpulse::host;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_sane(double value) { require(std::isfinite(value) && value >= 0); }

void fuzz_machine(std::string_view text) {
  StatText cpu;
  std::vector<Flow> flows;
  parse_stat(text, cpu);
  parse_diskstats(text, flows);
  parse_net_dev(text, flows);
  parse_vmstat(text);
  if (const auto load = parse_loadavg(text)) {
    for (const double value : *load) require_sane(value);
  }
  if (const auto memory = parse_meminfo(text)) {
    require_sane(memory->total_bytes);
    require_sane(memory->available_bytes);
    require_sane(memory->free_bytes.value_or(0));
    require_sane(memory->buffers_bytes.value_or(0));
    require_sane(memory->cached_bytes.value_or(0));
    require_sane(memory->shared_bytes.value_or(0));
    require_sane(memory->swap_total_bytes.value_or(0));
    require_sane(memory->swap_free_bytes.value_or(0));
  }
  if (const auto pressure = parse_pressure(text)) {
    require_sane(pressure->some_percent);
    require_sane(pressure->full_percent.value_or(0));
  }
  require_sane(parse_uptime(text).value_or(0));
}

void fuzz_process(std::string_view text) {
  if (const auto stat = gpulse::parse_process_stat(text)) {
    require(stat->name.size() < text.size());
    gpulse::disk_wait_ticks(*stat);
  }
  gpulse::parse_process_io(text);
  if (const auto group = parse_unified_cgroup(text)) require(group->starts_with('/') && !group->contains("/../"));
  find_framework(text);
  parse_status_user(text);
  require(parse_status_inner_pids(text).size() <= 32);
  parse_command(text);
  parse_arguments(text);
  parse_resident_pages(text);
  find_user(text, 1000);
  parse_environment_job(text);
  require(parse_environment_account(text).size() <= 128);
  require(parse_job_account(text).size() <= 128);
  parse_cgroup(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  fuzz_machine(text);
  fuzz_process(text);
  return 0;
}
