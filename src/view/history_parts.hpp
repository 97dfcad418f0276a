// SPDX-License-Identifier: Apache-2.0
// The parts of the page of a history. Pure.
#pragma once

#include <string>
#include <vector>

#include "view/history.hpp"

namespace gpulse::view {

using Lines = std::vector<std::string>;

// Per device a line that names it, the plots of its metrics and their time axis; then those of the host.
Lines history_plots(const HistoryPage &page, const term::Style &style);
Lines history_process_lines(const HistoryPage &page, const term::Style &style);
Lines history_total_lines(const HistoryPage &page, HistoryOwner by, const term::Style &style);
Lines history_event_lines(const HistoryPage &page, const term::Style &style);

// A moment on the page: with the day where the span has several, with seconds where it is short.
std::string moment_words(const HistoryPage &page, WallTime time);

}  // namespace gpulse::view
