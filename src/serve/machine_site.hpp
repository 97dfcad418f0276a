// SPDX-License-Identifier: Apache-2.0
// This machine over HTTP: what the agent posts on its board, and what it keeps.
#pragma once

#include <memory>
#include <string>

#include "kube/pod_watch.hpp"
#include "serve/api.hpp"
#include "serve/board.hpp"
#include "serve/metrics_route.hpp"
#include "serve/site.hpp"

namespace gpulse::serve {

struct MachineOptions {
  std::string version{};
  std::string history{};                         // the file that is kept; empty: none
  bool process_metrics = false;                  // at /metrics series for processes too
  std::shared_ptr<const kube::PodWatch> pods{};  // null: there is no kubelet
};

class MachineSite final : public Site {
 public:
  // Before the first sample is posted.
  MachineSite(Board &board, MachineOptions options);

  http::Response health() override;
  std::vector<Route> routes() override;
  std::string_view folder(std::string_view) const override { return {}; }

 private:
  const MachineOptions options_;
  Board &board_;
  MetricsRoute metrics_;
  Api api_;
};

}  // namespace gpulse::serve
