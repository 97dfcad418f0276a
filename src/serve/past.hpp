// SPDX-License-Identifier: Apache-2.0
// What is read from a history as the values that views show: for the API and `gpulse history`. Pure.
#pragma once

#include <optional>

#include "history/reader.hpp"
#include "view/history.hpp"

namespace gpulse::serve {

// All that a history has, whichever tier has it; none: it is empty.
std::optional<history::Span> whole_of(const history::Coverage &coverage);

// `place`: of its device in HistoryPage::devices.
view::HistoryProcess past_process(const history::ProcessUse &use, std::size_t place, const DeviceId &device);

using KnownDevices = std::vector<const history::KnownDevice *>;
std::vector<std::int64_t> ids_of(const KnownDevices &devices);
std::optional<std::size_t> place_of(const KnownDevices &devices, std::int64_t id);

// Those of the history that were there in the span, of these selectors where there are any. One that fits none is an
// error.
Result<KnownDevices> devices_in(const history::Reader &reader, const history::Span &span,
                                const std::vector<std::string> &selectors);

}  // namespace gpulse::serve
