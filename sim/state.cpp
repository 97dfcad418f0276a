// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

#include "base/nearest.hpp"
#include "symbols.hpp"

namespace gpulse::sim {

constinit Sim g_sim;

namespace {

// Everything that changes under the lock. Never destroyed: a caller's thread may outlive the library's static objects.
struct Keep {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t generation = 0, releases = 0;
  bool started = false;  // the clock starts at the first init after a load
  std::deque<std::unique_ptr<const Scenario>> scenarios;
  std::deque<Fault> rules;
  std::deque<LiveFault> live;
  std::deque<FaultList> lists;
  std::deque<std::vector<std::uint32_t>> orders;
  std::string error;
};

Keep &keep() {
  static Keep &instance = *new Keep;
  return instance;
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// The second of the scenario in which the clock starts.
double first_second() {
  const char *wanted = std::getenv("GPULSE_SIM_TIME");
  return wanted == nullptr ? 0 : std::strtod(wanted, nullptr);
}

void start_clock() {
  const double first = first_second();
  g_sim.start_ns.store(monotonic_ns() - std::llround(first * 1e9), std::memory_order_relaxed);
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  g_sim.start_wall_us.store(
      std::chrono::duration_cast<std::chrono::microseconds>(wall).count() - std::llround(first * 1e6),
      std::memory_order_relaxed);
}

void publish_fault(const Fault &rule) {
  for (const Fn fn : rule.calls) {
    std::atomic<const FaultList *> &slot = g_sim.faults[index_of(fn)];
    const FaultList *old = slot.load(std::memory_order_relaxed);
    FaultList &list = keep().lists.emplace_back(old == nullptr ? FaultList{} : *old);
    LiveFault &live = keep().live.emplace_back();
    live.rule = &rule;
    list.push_back(&live);
    slot.store(&list, std::memory_order_release);
  }
}

// The devices a fresh init finds: a GPU that appears later needs another init, as with the real library.
void order_devices(const Scenario &scenario) {
  const double time = now_s();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < scenario.devices.size(); ++i) {
    if (scenario.devices[i].span.holds(time)) {
      order.push_back(i);
    }
  }
  const std::vector<std::uint32_t> *current = g_sim.order.load(std::memory_order_relaxed);
  if (current == nullptr || *current != order) {
    g_sim.order.store(&keep().orders.emplace_back(std::move(order)), std::memory_order_release);
  }
}

void report(const std::string &what) { keep().error = "gpulse-sim: scenario " + what; }

void drop_faults() {
  for (auto &slot : g_sim.faults) {
    slot.store(nullptr, std::memory_order_release);
  }
}

}  // namespace

double now_s() {
  const double frozen = g_sim.frozen_s.load(std::memory_order_relaxed);
  if (!std::isnan(frozen)) {
    return frozen;
  }
  return static_cast<double>(monotonic_ns() - g_sim.start_ns.load(std::memory_order_relaxed)) * 1e-9;
}

std::uint64_t wall_us(double time_s) {
  return static_cast<std::uint64_t>(g_sim.start_wall_us.load(std::memory_order_relaxed) + std::llround(time_s * 1e6));
}

void spin_ns(std::uint64_t duration_ns) {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(duration_ns);
  while (monotonic_ns() < end) {
  }
}

bool load_text(std::string_view toml, const Origin &origin) {
  auto scenario = load_scenario(toml, origin);
  const std::scoped_lock lock(keep().mutex);
  if (!scenario) {
    report(scenario.error());
    return false;
  }
  keep().error.clear();
  const Scenario &loaded = **scenario;
  keep().scenarios.push_back(std::move(*scenario));
  drop_faults();
  for (auto &count : g_sim.calls) {
    count.store(0, std::memory_order_relaxed);
  }
  g_sim.frozen_s.store(std::numeric_limits<double>::quiet_NaN(), std::memory_order_relaxed);
  start_clock();
  keep().started = g_sim.references.load(std::memory_order_relaxed) > 0;
  g_sim.scenario.store(&loaded, std::memory_order_release);
  order_devices(loaded);
  std::ranges::for_each(loaded.faults, publish_fault);
  hide_symbols(loaded.hidden);
  ++keep().releases;
  ++keep().generation;
  keep().changed.notify_all();
  return true;
}

void write_log(std::string_view call) {
  // One write, so that lines of several threads do not mix.
  const std::string line = std::string(call) + '\n';
  if (::write(g_sim.log.load(std::memory_order_relaxed), line.data(), line.size()) < 0) {
    g_sim.log.store(-1, std::memory_order_relaxed);
  }
}

// "; did you mean eight?", for who mistypes the name of a scenario that comes with the simulator.
std::string scenario_meant(const std::filesystem::path &file) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator(file.parent_path(), none)) {
    if (entry.path().extension() == ".toml") found.push_back(entry.path().stem().string());
  }
  std::ranges::sort(found);
  const std::vector<std::string_view> names(found.begin(), found.end());
  const auto words = did_you_mean(file.stem().string(), names, "");
  return words.empty() ? "" : "; " + words;
}

void load_from_environment() {
  if (const char *log = std::getenv("GPULSE_SIM_LOG"); log != nullptr && *log != '\0') {
    g_sim.log.store(::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), std::memory_order_relaxed);
  }
  const char *wanted = std::getenv("GPULSE_SIM_SCENARIO");
  std::string file = wanted == nullptr || *wanted == '\0' ? "single" : wanted;
  if (file.find('/') == std::string::npos && !file.ends_with(".toml")) {
    file = data_folder() + "/scenarios/" + file + ".toml";
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    const std::scoped_lock lock(keep().mutex);
    report(file + ": cannot be read" + scenario_meant(file));
    return;
  }
  load_text(text.str(),
            {.file = file, .folder = std::filesystem::path(file).parent_path().string(), .data = data_folder()});
}

const char *last_error() {
  const std::scoped_lock lock(keep().mutex);
  return keep().error.c_str();
}

Return initialize() {
  const std::scoped_lock lock(keep().mutex);
  const Scenario *scenario = g_sim.scenario.load(std::memory_order_relaxed);
  if (scenario == nullptr || !keep().error.empty()) {
    // Printed here and not when it is found, so that a program that asks for the error can print it itself.
    std::fprintf(stderr, "%s\n", keep().error.c_str());
    return Return::unknown;
  }
  if (!keep().started) {
    start_clock();
    keep().started = true;
  }
  const Driver &driver = scenario->driver;
  if (driver.init != Return::success) {
    return driver.init;
  }
  if (!driver.kernel_version.empty() && driver.kernel_version != driver.version) {
    return Return::lib_rm_version_mismatch;
  }
  if (g_sim.references.load(std::memory_order_relaxed) == 0) {
    order_devices(*scenario);
  }
  g_sim.references.fetch_add(1, std::memory_order_release);
  return Return::success;
}

Return shut_down() {
  const std::scoped_lock lock(keep().mutex);
  if (g_sim.references.load(std::memory_order_relaxed) <= 0) {
    return Return::uninitialized;
  }
  g_sim.references.fetch_sub(1, std::memory_order_release);
  return Return::success;
}

void set_fault(std::string_view call, std::int32_t device, std::int32_t code) {
  const std::scoped_lock lock(keep().mutex);
  Fault rule;
  rule.device = device;
  rule.code = code > 0 ? Return{static_cast<std::uint32_t>(code)} : Return::success;
  rule.hang = code == -1;
  rule.nan = code == -2;
  for (std::size_t i = 0; i < kFnCount; ++i) {
    if (call == "*" || kFunctions[i].name == call) {
      rule.calls.push_back(static_cast<Fn>(i));
    }
  }
  if (code != 0) {
    publish_fault(keep().rules.emplace_back(std::move(rule)));
    return;
  }
  for (const Fn fn : rule.calls) {
    std::atomic<const FaultList *> &slot = g_sim.faults[index_of(fn)];
    const FaultList *old = slot.load(std::memory_order_relaxed);
    if (old == nullptr) {
      continue;
    }
    FaultList rest = *old;
    std::erase_if(rest, [&](const LiveFault *live) { return device < 0 || live->rule->device == device; });
    slot.store(rest.empty() ? nullptr : &keep().lists.emplace_back(std::move(rest)), std::memory_order_release);
  }
  ++keep().releases;
  keep().changed.notify_all();
}

void clear_faults() {
  const std::scoped_lock lock(keep().mutex);
  drop_faults();
  for (auto &count : g_sim.calls) {
    count.store(0, std::memory_order_relaxed);
  }
  ++keep().releases;
  keep().changed.notify_all();
}

void release_hung() {
  const std::scoped_lock lock(keep().mutex);
  ++keep().releases;
  keep().changed.notify_all();
}

void freeze(double time_s) {
  const std::scoped_lock lock(keep().mutex);
  const bool real = time_s < 0;
  g_sim.frozen_s.store(real ? std::numeric_limits<double>::quiet_NaN() : time_s, std::memory_order_relaxed);
  ++keep().generation;
  keep().changed.notify_all();
}

std::uint64_t wake_generation() {
  const std::scoped_lock lock(keep().mutex);
  return keep().generation;
}

void wake_waiters() {
  const std::scoped_lock lock(keep().mutex);
  ++keep().generation;
  keep().changed.notify_all();
}

void wait_for_wake(std::uint64_t seen, double timeout_s) {
  std::unique_lock lock(keep().mutex);
  const auto duration = std::chrono::duration<double>(std::min(timeout_s, 3600.0));
  keep().changed.wait_for(lock, duration, [&] { return keep().generation != seen; });
}

bool Call::may_manage() const {
  using enum Driver::Setters;
  const Driver::Setters who = scenario().driver.setters;
  return who == anyone || (who == root && geteuid() == 0);
}

void Call::resolve_mig(std::size_t slot) {
  const auto found = std::ranges::find(device_->mig, slot, &MigInstance::slot);
  if (found == device_->mig.end()) {
    result_ = Return::invalid_argument;
    return;
  }
  mig_ = &*found;
  target_ = mig_;
}

void Call::apply(const FaultList &faults, bool named_device_only) {
  for (const LiveFault *live : faults) {
    const Fault &rule = *live->rule;
    const bool elsewhere =
        rule.device >= 0 ? device_ == nullptr || rule.device != static_cast<std::int32_t>(place_) : named_device_only;
    const bool element = rule.field >= 0 || rule.gpm >= 0;
    if (element || elsewhere || (!rule.span.always() && !rule.span.holds(now_s()))) {
      continue;
    }
    const std::uint64_t seen = live->seen.fetch_add(1, std::memory_order_relaxed);
    if (seen < rule.after_calls || seen - rule.after_calls >= rule.count) {
      continue;
    }
    if (rule.hang) {
      std::unique_lock lock(keep().mutex);
      const std::uint64_t before = keep().releases;
      keep().changed.wait(lock, [&] { return keep().releases != before; });
    }
    nan_ = nan_ || rule.nan;
    if (rule.code != Return::success) {
      result_ = rule.code;
      return;
    }
  }
}

void Call::check_presence() {
  const double time = now_s();
  const bool lost = std::ranges::any_of(device_->lost, [&](const Span &span) { return span.holds(time); });
  if (lost || !device_->span.holds(time)) {
    result_ = Return::gpu_is_lost;
  }
}

Return Call::fault_on(std::uint32_t place) const {
  const FaultList *faults = g_sim.faults[index_of(fn_)].load(std::memory_order_acquire);
  if (faults == nullptr) {
    return Return::success;
  }
  Call named(*this);
  named.device_ = &scenario_->devices[place];
  named.place_ = place;
  named.apply(*faults, true);
  return named.result_;
}

Return Call::element_fault(std::int64_t Fault::*id, std::uint32_t wanted) const {
  const FaultList *faults = g_sim.faults[index_of(fn_)].load(std::memory_order_acquire);
  if (faults == nullptr) {
    return Return::success;
  }
  for (const LiveFault *live : *faults) {
    const Fault &rule = *live->rule;
    const bool elsewhere = rule.device >= 0 && rule.device != static_cast<std::int32_t>(place_);
    if (rule.*id != static_cast<std::int64_t>(wanted) || elsewhere || !rule.span.holds(now_s())) {
      continue;
    }
    const std::uint64_t seen = live->seen.fetch_add(1, std::memory_order_relaxed);
    if (seen >= rule.after_calls && seen - rule.after_calls < rule.count) {
      return rule.code;
    }
  }
  return Return::success;
}

Return copy_text(const TextValue &value, char *buffer, std::uint32_t length) {
  if (buffer == nullptr) {
    return Return::invalid_argument;
  }
  if (value.code != Return::success) {
    return value.code;
  }
  if (length <= value.text.size()) {
    return Return::insufficient_size;
  }
  std::memcpy(buffer, value.text.c_str(), value.text.size() + 1);
  return Return::success;
}

}  // namespace gpulse::sim
