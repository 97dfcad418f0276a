// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "view/cell.hpp"
#include "view/gpustat.hpp"
#include "view/gpustat_parts.hpp"
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

// The next character of valid UTF-8.
std::uint32_t take_character(std::string_view &text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(bytes);
  return code;
}

void escape(std::string &out, std::uint32_t code) {
  constexpr std::uint32_t kFirstPair = 0x10000;
  if (code < kFirstPair) {
    out += fmt::format("\\u{:04x}", code);
  } else {
    escape(out, 0xD800U + ((code - kFirstPair) >> 10U));
    escape(out, 0xDC00U + ((code - kFirstPair) & 0x3FFU));
  }
}

// ASCII alone, with an escape for everything else: control characters come out as they went in.
std::string quoted(std::string_view text) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    if (!is_ascii(c)) {
      const auto length = std::find_if(text.begin(), text.end(), is_ascii) - text.begin();
      const auto mended = printable(text.substr(0, static_cast<std::size_t>(length)));
      std::string_view rest = mended;
      while (!rest.empty()) escape(out, take_character(rest));
      text.remove_prefix(static_cast<std::size_t>(length));
      continue;
    }
    if (const auto letter = kSpecial.find(c); letter != std::string_view::npos) {
      out += '\\';
      out += kLetters[letter];
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      escape(out, static_cast<std::uint32_t>(c));
    }
    text.remove_prefix(1);
  }
  return out + '"';
}

std::string whole(const std::optional<std::int64_t> &number) { return number ? fmt::format("{}", *number) : "null"; }

std::string process_json(const GpustatProcess &process) {
  std::string arguments;
  for (const auto &argument : process.arguments) arguments += (arguments.empty() ? "" : ",") + quoted(argument);
  const auto &row = process.process->row;
  const bool gone = process.process->gone;
  const auto cpu = gone ? Reading(0.0) : by_role(row, Role::cpu);
  const auto memory = gone ? std::optional<std::int64_t>(0) : gpustat_number(row, Role::host_memory);
  return fmt::format(
      "{{\"username\":{},\"command\":{},\"full_command\":[{}],\"gpu_memory_usage\":{},\"cpu_percent\":{},"
      "\"cpu_memory_usage\":{},\"pid\":{}}}",
      quoted(process.user), quoted(process.command), arguments, whole(process.memory_mib),
      cpu ? fmt::format("{:.1f}", cpu.value()) : "null", whole(memory), process.process->pid);
}

std::string processes_json(const GpustatDevice &gpu) {
  if (!gpu.processes) return "null";
  std::string list;
  for (const auto &process : *gpu.processes) list += (list.empty() ? "" : ",") + process_json(process);
  return "[" + list + "]";
}

std::string device_json(const GpustatDevice &gpu) {
  struct Member {
    std::string_view key;
    Role role;
    double unit = 1;
  };
  static constexpr std::array kMembers{
      Member{"temperature.gpu", Role::temperature},
      Member{"fan.speed", Role::fan},
      Member{"utilization.gpu", Role::utilization},
      Member{"utilization.enc", Role::encoder},
      Member{"utilization.dec", Role::decoder},
      Member{"power.draw", Role::power},
      Member{"enforced.power.limit", Role::power_limit},
      Member{"memory.used", Role::memory_used, kMebibyte},
      Member{"memory.total", Role::memory_total, kMebibyte},
  };
  const auto &device = *gpu.device;
  auto text = fmt::format(R"({{"index":{},)", device.id.index);
  if (gpu.available && device.identity) text += fmt::format(R"("uuid":{},)", quoted(device.identity->uuid));
  text += fmt::format(R"("name":{},)", quoted(gpu.name));
  if (gpu.available) {
    for (const auto &[key, role, unit] : kMembers) {
      text += fmt::format(R"("{}":{},)", key, whole(gpustat_number(device.row, role, unit)));
    }
  }
  return text + fmt::format(R"("processes":{}}})", processes_json(gpu));
}

// As datetime.isoformat(), which leaves microseconds out where there are none.
std::string query_time(WallTime time) {
  const auto microseconds = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count() % 1'000'000;
  const auto text = local_time(time, "%Y-%m-%dT%H:%M:%S");
  return microseconds == 0 ? text : fmt::format("{}.{:06}", text, microseconds);
}

}  // namespace

std::string gpustat_json(const Snapshot &snapshot, const std::optional<std::vector<std::uint32_t>> &devices) {
  const auto driver = gpustat_driver(snapshot);
  auto text = fmt::format(R"({{"hostname":{},"driver_version":{},"query_time":{},)", quoted(snapshot.hostname),
                          driver.empty() ? "null" : quoted(driver),
                          has_time(snapshot) ? quoted(query_time(snapshot.time)) : "null");
  if (!snapshot.origin.empty()) text += fmt::format(R"("origin":{},)", quoted(snapshot.origin));
  std::string gpus;
  for (const auto &gpu : gpustat_devices(snapshot, devices)) gpus += (gpus.empty() ? "" : ",") + device_json(gpu);
  text += fmt::format(R"("gpus":[{}]}})", gpus);
  return indent_json(text, 4);
}

}  // namespace gpulse::view
