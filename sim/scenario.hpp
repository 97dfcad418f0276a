// SPDX-License-Identifier: Apache-2.0
// What a scenario says, as plain structs. Built once by load_scenario, then shared read-only by all callers' threads;
// only the settings, which the setters change, are atomic.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <expected>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "functions.hpp"
#include "keys.hpp"
#include "value.hpp"

namespace gpulse::sim {

inline constexpr double kForever = std::numeric_limits<double>::infinity();
inline constexpr std::size_t kGpmCount = 333;
inline constexpr std::size_t kFieldCount = 320;

struct Span {
  double from_s = 0, until_s = kForever;

  [[nodiscard]] bool holds(double time_s) const { return time_s >= from_s && time_s < until_s; }
  [[nodiscard]] bool always() const { return from_s <= 0 && until_s == kForever; }
};

struct TextValue {
  Return code = Return::not_supported;
  std::string text;
};

// The values behind a handle: a whole GPU or one MIG instance of it.
struct Target {
  std::array<Number, kKeyCount> numbers;
  std::array<TextValue, kTextCount> texts;
  std::vector<Number> gpm = std::vector<Number>(kGpmCount);  // by metric id
  std::vector<std::pair<std::uint32_t, Number>> fields;      // ids a scenario answers itself

  Number &operator[](Key key) { return numbers[static_cast<std::size_t>(key)]; }
  const Number &operator[](Key key) const { return numbers[static_cast<std::size_t>(key)]; }
  TextValue &operator[](Text text) { return texts[static_cast<std::size_t>(text)]; }
  const TextValue &operator[](Text text) const { return texts[static_cast<std::size_t>(text)]; }
};

struct MigInstance : Target {
  std::uint32_t slot = 0, gpu_instance = 0, compute_instance = 0;
  std::string profile;           // "1g.10gb", or "1c.3g.40gb" for a part of one
  std::uint32_t start = 0;       // of its GPU instance, in slices of memory
  std::uint32_t part_start = 0;  // within its GPU instance, in slices of compute
};

// A kind of GPU instance that a device can be split into.
struct MigProfile {
  std::uint32_t number = 0;  // by which it is asked for
  std::uint32_t id = 0, slices = 1, count = 1, memory_mib = 0;
  std::uint32_t sms = 0, copy_engines = 0, decoders = 0, encoders = 0, jpegs = 0, ofas = 0;
  std::string name;
  std::vector<std::uint32_t> starts;  // where it may lie
  std::uint32_t size = 1;
};

struct PciAddress {
  std::uint32_t domain = 0, bus = 0, device = 0;
};

// What the setters changed; NaN: as the scenario says.
struct Settings {
  static constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

  std::atomic<double> persistence{kUnset}, compute_mode{kUnset}, power_limit_w{kUnset}, ecc_pending{kUnset};
  std::atomic<double> graphics_clock_max{kUnset}, memory_clock_max{kUnset};
  std::atomic<double> app_clock_graphics{kUnset}, app_clock_memory{kUnset};
  std::atomic<double> mig_mode{kUnset}, mig_pending{kUnset}, accounting{kUnset}, target_temperature{kUnset};
  std::atomic<double> accounted_cleared{0};
  std::array<std::atomic<double>, 2> ecc_cleared{0, 0};  // since the driver was loaded, and all
};

struct Process {
  std::uint32_t device = 0, pid = 0;
  std::string command;
  bool compute = false, graphics = false, mps = false;
  Number memory_mib, sm, memory_util, encoder, decoder, jpeg, ofa, present;
  double protected_mib = 0;
  std::uint32_t gpu_instance = nvml::kNoInstance, compute_instance = nvml::kNoInstance;
  Span span;
};

// What accounting remembers of a process, which may have ended.
struct Accounted {
  std::uint32_t pid = 0, gpu = 0, memory = 0;
  double memory_mib = 0, running_s = 0;
  bool running = false;
};

struct RetiredPage {
  std::uint64_t address = 0, time_s = 0;
};

// Errors in one part of the chip, on boards that count by location.
struct EccCount {
  std::uint32_t location = 0, type = 0, counter = 0, errors = 0;
};

struct Device : Target {
  std::vector<MigInstance> mig;
  std::vector<MigProfile> mig_profiles;
  std::vector<Span> lost;
  Span span;
  std::vector<std::uint32_t> memory_clocks, graphics_clocks, links_down;
  std::vector<std::uint32_t> link_peers;  // the device at the other end of each link; the rest end in switches
  std::vector<Process> processes;
  std::vector<Accounted> accounted;
  std::array<std::vector<RetiredPage>, 2> retired_pages;  // after corrected and uncorrected errors
  std::vector<EccCount> ecc_counts;
  PciAddress pci;
  bool windowed = false;  // the clock must be read to know whether the device answers
  Settings *settings = nullptr;
};

struct Driver {
  std::string version = "580.159.04", nvml_version = "580.159", kernel_version, branch = "r580_00";
  std::uint32_t number = 580159;  // version as major * 1000 + minor
  int cuda = 13000;
  Return init = Return::success;
  std::uint32_t process_v3_row_bytes = 24;
  enum class Setters : std::uint8_t { root, anyone, nobody } setters = Setters::root;
  std::uint32_t cc_environment = 0, cc_feature = 0, cc_developer_tools = 0, excluded = 0;
};

struct Fault {
  std::vector<Fn> calls;
  std::int32_t device = -1;  // -1: all, and calls without a device
  Return code = Return::success;
  bool hang = false, nan = false;
  Span span;
  std::uint64_t after_calls = 0, count = std::numeric_limits<std::uint64_t>::max();
  std::int64_t field = -1, gpm = -1;
};

struct Event {
  double time_s = 0;
  std::int32_t device = 0;
  bool system = false;
  std::uint64_t type = 0, data = 0;
  std::uint32_t gpu_instance = nvml::kNoInstance, compute_instance = nvml::kNoInstance;
};

struct Topology {
  std::uint32_t level = 50, p2p = 0;
  std::vector<std::array<std::uint32_t, 3>> pairs;
};

struct Costs {
  std::array<std::uint64_t, kFnCount> call_ns{};
  std::vector<std::uint64_t> field_ns;  // empty: no costs at all
  std::uint64_t gpm_metric_ns = 0;
};

struct Scenario {
  Driver driver;
  std::vector<Device> devices;
  std::vector<Fault> faults;
  std::vector<Event> events;  // in time order
  Topology topology;
  Costs costs;
  std::array<bool, kFnCount> hidden{};
  std::deque<Series> series;      // what the devices' numbers point into
  std::deque<Settings> settings;  // one per device
};

// `file` names the scenario in messages; `folder` is where relative traces are looked up; `data` holds profiles/,
// costs/.
struct Origin {
  std::string file, folder, data;
};

// The error is one line, "FILE:LINE: what is wrong".
std::expected<std::unique_ptr<Scenario>, std::string> load_scenario(std::string_view toml, const Origin &origin);

}  // namespace gpulse::sim
