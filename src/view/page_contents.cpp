// SPDX-License-Identifier: Apache-2.0
#include "view/page_contents.hpp"

#include <algorithm>
#include <vector>

#include "view/prometheus.hpp"

namespace gpulse::view {

PageContents whole_page() {
  const auto all = prometheus_fields({}).value_or(MetricSet());
  return {.metrics = all, .peaks = all};
}

PageContents usual_page() {
  PageContents contents{.is_brief = true};
  for (const auto scope : {Scope::device, Scope::host, Scope::self}) {
    for_each_metric(scope, [&](MetricId id, const Metric &metric) {
      if (is_usual(metric)) contents.metrics.add(id);
      if (is_usual_peak(metric)) contents.peaks.add(id);
    });
  }
  return contents;
}

Result<PageContents> page_of(std::span<const std::string> words) {
  if (std::ranges::find(words, kAllWord) != words.end()) return whole_page();
  const bool has_usual = words.empty() || std::ranges::find(words, kUsualWord) != words.end();
  auto contents = has_usual ? usual_page() : PageContents{.is_brief = true};
  std::vector<std::string> more;
  std::ranges::remove_copy(words, std::back_inserter(more), std::string(kUsualWord));
  if (more.empty()) return contents;
  const auto fields = prometheus_fields(more);
  if (!fields) return std::unexpected(fields.error());
  contents.metrics.add(*fields);
  contents.peaks.add(*fields);
  return contents;
}

}  // namespace gpulse::view
