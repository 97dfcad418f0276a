// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/pcie_bandwidth.hpp"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/drm/card.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::amdgpu {

using namespace std::chrono_literals;

namespace {

// One second of counting out of ten.
constexpr auto kPause = 9s;

}  // namespace

std::optional<Traffic> parse_pcie_bandwidth(std::string_view text) {
  const auto words = split_words(sysfs::bare(text));
  if (words.size() != 3) return std::nullopt;
  const auto received = parse_integer<std::uint64_t>(words[0]);
  const auto sent = parse_integer<std::uint64_t>(words[1]);
  const auto largest = parse_integer<std::uint64_t>(words[2]);
  if (!received || !sent || !largest) return std::nullopt;
  const auto bytes = [&](std::uint64_t messages, MetricId metric) {
    return plausible(metric, static_cast<double>(messages) * static_cast<double>(*largest));
  };
  return Traffic{bytes(*received, device_metric("pcie_rx_bytes_per_second")),
                 bytes(*sent, device_metric("pcie_tx_bytes_per_second"))};
}

struct PcieBandwidth::Shared {
  Sysroot root;
  std::string device;
  std::mutex mutex;
  std::condition_variable changed;
  bool wanted = false;
  bool stopping = false;
  bool running = false;
  Traffic newest;

  Traffic read() {
    std::string text;
    if (!root.read_into(text, device + "/pcie_bw", 256)) {
      const auto reason = sysfs::refusal_of_device(errno);
      return {reason, reason};
    }
    return parse_pcie_bandwidth(text).value_or(Traffic{Reason::not_supported, Reason::not_supported});
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      changed.wait(lock, [&] { return wanted || stopping; });
      if (stopping) return;
      wanted = false;
      lock.unlock();
      drm::Card card;
      card.device = device;
      const auto traffic = drm::is_asleep(root, card) ? Traffic{Reason::asleep, Reason::asleep} : read();
      lock.lock();
      newest = traffic;
      changed.wait_for(lock, kPause, [&] { return stopping; });
    }
  }
};

PcieBandwidth::PcieBandwidth(const Sysroot &root, std::string device) : shared_(std::make_shared<Shared>()) {
  shared_->root = root;
  shared_->device = std::move(device);
}

PcieBandwidth::~PcieBandwidth() {
  // The thread may be in the driver for a second, so it is detached.
  const std::lock_guard lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

Traffic PcieBandwidth::ask() {
  // The file of a recorded machine does not block.
  if (!shared_->root.is_machine()) return shared_->read();
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted = true;
  if (!shared_->running) {
    shared_->running = true;
    std::thread([shared = shared_] { shared->run(); }).detach();
  }
  shared_->changed.notify_all();
  return shared_->newest;
}

}  // namespace gpulse::amdgpu
