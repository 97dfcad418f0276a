// SPDX-License-Identifier: Apache-2.0
// nvidia-smi nvlink: the links of each device.
#pragma once

#include <optional>
#include <string>

#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

enum class LinkTable : std::uint8_t { status, capabilities, bus_ids, remote, errors, data, raw };

MetricId need_of_links(LinkTable table);
// Only this link, if one is given. Devices without links are left out.
std::string link_text(const Selection &selection, LinkTable table, std::optional<std::uint32_t> only);

}  // namespace gpulse::view::smi
