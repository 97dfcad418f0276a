// SPDX-License-Identifier: Apache-2.0
// From a history to the page that the views show: which part of it is read, and how it becomes plain values.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "history/reader.hpp"
#include "serve/past.hpp"
#include "view/history.hpp"

namespace gpulse::cli {

struct HistoryRequest {
  history::Span span;
  std::vector<MetricId> metrics{};  // of the curves
  bool chosen = false;              // the user has named them
  bool curves = false, processes = false, users = false, jobs = false, events = false;
  bool is_page = false;      // something of everything, for a person
  bool for_program = false;  // as CSV or JSON
  std::chrono::seconds step{0};
  std::string user{};  // empty: all
  std::vector<std::string> selectors{};

  int parts() const { return int{curves} + int{processes} + int{users} + int{jobs} + int{events}; }
};

// Whether there is anything of that time; the error says of which time there is.
Result<void> check_covered(history::Reader &reader, const history::Span &span);

// The devices that were there then, those of the selectors; an error is wrong usage.
using serve::KnownDevices;
Result<KnownDevices> devices_of(const history::Reader &reader, const HistoryRequest &request);

Result<view::HistoryPage> read_page(history::Reader &reader, const HistoryRequest &request, const KnownDevices &devices,
                                    const history::Progress &progress);

}  // namespace gpulse::cli
