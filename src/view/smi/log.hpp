// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q: everything about each device, as text or as XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// The bits for a list such as "MEMORY,power"; empty if a name is unknown.
std::optional<std::uint32_t> parse_sections(std::string_view list);

// Sections of 0 mean a plain -q.
MetricSet needs_of_log(std::uint32_t sections, bool xml);
std::string log_text(const Selection &selection, std::uint32_t sections);
std::string log_xml(const Selection &selection);

}  // namespace gpulse::view::smi
