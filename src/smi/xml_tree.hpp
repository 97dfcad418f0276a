// SPDX-License-Identifier: Apache-2.0
// Reads the elements of a device or an instance by the table of the log, in one pass. Unknown elements are skipped
// without looking inside, so the cost is bounded by the size of the document.
#pragma once

#include <pugixml.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"
#include "smi/log_row.hpp"

namespace gpulse::smi {

inline constexpr const char *kRoot = "nvidia_smi_log";

// A snapshot for each log in the document. `text`: it was made from the text of `-q`.
Result<std::vector<SnapshotPtr>> read_tree(const pugi::xml_document &document, bool text, const std::string &name);

// The text of an element; empty if it is missing or has child elements.
std::optional<std::string_view> plain_text(pugi::xml_node node);
// Of the first child of that name.
std::optional<std::string_view> child_text(pugi::xml_node node, const char *name);

// Selects the table.
enum class XmlPart : std::uint8_t { device, instance };

// The element that a row is read from. Lines that are only in the text are made into elements with names that XML
// cannot have.
std::string element_name(const LogRow &row);

// Fills the numbers and texts of a device, and its details. `log` is the form of the log, without rows.
void fill_device(pugi::xml_node node, const LogForm &log, XmlPart part, Row &row, TextRow &texts,
                 DeviceDetails &details);

}  // namespace gpulse::smi
