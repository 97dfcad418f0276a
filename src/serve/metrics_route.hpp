// SPDX-License-Identifier: Apache-2.0
// /metrics: what Prometheus and its like scrape. Made at most once per sample and format, shared by all who ask, from
// what is in memory: a scrape never touches a driver or a disk. Any thread.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "model/pod_device.hpp"
#include "serve/board.hpp"
#include "view/scrape.hpp"

namespace gpulse::serve {

struct MetricsOptions {
  bool processes = false;                           // series for processes too
  std::function<std::vector<PodDevice>()> pods{};   // what Kubernetes has given to whom; must not wait
  std::function<Monotonic()> now = &monotonic_now;  // tests have their own
};

class MetricsRoute {
 public:
  explicit MetricsRoute(const Board &board, MetricsOptions options = {});

  // `accept`: what the client takes, as its header says.
  http::Response respond(std::string_view accept);

  void handle(const http::Request &request, const http::Answer &answer) {
    answer(respond(request.header("accept").value_or("")));
  }

 private:
  struct Page {
    explicit Page(view::Exposition exposition, bool processes) : view(exposition, processes) {}

    std::mutex mutex;  // guards the rest: of many who come at once, one makes the text
    view::ScrapeView view;
    std::uint64_t sample = 0;
    bool is_fresh = false;
    std::shared_ptr<const std::string> text;  // null: not made yet
  };
  std::shared_ptr<const std::string> text_of(Page &page);

  const Board &board_;
  const MetricsOptions options_;
  Page text_, openmetrics_;
};

}  // namespace gpulse::serve
