// SPDX-License-Identifier: Apache-2.0
// A source for the tests of the sampler: its devices come and go, its calls fail, take long or hang, as the test says.
// It counts violations of the threading rules in source.hpp. All control functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "source/api/source.hpp"

namespace gpulse {

class FakeSource final : public Source {
 public:
  struct FakeDevice {
    std::string uuid;
    std::string parent{};
    std::string pci{};
    DeviceState state = DeviceState::ok;
  };
  enum ReaderNumber : std::size_t { kTick, kSecond, kSlow, kOnce, kReaders };

  static constexpr auto kUtilization = device_metric("gpu_utilization_percent");
  static constexpr auto kEnergy = device_metric("energy_joules");
  static constexpr auto kErrors = device_metric("ecc_corrected_total");
  static constexpr auto kMinor = device_metric("minor_number");
  static constexpr std::array<MetricId, kReaders> kMetricOf{kUtilization, kEnergy, kErrors, kMinor};
  static constexpr std::string_view kEverything = "*";

  // Told once that they have changed.
  void devices(std::vector<FakeDevice> list, std::string problem = {}) {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(list);
    problem_ = std::move(problem);
    changed_ = true;
  }
  // The version that the driver reports.
  void driver(std::string version) {
    const std::lock_guard lock(mutex_);
    driver_ = std::move(version);
  }
  void answer(const std::string &uuid, std::size_t reader, Outcome outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_[{uuid, reader}] = outcome;
  }
  void cost(std::size_t reader, std::chrono::nanoseconds cost) {
    const std::lock_guard lock(mutex_);
    costs_[reader] = cost;
  }
  // Every read of the device, or discovery with "*", or identifying it with "identify UUID", blocks until release().
  void hang(std::string_view uuid) {
    const std::lock_guard lock(mutex_);
    hanging_.insert(std::string(uuid));
  }
  void release() {
    const std::lock_guard lock(mutex_);
    hanging_.clear();
    released_.notify_all();
  }
  // Devices have to be identified one by one, and the driver takes its time for each, in turn. Call before a runner
  // gets it.
  void identify_each(std::chrono::nanoseconds cost = {}) {
    identify_each_ = true;
    identify_cost_ = cost;
  }
  // From now on the device says that it is another one.
  void rename(const std::string &uuid, const std::string &to) {
    const std::lock_guard lock(mutex_);
    names_[uuid] = to;
  }
  // As long as this is so, discovery has to wait.
  void be_unready(bool unready) {
    const std::lock_guard lock(mutex_);
    unready_ = unready;
  }
  // Call before a runner gets it.
  void be_prompt() { prompt_ = true; }
  // The thread of the last read().
  std::thread::id reader_thread() const {
    const std::lock_guard lock(mutex_);
    return reader_thread_;
  }
  // The thread of the last changed().
  std::thread::id changed_thread() const {
    const std::lock_guard lock(mutex_);
    return changed_thread_;
  }
  void fail_next_read() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }
  void happen(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  std::uint64_t reads(const std::string &uuid, std::size_t reader) const {
    const std::lock_guard lock(mutex_);
    const auto at = reads_.find({uuid, reader});
    return at == reads_.end() ? 0 : at->second;
  }
  std::uint64_t discoveries() const {
    const std::lock_guard lock(mutex_);
    return discoveries_;
  }
  // How often it was asked whether anything has changed, and how often only for what changes without an event.
  struct Checks {
    std::uint64_t full = 0, without_event = 0;
  };
  Checks checks() const {
    const std::lock_guard lock(mutex_);
    return checks_;
  }
  std::uint64_t broken_rules() const {
    const std::lock_guard lock(mutex_);
    return broken_rules_;
  }
  // The reading of a device; different for every device and reader.
  static double value_of(const std::string &uuid, std::size_t reader) {
    return static_cast<double>(uuid.back() - '0') * 10 + static_cast<double>(reader);
  }

  std::string_view name() const override { return "fake"; }
  std::span<const ReaderInfo> readers() const override {
    static const std::array<ReaderInfo, kReaders> kInfos{
        ReaderInfo{.call = "tick", .tier = Tier::tick, .fills = {&kMetricOf[kTick], 1}},
        ReaderInfo{.call = "second", .tier = Tier::second, .fills = {&kMetricOf[kSecond], 1}},
        ReaderInfo{.call = "slow", .tier = Tier::slow, .fills = {&kMetricOf[kSlow], 1}},
        ReaderInfo{.call = "once", .tier = Tier::once, .fills = {&kMetricOf[kOnce], 1}}};
    return kInfos;
  }

  bool is_prompt() const override { return prompt_; }

  Discovery discover() override {
    std::unique_lock lock(mutex_);
    ++discoveries_;
    if (!inside_.empty()) ++broken_rules_;
    inside_.insert(std::string(kEverything));
    released_.wait(lock, [&] { return !hanging_.contains(std::string(kEverything)); });
    inside_.erase(std::string(kEverything));
    current_ = wanted_;
    changed_ = false;
    Discovery found{.entities = {}, .problem = problem_, .remedy = {}, .driver = driver_};
    for (const auto &device : current_) {
      auto identity = std::make_shared<DeviceIdentity>();
      identity->uuid = device.uuid;
      identity->parent = device.parent;
      identity->pci = device.pci;
      found.entities.push_back({.scope = Scope::device,
                                .state = device.state,
                                .identity = std::move(identity),
                                .identified = !identify_each_});
    }
    return found;
  }

  bool is_ready_to_discover() override {
    const std::lock_guard lock(mutex_);
    return !unready_;
  }

  Identified identify(std::size_t entity) override {
    {
      const std::lock_guard in_turn(identifying_);
      std::this_thread::sleep_for(identify_cost_);
    }
    std::unique_lock lock(mutex_);
    const auto &device = current_[entity];
    if (!inside_.insert(device.uuid).second || inside_.contains(std::string(kEverything))) ++broken_rules_;
    released_.wait(lock, [&] { return !hanging_.contains("identify " + device.uuid); });
    inside_.erase(device.uuid);
    auto identity = std::make_shared<DeviceIdentity>();
    const auto name = names_.find(device.uuid);
    identity->uuid = name == names_.end() ? device.uuid : name->second;
    identity->parent = device.parent;
    identity->pci = device.pci;
    return {.found = Found{.state = device.state, .identity = std::move(identity)}};
  }

  bool changed() override {
    const std::lock_guard lock(mutex_);
    ++checks_.full;
    return take_change();
  }
  bool changed_without_event() override {
    const std::lock_guard lock(mutex_);
    ++checks_.without_event;
    return take_change();
  }

  Outcome read(std::size_t entity, std::size_t reader, Monotonic, Frame &frame) override {
    std::unique_lock lock(mutex_);
    const auto uuid = current_[entity].uuid;
    if (inside_.contains(uuid) || inside_.contains(std::string(kEverything))) ++broken_rules_;
    inside_.insert(uuid);
    ++reads_[{uuid, reader}];
    reader_thread_ = std::this_thread::get_id();
    if (const auto at = costs_.find(reader); at != costs_.end()) {
      const auto cost = at->second;
      lock.unlock();
      std::this_thread::sleep_for(cost);
      lock.lock();
    }
    released_.wait(lock, [&] { return !hanging_.contains(uuid); });
    inside_.erase(uuid);
    if (std::exchange(throws_, false)) throw std::runtime_error("a bug");
    const auto told = outcomes_.find({uuid, reader});
    const auto outcome = told == outcomes_.end() ? Outcome::ok : told->second;
    if (outcome == Outcome::ok) frame.row[kMetricOf[reader]] = value_of(uuid, reader);
    return outcome;
  }

  std::vector<Event> take_events() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  // With the mutex.
  bool take_change() {
    changed_thread_ = std::this_thread::get_id();
    if (!inside_.empty()) ++broken_rules_;
    return std::exchange(changed_, false);
  }

  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::vector<FakeDevice> wanted_, current_;
  std::string problem_, driver_;
  bool changed_ = false;
  bool throws_ = false;
  bool prompt_ = false;
  bool unready_ = false;
  bool identify_each_ = false;
  std::chrono::nanoseconds identify_cost_{};
  std::mutex identifying_;
  std::map<std::string, std::string> names_;
  std::thread::id reader_thread_, changed_thread_;
  std::map<std::pair<std::string, std::size_t>, Outcome> outcomes_;
  std::map<std::pair<std::string, std::size_t>, std::uint64_t> reads_;
  std::map<std::size_t, std::chrono::nanoseconds> costs_;
  std::set<std::string> hanging_, inside_;
  std::vector<Event> events_;
  std::uint64_t discoveries_ = 0;
  Checks checks_;
  std::uint64_t broken_rules_ = 0;
};

}  // namespace gpulse
