// SPDX-License-Identifier: Apache-2.0
// Which pod has which device, asked of the kubelet every ten seconds on a thread of its own. Anybody may ask what it
// said last, and never waits.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "model/pod_device.hpp"

namespace gpulse::kube {

inline constexpr const char *kPodResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

// Whether there is, or may soon be, a kubelet to ask: the folder of its socket is there.
bool has_kubelet(const std::string &socket);

struct PodWatchPace {
  std::chrono::milliseconds every{10'000}, deadline{2'000};
  std::chrono::milliseconds longest{30'000};  // that an answer counts while no other comes
};

class PodWatch {
 public:
  explicit PodWatch(std::string socket, PodWatchPace pace = {});
  PodWatch(const PodWatch &) = delete;
  PodWatch &operator=(const PodWatch &) = delete;
  ~PodWatch() = default;

  std::vector<PodDevice> pods() const;

 private:
  void work(const std::stop_token &stop);

  const std::string socket_;
  const PodWatchPace pace_;
  mutable std::mutex mutex_;
  std::vector<PodDevice> pods_;  // guarded by it
  std::jthread thread_;          // the last to be made and the first to end: it uses the rest
};

// Of the socket that was named, which may come later; where none was, of the usual one. Null: there is nobody to ask,
// or "off" was said.
std::shared_ptr<const PodWatch> watch_pods(const std::string &named);

}  // namespace gpulse::kube
