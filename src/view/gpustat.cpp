// SPDX-License-Identifier: Apache-2.0
#include "view/gpustat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/clock.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/gpustat_parts.hpp"

namespace gpulse::view {

namespace {

constexpr int kDefaultNameWidth = 16;

struct Shown {
  Role role;
  std::string_view name;  // gpustat's own, for --debug
};
constexpr std::array kShown{
    Shown{Role::temperature, "temperature"}, Shown{Role::fan, "fan_speed"},
    Shown{Role::memory_used, "memory"},      Shown{Role::memory_total, ""},
    Shown{Role::utilization, "utilization"}, Shown{Role::encoder, "utilization_enc"},
    Shown{Role::decoder, "utilization_dec"}, Shown{Role::power, "power"},
    Shown{Role::power_limit, "power_limit"}, Shown{Role::process_count, "compute_processes"},
};

constexpr std::string_view kBold = "\033[1m", kRed = "\033[31m", kGreen = "\033[32m", kYellow = "\033[33m",
                           kBlue = "\033[34m", kMagenta = "\033[35m", kCyan = "\033[36m", kBoldGrey = "\033[1m\033[30m",
                           kBoldWhite = "\033[1m\033[37m", kDarkBlue = "\033[38;5;24m";

bool begins_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

std::string pad_right(std::string text, std::size_t width) {
  const auto have = letters(text);
  if (have < width) text.append(width - have, ' ');
  return text;
}

// The end of a name that is too long, behind an ellipsis.
std::string shorten_left(std::string_view text, std::size_t width) {
  if (letters(text) <= width) return std::string(text);
  if (width == 0) return {};
  while (letters(text) >= width) {
    do text.remove_prefix(1);
    while (!text.empty() && !begins_letter(text.front()));
  }
  return "…" + std::string(text);
}

std::string human_bytes(std::int64_t bytes) {
  constexpr std::array kSuffixes{"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t suffix = 0;
  for (; bytes > 9999 && suffix < kSuffixes.size(); ++suffix) bytes /= 1024;
  return fmt::format("{}{}", bytes, kSuffixes[std::min(suffix, kSuffixes.size() - 1)]);
}

class Painter {
 public:
  explicit Painter(const GpustatOptions &options) : options_(options) {}

  std::string operator()(std::string_view colour, std::string_view text, std::string_view more = {}) const {
    if (!options_.colour) return std::string(text);
    return fmt::format("{}{}{}{}", more, colour, text, options_.normal);
  }
  std::string_view code(std::string_view colour) const { return options_.colour ? colour : std::string_view(); }
  std::string_view normal() const { return code(options_.normal); }

 private:
  const GpustatOptions &options_;
};

// One value of a device: its text, and its number for the choice of a colour.
struct Value {
  std::string text;
  std::optional<std::int64_t> number;
};

Value value_of(const GpustatDevice &gpu, Role role, double unit = 1) {
  if (!gpu.available) return {"?", std::nullopt};
  const auto number = gpustat_number(gpu.device->row, role, unit);
  return {number ? fmt::format("{}", *number) : "??", number};
}

class DeviceLine {
 public:
  DeviceLine(const GpustatDevice &gpu, const GpustatOptions &options, int name_width)
      : gpu_(gpu), options_(options), paint_(options), name_width_(static_cast<std::size_t>(name_width)) {}

  std::string render() const {
    std::string line = paint_(kCyan, fmt::format("[{}]", gpu_.device->id.index)) + " ";
    if (options_.name_width != 0) line += name() + " |";
    line += measure(Role::temperature, kRed, 50, "°C") + ", ";
    if (options_.fan) line += measure(Role::fan, kCyan, 30, " %") + ", ";
    line += measure(Role::utilization, kGreen, 30, " %");
    line += codec() + power() + memory();
    if (options_.processes) line += processes();
    return line + "\n";
  }

 private:
  std::string name() const {
    const auto width = name_width_ == 0 ? std::size_t{kDefaultNameWidth} : name_width_;
    const auto shown = shorten_left(term::clean(gpu_.name), name_width_);
    return paint_(gpu_.available ? kBlue : kRed, pad_right(shown, width));
  }

  // Bold from `much` on.
  std::string measure(Role role, std::string_view colour, std::int64_t much, std::string_view unit) const {
    const auto value = value_of(gpu_, role);
    const auto text = fmt::format("{:>3}{}", value.text, unit);
    if (!value.number) return paint_(kBoldGrey, text);
    return *value.number < much ? paint_(colour, text) : paint_(colour, text, kBold);
  }

  std::string codec() const {
    constexpr std::int64_t kMuch = 50;
    std::string parts;
    if (options_.encoder) parts = paint_(kBold, "E: ") + measure(Role::encoder, kGreen, kMuch, " %");
    if (options_.decoder) {
      parts += (parts.empty() ? "" : "  ") + paint_(kBold, "D: ") + measure(Role::decoder, kGreen, kMuch, " %");
    }
    return parts.empty() ? parts : " (" + parts + ")";
  }

  std::string power() const {
    if (!options_.power) return {};
    constexpr double kMuch = 0.4;
    const auto draw = value_of(gpu_, Role::power);
    const auto limit = value_of(gpu_, Role::power_limit);
    const auto paint_draw = [&](std::string_view text) {
      const bool unknown = !gpu_.available || (limit.number && (!draw.number || *limit.number == 0));
      if (unknown) return paint_(kBoldGrey, text);
      const bool little =
          limit.number && static_cast<double>(*draw.number) / static_cast<double>(*limit.number) < kMuch;
      return little ? paint_(kMagenta, text) : paint_(kMagenta, text, kBold);
    };
    auto text = ",  " + paint_draw(fmt::format("{:>3}", draw.text)) + " ";
    if (!options_.power_limit) return text + paint_draw("W");
    return text + "/ " + paint_(kMagenta, fmt::format("{:>3}", limit.text)) + " " + paint_(kMagenta, "W");
  }

  std::string memory() const {
    const auto used = fmt::format("{:>5}", value_of(gpu_, Role::memory_used, kMebibyte).text);
    const auto total = fmt::format("{:>5}", value_of(gpu_, Role::memory_total, kMebibyte).text);
    return fmt::format(" | {}{} / {} MB", paint_.code(kCyan),
                       gpu_.available ? paint_(kYellow, used, kBold) : paint_(kBoldGrey, used),
                       paint_(gpu_.available ? kYellow : kBoldGrey, total));
  }

  std::string processes() const {
    if (!gpu_.processes) return " | (Not Supported)";
    std::string text = " |";
    for (const auto &process : *gpu_.processes) text += " " + brief(process);
    if (!options_.full_command) return text;
    for (const auto &process : *gpu_.processes) {
      text += "\n" + full(process, &process == &gpu_.processes->back());
    }
    return text;
  }

  std::string brief(const GpustatProcess &process) const {
    std::string text;
    if (!options_.command || options_.user) text += paint_(kBoldGrey, term::clean(process.user));
    if (options_.command) text += (text.empty() ? "" : ":") + paint_(kCyan, term::clean(process.command));
    if (options_.pid) text += fmt::format("/{}", process.process->pid);
    const auto memory = process.memory_mib ? fmt::format("{}", *process.memory_mib) : "?";
    return text + "(" + paint_(kYellow, memory + "M") + ")";
  }

  std::string full(const GpustatProcess &process, bool last) const {
    const auto &row = process.process->row;
    // What is over uses nothing any more.
    const auto cpu = process.process->gone ? Reading(0.0) : by_role(row, Role::cpu);
    const auto use = cpu ? fmt::format("{:4.0f}%", cpu.value()) : "  --%";
    const auto held = process.process->gone ? std::optional<std::int64_t>(0) : gpustat_number(row, Role::host_memory);
    const auto bytes = held ? human_bytes(*held) : "?";
    return fmt::format("{0} {1}─ {2:>6} {0}({3}, {4}){0}: {5}", paint_.normal(), last ? "└" : "├", process.process->pid,
                       paint_(kGreen, use), paint_(kYellow, fmt::format("{:>6}", bytes)),
                       paint_(kDarkBlue, command_line(process)));
  }

  // The program's name stands out of its folder and its arguments.
  std::string command_line(const GpustatProcess &process) const {
    const auto program = std::string_view(process.arguments.front());
    const auto slash = program.rfind('/');
    std::string text(paint_.code(kDarkBlue));
    if (slash != std::string_view::npos) {
      auto folder = program.substr(0, slash + 1);
      // Several slashes count as one, but for those at the root.
      const auto end = folder.find_last_not_of('/');
      if (end != std::string_view::npos) folder = folder.substr(0, end + 2);
      text += term::clean(folder);
    }
    text += fmt::format("{}{}{}", paint_.code(kCyan), term::clean(program.substr(slash + 1)), paint_.code(kDarkBlue));
    for (std::size_t i = 1; i < process.arguments.size(); ++i) text += " " + term::clean(process.arguments[i]);
    return text;
  }

  const GpustatDevice &gpu_;
  const GpustatOptions &options_;
  Painter paint_;
  std::size_t name_width_;
};

std::string header(const Snapshot &snapshot, const GpustatOptions &options, int name_width) {
  const Painter paint(options);
  const auto width = static_cast<std::size_t>(name_width == 0 ? kDefaultNameWidth : name_width) + 3;
  const auto driver = gpustat_driver(snapshot);
  const auto host = term::clean(snapshot.hostname);
  const auto origin = snapshot.origin.empty() ? "" : "  " + term::clean(snapshot.origin);
  return fmt::format("{}  {}  {}{}\n", paint(kBoldWhite, pad_right(host.empty() ? "host unknown" : host, width)),
                     has_time(snapshot) ? local_time(snapshot.time, "%a %b %e %H:%M:%S %Y") : "time unknown",
                     paint(kBoldGrey, driver.empty() ? "None" : term::clean(driver)), origin);
}

}  // namespace

MetricSet needs_of_gpustat() {
  MetricSet set;
  for (const auto &shown : kShown) set.add_roles(Scope::device, {shown.role});
  return set;
}

std::string render_gpustat(const Snapshot &snapshot, const GpustatOptions &options) {
  const auto gpus = gpustat_devices(snapshot, options.devices);
  int width = options.name_width.value_or(0);
  if (!options.name_width) {
    for (const auto &gpu : gpus) width = std::max(width, static_cast<int>(letters(term::clean(gpu.name))));
  }
  std::string text;
  if (options.header) text += header(snapshot, options, width);
  for (const auto &gpu : gpus) text += DeviceLine(gpu, options, width).render();
  if (gpus.empty()) text += Painter(options)(kYellow, "(No GPUs are available)") + "\n";
  return text;
}

std::string gpustat_report(const Snapshot &snapshot) {
  std::vector<std::string> lines;
  std::map<std::string, int> times;
  const auto note = [&](std::string_view what, std::string_view why) {
    auto line = fmt::format("> An error while retrieving `{}`: {}", what, why);
    if (++times[line] == 1) lines.push_back(std::move(line));
  };
  for (const auto &device : snapshot.devices) {
    if (device.is_instance()) continue;
    if (device.state != DeviceState::ok) {
      note(fmt::format("GPU {}", text(device.id)), word(device.state));
      continue;
    }
    for (const auto &[role, name] : kShown) {
      const auto reading = by_role(device.row, role);
      if (!reading && !name.empty()) note(name, reason_text(reading));
    }
  }
  std::string text;
  for (const auto &line : lines) text += fmt::format("{} -> Total {} occurrences.\n", line, times[line]);
  return text + "\n";
}

}  // namespace gpulse::view
