// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "source/nvml/code.hpp"

namespace gpulse::nvml {

namespace {

using namespace std::chrono_literals;

// Waits are short at first, so that stop() is quick, and double while nothing happens.
constexpr std::uint32_t kFirstWaitMs = 250;
constexpr std::uint32_t kLongestWaitMs = 4000;
constexpr auto kStopWithin = 5s;
constexpr std::size_t kMaxKept = 1024;

constexpr std::uint64_t kWanted =
    event::kSingleBitEcc | event::kDoubleBitEcc | event::kXid | event::kPowerSource | event::kMigConfig;

Event describe_event(std::uint64_t type, std::uint64_t data, const std::string &uuid) {
  Event event{.time = wall_now(), .device = uuid, .code = static_cast<std::int64_t>(data), .text = {}};
  switch (type) {
    case event::kXid:
      event.kind = EventKind::xid;
      event.text = fmt::format("driver error XID {}", data);
      break;
    case event::kSingleBitEcc:
      event.kind = EventKind::ecc;
      event.text = "memory error corrected";
      break;
    case event::kDoubleBitEcc:
      event.kind = EventKind::ecc;
      event.text = "memory error not corrected";
      break;
    case event::kPowerSource:
      event.kind = EventKind::power_source;
      event.text = "power source changed";
      break;
    case event::kMigConfig:
      event.kind = EventKind::mig;
      event.text = "split into instances changed";
      break;
    default:
      event.text = fmt::format("driver event 0x{:x}", type);
  }
  return event;
}

}  // namespace

struct EventListener::Shared {
  std::shared_ptr<Api> api;
  std::vector<Listened> devices;
  EventSet set = nullptr;
  Return created = Return::no_data;
  std::mutex mutex;
  std::condition_variable ended;
  bool listening = false;  // the thread has been started
  bool stopping = false;
  bool done = false;
  std::vector<Event> events;

  Return wait(EventData &data, std::uint32_t milliseconds) const {
    const auto code = api->event_wait_v2(set, &data, milliseconds);
    if (!try_older(code)) return code;
    EventDataV1 old{};
    const auto older = api->event_wait(set, &old, milliseconds);
    data = {old.device, old.type, old.data, kNoInstance, kNoInstance};
    return older;
  }

  void note(const EventData &data) {
    const std::lock_guard lock(mutex);
    const auto at =
        std::find_if(devices.begin(), devices.end(), [&](const Listened &d) { return d.handle == data.device; });
    const auto uuid = at == devices.end() ? std::string() : at->uuid;
    if (data.type == event::kXid && at != devices.end()) {
      at->xid->last = static_cast<std::int64_t>(data.data);
      ++at->xid->total;
    }
    if (events.size() < kMaxKept) events.push_back(describe_event(data.type, data.data, uuid));
  }

  void run() {
    for (auto wait_ms = kFirstWaitMs;; wait_ms = std::min(2 * wait_ms, kLongestWaitMs)) {
      EventData data{};
      const auto code = wait(data, wait_ms);
      if (code == Return::success) note(data);
      // One lost GPU ends the wait for all of them, but the others are not lost.
      const auto heard = code == Return::timeout       ? Return::success
                         : code == Return::gpu_is_lost ? Return::no_data
                                                       : code;
      std::unique_lock lock(mutex);
      for (const auto &device : devices) device.xid->listening = heard;
      // Any other error would return at once: do not spin on a broken driver.
      if (code != Return::success && code != Return::timeout) ended.wait_for(lock, 1s, [&] { return stopping; });
      if (stopping) break;
    }
    // Freed outside the lock: this may hang too.
    api->event_set_free(set);
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_all();
  }
};

EventListener::~EventListener() { stop(); }

void EventListener::open(std::shared_ptr<Api> api) {
  auto shared = std::make_shared<Shared>();
  shared->created = api->event_set_create(&shared->set);
  shared->api = std::move(api);
  shared_ = std::move(shared);
  stop_asked_.reset();
}

void EventListener::add(Listened device) {
  const auto shared = shared_;
  if (shared == nullptr) return;
  const auto &api = *shared->api;
  std::uint64_t types = 0;
  auto code = shared->created;
  if (code == Return::success) code = api.event_types(device.handle, &types);
  if (code == Return::success && (types & event::kXid) == 0) code = Return::not_supported;
  if (code == Return::success) code = api.event_register(device.handle, types & kWanted, shared->set);
  device.xid->listening = code;
  if (code != Return::success) return;
  const std::lock_guard lock(shared->mutex);
  shared->devices.push_back(std::move(device));
}

void EventListener::listen() {
  if (shared_ == nullptr) return;
  const std::lock_guard lock(shared_->mutex);
  if (shared_->listening || shared_->devices.empty()) return;
  shared_->listening = true;
  std::thread([shared = shared_] { shared->run(); }).detach();
}

bool EventListener::try_stop() {
  if (shared_ == nullptr) return true;
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->listening || shared_->done) return true;
  shared_->stopping = true;
  shared_->ended.notify_all();
  const auto now = monotonic_now();
  if (!stop_asked_) stop_asked_ = now;
  return now - *stop_asked_ >= kStopWithin;
}

bool EventListener::stop() {
  const auto shared = std::exchange(shared_, nullptr);
  if (shared == nullptr) return true;
  std::unique_lock lock(shared->mutex);
  if (!shared->listening) {
    lock.unlock();
    if (shared->created == Return::success) shared->api->event_set_free(shared->set);
    return true;
  }
  shared->stopping = true;
  shared->ended.notify_all();
  const auto until = stop_asked_.value_or(monotonic_now()) + kStopWithin;
  return shared->ended.wait_until(lock, until, [&] { return shared->done; });
}

[[gnu::hot]] std::vector<Event> EventListener::take() {
  if (shared_ == nullptr) return {};
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->events, {});
}

}  // namespace gpulse::nvml
