// SPDX-License-Identifier: Apache-2.0
// Reads the elements of a device or an instance by the table of the log, in one pass. Unknown elements are skipped
// without looking inside, so the cost is bounded by the size of the document.
#pragma once

#include <pugixml.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"

namespace gpulse::smi {

// The text of an element; empty if it is missing or has child elements.
std::optional<std::string_view> plain_text(pugi::xml_node node);
// Of the first child of that name.
std::optional<std::string_view> child_text(pugi::xml_node node, const char *name);

// Selects the table.
enum class XmlPart : std::uint8_t { device, instance };

// Fills the numbers and texts of a device, and its details.
void fill_device(pugi::xml_node node, XmlPart part, Row &row, TextRow &texts, DeviceDetails &details);

}  // namespace gpulse::smi
