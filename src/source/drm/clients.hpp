// SPDX-License-Identifier: Apache-2.0
// What processes do on one card, as the kernel counts it per open file (fdinfo): engine time, memory. One object per
// card, used by one thread at a time. Must not be read while the card is asleep: some drivers wake it to answer.
//
// A source has two readers for it:
//   {{.call = "/proc/*/fdinfo", .differential = true, .extra = true, .fills = drm::kClientMetrics}, …clients.read()}
//   {{.call = "/proc/*/fd", .tier = Tier::slow, .extra = true, .fills = {}}, …device_users->scan_all(now)}
//
// A file that several processes hold (after fork, or passed over a socket) is one client. It counts once, for the
// process that started first; the others are listed with a use of 0. One file per client is read in a tick.
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
// The device metrics that Clients::read() fills.
inline constexpr std::array kClientMetrics{
    kEngineMetrics[0], kEngineMetrics[1], kEngineMetrics[2],
    kEngineMetrics[3], kEngineMetrics[4], kEngineMetrics[5],
    kEngineMetrics[6], kEngineMetrics[7], device_metric("process_count"),
};

struct ClientRules {
  // The device uses the host's memory: all of it counts as the process's device memory.
  bool integrated = false;
  // Engines that the driver lists only after they have worked: they count as 0 while they are not listed.
  std::span<const MetricId> silent_when_idle;
};

// Sums over all readable clients, each counted once; a reason when no client reports the value.
struct ClientSums {
  Reading device_memory_bytes = Reason::not_supported;  // VRAM and the like
  Reading system_memory_bytes = Reason::not_supported;  // GTT, system memory, stolen memory
  std::size_t clients = 0;
  bool some_denied = false;  // some processes could not be read: there may be more clients
};

class Clients {
 public:
  Clients(const Sysroot &root, std::shared_ptr<DeviceUsers> device_users, const Card &card, const ClientRules &rules);
  Clients(Clients &&) noexcept;
  Clients &operator=(Clients &&) noexcept;
  ~Clients();

  // Takes one sample: replaces frame.processes and fills kClientMetrics.
  ClientSums read(Monotonic now, Frame &frame);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The busier of render and compute: the utilisation where the driver itself reports none.
Reading busiest(const Reading &render, const Reading &compute);

// Replaces all engine readings of the device and its processes, when the driver's counters are switched off.
void refuse_engines(Frame &frame, Reason reason);

}  // namespace gpulse::drm
