// SPDX-License-Identifier: Apache-2.0
// The readings of a table of paths from a part of an XML document, in one walk over what the table knows. What it does
// not know is passed by without a look inside, so that the cost is bounded by the size of the document.
#pragma once

#include <pugixml.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"
#include "smi/xml_rows.hpp"

namespace gpulse::smi {

// The text of an element that holds nothing else; none where it holds elements, or is not there.
std::optional<std::string_view> plain_text(pugi::xml_node node);
// Of the first child of that name.
std::optional<std::string_view> child_text(pugi::xml_node node, const char *name);

// Fills rows and texts of a device and its details.
void fill_device(pugi::xml_node node, std::span<const XmlRow> rows, Row &row, TextRow &texts, DeviceDetails &details);

}  // namespace gpulse::smi
