// SPDX-License-Identifier: Apache-2.0
// /metrics: what Prometheus and its like scrape. Made at most once per sample and format, shared by all who ask, from
// what is in memory: a scrape never touches a driver or a disk. Any thread.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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

  // `accept`: what the client takes, as its header says; `metrics`: all or usual.
  http::Response respond(std::string_view accept, std::string_view metrics = view::kAllWord);

  void handle(const http::Request &request, const http::Answer &answer) {
    answer(respond(request.header("accept").value_or(""), request.parameter("metrics").value_or(view::kAllWord)));
  }

 private:
  struct Page {
    std::mutex mutex;                      // guards the rest: of many who come at once, one makes the text
    std::optional<view::ScrapeView> view;  // none: nobody has asked for it
    std::uint64_t sample = 0;
    bool is_fresh = false;
    std::shared_ptr<const std::string> text;  // null: not made yet
  };
  std::shared_ptr<const std::string> text_of(Page &page, view::Exposition exposition, bool is_whole);

  const Board &board_;
  const MetricsOptions options_;
  std::array<Page, 4> pages_;  // by format and by whether they are whole
};

}  // namespace gpulse::serve
