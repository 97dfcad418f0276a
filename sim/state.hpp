// SPDX-License-Identifier: Apache-2.0
// The running simulator: the published scenario, its clock, faults, costs and call counts. Every exported function
// starts with a Call, which takes no lock and reads no clock unless the scenario gives the call a fault or a cost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"

namespace gpulse::sim {

using nvml::Handle;

struct LiveFault {
  const Fault *rule;
  mutable std::atomic<std::uint64_t> seen{0};
};

using FaultList = std::vector<const LiveFault *>;

struct Sim {
  std::atomic<const Scenario *> scenario{nullptr};
  std::atomic<const std::vector<std::uint32_t> *> order{nullptr};  // device index to place in the scenario
  std::atomic<std::int32_t> references{0};
  std::atomic<std::int64_t> start_ns{0}, start_wall_us{0};
  std::atomic<double> frozen_s{std::numeric_limits<double>::quiet_NaN()};
  std::array<std::atomic<std::uint64_t>, kFnCount> calls{};
  std::atomic<int> log{-1};  // the file that GPULSE_SIM_LOG names
  std::array<std::atomic<const FaultList *>, kFnCount> faults{};
};

extern constinit Sim g_sim;

double now_s();
std::uint64_t wall_us(double time_s);
void spin_ns(std::uint64_t duration_ns);
void write_log(std::string_view call);

// Scenarios are never freed: a caller on another thread may still be reading the one just replaced.
bool load_text(std::string_view toml, const Origin &origin);
void load_from_environment();
std::string data_folder();
const char *last_error();

Return initialize();
Return shut_down();
void set_fault(std::string_view call, std::int32_t device, std::int32_t code);
void clear_faults();
void release_hung();
void freeze(double time_s);

// Event waiters sleep until something that could wake them changes; `generation` tells them what they already saw.
std::uint64_t wake_generation();
void wait_for_wake(std::uint64_t seen, double timeout_s);
void wake_waiters();

constexpr std::size_t kMigBits = 16;

inline Handle make_handle(std::size_t device, std::size_t mig_slot_plus_one = 0) {
  return reinterpret_cast<Handle>(((device + 1) << kMigBits) | mig_slot_plus_one);
}

class Call {
 public:
  explicit Call(Fn fn) : scenario_(g_sim.scenario.load(std::memory_order_acquire)), fn_(fn) { begin(); }
  Call(Fn fn, Handle handle) : scenario_(g_sim.scenario.load(std::memory_order_acquire)), fn_(fn) {
    resolve(handle);
    begin();
  }

  // For init itself, the only call that faults before the library is initialised.
  struct BeforeInit {};
  Call(Fn fn, BeforeInit) : scenario_(g_sim.scenario.load(std::memory_order_acquire)), fn_(fn) {
    count();
    if (scenario_ != nullptr) {
      charge();
    }
  }

  explicit operator bool() const { return result_ == Return::success; }
  [[nodiscard]] Return result() const { return result_; }
  [[nodiscard]] const Scenario &scenario() const { return *scenario_; }
  [[nodiscard]] const Device &device() const { return *device_; }
  [[nodiscard]] std::uint32_t place() const { return place_; }
  [[nodiscard]] const MigInstance *mig() const { return mig_; }
  [[nodiscard]] const Target &target() const { return *target_; }
  [[nodiscard]] bool nan() const { return nan_; }
  [[nodiscard]] double now() const { return now_s(); }
  // Whether the caller may change settings and look into instances.
  [[nodiscard]] bool may_manage() const;

  // A part of this call in the log.
  void log(const char *part, std::uint32_t number) const {
    if (g_sim.log.load(std::memory_order_relaxed) >= 0) {
      write_log(std::string(part) + ' ' + std::to_string(number));
    }
  }

  // The result a fault gives one field or GPM metric of this call.
  [[nodiscard]] Return field_fault(std::uint32_t field) const { return element_fault(&Fault::field, field); }
  [[nodiscard]] Return gpm_fault(std::uint32_t metric) const { return element_fault(&Fault::gpm, metric); }

  // For calls that name a device by index, UUID or bus id: what a fault on that device says.
  [[nodiscard]] Return fault_on(std::uint32_t place) const;

  [[nodiscard]] double at(const Number &number) const {
    return number.series == nullptr ? number.constant : number.at(now());
  }
  [[nodiscard]] double at(Key key) const { return at(target()[key]); }

  // Writes the value of a key, times scale, or says why there is none.
  template <class T>
  Return give(Key key, T *out, double scale = 1) const {
    if (out == nullptr) {
      return Return::invalid_argument;
    }
    const Number &number = target()[key];
    if (number.supported()) {
      *out = static_cast<T>(std::llround(at(number) * scale));
    }
    return number.code;
  }
  // The same, unless a setter has changed it.
  template <class T>
  Return give_setting(const std::atomic<double> &setting, Key key, T *out) const {
    const Return code = give(key, out);
    const double set = setting.load(std::memory_order_relaxed);
    if (code == Return::success && !std::isnan(set)) {
      *out = static_cast<T>(set);
    }
    return code;
  }
  template <class T>
  [[nodiscard]] T get(Key key, double scale = 1) const {
    return static_cast<T>(std::llround(at(key) * scale));
  }

 private:
  void begin() {
    count();
    if (g_sim.references.load(std::memory_order_acquire) <= 0) {
      result_ = Return::uninitialized;
      return;
    }
    charge();
    if (device_ != nullptr && device_->windowed && result_ == Return::success) {
      check_presence();
    }
  }
  void count() {
    const std::size_t index = index_of(fn_);
    g_sim.calls[index].fetch_add(1, std::memory_order_relaxed);
    if (g_sim.log.load(std::memory_order_relaxed) >= 0) {
      write_log(kFunctions[index].name);
    }
  }
  void charge() {
    const std::size_t index = index_of(fn_);
    if (const std::uint64_t cost = scenario_->costs.call_ns[index]; cost != 0) {
      spin_ns(cost);
    }
    if (const FaultList *faults = g_sim.faults[index].load(std::memory_order_acquire); faults != nullptr) {
      apply(*faults);
    }
    if (scenario_->hidden[index]) {
      result_ = Return::function_not_found;
    }
  }
  void resolve(Handle handle) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    const std::size_t place = (bits >> kMigBits) - 1;
    if (scenario_ == nullptr || place >= scenario_->devices.size()) {
      result_ = Return::invalid_argument;
      return;
    }
    device_ = &scenario_->devices[place];
    target_ = device_;
    place_ = static_cast<std::uint32_t>(place);
    if (const std::size_t slot = bits & ((1U << kMigBits) - 1); slot != 0) {
      resolve_mig(slot - 1);
    }
  }
  void resolve_mig(std::size_t slot);
  void apply(const FaultList &faults, bool named_device_only = false);
  void check_presence();
  [[nodiscard]] Return element_fault(std::int64_t Fault::*id, std::uint32_t wanted) const;

  const Scenario *scenario_;
  const Device *device_ = nullptr;
  const MigInstance *mig_ = nullptr;
  const Target *target_ = nullptr;
  Fn fn_;
  Return result_ = Return::success;
  std::uint32_t place_ = 0;
  bool nan_ = false;
};

Return copy_text(const TextValue &value, char *buffer, std::uint32_t length);

}  // namespace gpulse::sim
