// SPDX-License-Identifier: Apache-2.0
#include "source/tegra/tegra_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/api/errno_reason.hpp"
#include "source/host/parse.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/tegra/gpu.hpp"

namespace gpulse::tegra {

namespace {

constexpr double kMilli = 1e-3, kMega = 1e6;

struct State {
  Gpu gpu;
  Rail rail;
  bool off = false;  // the driver powers an idle GPU down
};

struct Context {
  const Sysroot &root;
  State &state;
  Row &row;
  std::string &text;

  Reading number(const std::string &path, MetricId metric, double scale) const {
    return sysfs::read_attribute(root, path, metric, scale, text);
  }
};

// A GPU that is powered down is idle. Reading its load while it is on would keep it on.
void read_load(const Context &in) {
  constexpr auto kId = device_metric("gpu_utilization_percent");
  constexpr double kTenths = 0.1;
  const auto status = sysfs::read_word(in.root, in.state.gpu.device + "/power/runtime_status");
  in.state.off = status == "suspended";
  in.row[kId] = in.state.off ? Reading(0.0) : in.number(in.state.gpu.device + "/load", kId, kTenths);
}

void read_clock(const Context &in) {
  constexpr auto kGraphics = device_metric("clock_graphics_mhz");
  Reading clock = Reason::not_supported;
  if (in.state.off) {
    clock = Reason::asleep;
  } else if (!in.state.gpu.devfreq.empty()) {
    clock = in.number(in.state.gpu.devfreq + "/cur_freq", kGraphics, 1 / kMega);
  }
  in.row[kGraphics] = clock;
  in.row[device_metric("clock_sm_mhz")] = clock;  // one clock drives both
}

// "NvMapMemUsed:    1234 kB" is what the GPU and other engines hold of the memory that they share with the CPU.
Reading mapped_bytes(std::string_view text) {
  constexpr auto kId = device_metric("memory_gtt_used_bytes");
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (next_word(line) != "NvMapMemUsed:") continue;
    const auto kilobytes = parse_double(next_word(line));
    return kilobytes ? plausible(kId, *kilobytes * 1024) : Reason::error;
  }
  return Reason::not_supported;
}

constexpr std::array kMemory{device_metric("memory_total_bytes"), device_metric("memory_used_bytes"),
                             device_metric("memory_free_bytes"), device_metric("memory_gtt_used_bytes")};

void read_memory(const Context &in) {
  const bool readable = in.root.read_into(in.text, "/proc/meminfo");
  const int error = errno;
  const auto memory = readable ? host::parse_meminfo(in.text) : std::nullopt;
  if (!memory) {
    for (const auto id : kMemory) in.row[id] = readable ? Reason::error : errno_reason(error);
    return;
  }
  const auto total = memory->total_bytes;
  in.row[kMemory[0]] = plausible(kMemory[0], total);
  in.row[kMemory[1]] = plausible(kMemory[1], total - memory->available_bytes);
  in.row[kMemory[2]] = plausible(kMemory[2], memory->available_bytes);
  in.row[kMemory[3]] = mapped_bytes(in.text);
}

void read_temperature(const Context &in) {
  constexpr auto kId = device_metric("temperature_gpu_celsius");
  // Without power the sensor gives an error, or -256.
  constexpr double kColdest = -100;
  auto &reading = in.row[kId];
  reading = in.state.gpu.zone.empty() ? Reason::not_supported : in.number(in.state.gpu.zone + "/temp", kId, kMilli);
  if (reading && reading.value() < kColdest) reading = Reason::out_of_range;
  if (!reading && in.state.off && !reading.is(Reason::not_supported)) reading = Reason::asleep;
}

Reading rail_power(const Context &in) {
  constexpr auto kId = device_metric("power_draw_watts");
  const auto &rail = in.state.rail;
  if (!rail.milliwatts.empty()) return in.number(rail.milliwatts, kId, kMilli);
  if (rail.millivolts.empty()) return Reason::not_supported;
  const auto volts = in.number(rail.millivolts, device_metric("voltage_graphics_volts"), kMilli);
  const auto amperes = in.number(rail.milliamperes, kId, kMilli);
  if (!volts) return volts;
  return amperes ? plausible(kId, volts.value() * amperes.value()) : amperes;
}

void read_power(const Context &in) {
  auto &reading = in.row[device_metric("power_draw_watts")];
  reading = rail_power(in);
  // The sensor's number changes when its driver is reloaded.
  if (!reading.is(Reason::not_supported) || in.state.rail == Rail{}) return;
  in.state.rail = find_rail(in.root);
  reading = rail_power(in);
}

void read_limits(const Context &in) {
  constexpr auto kClock = device_metric("clock_max_graphics_mhz");
  constexpr auto kShutdown = device_metric("temperature_shutdown_celsius");
  const auto &[device, devfreq, zone, chip] = in.state.gpu;
  in.row[kClock] = devfreq.empty() ? Reason::not_supported : in.number(devfreq + "/max_freq", kClock, 1 / kMega);
  in.row[device_metric("clock_max_sm_mhz")] = in.row[kClock];
  in.row[kShutdown] = Reason::not_supported;
  for (const auto &name : zone.empty() ? std::vector<std::string>() : in.root.list(zone)) {
    constexpr std::string_view kType = "_type";
    if (!name.starts_with("trip_point_") || !name.ends_with(kType)) continue;
    if (sysfs::read_word(in.root, zone + "/" + name) != "critical") continue;
    const auto stem = name.substr(0, name.size() - kType.size());
    in.row[kShutdown] = in.number(zone + "/" + stem + "_temp", kShutdown, kMilli);
  }
}

constexpr std::array kLoad{device_metric("gpu_utilization_percent")};
constexpr std::array kClocks{device_metric("clock_graphics_mhz"), device_metric("clock_sm_mhz")};
constexpr std::array kTemperature{device_metric("temperature_gpu_celsius")};
constexpr std::array kPower{device_metric("power_draw_watts")};
constexpr std::array kLimits{device_metric("clock_max_graphics_mhz"), device_metric("clock_max_sm_mhz"),
                             device_metric("temperature_shutdown_celsius")};

using Read = void (*)(const Context &);
constexpr std::array<std::pair<ReaderInfo, Read>, 6> kRows{{
    {{.call = "load", .fills = kLoad}, read_load},
    {{.call = "devfreq", .fills = kClocks}, read_clock},
    {{.call = "/proc/meminfo", .fills = kMemory}, read_memory},
    {{.call = "thermal zone", .fills = kTemperature}, read_temperature},
    {{.call = "ina3221", .fills = kPower}, read_power},
    {{.call = "limits", .tier = Tier::once, .fills = kLimits}, read_limits},
}};

constexpr auto kReaders = [] {
  std::array<ReaderInfo, kRows.size()> infos{};
  std::transform(kRows.begin(), kRows.end(), infos.begin(), [](const auto &row) { return row.first; });
  return infos;
}();

std::string architecture(std::string_view chip) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames{
      {{"ga10b", "Ampere"}, {"gv11b", "Volta"}, {"gp10b", "Pascal"}, {"gm20b", "Maxwell"}}};
  for (const auto &[name, word] : kNames) {
    if (name == chip) return std::string(word);
  }
  return {};
}

// Turns "# R36 (release), REVISION: 4.3, GCID: …" into "nvgpu 36.4.3".
std::string driver_text(const Sysroot &root) {
  const auto text = root.read("/etc/nv_tegra_release", 4096).value_or("");
  const auto words = split_words(std::string_view(text).substr(0, text.find('\n')));
  std::string release, revision;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    auto next = words[i + 1];
    while (next.ends_with(',')) next.remove_suffix(1);
    if (words[i] == "#" && next.starts_with('R')) release = next.substr(1);
    if (words[i] == "REVISION:") revision = next;
  }
  return release.empty() || revision.empty() ? "nvgpu" : "nvgpu " + release + "." + revision;
}

class TegraSource final : public Source {
 public:
  explicit TegraSource(const Sysroot &root) : root_(root) {}

  std::string_view name() const override { return "tegra"; }
  std::span<const ReaderInfo> readers() const override { return kReaders; }
  bool changed() override { return find_gpu(root_) != found_; }

  Discovery discover() override {
    Discovery found;
    found_ = find_gpu(root_);
    if (!found_) return found;
    state_ = State{.gpu = *found_, .rail = find_rail(root_)};
    found.entities.push_back({.identity = identity_of()});
    return found;
  }

  Outcome read(std::size_t /*entity*/, std::size_t reader, Monotonic /*now*/, Frame &frame) override {
    kRows[reader].second({root_, state_, frame.row, text_});
    return Outcome::ok;
  }

 private:
  std::shared_ptr<DeviceIdentity> identity_of() const {
    auto identity = std::make_shared<DeviceIdentity>();
    const auto serial = sysfs::read_word(root_, "/proc/device-tree/serial-number");
    const auto &device = state_.gpu.device;
    identity->source = "tegra";
    identity->vendor = "nvidia";
    identity->uuid = "TEGRA-" + (serial.empty() ? device.substr(device.rfind('/') + 1) : serial);
    identity->name = sysfs::read_word(root_, "/proc/device-tree/model");
    if (identity->name.empty()) identity->name = "NVIDIA Tegra";
    identity->driver = driver_text(root_);
    if (!serial.empty()) identity->texts[device_metric("serial")] = serial;
    if (auto word = architecture(state_.gpu.chip); !word.empty()) identity->texts[device_metric("architecture")] = word;
    return identity;
  }

  Sysroot root_;
  std::optional<Gpu> found_;
  State state_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions & /*options*/) {
  return std::make_unique<TegraSource>(root);
}

}  // namespace gpulse::tegra
