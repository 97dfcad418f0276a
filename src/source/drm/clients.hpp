// SPDX-License-Identifier: Apache-2.0
// What the processes do on one card, as the kernel counts it per open file (fdinfo): engine time, memory. One per card;
// made when the card is found and used by the card's own thread alone. Never to be read while the card is asleep: some
// drivers wake it to answer.
//
// A source has two readers for it:
//   {{.call = "/proc/*/fdinfo", .differential = true, .extra = true, .fills = drm::kClientMetrics}, …clients.read()}
//   {{.call = "/proc/*/fd", .tier = Tier::slow, .extra = true, .fills = {}}, …device_users->look_everywhere(now)}
//
// A file that several processes hold (by fork, or passed on) is one client and counts once, for the process that
// started first; the others are listed with nothing of their own. Of each client one file is read in a tick.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "source/api/source.hpp"
#include "source/drm/card.hpp"
#include "source/drm/device_users.hpp"
#include "source/drm/fdinfo.hpp"

namespace gpulse::drm {

inline constexpr std::array kEngineMetrics{
    device_metric("render_utilization_percent"),        device_metric("compute_utilization_percent"),
    device_metric("copy_utilization_percent"),          device_metric("video_utilization_percent"),
    device_metric("video_enhance_utilization_percent"), device_metric("decoder_utilization_percent"),
    device_metric("encoder_utilization_percent"),       device_metric("jpeg_utilization_percent"),
};
// All that Clients::read() fills of a device.
inline constexpr std::array kClientMetrics{
    kEngineMetrics[0], kEngineMetrics[1], kEngineMetrics[2],
    kEngineMetrics[3], kEngineMetrics[4], kEngineMetrics[5],
    kEngineMetrics[6], kEngineMetrics[7], device_metric("process_count"),
};

struct ClientRules {
  // The device has no memory but the host's: all of it counts as the process's device memory.
  bool integrated = false;
  // Engines that the driver tells of only once they have worked: those of kEngineMetrics that are 0 where it is silent.
  std::span<const MetricId> silent_when_idle;
};

// Over all clients that may be read, each counted once; a reason where no client tells.
struct ClientSums {
  Reading device_memory_bytes = Reason::not_supported;  // VRAM and the like
  Reading system_memory_bytes = Reason::not_supported;  // GTT, system memory, what was set aside of it
  std::size_t clients = 0;
  bool some_denied = false;  // processes of other users could not be looked into: there may be more
};

class Clients {
 public:
  Clients(const Sysroot &root, std::shared_ptr<DeviceUsers> device_users, const Card &card, const ClientRules &rules);
  Clients(Clients &&) noexcept;
  Clients &operator=(Clients &&) noexcept;
  ~Clients();

  // One sample: replaces frame.processes and fills kClientMetrics.
  ClientSums read(Monotonic now, Frame &frame);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The busier of 3D and compute: a device's or process's use where the driver tells no better.
Reading busiest(const Reading &render, const Reading &compute);

// Puts the reason in place of all engine readings, of the device and its processes: the counters do not count.
void refuse_engines(Frame &frame, Reason reason);

}  // namespace gpulse::drm
