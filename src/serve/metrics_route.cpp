// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics_route.hpp"

#include "insight/owners.hpp"

namespace gpulse::serve {

MetricsRoute::MetricsRoute(const Board &board, MetricsOptions options) : board_(board), options_(std::move(options)) {}

std::shared_ptr<const std::string> MetricsRoute::text_of(Page &page, view::Exposition exposition, bool is_whole) {
  const std::lock_guard lock(page.mutex);
  if (!page.view) page.view.emplace(exposition, options_.processes, is_whole ? view::whole_page() : view::usual_page());
  const auto pace = board_.tally().pace();
  const bool fresh = insight::is_fresh(pace, options_.now());
  if (page.text && page.sample == pace.samples && page.is_fresh == fresh) return page.text;
  const auto report = board_.tally().report();
  const auto snapshot = board_.latest();
  const auto numbers = board_.numbers();
  std::vector<insight::DeviceOwners> owners;
  if (snapshot && fresh)
    owners = insight::owners(*snapshot, options_.pods ? options_.pods() : std::vector<PodDevice>{});
  page.text = std::make_shared<const std::string>(page.view->write(
      {.snapshot = snapshot.get(), .is_fresh = fresh, .tally = report, .owners = owners, .agent = numbers}));
  page.sample = report.pace.samples;
  page.is_fresh = fresh;
  return page.text;
}

http::Response MetricsRoute::respond(std::string_view accept, std::string_view metrics) {
  const bool is_whole = metrics == view::kAllWord;
  if (!is_whole && metrics != view::kUsualWord) return http::error(400, "metrics is all or usual", "metrics");
  const auto exposition = view::choose_exposition(accept);
  http::Response response;
  response.content_type = view::content_type(exposition);
  const auto place = (exposition == view::Exposition::openmetrics ? 2U : 0U) + (is_whole ? 1U : 0U);
  response.body = text_of(pages_[place], exposition, is_whole);
  return response;
}

}  // namespace gpulse::serve
