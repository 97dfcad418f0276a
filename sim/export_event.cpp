// SPDX-License-Identifier: Apache-2.0
// Event sets. A set gets the scenario's events from its registration on, each once, in time order.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::EventData;
using gpulse::nvml::EventDataV1;
using gpulse::nvml::EventSet;
using gpulse::nvml::SystemEventSet;
using gpulse::nvml::SystemEventSetCreate;
using gpulse::nvml::SystemEventSetRegister;
using gpulse::nvml::SystemEventSetWait;

namespace {

struct Registration {
  std::int32_t device;  // -1: the system
  std::uint64_t types;
  double since_s;
};

class Inbox {
 public:
  void add(Registration registration) {
    const std::scoped_lock lock(mutex_);
    registrations_.push_back(registration);
  }

  // The next event due by `now`; `next_s` becomes the time of the one after it.
  std::optional<Event> take(const Scenario &scenario, double now, double &next_s) {
    const std::scoped_lock lock(mutex_);
    if (scenario_ != &scenario) {
      scenario_ = &scenario;
      position_ = 0;
    }
    next_s = kForever;
    for (; position_ < scenario.events.size(); ++position_) {
      const Event &event = scenario.events[position_];
      if (event.time_s > now) {
        next_s = event.time_s;
        return std::nullopt;
      }
      if (wanted(event)) {
        ++position_;
        return event;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool wanted(const Event &event) const {
    return std::ranges::any_of(registrations_, [&](const Registration &registration) {
      const bool same = event.system ? registration.device < 0 : registration.device == event.device;
      return same && (registration.types & event.type) != 0 && event.time_s >= registration.since_s;
    });
  }

  std::mutex mutex_;
  std::vector<Registration> registrations_;
  const Scenario *scenario_ = nullptr;
  std::size_t position_ = 0;
};

std::optional<Event> wait(Inbox &inbox, std::uint32_t timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const std::uint64_t seen = wake_generation();
    const double now = now_s();
    double next = kForever;
    if (auto event = inbox.take(*g_sim.scenario.load(std::memory_order_acquire), now, next)) {
      return event;
    }
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) {
      return std::nullopt;
    }
    wait_for_wake(seen, std::min(left, std::max(next - now, 0.0005)));
  }
}

}  // namespace

namespace gpulse::nvml {
struct EventSetOpaque {
  Inbox inbox;
};
struct SystemEventSetOpaque {
  Inbox inbox;
};
}  // namespace gpulse::nvml

GPULSE_SIM_EXPORT Return nvmlEventSetCreate(EventSet *out) {
  GPULSE_SIM_BEGIN(nvmlEventSetCreate)
  GPULSE_SIM_NEED(out != nullptr)
  *out = std::make_unique<gpulse::nvml::EventSetOpaque>().release();
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlEventSetFree(EventSet set) {
  GPULSE_SIM_BEGIN(nvmlEventSetFree)
  GPULSE_SIM_NEED(set != nullptr)
  const std::unique_ptr<gpulse::nvml::EventSetOpaque> freed(set);
  return Return::success;
}

GPULSE_SIM_NUMBER(nvmlDeviceGetSupportedEventTypes, std::uint64_t, event_types, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceRegisterEvents(Handle device, std::uint64_t types, EventSet set) {
  GPULSE_SIM_BEGIN(nvmlDeviceRegisterEvents, device)
  GPULSE_SIM_NEED(set != nullptr)
  std::uint64_t supported = 0;
  const Return code = call.give(Key::event_types, &supported);
  if (code != Return::success || (types & ~supported) != 0) {
    return Return::not_supported;
  }
  set->inbox.add({.device = static_cast<std::int32_t>(call.place()), .types = types, .since_s = call.now()});
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlEventSetWait(EventSet set, EventDataV1 *out, std::uint32_t timeout_ms) {
  GPULSE_SIM_BEGIN(nvmlEventSetWait)
  GPULSE_SIM_NEED(set != nullptr && out != nullptr)
  const std::optional<Event> event = wait(set->inbox, timeout_ms);
  if (event) {
    *out = {make_handle(static_cast<std::size_t>(event->device)), event->type, event->data};
  }
  return event ? Return::success : Return::timeout;
}

GPULSE_SIM_EXPORT Return nvmlEventSetWait_v2(EventSet set, EventData *out, std::uint32_t timeout_ms) {
  GPULSE_SIM_BEGIN(nvmlEventSetWait_v2)
  GPULSE_SIM_NEED(set != nullptr && out != nullptr)
  const std::optional<Event> event = wait(set->inbox, timeout_ms);
  if (event) {
    *out = {make_handle(static_cast<std::size_t>(event->device)), event->type, event->data, event->gpu_instance,
            event->compute_instance};
  }
  return event ? Return::success : Return::timeout;
}

GPULSE_SIM_EXPORT Return nvmlSystemEventSetCreate(SystemEventSetCreate *request) {
  GPULSE_SIM_BEGIN(nvmlSystemEventSetCreate)
  GPULSE_SIM_NEED(request != nullptr)
  if (!version_is(*request, 1)) {
    return Return::argument_version_mismatch;
  }
  request->set = std::make_unique<gpulse::nvml::SystemEventSetOpaque>().release();
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlSystemEventSetFree(SystemEventSetCreate *request) {
  GPULSE_SIM_BEGIN(nvmlSystemEventSetFree)
  GPULSE_SIM_NEED(request != nullptr && request->set != nullptr)
  if (!version_is(*request, 1)) {
    return Return::argument_version_mismatch;
  }
  const std::unique_ptr<gpulse::nvml::SystemEventSetOpaque> freed(request->set);
  request->set = nullptr;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlSystemRegisterEvents(SystemEventSetRegister *request) {
  GPULSE_SIM_BEGIN(nvmlSystemRegisterEvents)
  GPULSE_SIM_NEED(request != nullptr && request->set != nullptr)
  if (!version_is(*request, 1)) {
    return Return::argument_version_mismatch;
  }
  request->set->inbox.add({.device = -1, .types = request->types, .since_s = call.now()});
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlSystemEventSetWait(SystemEventSetWait *request) {
  GPULSE_SIM_BEGIN(nvmlSystemEventSetWait)
  GPULSE_SIM_NEED(request != nullptr && request->set != nullptr && request->data != nullptr && request->capacity > 0)
  if (!version_is(*request, 1)) {
    return Return::argument_version_mismatch;
  }
  request->count = 0;
  const std::optional<Event> event = wait(request->set->inbox, request->timeout_ms);
  if (!event) {
    return Return::timeout;
  }
  const Device &device = call.scenario().devices.at(static_cast<std::size_t>(event->device));
  request->data[0] = {.type = event->type,
                      .gpu = (device.pci.domain << 16U) | (device.pci.bus << 8U) | device.pci.device};
  request->count = 1;
  return Return::success;
}
