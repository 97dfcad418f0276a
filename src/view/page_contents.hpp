// SPDX-License-Identifier: Apache-2.0
// How much a page for scrapers and engines has: all that there is, or what is usual where many machines are kept in one
// place. Which metrics are usual is said by the table. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "metric/set.hpp"

namespace gpulse::view {

inline constexpr std::string_view kUsualWord = "usual", kAllWord = "all";

struct PageContents {
  MetricSet metrics{};  // their totals too
  MetricSet peaks{};    // metrics whose highest is there
  // Of a state or a set only the first word always, so that "none" is told from "not known", and others while they are;
  // and nothing of each kind of call to a driver.
  bool is_brief = false;
};

PageContents whole_page();
PageContents usual_page();
// "usual", "all", and names of further metrics.
Result<PageContents> page_of(std::span<const std::string> words);

}  // namespace gpulse::view
