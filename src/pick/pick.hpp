// SPDX-License-Identifier: Apache-2.0
// Takes free devices for this process, without a race: looks, chooses, locks, and looks again under the lock. For
// gpulse pick and the library: prints nothing, changes no environment, handles no signals. On the caller's thread,
// which drives the feed meanwhile.
//
//   auto feed = feed::open(pick::feed_options());
//   auto picked = pick::pick(**feed, {.request = {.count = 2}, .wait = std::chrono::minutes(10)});
//   if (picked) for (const auto &[name, value] : picked->variables) setenv(name.c_str(), value.c_str(), 1);
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "feed/feed.hpp"
#include "pick/choose.hpp"
#include "pick/lease.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

// Why a device is not to be had.
struct DeviceReason {
  DeviceId id;
  Text uuid, name;
  std::string reason;
};

// While it waits, after every look.
struct Progress {
  std::chrono::nanoseconds waited{0};
  std::size_t wanted = 0, free = 0;
  std::vector<DeviceReason> refused;
};

struct Options {
  Request request = {};
  std::optional<std::chrono::nanoseconds> wait = {};  // none: it looks once
  std::function<void(const Progress &)> progress = {};
  std::stop_token stop = {};
  Environment environment = own_environment();
  std::optional<LeasePlace> place = {};  // none: lease_place(environment)
  CudaOrder cuda_order = {};             // called once at most, and only where it matters
};

// The devices stand as the process would see them: the first is cuda:0.
struct Picked {
  std::vector<Lease> leases;  // hold them for as long as the devices are in use
  std::vector<Device> devices;
  std::vector<std::pair<std::string, std::string>> variables;  // to set for the program that is to use them
  std::vector<Ignored> ignored;                                // entries of the mask that show nothing
};

enum class Why : std::uint8_t {
  none_free,  // `refused` has the reasons
  too_few,    // more are asked for than there are for this process
  hidden,     // there are devices, but none for this process
  no_device,
  stopped,
  failed,
};

struct NotPicked {
  Why why = Why::failed;
  Error error;
  std::vector<DeviceReason> refused = {};
  std::vector<Ignored> ignored = {};
};

// A feed that reads what is needed, now: an agent's samples may be a second old.
feed::Options feed_options();

std::expected<Picked, NotPicked> pick(feed::Feed &feed, const Options &options);

// What makes a program see these devices of the snapshot, in this order, and no others of their vendor.
std::vector<std::pair<std::string, std::string>> variables_for(std::span<const Device> devices,
                                                               std::span<const std::size_t> chosen);

}  // namespace gpulse::pick
