// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q: everything about each device, as text or as XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metric/set.hpp"
#include "smi/log_row.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// The bits for a list such as "MEMORY,power"; empty if a name is unknown.
std::optional<std::uint32_t> parse_sections(std::string_view list);

struct LogStyle {
  std::uint32_t sections = 0;  // 0: a plain -q
  int schema = kNewestSchema;  // the version of the DTD
};

// "v11" or "11"; empty if there is no such version.
std::optional<int> parse_schema(std::string_view word);

MetricSet needs_of_log(const LogStyle &style, bool xml);
std::string log_text(const Selection &selection, const LogStyle &style = {});
std::string log_xml(const Selection &selection, const LogStyle &style = {});

}  // namespace gpulse::view::smi
