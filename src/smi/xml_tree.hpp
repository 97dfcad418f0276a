// SPDX-License-Identifier: Apache-2.0
// Reads a part of an XML document by the table of the log, in one walk. What the table does not know is skipped without
// looking inside, so that the cost is bounded by the size of the document.
#pragma once

#include <pugixml.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"

namespace gpulse::smi {

// The text of an element that holds nothing else; none where it holds elements, or is not there.
std::optional<std::string_view> plain_text(pugi::xml_node node);
// Of the first child of that name.
std::optional<std::string_view> child_text(pugi::xml_node node, const char *name);

// Whose table is meant.
enum class XmlPart : std::uint8_t { device, instance };

// Fills rows and texts of a device and its details.
void fill_device(pugi::xml_node node, XmlPart part, Row &row, TextRow &texts, DeviceDetails &details);

}  // namespace gpulse::smi
