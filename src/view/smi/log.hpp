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

// "MEMORY,power": the bits, or nothing where a name is none.
std::optional<std::uint32_t> parse_sections(std::string_view list);

// Sections: 0 means all that a plain -q shows.
MetricSet needs_of_log(std::uint32_t sections, bool xml);
std::string log_text(const Scene &scene, std::uint32_t sections);
std::string log_xml(const Scene &scene);

}  // namespace gpulse::view::smi
