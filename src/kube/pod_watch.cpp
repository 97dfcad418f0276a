// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_watch.hpp"

#include <sys/stat.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "kube/grpc_call.hpp"
#include "kube/pod_list.hpp"

namespace gpulse::kube {

namespace {

Result<std::vector<PodDevice>> ask(const std::string &socket, std::chrono::milliseconds deadline) {
  const auto answer =
      grpc_call({.socket = socket, .method = "/v1.PodResourcesLister/List"}, monotonic_now() + deadline);
  if (!answer) return std::unexpected(answer.error());
  return read_pod_list(*answer);
}

}  // namespace

bool has_kubelet(const std::string &socket) {
  const auto folder = socket.substr(0, socket.rfind('/'));
  struct stat found{};
  return !folder.empty() && ::stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

PodWatch::PodWatch(std::string socket, PodWatchPace pace)
    : socket_(std::move(socket)), pace_(pace), thread_([this](const std::stop_token &stop) { work(stop); }) {}

std::vector<PodDevice> PodWatch::pods() const {
  const std::lock_guard lock(mutex_);
  return pods_;
}

void PodWatch::work(const std::stop_token &stop) {
  auto answered = monotonic_now();
  std::string complaint;
  do {
    auto pods = ask(socket_, pace_.deadline);
    const auto now = monotonic_now();
    if (pods) {
      answered = now;
      complaint.clear();
    } else if (auto line = "the kubelet does not tell which pod has which GPU: " + pods.error().line();
               line != complaint) {
      log_line(LogLevel::notice, line);
      complaint = std::move(line);
    }
    const std::lock_guard lock(mutex_);
    if (pods) {
      pods_ = std::move(*pods);
    } else if (now - answered > pace_.longest) {
      pods_.clear();
    }
  } while (sleep_until(monotonic_now() + pace_.every, stop));
}

std::shared_ptr<const PodWatch> watch_pods(const std::string &named) {
  if (named == "off" || (named.empty() && !has_kubelet(kPodResourcesSocket))) return nullptr;
  return std::make_shared<const PodWatch>(named.empty() ? kPodResourcesSocket : named);
}

}  // namespace gpulse::kube
