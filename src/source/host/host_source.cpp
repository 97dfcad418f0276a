// SPDX-License-Identifier: Apache-2.0
#include "source/host/host_source.hpp"
#include "base/kept_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/plausible.hpp"
#include "source/api/errno_reason.hpp"
#include "source/host/counter_rate.hpp"
#include "source/host/cpu_meter.hpp"
#include "source/host/cpu_power.hpp"
#include "source/host/cpu_temperature.hpp"
#include "source/host/hardware.hpp"
#include "source/host/parse.hpp"
#include "source/host/throughput.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::host {

namespace {

// Enough for 1,000 processors with all their interrupts, or 2,000 interfaces.
constexpr std::size_t kMaxText = 1U << 18U;

// What is remembered from one reading to the next.
struct State {
  CpuMeter cpu;
  Throughput disks;
  Throughput network;
  CounterRate swap_in;
  CounterRate swap_out;
  std::vector<Flow> flows;
  CpuTemperature temperature;
  CpuPower power;
  bool clocks = true;  // the kernel shows the clocks of the cores
};

struct Context {
  const Sysroot &root;
  State &state;
  std::string_view text;
  Monotonic now;
  Row &row;
  std::vector<CpuCore> &cores;
};

Reading told(std::optional<double> value) { return value ? Reading(*value) : Reason::not_supported; }

bool take_stat(const Context &in) { return in.state.cpu.update(in.text, in.now, in.row, in.cores); }

bool take_load(const Context &in) {
  const auto load = parse_loadavg(in.text);
  if (!load) return false;
  in.row[host_metric("load_1m")] = (*load)[0];
  in.row[host_metric("load_5m")] = (*load)[1];
  in.row[host_metric("load_15m")] = (*load)[2];
  return true;
}

bool take_memory(const Context &in) {
  const auto memory = parse_meminfo(in.text);
  if (!memory) return false;
  in.row[host_metric("memory_total_bytes")] = memory->total_bytes;
  in.row[host_metric("memory_available_bytes")] = memory->available_bytes;
  // Some containers show more available memory than there is: what is used cannot be told from that.
  constexpr auto kUsed = host_metric("memory_used_bytes");
  in.row[kUsed] = plausible(kUsed, memory->total_bytes - memory->available_bytes);
  in.row[host_metric("memory_free_bytes")] = told(memory->free_bytes);
  in.row[host_metric("memory_buffers_bytes")] = told(memory->buffers_bytes);
  in.row[host_metric("memory_cached_bytes")] = told(memory->cached_bytes);
  in.row[host_metric("memory_shared_bytes")] = told(memory->shared_bytes);
  const bool swap = memory->swap_total_bytes.has_value();
  in.row[host_metric("swap_total_bytes")] = told(memory->swap_total_bytes);
  constexpr auto kSwapUsed = host_metric("swap_used_bytes");
  in.row[kSwapUsed] = swap ? plausible(kSwapUsed, *memory->swap_total_bytes - *memory->swap_free_bytes)
                           : Reading(Reason::not_supported);
  return true;
}

bool take_swapping(const Context &in) {
  static const auto kPageBytes = static_cast<double>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  const auto pages = parse_vmstat(in.text);
  if (!pages) {
    in.state.swap_in = in.state.swap_out = {};
    return false;
  }
  in.row[host_metric("swap_in_bytes_per_second")] = in.state.swap_in.update(pages->in, in.now, kPageBytes);
  in.row[host_metric("swap_out_bytes_per_second")] = in.state.swap_out.update(pages->out, in.now, kPageBytes);
  return true;
}

bool take_disks(const Context &in) {
  auto &flows = in.state.flows;
  if (!parse_diskstats(in.text, flows)) return false;
  const auto counted = [&](std::string_view name) { return is_whole_disk(in.root, name, flows); };
  std::tie(in.row[host_metric("disk_read_bytes_per_second")], in.row[host_metric("disk_write_bytes_per_second")]) =
      in.state.disks.update(flows, in.now, counted);
  return true;
}

bool take_network(const Context &in) {
  auto &flows = in.state.flows;
  if (!parse_net_dev(in.text, flows)) return false;
  const auto counted = [&](std::string_view name) { return is_physical_interface(in.root, name); };
  std::tie(in.row[host_metric("network_rx_bytes_per_second")], in.row[host_metric("network_tx_bytes_per_second")]) =
      in.state.network.update(flows, in.now, counted);
  return true;
}

bool take_pressure(const Context &in, MetricId some) {
  const auto pressure = parse_pressure(in.text);
  if (pressure) in.row[some] = pressure->some_percent;
  return pressure.has_value();
}

bool take_pressure(const Context &in, MetricId some, MetricId full) {
  const auto pressure = parse_pressure(in.text);
  if (!pressure) return false;
  in.row[some] = pressure->some_percent;
  in.row[full] = told(pressure->full_percent);
  return true;
}

bool take_cpu_pressure(const Context &in) { return take_pressure(in, host_metric("pressure_cpu_percent")); }

bool take_io_pressure(const Context &in) {
  return take_pressure(in, host_metric("pressure_io_percent"), host_metric("pressure_io_full_percent"));
}

bool take_memory_pressure(const Context &in) {
  return take_pressure(in, host_metric("pressure_memory_percent"), host_metric("pressure_memory_full_percent"));
}

bool take_uptime(const Context &in) {
  const auto uptime = parse_uptime(in.text);
  if (uptime) in.row[host_metric("uptime_seconds")] = *uptime;
  return uptime.has_value();
}

bool read_temperature(const Context &in) {
  in.row[host_metric("cpu_temperature_celsius")] = in.state.temperature.read(in.root);
  return true;
}

bool read_power(const Context &in) {
  const auto power = in.state.power.read(in.root, in.now);
  in.row[host_metric("cpu_power_watts")] = power.processors;
  in.row[host_metric("dram_power_watts")] = power.memory;
  return true;
}

bool read_clocks(const Context &in) {
  constexpr auto kClock = core_metric("clock_mhz");
  constexpr double kKilohertz = 1e-3;
  bool any = false;
  std::string path, text;
  for (auto &core : in.cores) {
    auto &clock = core.row[kClock];
    clock = Reason::not_supported;
    if (!in.state.clocks) continue;
    path = "/sys/devices/system/cpu/cpu" + std::to_string(core.id) + "/cpufreq/scaling_cur_freq";
    clock = sysfs::read_attribute(in.root, path, kClock, kKilohertz, text);
    any = any || !clock.is(Reason::not_supported);
  }
  in.state.clocks = any || in.cores.empty();
  return true;
}

constexpr std::array kStat{host_metric("cpu_percent"),
                           host_metric("cpu_iowait_percent"),
                           host_metric("cpu_steal_percent"),
                           host_metric("cpu_busiest_core_percent"),
                           host_metric("cpu_count"),
                           host_metric("cpu_user_percent"),
                           host_metric("cpu_system_percent"),
                           host_metric("cpu_idle_percent"),
                           host_metric("tasks_running"),
                           host_metric("tasks_blocked"),
                           host_metric("interrupts_per_second"),
                           host_metric("context_switches_per_second")};
constexpr std::array kLoad{host_metric("load_1m"), host_metric("load_5m"), host_metric("load_15m")};
constexpr std::array kMemory{
    host_metric("memory_total_bytes"),   host_metric("memory_used_bytes"),   host_metric("memory_available_bytes"),
    host_metric("swap_total_bytes"),     host_metric("swap_used_bytes"),     host_metric("memory_free_bytes"),
    host_metric("memory_buffers_bytes"), host_metric("memory_cached_bytes"), host_metric("memory_shared_bytes")};
constexpr std::array kSwapping{host_metric("swap_in_bytes_per_second"), host_metric("swap_out_bytes_per_second")};
constexpr std::array kDisks{host_metric("disk_read_bytes_per_second"), host_metric("disk_write_bytes_per_second")};
constexpr std::array kNetwork{host_metric("network_rx_bytes_per_second"), host_metric("network_tx_bytes_per_second")};
constexpr std::array kCpuPressure{host_metric("pressure_cpu_percent")};
constexpr std::array kIoPressure{host_metric("pressure_io_percent"), host_metric("pressure_io_full_percent")};
constexpr std::array kMemoryPressure{host_metric("pressure_memory_percent"),
                                     host_metric("pressure_memory_full_percent")};
constexpr std::array kUptime{host_metric("uptime_seconds")};
constexpr std::array kTemperature{host_metric("cpu_temperature_celsius")};
constexpr std::array kPower{host_metric("cpu_power_watts"), host_metric("dram_power_watts")};

// A take_ function gets the text of the file named by `call`, and returns false when it cannot be parsed. A read_
// function opens its files itself.
using Take = bool (*)(const Context &);
constexpr std::array<std::pair<ReaderInfo, Take>, 13> kRows{{
    {{.call = "/proc/stat", .differential = true, .fills = kStat}, take_stat},
    {{.call = "/proc/loadavg", .fills = kLoad}, take_load},
    {{.call = "/proc/meminfo", .fills = kMemory}, take_memory},
    // Not on every tick: the kernel adds up two hundred counters of each core for it.
    {{.call = "/proc/vmstat", .tier = Tier::second, .differential = true, .extra = true, .fills = kSwapping},
     take_swapping},
    {{.call = "/proc/diskstats", .differential = true, .fills = kDisks}, take_disks},
    {{.call = "/proc/net/dev", .differential = true, .fills = kNetwork}, take_network},
    {{.call = "/proc/pressure/cpu", .fills = kCpuPressure}, take_cpu_pressure},
    {{.call = "/proc/pressure/io", .fills = kIoPressure}, take_io_pressure},
    {{.call = "/proc/pressure/memory", .fills = kMemoryPressure}, take_memory_pressure},
    {{.call = "/proc/uptime", .fills = kUptime}, take_uptime},
    {{.call = "processor temperature", .tier = Tier::second, .extra = true, .fills = kTemperature}, read_temperature},
    {{.call = "processor energy", .tier = Tier::second, .differential = true, .extra = true, .fills = kPower},
     read_power},
    {{.call = "processor clocks", .tier = Tier::slow, .extra = true, .fills = {}}, read_clocks},
}};

constexpr auto kReaders = [] {
  std::array<ReaderInfo, kRows.size()> infos{};
  std::transform(kRows.begin(), kRows.end(), infos.begin(), [](const auto &row) { return row.first; });
  return infos;
}();

class HostSource final : public Source {
 public:
  explicit HostSource(const Sysroot &root) : root_(root) {}

  std::string_view name() const override { return "host"; }
  std::span<const ReaderInfo> readers() const override { return kReaders; }
  bool is_prompt() const override { return true; }
  bool changed() override { return false; }

  Discovery discover() override {
    state_ = State{};
    Discovery found;
    found.entities.push_back({.scope = Scope::host, .state = DeviceState::ok, .identity = nullptr});
    return found;
  }

  Outcome read(std::size_t /*entity*/, std::size_t reader, Monotonic now, Frame &frame) override {
    const auto &[info, take] = kRows[reader];
    const auto refuse = [&](Reason reason) {
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it loses sight of a constexpr table's span
      for (const auto id : info.fills) frame.row[id] = reason;
      return reason == Reason::not_supported ? Outcome::unsupported : Outcome::ok;
    };
    const bool file = info.call.starts_with('/');
    if (file && !files_[reader].read(text_, root_, info.call, kMaxText)) {
      if (take == take_stat) frame.cores.clear();
      return refuse(errno_reason(errno));
    }
    if (!take({root_, state_, text_, now, frame.row, frame.cores})) return refuse(Reason::error);
    return Outcome::ok;
  }

 private:
  Sysroot root_;
  State state_;
  std::string text_;  // kept, so that a reading allocates nothing
  std::array<KeptFile, kRows.size()> files_;
};

}  // namespace

std::unique_ptr<Source> make_host_source(const Sysroot &root) { return std::make_unique<HostSource>(root); }

}  // namespace gpulse::host
